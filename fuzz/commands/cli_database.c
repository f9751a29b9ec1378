/*
 * cli_database.c - `simtfuzz db`: what is done to a database as a file.
 */
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"

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
    if (!cli->options.json) {
        printf("%s: is of today's version\n", path);
        return CLI_OK;
    }
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "file", path);
    json_key_bool(&json, "migrated", true);
    json_line_end(&json);
    return CLI_OK;
}

/* ---- salvage ---- */

struct account {
    struct json *json; /* NULL: text is wanted */
    const char *from, *to;
    uint64_t tables, rows, lost, dropped, torn, unknown;
};

static void print_table_text(const struct db_salvaged *table)
{
    if (table->rows == 0 && table->lost == 0 && table->dropped == 0)
        return;
    printf("%-20s %" PRIu64 " rows", table->table, table->rows);
    if (table->lost > 0 && table->lost_known)
        printf("; %" PRIu64 " lost", table->lost);
    else if (table->lost > 0)
        fputs("; some could not be read, nothing says how many", stdout);
    if (table->dropped > 0)
        printf("; %" PRIu64 " left out, since they refer to what is lost", table->dropped);
    putchar('\n');
}

static void print_table_json(struct json *json, const struct db_salvaged *table)
{
    json_object_begin(json);
    json_key_string(json, "table", table->table);
    json_key_u64(json, "rows", table->rows);
    json_key(json, "lost");
    if (table->lost_known)
        json_u64(json, table->lost);
    else
        json_null(json);
    json_key_u64(json, "left_out", table->dropped);
    json_object_end(json);
}

/* Nothing is told before all is done: a fault leaves no half of a document. */
static void begin_account_json(const struct account *account)
{
    struct json *json = account->json;
    json_line_begin(json, stdout);
    json_key_u64(json, "version", 1);
    json_key_string(json, "from", account->from);
    json_key_string(json, "to", account->to);
    json_key_array_begin(json, "tables");
}

static void take_table(void *context, const struct db_salvaged *table)
{
    struct account *account = context;
    account->rows += table->rows;
    account->lost += table->lost_known ? table->lost : 0;
    account->dropped += table->dropped;
    account->torn += table->lost > 0;
    account->unknown += !table->lost_known;
    if (account->json && account->tables++ == 0)
        begin_account_json(account);
    if (account->json)
        print_table_json(account->json, table);
    else
        print_table_text(table);
}

static void end_account_json(const struct account *account)
{
    struct json *json = account->json;
    json_array_end(json);
    json_key_u64(json, "rows", account->rows);
    json_key_u64(json, "lost", account->lost);
    json_key_bool(json, "all_lost_known", account->unknown == 0);
    json_key_u64(json, "left_out", account->dropped);
    json_line_end(json);
}

static void print_account_text(const struct account *a)
{
    printf("%s: %" PRIu64 " rows of %s; ", a->to, a->rows, a->from);
    if (a->torn == 0) {
        puts("all rows of all tables could be read");
        return;
    }
    printf("%" PRIu64 " %s not complete", a->torn, a->torn == 1 ? "table is" : "tables are");
    if (a->lost > 0 || a->unknown == 0)
        printf(": %" PRIu64 " %s lost", a->lost, a->lost == 1 ? "row is" : "rows are");
    if (a->unknown > 0)
        printf("; of %" PRIu64 " nothing says how many rows are lost", a->unknown);
    putchar('\n');
}

static int salvage(struct cli *cli, const char *path, const char *out)
{
    struct json json;
    struct account account = {.json = cli->options.json ? &json : NULL, .from = path, .to = out};
    struct db_message message = {.text = ""};
    int error = db_salvage(path, out, take_table, &account, &message);
    if (error != DB_OK)
        return cli_db_failed(cli, &message, error);
    if (account.json)
        end_account_json(&account);
    else
        print_account_text(&account);
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
