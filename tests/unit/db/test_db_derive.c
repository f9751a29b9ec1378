/*
 * What is derived from facts, whatever the batches in which they came, is what the definitions say, which are
 * written down here once more, as slow SQL.
 */
#include "db/internal.h"
#include "engine/base/pcg.h"
#include "tests/unit/db/db_fixture.h"

enum { CASES = 600, KEYS = 60, SIGNATURES = 9, HUNTS = 3 };

static struct pcg random_source;

static uint32_t below(uint32_t bound)
{
    return pcg_below(&random_source, bound);
}

static uint32_t fate(uint64_t hunt, uint64_t case_number, uint32_t what, uint32_t bound)
{
    return (uint32_t)(pcg_splitmix(hunt * 1000003 + case_number * 101 + what) % bound);
}

/* The case shows one raw key, or two: then which key is stored first is not which is first in the alphabet. */
static void put_case(struct fixture *f, const struct db_shard *shard, uint64_t hunt,
                     uint64_t number)
{
    char signature[32], key[32], text[64];
    struct db_upserted result;
    uint32_t keys = 1 + (fate(hunt, number, 1, 3) == 0);
    uint32_t which = fate(hunt, number, 2, SIGNATURES);
    snprintf(signature, sizeof signature, "finding %u", which);
    struct db_finding finding = a_finding(signature);
    finding.reference = which == 0 || fate(hunt, number, 3, 3) == 0 ? "A-1" : "";
    finding.raw_case = text;
    for (uint32_t i = 0; i < keys; i++) {
        snprintf(key, sizeof key, "key %02u", fate(hunt, number, 4 + i, KEYS));
        snprintf(text, sizeof text, "%u %s", (unsigned)number, key);
        struct db_occurrence occurrence = {
            .campaign = shard->campaign, .case_number = number, .raw_key = key, .replayed = true};
        struct db_tally tally = {1 + fate(hunt, number, 6, 3), number, number};
        assert_db_ok(f, db_example_put(f->db, &finding, &occurrence, &result));
        assert_db_ok(f, db_tally_add(f->db, shard, key, &tally));
    }
}

/* Batches of up to so many cases. */
static char *fill(struct fixture *f, const char *name, uint32_t batch)
{
    snprintf(f->path, sizeof f->path, "%s/%s.db", f->folder, name);
    fixture_open(f, DB_CREATE);
    struct db_shard shards[HUNTS];
    for (uint64_t hunt = 0; hunt < HUNTS; hunt++) {
        struct db_campaign campaign = {.seed = hunt,
                                       .cases_target = CASES,
                                       .shard_count = 1,
                                       .options = "options",
                                       .version = "1",
                                       .started_ms =
                                           9000 - 1000 * hunt}; /* the last is the first */
        assert_db_ok(f, db_campaign_start(f->db, &campaign, &shards[hunt]));
    }
    assert_db_ok(f, db_kernel_put(f->db, KERNEL_A, "kernel a"));
    assert_db_ok(f, db_kernel_put(f->db, KERNEL_B, "kernel b"));
    for (uint64_t number = 0; number < CASES;) {
        assert_db_ok(f, db_begin(f->db));
        for (uint32_t i = 1 + below(batch); i > 0 && number < CASES; i--, number++)
            for (uint64_t hunt = 0; hunt < HUNTS; hunt++)
                put_case(f, &shards[hunt], hunt, number);
        assert_db_ok(f, db_commit(f->db));
    }
    return fixture_content(f);
}

static void expect_none(struct fixture *f, const char *what, const char *sql)
{
    sqlite3_stmt *row;
    assert_int_equal(sqlite3_prepare_v2(f->db->sqlite, sql, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int count = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    if (count > 0)
        fail_msg("%s: %d rows", what, count);
}

#define OF(g, e) e ".finding = " g ".finding AND " e ".campaign = " g ".campaign"
#define OF_KEY(e, x) x ".campaign = " e ".campaign AND " x ".raw_key = " e ".raw_key"

static void expect_definitions(struct fixture *f)
{
    expect_none(f, "a place without a sighting",
                "SELECT count(*) FROM examples e WHERE NOT EXISTS (SELECT 1 FROM sightings g"
                " WHERE " OF("g", "e") ")");
    expect_none(f, "a sighting without an example",
                "SELECT count(*) FROM sightings g WHERE NOT EXISTS (SELECT 1 FROM examples e"
                " WHERE " OF("g", "e") ")");
    expect_none(
        f, "occurrences of a sighting",
        "SELECT count(*) FROM sightings g WHERE occurrences <>"
        " (SELECT count(*) FROM examples e WHERE " OF(
            "g",
            "e") ") +"
                 " (SELECT coalesce(sum((SELECT sum(t.occurrences) FROM tallies t WHERE " OF_KEY(
                     "e", "t") ")"
                               "   - (SELECT count(*) FROM examples y WHERE " OF_KEY(
                                   "e", "y") ")), 0)"
                                             "  FROM examples e WHERE " OF(
                                                 "g", "e") " AND e.case_number ="
                                                           "   (SELECT min(z.case_number) FROM "
                                                           "examples z WHERE " OF_KEY("e",
                                                                                      "z") "))");
    expect_none(f, "the first case of a sighting",
                "SELECT count(*) FROM sightings g WHERE first_case <>"
                " (SELECT min(case_number) FROM examples e WHERE " OF("g", "e") ")");
    expect_none(f, "occurrences of a finding",
                "SELECT count(*) FROM findings f WHERE occurrences <>"
                " (SELECT sum(occurrences) FROM sightings g WHERE g.finding = f.id)");
    expect_none(f, "the campaigns of a finding",
                "SELECT count(*) FROM findings f WHERE first_campaign <> (SELECT g.campaign FROM"
                " sightings g JOIN campaigns c ON c.id = g.campaign WHERE g.finding = f.id"
                " ORDER BY c.started_ms LIMIT 1) OR last_campaign <> (SELECT g.campaign FROM"
                " sightings g JOIN campaigns c ON c.id = g.campaign WHERE g.finding = f.id"
                " ORDER BY c.started_ms DESC LIMIT 1)");
    expect_none(f, "the example of a finding",
                "SELECT count(*) FROM findings f WHERE example IS NOT (SELECT e.id FROM examples e"
                " JOIN raw_keys k ON k.id = e.raw_key WHERE e.finding = f.id"
                " AND e.campaign = f.first_campaign ORDER BY e.case_number, k.key LIMIT 1)");
    expect_none(f, "the status of a finding",
                "SELECT count(*) FROM findings f WHERE (status = 'known') <> (NOT EXISTS"
                " (SELECT 1 FROM examples e WHERE e.finding = f.id AND e.reference = ''"
                "  AND e.campaign = f.last_campaign))");
}

/* One large batch reads its tables from begin to end, small ones go from place to place. */
static void batches_do_not_matter(void **state)
{
    static const uint32_t batches[] = {1, 7, 100};
    struct fixture *f = *state;
    pcg_seed(&random_source, 17, 54);
    char *whole = fill(f, "whole", 1000000);
    expect_definitions(f);
    expect_none(f, "findings that two keys of one case are about",
                "SELECT count(*) = 0 FROM findings f JOIN examples e ON e.id = f.example WHERE"
                " EXISTS (SELECT 1 FROM examples x WHERE x.id > e.id AND x.finding = f.id"
                "  AND x.campaign = e.campaign AND x.case_number = e.case_number)");
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%u", batches[i]);
        char *text = fill(f, name, batches[i]);
        expect_definitions(f);
        assert_string_equal(text, whole);
        free(text);
    }
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(batches_do_not_matter, fixture_setup_in_memory,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
