/*
 * triage_show.c - `simtfuzz triage show`: everything about a finding.
 */
#include "engine/input/ptx_kernel.h"
#include "fuzz/beside/beside.h"
#include "fuzz/hunt/again.h"
#include "fuzz/out/table.h"
#include "fuzz/triage/triage.h"

#include <inttypes.h>
#include <string.h>

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

static bool json_bisection(void *context, const struct db_bisection *b)
{
    struct json *json = context;
    json_object_begin(json);
    json_key_string(json, "form", b->form);
    json_key_string(json, "answer", b->answer);
    json_key_string(json, "before", *b->before ? b->before : NULL);
    json_key_string(json, "after", *b->after ? b->after : NULL);
    json_key_u64(json, "between", b->unclear);
    json_key_u64(json, "builds", b->builds);
    json_key_u64(json, "asked", b->asked);
    json_key_u64(json, "silent", b->silent);
    json_key_u64(json, "changes", b->changes);
    json_key_u64(json, "changed_ms", b->changed_ms);
    json_object_end(json);
    return true;
}

static int show_json(struct triage *t, const struct db_finding *f, const char *raw,
                     const char *small)
{
    struct json json;
    json_line_begin(&json, stdout);
    triage_json_summary(&json, f);
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
    json_key_array_begin(&json, "bisections");
    int error = db_bisections(t->db, f->id, json_bisection, &json);
    json_array_end(&json);
    json_key_array_begin(&json, "occurrences_kept");
    struct occurrence_list list = {.json = &json};
    if (error == DB_OK)
        error = db_occurrences(t->db, f->id, see_occurrence, &list);
    json_array_end(&json);
    json_line_end(&json);
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

/* "c1, case 7, 2026-11-22 02:22 UTC" */
static const char *where_text(struct arena *arena, uint64_t campaign, uint64_t number, uint64_t ms)
{
    const char *date = triage_date(arena, ms, true);
    return arena_printf(arena, "in case %" PRIu64 " of campaign %" PRIu64 "%s%s%s", number,
                        campaign, *date ? " (" : "", date, *date ? ")" : "");
}

static void print_seen(struct triage *t, const struct db_finding *f)
{
    struct arena *arena = &t->cli->arena;
    if (f->occurrences == 0) {
        printf("seen         never in this database\n");
        return;
    }
    printf("seen         %" PRIu64 " times, first %s, last %s\n", f->occurrences,
           where_text(arena, f->first_campaign, f->first_case, f->first_seen_ms),
           where_text(arena, f->last_campaign, f->last_case, f->last_seen_ms));
}

static bool see_bisection(void *context, const struct db_bisection *b)
{
    (void)context;
    printf("bisected     %s: %s%s%s%s%s (%" PRIu64 " of %" PRIu64 " builds asked)\n", b->form,
           b->answer, *b->after ? " with " : "", b->after, *b->before ? ", not with " : "",
           b->before, b->asked, b->builds);
    return true;
}

struct same_cause {
    const struct db_finding *finding;
    uint32_t count;
};

static bool see_same_cause(void *context, const struct db_finding *other)
{
    struct same_cause *same = context;
    if (other->id == same->finding->id || strcmp(other->cause, same->finding->cause) != 0)
        return true;
    printf("%s%" PRIu64, same->count++ ? ", " : "same bug     findings ", other->id);
    return true;
}

/* Findings with one cause are taken for one bug (docs/signatures.md). */
static int print_cause(struct triage *t, const struct db_finding *f)
{
    struct same_cause same = {.finding = f};
    if (!*f->cause)
        return DB_OK;
    printf("cause        %s\n", f->cause);
    int error = db_findings(t->db, DB_ANY_STATUS, see_same_cause, &same);
    if (same.count > 0)
        putchar('\n');
    return error;
}

static bool is_ptx(const char *text)
{
    return ptx_is_ptx(text, strlen(text));
}

static int show_text(struct triage *t, const struct db_finding *f, const char *raw,
                     const char *small)
{
    const char *db = t->cli->options.db;
    const struct beside_kind *beside = beside_of(f->oracle);
    printf("finding %" PRIu64 ": %s\n", f->id, f->signature);
    printf("status       %s\n", triage_state(&t->cli->arena, f));
    if (*f->note)
        printf("note         %s\n", f->note);
    printf("subject      %s\n", f->subject);
    print_seen(t, f);
    int error = print_cause(t, f);
    if (error == DB_OK)
        error = db_bisections(t->db, f->id, see_bisection, NULL);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    printf("evidence     %s\n", f->evidence);
    if (small) {
        printf("\nminimised kernel (%" PRIu64 " statements, %" PRIu64 " candidates tried):\n",
               f->minimised.statements, f->minimised.tests);
        print_indented(small);
        printf("case         %s\n", f->minimised.case_text);
        printf("tape         %s\n", *f->minimised.tape ? f->minimised.tape : "(empty: sequential)");
    }
    if (*raw)
        printf("\n%skernel (%" PRIu64 " statements):\n", small ? "raw " : "", f->raw_statements);
    else
        printf("\nno kernel is stored\n");
    print_indented(raw);
    printf("case         %s\n", f->raw_case);
    printf("\nkept occurrences:\n");
    struct occurrence_list list = {.arena = &t->cli->arena};
    table_start(&list.table, list.arena, NULL, "lll");
    error = db_occurrences(t->db, f->id, see_occurrence, &list);
    table_print(&list.table, stdout);
    if (again_is_outside(f))
        printf("\nhave a report:  simtfuzz triage bundle %" PRIu64 " --db %s", f->id, db);
    printf("\nrun it again:   simtfuzz replay %" PRIu64 " --db %s\n", f->id, db);
    if (*raw && !beside)
        printf("see its steps:  simtfuzz trace --finding %" PRIu64 " --db %s\n", f->id, db);
    if (*raw)
        printf("have its file:  simtfuzz triage export %" PRIu64 " --db %s -o finding-%" PRIu64
               "%s\n",
               f->id, db, f->id,
               beside                        ? beside->suffix
               : is_ptx(small ? small : raw) ? ".ptx"
                                             : ".simt");
    return error == DB_OK ? CLI_OK : cli_db_failed(t->cli, &t->message, error);
}

static int show_finding(struct triage *t, uint64_t id)
{
    int status;
    const char *small = NULL;
    struct db_finding *f = triage_get(t, id, &status);
    if (!f)
        return status;
    const char *raw =
        ""; /* the engine dies at generating it, or a person spoke before it was found */
    if (*f->raw_kernel)
        raw = cli_get_kernel(t->cli, t->db, &t->message, f->raw_kernel, &status);
    if (raw && *f->minimised.kernel) {
        small = cli_get_kernel(t->cli, t->db, &t->message, f->minimised.kernel, &status);
        if (!small)
            return status;
    }
    if (!raw)
        return status;
    return t->cli->options.json ? show_json(t, f, raw, small) : show_text(t, f, raw, small);
}

int triage_show(struct triage *t)
{
    struct triage_ids ids;
    int status = CLI_OK;
    if (!triage_open(t, DB_READONLY, &status) ||
        !triage_resolve(t, t->arguments, t->count, &ids, &status))
        return status;
    for (uint32_t i = 0; i < ids.count && status == CLI_OK; i++) {
        if (i > 0 && !t->cli->options.json)
            putchar('\n');
        status = show_finding(t, ids.ids[i]);
    }
    return status;
}
