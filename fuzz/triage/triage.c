/*
 * triage.c - what the actions of `triage` share: findings by name, and how they are told.
 */
#include "fuzz/triage/triage.h"
#include "fuzz/triage/stored.h"

#include "fuzz/case/json_finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IDS_MAX = 1 << 20 };

/* ---- findings by name ---- */

static bool add_id(struct triage *t, struct triage_ids *ids, uint64_t id)
{
    if (ids->count == IDS_MAX)
        return false;
    if (ids->count == ids->capacity) {
        ids->capacity = ids->capacity ? 2 * ids->capacity : 64;
        uint64_t *more = ARENA_ARRAY(&t->cli->arena, uint64_t, ids->capacity);
        if (ids->count > 0)
            memcpy(more, ids->ids, ids->count * sizeof *more);
        ids->ids = more;
    }
    ids->ids[ids->count++] = id;
    return true;
}

/* 3,5-9: numbers and commas and dashes, and not a plain number. */
static bool is_list(const char *name)
{
    return name[strspn(name, "0123456789,-")] == '\0' && strpbrk(name, ",-");
}

struct range {
    struct triage *t;
    struct triage_ids *ids;
    bool any, full;
};

static bool see_in_range(void *context, const struct db_finding *finding)
{
    struct range *range = context;
    range->any = true;
    range->full = !add_id(range->t, range->ids, finding->id);
    return !range->full;
}

static int bad_list(struct triage *t, const char *name)
{
    return cli_misuse(t->cli, "'%s' is no list of findings (3,5-9)", name);
}

/* One item of a list: 3, 5-9. */
static int add_item(struct triage *t, struct triage_ids *ids, const char *list, const char *item)
{
    struct arena *arena = &t->cli->arena;
    size_t first = strcspn(item, "-");
    struct range range = {.t = t, .ids = ids};
    struct db_selection selection = {.by_id = true};
    const char *low = arena_strndup(arena, item, first);
    const char *high = item[first] ? item + first + 1 : low;
    if (!cli_parse_u64(low, &selection.low) || !cli_parse_u64(high, &selection.high) ||
        selection.low > selection.high || selection.high == 0 || selection.high > INT64_MAX)
        return bad_list(t, list);
    int error = db_findings_select(t->db, &selection, see_in_range, &range);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    if (range.any && !range.full)
        return CLI_OK;
    cli_message(t->cli,
                range.full ? "%s: more than %s can take at once" : "%s: there is no finding %s",
                t->cli->options.db, range.full ? "triage" : item);
    return CLI_USAGE;
}

static int add_list(struct triage *t, struct triage_ids *ids, const char *list)
{
    int status = CLI_OK;
    for (const char *at = list; status == CLI_OK;) {
        size_t length = strcspn(at, ",");
        status = add_item(t, ids, list, arena_strndup(&t->cli->arena, at, length));
        if (!at[length])
            break;
        at += length + 1;
    }
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* In order, each once. */
static void sort_ids(struct triage_ids *ids)
{
    uint32_t kept = 0;
    qsort(ids->ids, ids->count, sizeof *ids->ids, compare_ids);
    for (uint32_t i = 0; i < ids->count; i++)
        if (i == 0 || ids->ids[i] != ids->ids[kept - 1])
            ids->ids[kept++] = ids->ids[i];
    ids->count = kept;
}

static int not_found(struct triage *t, const char *name, int error)
{
    int status = cli_db_failed(t->cli, &t->message, error);
    if (error == DB_ERROR_NOT_FOUND && name[strspn(name, "0123456789")])
        cli_message(t->cli, "simtfuzz triage search looks for words anywhere in a finding");
    return status;
}

bool triage_resolve(struct triage *t, char **names, int count, struct triage_ids *ids, int *status)
{
    *ids = (struct triage_ids){.count = 0};
    *status = CLI_OK;
    for (int i = 0; i < count && *status == CLI_OK; i++) {
        uint64_t id;
        if (is_list(names[i])) {
            *status = add_list(t, ids, names[i]);
            continue;
        }
        int error = *names[i] ? db_finding_resolve(t->db, names[i], &id) : DB_OK;
        if (!*names[i])
            *status = cli_misuse(t->cli, "'' is no finding");
        else if (error != DB_OK)
            *status = not_found(t, names[i], error);
        else
            add_id(t, ids, id);
    }
    if (*status != CLI_OK)
        return false;
    sort_ids(ids);
    return true;
}

struct db_finding *triage_get(struct triage *t, uint64_t id, int *status)
{
    return cli_get_finding(t->cli, t->db, &t->message, arena_printf(&t->cli->arena, "%" PRIu64, id),
                           status);
}

/* ---- what all actions do ---- */

bool triage_open(struct triage *t, enum db_mode mode, int *status)
{
    *status = CLI_FAULT;
    t->db = cli_open_db(t->cli, mode, &t->message);
    return t->db != NULL;
}

int triage_done(struct triage *t, int error)
{
    return error == DB_OK ? CLI_OK : cli_db_failed(t->cli, &t->message, error);
}

void triage_json_summary(struct json *json, const struct db_finding *f)
{
    json_key_u64(json, "id", f->id);
    json_key_string(json, "signature", f->signature);
    json_key_string(json, "cause", f->cause);
    json_key_string(json, "minimisation", db_minimisation_name(f->minimisation));
    json_key_string(json, "status", db_status_name(f->status));
    json_key_string(json, "state", db_state_name(f->state));
    json_key_bool(json, "suppressed", f->suppressed);
    json_finding_parts(json, f);
    json_finding_sightings(json, f);
    json_key_u64(json, "status_ms", f->status_ms);
    json_key_u64(json, "note_ms", f->note_ms);
    json_key_u64(json, "statements", f->raw_statements);
    json_key_u64(json, "minimised_statements", f->minimised.statements);
}

const char *triage_state(struct arena *arena, const struct db_finding *f)
{
    switch (f->state) {
    case DB_STATE_REGRESSION:
        return "REGRESSION";
    case DB_STATE_OPEN:
        return "open";
    case DB_STATE_SUPPRESSED:
        return f->status == DB_STATUS_FIXED ? "suppressed regression" : "suppressed";
    case DB_STATE_KNOWN:
    case DB_STATE_INVALID:
    case DB_STATE_FIXED:
        break;
    }
    return arena_printf(arena, "%s%s%s", db_status_name(f->status), *f->reference ? " " : "",
                        f->reference);
}

const char *triage_date(struct arena *arena, uint64_t unix_ms, bool with_time)
{
    char text[64];
    struct tm utc;
    time_t seconds = (time_t)(unix_ms / 1000);
    if (unix_ms == 0 || !gmtime_r(&seconds, &utc) ||
        strftime(text, sizeof text, with_time ? "%Y-%m-%d %H:%M UTC" : "%Y-%m-%d", &utc) == 0)
        return "";
    return arena_printf(arena, "%s", text);
}

const char *triage_when(struct arena *arena, uint64_t campaign, uint64_t unix_ms)
{
    const char *day = triage_date(arena, unix_ms, false);
    if (campaign == 0)
        return day;
    return arena_printf(arena, "c%" PRIu64 "%s%s", campaign, *day ? " " : "", day);
}

const char *triage_one_line(struct arena *arena, const char *text)
{
    char *line = arena_strndup(arena, text, strlen(text));
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return line;
}

int triage_one(struct triage *t, const char *action,
               int (*act)(struct triage *t, struct replayer *r, const struct db_finding *f))
{
    struct replayer r;
    struct triage_ids ids;
    int status = CLI_FAULT;
    if (!replayer_open(&r, t->cli, DB_READONLY)) {
        replayer_close(&r);
        return status;
    }
    t->db = r.db; /* closed with the replayer */
    if (triage_resolve(t, t->arguments, t->count, &ids, &status)) {
        const struct db_finding *f = ids.count == 1 ? triage_get(t, ids.ids[0], &status) : NULL;
        if (f)
            status = act(t, &r, f);
        else if (ids.count != 1)
            status = cli_misuse(t->cli, "%s takes one finding", action);
    }
    t->db = NULL;
    replayer_close(&r);
    return status;
}
