/*
 * handle.h - a database: open and closed, batches, errors; whole files.
 */
#ifndef DB_HANDLE_H
#define DB_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DB_MUST_CHECK __attribute__((warn_unused_result))

enum { DB_SCHEMA_VERSION = 3 };
enum { DB_MESSAGE_MAX = 2000, DB_HASH_LENGTH = 32 };

enum db_error {
    DB_OK = 0,
    DB_ERROR_ABSENT = -1,     /* no such file */
    DB_ERROR_ACCESS = -2,     /* a folder, no permission, no such folder */
    DB_ERROR_READONLY = -3,   /* file, folder or file system cannot be written */
    DB_ERROR_NOT_SQLITE = -4, /* not an SQLite file at all */
    DB_ERROR_FOREIGN = -5,    /* an SQLite file, but of another program */
    DB_ERROR_NEWER = -6,      /* written by a newer simtfuzz */
    DB_ERROR_OLDER = -7,      /* of an older simtfuzz, and opened read-only: cannot be migrated */
    DB_ERROR_CORRUPT = -8,    /* damaged; see db_quarantine */
    DB_ERROR_LOCKED = -9,     /* another process writes, and went on for longer than we wait */
    DB_ERROR_FULL = -10,      /* disk or quota full */
    DB_ERROR_IO = -11,        /* any other failure of the system below */
    DB_ERROR_MEMORY = -12,
    DB_ERROR_NOT_FOUND = -13, /* no such finding, campaign or kernel */
    DB_ERROR_AMBIGUOUS = -14, /* the prefix fits several signatures; the message lists them */
    DB_ERROR_RANGE = -15,     /* a value that the schema refuses: a fault of the caller */
};

/* "corrupt", "locked", ... for logs and --json; "ok" for 0. */
const char *db_error_name(int error);

struct db;

struct db_message {
    char text[DB_MESSAGE_MAX];
};

enum db_mode {
    DB_CREATE,    /* read and write; made if absent or empty; older schemas are migrated */
    DB_READWRITE, /* read and write; must exist; older schemas are migrated */
    DB_READONLY,  /* works on a read-only file system, too */
};

/* Opens and checks: kind of file, version, structure; all of it in files up to 32 MiB, and for writing in a
 * larger one whose last writer did not close it. Elsewhere damage is reported by the query that meets it. On
 * failure *db is NULL and nothing was changed: a damaged or foreign file is never written, renamed or deleted
 * here. */
DB_MUST_CHECK int db_open(const char *path, enum db_mode mode, struct db_message *message,
                          struct db **db);

/* Ends the open batch without committing it, frees the handle. NULL is allowed. */
void db_close(struct db *db);

/* Reads all of it: pages, indices, constraints, references. DB_ERROR_CORRUPT says what is wrong first. */
DB_MUST_CHECK int db_check(struct db *db);

/* How long to wait for another process's lock before DB_ERROR_LOCKED; 10 s at first. */
void db_lock_wait(struct db *db, uint32_t milliseconds);

/* Moves a damaged database aside, with the -wal and -shm files that belong to it, to the first free
 * `path.damaged-N`; never overwrites. `moved` receives the new name. */
DB_MUST_CHECK int db_quarantine(const char *path, char *moved, size_t moved_size,
                                struct db_message *message);

DB_MUST_CHECK int db_begin(struct db *db);
DB_MUST_CHECK int db_commit(struct db *db);
void db_rollback(struct db *db); /* also allowed when no batch is open */

/* ---- whole files ---- */

/* Joins databases to `out`, which is made if it is not there. In any order, any number of times, with the
 * same content: what merges how is in docs/database.md. Inputs are only read; they may be of an older
 * version, or in use. Either all of it is done or nothing, also when the process is killed. */
DB_MUST_CHECK int db_merge_files(const char *out, const char *const *inputs, size_t count,
                                 struct db_message *message);

/* Copies what can be read of a damaged database to `out`, which must not be there, and says what of each table. `path`
 * is only read. */
struct db_salvaged {
    const char *table;
    uint64_t rows;    /* that the new file has */
    uint64_t lost;    /* that could not be read, or were not as the schema wants them */
    bool lost_known;  /* else nothing in the file says how many: 1 at least */
    uint64_t dropped; /* left out, since they refer to what is lost; not in the other numbers */
};
typedef void db_salvage_use(void *context, const struct db_salvaged *table);
DB_MUST_CHECK int db_salvage(const char *path, const char *out, db_salvage_use *use, void *context,
                             struct db_message *message);

/* Prints as JSON lines, in canonical order and without the findings' ids, all content that must be
 * equal between two runs of the same campaigns: everything but sessions (jobs, times), what minimising took
 * (each shard has examples of its own to minimise) and kernels
 * that nothing refers to. Two databases are "the same" when these are. */
DB_MUST_CHECK int db_dump_content(struct db *db, FILE *out);

#endif
