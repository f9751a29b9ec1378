/*
 * helper.c - what the command-line tests need and a shell does not have.
 *
 *     helper json          every line of standard input is one JSON document
 *     helper sql DB TEXT   runs SQL
 *     helper content DB    prints all that two databases of the same cases have in common (db.h)
 *     helper lock DB       holds the write lock until standard input ends; prints "locked" first
 *     helper liar          an outside implementation (docs/protocol.md) that runs nothing: memory stays as it was
 */
#include "db/db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK)
        return 0;
    fprintf(stderr, "helper: %s\n", message);
    sqlite3_free(message);
    return 1;
}

static int check_json(sqlite3 *db)
{
    char *line = NULL;
    size_t capacity = 0;
    int lines = 0, bad = 0;
    sqlite3_stmt *valid;
    if (sqlite3_prepare_v2(db, "SELECT json_valid(?)", -1, &valid, NULL) != SQLITE_OK)
        return 1;
    for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0; lines++) {
        sqlite3_bind_text(valid, 1, line, (int)length, SQLITE_TRANSIENT);
        if (sqlite3_step(valid) != SQLITE_ROW || !sqlite3_column_int(valid, 0)) {
            fprintf(stderr, "helper: not JSON: %s", line);
            bad++;
        }
        sqlite3_reset(valid);
    }
    sqlite3_finalize(valid);
    free(line);
    return lines == 0 || bad > 0;
}

static int print_content(const char *path)
{
    struct db_message message;
    struct db *db;
    if (db_open(path, DB_READONLY, &message, &db) != DB_OK) {
        fprintf(stderr, "helper: %s\n", message.text);
        return 1;
    }
    int error = db_dump_content(db, stdout);
    if (error != DB_OK)
        fprintf(stderr, "helper: %s\n", message.text);
    db_close(db);
    return error != DB_OK;
}

static int hold_lock(sqlite3 *db)
{
    if (run_sql(db, "BEGIN IMMEDIATE") != 0)
        return 1;
    puts("locked");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return run_sql(db, "ROLLBACK");
}

/* ---- liar ---- */

/* The next number of the line that ends with a newline; false: there is no more. */
static int read_length(size_t *length)
{
    return scanf("%zu", length) == 1 && getchar() == '\n';
}

static void put_field(FILE *out, const char *name, const char *bytes, size_t length)
{
    fprintf(out, "%s %zu\n", name, length);
    fwrite(bytes, 1, length, out);
    fputc('\n', out);
}

/* Fields are `name length newline bytes newline`. */
static void answer(const char *request, size_t length, FILE *out)
{
    put_field(out, "message", "answer", 6);
    for (size_t at = 0; at < length;) {
        char name[64];
        size_t size;
        int used;
        if (sscanf(request + at, "%63s %zu%n", name, &size, &used) != 2)
            return;
        const char *bytes = request + at + used + 1;
        at += (size_t)used + 2 + size;
        if (strcmp(name, "message") == 0 && strncmp(bytes, "hello", 5) == 0) {
            put_field(out, "name", "liar", 4);
            put_field(out, "version", "liar 1.0", 8);
            put_field(out, "language", "opencl", 6);
        } else if (strcmp(name, "memory") == 0) {
            put_field(out, "end", "final", 5);
            put_field(out, "cause", "", 0);
            put_field(out, "memory", bytes, size);
        }
    }
}

static int lie(void)
{
    for (size_t length; read_length(&length);) {
        char *request = calloc(1, length + 1), *text = NULL;
        size_t size = 0;
        if (!request || fread(request, 1, length, stdin) != length)
            return 1;
        FILE *out = open_memstream(&text, &size);
        answer(request, length, out);
        fclose(out);
        printf("%zu\n", size);
        fwrite(text, 1, size, stdout);
        fflush(stdout);
        free(text);
        free(request);
    }
    return 0;
}

int main(int argc, char **argv)
{
    sqlite3 *db;
    const char *what = argc > 1 ? argv[1] : "";
    int status = 2;
    if (strcmp(what, "content") == 0 && argc == 3)
        return print_content(argv[2]);
    if (strcmp(what, "liar") == 0)
        return lie();
    if (sqlite3_open(argc > 2 ? argv[2] : ":memory:", &db) != SQLITE_OK)
        return 2;
    if (strcmp(what, "json") == 0)
        status = check_json(db);
    else if (strcmp(what, "sql") == 0 && argc == 4)
        status = run_sql(db, argv[3]);
    else if (strcmp(what, "lock") == 0 && argc == 3)
        status = hold_lock(db);
    sqlite3_close(db);
    return status;
}
