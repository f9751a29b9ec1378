/*
 * Is the file damaged? A full check reads every page: some 2 s a GB. It is made of small files, after an end
 * that was not clean - a writer was killed, or the power failed; a log is left - and when somebody asks
 * (db_check). Otherwise opening looks at the structure only, whatever the size, and damage further down is
 * reported by the query that meets it.
 */
#include "db/internal.h"

#include <string.h>

enum { FULL_CHECK_BYTES = 32 << 20 };

/* A PRAGMA that answers with one row, "ok". */
static int ask(struct db *db, const char *pragma)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db->sqlite, pragma, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "check the database");
    int error = DB_OK;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW && strcmp(db_column_text(statement, 0), "ok") != 0)
        error = db_fail(db, DB_ERROR_CORRUPT, "the database is damaged (%s)",
                        db_column_text(statement, 0));
    else if (code != SQLITE_ROW)
        error = db_fail_sqlite(db, code, "check the database");
    sqlite3_finalize(statement);
    return error;
}

int db_quick_check(struct db *db)
{
    return ask(db, "PRAGMA quick_check(1)");
}

static int check_references(struct db *db)
{
    sqlite3_stmt *row;
    int code = sqlite3_prepare_v2(db->sqlite, "PRAGMA foreign_key_check", -1, &row, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "check the database");
    int more = db_next_row(db, row);
    if (more == 1)
        more =
            db_fail(db, DB_ERROR_CORRUPT,
                    "the database is damaged (a row of %s refers to one of %s that is not there)",
                    db_column_text(row, 0), db_column_text(row, 2));
    sqlite3_finalize(row);
    return more;
}

int db_check(struct db *db)
{
    int error = ask(db, "PRAGMA integrity_check(1)");
    return error ? error : check_references(db);
}

/* ---- at opening */

bool db_left_open(const char *path)
{
    off_t size;
    return (db_file_size(path, "-wal", &size) && size > 0) ||
           (db_file_size(path, "-journal", &size) && size > 0);
}

static int read_number(struct db *db, const char *sql, uint64_t *number)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "check the database");
    int more = db_next_row(db, statement);
    if (more == 1)
        *number = db_column_integer(statement, 0);
    sqlite3_finalize(statement);
    return more < 0 ? more : DB_OK;
}

/* As long as its header says? While somebody writes, its end may be in the log. */
static int check_length(struct db *db)
{
    uint64_t pages = 0, page_bytes = 0;
    off_t size;
    int error = read_number(db, "PRAGMA page_count", &pages);
    if (!error)
        error = read_number(db, "PRAGMA page_size", &page_bytes);
    if (!error && db_file_size(db->path, "", &size) && (uint64_t)size < pages * page_bytes &&
        !db_left_open(db->path))
        error = db_fail(db, DB_ERROR_CORRUPT, "the database is damaged (its end is missing)");
    return error;
}

/* One row of each table: its first page is one of the kind that it should be. */
static int check_tables(struct db *db)
{
    sqlite3_stmt *table;
    char sql[300];
    uint64_t unused = 0;
    int code = sqlite3_prepare_v2(db->sqlite,
                                  "SELECT name FROM sqlite_schema WHERE type = 'table'"
                                  " AND rootpage > 0 AND length(name) < 200",
                                  -1, &table, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "check the database");
    int more;
    while ((more = db_next_row(db, table)) == 1) {
        sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM \"%w\" NOT INDEXED LIMIT 1",
                         db_column_text(table, 0));
        int error = read_number(db, sql, &unused);
        if (error) {
            more = error;
            break;
        }
    }
    sqlite3_finalize(table);
    return more;
}

int db_check_at_open(struct db *db, enum db_mode mode, bool left_open)
{
    off_t size = 0;
    bool large = db_file_size(db->path, "", &size) && size > FULL_CHECK_BYTES;
    if (!large || (left_open && mode != DB_READONLY))
        return db_quick_check(db);
    int error = check_length(db);
    return error ? error : check_tables(db);
}
