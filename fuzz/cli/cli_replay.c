/*
 * cli_replay.c - `simtfuzz replay` and `simtfuzz regress`: stored findings, run again.
 *
 * Replay is about simtfuzz: the same case must give the same bytes. Regress is about what is tested:
 * does each finding still show, as it was found and minimised?
 */
#include "engine/parse.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json.h"
#include "fuzz/example.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* One stored form of a finding: what to run, and what it must show. */
struct stored {
    const char *form; /* "raw", "minimised" */
    const char *case_text;
    const char *kernel; /* hash */
    const char *signature;
    const char *tape; /* of the subject's execution */
    bool has_tape;    /* `tape` is known */
};

struct outcome {
    bool shows; /* the signature */
    bool same;  /* ... and all bytes that are stored */
    const char *why;
};

struct replayer {
    struct cli *cli;
    struct db *db;
    struct db_message message;
    struct arena scratch;
    int status;
};

static bool open_replayer(struct replayer *r, struct cli *cli, enum db_mode mode)
{
    *r = (struct replayer){.cli = cli, .status = CLI_FAULT};
    if (arena_init(&r->scratch, (size_t)4 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return false;
    }
    r->db = cli_open_db(cli, mode, &r->message);
    return r->db != NULL;
}

static void close_replayer(struct replayer *r)
{
    db_close(r->db);
    arena_destroy(&r->scratch);
}

/* ---- one form ---- */

static struct ast_kernel *stored_kernel(struct replayer *r, const char *hash, const char **text)
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
                           struct outcome *outcome)
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

static bool parse_stored(struct replayer *r, const struct stored *stored, struct fuzz_case *c)
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
static bool run_stored(struct replayer *r, const struct stored *stored, bool from_case,
                       struct outcome *outcome)
{
    struct fuzz_case c;
    struct shown shown;
    const char *text;
    *outcome = (struct outcome){.shows = false};
    if (!parse_stored(r, stored, &c))
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

static bool raw_form(struct replayer *r, const struct db_finding *finding, struct stored *stored)
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

static bool has_minimised(const struct db_finding *finding)
{
    return *finding->minimised.kernel != '\0';
}

static struct stored minimised_form(const struct db_finding *finding)
{
    return (struct stored){.form = "minimised",
                           .case_text = finding->minimised.case_text,
                           .kernel = finding->minimised.kernel,
                           .signature = finding->signature,
                           .tape = finding->minimised.tape,
                           .has_tape = true};
}

/* ---- replay ---- */

static void report_replay(struct cli *cli, const struct db_finding *finding,
                          const struct stored *stored, const struct outcome *outcome)
{
    if (cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        json_key_u64(&json, "finding", finding->id);
        json_key_string(&json, "form", stored->form);
        json_key_string(&json, "signature", stored->signature);
        json_key_bool(&json, "same", outcome->same);
        json_key_string(&json, "why", outcome->why);
        json_object_end(&json);
        json_end_line(&json);
    } else {
        printf("%-9s  %s%s%s\n", stored->form, outcome->same ? "same: " : "NOT THE SAME: ",
               outcome->same ? stored->signature : outcome->why, "");
    }
}

static int replay_form(struct replayer *r, const struct db_finding *finding,
                       const struct stored *stored)
{
    struct outcome outcome;
    if (!run_stored(r, stored, true, &outcome))
        return CLI_FAULT;
    report_replay(r->cli, finding, stored, &outcome);
    return outcome.same ? CLI_OK : CLI_FAULT;
}

static int replay(struct replayer *r)
{
    int status;
    struct stored stored;
    struct db_finding *finding =
        cli_get_finding(r->cli, r->db, &r->message, r->cli->arguments[0], &status);
    if (!finding)
        return status;
    if (!raw_form(r, finding, &stored))
        return CLI_FAULT;
    status = replay_form(r, finding, &stored);
    if (has_minimised(finding)) {
        stored = minimised_form(finding);
        int minimised = replay_form(r, finding, &stored);
        status = status > minimised ? status : minimised;
    }
    return status;
}

int command_replay(struct cli *cli)
{
    struct replayer r;
    int status = CLI_FAULT;
    if (open_replayer(&r, cli, DB_READONLY))
        status = replay(&r);
    close_replayer(&r);
    return status;
}

/* ---- regress ---- */

struct ids {
    uint64_t *ids;
    uint32_t count, capacity;
};

static bool collect_id(void *context, const struct db_finding *finding)
{
    struct ids *ids = context;
    ids->ids[ids->count++] = finding->id;
    return ids->count < ids->capacity;
}

/* What a finding's stored status and its two forms say together. */
static const char *judge(const struct db_finding *finding, bool raw, bool small, int *status)
{
    bool shows = raw || small;
    *status = CLI_OK;
    switch (finding->status) {
    case DB_STATUS_OPEN:
        *status = shows && !finding->suppressed ? CLI_DIVERGENCE : CLI_OK;
        return shows ? "still shows" : "gone: mark it fixed";
    case DB_STATUS_KNOWN:
        return shows ? "known, still shows" : "known, but gone: mark it fixed";
    case DB_STATUS_FIXED:
        *status = shows ? CLI_DIVERGENCE : CLI_OK;
        return shows ? "REGRESSION: was fixed, shows again" : "fixed, stays away";
    case DB_STATUS_INVALID:
        break;
    }
    return shows ? "invalid, still shows" : "invalid, does not show";
}

static void report_regress(struct cli *cli, const struct db_finding *finding, bool raw, bool small,
                           const char *verdict)
{
    const char *minimised = !has_minimised(finding) ? "not minimised" : small ? "shows" : "gone";
    if (cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        json_key_u64(&json, "finding", finding->id);
        json_key_string(&json, "signature", finding->signature);
        json_key_string(&json, "status", db_status_name(finding->status));
        json_key_bool(&json, "raw", raw);
        json_key(&json, "minimised");
        if (has_minimised(finding))
            json_bool(&json, small);
        else
            json_null(&json);
        json_key_string(&json, "verdict", verdict);
        json_object_end(&json);
        json_end_line(&json);
    } else {
        printf("%4" PRIu64 "  %s: %s (raw: %s, minimised: %s)\n", finding->id, finding->signature,
               verdict, raw ? "shows" : "gone", minimised);
    }
}

static int regress_finding(struct replayer *r, uint64_t id)
{
    struct cli *cli = r->cli;
    struct stored stored;
    struct outcome raw, small = {.shows = false};
    int status;
    struct db_finding *finding = cli_get_finding(
        cli, r->db, &r->message, arena_printf(&cli->arena, "%" PRIu64, id), &status);
    if (!finding)
        return CLI_FAULT;
    if (!raw_form(r, finding, &stored) || !run_stored(r, &stored, false, &raw))
        return CLI_FAULT;
    if (has_minimised(finding)) {
        stored = minimised_form(finding);
        if (!run_stored(r, &stored, false, &small))
            return CLI_FAULT;
    }
    const char *verdict = judge(finding, raw.shows, small.shows, &status);
    report_regress(cli, finding, raw.shows, small.shows, verdict);
    return status;
}

static int regress_database(struct cli *cli)
{
    enum { FINDINGS_MAX = 1 << 20 };
    struct replayer r;
    int status = CLI_FAULT;
    if (open_replayer(&r, cli, DB_READONLY)) {
        struct ids ids = {.capacity = FINDINGS_MAX};
        ids.ids = ARENA_ARRAY(&cli->arena, uint64_t, FINDINGS_MAX);
        int error = db_findings(r.db, DB_ANY_STATUS, collect_id, &ids);
        status = error == DB_OK ? CLI_OK : cli_db_failed(cli, &r.message, error);
        for (uint32_t i = 0; i < ids.count && error == DB_OK; i++) {
            size_t mark = arena_mark(&cli->arena);
            int one = regress_finding(&r, ids.ids[i]);
            status = status > one ? status : one;
            arena_release(&cli->arena, mark);
        }
    }
    close_replayer(&r);
    return status;
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static int regress_corpus(struct cli *cli, char *folder)
{
    struct cli_files files;
    struct cli_check_sums sums = {0};
    struct check_options options = cli_check_options(cli);
    int status = CLI_OK;
    if (!cli_find_files(cli, &folder, 1, &files))
        return CLI_USAGE;
    for (uint32_t i = 0; i < files.count; i++) {
        int one = cli_check_file(cli, files.paths[i], &options, &sums);
        status = status > one ? status : one;
    }
    return status;
}

int command_regress(struct cli *cli)
{
    char standard[] = "corpus/regress";
    char *folder = cli->argument_count > 0 ? cli->arguments[0] : standard;
    bool with_db = cli->options.db_given || exists(cli->options.db);
    bool with_corpus = cli->argument_count > 0 || exists(folder);
    if (!with_db && !with_corpus) {
        cli_message(cli, "there is neither a database %s nor a folder %s", cli->options.db, folder);
        return CLI_USAGE;
    }
    int status = with_db ? regress_database(cli) : CLI_OK;
    if (with_corpus && status != CLI_FAULT) {
        int corpus = regress_corpus(cli, folder);
        status = status > corpus ? status : corpus;
    }
    return status;
}
