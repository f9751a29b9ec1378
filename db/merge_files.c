/* simtfuzz merge: files. What is written appears in one moment, or not at all. */
#include "db/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 4096, COPY_PAGES = 4096 };

struct files {
    const char *out;
    char new_out[NAME_MAX_BYTES]; /* where a database that is not there yet is made */
    char copy[NAME_MAX_BYTES];    /* of an input of an older version, to be migrated */
    bool fresh;                   /* out is not there yet */
    struct db_message *message;
    struct db *to;
};

static int fail(struct files *files, int error, const char *path, const char *doing)
{
    snprintf(files->message->text, DB_MESSAGE_MAX, "%s: cannot %s: %s", path, doing,
             strerror(errno));
    return error;
}

static void remove_database(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[NAME_MAX_BYTES + 8];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* ---- inputs ---- */

/* A copy of a database as it is; nothing is written to the original. */
static int copy_database(struct files *files, const char *path, const char *copy)
{
    sqlite3 *from = NULL, *to = NULL;
    int code = sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_open_v2(copy, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    sqlite3_backup *backup = NULL;
    if (code == SQLITE_OK) {
        backup = sqlite3_backup_init(to, "main", from, "main");
        code = backup ? SQLITE_OK : sqlite3_errcode(to);
    }
    while (code == SQLITE_OK)
        code = sqlite3_backup_step(backup, COPY_PAGES);
    sqlite3_backup_finish(backup);
    if (code == SQLITE_DONE &&
        sqlite3_exec(to, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) != SQLITE_OK)
        code = sqlite3_errcode(to);
    sqlite3_close(from);
    sqlite3_close(to);
    if (code == SQLITE_DONE)
        return DB_OK;
    snprintf(files->message->text, DB_MESSAGE_MAX, "%s: cannot copy the database: %s", path,
             sqlite3_errstr(code));
    return (code & 0xff) == SQLITE_FULL ? DB_ERROR_FULL : DB_ERROR_IO;
}

static int open_input(struct files *files, const char *path, struct db **from)
{
    int error = db_open(path, DB_READONLY, files->message, from);
    if (error != DB_ERROR_OLDER)
        return error;
    error = copy_database(files, path, files->copy);
    return error ? error : db_open(files->copy, DB_READWRITE, files->message, from);
}

static int merge_input(struct files *files, const char *path)
{
    struct merge merge = {.to = files->to};
    int error = open_input(files, path, &merge.from);
    if (!error) {
        /* One view of it, also while a campaign writes there. */
        int code = sqlite3_exec(merge.from->sqlite, "BEGIN", NULL, NULL, NULL);
        error = code == SQLITE_OK ? merge_all(&merge)
                                  : db_fail_sqlite(merge.from, code, "read the database");
    }
    db_close(merge.from);
    remove_database(files->copy);
    return error;
}

/* ---- output ---- */

/* A new one starts as a copy of the first input, if that is of today's version: *merged is then 1. */
static int open_output(struct files *files, const char *first, size_t *merged)
{
    struct stat status;
    files->fresh = stat(files->out, &status) != 0 && errno == ENOENT && files->out[0] != '\0';
    *merged = 0;
    if (!files->fresh)
        return db_open(files->out, DB_READWRITE, files->message, &files->to);
    struct db *input;
    int error = db_open(first, DB_READONLY, files->message, &input);
    db_close(input);
    if (error && error != DB_ERROR_OLDER)
        return error;
    *merged = !error;
    error = db_open(files->new_out, DB_CREATE, files->message, &files->to); /* can it be there? */
    if (error || !*merged)
        return error;
    db_close(files->to);
    files->to = NULL;
    error = copy_database(files, first, files->new_out);
    return error ? error : db_open(files->new_out, DB_READWRITE, files->message, &files->to);
}

/* The new database gets its name, unless somebody was faster. */
static int publish(struct files *files)
{
    if (!files->fresh)
        return DB_OK;
    if (link(files->new_out, files->out) == 0)
        return DB_OK;
    if (errno == EEXIST)
        return fail(files, DB_ERROR_ACCESS, files->out, "create the database");
    return rename(files->new_out, files->out) == 0
               ? DB_OK
               : fail(files, DB_ERROR_IO, files->out, "create the database");
}

static int merge_inputs(struct files *files, const char *const *inputs, size_t first, size_t count)
{
    int error = db_begin(files->to);
    for (size_t i = first; i < count && !error; i++)
        error = merge_input(files, inputs[i]);
    if (!error)
        error = db_commit(files->to);
    if (error) {
        struct db_message failure = *files->message; /* rolling back may say something, too */
        db_rollback(files->to);
        *files->message = failure;
    }
    return error;
}

int db_merge_files(const char *out, const char *const *inputs, size_t count,
                   struct db_message *message)
{
    struct files files = {.out = out, .message = message};
    int length = snprintf(files.new_out, NAME_MAX_BYTES, "%s.merging-%ld", out, (long)getpid());
    snprintf(files.copy, NAME_MAX_BYTES, "%s.copy-%ld", out, (long)getpid());
    if (length < 0 || length >= NAME_MAX_BYTES) {
        errno = ENAMETOOLONG;
        return fail(&files, DB_ERROR_ACCESS, out, "open the database");
    }
    size_t merged;
    int error = open_output(&files, inputs[0], &merged);
    if (!error)
        error = merge_inputs(&files, inputs, merged, count);
    db_close(files.to); /* the last one to leave brings the log into the file */
    if (!error)
        error = publish(&files);
    if (files.fresh)
        remove_database(files.new_out);
    return error;
}
