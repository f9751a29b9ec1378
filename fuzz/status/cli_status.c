/*
 * cli_status.c - `simtfuzz status`: how far the campaigns of a database are, also while they run. Reading
 * does not disturb who is writing.
 *
 * A campaign that was killed cannot say so. Its last session's process and machine are in the database: on
 * the same machine, whether that process lives is known; of another one, only how long ago it wrote.
 */
#include "fuzz/base/clock.h"
#include "fuzz/campaign/ui.h"
#include "fuzz/out/json.h"
#include "fuzz/out/table.h"
#include "fuzz/status/status.h"

#include <inttypes.h>
#include <string.h>

enum { SPARK_WIDTH = 40, LAST_FINDINGS = 3 };

static const char *const state_names[] = {
    [LIFE_RUNNING] = "running",         [LIFE_SILENT] = "silent",     [LIFE_KILLED] = "killed",
    [LIFE_INTERRUPTED] = "interrupted", [LIFE_FINISHED] = "finished",
};

/* ---- JSON ---- */

static void print_json(const struct status_campaign *s, FILE *out)
{
    const struct db_campaign *c = &s->campaign;
    struct json json;
    json_line_begin(&json, out);
    json_key_u64(&json, "campaign", c->id);
    json_key_string(&json, "state", state_names[s->state]);
    json_key_hex(&json, "seed", c->seed);
    json_key_string(&json, "options", c->options);
    json_key_string(&json, "version", c->version);
    json_key_string(&json, "config", *c->config ? c->config : NULL);
    json_key_u64(&json, "shard_index", c->shard_index);
    json_key_u64(&json, "shard_count", c->shard_count);
    json_key_u64(&json, "shards", c->shards);
    json_key_u64(&json, "shards_running", s->shards_running);
    json_key_u64(&json, "jobs", c->jobs);
    json_key_u64(&json, "pid", c->pid);
    json_key_string(&json, "host", c->host);
    json_key_u64(&json, "sessions", c->sessions);
    json_key_u64(&json, "cases", c->counts.cases);
    json_key_u64(&json, "cases_target", c->cases_target);
    json_key_u64(&json, "thread_steps", c->counts.thread_steps);
    json_key_u64(&json, "warp_steps", c->counts.warp_steps);
    json_key_double(&json, "seconds", (double)s->worked_ms / 1000);
    json_key_double(&json, "cases_per_second", s->rate);
    json_key(&json, "cases_per_second_now");
    if (s->rate_now >= 0)
        json_double(&json, s->rate_now);
    else
        json_null(&json);
    json_key_u64(&json, "rules_fired", s->rules);
    json_key_u64(&json, "findings", s->findings);
    json_key_u64(&json, "started_ms", c->started_ms);
    json_key_u64(&json, "seen_ms", c->seen_ms);
    json_line_end(&json);
}

/* ---- text ---- */

/* "3/16", or how many of them are here. */
static const char *shard_text(struct arena *arena, const struct db_campaign *c)
{
    if (c->shard_count == 1)
        return "";
    if (c->shards == 1)
        return arena_printf(arena, "%" PRIu64 "/%" PRIu64, c->shard_index, c->shard_count);
    return arena_printf(arena, "%" PRIu64 " of %" PRIu64, c->shards, c->shard_count);
}

static const char *ago(struct arena *arena, uint64_t now_ms, uint64_t then_ms)
{
    return arena_printf(arena, "%s ago",
                        ui_duration(arena, now_ms > then_ms ? now_ms - then_ms : 0));
}

/* It runs, and no chunk of its cases is ready: what the database counts is not what was done. */
static bool is_too_young(const struct status_campaign *s)
{
    return s->state == LIFE_RUNNING && s->campaign.counts.cases == 0;
}

static void add_campaign(struct arena *arena, struct table *table, const struct status_campaign *s)
{
    const struct db_campaign *c = &s->campaign;
    struct table_row *row = table_add(table);
    row->cells[0] = arena_printf(arena, "%" PRIu64, c->id);
    row->cells[1] = state_names[s->state];
    row->cells[2] = arena_printf(arena, "0x%" PRIx64, c->seed);
    row->cells[3] = shard_text(arena, c);
    row->cells[4] = arena_printf(arena, "%" PRIu64, c->counts.cases);
    row->cells[5] = c->cases_target ? arena_printf(arena, "%" PRIu64, c->cases_target) : "";
    row->cells[6] = ui_duration(arena, s->worked_ms);
    row->cells[7] = s->rate > 0 ? arena_printf(arena, "%.0f", s->rate) : "";
    row->cells[8] = s->rate_now >= 0 ? arena_printf(arena, "%.0f", s->rate_now) : "";
    row->cells[9] = arena_printf(arena, "%" PRIu32, s->rules);
    row->cells[10] = arena_printf(arena, "%" PRIu64, s->findings);
    if (is_too_young(s))
        row->cells[4] = row->cells[9] = row->cells[10] = "?";
}

static void print_process(struct arena *arena, const struct status_campaign *s, uint64_t now_ms,
                          FILE *out)
{
    const struct db_campaign *c = &s->campaign;
    const char *written = ago(arena, now_ms, c->seen_ms);
    fprintf(out, "campaign %" PRIu64 ": process %" PRIu64 " on %s ", c->id, c->pid, c->host);
    switch (s->state) {
    case LIFE_RUNNING:
        if (is_too_young(s))
            fprintf(out,
                    "runs, begun %s; none of its cases is stored yet: they are %d at a time, "
                    "run --ui and --stats count each",
                    ago(arena, now_ms, c->started_ms), CAMPAIGN_CHUNK);
        else
            fprintf(out, "runs, last written %s", written);
        if (s->shards_running > 1)
            fprintf(out, "; %" PRIu32 " of its shards run", s->shards_running);
        fputc('\n', out);
        break;
    case LIFE_SILENT:
        fprintf(out, "last wrote %s; from here, nobody can tell whether it runs\n", written);
        break;
    case LIFE_KILLED:
        fprintf(out, "was killed, last written %s; what it stored stays\n", written);
        break;
    case LIFE_INTERRUPTED:
    case LIFE_FINISHED:
        fprintf(out, "has ended, last written %s\n", written);
        break;
    }
}

/* Findings over the cases. */
static void print_growth(struct arena *arena, const struct status_campaign *s,
                         const struct screen *screen, FILE *out)
{
    if (s->growth_count < 2)
        return;
    fprintf(out, "  findings over its cases: %s\n",
            screen_spark(arena, screen, s->growth, s->growth_count, SPARK_WIDTH, false));
}

static void print_last_findings(struct arena *arena, const struct overview *status, FILE *out)
{
    static const char *const titles[] = {"last findings", "first seen", "status", "signature"};
    struct table table;
    table_start(&table, arena, titles, "rrll");
    for (uint32_t i = 0; i < status->last_count; i++) {
        const struct status_finding *f = &status->last[i];
        struct table_row *row = table_add(&table);
        row->cells[0] = arena_printf(arena, "%" PRIu64, f->id);
        row->cells[1] = f->first_seen_ms > 0 ? ago(arena, status->now_ms, f->first_seen_ms) : "";
        row->cells[2] = db_status_name(f->status);
        row->cells[3] = f->signature;
    }
    if (status->last_count > 0)
        table_print(&table, out);
}

/* Of one campaign: what identifies it, and its configuration. */
static void print_details(const struct status_campaign *s, FILE *out)
{
    const struct db_campaign *c = &s->campaign;
    fprintf(out, "version: %s\noptions: %s\n", c->version, c->options);
    if (*c->config)
        fprintf(out, "configuration:\n%s", c->config);
}

static void print_text(struct arena *arena, const struct overview *status, bool details, FILE *out)
{
    static const char *const titles[] = {"campaign", "state",   "seed", "shard", "cases",   "of",
                                         "time",     "cases/s", "now",  "rules", "findings"};
    /* Lines wrap where they end; only curves need to know what the terminal shows. */
    const struct screen screen = {.utf8 = status->utf8};
    struct table table;
    table_start(&table, arena, titles, "rlllrrrrrrr");
    for (uint32_t i = 0; i < status->count; i++)
        add_campaign(arena, &table, &status->campaigns[i]);
    if (status->count > 0)
        table_print(&table, out);
    else
        fputs("no campaigns\n", out);
    fprintf(out,
            "findings: %" PRIu64 " open, %" PRIu64 " known, %" PRIu64 " fixed, %" PRIu64
            " invalid\n",
            status->findings[DB_STATUS_OPEN], status->findings[DB_STATUS_KNOWN],
            status->findings[DB_STATUS_FIXED], status->findings[DB_STATUS_INVALID]);
    for (uint32_t i = 0; i < status->count; i++) {
        const struct status_campaign *s = &status->campaigns[i];
        if (!details && (s->state == LIFE_FINISHED || s->state == LIFE_INTERRUPTED))
            continue;
        print_process(arena, s, status->now_ms, out);
        print_growth(arena, s, &screen, out);
    }
    print_last_findings(arena, status, out);
    if (details)
        print_details(&status->campaigns[0], out);
}

void status_print(struct cli *cli, const struct overview *status, FILE *out)
{
    if (!cli->options.json) {
        print_text(&cli->arena, status, cli->argument_count > 0, out);
        return;
    }
    for (uint32_t i = 0; i < status->count; i++)
        print_json(&status->campaigns[i], out);
}

int command_status(struct cli *cli)
{
    struct db_message message;
    uint64_t campaign = 0;
    if (cli->argument_count > 0 && (!cli_parse_u64(cli->arguments[0], &campaign) || campaign == 0))
        return cli_misuse(cli, "'%s' is no number of a campaign", cli->arguments[0]);
    struct db *db = cli_open_db(cli, DB_READONLY, &message);
    if (!db)
        return CLI_FAULT;
    int damage = cli->options.check_db ? db_check(db) : DB_OK;
    if (damage != DB_OK) {
        db_close(db);
        return cli_db_failed(cli, &message, damage);
    }
    int exit = cli->options.watch ? status_watch(cli, db, &message, campaign) : CLI_OK;
    if (!cli->options.watch) {
        struct overview status;
        int error = status_read(&cli->arena, db, campaign, &status);
        if (error == DB_OK)
            status_print(cli, &status, stdout);
        else
            exit = cli_db_failed(cli, &message, error);
    }
    db_close(db);
    return exit;
}
