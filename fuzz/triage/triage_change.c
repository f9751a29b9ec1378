/*
 * triage_change.c - what people say about findings: notes and statuses. Several findings change
 * together or not at all.
 */
#include "fuzz/triage/triage.h"

#include <inttypes.h>

/* Says what became of findings; before[i]: what the changed field said of each. */
static int report(struct triage *t, const struct triage_ids *ids, const char *const *before,
                  bool notes)
{
    int status = CLI_OK;
    for (uint32_t i = 0; i < ids->count; i++) {
        struct arena *arena = &t->cli->arena;
        struct db_finding *f = triage_get(t, ids->ids[i], &status);
        if (!f)
            return status;
        if (t->cli->options.json) {
            struct json json;
            json_line_begin(&json, stdout);
            triage_json_summary(&json, f);
            json_key_string(&json, "before", before[i]);
            json_line_end(&json);
        } else if (notes) {
            printf("finding %" PRIu64 ": %s: %s\n", f->id, f->signature,
                   *f->note ? triage_one_line(arena, f->note) : "no note");
        } else {
            printf("finding %" PRIu64 ": %s: %s -> %s\n", f->id, f->signature, before[i],
                   triage_state(arena, f));
        }
    }
    return CLI_OK;
}

/* The findings, and what they say now. */
static const char **look_up(struct triage *t, int count, struct triage_ids *ids, bool notes,
                            int *status)
{
    if (!triage_open(t, DB_READWRITE, status) ||
        !triage_resolve(t, t->arguments, count, ids, status))
        return NULL;
    const char **before = ARENA_ARRAY(&t->cli->arena, const char *, ids->count);
    for (uint32_t i = 0; i < ids->count; i++) {
        struct db_finding *f = triage_get(t, ids->ids[i], status);
        if (!f)
            return NULL;
        before[i] = notes ? f->note : triage_state(&t->cli->arena, f);
    }
    return before;
}

/* ---- notes ---- */

static int put_notes(struct triage *t, const struct triage_ids *ids, const char *note)
{
    int error = db_begin(t->db);
    for (uint32_t i = 0; i < ids->count && error == DB_OK; i++)
        error = db_finding_note_set(t->db, ids->ids[i], note);
    if (error == DB_OK)
        error = db_commit(t->db);
    if (error != DB_OK)
        db_rollback(t->db);
    return triage_done(t, error);
}

int triage_note(struct triage *t)
{
    struct triage_ids ids;
    int status;
    const char *note = t->arguments[t->count - 1];
    const char **before = look_up(t, t->count - 1, &ids, true, &status);
    if (!before)
        return status;
    status = put_notes(t, &ids, note);
    return status == CLI_OK ? report(t, &ids, before, true) : status;
}

/* ---- statuses ---- */

static int put_statuses(struct triage *t, const struct triage_ids *ids, enum db_status status,
                        const char *reference)
{
    int error = db_begin(t->db);
    for (uint32_t i = 0; i < ids->count && error == DB_OK; i++)
        error = db_finding_status_set(t->db, ids->ids[i], status, reference);
    if (error == DB_OK)
        error = db_commit(t->db);
    if (error != DB_OK)
        db_rollback(t->db);
    return triage_done(t, error);
}

/* status ID... STATUS [REFERENCE]: the status is the first argument, behind one, that is a status's name. */
int triage_status(struct triage *t)
{
    struct triage_ids ids;
    enum db_status wanted;
    int at = 1, status;
    while (at < t->count && !db_status_parse(t->arguments[at], &wanted))
        at++;
    if (at == t->count)
        return cli_misuse(t->cli, "there is no status '%s' (open, known, fixed, invalid)",
                          t->arguments[t->count - 1]);
    if (t->count > at + 2)
        return cli_misuse(t->cli, "unexpected argument '%s'", t->arguments[at + 2]);
    const char **before = look_up(t, at, &ids, false, &status);
    if (!before)
        return status;
    status = put_statuses(t, &ids, wanted, at + 1 < t->count ? t->arguments[at + 1] : NULL);
    return status == CLI_OK ? report(t, &ids, before, false) : status;
}
