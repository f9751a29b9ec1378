/*
 * simtfuzz merge: copies of whole databases. Nobody sees a copy before it is complete, so it is written without a
 * log and without synchronisation.
 */
#include "db/merge/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, PAGES_AT_ONCE = 4096 };

static int open_named(const char *path, int flags, sqlite3 **sqlite)
{
    char *uri = db_uri(path, "");
    *sqlite = NULL;
    int code = uri ? sqlite3_open_v2(uri, sqlite, flags | SQLITE_OPEN_URI, NULL) : SQLITE_NOMEM;
    sqlite3_free(uri);
    return code;
}

/* ---- the bytes of the file */

/* Inside a transaction that reads: is all of the database in its file, and stays there until that ends? A reader
 * that found no log keeps others from writing one back. */
static bool is_without_log(const char *path)
{
    off_t size;
    return !db_file_size(path, "-wal", &size) || size == 0;
}

static int write_all(int file, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        bytes += written;
        size -= (size_t)written;
    }
    return SQLITE_OK;
}

static int read_size(sqlite3 *sqlite, sqlite3_int64 *size)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(
        sqlite, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", -1,
        &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *size = sqlite3_column_int64(statement, 0);
    return sqlite3_finalize(statement);
}

/* Through SQLite's own descriptor: closing another one of the file would drop the locks that this process holds
 * on it. */
static int copy_bytes(sqlite3 *from, const char *copy)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    int code = sqlite3_file_control(from, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK)
        code = read_size(from, &size);
    if (code != SQLITE_OK)
        return code;
    unsigned char *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return SQLITE_NOMEM;
    int to = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (to < 0)
        code = SQLITE_CANTOPEN;
    for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK; at += CHUNK_BYTES) {
        int length = size - at < CHUNK_BYTES ? (int)(size - at) : CHUNK_BYTES;
        code = file->pMethods->xRead(file, chunk, length, at);
        if (code == SQLITE_OK)
            code = write_all(to, chunk, (size_t)length);
    }
    if (to >= 0)
        close(to);
    free(chunk);
    return code;
}

/* ---- its pages, as SQLite sees them */

static int copy_pages(sqlite3 *from, const char *copy)
{
    sqlite3 *to = NULL;
    int code = open_named(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &to);
    if (code == SQLITE_OK)
        code = sqlite3_exec(to, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL,
                            NULL);
    sqlite3_backup *backup = NULL;
    if (code == SQLITE_OK) {
        backup = sqlite3_backup_init(to, "main", from, "main");
        code = backup ? SQLITE_OK : sqlite3_errcode(to);
    }
    while (code == SQLITE_OK)
        code = sqlite3_backup_step(backup, PAGES_AT_ONCE);
    sqlite3_backup_finish(backup);
    sqlite3_close(to);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- */

static int set_wal(const char *copy)
{
    sqlite3 *to = NULL;
    int code = open_named(copy, SQLITE_OPEN_READWRITE, &to);
    if (code == SQLITE_OK)
        code = sqlite3_exec(to, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    sqlite3_close(to);
    return code;
}

int merge_copy_database(const char *path, const char *copy, struct db_message *message)
{
    sqlite3 *from = NULL;
    int code = open_named(path, SQLITE_OPEN_READONLY, &from);
    if (code == SQLITE_OK) /* the first read is what begins it */
        code = sqlite3_exec(from, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = is_without_log(path) ? copy_bytes(from, copy) : copy_pages(from, copy);
    sqlite3_close(from);
    if (code == SQLITE_OK)
        code = set_wal(copy);
    if (code == SQLITE_OK)
        return DB_OK;
    snprintf(message->text, DB_MESSAGE_MAX, "%.1500s: cannot copy the database: %s", path,
             sqlite3_errstr(code));
    return (code & 0xff) == SQLITE_FULL ? DB_ERROR_FULL : DB_ERROR_IO;
}

/* ---- */

/* GLOB as SQLite has it, but that it does not take the pattern of the kernels' hashes apart for each of them: a
 * fifth of a check. */
static void glob(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    int types[] = {sqlite3_value_type(values[0]), sqlite3_value_type(values[1])};
    if (types[0] == SQLITE_NULL || types[1] == SQLITE_NULL)
        return;
    if (types[0] == SQLITE_BLOB || types[1] == SQLITE_BLOB) {
        sqlite3_result_int(context, 0);
        return;
    }
    const char *pattern = (const char *)sqlite3_value_text(values[0]);
    const char *text = (const char *)sqlite3_value_text(values[1]);
    if (!pattern || !text)
        sqlite3_result_error_nomem(context);
    else if (strcmp(pattern, "*[^0-9a-f]*") == 0)
        sqlite3_result_int(context, text[strspn(text, "0123456789abcdef")] != '\0');
    else
        sqlite3_result_int(context, sqlite3_strglob(pattern, text) == 0);
}

int merge_use_glob(struct db *db)
{
    int code = sqlite3_create_function(db->sqlite, "glob", 2,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       glob, NULL, NULL);
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(db, code, "merge");
}

int merge_check_copy(struct db *copy)
{
    int error = merge_use_glob(copy);
    if (error)
        return error;
    /* Nobody else has the file, so it stays as long as it is: its pages may be read where they are. */
    sqlite3_exec(copy->sqlite, "PRAGMA mmap_size = 0x7fff0000", NULL, NULL, NULL);
    return db_quick_check(copy);
}
