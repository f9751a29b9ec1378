/*
 * triage_change.c - what people say about findings: notes and statuses. Several findings change
 * together or not at all.
 */
#include "fuzz/cli/triage.h"

#include <inttypes.h>

/* Says what became of a finding: `before` is its former state. */
static int report(struct triage *t, uint64_t id, const char *before)
{
    int status = CLI_OK;
    struct db_finding *f = triage_get(t, id, &status);
    if (!f)
        return status;
    if (t->cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        triage_json_summary(&json, f);
        json_key_string(&json, "before", before);
        json_object_end(&json);
        json_end_line(&json);
    } else {
        printf("finding %" PRIu64 ": %s: %s -> %s\n", f->id, f->signature, before,
               triage_state(&t->cli->arena, f));
    }
    return CLI_OK;
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
    if (!triage_open(t, DB_READWRITE, &status) ||
        !triage_resolve(t, t->arguments, t->count - 1, &ids, &status))
        return status;
    status = put_notes(t, &ids, note);
    for (uint32_t i = 0; i < ids.count && status == CLI_OK; i++) {
        struct db_finding *f = triage_get(t, ids.ids[i], &status);
        if (f && !t->cli->options.json)
            printf("finding %" PRIu64 ": %s: %s\n", f->id, f->signature, f->note);
        else if (f)
            status = report(t, f->id, db_status_name(f->status));
    }
    return status;
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
    if (!triage_open(t, DB_READWRITE, &status) ||
        !triage_resolve(t, t->arguments, at, &ids, &status))
        return status;
    const char **before = ARENA_ARRAY(&t->cli->arena, const char *, ids.count);
    for (uint32_t i = 0; i < ids.count; i++) {
        struct db_finding *f = triage_get(t, ids.ids[i], &status);
        if (!f)
            return status;
        before[i] = triage_state(&t->cli->arena, f);
    }
    status = put_statuses(t, &ids, wanted, at + 1 < t->count ? t->arguments[at + 1] : NULL);
    for (uint32_t i = 0; i < ids.count && status == CLI_OK; i++)
        status = report(t, ids.ids[i], before[i]);
    return status;
}
