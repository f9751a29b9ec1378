/*
 * triage_bugs.c - `simtfuzz triage bugs`: findings with one cause together, as a person would count them.
 */
#include "fuzz/base/key_table.h"
#include "fuzz/out/table.h"
#include "fuzz/triage/triage.h"

#include <inttypes.h>
#include <string.h>

enum { LISTED = 100 };

/* Findings come those that want attention first, so a bug is what its first finding is. */
struct bug {
    const char *cause;
    enum db_state state;
    uint64_t findings, waiting; /* open or regressions */
    uint64_t occurrences;
    uint64_t first_campaign, first_seen_ms, last_campaign, last_seen_ms;
    uint64_t smallest, statements; /* the finding with the smallest kernel */
    uint32_t oracles;              /* bits; ORACLE_COUNT: the engine itself */
};

struct bugs {
    struct triage *t;
    struct key_table causes;
    struct bug *bugs;
    uint32_t count, room;
    uint64_t regressions;
};

static uint32_t oracle_bit(const char *name)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (strcmp(oracle_table[i].name, name) == 0)
            return 1u << i;
    return 1u << ORACLE_COUNT;
}

_Static_assert(ORACLE_COUNT < 31, "an oracle is a bit");

static struct bug *bug_of(struct bugs *b, const struct db_finding *f)
{
    struct arena *arena = &b->t->cli->arena;
    const char *cause = *f->cause ? f->cause : f->signature;
    uint32_t number = key_table_number(&b->causes, arena, cause);
    if (number < b->count)
        return &b->bugs[number];
    b->bugs = key_table_grow(arena, b->bugs, number, &b->room, sizeof *b->bugs);
    b->bugs[number] = (struct bug){.cause = b->causes.texts[number],
                                   .state = f->state,
                                   .first_campaign = f->first_campaign,
                                   .first_seen_ms = f->first_seen_ms,
                                   .last_campaign = f->last_campaign,
                                   .last_seen_ms = f->last_seen_ms};
    b->count++;
    return &b->bugs[number];
}

static bool see_finding(void *context, const struct db_finding *f)
{
    struct bugs *b = context;
    struct bug *bug = bug_of(b, f);
    uint64_t statements =
        f->minimised.statements ? f->minimised.statements : UINT32_MAX + f->raw_statements;
    b->regressions += f->state == DB_STATE_REGRESSION;
    bug->findings++;
    bug->waiting += f->state == DB_STATE_OPEN || f->state == DB_STATE_REGRESSION;
    bug->occurrences += f->occurrences;
    bug->oracles |= oracle_bit(f->oracle);
    if (f->first_seen_ms < bug->first_seen_ms) {
        bug->first_seen_ms = f->first_seen_ms;
        bug->first_campaign = f->first_campaign;
    }
    if (f->last_seen_ms > bug->last_seen_ms) {
        bug->last_seen_ms = f->last_seen_ms;
        bug->last_campaign = f->last_campaign;
    }
    if (bug->smallest == 0 || statements < bug->statements) {
        bug->smallest = f->id;
        bug->statements = statements;
    }
    return true;
}

static const char *oracles_text(struct arena *arena, uint32_t oracles)
{
    const char *text = oracles & 1u << ORACLE_COUNT ? "engine" : "";
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (oracles & 1u << i)
            text = arena_printf(arena, "%s%s%s", text, *text ? "," : "", oracle_table[i].name);
    return text;
}

static void print_json(struct arena *arena, const struct bug *bug)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, "cause", bug->cause);
    json_key_string(&json, "state", db_state_name(bug->state));
    json_key_u64(&json, "findings", bug->findings);
    json_key_u64(&json, "waiting", bug->waiting);
    json_key_u64(&json, "occurrences", bug->occurrences);
    json_key_string(&json, "oracles", oracles_text(arena, bug->oracles));
    json_key_u64(&json, "smallest", bug->smallest);
    json_key_u64(&json, "first_campaign", bug->first_campaign);
    json_key_u64(&json, "first_seen_ms", bug->first_seen_ms);
    json_key_u64(&json, "last_campaign", bug->last_campaign);
    json_key_u64(&json, "last_seen_ms", bug->last_seen_ms);
    json_line_end(&json);
}

static void print_row(struct table *table, struct arena *arena, const struct bug *bug)
{
    struct table_row *row = table_add(table);
    row->cells[0] = bug->state == DB_STATE_REGRESSION ? "REGRESSION" : db_state_name(bug->state);
    row->cells[1] = arena_printf(arena, "%" PRIu64, bug->findings);
    row->cells[2] = arena_printf(arena, "%" PRIu64, bug->waiting);
    row->cells[3] = arena_printf(arena, "%" PRIu64, bug->occurrences);
    row->cells[4] = triage_when(arena, bug->first_campaign, bug->first_seen_ms);
    row->cells[5] = triage_when(arena, bug->last_campaign, bug->last_seen_ms);
    row->cells[6] = arena_printf(arena, "%" PRIu64, bug->smallest);
    row->cells[7] = oracles_text(arena, bug->oracles);
    row->cells[8] = bug->cause;
}

static void print_bugs(struct bugs *b)
{
    static const char *const titles[] = {"state", "findings", "waiting", "times", "first",
                                         "last",  "smallest", "oracles", "cause"};
    const struct cli_options *o = &b->t->cli->options;
    struct arena *arena = &b->t->cli->arena;
    uint64_t limit = o->triage.limit_given ? o->triage.limit : o->json ? 0 : LISTED;
    uint32_t shown = limit > 0 && limit < b->count ? (uint32_t)limit : b->count;
    struct table table;
    table_start(&table, arena, titles, "lrrrllrll");
    for (uint32_t i = 0; i < shown; i++) {
        if (o->json)
            print_json(arena, &b->bugs[i]);
        else
            print_row(&table, arena, &b->bugs[i]);
    }
    if (o->json)
        return;
    if (b->count > 0)
        table_print(&table, stdout);
    else
        puts("no findings");
    if (shown < b->count)
        printf("(%" PRIu32 " of %" PRIu32 " bugs; --limit 0 lists all)\n", shown, b->count);
}

int triage_bugs(struct triage *t)
{
    struct bugs b = {.t = t};
    struct db_selection selection = {.limit = 0};
    int status;
    if (!triage_select(t, &selection))
        return CLI_USAGE;
    selection.limit = 0; /* of findings; --limit is about bugs */
    if (!triage_open(t, DB_READONLY, &status))
        return status;
    int error = db_findings_select(t->db, &selection, see_finding, &b);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    print_bugs(&b);
    return b.regressions > 0 ? CLI_DIVERGENCE : CLI_OK;
}
