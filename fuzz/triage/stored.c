#include "fuzz/triage/stored.h"

#include "engine/input/input.h"
#include "fuzz/base/process.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool replayer_open(struct replayer *r, struct cli *cli, enum db_mode mode)
{
    *r = (struct replayer){.cli = cli};
    if (arena_init(&r->scratch, (size_t)4 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return false;
    }
    r->db = cli_open_db(cli, mode, &r->message);
    return r->db != NULL;
}

void replayer_close(struct replayer *r)
{
    db_close(r->db);
    arena_destroy(&r->scratch);
}

/* ---- one form ---- */

struct ast_kernel *stored_kernel(struct replayer *r, const char *hash, const char **text)
{
    struct arena *arena = &r->cli->arena;
    int status;
    *text = cli_get_kernel(r->cli, r->db, &r->message, hash, &status);
    if (!*text)
        return NULL;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, hash, *text, strlen(*text));
    struct ast_kernel *kernel = parse_kernel(arena, *text, strlen(*text), diag);
    if (!kernel)
        diag_print(diag, stderr);
    return kernel;
}

/* Whether the generator still gives the stored kernel. */
static bool same_generator(struct replayer *r, const struct fuzz_case *c, const char *text,
                           struct stored_outcome *outcome)
{
    const char *generated;
    if (c->gen_version != GEN_VERSION) {
        cli_message(r->cli, "generator version %" PRIu32 ", now %d: replaying the stored kernel",
                    c->gen_version, GEN_VERSION);
        return true;
    }
    example_kernel(&r->cli->arena, c, &generated);
    if (strcmp(generated, text) == 0)
        return true;
    outcome->why = "the case's seed now gives another kernel than the stored one";
    return false;
}

bool stored_case(struct replayer *r, const struct stored *stored, struct fuzz_case *c)
{
    const char *error;
    size_t column;
    if (!case_parse(&r->cli->arena, stored->case_text, c, &error)) {
        cli_message(r->cli, "the stored case is damaged at '%s'", error);
        return false;
    }
    if (!c->has_tape)
        return true;
    c->check.tape = tape_parse(&r->cli->arena, stored->tape, &column);
    if (!c->check.tape)
        cli_message(r->cli, "the stored tape is damaged at column %zu", column);
    return c->check.tape != NULL;
}

/* Runs one form again. False: it cannot be run; reported. */
bool stored_run(struct replayer *r, const struct stored *stored, bool from_case,
                struct stored_outcome *outcome)
{
    struct fuzz_case c;
    struct shown shown;
    const char *text;
    *outcome = (struct stored_outcome){.shows = false};
    if (!stored_case(r, stored, &c))
        return false;
    struct ast_kernel *kernel = stored_kernel(r, stored->kernel, &text);
    if (!kernel)
        return false;
    if (from_case && c.generated && !same_generator(r, &c, text, outcome))
        return true;
    example_run(&r->cli->arena, &r->scratch, kernel, &c.check, stored->signature, false, &shown);
    outcome->shows = shown.found;
    outcome->same =
        shown.found && (!stored->has_tape || c.has_tape || strcmp(shown.tape, stored->tape) == 0);
    if (!shown.found)
        outcome->why = "the divergence does not show";
    else if (!outcome->same)
        outcome->why = "it shows, but its tape differs from the stored one";
    return true;
}

/* ---- in a process of its own ---- */

/* What the process says, in memory that it shares with us. */
struct said {
    bool finished, shows;
    char seen_as[STORED_SIGNATURE_MAX];
};

/* What is run: its kernel, or NULL: the case's generator makes it (and dies of that, it may be). */
struct work {
    struct ast_kernel *kernel;
    struct fuzz_case c;
    const char *signature;
};

/* Its first two parts: oracle|class. */
static const char *k1_of(struct arena *arena, const char *signature)
{
    size_t length = strcspn(signature, "|");
    if (signature[length])
        length += 1 + strcspn(signature + length + 1, "|");
    return arena_strndup(arena, signature, length);
}

static void run_work(struct replayer *r, const struct work *work, struct said *said)
{
    struct arena *arena = &r->cli->arena;
    const struct ast_kernel *kernel = work->kernel;
    const char *text = NULL;
    struct shown shown;
    if (!kernel)
        kernel = example_kernel(arena, &work->c, &text);
    example_run(arena, &r->scratch, kernel, &work->c.check, work->signature, false, &shown);
    said->shows = shown.found;
    if (!shown.found) {
        example_run(arena, &r->scratch, kernel, &work->c.check, k1_of(arena, work->signature), true,
                    &shown);
        if (shown.found)
            snprintf(said->seen_as, sizeof said->seen_as, "%s", shown.signature);
    }
    said->finished = true;
}

/* "engine|crash|..." */
static bool is_engine(const char *signature, const char *class_name)
{
    size_t length = strlen(class_name);
    return strncmp(signature, "engine|", 7) == 0 &&
           strncmp(signature + 7, class_name, length) == 0 && signature[7 + length] == '|';
}

/* One run. False: no process could be made; reported. */
static bool try_once(struct replayer *r, const struct work *work, struct said *said,
                     uint64_t time_ms, struct stored_trial *trial)
{
    *said = (struct said){.finished = false};
    bool hung;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        cli_message(r->cli, "cannot make a process: %s", strerror(errno));
        return false;
    }
    if (pid == 0) {
        run_work(r, work, said);
        _exit(0);
    }
    int status = process_wait(pid, time_ms, &hung);
    int signal_number = WIFSIGNALED(status) && !hung ? WTERMSIG(status) : 0;
    trial->runs++;
    if (said->finished) {
        trial->shown += said->shows;
        if (!said->shows && !*trial->seen_as)
            memcpy(trial->seen_as, said->seen_as, sizeof trial->seen_as);
    } else if (hung ? is_engine(work->signature, "hang") : is_engine(work->signature, "crash")) {
        trial->shown++;
    } else {
        trial->hung |= hung;
        trial->signal = signal_number ? signal_number : trial->signal;
    }
    return true;
}

bool stored_try(struct replayer *r, const struct stored *stored, uint32_t runs, bool all,
                uint64_t time_ms, struct stored_trial *trial)
{
    struct work work = {.signature = stored->signature};
    const char *text;
    bool good = true;
    *trial = (struct stored_trial){.runs = 0};
    if (!stored_case(r, stored, &work.c))
        return false;
    if (*stored->kernel || !work.c.generated)
        work.kernel = stored_kernel(r, stored->kernel, &text);
    if (!work.kernel && (*stored->kernel || !work.c.generated))
        return false;
    struct said *said =
        mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED) {
        cli_message(r->cli, "cannot reserve memory");
        return false;
    }
    while (good && trial->runs < runs && (all || trial->shown == 0))
        good = try_once(r, &work, said, time_ms, trial);
    munmap(said, sizeof *said);
    return good;
}

bool stored_is_flaky(const struct db_finding *finding)
{
    return strcmp(finding->class, "flaky") == 0;
}

/* ---- what the database holds of a finding ---- */

struct first_occurrence {
    struct arena *arena;
    const struct db_finding *finding;
    const char *tapes, *raw_key;
};

static bool see_occurrence(void *context, const struct db_occurrence *occurrence)
{
    struct first_occurrence *first = context;
    if (occurrence->campaign != first->finding->first_campaign ||
        occurrence->case_number != first->finding->first_case)
        return true;
    first->tapes = arena_strndup(first->arena, occurrence->tapes, strlen(occurrence->tapes));
    first->raw_key = arena_strndup(first->arena, occurrence->raw_key, strlen(occurrence->raw_key));
    return false;
}

/* An occurrence keeps two tapes, a line each. */
static const char *first_line(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strcspn(text, "\n"));
}

bool stored_raw(struct replayer *r, const struct db_finding *finding, struct stored *stored)
{
    struct first_occurrence first = {.arena = &r->cli->arena, .finding = finding};
    int error = db_occurrences(r->db, finding->id, see_occurrence, &first);
    if (error != DB_OK) {
        cli_db_failed(r->cli, &r->message, error);
        return false;
    }
    *stored = (struct stored){.form = "raw",
                              .case_text = finding->raw_case,
                              .kernel = finding->raw_kernel,
                              .signature = first.raw_key ? first.raw_key : finding->signature,
                              .has_tape = first.tapes != NULL};
    stored->tape = first.tapes ? first_line(&r->cli->arena, first.tapes) : "";
    return true;
}

bool stored_is_minimised(const struct db_finding *finding)
{
    return *finding->minimised.kernel != '\0';
}

struct stored stored_minimised(const struct db_finding *finding)
{
    return (struct stored){.form = "minimised",
                           .case_text = finding->minimised.case_text,
                           .kernel = finding->minimised.kernel,
                           .signature = finding->signature,
                           .tape = finding->minimised.tape,
                           .has_tape = true};
}

bool stored_choose(struct replayer *r, const struct db_finding *finding, bool raw,
                   struct stored *stored)
{
    if (raw || !stored_is_minimised(finding))
        return stored_raw(r, finding, stored);
    *stored = stored_minimised(finding);
    return true;
}
