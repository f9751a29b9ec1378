/*
 * cli_database.c - `simtfuzz db`: what is done to a database as a file.
 */
#include "fuzz/cli/cli.h"

#include <inttypes.h>
#include <string.h>

static int migrate(struct cli *cli, const char *path)
{
    struct db *db;
    struct db_message message = {.text = ""};
    int error = db_open(path, DB_READWRITE, &message, &db);
    if (error != DB_OK)
        return cli_db_failed(cli, &message, error);
    db_close(db);
    printf("%s: is of today's version\n", path);
    return CLI_OK;
}

/* ---- salvage ---- */

struct sums {
    uint64_t rows, torn;
};

static void print_table(void *context, const struct db_salvaged *table)
{
    struct sums *sums = context;
    if (!*table->table) {
        printf("left out, since they refer to what is lost: %" PRIu64 " rows\n", table->rows);
        return;
    }
    sums->rows += table->rows;
    sums->torn += !table->whole;
    if (table->rows > 0 || !table->whole)
        printf("%-20s %" PRIu64 " rows%s\n", table->table, table->rows,
               table->whole ? "" : "; some could not be read");
}

static int salvage(struct cli *cli, const char *path, const char *out)
{
    struct sums sums = {0};
    struct db_message message = {.text = ""};
    int error = db_salvage(path, out, print_table, &sums, &message);
    if (error != DB_OK)
        return cli_db_failed(cli, &message, error);
    printf("%s: %" PRIu64 " rows of %s; ", out, sums.rows, path);
    if (sums.torn > 0)
        printf("%" PRIu64 " tables are not complete\n", sums.torn);
    else
        puts("all rows of all tables could be read");
    return CLI_OK;
}

int command_db(struct cli *cli)
{
    const char *action = cli->arguments[0];
    bool rescue = strcmp(action, "salvage") == 0;
    if (!rescue && strcmp(action, "migrate") != 0)
        return cli_misuse(cli, "'%s' is neither migrate nor salvage", action);
    if (cli->argument_count != (rescue ? 3 : 2))
        return cli_misuse(cli, rescue ? "salvage needs FILE and NEW" : "migrate needs FILE");
    return rescue ? salvage(cli, cli->arguments[1], cli->arguments[2])
                  : migrate(cli, cli->arguments[1]);
}
