/*
 * Merging databases is commutative, associative and idempotent; shards add up to what one run has; a merge
 * that fails or is killed leaves the output as it was.
 */
#include "db/internal.h"
#include "engine/base/pcg.h"
#include "tests/unit/db/db_fixture.h"
#include "tests/unit/shared/many.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

enum {
    ROUNDS = 12,
    CASES = 40, /* of a campaign */
    CHUNK = 4,  /* of consecutive cases */
    HUNTS = 3,
    KEYS = 3,
    SIGNATURES = 5,
    KILLS = 25,
};

static struct pcg random_source;

static uint32_t below(uint32_t bound)
{
    return pcg_below(&random_source, bound);
}

/* ---- a world in which each case of each hunt shows what it shows */

static uint32_t fate(uint64_t hunt, uint64_t case_number, uint32_t what, uint32_t bound)
{
    return (uint32_t)(pcg_splitmix(hunt * 1000003 + case_number * 101 + what) % bound);
}

/* Files the case of a raw key under a finding that depends on both. */
static int put_example(struct db *db, const struct db_shard *shard, uint64_t hunt, uint64_t number,
                       const char *key)
{
    char signature[32], hash[DB_HASH_LENGTH + 1], text[48];
    struct db_upserted result;
    snprintf(signature, sizeof signature, "finding %u", fate(hunt, number, 2, SIGNATURES));
    snprintf(hash, sizeof hash, "%016u%016u", (unsigned)hunt, (unsigned)number);
    snprintf(text, sizeof text, "hunt %u case %u", (unsigned)hunt, (unsigned)number);
    struct db_finding finding = a_finding(signature);
    finding.raw_kernel = finding.minimised.kernel = hash;
    finding.raw_case = text;
    finding.reference = fate(hunt, number, 3, 4) == 0 ? "A-1" : "";
    finding.minimisation = DB_MINIMISATION_DONE;
    finding.minimised.statements = 2 + fate(hunt, number, 4, 5);
    finding.signature_version = 2;
    struct db_occurrence occurrence = {.campaign = shard->campaign,
                                       .case_number = number,
                                       .raw_key = key,
                                       .tapes = "0 1",
                                       .replayed = true};
    int error = db_kernel_put(db, hash, text);
    return error ? error : db_example_put(db, &finding, &occurrence, &result);
}

static int run_case(struct db *db, const struct db_shard *shard, uint64_t hunt, uint64_t number,
                    uint32_t seen[KEYS])
{
    char key[16], oracle[16];
    uint32_t which = fate(hunt, number, 1, KEYS + 2);
    snprintf(oracle, sizeof oracle, "oracle %u", fate(hunt, number, 5, 3));
    struct db_verdict verdict = {oracle, which < KEYS ? "diverge" : "agree", 1};
    struct db_statistics statistics = {.number = number / (2 * CHUNK),
                                       .end_case = (number / (2 * CHUNK) + 1) * 2 * CHUNK,
                                       .counts = {.cases = 1, .kernels = 1, .thread_steps = 9}};
    int error = db_rule_hits_add(db, shard, oracle, 1 + fate(hunt, number, 6, 9));
    if (!error)
        error = db_verdicts_add(db, shard, &verdict);
    if (!error)
        error = db_reasons_add(db, shard, &verdict, "because");
    const struct db_outside outside = {oracle, "1.0", verdict.verdict, fate(hunt, number, 7, 4)};
    if (!error)
        error = db_outside_add(db, shard, &outside);
    if (!error)
        error = db_statistics_add(db, shard, &statistics, &verdict, 1);
    if (error || which >= KEYS)
        return error;
    snprintf(key, sizeof key, "key %u", which);
    struct db_tally tally = {1, number, number};
    if (seen[which]++ < DB_EXAMPLES_PER_KEY)
        error = put_example(db, shard, hunt, number, key);
    return error ? error : db_tally_add(db, shard, key, &tally);
}

/* The first `cases` cases of a shard, as a campaign would store them. */
static void run_shard(struct fixture *f, uint64_t hunt, uint64_t index, uint64_t count,
                      uint64_t cases)
{
    struct db_campaign campaign = {.seed = hunt,
                                   .cases_target = CASES,
                                   .shard_index = index,
                                   .shard_count = count,
                                   .options = "options",
                                   .version = "1",
                                   .config = below(2) ? "[campaign]" : "",
                                   .started_ms = 1000 * hunt + below(3)};
    struct db_shard shard;
    struct db_counts counts = {0};
    uint32_t seen[KEYS] = {0};
    assert_db_ok(f, db_campaign_start(f->db, &campaign, &shard));
    assert_db_ok(f, db_begin(f->db));
    for (uint64_t number = 0; number < CASES; number++)
        if (number / CHUNK % count == index && counts.cases < cases) {
            assert_db_ok(f, run_case(f->db, &shard, hunt, number, seen));
            counts.cases = ++counts.kernels;
            counts.thread_steps += fate(hunt, number, 7, 100);
        }
    assert_db_ok(f, db_campaign_update(f->db, &shard, &counts, 2000));
    assert_db_ok(f, db_commit(f->db));
    bool end = counts.cases < cases || cases == CASES;
    assert_db_ok(f, db_campaign_finish(f->db, &shard,
                                       end ? DB_CAMPAIGN_FINISHED : DB_CAMPAIGN_INTERRUPTED, 3000));
}

static void run_sql(struct fixture *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (sqlite3_exec(f->db->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(f->db->sqlite));
    sqlite3_free(sql);
}

/* What people do, at times that are sometimes equal. */
static void say_something(struct fixture *f)
{
    static const char *const statuses[] = {"open", "known", "fixed", "invalid"};
    for (uint32_t i = below(4); i > 0; i--)
        run_sql(f,
                "UPDATE findings SET status = '%s', reference = 'R-%u', status_ms = %u"
                " WHERE signature = 'finding %u'",
                statuses[below(4)], below(3), 1 + below(3), below(SIGNATURES));
    for (uint32_t i = below(4); i > 0; i--)
        run_sql(f, "UPDATE findings SET note = 'n%u', note_ms = %u WHERE signature = 'finding %u'",
                below(3), 1 + below(3), below(SIGNATURES));
    for (uint32_t i = below(3); i > 0; i--)
        run_sql(f, "INSERT OR REPLACE INTO suppressions VALUES ('finding %u', 'n%u', %u, %u, %u)",
                below(SIGNATURES), below(2), below(2), below(2), 1 + below(3));
    for (uint32_t i = below(3); i > 0; i--)
        run_sql(f,
                "INSERT OR REPLACE INTO skipped SELECT id, %u, '%s', 'd%u' FROM campaigns"
                " WHERE seed = '0x%x'",
                below(5), below(2) ? "crash" : "hang", below(2), below(HUNTS));
    for (uint32_t i = below(3); i > 0; i--)
        run_sql(
            f,
            "INSERT OR REPLACE INTO bisections SELECT id, '%s', 'starts', 'b%u', 'b%u', 0, 4, 2,"
            " 0, %u, %u FROM findings WHERE signature = 'finding %u'",
            below(2) ? "raw" : "minimised", below(2), below(2), below(2), 1 + below(3),
            below(SIGNATURES));
    struct db_finding smaller = {
        .minimised = {.statements = 1, .tests = below(9), .launch = "threads=1"},
        .cause = "cause",
        .signature_version = 2};
    uint64_t id;
    if (below(2) == 0 && db_finding_resolve(f->db, "finding 1", &id) == DB_OK) {
        int error = db_finding_minimised_set(f->db, id, &smaller);
        assert_true(error == DB_OK || error == DB_ERROR_NOT_FOUND);
    }
}

static char *name_of(struct fixture *f, const char *name)
{
    static char names[8][96];
    static int next;
    next = (next + 1) % 8;
    snprintf(names[next], sizeof names[next], "%s/%s.db", f->folder, name);
    return names[next];
}

static void open_named(struct fixture *f, const char *name, enum db_mode mode)
{
    snprintf(f->path, sizeof f->path, "%s/%s.db", f->folder, name);
    fixture_open(f, mode);
}

static void close_fixture(struct fixture *f)
{
    db_close(f->db);
    f->db = NULL;
}

static void make_random(struct fixture *f, const char *name)
{
    static const uint64_t shards[HUNTS] = {1, 2, 3};
    open_named(f, name, DB_CREATE);
    for (uint64_t hunt = 0; hunt < HUNTS; hunt++)
        for (uint64_t index = 0; index < shards[hunt]; index++)
            if (below(3) > 0)
                run_shard(f, hunt, index, shards[hunt], below(4) ? below(CASES) : CASES);
    say_something(f);
    close_fixture(f);
}

static char *content(struct fixture *f, const char *name)
{
    open_named(f, name, DB_READONLY);
    char *text = fixture_content(f);
    close_fixture(f);
    return text;
}

static void merge(struct fixture *f, const char *out, const char *a, const char *b)
{
    const char *inputs[] = {name_of(f, a), name_of(f, b)};
    assert_db_ok(f, db_merge_files(name_of(f, out), inputs, 2, &f->message));
}

static void expect_equal(struct fixture *f, const char *a, const char *b)
{
    char *left = content(f, a), *right = content(f, b);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void remove_all(struct fixture *f)
{
    char path[400];
    DIR *folder = opendir(f->folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", f->folder, entry->d_name);
        unlink(path);
    }
    closedir(folder);
}

/* ---- the laws */

static void laws_hold(void **state)
{
    struct fixture *f = *state;
    uint32_t different = 0;
    for (uint64_t round = 0; round < many(ROUNDS); round++) {
        pcg_seed(&random_source, pcg_splitmix(round), 54);
        make_random(f, "a");
        make_random(f, "b");
        make_random(f, "c");
        merge(f, "ab", "a", "b");
        merge(f, "ba", "b", "a");
        expect_equal(f, "ab", "ba");
        merge(f, "ab-c", "ab", "c");
        merge(f, "bc", "b", "c");
        merge(f, "a-bc", "a", "bc");
        expect_equal(f, "ab-c", "a-bc");
        merge(f, "aa", "a", "a");
        expect_equal(f, "aa", "a");
        merge(f, "ab", "a", "ab"); /* into one that is there, what it has */
        expect_equal(f, "ab", "ba");
        merge(f, "c", "b", "a"); /* into one that has its own */
        expect_equal(f, "c", "ab-c");
        char *a = content(f, "a"), *ab = content(f, "ab");
        different += strcmp(a, ab) != 0;
        free(a);
        free(ab);
        remove_all(f);
    }
    assert_true(different > many(ROUNDS) / 2);
}

/* Shards in any order, some of them twice or at an earlier stage, are one run; nobody's words are lost. */
static void shards_are_one_run(void **state)
{
    enum { SHARDS = 5 };
    struct fixture *f = *state;
    char name[16];
    pcg_seed(&random_source, 7, 54);
    open_named(f, "whole", DB_CREATE);
    run_shard(f, 1, 0, 1, CASES);
    close_fixture(f);
    for (uint32_t i = 0; i < SHARDS; i++) {
        snprintf(name, sizeof name, "s%u", i);
        open_named(f, name, DB_CREATE);
        run_shard(f, 1, i, SHARDS, CASES);
        snprintf(name, sizeof name, "early%u", i);
        open_named(f, name, DB_CREATE);
        run_shard(f, 1, i, SHARDS, 1 + below(CHUNK));
        close_fixture(f);
    }
    merge(f, "out", "early3", "s3");
    merge(f, "out", "early1", "s4");
    merge(f, "out", "s0", "early0");
    merge(f, "out", "s2", "s1");
    merge(f, "out", "s0", "early4");
    expect_equal(f, "out", "whole");
    open_named(f, "out", DB_READWRITE);
    assert_db_ok(f, db_finding_note_set(f->db, 1, "mine"));
    close_fixture(f);
    char *before = content(f, "out");
    merge(f, "out", "whole", "s1"); /* another campaign: one of a single shard */
    char *after = content(f, "out");
    assert_non_null(strstr(after, "\"note\":\"mine\""));
    assert_string_not_equal(before, after);
    free(before);
    free(after);
}

/* One example of one case in each of two databases; the better form is in `better`. */
static void put_one(struct fixture *f, const char *name, bool better)
{
    open_named(f, name, DB_CREATE);
    struct db_campaign campaign = {
        .seed = 1, .shard_count = 1, .options = "options", .version = "1", .started_ms = 1000};
    struct db_shard shard;
    struct db_upserted result;
    struct db_finding finding = a_finding(better ? "smaller" : "larger");
    finding.minimisation = better ? DB_MINIMISATION_DONE : DB_MINIMISATION_PENDING;
    finding.raw_kernel = KERNEL_A;
    finding.minimised.kernel = better ? KERNEL_B : NULL;
    struct db_occurrence occurrence = {
        .campaign = 1, .case_number = 7, .raw_key = "key", .replayed = true};
    struct db_tally tally = {3, 7, 9};
    assert_db_ok(f, db_campaign_start(f->db, &campaign, &shard));
    assert_db_ok(f, db_kernel_put(f->db, KERNEL_A, "kernel a"));
    assert_db_ok(f, db_kernel_put(f->db, KERNEL_B, "kernel b"));
    assert_db_ok(f, db_example_put(f->db, &finding, &occurrence, &result));
    assert_db_ok(f, db_tally_add(f->db, &shard, "key", &tally));
    close_fixture(f);
}

/* The row that goes and the one that takes its place may have one number. */
static void better_form_stays(void **state)
{
    struct fixture *f = *state;
    put_one(f, "worse", false);
    put_one(f, "better", true);
    merge(f, "one", "worse", "better");
    merge(f, "other", "better", "worse");
    expect_equal(f, "one", "better");
    expect_equal(f, "other", "better");
}

/* More inputs than can be attached at once, into a new database and into one that is there. */
static void many_inputs(void **state)
{
    enum { MANY = 21 };
    struct fixture *f = *state;
    static char paths[MANY][96];
    const char *inputs[MANY];
    char name[16];
    pcg_seed(&random_source, 11, 54);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "s%u", i);
        open_named(f, name, DB_CREATE);
        run_shard(f, 1, i, MANY, CASES);
        say_something(f);
        close_fixture(f);
        snprintf(paths[i], sizeof paths[i], "%s", name_of(f, name));
        inputs[i] = paths[i];
    }
    make_random(f, "there");
    merge(f, "one-by-one", "there", "s0");
    for (uint32_t i = 1; i < MANY; i++) {
        snprintf(name, sizeof name, "s%u", i);
        merge(f, "one-by-one", name, name);
    }
    assert_db_ok(f, db_merge_files(name_of(f, "there"), inputs, MANY, &f->message));
    expect_equal(f, "there", "one-by-one");
    assert_db_ok(f, db_merge_files(name_of(f, "new"), inputs, MANY, &f->message));
    merge(f, "new", "one-by-one", "one-by-one");
    expect_equal(f, "new", "there");
    const char *last = inputs[MANY - 1];
    inputs[MANY - 1] = "/nowhere/at-all.db";
    char *before = content(f, "there");
    assert_int_equal(db_merge_files(name_of(f, "there"), inputs, MANY, &f->message),
                     DB_ERROR_ABSENT);
    inputs[MANY - 1] = last;
    char *after = content(f, "there");
    assert_string_equal(before, after);
    free(before);
    free(after);
    DIR *folder = opendir(f->folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        assert_null(strstr(entry->d_name, "merging"));
    closedir(folder);
}

/* An input that somebody has open, so that a part of it is in its log, and the same when it is closed; names
 * that would mean something else to SQLite. */
static void input_in_use(void **state)
{
    static const char *const outs[] = {"used", "closed", "file:of?mode=memory"};
    struct fixture *f = *state;
    struct fixture writer = *f;
    pcg_seed(&random_source, 13, 54);
    make_random(f, "a");
    make_random(f, "b");
    merge(f, "expected", "a", "b");
    open_named(&writer, "a", DB_READWRITE);
    run_sql(&writer, "UPDATE findings SET note = 'in the log', note_ms = 99");
    merge(f, "used", "a", "b");
    close_fixture(&writer);
    merge(f, "closed", "a", "b");
    merge(f, "file:of?mode=memory", "closed", "a");
    merge(f, "again", "file:of?mode=memory", "b");
    merge(f, "expected", "a", "a");
    for (size_t i = 0; i < sizeof outs / sizeof outs[0]; i++)
        expect_equal(f, outs[i], "expected");
    expect_equal(f, "again", "expected");
}

/* ---- what may go wrong */

static int copy_of(struct fixture *f, const char *from, const char *to)
{
    char command[300];
    snprintf(command, sizeof command, "cp '%s' '%s'", name_of(f, from), name_of(f, to));
    return system(command);
}

static void expect_failure(struct fixture *f, const char *out, const char *good, const char *bad,
                           int error)
{
    const char *inputs[] = {name_of(f, good), name_of(f, bad)};
    char *path = name_of(f, bad);
    int got = db_merge_files(name_of(f, out), inputs, 2, &f->message);
    assert_string_equal(db_error_name(got), db_error_name(error));
    if (!strstr(f->message.text, path))
        fail_msg("unexpected message: %s", f->message.text);
}

static void bad_inputs(void **state)
{
    struct fixture *f = *state;
    struct stat status;
    pcg_seed(&random_source, 3, 54);
    make_random(f, "good");
    make_random(f, "other");
    assert_int_equal(copy_of(f, "good", "out"), 0);
    assert_int_equal(copy_of(f, "good", "damaged"), 0);
    assert_int_equal(stat(name_of(f, "damaged"), &status), 0);
    assert_int_equal(truncate(name_of(f, "damaged"), status.st_size / 2), 0);
    assert_int_equal(copy_of(f, "good", "newer"), 0);
    open_named(f, "newer", DB_READWRITE);
    run_sql(f, "PRAGMA user_version = 99");
    FILE *text = fopen(name_of(f, "text"), "w");
    fputs("not a database\n", text);
    fclose(text);
    static const struct {
        const char *name;
        int error;
    } bad[] = {{"damaged", DB_ERROR_CORRUPT},
               {"newer", DB_ERROR_NEWER},
               {"text", DB_ERROR_NOT_SQLITE},
               {"absent", DB_ERROR_ABSENT}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_failure(f, "out", "other", bad[i].name, bad[i].error);
        expect_equal(f, "out", "good");
        expect_failure(f, "new", "other", bad[i].name, bad[i].error);
        assert_int_equal(access(name_of(f, "new"), F_OK), -1);
    }
    /* A row that refers to one that is not there. */
    assert_int_equal(copy_of(f, "good", "loose"), 0);
    open_named(f, "loose", DB_READWRITE);
    run_sql(f, "PRAGMA foreign_keys = OFF; DELETE FROM raw_keys");
    close_fixture(f);
    expect_failure(f, "out", "other", "loose", DB_ERROR_CORRUPT);
    expect_equal(f, "out", "good");
    const char *inputs[] = {name_of(f, "good")};
    assert_int_equal(db_merge_files(name_of(f, "text"), inputs, 1, &f->message),
                     DB_ERROR_NOT_SQLITE);
}

/* A file that somebody prepared: what is in its schema is not run, and its tables are ours or it is refused. */
static void hostile_inputs(void **state)
{
    static const struct {
        const char *name, *sql, *says; /* says NULL: it does no harm */
    } files[] = {
        {"trigger",
         "CREATE TRIGGER t AFTER INSERT ON findings BEGIN DELETE FROM examples; END;"
         "CREATE TRIGGER u AFTER UPDATE ON findings BEGIN DELETE FROM examples; END;"
         "CREATE TRIGGER v AFTER INSERT ON campaigns BEGIN DELETE FROM findings; END",
         NULL},
        {"index", "CREATE INDEX i ON examples (campaign, raw_key, finding, stored_ms, case_number)",
         NULL},
        {"view",
         "ALTER TABLE suppressions RENAME TO s; CREATE VIEW suppressions AS SELECT signature,"
         " note, expires_ms, removed, abs(-9223372036854775808) AS changed_ms FROM s",
         "table suppressions is not"},
        {"lax", "DROP TABLE skipped; CREATE TABLE skipped (campaign, case_number, why, detail)",
         "table skipped is not"},
        {"column", "ALTER TABLE findings ADD COLUMN mine TEXT", "table findings is not"},
        {"type",
         "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '')"
         " WHERE name = 'findings'; PRAGMA writable_schema = RESET;"
         "UPDATE findings SET note = x'00', note_ms = 'never';"
         "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT'"
         " WHERE name = 'findings'; PRAGMA writable_schema = RESET",
         "damaged"},
        {"kernel", "UPDATE examples SET raw_kernel = 12345678", "damaged"},
        {"shard", "UPDATE rule_hits SET shard = shard + 99", "damaged"},
        {"outside", "UPDATE outside SET shard = shard + 99", "damaged"},
        {"campaign", "DELETE FROM campaigns", "damaged"},
        {"key", "UPDATE tallies SET raw_key = raw_key + 4711", "damaged"},
        {"overflow", "UPDATE tallies SET occurrences = 9223372036854775807", "damaged"},
    };
    struct fixture *f = *state;
    pcg_seed(&random_source, 4, 54);
    make_random(f, "target");
    make_random(f, "honest");
    merge(f, "expected", "target", "honest");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sqlite3 *sqlite;
        assert_int_equal(copy_of(f, "honest", files[i].name), 0);
        assert_int_equal(sqlite3_open(name_of(f, files[i].name), &sqlite), SQLITE_OK);
        char *failure = NULL;
        if (sqlite3_exec(sqlite, files[i].sql, NULL, NULL, &failure) != SQLITE_OK)
            fail_msg("%s: %s", files[i].name, failure);
        sqlite3_close(sqlite);
        assert_int_equal(copy_of(f, "target", "out"), 0);
        if (!files[i].says) {
            merge(f, "out", files[i].name, files[i].name);
            expect_equal(f, "out", "expected");
            merge(f, "fresh", files[i].name, "target");
            expect_equal(f, "fresh", "expected");
            open_named(f, "fresh", DB_READWRITE); /* nothing of the schema came along */
            run_sql(f, "DROP TABLE IF EXISTS temp.x; CREATE TEMP TABLE x (n CHECK (n = 0));"
                       "INSERT INTO x SELECT count(*) FROM main.sqlite_schema"
                       " WHERE name IN ('t', 'u', 'v', 'i')");
            close_fixture(f);
            unlink(name_of(f, "fresh"));
        } else {
            expect_failure(f, "out", "honest", files[i].name, DB_ERROR_CORRUPT);
            if (!strstr(f->message.text, files[i].says))
                fail_msg("%s: %s", files[i].name, f->message.text);
            expect_equal(f, "out", "target");
            expect_failure(f, "fresh", "honest", files[i].name, DB_ERROR_CORRUPT);
            assert_int_equal(access(name_of(f, "fresh"), F_OK), -1);
        }
    }
}

/* ---- killed at any moment */

static void killed(void **state)
{
    struct fixture *f = *state;
    uint32_t done = 0, not_done = 0;
    pcg_seed(&random_source, 5, 54);
    make_random(f, "a");
    make_random(f, "b");
    merge(f, "whole", "a", "b");
    char *a = content(f, "a"), *whole = content(f, "whole");
    for (uint32_t i = 0; i < KILLS; i++) {
        assert_int_equal(copy_of(f, "a", "out"), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            const char *inputs[] = {name_of(f, "b")};
            _exit(db_merge_files(name_of(f, "out"), inputs, 1, &f->message) != DB_OK);
        }
        usleep(below(60000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        char *now = content(f, "out");
        bool is_done = strcmp(now, whole) == 0;
        assert_true(is_done || strcmp(now, a) == 0);
        done += is_done;
        not_done += !is_done;
        free(now);
        snprintf(f->path, sizeof f->path, "%s/out.db", f->folder);
        unlink(f->path);
        strcat(f->path, "-wal");
        unlink(f->path);
    }
    print_message("killed merges: %u had ended, %u had not\n", done, not_done);
    free(a);
    free(whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_in_memory, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(laws_hold),   TEST(shards_are_one_run), TEST(better_form_stays),
        TEST(many_inputs), TEST(bad_inputs),         TEST(hostile_inputs),
        TEST(killed),      TEST(input_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
