/*
 * cli_regress.c - `simtfuzz regress`: does each stored finding still show, as it was found and minimised,
 * and does each kernel of corpus/regress still do what it expects?
 */
#include "fuzz/cli/json.h"
#include "fuzz/cli/stored.h"

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
    const char *minimised = !stored_is_minimised(finding) ? "not minimised"
                            : small                       ? "shows"
                                                          : "gone";
    if (cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        json_key_u64(&json, "finding", finding->id);
        json_key_string(&json, "signature", finding->signature);
        json_key_string(&json, "status", db_status_name(finding->status));
        json_key_bool(&json, "raw", raw);
        json_key(&json, "minimised");
        if (stored_is_minimised(finding))
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
    struct stored_outcome raw, small = {.shows = false};
    int status;
    struct db_finding *finding = cli_get_finding(
        cli, r->db, &r->message, arena_printf(&cli->arena, "%" PRIu64, id), &status);
    if (!finding)
        return CLI_FAULT;
    if (!stored_raw(r, finding, &stored) || !stored_run(r, &stored, false, &raw))
        return CLI_FAULT;
    if (stored_is_minimised(finding)) {
        stored = stored_minimised(finding);
        if (!stored_run(r, &stored, false, &small))
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
    if (replayer_open(&r, cli, DB_READONLY)) {
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
    replayer_close(&r);
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
