/*
 * cli_triage.c - `simtfuzz triage`: what was found, and what people say about it.
 */
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json.h"
#include "fuzz/cli/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct triage {
    struct cli *cli;
    struct db *db;
    struct db_message message;
    struct table table;
    uint32_t count;
    enum db_status status; /* that an argument names */
};

/* ---- list ---- */

static void json_summary(struct json *json, const struct db_finding *f)
{
    json_key_u64(json, "id", f->id);
    json_key_string(json, "signature", f->signature);
    json_key_string(json, "status", db_status_name(f->status));
    json_key_bool(json, "suppressed", f->suppressed);
    json_key_string(json, "reference", f->reference);
    json_key_string(json, "note", f->note);
    json_key_string(json, "oracle", f->oracle);
    json_key_string(json, "class", f->class);
    json_key_string(json, "rule", f->rule);
    json_key_string(json, "observable", f->observable);
    json_key_string(json, "subject", f->subject);
    json_key_u64(json, "occurrences", f->occurrences);
    json_key_u64(json, "first_campaign", f->first_campaign);
    json_key_u64(json, "first_case", f->first_case);
    json_key_u64(json, "last_campaign", f->last_campaign);
    json_key_u64(json, "last_case", f->last_case);
    json_key_u64(json, "statements", f->raw_statements);
    json_key_u64(json, "minimised_statements", f->minimised.statements);
}

static bool list_finding(void *context, const struct db_finding *f)
{
    struct triage *t = context;
    struct arena *arena = &t->cli->arena;
    t->count++;
    if (t->cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        json_summary(&json, f);
        json_object_end(&json);
        json_end_line(&json);
        return true;
    }
    f = cli_copy_finding(arena, f);
    struct table_row *row = table_add(&t->table);
    row->cells[0] = arena_printf(arena, "%" PRIu64, f->id);
    row->cells[1] =
        arena_printf(arena, "%s%s%s%s", db_status_name(f->status), *f->reference ? " " : "",
                     f->reference, f->suppressed ? " suppressed" : "");
    row->cells[2] = arena_printf(arena, "%" PRIu64, f->occurrences);
    row->cells[3] = f->minimised.statements
                        ? arena_printf(arena, "%" PRIu64 "->%" PRIu64, f->raw_statements,
                                       f->minimised.statements)
                        : arena_printf(arena, "%" PRIu64, f->raw_statements);
    row->cells[4] = f->signature;
    row->cells[5] = f->note;
    return true;
}

static int triage_list(struct triage *t)
{
    static const char *const titles[] = {"id",         "status",    "times",
                                         "statements", "signature", "note"};
    unsigned statuses = t->cli->argument_count > 1 ? DB_STATUS_BIT(t->status) : DB_ANY_STATUS;
    table_start(&t->table, &t->cli->arena, titles, "rlrrll");
    int error = db_findings(t->db, statuses, list_finding, t);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    if (!t->cli->options.json && t->count > 0)
        table_print(&t->table, stdout);
    else if (!t->cli->options.json)
        puts("no findings");
    return CLI_OK;
}

/* ---- show ---- */

struct occurrence_list {
    struct json *json;
    struct arena *arena;
    struct table table;
};

static bool see_occurrence(void *context, const struct db_occurrence *o)
{
    struct occurrence_list *list = context;
    if (list->json) {
        json_object_begin(list->json);
        json_key_u64(list->json, "campaign", o->campaign);
        json_key_u64(list->json, "case", o->case_number);
        json_key_string(list->json, "case_text", o->case_text);
        json_key_string(list->json, "raw_key", o->raw_key);
        json_key_string(list->json, "tapes", o->tapes);
        json_key_bool(list->json, "replayed", o->replayed);
        json_object_end(list->json);
        return true;
    }
    struct table_row *row = table_add(&list->table);
    row->cells[0] = arena_printf(list->arena, "    campaign %" PRIu64, o->campaign);
    row->cells[1] = arena_printf(list->arena, "case %" PRIu64, o->case_number);
    row->cells[2] = o->replayed ? "" : "did NOT replay";
    return true;
}

static int show_json(struct triage *t, const struct db_finding *f, const char *raw,
                     const char *small)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_summary(&json, f);
    json_key(&json, "evidence");
    json_raw(&json, f->evidence);
    json_key_string(&json, "case", f->raw_case);
    json_key_string(&json, "kernel", raw);
    json_key(&json, "minimised");
    if (small) {
        json_object_begin(&json);
        json_key_string(&json, "kernel", small);
        json_key_string(&json, "launch", f->minimised.launch);
        json_key_string(&json, "case", f->minimised.case_text);
        json_key_string(&json, "tape", f->minimised.tape);
        json_key_u64(&json, "tests", f->minimised.tests);
        json_key_u64(&json, "statements", f->minimised.statements);
        json_object_end(&json);
    } else {
        json_null(&json);
    }
    json_key(&json, "occurrences_kept");
    json_array_begin(&json);
    struct occurrence_list list = {.json = &json};
    int error = db_occurrences(t->db, f->id, see_occurrence, &list);
    json_array_end(&json);
    json_object_end(&json);
    json_end_line(&json);
    return error == DB_OK ? CLI_OK : cli_db_failed(t->cli, &t->message, error);
}

/* A text indented by four spaces. */
static void print_indented(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        printf("    %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static int show_text(struct triage *t, const struct db_finding *f, const char *raw,
                     const char *small)
{
    const char *db = t->cli->options.db;
    printf("finding %" PRIu64 ": %s\n", f->id, f->signature);
    printf("status       %s%s%s%s\n", db_status_name(f->status), *f->reference ? " " : "",
           f->reference, f->suppressed ? ", suppressed" : "");
    if (*f->note)
        printf("note         %s\n", f->note);
    printf("subject      %s\n", f->subject);
    printf("seen         %" PRIu64 " times, first in case %" PRIu64 " of campaign %" PRIu64
           ", last in case %" PRIu64 " of campaign %" PRIu64 "\n",
           f->occurrences, f->first_case, f->first_campaign, f->last_case, f->last_campaign);
    printf("evidence     %s\n", f->evidence);
    if (small) {
        printf("\nminimised kernel (%" PRIu64 " statements, %" PRIu64 " candidates tried):\n",
               f->minimised.statements, f->minimised.tests);
        print_indented(small);
        printf("case         %s\n", f->minimised.case_text);
        printf("tape         %s\n", *f->minimised.tape ? f->minimised.tape : "(empty: sequential)");
    }
    printf("\n%skernel (%" PRIu64 " statements):\n", small ? "raw " : "", f->raw_statements);
    print_indented(raw);
    printf("case         %s\n", f->raw_case);
    printf("\nkept occurrences:\n");
    struct occurrence_list list = {.arena = &t->cli->arena};
    table_start(&list.table, list.arena, NULL, "lll");
    int error = db_occurrences(t->db, f->id, see_occurrence, &list);
    table_print(&list.table, stdout);
    printf("\nrun it again:   simtfuzz replay %" PRIu64 " --db %s\n", f->id, db);
    printf("see its steps:  simtfuzz reduce %" PRIu64
           " --db %s -o small.simt && simtfuzz trace small.simt%s%s\n",
           f->id, db, *f->subject ? " --subject " : "", f->subject);
    return error == DB_OK ? CLI_OK : cli_db_failed(t->cli, &t->message, error);
}

static int triage_show(struct triage *t)
{
    int status;
    const char *small = NULL;
    struct db_finding *f =
        cli_get_finding(t->cli, t->db, &t->message, t->cli->arguments[1], &status);
    if (!f)
        return status;
    const char *raw = cli_get_kernel(t->cli, t->db, &t->message, f->raw_kernel, &status);
    if (raw && *f->minimised.kernel) {
        small = cli_get_kernel(t->cli, t->db, &t->message, f->minimised.kernel, &status);
        if (!small)
            return status;
    }
    if (!raw)
        return status;
    return t->cli->options.json ? show_json(t, f, raw, small) : show_text(t, f, raw, small);
}

/* ---- changes ---- */

static int done(struct triage *t, int error)
{
    return error == DB_OK ? CLI_OK : cli_db_failed(t->cli, &t->message, error);
}

static int triage_note(struct triage *t)
{
    uint64_t id;
    int error = db_finding_resolve(t->db, t->cli->arguments[1], &id);
    if (error == DB_OK)
        error = db_finding_note_set(t->db, id, t->cli->arguments[2]);
    return done(t, error);
}

static int triage_status(struct triage *t)
{
    uint64_t id;
    char **arguments = t->cli->arguments;
    int error = db_finding_resolve(t->db, arguments[1], &id);
    if (error == DB_OK)
        error = db_finding_status_set(t->db, id, t->status,
                                      t->cli->argument_count > 3 ? arguments[3] : NULL);
    return done(t, error);
}

static int triage_suppress(struct triage *t)
{
    const char *note = t->cli->argument_count > 2 ? t->cli->arguments[2] : NULL;
    return done(t, db_suppress(t->db, t->cli->arguments[1], note, 0));
}

static int triage_unsuppress(struct triage *t)
{
    return done(t, db_unsuppress(t->db, t->cli->arguments[1]));
}

static const struct action {
    const char *name;
    int least, most; /* arguments, its own name included */
    int status;      /* the argument that names a status; 0 = none */
    enum db_mode mode;
    int (*run)(struct triage *t);
} actions[] = {
    {"list", 1, 2, 1, DB_READONLY, triage_list},
    {"show", 2, 2, 0, DB_READONLY, triage_show},
    {"note", 3, 3, 0, DB_READWRITE, triage_note},
    {"status", 3, 4, 2, DB_READWRITE, triage_status},
    {"suppress", 2, 3, 0, DB_READWRITE, triage_suppress},
    {"unsuppress", 2, 2, 0, DB_READWRITE, triage_unsuppress},
};

int command_triage(struct cli *cli)
{
    const struct action *action = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, cli->arguments[0]) == 0)
            action = &actions[i];
    if (!action)
        return cli_misuse(cli, "there is no action '%s'", cli->arguments[0]);
    if (cli->argument_count < action->least || cli->argument_count > action->most)
        return cli_misuse(cli, "wrong number of arguments for %s", action->name);
    if (action->least > 1 && !*cli->arguments[1])
        return cli_misuse(cli, "%s wants a finding or a signature, not ''", action->name);
    struct triage t = {.cli = cli};
    if (action->status > 0 && cli->argument_count > action->status &&
        !db_status_parse(cli->arguments[action->status], &t.status))
        return cli_misuse(cli, "there is no status '%s' (open, known, fixed, invalid)",
                          cli->arguments[action->status]);
    t.db = cli_open_db(cli, action->mode, &t.message);
    if (!t.db)
        return CLI_FAULT;
    int status = action->run(&t);
    db_close(t.db);
    return status;
}
