/*
 * solver.c - the child, its pipes, and what it answers.
 */
#include "engine/smt/solver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *const solver_answer_names[] = {"sat", "unsat", "unknown", "failed"};

enum { WORDS_MAX = 32, REASON_MAX = 256, ANSWER_MAX = 1 << 20, PATH_ROOM = 4096 };
enum { FAILURES_MAX = 3 }; /* in a row: it is not asked any more */
enum { UNKNOWNS_MAX = 8 }; /* in all: what is asked of one kernel ends */
/* A child that has been asked so much is started anew, whatever it had left behind. */
enum { KEPT_QUERIES = 1000 };

struct solver {
    struct solver_options options;
    char *words[WORDS_MAX + 1]; /* of the command */
    bool is_z3;                 /* its resource limit has a name that we know */
    struct solver_child child;
    uint64_t deadline; /* of the query at hand, ms */
    char *answer;      /* what it has printed since the query, zero-terminated */
    size_t answer_length;
    char reason[REASON_MAX];
    struct solver_counts counts;
    struct solver *second; /* or NULL */
    uint32_t failures;     /* in a row */
};

/* ---- the child ---- */

static const char *program_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct solver *solver_new(struct arena *arena, const struct solver_options *options)
{
    struct solver *solver = ARENA_NEW(arena, struct solver);
    char *text = arena_strndup(arena, options->command, strlen(options->command)), *rest = NULL;
    uint32_t count = 0;
    solver->options = *options;
    for (char *word = strtok_r(text, " ", &rest); word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        solver->words[count++] = word;
    solver->is_z3 = count > 0 && strncmp(program_name(solver->words[0]), "z3", 2) == 0;
    solver->answer = arena_alloc(arena, ANSWER_MAX + 1, 1);
    if (options->second) {
        struct solver_options second = *options;
        second.command = options->second;
        second.second = second.dump = NULL;
        solver->second = solver_new(arena, &second);
    }
    return solver;
}

static void close_pipes(const struct solver_child *child)
{
    close(child->in);
    close(child->out);
}

/* Ends the child now; reading its end says how it went before. */
static void end_child(struct solver_child *child)
{
    int status;
    if (!child->process)
        return;
    kill(child->process, SIGKILL);
    close_pipes(child);
    while (waitpid(child->process, &status, 0) < 0 && errno == EINTR)
        ;
    child->process = 0;
}

/* ---- children that are kept ---- */

/* Where the keeper has a child of this solver's command, or room for one; NULL: nowhere. */
static struct solver_child *place_of(const struct solver *solver, bool is_there)
{
    struct solver_keeper *keeper = solver->options.keeper;
    for (int i = 0; keeper && i < SOLVER_KEPT; i++) {
        struct solver_child *kept = &keeper->kept[i];
        if (is_there ? kept->process && strcmp(kept->command, solver->options.command) == 0
                     : !kept->process)
            return kept;
    }
    return NULL;
}

static bool take_kept(struct solver *solver)
{
    struct solver_child *kept = place_of(solver, true);
    if (!kept)
        return false;
    solver->child = *kept;
    kept->process = 0;
    return true;
}

/* What failed, or does without a limit, is known to this solver alone. */
static void end_or_keep(struct solver *solver)
{
    bool well = solver->child.process && !solver->failures && !solver->counts.no_budget &&
                solver->child.queries < KEPT_QUERIES;
    struct solver_child *place = well ? place_of(solver, false) : NULL;
    if (place) {
        *place = solver->child;
        solver->child.process = 0;
    }
    end_child(&solver->child);
}

void solver_end(struct solver *solver)
{
    end_or_keep(solver);
    if (solver->second)
        end_or_keep(solver->second);
}

void solver_keeper_end(struct solver_keeper *keeper)
{
    for (int i = 0; i < SOLVER_KEPT; i++)
        end_child(&keeper->kept[i]);
}

/* In the child: what is not found ends with 127, as in shells. */
static void become(const struct solver *solver, int in, int out)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who is killed leaves nobody behind */
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        _exit(126);
    for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
        close(fd);
    execvp(solver->words[0], solver->words);
    _exit(127);
}

static enum solver_answer fail(struct solver *solver, const char *why)
{
    snprintf(solver->reason, sizeof solver->reason, "the solver '%s' %s",
             solver->words[0] ? solver->words[0] : "", why);
    end_child(&solver->child);
    return SOLVER_FAILED;
}

static bool start(struct solver *solver)
{
    int to[2], from[2];
    if (!solver->words[0] || pipe(to) != 0)
        return false;
    if (pipe(from) != 0) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    pid_t child = fork();
    if (child == 0)
        become(solver, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    solver->child = (struct solver_child){.command = solver->options.command,
                                          .process = child > 0 ? child : 0,
                                          .in = to[1],
                                          .out = from[0]};
    if (child < 0) {
        close_pipes(&solver->child);
        return false;
    }
    solver->counts.starts++;
    fcntl(solver->child.in, F_SETFL, O_NONBLOCK);
    fcntl(solver->child.in, F_SETFD, FD_CLOEXEC);
    fcntl(solver->child.out, F_SETFD, FD_CLOEXEC);
    return true;
}

/* ---- asking ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What it has printed, read; false: it has closed its output, or we have had enough. */
static bool read_some(struct solver *solver)
{
    size_t room = ANSWER_MAX - solver->answer_length;
    ssize_t got = room ? read(solver->child.out, solver->answer + solver->answer_length, room) : 0;
    if (got < 0)
        return errno == EINTR;
    solver->answer_length += (size_t)got;
    solver->answer[solver->answer_length] = '\0';
    return got > 0;
}

/* A query ends with an echo of this word; what stands before is the answer. */
#define END_WORD "simtfuzz-end"

static bool is_answered(const struct solver *solver)
{
    return strstr(solver->answer, END_WORD) != NULL;
}

/* What stands in the pipe's way is read while the query is written: neither side waits for the other. */
static const char *talk(struct solver *solver, const char *query, size_t length)
{
    size_t sent = 0;
    while (!is_answered(solver)) {
        uint64_t now = now_ms();
        struct pollfd polled[2] = {{.fd = solver->child.out, .events = POLLIN},
                                   {.fd = solver->child.in, .events = POLLOUT}};
        if (now >= solver->deadline)
            return "hangs: it was given up when its time was spent";
        int ready = poll(polled, sent < length ? 2 : 1, (int)(solver->deadline - now));
        if (ready < 0 && errno != EINTR)
            return "cannot be waited for";
        if (ready <= 0)
            continue;
        if (polled[0].revents && !read_some(solver))
            return solver->answer_length == ANSWER_MAX ? "prints without an end" : "died";
        if (sent < length && polled[1].revents & POLLOUT) {
            ssize_t put = write(solver->child.in, query + sent, length - sent);
            if (put < 0 && errno != EAGAIN && errno != EINTR)
                return "died";
            sent += put > 0 ? (size_t)put : 0;
        } else if (sent < length && polled[1].revents & (POLLERR | POLLHUP)) {
            return "died";
        }
    }
    return NULL;
}

/* A child that is gone before it has read all is told by the failed write, not by a signal. Other threads may have
 * solvers of their own: the signal is kept from this one only, and taken away where it has come. */
static const char *converse(struct solver *solver, const char *query, size_t length)
{
    const struct timespec at_once = {0};
    sigset_t pipe_only, before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    const char *why = talk(solver, query, length);
    if (!sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe_only, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

/* How a child that died had ended, if it says. */
static enum solver_answer fail_dead(struct solver *solver, const char *why)
{
    int status = 0;
    pid_t got = solver->child.process ? waitpid(solver->child.process, &status, WNOHANG) : 0;
    for (int i = 0; got == 0 && solver->child.process && strcmp(why, "died") == 0 && i < 100; i++) {
        struct timespec pause = {.tv_nsec = 2000000};
        nanosleep(&pause, NULL);
        got = waitpid(solver->child.process, &status, WNOHANG);
    }
    if (got == solver->child.process && got > 0) {
        close_pipes(&solver->child);
        solver->child.process = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
            return fail(solver, "is not installed (or cannot be started)");
        if (WIFSIGNALED(status))
            return fail(solver, "crashed");
    }
    return fail(solver, why);
}

/* ---- reading answers ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

static bool take(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at = skip_blanks(*at + length);
    return true;
}

/* A value: true, false, #x0000002a, #b0101, (_ bv42 32); of 64 bits the lower half. */
static bool take_value(const char **at, uint32_t *value)
{
    char *end = NULL;
    if (take(at, "true")) {
        *value = 1;
        return true;
    }
    if (take(at, "false")) {
        *value = 0;
        return true;
    }
    bool named = take(at, "(_ bv"), hexadecimal = !named && take(at, "#x");
    if (!named && !hexadecimal && !take(at, "#b"))
        return false;
    *value = (uint32_t)strtoull(*at, &end, named ? 10 : hexadecimal ? 16 : 2);
    if (end == *at)
        return false;
    *at = skip_blanks(end);
    return !named || ((take(at, "32") || take(at, "64")) && take(at, ")"));
}

/* The name as it was asked for, or as cvc5 prints it: x for |x|, #b00..101010 for #x0000002a. */
static bool take_name(const char **at, const char *name)
{
    size_t length = strlen(name);
    uint32_t asked, printed;
    if (name[0] == '#')
        return take_value(&name, &asked) && take_value(at, &printed) && asked == printed;
    if (name[0] != '|' || **at == '|')
        return take(at, name);
    if (strncmp(*at, name + 1, length - 2) != 0 || !strchr(" \n\t\r", (*at)[length - 2]))
        return false;
    *at = skip_blanks(*at + length - 2);
    return true;
}

/* A term where a value should be: z3 leaves equalities of arrays as they are. */
static bool take_term(const char **at, uint32_t *value)
{
    uint32_t depth = 0;
    const char *c = *at;
    if (*c != '(')
        return false;
    do {
        depth += *c == '(';
        depth -= *c == ')';
        c += *c != '\0';
    } while (depth > 0 && *c);
    *at = skip_blanks(c);
    *value = SOLVER_NO_VALUE;
    return depth == 0;
}

/* ((NAME VALUE) .. (NAME VALUE)), in the order asked for. */
static bool take_values(const char **at, const char *const *names, uint32_t *values, uint32_t count)
{
    if (count == 0)
        return true;
    if (!take(at, "("))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!take(at, "(") || !take_name(at, names[i]) ||
            !(take_value(at, &values[i]) || take_term(at, &values[i])) || !take(at, ")"))
            return false;
    return take(at, ")");
}

static enum solver_answer no_answer(struct solver *solver, const char *at)
{
    char line[96];
    size_t length = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)(length < 80 ? length : 80), at);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 32 || (unsigned char)*c > 126)
            *c = '?';
    char why[160];
    snprintf(why, sizeof why, "gave no answer but '%s'", line);
    return fail(solver, why);
}

/* `values` is read from a text of its own: what comes behind `sat` need not be values where it was not. */
enum solver_answer solver_read(struct solver *solver, const char *answer, const char *const *names,
                               uint32_t *values, uint32_t count)
{
    const char *at = skip_blanks(answer);
    if (take(&at, "unsat\n")) /* what follows complains that there are no values */
        return SOLVER_UNSAT;
    if (take(&at, "unknown\n") || take(&at, "timeout\n")) {
        snprintf(solver->reason, sizeof solver->reason,
                 "the solver does not know within its budget");
        return SOLVER_UNKNOWN;
    }
    if (!take(&at, "sat\n"))
        return no_answer(solver, at);
    if (!take_values(&at, names, values, count))
        return no_answer(solver, at);
    return SOLVER_SAT;
}

/* ---- queries ---- */

static void dump(const struct solver *solver, const char *query, size_t length)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/query-%04" PRIu32 ".smt2", solver->options.dump,
             solver->counts.queries);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fwrite(query, 1, length, file);
    fclose(file);
}

/* A resource limit holds from where it is set, also behind a reset: it is set for each query. */
static void print_query(struct text *text, const struct solver *solver, const char *formula,
                        const char *const *names, uint32_t count)
{
    text_put(text, "(reset)\n(set-option :produce-models true)\n");
    if (solver->is_z3 && solver->options.budget && !solver->counts.no_budget)
        text_format(text, "(set-option :rlimit %" PRIu64 ")\n", solver->options.budget);
    if (!solver->is_z3)
        text_put(text, "(set-logic ALL)\n");
    text_put(text, formula);
    text_put(text, "(check-sat)\n");
    if (count > 0) {
        text_put(text, "(get-value (");
        for (uint32_t i = 0; i < count; i++)
            text_format(text, "%s%s", i ? " " : "", names[i]);
        text_put(text, "))\n");
    }
    text_put(text, "(echo \"" END_WORD "\")\n");
}

/* One question to a child that runs. */
static enum solver_answer exchange(struct solver *solver, const char *formula,
                                   const char *const *names, uint32_t *values, uint32_t count,
                                   bool is_real)
{
    struct arena scratch;
    if (arena_init(&scratch, 4 * strlen(formula) + (1 << 20)) != 0)
        return fail(solver, "cannot be asked: no memory for the question");
    struct text query = text_begin(&scratch);
    print_query(&query, solver, formula, names, count);
    solver->answer_length = 0;
    solver->answer[0] = '\0';
    solver->child.queries++;
    if (is_real && solver->options.dump)
        dump(solver, query.bytes, query.length);
    solver->deadline = now_ms() + (uint64_t)solver->options.seconds * 1000;
    const char *why = converse(solver, query.bytes, query.length);
    enum solver_answer answer =
        why ? fail_dead(solver, why) : solver_read(solver, solver->answer, names, values, count);
    arena_destroy(&scratch);
    return answer;
}

/* ---- whether it is one at all ---- */

#define CANARY "(declare-fun |canary| () (_ BitVec 32))\n(assert (= (bvadd |canary| #x00000001) "

/* Who does not know claims nothing wrong. */
static enum solver_answer ask_known(struct solver *solver)
{
    static const char *const name[] = {"|canary|"};
    uint32_t value = 0;
    enum solver_answer answer = exchange(solver, CANARY "#x0000002b))\n", name, &value, 1, false);
    if (answer == SOLVER_FAILED || answer == SOLVER_UNKNOWN)
        return answer;
    if (answer != SOLVER_SAT || value != 42)
        return fail(solver, "answers wrongly that x + 1 == 43 for no x but 42");
    answer = exchange(solver, CANARY "|canary|))\n", NULL, NULL, 0, false);
    if (answer == SOLVER_SAT)
        return fail(solver, "answers wrongly that x + 1 == x for no x");
    return answer;
}

/* A z3 that does not know the resource limit is asked without; its time still is limited. */
static bool is_ready(struct solver *solver)
{
    if (solver->child.process || take_kept(solver))
        return true;
    if (!start(solver)) {
        fail(solver, "cannot be started");
        return false;
    }
    if (ask_known(solver) != SOLVER_FAILED)
        return true;
    bool complains = strstr(solver->answer, "rlimit") != NULL;
    if (!complains || solver->counts.no_budget || !solver->is_z3)
        return false;
    solver->counts.no_budget = true;
    if (!solver->child.process && !start(solver)) {
        fail(solver, "cannot be started");
        return false;
    }
    return ask_known(solver) != SOLVER_FAILED;
}

bool solver_is_spent(const struct solver *solver)
{
    uint32_t most = solver->options.questions;
    return solver->failures >= FAILURES_MAX || solver->counts.unknown >= UNKNOWNS_MAX ||
           (most && solver->counts.queries >= most);
}

static enum solver_answer ask_first(struct solver *solver, const char *formula,
                                    const char *const *names, uint32_t *values, uint32_t count)
{
    if (solver->failures >= FAILURES_MAX)
        return SOLVER_FAILED;
    if (solver->counts.unknown >= UNKNOWNS_MAX)
        return SOLVER_UNKNOWN;
    if (solver_is_spent(solver)) {
        snprintf(solver->reason, sizeof solver->reason,
                 "the solver is asked no more than %" PRIu32 " questions",
                 solver->options.questions);
        return SOLVER_UNKNOWN;
    }
    solver->counts.queries++;
    enum solver_answer answer =
        is_ready(solver) ? exchange(solver, formula, names, values, count, true) : SOLVER_FAILED;
    solver->failures = answer == SOLVER_FAILED ? solver->failures + 1 : 0;
    return answer;
}

/* What the first called unsat: the second may not say that it can be. */
static enum solver_answer ask_second(struct solver *solver, const char *formula)
{
    struct solver *second = solver->second;
    enum solver_answer answer = ask_first(second, formula, NULL, NULL, 0);
    solver->counts.confirmed += answer == SOLVER_UNSAT;
    solver->counts.unconfirmed += answer == SOLVER_UNKNOWN;
    if (answer == SOLVER_UNSAT || answer == SOLVER_UNKNOWN)
        return SOLVER_UNSAT;
    solver->counts.disagreed += answer == SOLVER_SAT;
    if (answer == SOLVER_SAT)
        snprintf(solver->reason, sizeof solver->reason,
                 "the solvers '%s' and '%s' disagree: the first says that a formula cannot hold, "
                 "the second that it can",
                 solver->words[0], second->words[0]);
    else
        snprintf(solver->reason, sizeof solver->reason, "%s", second->reason);
    return SOLVER_FAILED;
}

enum solver_answer solver_ask(struct solver *solver, const char *formula, const char *const *names,
                              uint32_t *values, uint32_t count)
{
    enum solver_answer answer = ask_first(solver, formula, names, values, count);
    if (answer == SOLVER_UNSAT && solver->second)
        answer = ask_second(solver, formula);
    solver->counts.sat += answer == SOLVER_SAT;
    solver->counts.unsat += answer == SOLVER_UNSAT;
    solver->counts.unknown += answer == SOLVER_UNKNOWN;
    solver->counts.failed += answer == SOLVER_FAILED;
    return answer;
}

bool solver_knows_horn(const struct solver *solver)
{
    return solver->is_z3;
}

const char *solver_reason(const struct solver *solver)
{
    return solver->reason;
}

struct solver_counts solver_counts(const struct solver *solver)
{
    return solver->counts;
}
