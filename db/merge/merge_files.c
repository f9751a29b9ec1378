/* simtfuzz merge: files. What is written appears in one moment, or not at all. */
#include "db/merge/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_MAX_BYTES = 4096,
    SOURCES_MAX = 8 /* in one transaction: SQLite attaches 10 */
};

struct files {
    const char *out;
    char new_out[NAME_MAX_BYTES]; /* a database that is made before it is there */
    struct db_message *message;
};

static int fail(struct files *files, int error, const char *path, const char *doing)
{
    snprintf(files->message->text, DB_MESSAGE_MAX, "%.1500s: cannot %s: %s", path, doing,
             strerror(errno));
    return error;
}

static void remove_database(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[NAME_MAX_BYTES + 40];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* ---- inputs ---- */

struct source {
    struct db *from;
    char schema[24];
    char copy[NAME_MAX_BYTES + 24]; /* of an input of an older version, to be migrated */
};

/* *copy: all of its schema is ours, and it is of today's version. */
static int open_source(struct files *files, const char *path, struct source *source, bool *copy)
{
    int error = db_open(path, DB_READONLY, files->message, &source->from);
    bool older = error == DB_ERROR_OLDER;
    *copy = false;
    if (older) {
        error = merge_copy_database(path, source->copy, files->message);
        if (!error)
            error = db_open(source->copy, DB_READWRITE, files->message, &source->from);
    }
    if (!error)
        error = merge_check_schema(source->from, copy);
    *copy = *copy && !older;
    return error;
}

static void close_source(struct source *source)
{
    db_close(source->from);
    remove_database(source->copy);
}

/* ---- one transaction ---- */

static int join_all(struct db *to, struct source *sources, size_t count)
{
    int error = DB_OK;
    for (size_t i = 0; i < count && !error; i++) {
        struct merge merge = {to, sources[i].from, sources[i].schema};
        error = merge_attach(&merge);
    }
    if (!error)
        error = db_begin(to); /* of the sources, too: each stays as it is now */
    for (size_t i = 0; i < count && !error; i++) {
        struct merge merge = {to, sources[i].from, sources[i].schema};
        error = merge_all(&merge);
    }
    if (!error)
        error = db_commit(to);
    if (error) {
        struct db_message failure = *to->message; /* rolling back may say something, too */
        db_rollback(to);
        *to->message = failure;
    }
    for (size_t i = 0; i < count; i++) {
        char detach[64];
        snprintf(detach, sizeof detach, "DETACH %s", sources[i].schema);
        sqlite3_exec(to->sqlite, detach, NULL, NULL, NULL); /* it may not be attached */
    }
    return error;
}

/* At most SOURCES_MAX inputs. */
static int merge_inputs(struct files *files, struct db *to, const char *const *inputs, size_t count)
{
    struct source *sources = calloc(count, sizeof *sources);
    size_t opened = 0;
    bool copy;
    int error = sources ? DB_OK : fail(files, DB_ERROR_MEMORY, files->out, "merge");
    for (; opened < count && !error; opened++) {
        struct source *source = &sources[opened];
        snprintf(source->schema, sizeof source->schema, "source_%zu", opened);
        snprintf(source->copy, sizeof source->copy, "%s-copy-%zu", files->new_out, opened);
        error = open_source(files, inputs[opened], source, &copy);
    }
    if (!error)
        error = join_all(to, sources, count);
    for (size_t i = 0; i < opened; i++)
        close_source(&sources[i]);
    free(sources);
    return error;
}

static int open_target(struct files *files, const char *path, enum db_mode mode, struct db **to)
{
    int error = db_open(path, mode, files->message, to);
    if (error)
        return error;
    int code = sqlite3_exec((*to)->sqlite, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
    for (const char *const *sql = merge_tables; *sql && code == SQLITE_OK; sql++)
        code = sqlite3_exec((*to)->sqlite, *sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? merge_use_glob(*to) : db_fail_sqlite(*to, code, "merge");
}

/* ---- a new database ---- */

/* It starts as a copy of the pages of the first input, if that is ours in all: *merged is then 1. */
static int start_new(struct files *files, const char *first, size_t *merged)
{
    struct source source = {.copy = ""};
    struct db *new_out = NULL;
    bool copy = false;
    snprintf(source.copy, sizeof source.copy, "%s-copy", files->new_out);
    int error = open_source(files, first, &source, &copy);
    if (!error) /* can it be there? */
        error = db_open(files->new_out, DB_CREATE, files->message, &new_out);
    db_close(new_out);
    if (!error && copy)
        error = merge_copy_database(first, files->new_out, files->message);
    if (!error && copy)
        error = db_open(files->new_out, DB_READWRITE, files->message, &new_out);
    if (!error && copy) {
        error = merge_check_copy(new_out);
        if (error == DB_ERROR_CORRUPT) /* it came with the copy */
            error = db_fail(source.from, error, "the database is damaged");
        db_close(new_out);
    }
    close_source(&source);
    *merged = copy ? 1 : 0;
    return error;
}

/* Nobody sees it before it is complete, so it needs neither a log nor synchronisation on the way. */
static int go_without_log(struct db *to)
{
    sqlite3_db_config(to->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    int code = sqlite3_exec(to->sqlite, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL,
                            NULL, NULL);
    sqlite3_db_config(to->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(to, code, "merge");
}

static int go_with_log(struct db *to)
{
    int code = sqlite3_exec(to->sqlite, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
                            NULL, NULL, NULL);
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(to, code, "merge");
}

static int synchronise(struct files *files)
{
    int file = open(files->new_out, O_RDONLY | O_CLOEXEC);
    bool done = file >= 0 && fsync(file) == 0;
    int error = done ? DB_OK : fail(files, DB_ERROR_IO, files->new_out, "write the database");
    if (file >= 0)
        close(file);
    return error;
}

/* Joins the inputs in new_out. */
static int make_new(struct files *files, const char *const *inputs, size_t count)
{
    struct db *to = NULL;
    size_t done;
    int error = start_new(files, inputs[0], &done);
    if (!error)
        error = open_target(files, files->new_out, DB_READWRITE, &to);
    if (!error)
        error = go_without_log(to);
    while (!error && done < count) {
        size_t next = count - done < SOURCES_MAX ? count - done : SOURCES_MAX;
        error = merge_inputs(files, to, inputs + done, next);
        done += next;
    }
    if (!error)
        error = go_with_log(to);
    db_close(to);
    return error ? error : synchronise(files);
}

/* The new database gets its name, unless somebody was faster. */
static int publish(struct files *files)
{
    if (link(files->new_out, files->out) == 0)
        return DB_OK;
    if (errno == EEXIST)
        return fail(files, DB_ERROR_ACCESS, files->out, "create the database");
    return rename(files->new_out, files->out) == 0
               ? DB_OK
               : fail(files, DB_ERROR_IO, files->out, "create the database");
}

/* ---- */

/* Into one that is there. More inputs than can be attached are first joined among themselves: merging is
 * associative. */
static int merge_into(struct files *files, const char *const *inputs, size_t count)
{
    struct db *to;
    int error = open_target(files, files->out, DB_READWRITE, &to);
    if (!error && count <= SOURCES_MAX) {
        error = merge_inputs(files, to, inputs, count);
    } else if (!error) {
        const char *joined[] = {files->new_out};
        error = make_new(files, inputs, count);
        if (!error)
            error = merge_inputs(files, to, joined, 1);
    }
    db_close(to); /* the last one to leave brings the log into the file */
    return error;
}

int db_merge_files(const char *out, const char *const *inputs, size_t count,
                   struct db_message *message)
{
    struct files files = {.out = out, .message = message};
    int length = snprintf(files.new_out, NAME_MAX_BYTES, "%s.merging-%ld", out, (long)getpid());
    if (length < 0 || length >= NAME_MAX_BYTES) {
        errno = ENAMETOOLONG;
        return fail(&files, DB_ERROR_ACCESS, out, "open the database");
    }
    struct stat status;
    bool fresh = stat(out, &status) != 0 && errno == ENOENT && out[0] != '\0';
    int error;
    if (fresh) {
        error = make_new(&files, inputs, count);
        if (!error)
            error = publish(&files);
    } else {
        error = merge_into(&files, inputs, count);
    }
    remove_database(files.new_out);
    return error;
}
