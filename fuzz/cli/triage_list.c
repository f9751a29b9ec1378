/*
 * triage_list.c - `simtfuzz triage list`.
 */
#include "fuzz/cli/table.h"
#include "fuzz/cli/triage.h"

#include <inttypes.h>

struct listing {
    struct triage *t;
    struct table table;
    uint32_t count;
};

static bool list_finding(void *context, const struct db_finding *f)
{
    struct listing *l = context;
    struct arena *arena = &l->t->cli->arena;
    l->count++;
    if (l->t->cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        triage_json_summary(&json, f);
        json_object_end(&json);
        json_end_line(&json);
        return true;
    }
    f = cli_copy_finding(arena, f);
    struct table_row *row = table_add(&l->table);
    row->cells[0] = arena_printf(arena, "%" PRIu64, f->id);
    row->cells[1] = triage_state(arena, f);
    row->cells[2] = arena_printf(arena, "%" PRIu64, f->occurrences);
    row->cells[3] = f->minimised.statements
                        ? arena_printf(arena, "%" PRIu64 "->%" PRIu64, f->raw_statements,
                                       f->minimised.statements)
                        : arena_printf(arena, "%" PRIu64, f->raw_statements);
    row->cells[4] = f->signature;
    row->cells[5] = f->note;
    return true;
}

int triage_list(struct triage *t)
{
    static const char *const titles[] = {"id",         "status",    "times",
                                         "statements", "signature", "note"};
    struct listing l = {.t = t};
    enum db_status one;
    unsigned statuses = DB_ANY_STATUS;
    if (t->count > 0) {
        if (!db_status_parse(t->arguments[0], &one))
            return cli_misuse(t->cli, "there is no status '%s' (open, known, fixed, invalid)",
                              t->arguments[0]);
        statuses = DB_STATUS_BIT(one);
    }
    int status;
    if (!triage_open(t, DB_READONLY, &status))
        return status;
    table_start(&l.table, &t->cli->arena, titles, "rlrrll");
    int error = db_findings(t->db, statuses, list_finding, &l);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    if (!t->cli->options.json && l.count > 0)
        table_print(&l.table, stdout);
    else if (!t->cli->options.json)
        puts("no findings");
    return CLI_OK;
}
