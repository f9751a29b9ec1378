/*
 * cli_db.c - the triage database from the command line.
 */
#include "fuzz/cli/cli.h"

#include "fuzz/case/finding.h"

#include <string.h>

struct db *cli_open_db(struct cli *cli, enum db_mode mode, struct db_message *message)
{
    struct db *db = NULL;
    message->text[0] = '\0';
    if (db_open(cli->options.db, mode, message, &db) != DB_OK)
        cli_message(cli, "%s", message->text);
    return db;
}

int cli_db_failed(const struct cli *cli, const struct db_message *message, int error)
{
    cli_message(cli, "%s", message->text);
    return error == DB_ERROR_NOT_FOUND || error == DB_ERROR_AMBIGUOUS ? CLI_USAGE : CLI_FAULT;
}

struct fetch {
    struct arena *arena;
    struct db_finding *finding;
    char *text;
};

static bool fetch_finding(void *context, const struct db_finding *finding)
{
    struct fetch *fetch = context;
    fetch->finding = finding_copy(fetch->arena, finding);
    return false;
}

static void fetch_text(void *context, const char *text, size_t length)
{
    struct fetch *fetch = context;
    fetch->text = arena_strndup(fetch->arena, text, length);
}

struct db_finding *cli_get_finding(struct cli *cli, struct db *db, const struct db_message *message,
                                   const char *name, int *status)
{
    struct fetch fetch = {.arena = &cli->arena};
    uint64_t id;
    int error = db_finding_resolve(db, name, &id);
    if (error == DB_OK)
        error = db_finding_get(db, id, fetch_finding, &fetch);
    if (error == DB_OK && fetch.finding)
        return fetch.finding;
    *status = cli_db_failed(cli, message, error);
    return NULL;
}

char *cli_get_kernel(struct cli *cli, struct db *db, const struct db_message *message,
                     const char *hash, int *status)
{
    struct fetch fetch = {.arena = &cli->arena};
    int error = db_kernel_get(db, hash, fetch_text, &fetch);
    if (error == DB_OK && fetch.text)
        return fetch.text;
    *status = cli_db_failed(cli, message, error);
    return NULL;
}
