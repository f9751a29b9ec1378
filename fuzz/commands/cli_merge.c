/*
 * cli_merge.c - `simtfuzz merge`: several databases become one.
 */
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"

#include <inttypes.h>
#include <unistd.h>

struct contents {
    uint64_t campaigns, findings;
};

static bool count_campaign(void *context, const struct db_campaign *campaign)
{
    (void)campaign;
    ((struct contents *)context)->campaigns++;
    return true;
}

static bool count_finding(void *context, const struct db_finding *finding)
{
    (void)finding;
    ((struct contents *)context)->findings++;
    return true;
}

static int count_contents(const char *path, struct db_message *message, struct contents *contents)
{
    struct db *db;
    int error = db_open(path, DB_READONLY, message, &db);
    if (error == DB_OK)
        error = db_campaigns(db, count_campaign, contents);
    if (error == DB_OK)
        error = db_findings(db, DB_ANY_STATUS, count_finding, contents);
    db_close(db);
    return error;
}

static void print_contents(const struct cli *cli, const char *out, int inputs,
                           const struct contents *before, const struct contents *now)
{
    if (!cli->options.json) {
        printf("%s: %" PRIu64 " campaigns (%" PRIu64 " new), %" PRIu64 " findings", out,
               now->campaigns, now->campaigns - before->campaigns, now->findings);
        if (before->campaigns > 0)
            printf(" (%" PRIu64 " before)", before->findings);
        putchar('\n');
        return;
    }
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, "database", out);
    json_key_u64(&json, "inputs", (uint64_t)inputs);
    json_key_u64(&json, "campaigns", now->campaigns);
    json_key_u64(&json, "campaigns_before", before->campaigns);
    json_key_u64(&json, "findings", now->findings);
    json_key_u64(&json, "findings_before", before->findings);
    json_line_end(&json);
}

int command_merge(struct cli *cli)
{
    const char *out = cli->arguments[0];
    int inputs = cli->argument_count - 1;
    struct contents before = {0}, now = {0};
    struct db_message message = {.text = ""};
    int error = DB_OK;
    if (access(out, F_OK) == 0) {
        error = count_contents(out, &message, &before);
        if (error == DB_ERROR_OLDER) /* to be migrated */
            error = DB_OK;
    }
    if (error == DB_OK)
        error =
            db_merge_files(out, (const char *const *)cli->arguments + 1, (size_t)inputs, &message);
    if (error == DB_OK)
        error = count_contents(out, &message, &now);
    if (error != DB_OK)
        return cli_db_failed(cli, &message, error);
    print_contents(cli, out, inputs, &before, &now);
    return CLI_OK;
}
