/*
 * internal.h - what the files of db/ share: the handle, prepared statements, values, failures.
 */
#ifndef DB_INTERNAL_H
#define DB_INTERNAL_H

#include "db/db.h"

#include <sqlite3.h>
#include <sys/types.h>

enum statement {
#define STATEMENT(name, sql) STATEMENT_##name,
#include "db/statements.def"
#undef STATEMENT
    STATEMENT_COUNT
};

struct db {
    sqlite3 *sqlite;
    char *path; /* as the user gave it, for messages */
    struct db_message *message;
    uint32_t wait_ms;        /* for another process's lock */
    uint64_t waits_since_ms; /* of the monotonic clock; while it waits */
    bool immutable;          /* on a read-only file system, and nobody can change it */
    bool checkpoint; /* the file is new, nothing was committed: the first commit is checkpointed */
    bool batch;      /* between db_begin and db_commit or db_rollback */
    int batch_error; /* the first failure of a write inside the batch: it can only be rolled back */
    uint64_t session; /* that this handle began last, its row id; 0: none */
    struct db_shard session_shard;
    bool dirty;                           /* something has to be derived before the commit */
    sqlite3_stmt *cache[STATEMENT_COUNT]; /* prepared on first use */
};

/* db_open with another patience. */
DB_MUST_CHECK int db_open_waiting(const char *path, enum db_mode mode, uint32_t wait_ms,
                                  struct db_message *message, struct db **db);

/* Writes "PATH: ..." to the message; returns `error`. */
int db_fail(struct db *db, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for what SQLite just reported; `doing` completes "cannot ...". */
int db_fail_sqlite(struct db *db, int code, const char *doing);

/* A value bound to a parameter. Made only by the macros below, so that types are checked. */
struct value {
    enum { VALUE_INTEGER, VALUE_TEXT, VALUE_REFERENCE } kind;
    uint64_t integer;
    const char *text;
};

#define INTEGER(v) ((struct value){.kind = VALUE_INTEGER, .integer = (v)})
#define TEXT(v) ((struct value){.kind = VALUE_TEXT, .text = (v)})           /* NULL is '' */
#define REFERENCE(v) ((struct value){.kind = VALUE_REFERENCE, .text = (v)}) /* NULL, '' are NULL */
#define VALUES(...)                                                                                \
    (const struct value[]){__VA_ARGS__},                                                           \
        sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value)

/* Parameters ?1, ?2, ...; texts must live until the statement ends. */
int db_bind_values(struct db *db, sqlite3_stmt *statement, const struct value *values,
                   size_t count);

/* A statement ready to be stepped, its parameters ?1, ?2, ... bound. Texts must live until
 * db_end_statement, which every successful start needs. Reentrant: a callback may start the same. */
int db_start_statement(struct db *db, enum statement which, const struct value *values,
                       size_t value_count, sqlite3_stmt **statement);
void db_end_statement(struct db *db, enum statement which, sqlite3_stmt *statement);
/* 1 = a row, 0 = no more, negative = failure */
int db_next_row(struct db *db, sqlite3_stmt *statement);

/* Runs a statement that writes; it must not return rows. */
int db_write(struct db *db, enum statement which, const struct value *values, size_t value_count);

/* Makes several writes one: a transaction of their own unless a batch is open. */
int db_group_begin(struct db *db, bool *own);
/* Commits, or undoes when error is negative; returns the first failure. */
int db_group_end(struct db *db, bool own, int error);

/* For an UPDATE by id that must have found its row: DB_ERROR_NOT_FOUND, "there is no WHAT ID". */
int db_expect_change(struct db *db, int error, const char *what, uint64_t id);

uint64_t db_unix_ms(void);

/* Brings what is derived from facts up to date: for the findings and campaigns of the table `dirty`, which
 * it empties. Inside a transaction; db_commit calls it, where `db->dirty` says so. */
int db_derive(struct db *db);
/* The same in two steps: between them is in the table `derived` what was derived of each finding, also of
 * those that are not in the table `findings` yet. */
int db_derive_update(struct db *db);
int db_derive_clear(struct db *db);
extern const char db_derive_tables[]; /* makes these tables, once a connection */

/* check.c: is the file damaged? db_quick_check reads all of it. */
int db_quick_check(struct db *db);
/* A log is left: a writer is at work, or ended without closing. To be asked before opening. */
bool db_left_open(const char *path);
int db_check_at_open(struct db *db, enum db_mode mode, bool left_open);

/* Of the file path followed by suffix; false: it is not there. */
bool db_file_size(const char *path, const char *suffix, off_t *size);
/* The path as a URI, so that no name has a meaning of its own to SQLite (":memory:", "file:...", a '?' in a
 * name). `suffix` starts with '?'. NULL when out of memory; for sqlite3_free. */
char *db_uri(const char *path, const char *suffix);

/* Reads SQL_FINDING_COLUMNS (state.h); the example's texts become ''. */
int db_read_finding(struct db *db, sqlite3_stmt *row, struct db_finding *finding);

/* Never NULL. */
const char *db_column_text(sqlite3_stmt *statement, int column);
uint64_t db_column_integer(sqlite3_stmt *statement, int column);

#endif
