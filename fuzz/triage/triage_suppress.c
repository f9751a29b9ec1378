/*
 * triage_suppress.c - `simtfuzz triage suppress`, `unsuppress`, `suppressions`: findings that are counted and
 * not reported, for a while or until somebody says otherwise.
 */
#include "fuzz/base/clock.h"
#include "fuzz/out/table.h"
#include "fuzz/triage/triage.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t FOR_MOST_MS = UINT64_C(36525) * 24 * 3600 * 1000; /* a hundred years */

struct listing {
    struct triage *t;
    struct table table;
    const char *only; /* NULL: all of them */
    uint32_t count;
};

static void print_json(const struct db_suppression *s)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, "signature", s->signature);
    json_key_string(&json, "note", s->note);
    json_key_bool(&json, "pattern", strchr(s->signature, '*') != NULL);
    json_key_u64(&json, "expires_ms", s->expires_ms);
    json_key_bool(&json, "active", s->active);
    json_key_u64(&json, "findings", s->findings);
    json_key_u64(&json, "held", s->held);
    json_line_end(&json);
}

static const char *until_text(struct arena *arena, const struct db_suppression *s)
{
    if (s->expires_ms == 0)
        return "active, no end";
    return arena_printf(arena, "%s%s", triage_date(arena, s->expires_ms, true),
                        s->active ? "" : " (over)");
}

static bool see_suppression(void *context, const struct db_suppression *s)
{
    struct listing *l = context;
    struct arena *arena = &l->t->cli->arena;
    if (l->only && strcmp(l->only, s->signature) != 0)
        return true;
    l->count++;
    if (l->t->cli->options.json) {
        print_json(s);
        return true;
    }
    struct table_row *row = table_add(&l->table);
    row->cells[0] = arena_strndup(arena, s->signature, strlen(s->signature));
    row->cells[1] = until_text(arena, s);
    row->cells[2] = arena_printf(arena, "%" PRIu64, s->findings);
    row->cells[3] = arena_printf(arena, "%" PRIu64, s->held);
    row->cells[4] = triage_one_line(arena, s->note);
    return true;
}

static int list(struct triage *t, const char *only)
{
    static const char *const titles[] = {"signature", "until", "findings", "held back", "note"};
    struct listing l = {.t = t, .only = only};
    table_start(&l.table, &t->cli->arena, titles, "llrrl");
    int error = db_suppressions(t->db, see_suppression, &l);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    if (!t->cli->options.json && l.count > 0)
        table_print(&l.table, stdout);
    else if (!t->cli->options.json)
        puts("no suppressions");
    return CLI_OK;
}

int triage_suppressions(struct triage *t)
{
    int status;
    return triage_open(t, DB_READONLY, &status) ? list(t, NULL) : status;
}

/* The signature that is meant: a finding's number stands for its own. NULL: *status, after a message. */
static const char *signature_of(struct triage *t, const char *name, int *status)
{
    struct triage_ids ids;
    if (name[strspn(name, "0123456789")])
        return name;
    if (!triage_resolve(t, (char *[]){t->arguments[0]}, 1, &ids, status))
        return NULL;
    struct db_finding *f = triage_get(t, ids.ids[0], status);
    return f ? f->signature : NULL;
}

/* When it ends; 0: never. False: reported. */
static bool end_of(struct triage *t, uint64_t *expires_ms)
{
    const struct cli_triage_options *o = &t->cli->options.triage;
    uint64_t now = clock_unix_ms();
    *expires_ms = o->for_ms ? now + o->for_ms : o->until_ms;
    if (o->for_ms > FOR_MOST_MS) {
        cli_misuse(t->cli, "--for is more than a hundred years: leave it out to suppress for good");
        return false;
    }
    if (o->for_ms && o->until_ms) {
        cli_misuse(t->cli, "--until and --for say the same");
        return false;
    }
    if (o->until_ms && o->until_ms <= now) {
        cli_misuse(t->cli, "--until %s is over", triage_date(&t->cli->arena, o->until_ms, true));
        return false;
    }
    return true;
}

int triage_suppress(struct triage *t)
{
    int status;
    uint64_t expires_ms;
    if (!end_of(t, &expires_ms))
        return CLI_USAGE;
    if (!triage_open(t, DB_READWRITE, &status))
        return status;
    const char *signature = signature_of(t, t->arguments[0], &status);
    if (!signature)
        return status;
    int error = db_suppress(t->db, signature, t->count > 1 ? t->arguments[1] : NULL, expires_ms);
    return error == DB_OK ? list(t, signature) : cli_db_failed(t->cli, &t->message, error);
}

int triage_unsuppress(struct triage *t)
{
    int status;
    if (!triage_open(t, DB_READWRITE, &status))
        return status;
    const char *signature = signature_of(t, t->arguments[0], &status);
    if (!signature)
        return status;
    int error = db_unsuppress(t->db, signature);
    if (error != DB_OK)
        return cli_db_failed(t->cli, &t->message, error);
    if (t->cli->options.json) {
        struct json json;
        json_line_begin(&json, stdout);
        json_key_string(&json, "signature", signature);
        json_key_bool(&json, "active", false);
        json_line_end(&json);
    } else {
        printf("no longer suppressed: %s\n", signature);
    }
    return CLI_OK;
}
