/*
 * cli_regress.c - `simtfuzz regress`: does each stored finding still show, as it was found and minimised,
 * and does each kernel of corpus/regress still do what it expects?
 */
#include "fuzz/beside/beside.h"
#include "fuzz/hunt/again.h"
#include "fuzz/out/json.h"
#include "fuzz/triage/stored.h"

#include <inttypes.h>
#include <sys/stat.h>

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

/* ---- one finding ---- */

/* What regress says of a finding; `name` is the JSON's. */
enum regressed { SHOWS, SHOWS_AGAIN, SHOWS_OTHER, GONE, DIES, NOT_ASKED, OUTCOMES };

static const char *const regressed_names[OUTCOMES] = {
    [SHOWS] = "shows",
    [SHOWS_AGAIN] = "regression",
    [SHOWS_OTHER] = "another_signature",
    [GONE] = "gone",
    [DIES] = "dies",
    [NOT_ASKED] = "not_asked",
};

struct regression {
    struct replayer r;
    uint32_t findings, counts[OUTCOMES], changed, updated;
};

/* A finding, its forms as they showed just now. */
struct judged {
    const struct db_finding *finding;
    struct stored_trial raw, small;
    bool has_small;
    enum regressed outcome;
    bool changed;          /* it is not as its status says */
    const char *not_asked; /* why it could not be run; NULL: it was */
    bool updated;
    const char *sentence;
};

static bool died(const struct stored_trial *trial)
{
    return trial->signal != 0 || trial->hung;
}

static enum regressed regressed_of(const struct judged *j)
{
    if (j->not_asked)
        return NOT_ASKED;
    if (j->raw.shown || j->small.shown)
        return j->finding->status == DB_STATUS_FIXED ? SHOWS_AGAIN : SHOWS;
    if (died(&j->raw) || died(&j->small))
        return DIES;
    return *j->raw.seen_as || *j->small.seen_as ? SHOWS_OTHER : GONE;
}

static const char *sentence_of(const struct judged *j)
{
    bool only_raw = j->has_small && j->raw.shown && !j->small.shown;
    bool only_small = j->has_small && j->small.shown && !j->raw.shown;
    switch (j->outcome) {
    case SHOWS:
        if (only_raw)
            return "still shows, but only as it was found: not fixed, minimise it again";
        if (only_small)
            return "still shows, but only minimised: not fixed";
        return j->finding->status == DB_STATUS_OPEN    ? "still shows"
               : j->finding->status == DB_STATUS_KNOWN ? "known, still shows"
                                                       : "invalid, still shows";
    case SHOWS_AGAIN:
        return "REGRESSION: was fixed, shows again";
    case SHOWS_OTHER:
        return "shows with another signature";
    case DIES:
        return "DIES: the engine crashes or hangs on it";
    case NOT_ASKED:
        return j->not_asked;
    case GONE:
    case OUTCOMES:
        break;
    }
    switch (j->finding->status) {
    case DB_STATUS_OPEN:
        return "gone: mark it fixed";
    case DB_STATUS_KNOWN:
        return "known, but gone: mark it fixed";
    case DB_STATUS_FIXED:
        return "fixed, stays away";
    case DB_STATUS_INVALID:
        break;
    }
    return "invalid, does not show";
}

static bool is_changed(const struct judged *j)
{
    bool both = j->raw.shown && (!j->has_small || j->small.shown);
    if (j->outcome == SHOWS)
        return !both;
    if (j->outcome == NOT_ASKED)
        return false;
    return j->outcome != GONE || j->finding->status == DB_STATUS_OPEN ||
           j->finding->status == DB_STATUS_KNOWN;
}

static int exit_status(const struct judged *j)
{
    if (j->outcome == DIES)
        return CLI_FAULT;
    if (j->outcome == NOT_ASKED)
        return CLI_OK;
    bool told = j->finding->status == DB_STATUS_KNOWN || j->finding->status == DB_STATUS_INVALID;
    bool counts = j->outcome != GONE && !told && !j->finding->suppressed;
    /* what was fixed and shows something else is not that finding */
    if (j->outcome == SHOWS_OTHER && j->finding->status == DB_STATUS_FIXED)
        counts = false;
    return counts ? CLI_DIVERGENCE : CLI_OK;
}

/* ---- reports ---- */

static void json_trial(struct json *json, const char *form, const struct stored_trial *trial)
{
    json_key(json, form);
    if (!trial) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_bool(json, "shows", trial->shown > 0);
    json_key_u64(json, "shown", trial->shown);
    json_key_u64(json, "runs", trial->runs);
    json_key_string(json, "seen_as", *trial->seen_as ? trial->seen_as : NULL);
    json_key_u64(json, "signal", (uint64_t)trial->signal);
    json_key_bool(json, "hung", trial->hung);
    json_object_end(json);
}

static void report_json(const struct judged *j)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "finding", j->finding->id);
    json_key_string(&json, "signature", j->finding->signature);
    json_key_string(&json, "status", db_status_name(j->finding->status));
    json_key_bool(&json, "suppressed", j->finding->suppressed);
    json_key_string(&json, "outcome", regressed_names[j->outcome]);
    json_key_bool(&json, "changed", j->changed);
    json_key_bool(&json, "updated", j->updated);
    json_trial(&json, "raw", &j->raw);
    json_trial(&json, "minimised", j->has_small ? &j->small : NULL);
    json_key_string(&json, "verdict", j->sentence);
    json_line_end(&json);
}

/* "shows", "shows 2/5", "gone", "as SIGNATURE", "signal 6" */
static const char *trial_text(struct arena *arena, const struct stored_trial *trial)
{
    if (trial->shown > 0 && trial->runs > 1)
        return arena_printf(arena, "shows %" PRIu32 "/%" PRIu32, trial->shown, trial->runs);
    if (trial->shown > 0)
        return "shows";
    if (trial->signal)
        return arena_printf(arena, "ended by signal %d", trial->signal);
    if (trial->hung)
        return "took too long";
    if (*trial->seen_as)
        return arena_printf(arena, "as %s", trial->seen_as);
    return trial->runs > 1 ? arena_printf(arena, "gone 0/%" PRIu32, trial->runs) : "gone";
}

static void report(struct cli *cli, const struct judged *j)
{
    struct arena *arena = &cli->arena;
    if (cli->options.json)
        report_json(j);
    else
        printf("%4" PRIu64 "  %s: %s%s (raw: %s, minimised: %s)\n", j->finding->id,
               j->finding->signature, j->sentence, j->updated ? ": now it is" : "",
               trial_text(arena, &j->raw),
               j->has_small ? trial_text(arena, &j->small) : "not minimised");
}

static void report_sums(const struct regression *g)
{
    printf("%" PRIu32 " findings: %" PRIu32 " not as their status says, %" PRIu32
           " set to fixed; %" PRIu32 " show, %" PRIu32 " of them again; %" PRIu32
           " with another signature, %" PRIu32 " gone, %" PRIu32 " die, %" PRIu32
           " could not be run\n",
           g->findings, g->changed, g->updated, g->counts[SHOWS] + g->counts[SHOWS_AGAIN],
           g->counts[SHOWS_AGAIN], g->counts[SHOWS_OTHER], g->counts[GONE], g->counts[DIES],
           g->counts[NOT_ASKED]);
}

/* ---- running ---- */

/* A form of a finding of an outside implementation, on what is installed now. */
static bool try_outside(struct regression *g, const struct db_finding *finding,
                        const struct stored *stored, struct judged *j, struct stored_trial *trial)
{
    const char *text;
    const struct ast_kernel *kernel = stored_kernel(&g->r, stored->kernel, &text);
    if (!kernel)
        return false;
    const struct again again = again_run(&g->r.cli->arena, finding, kernel, trial == &j->small);
    *trial = (struct stored_trial){.runs = 1, .shown = again.says == AGAIN_SHOWS};
    if (again.says == AGAIN_CANNOT_SAY)
        j->not_asked = arena_printf(&g->r.cli->arena, "cannot be run here: %s", again.why);
    if (again.says == AGAIN_OTHER)
        snprintf(trial->seen_as, sizeof trial->seen_as, "%s", again.why);
    return true;
}

static bool try_beside(struct regression *g, const struct db_finding *finding,
                       const struct stored *stored, struct stored_trial *trial)
{
    int status;
    const char *text = cli_get_kernel(g->r.cli, g->r.db, &g->r.message, stored->kernel, &status);
    if (!text)
        return false;
    const struct beside_again again =
        beside_of(finding->oracle)->again(&g->r.cli->arena, finding, text);
    *trial = (struct stored_trial){.runs = 1, .shown = again.shows};
    snprintf(trial->seen_as, sizeof trial->seen_as, "%s", again.seen_as);
    return true;
}

static bool try_form(struct regression *g, const struct db_finding *finding,
                     const struct stored *stored, struct judged *j, struct stored_trial *trial)
{
    const struct cli_options *o = &g->r.cli->options;
    uint32_t runs = o->triage.runs             ? o->triage.runs
                    : stored_is_flaky(finding) ? STORED_FLAKY_RUNS
                                               : 1;
    if (again_is_outside(finding))
        return try_outside(g, finding, stored, j, trial);
    if (beside_of(finding->oracle))
        return try_beside(g, finding, stored, trial);
    return stored_try(&g->r, stored, runs, true, o->time_ms ? o->time_ms : STORED_TIME_MS, trial);
}

/* --update: what is open and gone is fixed. What shows now and then may only be hiding. */
static int update(struct regression *g, struct judged *j)
{
    if (!g->r.cli->options.triage.update || j->outcome != GONE ||
        j->finding->status != DB_STATUS_OPEN || stored_is_flaky(j->finding))
        return CLI_OK;
    int error = db_finding_status_set(g->r.db, j->finding->id, DB_STATUS_FIXED, NULL);
    if (error != DB_OK)
        return cli_db_failed(g->r.cli, &g->r.message, error);
    j->updated = true;
    g->updated++;
    return CLI_OK;
}

static int regress_finding(struct regression *g, uint64_t id)
{
    struct cli *cli = g->r.cli;
    struct stored stored;
    struct judged j = {.has_small = false};
    int status;
    j.finding = cli_get_finding(cli, g->r.db, &g->r.message,
                                arena_printf(&cli->arena, "%" PRIu64, id), &status);
    if (!j.finding)
        return CLI_FAULT;
    j.has_small = stored_is_minimised(j.finding);
    if (!stored_raw(&g->r, j.finding, &stored) || !try_form(g, j.finding, &stored, &j, &j.raw))
        return CLI_FAULT;
    if (j.has_small) {
        stored = stored_minimised(j.finding);
        if (!try_form(g, j.finding, &stored, &j, &j.small))
            return CLI_FAULT;
    }
    j.outcome = regressed_of(&j);
    j.changed = is_changed(&j);
    j.sentence = sentence_of(&j);
    status = update(g, &j);
    if (status != CLI_OK)
        return status;
    g->findings++;
    g->counts[j.outcome]++;
    g->changed += j.changed;
    report(cli, &j);
    return exit_status(&j);
}

static int regress_database(struct cli *cli)
{
    enum { FINDINGS_MAX = 1 << 20 };
    struct regression g = {.findings = 0};
    int status = CLI_FAULT;
    if (replayer_open(&g.r, cli, cli->options.triage.update ? DB_READWRITE : DB_READONLY)) {
        struct ids ids = {.capacity = FINDINGS_MAX};
        ids.ids = ARENA_ARRAY(&cli->arena, uint64_t, FINDINGS_MAX);
        int error = db_findings(g.r.db, DB_ANY_STATUS, collect_id, &ids);
        status = error == DB_OK ? CLI_OK : cli_db_failed(cli, &g.r.message, error);
        for (uint32_t i = 0; i < ids.count && error == DB_OK; i++) {
            size_t mark = arena_mark(&cli->arena);
            int one = regress_finding(&g, ids.ids[i]);
            status = status > one ? status : one;
            arena_release(&cli->arena, mark);
        }
        if (error == DB_OK && !cli->options.json)
            report_sums(&g);
    }
    replayer_close(&g.r);
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
