/* Opening and closing, batches, moving a damaged file aside. */
#include "db/internal.h"
#include "db/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LOCK_WAIT_MS = 10000,
    LOCK_PAUSE_US = 1000,
    WAL_KEPT_BYTES = 64 << 20,
    CACHE_KIB = 64 << 10, /* at most: the indices of 10^5 findings stay in memory */
    QUARANTINE_TRIES = 10000
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_US * 1000}, NULL);
}

/* Asks often. SQLite's own handler soon sleeps 100 ms at a time, and a campaign's writer, who holds
 * the lock again and again, would starve a person's short command. */
static int wait_for_lock(void *context, int tries)
{
    struct db *db = context;
    uint64_t now = now_ms();
    if (tries == 0)
        db->waits_since_ms = now;
    if (now - db->waits_since_ms >= db->wait_ms)
        return 0;
    pause_a_little();
    return 1;
}

void db_lock_wait(struct db *db, uint32_t milliseconds)
{
    db->wait_ms = milliseconds;
}

char *db_uri(const char *path, const char *suffix)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    char *uri = sqlite3_malloc64(strlen("file:./") + 3 * strlen(path) + strlen(suffix) + 1);
    if (!uri)
        return NULL;
    char *at = stpcpy(uri, path[0] == '/' ? "file:" : "file:./");
    for (const char *c = path; *c; c++) {
        /* "//" would start a host name */
        bool slash = *c == '/' && (c == path || c[-1] != '/');
        if (slash || strchr(plain, *c))
            *at++ = *c;
        else
            at += sprintf(at, "%%%02X", (unsigned char)*c);
    }
    strcpy(at, suffix);
    return uri;
}

bool db_file_size(const char *path, const char *suffix, off_t *size)
{
    char *name = malloc(strlen(path) + strlen(suffix) + 1);
    if (!name)
        return false;
    strcpy(stpcpy(name, path), suffix);
    struct stat status;
    bool found = stat(name, &status) == 0;
    free(name);
    if (found)
        *size = status.st_size;
    return found;
}

/* Asked beforehand because SQLite, refused, tries again for reading and then tells of that failure. */
static int check_folder(struct db *db)
{
    char *folder = strdup(db->path);
    if (!folder)
        return db_fail(db, DB_ERROR_MEMORY, "cannot create the database: out of memory");
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder ? 1 : 0] = '\0';
    int failed = access(slash ? folder : ".", W_OK | X_OK);
    int error = errno;
    free(folder);
    if (failed)
        return db_fail(db, error == EROFS ? DB_ERROR_READONLY : DB_ERROR_ACCESS,
                       "cannot create the database in its folder: %s", strerror(error));
    return DB_OK;
}

/* What can be said about the path before SQLite sees it. */
static int check_path(struct db *db, enum db_mode mode)
{
    struct stat status;
    if (db->path[0] == '\0')
        return db_fail(db, DB_ERROR_ABSENT, "the database's name is empty");
    if (stat(db->path, &status) != 0) {
        int error = errno;
        if (error == ENOENT && mode == DB_CREATE)
            return check_folder(db);
        if (error == ENOENT)
            return db_fail(db, DB_ERROR_ABSENT, "there is no such database");
        return db_fail(db, DB_ERROR_ACCESS, "cannot open the database: %s", strerror(error));
    }
    if (S_ISDIR(status.st_mode))
        return db_fail(db, DB_ERROR_ACCESS, "is a folder, not a database");
    if (!S_ISREG(status.st_mode))
        return db_fail(db, DB_ERROR_ACCESS, "is not a regular file");
    return DB_OK;
}

/* Somebody else may have prepared the file. There are no triggers of ours. (TRUSTED_SCHEMA stays on: the CHECK
 * of a table of ours calls json_valid, which SQLite would then refuse.) */
static void distrust(sqlite3 *sqlite)
{
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_exec(sqlite, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

static int open_file(struct db *db, enum db_mode mode, const char *uri_suffix)
{
    static const int mode_flags[] = {
        [DB_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
        [DB_READWRITE] = SQLITE_OPEN_READWRITE,
        [DB_READONLY] = SQLITE_OPEN_READONLY,
    };
    char *uri = db_uri(db->path, uri_suffix);
    if (!uri)
        return db_fail(db, DB_ERROR_MEMORY, "cannot open the database: out of memory");
    int flags = mode_flags[mode] | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(uri, &db->sqlite, flags, NULL);
    sqlite3_free(uri);
    if (code == SQLITE_CANTOPEN) {
        int system = sqlite3_system_errno(db->sqlite);
        if (system == EROFS)
            return db_fail(db, DB_ERROR_READONLY, "cannot open the database: %s", strerror(system));
        return db_fail(db, DB_ERROR_ACCESS, "cannot open the database: %s",
                       system ? strerror(system) : "the file or its folder is not accessible");
    }
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "open the database");
    sqlite3_extended_result_codes(db->sqlite, 1);
    distrust(db->sqlite);
    sqlite3_busy_handler(db->sqlite, wait_for_lock, db);
    if (mode != DB_READONLY && sqlite3_db_readonly(db->sqlite, "main") == 1)
        return db_fail(db, DB_ERROR_READONLY,
                       "cannot write to the database: the file or its file system is read-only");
    return DB_OK;
}

/* Is it SQLite's format at all, or of a known other owner? Read through SQLite's own descriptor:
 * closing another one of this file would drop the locks that this process holds on it. */
static int check_header(struct db *db, enum db_mode mode)
{
    unsigned char header[100];
    sqlite3_file *file = NULL;
    off_t size = 0; /* not xFileSize: it calls a file of one byte empty */
    int code = sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "open the database");
    if (!db_file_size(db->path, "", &size) || size == 0) {
        if (mode == DB_CREATE)
            return DB_OK;
        return db_fail(db, DB_ERROR_NOT_SQLITE, "is empty, not a database of simtfuzz");
    }
    memset(header, 0, sizeof header);
    code = file->pMethods->xRead(file, header, sizeof header, 0);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
        return db_fail_sqlite(db, code, "open the database");
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return db_fail(db, DB_ERROR_NOT_SQLITE, "is not a database of simtfuzz (nor of SQLite)");
    if (code == SQLITE_IOERR_SHORT_READ)
        return db_fail(db, DB_ERROR_CORRUPT, "the database is damaged (cut off in its header)");
    return DB_OK;
}

static int count_objects(sqlite3 *sqlite, int *count)
{
    sqlite3_stmt *statement;
    int code =
        sqlite3_prepare_v2(sqlite, "SELECT count(*) FROM sqlite_schema", -1, &statement, NULL);
    if (code != SQLITE_OK)
        return code;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *count = sqlite3_column_int(statement, 0);
    return sqlite3_finalize(statement);
}

struct identity {
    int application_id;
    int version;
    int objects; /* tables, indices, views */
};

static int read_identity(sqlite3 *sqlite, struct identity *identity)
{
    /* One transaction: another process may be creating the schema right now. */
    int code = sqlite3_exec(sqlite, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = count_objects(sqlite, &identity->objects);
    if (code == SQLITE_OK)
        code = schema_read_pragma(sqlite, "application_id", &identity->application_id);
    if (code == SQLITE_OK)
        code = schema_read_pragma(sqlite, "user_version", &identity->version);
    if (!sqlite3_get_autocommit(sqlite))
        sqlite3_exec(sqlite, "COMMIT", NULL, NULL, NULL);
    return code;
}

/* A file in WAL mode wants to write its -shm even to read. On a read-only file system that fails;
 * when nothing is left in a -wal, the file can be read as one that nobody changes. */
static int reopen_immutable(struct db *db)
{
    off_t wal_size = 0;
    if (db_file_size(db->path, "-wal", &wal_size) && wal_size > 0)
        return db_fail(db, DB_ERROR_READONLY,
                       "cannot read the database: its last writes are in %s-wal, and the folder "
                       "or file system is read-only",
                       db->path);
    sqlite3_close(db->sqlite);
    db->sqlite = NULL;
    db->immutable = true;
    return open_file(db, DB_READONLY, "?immutable=1");
}

static int identify(struct db *db, enum db_mode mode, struct identity *identity)
{
    int code = read_identity(db->sqlite, identity);
    bool denied = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
    if (mode == DB_READONLY && denied) {
        int error = reopen_immutable(db);
        if (error)
            return error;
        code = read_identity(db->sqlite, identity);
    }
    if (code != SQLITE_OK && mode != DB_READONLY && (code & 0xff) == SQLITE_CANTOPEN)
        return db_fail(db, DB_ERROR_READONLY,
                       "cannot write to the database: its folder is read-only");
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(db, code, "open the database");
}

/* In its header: a log of writes belongs to the file. */
static bool was_in_wal(struct db *db)
{
    unsigned char versions[2] = {0};
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
        return false;
    return file->pMethods->xRead(file, versions, sizeof versions, 18) == SQLITE_OK &&
           versions[0] == 2 && versions[1] == 2;
}

static int judge(struct db *db, enum db_mode mode, const struct identity *identity)
{
    bool blank = identity->application_id == 0 && identity->version == 0 && identity->objects == 0;
    if (blank && mode == DB_CREATE)
        return DB_OK;
    if (blank && was_in_wal(db))
        return db_fail(db, DB_ERROR_FOREIGN,
                       "holds nothing: it was never closed, and what was written is in %s-wal, "
                       "which is not there; put both files side by side",
                       db->path);
    if (identity->application_id != db_schema.application_id || identity->version < 1)
        return db_fail(db, DB_ERROR_FOREIGN,
                       "is an SQLite database of another program, not of simtfuzz");
    if (identity->version > db_schema.version)
        return db_fail(db, DB_ERROR_NEWER,
                       "was written by a newer simtfuzz (schema version %d, this one knows %d)",
                       identity->version, db_schema.version);
    if (identity->version < db_schema.version && mode == DB_READONLY)
        return db_fail(db, DB_ERROR_OLDER,
                       "was written by an older simtfuzz (schema version %d, this one needs %d); "
                       "`simtfuzz db migrate %s` brings it up to date",
                       identity->version, db_schema.version, db->path);
    return DB_OK;
}

/* Pages of 8 KiB hold kernels and examples with less waste than SQLite's 4 KiB, in trees that are less deep: large
 * databases are smaller, and a tenth faster to write. Larger ones would be better still for a merge, but what a
 * campaign writes each second grows with them. A file keeps the size that it was made with.
 *
 * WAL is a property of the file. Two processes that create it at once: SQLite does not wait for the
 * lock that this needs, so we do. */
static int switch_to_wal(struct db *db)
{
    uint64_t start = now_ms();
    int code;
    while ((code = sqlite3_exec(db->sqlite, "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL",
                                NULL, NULL, NULL)) &&
           (code & 0xff) == SQLITE_BUSY && now_ms() - start < db->wait_ms)
        pause_a_little();
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(db, code, "create the database");
}

/* What was written goes to the file itself, so that a copy of it alone is a database. When somebody else is at work, it
 * happens later. */
static void checkpoint(struct db *db)
{
    sqlite3_wal_checkpoint_v2(db->sqlite, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static int upgrade(struct db *db, int version)
{
    if (version == db_schema.version)
        return DB_OK;
    if (version == 0) {
        int error = switch_to_wal(db);
        if (error)
            return error;
    }
    int code = schema_upgrade(db->sqlite, &db_schema);
    db->checkpoint = code == SQLITE_OK;
    if (code == SQLITE_OK)
        checkpoint(db);
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(db, code, "create or migrate the database");
}

static int prepare_for_use(struct db *db, enum db_mode mode, const struct identity *identity)
{
    char pragmas[256];
    /* FULL, not NORMAL: a batch a second costs one sync, and what is committed survives a power cut. */
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = %d; PRAGMA cache_size = -%d;",
             WAL_KEPT_BYTES, CACHE_KIB);
    int code = sqlite3_exec(db->sqlite, pragmas, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return db_fail_sqlite(db, code, "open the database");
    int error = upgrade(db, identity->version);
    if (error)
        return error;
    /* After the upgrade: a step that rebuilds a table needs them off. */
    code = sqlite3_exec(db->sqlite, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    if (code == SQLITE_OK && mode != DB_READONLY)
        code = sqlite3_exec(db->sqlite, db_derive_tables, NULL, NULL, NULL);
    return code == SQLITE_OK ? DB_OK : db_fail_sqlite(db, code, "open the database");
}

static int open_steps(struct db *db, enum db_mode mode)
{
    struct identity identity = {0};
    int error = check_path(db, mode);
    bool left_open = db_left_open(db->path);
    if (!error)
        error = open_file(db, mode, "");
    if (!error)
        error = check_header(db, mode);
    if (!error)
        error = identify(db, mode, &identity);
    if (!error)
        error = judge(db, mode, &identity);
    if (!error)
        error = db_check_at_open(db, mode, left_open);
    if (!error)
        error = prepare_for_use(db, mode, &identity);
    return error;
}

int db_open(const char *path, enum db_mode mode, struct db_message *message, struct db **db)
{
    return db_open_waiting(path, mode, LOCK_WAIT_MS, message, db);
}

int db_open_waiting(const char *path, enum db_mode mode, uint32_t wait_ms,
                    struct db_message *message, struct db **db)
{
    *db = NULL;
    struct db *opened = calloc(1, sizeof *opened);
    char *name = strdup(path);
    if (!opened || !name) {
        free(opened);
        free(name);
        snprintf(message->text, DB_MESSAGE_MAX, "%s: cannot open the database: out of memory",
                 path);
        return DB_ERROR_MEMORY;
    }
    opened->path = name;
    opened->message = message;
    opened->wait_ms = wait_ms;
    int error = open_steps(opened, mode);
    if (error) {
        db_close(opened);
        return error;
    }
    *db = opened;
    return DB_OK;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    db_rollback(db);
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(db->cache[i]);
    sqlite3_close(db->sqlite);
    free(db->path);
    free(db);
}

int db_begin(struct db *db)
{
    if (db->batch)
        return db_fail(db, DB_ERROR_RANGE, "a batch is open already");
    int error = db_write(db, STATEMENT_BEGIN, NULL, 0);
    if (!error) {
        db->batch = true;
        db->batch_error = DB_OK;
    }
    return error;
}

/* What is written to a file that has been deleted or moved is lost, or goes where nobody expects it:
 * by its name nobody finds it. */
static int check_place(struct db *db)
{
    int moved = 0;
    int code = sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (code == SQLITE_OK && moved)
        return db_fail(db, DB_ERROR_ACCESS, "the file was deleted or moved while it was in use");
    return DB_OK;
}

int db_commit(struct db *db)
{
    if (!db->batch)
        return db_fail(db, DB_ERROR_RANGE, "no batch is open");
    int error = check_place(db);
    if (!error)
        error = db_derive(db);
    if (!error)
        error = db_write(db, STATEMENT_COMMIT, NULL, 0);
    if (!error)
        db->batch = false;
    if (!error && db->checkpoint) {
        db->checkpoint = false;
        checkpoint(db);
    }
    return error;
}

void db_rollback(struct db *db)
{
    db->batch = db->dirty = false;
    db->batch_error = DB_OK;
    /* Fails only when SQLite rolled back before, which is what we want. */
    if (db->sqlite && !sqlite3_get_autocommit(db->sqlite))
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

int db_group_begin(struct db *db, bool *own)
{
    *own = !db->batch;
    return *own ? db_begin(db) : DB_OK;
}

int db_group_end(struct db *db, bool own, int error)
{
    if (!own) {
        if (error && !db->batch_error)
            db->batch_error = error;
        return error;
    }
    if (!error)
        error = db_commit(db);
    if (error)
        db_rollback(db);
    return error;
}

/* link() fails where the name is taken, so nothing is ever overwritten; a file system without hard
 * links (EPERM) gets a check and a rename. */
static int move_file(const char *from, const char *to)
{
    if (link(from, to) == 0)
        return unlink(from);
    if (errno != EPERM && errno != ENOTSUP)
        return -1;
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/* The -wal must follow its database under the new name, or what it holds is lost. */
static int move_companion(const char *path, const char *moved, const char *suffix)
{
    char *from = malloc(strlen(path) + strlen(suffix) + 1);
    char *to = malloc(strlen(moved) + strlen(suffix) + 1);
    int result = -1;
    if (from && to) {
        strcpy(stpcpy(from, path), suffix);
        strcpy(stpcpy(to, moved), suffix);
        result = access(from, F_OK) == 0 ? move_file(from, to) : 0;
    }
    free(from);
    free(to);
    return result;
}

int db_quarantine(const char *path, char *moved, size_t moved_size, struct db_message *message)
{
    int result = -1;
    errno = 0;
    for (int n = 1; n <= QUARANTINE_TRIES; n++) {
        int length = snprintf(moved, moved_size, "%s.damaged-%d", path, n);
        if (length < 0 || (size_t)length >= moved_size) {
            errno = ENAMETOOLONG;
            break;
        }
        result = move_file(path, moved);
        if (result == 0 || errno != EEXIST)
            break;
    }
    if (result == 0)
        result = move_companion(path, moved, "-wal");
    if (result == 0)
        result = move_companion(path, moved, "-shm");
    if (result == 0)
        return DB_OK;
    int error = errno;
    snprintf(message->text, DB_MESSAGE_MAX, "%s: cannot move the damaged database aside: %s", path,
             strerror(error));
    return error == ENOENT                     ? DB_ERROR_ABSENT
           : error == EROFS || error == EACCES ? DB_ERROR_READONLY
                                               : DB_ERROR_IO;
}
