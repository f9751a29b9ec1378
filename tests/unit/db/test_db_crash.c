/* Several processes on one database, and processes that are killed at any moment. */
#include "tests/unit/db/db_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 30, CREATION_KILLS = 30, CREATORS = 6, COUNTERS = 3, COUNTS = 200, PAUSE_US = 200 };

static void sleep_microseconds(long microseconds)
{
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Writes batch after batch from `number` on; tells each number after its commit. */
static void write_for_ever(struct fixture *f, uint64_t number, int tell)
{
    struct db *db;
    if (db_open(f->path, DB_READWRITE, &f->message, &db) != DB_OK)
        _exit(1);
    for (;; number++) {
        if (db_see_batch(db, &f->shard, number) != DB_OK)
            _exit(2);
        if (write(tell, &number, sizeof number) != sizeof number)
            _exit(3);
        sleep_microseconds(PAUSE_US);
    }
}

/* Starts write_for_ever in a child; *tell is where its numbers can be read. */
static pid_t start_writer(struct fixture *f, uint64_t number, int *tell)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        close(ends[0]);
        write_for_ever(f, number, ends[1]);
    }
    close(ends[1]);
    *tell = ends[0];
    return child;
}

static void kill_and_wait(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* it had not failed by itself */
}

static uint64_t stored_cases(struct fixture *f)
{
    uint64_t cases = 0;
    assert_db_ok(f, db_campaign_get(f->db, f->campaign, read_cases, &cases));
    return cases;
}

static uint64_t stored_occurrences(struct fixture *f)
{
    uint64_t occurrences = 0;
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, add_occurrences, &occurrences));
    return occurrences;
}

static void close_fixture(struct fixture *f)
{
    db_close(f->db);
    f->db = NULL;
}

static void killed_at_any_moment(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    close_fixture(f);
    uint64_t next = 0, runs_with_batches = 0;
    for (int run = 0; run < KILLS; run++) {
        int tell;
        uint64_t told, acknowledged = 0;
        pid_t child = start_writer(f, next / BATCH, &tell);
        /* The first batch of each run, then some way into the following ones. */
        assert_int_equal(read(tell, &told, sizeof told), sizeof told);
        acknowledged = told + 1;
        sleep_microseconds(run * 997 % 20000);
        kill_and_wait(child);
        while (read(tell, &told, sizeof told) == sizeof told)
            acknowledged = told + 1;
        close(tell);
        fixture_open(f, DB_READWRITE); /* checks integrity */
        uint64_t cases = stored_cases(f);
        assert_true(cases >= acknowledged * BATCH);       /* nothing committed is lost, */
        assert_true(cases <= (acknowledged + 1) * BATCH); /* nothing unfinished is there, */
        assert_int_equal(stored_occurrences(f), cases);   /* no half batches */
        runs_with_batches += cases > next;
        next = cases;
        close_fixture(f);
    }
    assert_int_equal(runs_with_batches, KILLS);
}

static void killed_while_creating(void **state)
{
    struct fixture *f = *state;
    int unfinished = 0;
    for (int run = 0; run < CREATION_KILLS; run++) {
        snprintf(f->path, sizeof f->path, "%s/%d.db", f->folder, run);
        fflush(NULL);
        pid_t child = fork();
        assert_int_not_equal(child, -1);
        if (child == 0) {
            struct db *db;
            if (db_open(f->path, DB_CREATE, &f->message, &db) != DB_OK)
                _exit(1);
            sleep_microseconds(10000000);
        }
        sleep_microseconds(run * 600);
        kill_and_wait(child);
        unfinished += db_open(f->path, DB_READWRITE, &f->message, &f->db) != DB_OK;
        close_fixture(f);
        fixture_open_campaign(f); /* goes on from whatever is there */
        close_fixture(f);
    }
    /* The first is killed at once, so the loop did hit the creation. */
    assert_in_range(unfinished, 1, CREATION_KILLS);
}

static void reading_while_another_writes(void **state)
{
    struct fixture *f = *state;
    fixture_open_campaign(f);
    close_fixture(f);
    int tell;
    pid_t child = start_writer(f, 0, &tell);
    uint64_t told;
    assert_int_equal(read(tell, &told, sizeof told), sizeof told);
    uint64_t seen = 0, growths = 0;
    for (int i = 0; i < 60; i++) {
        if (i % 5 == 0)
            fixture_open(f, i % 2 ? DB_READONLY : DB_READWRITE);
        uint64_t occurrences = stored_occurrences(f);
        assert_int_equal(occurrences % BATCH, 0);
        assert_true(occurrences >= seen);
        growths += occurrences > seen;
        seen = occurrences;
        assert_true(stored_cases(f) >= seen);
        /* A short write of ours waits for its turn. */
        if (i % 10 == 0)
            assert_db_ok(f, db_suppress(f->db, "signature 1", "", 0));
        /* Until the writer is past what we saw; this also empties the pipe. */
        do
            assert_int_equal(read(tell, &told, sizeof told), sizeof told);
        while (told * BATCH < seen);
    }
    kill_and_wait(child);
    close(tell);
    assert_true(growths > 30);
}

/* An upsert reads before it writes: what it read must still hold when it writes. */
static void counting_at_once(void **state)
{
    struct fixture *f = *state;
    pid_t children[COUNTERS];
    fixture_open_campaign(f);
    close_fixture(f);
    fflush(NULL);
    for (int i = 0; i < COUNTERS; i++) {
        children[i] = fork();
        assert_int_not_equal(children[i], -1);
        if (children[i] == 0) {
            struct db *db;
            struct db_finding finding = a_finding("the same");
            struct db_upserted result;
            int error = db_open(f->path, DB_READWRITE, &f->message, &db);
            for (uint64_t n = 0; n < COUNTS && !error; n++)
                error = db_see(db, &finding, &f->shard, n, &result);
            if (error)
                fprintf(stderr, "%s\n", f->message.text);
            db_close(db);
            _exit(-error);
        }
    }
    for (int i = 0; i < COUNTERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    fixture_open(f, DB_READONLY);
    assert_int_equal(stored_occurrences(f), COUNTERS * COUNTS);
}

static bool count_shard(void *context, const struct db_campaign *campaign)
{
    uint64_t *count = context;
    return campaign->shard_index == (*count)++;
}

static void creating_at_once(void **state)
{
    struct fixture *f = *state;
    pid_t children[CREATORS];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    fflush(NULL);
    for (int i = 0; i < CREATORS; i++) {
        children[i] = fork();
        assert_int_not_equal(children[i], -1);
        if (children[i] == 0) {
            char byte;
            struct db *db;
            struct db_campaign campaign = {.shard_index = (uint64_t)i, .shard_count = CREATORS};
            struct db_shard shard;
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) /* until the parent opens the gate */
                _exit(1);
            int error = db_open(f->path, DB_CREATE, &f->message, &db);
            if (!error)
                error = db_campaign_start(db, &campaign, &shard);
            if (error)
                fprintf(stderr, "%s\n", f->message.text);
            db_close(db);
            _exit(-error);
        }
    }
    close(gate[0]);
    close(gate[1]);
    int failures = 0;
    for (int i = 0; i < CREATORS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        failures += status != 0;
    }
    assert_int_equal(failures, 0);
    fixture_open(f, DB_READONLY);
    uint64_t shards = 0; /* of one campaign */
    assert_db_ok(f, db_shards(f->db, 1, count_shard, &shards));
    assert_int_equal(shards, CREATORS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(killed_at_any_moment), TEST(killed_while_creating), TEST(reading_while_another_writes),
        TEST(counting_at_once),     TEST(creating_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
