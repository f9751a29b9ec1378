/* A disk that is full, and a power cut at any write: what was committed is there, whole batches only. */
#include "tests/unit/db/db_fixture.h"
#include "tests/unit/shared/fault_vfs.h"

#include "db/internal.h"

enum { BATCHES = 150, CUTS_MAX = 200, CHECKPOINT_PAGES = 40 };

struct cut {
    char path[128];
    uint64_t committed; /* batches that were acknowledged */
};

struct cuts {
    const struct fixture *fixture;
    uint64_t committed;
    uint32_t count;
    bool busy;
    struct cut cuts[CUTS_MAX];
};

/* Whole batches, and how many. */
static uint64_t stored_batches(struct fixture *f)
{
    uint64_t cases = 0, occurrences = 0;
    assert_db_ok(f, db_campaign_get(f->db, f->campaign, read_cases, &cases));
    assert_db_ok(f, db_findings(f->db, DB_ANY_STATUS, add_occurrences, &occurrences));
    assert_int_equal(cases, occurrences);
    assert_int_equal(cases % BATCH, 0);
    return cases / BATCH;
}

/* ---- power ---- */

/* Before a write or a synchronisation: one in so many times the power fails now. */
static void cut_now_and_then(void *context)
{
    struct cuts *cuts = context;
    if (cuts->count == CUTS_MAX || fault_random() % 7 != 0)
        return;
    struct cut *cut = &cuts->cuts[cuts->count++];
    cut->committed = cuts->committed;
    snprintf(cut->path, sizeof cut->path, "%s/cut-%u.db", cuts->fixture->folder, cuts->count);
    fault_cut(cuts->fixture->path, cut->path);
}

static void power_cut_at_any_write(void **state)
{
    struct fixture *f = *state;
    static struct cuts cuts;
    cuts = (struct cuts){.fixture = f};
    fault_install();
    fixture_open_campaign(f);
    sqlite3_wal_autocheckpoint(f->db->sqlite, CHECKPOINT_PAGES);
    fault.before_write = cut_now_and_then;
    fault.context = &cuts;
    for (uint64_t number = 0; number < BATCHES && cuts.count < CUTS_MAX; number++) {
        assert_db_ok(f, db_see_batch(f->db, &f->shard, number));
        cuts.committed = number + 1;
    }
    fault.before_write = NULL;
    db_close(f->db);
    f->db = NULL;
    fault_remove();
    assert_int_equal(cuts.count, CUTS_MAX);
    uint64_t torn = 0;
    for (uint32_t i = 0; i < cuts.count; i++) {
        snprintf(f->path, sizeof f->path, "%s", cuts.cuts[i].path);
        fixture_open(f, DB_READWRITE); /* checks integrity */
        uint64_t batches = stored_batches(f);
        assert_in_range(batches, cuts.cuts[i].committed, cuts.cuts[i].committed + 1);
        torn += batches > cuts.cuts[i].committed;
        assert_db_ok(f, db_see_batch(f->db, &f->shard, batches)); /* it goes on from there */
        assert_int_equal(stored_batches(f), batches + 1);
    }
    assert_true(torn < cuts.count);
}

/* The shim can lose: without synchronisation, commits are lost or the file is damaged. */
static void the_disk_can_lose(void **state)
{
    struct fixture *f = *state;
    static struct cuts cuts;
    uint32_t losses = 0;
    cuts = (struct cuts){.fixture = f};
    fault_install();
    fixture_open_campaign(f);
    sqlite3_wal_autocheckpoint(f->db->sqlite, CHECKPOINT_PAGES);
    assert_int_equal(sqlite3_exec(f->db->sqlite, "PRAGMA synchronous = OFF", NULL, NULL, NULL),
                     SQLITE_OK);
    fault.before_write = cut_now_and_then;
    fault.context = &cuts;
    for (uint64_t number = 0; number < BATCHES && cuts.count < CUTS_MAX; number++) {
        assert_db_ok(f, db_see_batch(f->db, &f->shard, number));
        cuts.committed = number + 1;
    }
    fault.before_write = NULL;
    db_close(f->db);
    f->db = NULL;
    fault_remove();
    for (uint32_t i = 0; i < cuts.count; i++) {
        uint64_t cases = 0;
        int error = db_open(cuts.cuts[i].path, DB_READWRITE, &f->message, &f->db);
        if (!error)
            error = db_campaign_get(f->db, f->campaign, read_cases, &cases);
        losses += error || cases < cuts.cuts[i].committed * BATCH;
        db_close(f->db);
        f->db = NULL;
    }
    assert_true(losses > cuts.count / 10);
}

/* ---- space ---- */

static void full_disk(void **state)
{
    struct fixture *f = *state;
    uint64_t stored = 0, failures = 0;
    fault_install();
    fixture_open_campaign(f);
    for (uint64_t number = 0; number < 60; number++) {
        bool room = number % 3 != 2;
        fault.full_at = room ? 0 : fault.writes + 1 + fault_random() % 8;
        int error = db_see_batch(f->db, &f->shard, stored);
        fault.full_at = 0;
        if (error) {
            assert_false(room);
            assert_int_equal(error, DB_ERROR_FULL);
            assert_non_null(strstr(f->message.text, "the disk is full"));
            db_rollback(f->db);
            failures++;
        } else {
            stored++;
        }
        assert_int_equal(stored_batches(f), stored);
    }
    assert_true(failures > 5);
    fixture_open(f, DB_READWRITE);
    assert_int_equal(stored_batches(f), stored);
    db_close(f->db);
    f->db = NULL;
    fault_remove();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(power_cut_at_any_write), TEST(the_disk_can_lose),
                                       TEST(full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
