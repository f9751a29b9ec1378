/*
 * cli_status.c - `simtfuzz status`: how far the campaigns of a database are. Reading does not disturb
 * a campaign that is writing.
 */
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json.h"
#include "fuzz/cli/table.h"
#include "fuzz/clock.h"

#include <inttypes.h>

/* A running campaign writes every second or so; one that minimises a finding may take longer. */
enum { SILENT_SECONDS = 60 };

struct status_view {
    struct cli *cli;
    struct table table;
    uint32_t count;
    uint64_t findings[4]; /* by status */
};

static double seconds(const struct db_campaign *c)
{
    return c->seen_ms > c->started_ms ? (double)(c->seen_ms - c->started_ms) / 1000 : 0;
}

static void print_json(const struct db_campaign *c)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "campaign", c->id);
    json_key_string(&json, "state", db_campaign_state_name(c->state));
    json_key_hex(&json, "seed", c->seed);
    json_key_string(&json, "options", c->options);
    json_key_u64(&json, "shard_index", c->shard_index);
    json_key_u64(&json, "shard_count", c->shard_count);
    json_key_u64(&json, "shards", c->shards);
    json_key_u64(&json, "jobs", c->jobs);
    json_key_u64(&json, "cases", c->progress.kernels);
    json_key_u64(&json, "cases_target", c->cases_target);
    json_key_u64(&json, "thread_steps", c->progress.thread_steps);
    json_key_u64(&json, "warp_steps", c->progress.warp_steps);
    json_key(&json, "seconds");
    json_double(&json, seconds(c));
    json_key_u64(&json, "seen_ms", c->seen_ms);
    json_object_end(&json);
    json_end_line(&json);
}

/* "3/16", or how many of them are here. */
static const char *shard_text(struct arena *arena, const struct db_campaign *c)
{
    if (c->shard_count == 1)
        return "";
    if (c->shards == 1)
        return arena_printf(arena, "%" PRIu64 "/%" PRIu64, c->shard_index, c->shard_count);
    return arena_printf(arena, "%" PRIu64 " of %" PRIu64, c->shards, c->shard_count);
}

/* A campaign that was killed cannot say so: how long ago it last wrote is what can be known. */
static const char *state_text(struct arena *arena, const struct db_campaign *c)
{
    const char *name = db_campaign_state_name(c->state);
    uint64_t now = clock_unix_ms();
    if (c->state != DB_CAMPAIGN_RUNNING)
        return name;
    uint64_t silent = now > c->seen_ms ? (now - c->seen_ms) / 1000 : 0;
    return arena_printf(arena, "%s (last written %" PRIu64 " s ago)",
                        silent < SILENT_SECONDS ? name : "not running any more?", silent);
}

static bool see_campaign(void *context, const struct db_campaign *c)
{
    struct status_view *view = context;
    struct arena *arena = &view->cli->arena;
    view->count++;
    if (view->cli->options.json) {
        print_json(c);
        return true;
    }
    double time = seconds(c);
    struct table_row *row = table_add(&view->table);
    row->cells[0] = arena_printf(arena, "%" PRIu64, c->id);
    row->cells[1] = state_text(arena, c);
    row->cells[2] = arena_printf(arena, "0x%" PRIx64, c->seed);
    row->cells[3] = shard_text(arena, c);
    row->cells[4] = arena_printf(arena, "%" PRIu64, c->progress.kernels);
    row->cells[5] = c->cases_target ? arena_printf(arena, "%" PRIu64, c->cases_target) : "";
    row->cells[6] = arena_printf(arena, "%.0f s", time);
    row->cells[7] = time > 0 ? arena_printf(arena, "%.0f", (double)c->progress.kernels / time) : "";
    return true;
}

static bool count_finding(void *context, const struct db_finding *finding)
{
    struct status_view *view = context;
    view->findings[finding->status]++;
    return true;
}

static int show_status(struct status_view *view, struct db *db, const struct db_message *message)
{
    static const char *const titles[] = {"campaign", "state", "seed", "shard",
                                         "cases",    "of",    "time", "cases/s"};
    table_start(&view->table, &view->cli->arena, titles, "rlllrrrr");
    int error = db_campaigns(db, see_campaign, view);
    if (error == DB_OK)
        error = db_findings(db, DB_ANY_STATUS, count_finding, view);
    if (error != DB_OK)
        return cli_db_failed(view->cli, message, error);
    if (view->cli->options.json)
        return CLI_OK;
    if (view->count > 0)
        table_print(&view->table, stdout);
    else
        puts("no campaigns");
    printf("findings: %" PRIu64 " open, %" PRIu64 " known, %" PRIu64 " fixed, %" PRIu64
           " invalid\n",
           view->findings[DB_STATUS_OPEN], view->findings[DB_STATUS_KNOWN],
           view->findings[DB_STATUS_FIXED], view->findings[DB_STATUS_INVALID]);
    return CLI_OK;
}

int command_status(struct cli *cli)
{
    struct db_message message;
    struct status_view view = {.cli = cli};
    struct db *db = cli_open_db(cli, DB_READONLY, &message);
    if (!db)
        return CLI_FAULT;
    int status = show_status(&view, db, &message);
    db_close(db);
    return status;
}
