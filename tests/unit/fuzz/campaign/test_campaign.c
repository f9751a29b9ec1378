/*
 * Campaigns: the database is a function of the cases, not of the workers; what is found is counted,
 * replayed and minimised.
 */
#include "tests/unit/shared/campaign_fixture.h"

#include "fuzz/campaign/chunk.h"

#include "fuzz/case/case.h"
#include "fuzz/supervise/crash.h"

#include <signal.h>
#include <sys/wait.h>

enum { CASES = PLACE_CASES };

static void test_content_does_not_depend_on_workers(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct campaign_summary summary;
    char *first = NULL;
    for (uint32_t jobs = 1; jobs <= 4; jobs *= 2) {
        options.jobs = jobs;
        run(place, &options, &summary, 0);
        assert_int_equal(summary.cases, CASES);
        assert_true(summary.occurrences > 3);
        char *now = content(place->db);
        assert_true(strlen(now) > 1000);
        if (!first)
            first = now;
        else
            assert_string_equal(first, now);
        if (first != now)
            free(now);
        place_remove_db(place);
    }
    free(first);
}

static bool keep_finding(void *context, const struct db_finding *finding)
{
    struct db_finding *kept = context;
    kept->id = finding->id;
    kept->status = finding->status;
    kept->occurrences = finding->occurrences;
    kept->raw_statements = finding->raw_statements;
    kept->minimised.statements = finding->minimised.statements;
    assert_string_equal(finding->reference, "A-4");
    return true;
}

static void test_findings_are_counted_and_minimised(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct campaign_summary summary;
    struct db *db;
    struct db_message message;
    struct db_finding finding = {.id = 0};
    run(place, &options, &summary, 0);
    assert_int_equal(summary.finding_count, 1);
    assert_int_equal(summary.known_findings, 1);
    assert_int_equal(summary.open_findings, 0);
    assert_int_equal(summary.flaky, 0);
    assert_int_equal(summary.verdicts[ORACLE_LEMMAS][VERDICT_DIVERGE], summary.occurrences);
    assert_int_equal(db_open(place->db, DB_READONLY, &message, &db), DB_OK);
    assert_int_equal(db_findings(db, DB_ANY_STATUS, keep_finding, &finding), DB_OK);
    db_close(db);
    assert_int_equal(finding.occurrences, summary.occurrences);
    assert_int_equal(finding.status, DB_STATUS_KNOWN);
    assert_in_range(finding.minimised.statements, 1, 3);
    assert_true(finding.minimised.statements <= finding.raw_statements);
}

/* What a person says about a finding decides the exit status of later campaigns. */
static void test_status_decides_the_exit(void **state)
{
    static const struct {
        enum db_status status;
        int exit;
    } cases[] = {
        {DB_STATUS_OPEN, 1}, {DB_STATUS_FIXED, 1}, {DB_STATUS_INVALID, 0}, {DB_STATUS_KNOWN, 0}};
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct campaign_summary summary;
    struct db_message message;
    struct db *db;
    options.cases = 40;
    run(place, &options, &summary, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(db_open(place->db, DB_READWRITE, &message, &db), DB_OK);
        assert_int_equal(db_finding_status_set(db, 1, cases[i].status, NULL), DB_OK);
        db_close(db);
        run(place, &options, &summary, cases[i].exit);
        assert_int_equal(summary.findings[0].status, cases[i].status);
        assert_false(summary.findings[0].created);
    }
    assert_int_equal(db_open(place->db, DB_READWRITE, &message, &db), DB_OK);
    assert_int_equal(db_finding_status_set(db, 1, DB_STATUS_OPEN, NULL), DB_OK);
    assert_int_equal(db_suppress(db, summary.findings[0].signature, "seen enough", 0), DB_OK);
    db_close(db);
    run(place, &options, &summary, 0);
}

static void test_stops_at_the_first_finding(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct campaign_summary summary;
    struct db_message message;
    struct db *db;
    run(place, &options, &summary, 0);
    assert_int_equal(db_open(place->db, DB_READWRITE, &message, &db), DB_OK);
    assert_int_equal(db_finding_status_set(db, 1, DB_STATUS_OPEN, NULL), DB_OK);
    db_close(db);
    uint64_t cases[2];
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        options.stop_on_finding = true;
        options.jobs = jobs;
        run(place, &options, &summary, 1);
        cases[jobs - 1] = summary.cases;
    }
    assert_true(cases[0] < CASES);
    assert_int_equal(cases[0], cases[1]);
}

static void test_time_budget(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct campaign_summary summary;
    options.cases = 0;
    options.time_ms = 300;
    options.jobs = 2;
    run(place, &options, &summary, 0);
    assert_true(summary.cases > 0);
    assert_true(summary.seconds < 60);
}

/* A thread that dies says in which case, and how to get its kernel; the exit status is 3. */
static void test_last_words(void **state)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE};
    struct place *place = *state;
    struct gen_options gen = GEN_DEFAULTS;
    gen.features = 0;
    struct crash_note note = {.seed = "0x2a",
                              .command = case_gen_command(&place->arena, 42, &gen),
                              .number = 18446744073709551615u};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int ends[2], status;
        char said[1000];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], STDERR_FILENO);
            crash_install(NULL);
            crash_thread_start(&note);
            raise(signals[i]);
            _exit(0);
        }
        close(ends[1]);
        ssize_t length = read(ends[0], said, sizeof said - 1);
        close(ends[0]);
        assert_true(length > 0);
        said[length] = '\0';
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
        assert_non_null(strstr(said, " in case 18446744073709551615 of seed 0x2a; its kernel: "
                                     "simtfuzz gen --seed 0x2a --features none --first "
                                     "18446744073709551615\n"));
    }
}

/* What a worker has done in a chunk that nobody has taken yet is shown, once. */
static void test_shown_counts(void **state)
{
    (void)state;
    static struct chunk chunk;
    static struct pool_counts counts[2];
    static struct campaign_summary before, summary;
    static struct pool_told told, sum;
    before.thread_steps = summary.thread_steps = 1000;
    before.hits[3] = summary.hits[3] = 7;
    for (uint32_t k = 1; k <= 2; k++) {
        chunk.thread_steps = 10 * k;
        chunk.hits[3] = k;
        chunk.verdicts[0][VERDICT_AGREE] = k;
        pool_count_case(&counts[k - 1], &chunk, &told);
    }
    pool_counts_start(&sum, &before);
    for (uint32_t k = 0; k < 2; k++)
        pool_counts_add(&sum, &counts[k]);
    pool_counts_show(&sum, &summary);
    assert_int_equal(summary.thread_steps, 1020);
    assert_int_equal(summary.hits[3], 9);
    assert_int_equal(summary.verdicts[0][VERDICT_AGREE], 2);
    /* Chunks that are run again for the memory take nothing back. */
    pool_counts_start(&sum, &before);
    sum.thread_steps = 5;
    pool_counts_show(&sum, &summary);
    assert_int_equal(summary.thread_steps, 1020);
}

int main(void)
{
#define CAMPAIGN_TEST(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown_counts),
        CAMPAIGN_TEST(test_content_does_not_depend_on_workers),
        CAMPAIGN_TEST(test_findings_are_counted_and_minimised),
        CAMPAIGN_TEST(test_status_decides_the_exit),
        CAMPAIGN_TEST(test_stops_at_the_first_finding),
        CAMPAIGN_TEST(test_time_budget),
        CAMPAIGN_TEST(test_last_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
