/* Databases that are absent, foreign, damaged, too new, read-only, full or locked. */
#include "db/internal.h"
#include "db/schema.h"
#include "tests/unit/db/db_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int try_open(struct fixture *f, enum db_mode mode)
{
    db_close(f->db);
    f->db = NULL;
    int error = db_open(f->path, mode, &f->message, &f->db);
    assert_true((error == 0) == (f->db != NULL));
    return error;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Whole content of a file, to see that it was left alone. */
static size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

/* Runs SQL with a connection of its own, as another program would. */
static void run_sql(const char *path, const char *sql)
{
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
    sqlite3_close(sqlite);
}

static uint64_t count_findings(struct fixture *f)
{
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(f->db->sqlite, "SELECT count(*) FROM findings", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    uint64_t count = db_column_integer(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static int put_finding(struct fixture *f, const char *signature)
{
    struct db_finding finding = a_finding(signature);
    struct db_upserted result;
    return db_see(f->db, &finding, &f->shard, 1, &result);
}

static void absent(void **state)
{
    struct fixture *f = *state;
    assert_db_error(f, try_open(f, DB_READWRITE), DB_ERROR_ABSENT, "no such database");
    assert_db_error(f, try_open(f, DB_READONLY), DB_ERROR_ABSENT, "no such database");
    assert_int_equal(access(f->path, F_OK), -1); /* asking does not create it */
    snprintf(f->path, sizeof f->path, "%s/no/a.db", f->folder);
    assert_db_error(f, try_open(f, DB_CREATE), DB_ERROR_ACCESS, "No such file or directory");
    snprintf(f->path, sizeof f->path, "%s", f->folder);
    assert_db_error(f, try_open(f, DB_CREATE), DB_ERROR_ACCESS, "is a folder");
    f->path[0] = '\0';
    assert_db_error(f, try_open(f, DB_CREATE), DB_ERROR_ABSENT, "name is empty");
    strcpy(f->path, "/dev/null");
    assert_db_error(f, try_open(f, DB_CREATE), DB_ERROR_ACCESS, "not a regular file");
}

static void odd_names(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {":memory:", "a?mode=memory", "a#b%41", "file:x", "ü &"};
    char before[256];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        strcpy(f->path, names[i]);
        int error = try_open(f, DB_CREATE);
        if (error || access(f->path, F_OK) != 0)
            fail_msg("%s: %s", names[i], f->message.text);
    }
    assert_int_equal(chdir(before), 0);
    snprintf(f->path, sizeof f->path, "/%s//b.db", f->folder); /* slashes that repeat */
    assert_db_ok(f, try_open(f, DB_CREATE));
}

static void empty_file_becomes_one(void **state)
{
    struct fixture *f = *state;
    write_file(f->path, "", 0);
    assert_db_error(f, try_open(f, DB_READWRITE), DB_ERROR_NOT_SQLITE, "is empty");
    assert_db_error(f, try_open(f, DB_READONLY), DB_ERROR_NOT_SQLITE, "is empty");
    fixture_open_campaign(f);
    assert_db_ok(f, try_open(f, DB_READONLY));
}

static void other_content(void **state)
{
    struct fixture *f = *state;
    char after[200];
    static const char *const contents[] = {
        "x",
        "kernel k() { }\n",
        ("SQLite format 4 is not the name of a format that there is, but close enough to try it, "
         "even if this text goes on for more than a hundred bytes."),
    };
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        write_file(f->path, contents[i], strlen(contents[i]));
        for (int mode = DB_CREATE; mode <= DB_READONLY; mode++)
            assert_db_error(f, try_open(f, (enum db_mode)mode), DB_ERROR_NOT_SQLITE,
                            "not a database of simtfuzz");
        assert_int_equal(read_file(f->path, after, sizeof after), strlen(contents[i]));
        assert_memory_equal(after, contents[i], strlen(contents[i]));
    }
}

static void foreign_database(void **state)
{
    struct fixture *f = *state;
    run_sql(f->path, "CREATE TABLE bookmarks (url TEXT)");
    for (int mode = DB_CREATE; mode <= DB_READONLY; mode++)
        assert_db_error(f, try_open(f, (enum db_mode)mode), DB_ERROR_FOREIGN, "another program");
    run_sql(f->path, "DROP TABLE bookmarks; PRAGMA application_id = 1234");
    assert_db_error(f, try_open(f, DB_CREATE), DB_ERROR_FOREIGN, "another program");
    /* Somebody's version number in a file without tables is theirs, too. */
    run_sql(f->path, "PRAGMA application_id = 0; PRAGMA user_version = 3");
    assert_db_error(f, try_open(f, DB_CREATE), DB_ERROR_FOREIGN, "another program");
    run_sql(f->path, "PRAGMA user_version = 0");
    assert_db_ok(f, try_open(f, DB_CREATE));
}

static void newer_version(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    assert_db_ok(f, try_open(f, DB_READWRITE));
    db_close(f->db);
    f->db = NULL;
    run_sql(f->path, "PRAGMA user_version = 999");
    for (int mode = DB_CREATE; mode <= DB_READONLY; mode++)
        assert_db_error(f, try_open(f, (enum db_mode)mode), DB_ERROR_NEWER, "version 999");
}

/* ---- migration */

static const char *const step_1[] = {"CREATE TABLE a (x INTEGER) STRICT",
                                     "INSERT INTO a VALUES (1)", NULL};
static const char *const step_2[] = {"ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT 'old'",
                                     NULL};
static const char *const step_3[] = {"CREATE TABLE b (z INTEGER) STRICT",
                                     "INSERT INTO a VALUES (2, 'new')", NULL};
static const char *const step_bad[] = {"DELETE FROM a", "CREATE TABLE a (again)", NULL};

static void check_scalar(sqlite3 *sqlite, const char *sql, int expected)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), expected);
    sqlite3_finalize(statement);
}

static void migration_runs_the_missing_steps(void **state)
{
    (void)state;
    static const char *const *const all[] = {step_1, step_2, step_3};
    static const char *const *const broken[] = {step_1, step_2, step_bad};
    struct schema schema = {.application_id = 7, .version = 1, .steps = all};
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    assert_int_equal(schema_upgrade(sqlite, &schema), SQLITE_OK);
    check_scalar(sqlite, "PRAGMA user_version", 1);

    schema.version = 3;
    schema.steps = broken;
    assert_int_not_equal(schema_upgrade(sqlite, &schema), SQLITE_OK);
    check_scalar(sqlite, "PRAGMA user_version", 1); /* as it was, also what step 2 did */
    check_scalar(sqlite, "SELECT count(*) FROM a", 1);
    check_scalar(sqlite, "SELECT count(*) FROM pragma_table_info('a')", 1);

    schema.steps = all;
    assert_int_equal(schema_upgrade(sqlite, &schema), SQLITE_OK);
    check_scalar(sqlite, "PRAGMA user_version", 3);
    check_scalar(sqlite, "PRAGMA application_id", 7);
    check_scalar(sqlite, "SELECT count(*) FROM a WHERE y IN ('old', 'new')", 2);
    assert_int_equal(schema_upgrade(sqlite, &schema), SQLITE_OK); /* nothing to do */
    check_scalar(sqlite, "SELECT count(*) FROM a", 2);
    sqlite3_close(sqlite);
}

/* ---- damage */

static void fill(struct fixture *f, int findings)
{
    char signature[32];
    fixture_open_campaign(f);
    assert_db_ok(f, db_begin(f->db));
    for (int i = 0; i < findings; i++) {
        snprintf(signature, sizeof signature, "signature %d", i);
        assert_db_ok(f, put_finding(f, signature));
    }
    assert_db_ok(f, db_commit(f->db));
    db_close(f->db);
    f->db = NULL;
}

static void cut_off(void **state)
{
    struct fixture *f = *state;
    fill(f, 500);
    struct stat status;
    assert_int_equal(stat(f->path, &status), 0);
    assert_int_equal(truncate(f->path, status.st_size / 2), 0);
    for (int mode = DB_CREATE; mode <= DB_READONLY; mode++)
        assert_db_error(f, try_open(f, (enum db_mode)mode), DB_ERROR_CORRUPT, "damaged");
    assert_int_equal(truncate(f->path, 60), 0);
    assert_db_error(f, try_open(f, DB_READWRITE), DB_ERROR_CORRUPT, "damaged");
    assert_int_equal(truncate(f->path, 100), 0);
    assert_db_error(f, try_open(f, DB_READWRITE), DB_ERROR_CORRUPT, "damaged");
}

enum { PAGE_BYTES = 8192 };

static uint64_t number_of(struct fixture *f, const char *sql)
{
    sqlite3 *sqlite;
    sqlite3_stmt *row;
    assert_int_equal(sqlite3_open_v2(f->path, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    uint64_t number = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(sqlite);
    return number;
}

static void overwritten_page(void **state)
{
    struct fixture *f = *state;
    fill(f, 500);
    struct stat status;
    assert_int_equal(stat(f->path, &status), 0);
    char garbage[PAGE_BYTES];
    memset(garbage, 0x5a, sizeof garbage);
    int refused = 0;
    for (off_t page = 1; page < status.st_size / PAGE_BYTES; page++) {
        char saved[PAGE_BYTES];
        int file = open(f->path, O_RDWR);
        assert_int_equal(pread(file, saved, PAGE_BYTES, page * PAGE_BYTES), PAGE_BYTES);
        assert_int_equal(pwrite(file, garbage, PAGE_BYTES, page * PAGE_BYTES), PAGE_BYTES);
        close(file);
        int error = try_open(f, DB_READONLY);
        assert_true(error == DB_OK || error == DB_ERROR_CORRUPT); /* OK: an unused page */
        refused += error == DB_ERROR_CORRUPT;
        db_close(f->db);
        f->db = NULL;
        file = open(f->path, O_RDWR);
        assert_int_equal(pwrite(file, saved, PAGE_BYTES, page * PAGE_BYTES), PAGE_BYTES);
        close(file);
    }
    assert_db_ok(f, try_open(f, DB_READWRITE));
    off_t unused = (off_t)number_of(f, "SELECT freelist_count FROM pragma_freelist_count");
    assert_true(refused >= status.st_size / PAGE_BYTES - 1 - unused);
    assert_int_equal(count_findings(f), 500);
}

/* A database of more than 32 MiB, of which opening does not read everything. */
static void fill_large(struct fixture *f)
{
    enum { KERNELS = 36, KERNEL_BYTES = 1 << 20 };
    char hash[DB_HASH_LENGTH + 1], *text = malloc(KERNEL_BYTES + 1);
    unlink(f->path);
    fill(f, 500);
    fixture_open(f, DB_READWRITE);
    memset(text, 'k', KERNEL_BYTES);
    text[KERNEL_BYTES] = '\0';
    assert_db_ok(f, db_begin(f->db));
    for (int i = 0; i < KERNELS; i++) {
        snprintf(hash, sizeof hash, "%032d", i);
        assert_db_ok(f, db_kernel_put(f->db, hash, text));
    }
    assert_db_ok(f, db_commit(f->db));
    assert_db_ok(f, db_check(f->db));
    db_close(f->db);
    f->db = NULL;
    free(text);
}

static void overwrite_page(struct fixture *f, uint64_t page)
{
    char garbage[PAGE_BYTES];
    memset(garbage, 0x5a, sizeof garbage);
    int file = open(f->path, O_RDWR);
    assert_int_equal(pwrite(file, garbage, PAGE_BYTES, (off_t)((page - 1) * PAGE_BYTES)),
                     PAGE_BYTES);
    close(file);
}

/* Its end is missing, a table's first page is garbage: opening says so, in every mode. */
static void large_and_cut_off(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    fill_large(f);
    assert_int_equal(stat(f->path, &status), 0);
    assert_true(status.st_size > 36 << 20);
    assert_int_equal(truncate(f->path, status.st_size - PAGE_BYTES), 0);
    for (int mode = DB_CREATE; mode <= DB_READONLY; mode++)
        assert_db_error(f, try_open(f, (enum db_mode)mode), DB_ERROR_CORRUPT, "damaged");
    fill_large(f);
    overwrite_page(f, number_of(f, "SELECT rootpage FROM sqlite_schema WHERE name = 'examples'"));
    for (int mode = DB_CREATE; mode <= DB_READONLY; mode++)
        assert_db_error(f, try_open(f, (enum db_mode)mode), DB_ERROR_CORRUPT, "damaged");
}

static bool count_one(void *context, const struct db_finding *finding)
{
    (void)finding;
    ++*(uint64_t *)context;
    return true;
}

/* Damage further down: found by the query that meets it, by the full check, and by whoever opens it for
 * writing after an end that was not clean. */
static void large_and_damaged(void **state)
{
    struct fixture *f = *state;
    struct db *other;
    char log[128];
    uint64_t count = 0;
    fill_large(f);
    /* a leaf of findings, not its first */
    overwrite_page(f, number_of(f, "SELECT max(pageno) FROM dbstat WHERE name = 'findings'"
                                   " AND pagetype = 'leaf'"));
    fixture_open(f, DB_READWRITE);
    assert_db_error(f, db_check(f->db), DB_ERROR_CORRUPT, "damaged");
    assert_db_error(f, db_findings(f->db, DB_ANY_STATUS, count_one, &count), DB_ERROR_CORRUPT,
                    "damaged");
    assert_true(count > 0);
    assert_db_ok(f, db_suppress(f->db, "elsewhere", "", 0));
    snprintf(log, sizeof log, "%s-wal", f->path);
    assert_int_equal(access(log, F_OK), 0);
    f->message.text[0] = '\0';
    assert_int_equal(db_open(f->path, DB_READWRITE, &f->message, &other), DB_ERROR_CORRUPT);
    assert_non_null(strstr(f->message.text, "damaged"));
}

static void references_are_checked(void **state)
{
    struct fixture *f = *state;
    fill(f, 3);
    fixture_open(f, DB_READWRITE);
    assert_db_ok(f, db_check(f->db));
    assert_int_equal(sqlite3_exec(f->db->sqlite, "PRAGMA foreign_keys = OFF; DELETE FROM raw_keys",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_db_error(f, db_check(f->db), DB_ERROR_CORRUPT, "that is not there");
}

static void quarantine(void **state)
{
    struct fixture *f = *state;
    char moved[128], expected[128], wal[128], bytes[16];
    for (int n = 1; n <= 2; n++) {
        fill(f, 10);
        snprintf(wal, sizeof wal, "%s-wal", f->path);
        write_file(wal, "its wal", 7);
        assert_db_ok(f, db_quarantine(f->path, moved, sizeof moved, &f->message));
        snprintf(expected, sizeof expected, "%s.damaged-%d", f->path, n);
        assert_string_equal(moved, expected);
        assert_int_equal(access(moved, F_OK), 0);
        assert_int_equal(access(f->path, F_OK), -1);
        assert_int_equal(access(wal, F_OK), -1);
        snprintf(wal, sizeof wal, "%s.damaged-%d-wal", f->path, n);
        assert_int_equal(read_file(wal, bytes, sizeof bytes), 7);
    }
    assert_db_error(f, db_quarantine(f->path, moved, sizeof moved, &f->message), DB_ERROR_ABSENT,
                    "cannot move");
    assert_db_error(f, db_quarantine(f->path, moved, 5, &f->message), DB_ERROR_IO, "too long");
}

/* ---- read-only and full. In a child, without root's right to write everything. */

typedef int child_body(struct fixture *f);

static int run_as_nobody(struct fixture *f, child_body *body)
{
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(100);
        _exit(body(f));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Returns 0, or the number of the first expectation that was not met. */
static int use_read_only(struct fixture *f)
{
    if (db_open(f->path, DB_READWRITE, &f->message, &f->db) != DB_ERROR_READONLY)
        return 1;
    if (!strstr(f->message.text, f->path) || !strstr(f->message.text, "read-only"))
        return 2;
    if (db_open(f->path, DB_CREATE, &f->message, &f->db) != DB_ERROR_READONLY)
        return 3;
    if (db_open(f->path, DB_READONLY, &f->message, &f->db) != DB_OK)
        return 4;
    uint64_t id;
    if (db_finding_resolve(f->db, "signature 3", &id) != DB_OK || id != 4)
        return 5;
    if (db_finding_note_set(f->db, id, "x") != DB_ERROR_READONLY)
        return 6;
    if (db_begin(f->db) != DB_OK || db_suppress(f->db, "s", "", 0) != DB_ERROR_READONLY ||
        db_commit(f->db) != DB_ERROR_READONLY)
        return 7;
    db_close(f->db);
    return 0;
}

static void read_only_file_and_folder(void **state)
{
    struct fixture *f = *state;
    fill(f, 4);
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(chmod(f->folder, 0555), 0);
    int folder = run_as_nobody(f, use_read_only);
    assert_int_equal(chmod(f->folder, 0777), 0);
    int file = run_as_nobody(f, use_read_only);
    assert_int_equal(folder, 0);
    assert_int_equal(file, 0);
}

static int use_read_only_folder(struct fixture *f)
{
    int error = db_open(f->path, DB_READWRITE, &f->message, &f->db);
    if (error != DB_ERROR_READONLY || !strstr(f->message.text, "read-only"))
        return 1;
    return db_open(f->path, DB_READONLY, &f->message, &f->db) == DB_OK ? 0 : 2;
}

static void read_only_folder(void **state)
{
    struct fixture *f = *state;
    fill(f, 4);
    assert_int_equal(chmod(f->path, 0666), 0);
    assert_int_equal(chmod(f->folder, 0555), 0);
    int result = run_as_nobody(f, use_read_only_folder);
    assert_int_equal(chmod(f->folder, 0777), 0);
    assert_int_equal(result, 0);
}

static int open_unreadable(struct fixture *f)
{
    int error = db_open(f->path, DB_READONLY, &f->message, &f->db);
    if (error != DB_ERROR_ACCESS || !strstr(f->message.text, "Permission denied"))
        return 1;
    snprintf(f->path, sizeof f->path, "%s/new.db", f->folder);
    error = db_open(f->path, DB_CREATE, &f->message, &f->db);
    return error == DB_ERROR_ACCESS && strstr(f->message.text, "Permission denied") ? 0 : 2;
}

static void no_permission(void **state)
{
    struct fixture *f = *state;
    fill(f, 1);
    assert_int_equal(chmod(f->path, 0000), 0);
    assert_int_equal(chmod(f->folder, 0555), 0);
    int result = run_as_nobody(f, open_unreadable);
    assert_int_equal(chmod(f->folder, 0777), 0);
    assert_int_equal(result, 0);
}

static void limited_pages(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    assert_db_ok(f, put_finding(f, "kept"));
    assert_int_equal(sqlite3_exec(f->db->sqlite, "PRAGMA max_page_count = 60", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_db_ok(f, db_begin(f->db));
    int error = DB_OK;
    char signature[32];
    for (int i = 0; i < 10000 && !error; i++) {
        snprintf(signature, sizeof signature, "signature %d", i);
        error = put_finding(f, signature);
    }
    assert_int_equal(error, DB_ERROR_FULL);
    assert_non_null(strstr(f->message.text, "disk is full"));
    assert_db_error(f, put_finding(f, "small"), DB_ERROR_FULL, "must be rolled back");
    assert_db_error(f, db_commit(f->db), DB_ERROR_FULL, "must be rolled back");
    db_rollback(f->db);
    assert_int_equal(count_findings(f), 1);
    assert_db_ok(f, put_finding(f, "small")); /* space again: goes on */
    assert_db_ok(f, try_open(f, DB_READONLY));
    assert_int_equal(count_findings(f), 2);
}

enum { NO_MOUNT = 101, PRIVATE_MOUNTS = 0x00020000 /* CLONE_NEWNS */ };

/* Fills the file system but for `spare` bytes. */
static int fill_disk(struct fixture *f, long spare)
{
    char path[128], bytes[1024] = {0};
    snprintf(path, sizeof path, "%s/ballast", f->folder);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    off_t size = 0;
    ssize_t wrote;
    while ((wrote = write(file, bytes, sizeof bytes)) > 0)
        size += wrote;
    int result = ftruncate(file, size - spare);
    close(file);
    return result;
}

static int use_full_disk(struct fixture *f)
{
    if (syscall(SYS_unshare, PRIVATE_MOUNTS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", f->folder, "tmpfs", 0, "size=4m") != 0)
        return NO_MOUNT;
    char ballast[128], signature[32];
    snprintf(ballast, sizeof ballast, "%s/ballast", f->folder);
    if (fill_disk(f, 8192))
        return 1;
    if (db_open(f->path, DB_CREATE, &f->message, &f->db) != DB_ERROR_FULL)
        return 2;
    if (!strstr(f->message.text, f->path) || !strstr(f->message.text, "full"))
        return 3;
    unlink(ballast);
    fixture_open_campaign(f); /* what the failure left behind is usable */
    if (put_finding(f, "kept") != DB_OK)
        return 4;
    int error = db_begin(f->db);
    for (int i = 0; i < 10000 && !error; i++) {
        snprintf(signature, sizeof signature, "signature %d", i);
        error = put_finding(f, signature);
    }
    /* What the cache holds is written at the commit: the disk may turn out to be full as late as then. */
    if ((error != DB_OK && error != DB_ERROR_FULL) || db_commit(f->db) != DB_ERROR_FULL)
        return 5;
    db_rollback(f->db);
    if (count_findings(f) != 1)
        return 6;
    db_close(f->db);
    f->db = NULL;
    if (db_open(f->path, DB_READWRITE, &f->message, &f->db) != DB_OK || count_findings(f) != 1)
        return 7;
    return put_finding(f, "after") == DB_OK ? 0 : 8;
}

static void full_disk(void **state)
{
    struct fixture *f = *state;
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        _exit(use_full_disk(f));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_MOUNT) {
        print_message("full_disk: not allowed to mount a file system; limited_pages stands in\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- locks */

static void locked_by_a_writer(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    struct db *other;
    struct db_message message;
    assert_db_ok(f, db_open(f->path, DB_READWRITE, &message, &other));
    assert_int_equal(db_begin(other), DB_OK);
    assert_int_equal(db_kernel_put(other, "00000000000000000000000000000000", "k"), DB_OK);
    db_lock_wait(f->db, 30);
    assert_db_error(f, put_finding(f, "s"), DB_ERROR_LOCKED, "locked the database (waited 0.0 s)");
    assert_int_equal(count_findings(f), 0); /* reading goes on */
    assert_int_equal(db_commit(other), DB_OK);
    assert_db_ok(f, put_finding(f, "s"));
    db_close(other);
}

static void locked_exclusively(void **state)
{
    struct fixture *f = *state;
    fill(f, 3);
    /* A program that holds the whole file: not even readers get in. */
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(f->path, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite,
                                  "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE;"
                                  "UPDATE findings SET note = 'mine'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct db *db;
        int error = db_open_waiting(f->path, DB_READONLY, 20, &f->message, &db);
        _exit(error == DB_ERROR_LOCKED && strstr(f->message.text, f->path) ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    sqlite3_close(sqlite);
    assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(absent),
        TEST(odd_names),
        TEST(empty_file_becomes_one),
        TEST(other_content),
        TEST(foreign_database),
        TEST(newer_version),
        TEST(migration_runs_the_missing_steps),
        TEST(cut_off),
        TEST(overwritten_page),
        TEST(large_and_cut_off),
        TEST(large_and_damaged),
        TEST(references_are_checked),
        TEST(quarantine),
        TEST(read_only_file_and_folder),
        TEST(read_only_folder),
        TEST(no_permission),
        TEST(limited_pages),
        TEST(full_disk),
        TEST(locked_by_a_writer),
        TEST(locked_exclusively),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
