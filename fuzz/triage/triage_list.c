/*
 * triage_list.c - `simtfuzz triage list` and `triage search`: findings, those that want attention first.
 */
#include "fuzz/beside/beside.h"
#include "fuzz/case/finding.h"
#include "fuzz/out/table.h"
#include "fuzz/triage/triage.h"

#include <inttypes.h>
#include <string.h>

enum { LISTED = 100 }; /* rows of text, where no --limit is given */

struct listing {
    struct triage *t;
    struct db_selection selection;
    struct table table;
    uint64_t count, regressions;
    uint64_t last_campaign;
};

/* ---- what is asked for ---- */

/* "race,result" in parts. False: reported. */
static bool split_oracles(struct triage *t, const char *list, struct db_selection *s)
{
    struct arena *arena = &t->cli->arena;
    const char **oracles = ARENA_ARRAY(arena, const char *, DB_ORACLES_MAX);
    for (const char *at = list;;) {
        size_t length = strcspn(at, ",");
        const char *name = arena_strndup(arena, at, length);
        bool exists = strcmp(name, "engine") == 0 || strcmp(name, "outside") == 0;
        const char *names = "engine, outside";
        for (uint32_t b = 0; b < BESIDE_COUNT; b++) {
            exists |= strcmp(name, beside_table[b].name) == 0;
            names = arena_printf(arena, "%s, %s", names, beside_table[b].name);
        }
        for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
            exists |= strcmp(name, oracle_table[i].name) == 0;
            names = arena_printf(arena, "%s, %s", names, oracle_table[i].name);
        }
        if (!exists || s->oracle_count == DB_ORACLES_MAX) {
            cli_misuse(t->cli, "--oracle: there is no '%s' (there are: %s)", name, names);
            return false;
        }
        oracles[s->oracle_count++] = name;
        if (!at[length])
            break;
        at += length + 1;
    }
    s->oracles = oracles;
    return true;
}

bool triage_select(struct triage *t, struct db_selection *s)
{
    const struct cli_triage_options *o = &t->cli->options.triage;
    s->states = o->states;
    s->since_ms = o->since_ms;
    s->since_campaign = o->since_campaign;
    s->fresh = o->fresh;
    s->limit = o->limit_given ? o->limit : t->cli->options.json ? 0 : LISTED;
    return !o->oracle || split_oracles(t, o->oracle, s);
}

/* ---- rows ---- */

static bool list_json(const struct db_finding *f)
{
    struct json json;
    json_line_begin(&json, stdout);
    triage_json_summary(&json, f);
    json_line_end(&json);
    return true;
}

static bool list_finding(void *context, const struct db_finding *f)
{
    struct listing *l = context;
    struct arena *arena = &l->t->cli->arena;
    l->count++;
    l->regressions += f->state == DB_STATE_REGRESSION;
    if (l->t->cli->options.json)
        return list_json(f);
    f = finding_copy(arena, f);
    struct table_row *row = table_add(&l->table);
    row->cells[0] = arena_printf(arena, "%" PRIu64, f->id);
    row->cells[1] = triage_state(arena, f);
    row->cells[2] = arena_printf(arena, "%" PRIu64, f->occurrences);
    row->cells[3] = triage_when(arena, f->first_campaign, f->first_seen_ms);
    row->cells[4] = triage_when(arena, f->last_campaign, f->last_seen_ms);
    row->cells[5] = f->minimised.statements
                        ? arena_printf(arena, "%" PRIu64 "->%" PRIu64, f->raw_statements,
                                       f->minimised.statements)
                        : arena_printf(arena, "%" PRIu64, f->raw_statements);
    row->cells[6] = f->signature;
    row->cells[7] = triage_one_line(arena, f->note);
    return true;
}

/* ---- the actions ---- */

static int print_rest(struct listing *l)
{
    uint64_t total;
    int error = db_findings_count(l->t->db, &l->selection, &total);
    if (error != DB_OK)
        return cli_db_failed(l->t->cli, &l->t->message, error);
    if (total > l->count)
        printf("(%" PRIu64 " of %" PRIu64 " findings; --limit 0 lists all)\n", l->count, total);
    return CLI_OK;
}

static bool ignore_campaign(void *context, const struct db_campaign *campaign)
{
    (void)context;
    (void)campaign;
    return false;
}

static int list(struct listing *l)
{
    static const char *const titles[] = {"id",   "state",      "times",     "first",
                                         "last", "statements", "signature", "note"};
    struct triage *t = l->t;
    uint64_t since = l->selection.since_campaign;
    int status;
    if (!triage_open(t, DB_READONLY, &status))
        return status;
    table_start(&l->table, &t->cli->arena, titles, "rlrllrll");
    int error = since ? db_campaign_get(t->db, since, ignore_campaign, NULL) : DB_OK;
    if (error == DB_OK)
        error = db_findings_select(t->db, &l->selection, list_finding, l);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    if (!t->cli->options.json && l->count == 0)
        puts("no findings");
    else if (!t->cli->options.json)
        table_print(&l->table, stdout);
    if (!t->cli->options.json && l->selection.limit > 0 && l->count == l->selection.limit)
        status = print_rest(l);
    else
        status = CLI_OK;
    return status == CLI_OK && l->regressions > 0 ? CLI_DIVERGENCE : status;
}

int triage_list(struct triage *t)
{
    struct listing l = {.t = t};
    if (t->count > 0 && t->cli->options.triage.states)
        return cli_misuse(t->cli, "the state is given twice: '%s' and --status", t->arguments[0]);
    if (t->count > 0 && !option_parse_states(t->cli, t->arguments[0]))
        return CLI_USAGE;
    return triage_select(t, &l.selection) ? list(&l) : CLI_USAGE;
}

int triage_search(struct triage *t)
{
    struct listing l = {.t = t};
    if (t->count > DB_WORDS_MAX)
        return cli_misuse(t->cli, "more than %d words", DB_WORDS_MAX);
    const char **words = ARENA_ARRAY(&t->cli->arena, const char *, (size_t)t->count);
    for (int i = 0; i < t->count; i++)
        words[i] = t->arguments[i];
    l.selection.words = words;
    l.selection.word_count = (size_t)t->count;
    return triage_select(t, &l.selection) ? list(&l) : CLI_USAGE;
}
