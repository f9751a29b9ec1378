#include "db/merge/merge.h"
#include "db/schema.h"

#include <string.h>

/* ---- whose fault it is */

/* A failure of a statement that reads the source and writes here. What the schema refuses came from the
 * source. Damage may be on either side: the source is asked by itself. */
static int blame(struct merge *merge, int code)
{
    const char *text = sqlite3_errmsg(merge->to->sqlite);
    switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
        if (code == SQLITE_CONSTRAINT_NOTNULL)
            return db_fail(
                merge->from, DB_ERROR_CORRUPT,
                "the database is damaged (a row refers to one that is not there, or lacks "
                "a value: %s)",
                text);
        return db_fail(merge->from, DB_ERROR_CORRUPT, "the database is damaged (%s)", text);
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return db_fail(merge->from, DB_ERROR_CORRUPT, "the database is damaged (%s)", text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR: {
        int error = db_quick_check(merge->from);
        return error ? error : db_fail_sqlite(merge->to, code, "merge into the database");
    }
    default:
        return db_fail_sqlite(merge->to, code, "merge into the database");
    }
}

static int run(struct merge *merge, const char *sql)
{
    int code = sqlite3_exec(merge->to->sqlite, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? DB_OK : blame(merge, code);
}

static int run_all(struct merge *merge, const char *const *steps)
{
    int error = DB_OK;
    for (; *steps && !error; steps++)
        error = run(merge, *steps);
    return error;
}

/* ---- the schema of a source */

enum { MADE_BY_STEP = 1 }; /* version 2 made all tables anew; word for word */

static int count_rows(struct db *from, const char *sql, const char *parameter, int *count)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(from->sqlite, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && parameter)
        code = sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        *count = sqlite3_column_int(statement, 0);
        code = SQLITE_OK;
    }
    int error =
        code == SQLITE_OK ? DB_OK : db_fail_sqlite(from, code, "read the database's schema");
    sqlite3_finalize(statement);
    return error;
}

/* Whether a statement of the schema made what is there; *copy: all did so far. */
static int check_statement(struct db *from, const char *sql, bool *copy)
{
    static const char make_table[] = "CREATE TABLE ";
    int there;
    int error = count_rows(from, "SELECT count(*) FROM sqlite_schema WHERE sql = ?1", sql, &there);
    const char *name = sql + strlen(make_table);
    if (!error && there != 1 && strncmp(sql, make_table, strlen(make_table)) == 0)
        return db_fail(
            from, DB_ERROR_CORRUPT,
            "the database is damaged (its table %.*s is not the one that simtfuzz makes)",
            (int)strcspn(name, " "), name);
    *copy &= there == 1;
    return error;
}

int merge_check_schema(struct db *from, bool *copy)
{
    int made = 0, all = 0, error = DB_OK;
    *copy = true;
    for (int step = MADE_BY_STEP; step < db_schema.version && !error; step++)
        for (const char *const *sql = db_schema.steps[step]; *sql && !error; sql++)
            if (strncmp(*sql, "CREATE ", 7) == 0 && ++made)
                error = check_statement(from, *sql, copy);
    if (!error)
        error = count_rows(from, "SELECT count(*) FROM sqlite_schema WHERE sql IS NOT NULL", NULL,
                           &all);
    *copy &= all == made;
    return error;
}

/* ---- merging */

int merge_attach(struct merge *merge)
{
    sqlite3_stmt *attach = NULL;
    char *uri = db_uri(merge->from->path, merge->from->immutable ? "?immutable=1" : "?mode=ro");
    if (!uri)
        return db_fail(merge->from, DB_ERROR_MEMORY, "cannot read the database: out of memory");
    int code = sqlite3_prepare_v2(merge->to->sqlite, "ATTACH ?1 AS ?2", -1, &attach, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(attach, 1, uri, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(attach, 2, merge->schema, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && (code = sqlite3_step(attach)) == SQLITE_DONE)
        code = SQLITE_OK;
    int error = code == SQLITE_OK ? DB_OK : db_fail_sqlite(merge->from, code, "read the database");
    sqlite3_finalize(attach);
    sqlite3_free(uri);
    return error;
}

/* its_T: the source's table T. Its indices are not used - what the tables say counts - but for that of the
 * kernels' hashes, which spares reading their texts. */
static int make_views(struct merge *merge)
{
    char sql[200];
    int error = DB_OK;
    for (const char *const *name = merge_views; *name && !error; name++) {
        snprintf(sql, sizeof sql,
                 "DROP VIEW IF EXISTS temp.its_%s;"
                 "CREATE TEMP VIEW its_%s AS SELECT * FROM %s.%s%s",
                 *name, *name, merge->schema, *name,
                 strcmp(*name, "kernels") == 0 ? "" : " NOT INDEXED");
        error = run(merge, sql);
    }
    return error;
}

int merge_all(struct merge *merge)
{
    int error = make_views(merge);
    if (!error)
        error = run_all(merge, merge_steps);
    if (!error) {
        error = db_derive_update(merge->to);
        if (error == DB_ERROR_RANGE)
            error = db_fail(merge->from, DB_ERROR_CORRUPT,
                            "the database is damaged (a sum of occurrences is out of range)");
    }
    if (!error)
        error = run_all(merge, merge_steps_derived);
    return error ? error : db_derive_clear(merge->to);
}
