#include "fuzz/campaign/hook.h"

#include "fuzz/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { VARIABLES_MAX = 24, POLL_MS = 20 };

struct hooks {
    struct arena *arena;
    const struct campaign_options *options;
    const struct campaign_summary *summary;
    char **on_finding, **on_end; /* NULL: none */
    uint32_t next;               /* finding that the next program is told of */
    uint32_t failures;
    pid_t running; /* 0: none */
    uint64_t started_ms;
    const char *what; /* that it is told, for messages */
    char *variables[VARIABLES_MAX];
    uint32_t variable_count;
};

char **hook_words(struct arena *arena, const char *command, const char **why)
{
    char **words = ARENA_ARRAY(arena, char *, HOOK_WORDS_MAX + 1);
    char *out = ARENA_ARRAY(arena, char, strlen(command) + 2);
    uint32_t count = 0;
    for (const char *at = command + strspn(command, " \t"); *at; at += strspn(at, " \t")) {
        if (count == HOOK_WORDS_MAX) {
            *why = "it has too many words";
            return NULL;
        }
        words[count++] = out;
        for (char quote = 0; *at && (quote || !strchr(" \t", *at)); at++) {
            if (*at == quote)
                quote = 0;
            else if (!quote && (*at == '"' || *at == '\''))
                quote = *at;
            else
                *out++ = *at;
            if (quote && !at[1]) {
                *why = "a quotation mark is not closed";
                return NULL;
            }
        }
        *out++ = '\0';
    }
    *why = "it has no words";
    return count > 0 && *words[0] ? words : NULL;
}

struct hooks *hooks_open(struct arena *arena, const struct campaign_options *options,
                         const struct campaign_summary *summary)
{
    struct hooks *h = ARENA_NEW(arena, struct hooks);
    const char *why;
    h->arena = arena;
    h->options = options;
    h->summary = summary;
    h->next = summary->finding_count;
    if (options->on_finding)
        h->on_finding = hook_words(arena, options->on_finding, &why);
    if (options->on_end)
        h->on_end = hook_words(arena, options->on_end, &why);
    return h;
}

/* ---- the environment ---- */

static void set_variable(struct hooks *h, char *text)
{
    if (h->variable_count < VARIABLES_MAX)
        h->variables[h->variable_count++] = text;
}

static void set_common(struct hooks *h, const char *event)
{
    const struct campaign_options *o = h->options;
    h->variable_count = 0;
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_EVENT=%s", event));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_DB=%s", o->db_path));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_CAMPAIGN=%" PRIu64, h->summary->campaign));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_SEED=0x%" PRIx64, o->seed));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_SHARD=%" PRIu64 "/%" PRIu64, o->shard_index,
                                 o->shard_count));
}

static void set_finding(struct hooks *h, const struct campaign_finding *finding)
{
    set_common(h, "finding");
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_FINDING=%" PRIu64, finding->id));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_KIND=%s",
                                 campaign_kind_names[campaign_finding_kind(finding)]));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_SIGNATURE=%s", finding->signature));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_CASE=%" PRIu64, finding->first_case));
}

static void set_end(struct hooks *h, int status)
{
    const struct campaign_summary *s = h->summary;
    uint32_t counts[CAMPAIGN_KINDS] = {0};
    for (uint32_t i = 0; i < s->finding_count; i++)
        counts[campaign_finding_kind(&s->findings[i])]++;
    set_common(h, "end");
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_STATE=%s", s->ending));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_STATUS=%d", status));
    set_variable(h, arena_printf(h->arena, "SIMTFUZZ_CASES=%" PRIu64, s->cases));
    for (uint32_t i = 0; i < CAMPAIGN_KINDS; i++)
        set_variable(h, arena_printf(h->arena, "SIMTFUZZ_COUNT_%s=%" PRIu32, campaign_kind_names[i],
                                     counts[i]));
}

/* What this process has, but for variables of the same names, and the hook's own. */
static char **environment(const struct hooks *h)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **all = ARENA_ARRAY(h->arena, char *, count + h->variable_count + 1);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "SIMTFUZZ_", 9) != 0)
            all[used++] = environ[i];
    for (uint32_t i = 0; i < h->variable_count; i++)
        all[used++] = h->variables[i];
    return all;
}

/* ---- programs ---- */

static void fail(struct hooks *h, FILE *log, const char *program, const char *how)
{
    h->failures++;
    fprintf(log, "simtfuzz: %s, told of %s, %s\n", program, h->what, how);
}

static int plan_files(const struct hooks *h, posix_spawn_file_actions_t *files)
{
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    /* Results go to standard output: not a hook's. The status screen is nobody else's. */
    if (!error && h->options->screen)
        error = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    return error ? error : posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
}

/* In a process group of its own: what a terminal sends to the campaign is not meant for it. */
static int plan_process(posix_spawnattr_t *attributes)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGCONT};
    sigset_t signals, none;
    sigemptyset(&signals);
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        sigaddset(&signals, usual[i]);
    posix_spawnattr_setsigdefault(attributes, &signals);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETPGROUP);
}

static void start(struct hooks *h, char **words, const char *what, FILE *log)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    size_t mark = arena_mark(h->arena);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int error = plan_files(h, &files);
    if (!error)
        error = plan_process(&attributes);
    if (!error)
        error = posix_spawnp(&h->running, words[0], &files, &attributes, words, environment(h));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    arena_release(h->arena, mark);
    h->what = what;
    h->started_ms = clock_monotonic_ms();
    if (error) {
        h->running = 0;
        fail(h, log, words[0], arena_printf(h->arena, "cannot be started: %s", strerror(error)));
    }
}

/* Whether none runs any more. */
static bool look_after(struct hooks *h, const char *program, FILE *log)
{
    int status;
    if (h->running == 0)
        return true;
    pid_t ended = waitpid(h->running, &status, WNOHANG);
    if (ended == 0 && clock_monotonic_ms() - h->started_ms < HOOK_MS)
        return false;
    if (ended == 0) {
        kill(-h->running, SIGKILL);
        waitpid(h->running, &status, 0);
        fail(h, log, program, "did not end within a minute and was killed");
    } else if (ended < 0) {
        fail(h, log, program, "cannot be waited for");
    } else if (WIFSIGNALED(status)) {
        fail(h, log, program, arena_printf(h->arena, "was ended by signal %d", WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        fail(h, log, program, arena_printf(h->arena, "ended with status %d", WEXITSTATUS(status)));
    }
    h->running = 0;
    return true;
}

void hooks_tick(struct hooks *h, FILE *log)
{
    if (!h->on_finding || !look_after(h, h->on_finding[0], log))
        return;
    while (h->next < h->summary->stored_findings) {
        const struct campaign_finding *finding = &h->summary->findings[h->next++];
        if (h->options->quiet >> campaign_finding_kind(finding) & 1)
            continue;
        set_finding(h, finding);
        start(h, h->on_finding, arena_printf(h->arena, "finding %" PRIu64, finding->id), log);
        return;
    }
}

static void wait_for_program(struct hooks *h, const char *program, FILE *log)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000};
    while (!look_after(h, program, log))
        nanosleep(&pause, NULL);
}

uint32_t hooks_close(struct hooks *h, int status, FILE *log)
{
    while (h->on_finding && (h->running || h->next < h->summary->stored_findings)) {
        hooks_tick(h, log);
        wait_for_program(h, h->on_finding[0], log);
    }
    if (h->on_end) {
        set_end(h, status);
        start(h, h->on_end, "the end", log);
        wait_for_program(h, h->on_end[0], log);
    }
    return h->failures;
}
