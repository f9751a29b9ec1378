/* Prepared statements, bound values, and what SQLite's result codes mean to the caller. */
#include "db/internal.h"
#include "db/state.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const char *const statement_sql[STATEMENT_COUNT] = {
#define STATEMENT(name, sql) [STATEMENT_##name] = (sql),
#include "db/statements.def"
#undef STATEMENT
};

int db_fail(struct db *db, int error, const char *format, ...)
{
    char *text = db->message->text;
    int length = snprintf(text, DB_MESSAGE_MAX, "%s: ", db->path);
    if (length < 0 || length >= DB_MESSAGE_MAX)
        return error;
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, (size_t)(DB_MESSAGE_MAX - length), format, args);
    va_end(args);
    size_t end = strlen(text);
    if (error == DB_ERROR_CORRUPT && end < DB_MESSAGE_MAX)
        snprintf(text + end, DB_MESSAGE_MAX - end,
                 "; `simtfuzz db salvage %s NEW` copies what can be read", db->path);
    return error;
}

/* Out of space may also surface as a failed write (quota) or a failed extension of the -shm file. */
static bool out_of_space(struct db *db, int code)
{
    if ((code & 0xff) == SQLITE_FULL)
        return true;
    int system = sqlite3_system_errno(db->sqlite);
    return (code & 0xff) == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT);
}

/* The text that goes with `code`, also when a rollback has succeeded since. */
static const char *sqlite_text(struct db *db, int code)
{
    bool current = (sqlite3_errcode(db->sqlite) & 0xff) == (code & 0xff);
    return current ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(code);
}

int db_fail_sqlite(struct db *db, int code, const char *doing)
{
    if (out_of_space(db, code))
        return db_fail(db, DB_ERROR_FULL, "cannot %s: the disk is full", doing);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return db_fail(db, DB_ERROR_LOCKED,
                       "cannot %s: another process has locked the database (waited %.1f s)", doing,
                       db->wait_ms / 1000.0);
    case SQLITE_READONLY:
        return db_fail(db, DB_ERROR_READONLY,
                       "cannot %s: the file, its folder or its file system is read-only", doing);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return db_fail(db, DB_ERROR_CORRUPT, "cannot %s: the database is damaged (%s)", doing,
                       sqlite_text(db, code));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return db_fail(db, DB_ERROR_ACCESS, "cannot %s: the file or its folder is not accessible",
                       doing);
    case SQLITE_NOMEM:
        return db_fail(db, DB_ERROR_MEMORY, "cannot %s: out of memory", doing);
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return db_fail(db, DB_ERROR_RANGE, "cannot %s: the schema refuses the values (%s)", doing,
                       sqlite_text(db, code));
    default:
        return db_fail(db, DB_ERROR_IO, "cannot %s: %s", doing, sqlite_text(db, code));
    }
}

static int bind_value(sqlite3_stmt *statement, int index, const struct value *value)
{
    if (value->kind == VALUE_INTEGER) {
        if (value->integer > INT64_MAX)
            return SQLITE_RANGE;
        return sqlite3_bind_int64(statement, index, (sqlite3_int64)value->integer);
    }
    bool empty = !value->text || !value->text[0];
    if (value->kind == VALUE_REFERENCE && empty)
        return sqlite3_bind_null(statement, index);
    return sqlite3_bind_text(statement, index, empty ? "" : value->text, -1, SQLITE_STATIC);
}

int db_bind_values(struct db *db, sqlite3_stmt *statement, const struct value *values, size_t count)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = bind_value(statement, (int)i + 1, &values[i]);
    if (code == SQLITE_OK)
        return DB_OK;
    return code == SQLITE_RANGE ? db_fail(db, DB_ERROR_RANGE, "a number is out of range")
                                : db_fail_sqlite(db, code, "read the database");
}

int db_start_statement(struct db *db, enum statement which, const struct value *values,
                       size_t value_count, sqlite3_stmt **statement)
{
    sqlite3_stmt *own = db->cache[which];
    int code = SQLITE_OK;
    if (!own || sqlite3_stmt_busy(own)) {
        unsigned flags = own ? 0 : SQLITE_PREPARE_PERSISTENT;
        sqlite3_stmt *fresh = NULL;
        code = sqlite3_prepare_v3(db->sqlite, statement_sql[which], -1, flags, &fresh, NULL);
        if (code != SQLITE_OK)
            return db_fail_sqlite(db, code, "read the database");
        if (!own)
            db->cache[which] = fresh;
        own = fresh;
    }
    int error = db_bind_values(db, own, values, value_count);
    if (error) {
        db_end_statement(db, which, own);
        return error;
    }
    *statement = own;
    return DB_OK;
}

void db_end_statement(struct db *db, enum statement which, sqlite3_stmt *statement)
{
    if (statement != db->cache[which]) {
        sqlite3_finalize(statement);
        return;
    }
    /* Both repeat the failure of the last step, which was reported then. */
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

int db_next_row(struct db *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : db_fail_sqlite(db, code, "read the database");
}

int db_write(struct db *db, enum statement which, const struct value *values, size_t value_count)
{
    /* SQLite ends a transaction by itself after some failures; writes that follow would then commit
     * one by one, and half a batch would be in the file. */
    if (db->batch && db->batch_error)
        return db_fail(db, db->batch_error, "the batch failed before and must be rolled back");
    sqlite3_stmt *statement;
    int error = db_start_statement(db, which, values, value_count, &statement);
    if (error == DB_OK) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_DONE)
            error = db_fail_sqlite(db, code, "write to the database");
        db_end_statement(db, which, statement);
    }
    if (error && db->batch)
        db->batch_error = error;
    return error;
}

const char *db_column_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

uint64_t db_column_integer(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}
