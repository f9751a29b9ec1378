/*
 * triage.h - what the actions of `simtfuzz triage` share. Each has a function here and a row in
 * cli_triage.c, which also says what options it takes.
 */
#ifndef FUZZ_CLI_TRIAGE_H
#define FUZZ_CLI_TRIAGE_H

#include "fuzz/cli/cli.h"
#include "fuzz/cli/options.h"
#include "fuzz/out/json.h"

struct triage {
    struct cli *cli;
    struct db *db; /* NULL: not open; cli_triage.c closes it */
    struct db_message message;
    char **arguments; /* behind the action's name */
    int count;
};

/* Opens the database, once what was asked is known to make sense. False: *status, after a message. */
bool triage_open(struct triage *t, enum db_mode mode, int *status);

/* Each returns the exit status. */
int triage_list(struct triage *t);
int triage_search(struct triage *t);
int triage_bugs(struct triage *t);
int triage_show(struct triage *t);
int triage_note(struct triage *t);
int triage_status(struct triage *t);
int triage_suppress(struct triage *t);
int triage_unsuppress(struct triage *t);
int triage_suppressions(struct triage *t);
int triage_export(struct triage *t);
int triage_bundle(struct triage *t);
int triage_bisect(struct triage *t);

/* What --status, --oracle, --since, --new and --limit ask for. False: reported. */
bool triage_select(struct triage *t, struct db_selection *selection);

struct triage_ids {
    uint64_t *ids;
    uint32_t count, capacity;
};

/* The findings that people mean by names - numbers, lists and ranges of them (3,5-9), prefixes of
 * signatures - by number, each once. count > 0. */
bool triage_resolve(struct triage *t, char **names, int count, struct triage_ids *ids, int *status);

/* The finding with this number, in the arena. NULL: *status, after a message. */
struct db_finding *triage_get(struct triage *t, uint64_t id, int *status);

/* An action that makes something of the one finding that is named, with the database open. */
struct replayer;
int triage_one(struct triage *t, const char *action,
               int (*act)(struct triage *t, struct replayer *r, const struct db_finding *f));

/* CLI_OK, or what db_* failed with, reported. */
int triage_done(struct triage *t, int error);

/* The fields that every finding has wherever it is printed as JSON. */
void triage_json_summary(struct json *json, const struct db_finding *finding);
/* "known A-4", "REGRESSION", "suppressed" */
const char *triage_state(struct arena *arena, const struct db_finding *finding);

/* "2026-11-22", with the time "2026-11-22 02:22 UTC"; "": not known. */
const char *triage_date(struct arena *arena, uint64_t unix_ms, bool time);
/* "c3 2026-11-22": campaign and day. */
const char *triage_when(struct arena *arena, uint64_t campaign, uint64_t unix_ms);
/* A person's text in a line of a table: control characters become blanks. */
const char *triage_one_line(struct arena *arena, const char *text);

#endif
