/*
 * Campaigns with feedback: the same cases and the same database with any number of workers; a finding in a
 * mutated kernel is run again from its text.
 */
#include "fuzz/campaign/chunk.h"
#include "fuzz/campaign/feedback.h"
#include "fuzz/case/example.h"
#include "tests/unit/shared/campaign_fixture.h"

#include <sys/stat.h>

static struct arena arena, scratch;

static int set_up(void **state)
{
    (void)state;
    return arena_init(&arena, (size_t)1 << 30) || arena_init(&scratch, (size_t)1 << 30);
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    arena_destroy(&scratch);
    return 0;
}

/* Lemma 5 as printed does not hold (erratum A-4), so there is always something to find. */
static struct campaign_options hunt(void)
{
    struct campaign_options options = {.seed = 7,
                                       .cases = (FEEDBACK_LAG + 3) * FEEDBACK_GENERATION,
                                       .jobs = 1,
                                       .shard_count = 1,
                                       .feedback = 70,
                                       .gen = GEN_DEFAULTS,
                                       .check = CHECK_DEFAULTS};
    options.check.subjects = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT);
    options.check.oracles = 1u << ORACLE_LEMMAS;
    options.check.modes = ORACLE_MODE_LEMMAS_STRICT;
    options.check.schedules = 2;
    options.gen.features &= ~(1u << FEATURE_GRAPHS | 1u << FEATURE_CRS);
    return options;
}

/* ---- the memory ---- */

static void take(struct feedback *f, uint64_t number, uint32_t a, uint32_t b, bool remembered)
{
    const uint32_t features[] = {a, b};
    const struct feedback_case c = {
        .number = number, .text = "kernel k() { }", .count = 2, .features = features};
    assert_int_equal(feedback_take(f, &c), remembered);
}

static void test_memory(void **state)
{
    (void)state;
    struct feedback *f = feedback_new();
    assert_non_null(f);
    assert_null(feedback_view(f, FEEDBACK_LAG - 1));
    const uint32_t rare = 7, common = 8;
    const uint32_t later = 10;
    for (uint64_t k = 0; k < 64; k++)
        take(f, k, k == 40 ? rare : common, common + 1, k == 0 || k == 40);
    assert_int_equal(feedback_features(f), 3);
    assert_int_equal(feedback_seed_count(f), 2);
    assert_int_equal(feedback_seed(f, 1)->number, 40);
    feedback_turn(f);
    take(f, 64, later, common, true);
    feedback_turn(f);
    /* Each generation sees the memory as it was FEEDBACK_LAG generations before. */
    const struct feedback_view *first = feedback_view(f, FEEDBACK_LAG);
    const struct feedback_view *second = feedback_view(f, FEEDBACK_LAG + 1);
    assert_int_equal(first->seed_count, 2);
    assert_int_equal(second->seed_count, 3);
    assert_true(feedback_is_new(NULL, &common, 1));
    assert_false(feedback_is_new(first, &common, 1));
    assert_true(feedback_is_new(first, &later, 1));
    assert_false(feedback_is_new(second, &later, 1));
    /* What one case of 64 had is drawn for much more often than what all had. */
    assert_true(first->cumulative[1] > 5 * first->cumulative[0]);
    feedback_free(f);
}

static void test_first_generations_are_fresh(void **state)
{
    (void)state;
    struct fuzz_case c;
    const struct campaign_options options = hunt();
    case_of_campaign(&c, 1, 2, &options.gen, &options.check);
    arena.used = 0;
    assert_null(feedback_mutate(&arena, NULL, 100, &c));
    assert_true(c.generated);
}

/* ---- a case ---- */

static void test_case_text(void **state)
{
    (void)state;
    struct fuzz_case c, again;
    const struct campaign_options options = hunt();
    const char *error;
    arena.used = 0;
    case_of_campaign(&c, 5, 77, &options.gen, &options.check);
    case_mutated(&c, true, &(struct case_lineage){true, 12, 40});
    const char *text = case_print(&arena, &c);
    assert_non_null(strstr(text, "of-seed=0x5 of-case=77 parent=12 donor=40 "));
    assert_non_null(strstr(text, " exhaustive="));
    assert_null(strstr(text, "gen="));
    assert_true(case_parse(&arena, text, &again, &error));
    assert_false(again.generated);
    assert_true(again.lineage.known);
    assert_int_equal(again.lineage.parent, 12);
    assert_string_equal(case_print(&arena, &again), text);
}

/* Cases as a worker makes them, until a mutated one has a finding: it is run again and minimised. */
static void test_mutated_finding(void **state)
{
    (void)state;
    const struct campaign_options options = hunt();
    struct feedback *f = feedback_new();
    struct chunk *chunk = calloc(1, sizeof *chunk);
    struct chunk_maker *maker = calloc(1, sizeof *maker);
    assert_true(f && chunk && maker);
    chunk->trace = calloc(1, sizeof *chunk->trace);
    assert_non_null(chunk->trace);
    assert_int_equal(arena_init(&chunk->trace->arena, (size_t)1 << 28), 0);
    struct watch_slot slot;
    memset(&slot, 0, sizeof slot);
    *maker = (struct chunk_maker){.options = &options, .arena = &arena, .slot = &slot};
    const struct chunk_finding *found = NULL;
    for (uint64_t number = 0; !found && number < options.cases; number++) {
        if (number % CAMPAIGN_CHUNK == 0) {
            struct chunk_trace *trace = chunk->trace;
            *chunk = (struct chunk){.trace = trace};
            trace->arena.used = 0;
            maker->view = feedback_view(f, number / FEEDBACK_GENERATION);
        }
        arena.used = 0;
        assert_true(chunk_run_case(maker, chunk, number));
        const struct chunk_case *kept = &chunk->trace->cases[chunk->cases];
        if (kept->mutated && chunk->finding_count > 0 &&
            chunk->findings[chunk->finding_count - 1].number == number)
            found = &chunk->findings[chunk->finding_count - 1];
        feedback_take(f, &kept->seen);
        chunk->cases++;
        if ((number + 1) % FEEDBACK_GENERATION == 0)
            feedback_turn(f);
    }
    assert_non_null(found);
    assert_true(found->number >= FEEDBACK_LAG * FEEDBACK_GENERATION);

    struct fuzz_case c;
    const char *text;
    struct example *example = calloc(1, sizeof *example);
    const struct reduce_options reduce = {.max_tests = 100, .jobs = 1};
    chunk_case_again(&options, chunk, found, &c, &text);
    assert_false(c.generated);
    assert_true(c.lineage.known && c.lineage.parent < found->number);
    assert_non_null(text);
    arena.used = scratch.used = 0;
    example_make(&arena, &scratch, &c, text, found->signature, &reduce, example);
    assert_true(example->replayed);
    assert_true(example->minimised);
    assert_string_equal(example->kernel, text);
    arena_destroy(&chunk->trace->arena);
    free(example);
    free(chunk->trace);
    free(chunk);
    free(maker);
    feedback_free(f);
}

/* ---- campaigns ---- */

static uint32_t count_files(const char *folder)
{
    char command[200], line[16] = "";
    snprintf(command, sizeof command, "ls %s | grep -c '\\.simt$'", folder);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(line, sizeof line, list));
    pclose(list);
    return (uint32_t)strtoul(line, NULL, 10);
}

static void test_workers(void **state)
{
    (void)state;
    char folder[] = "/tmp/simtfuzz-feedback-XXXXXX", db[80], corpus[80], command[200];
    assert_non_null(mkdtemp(folder));
    struct campaign_options options = hunt();
    struct campaign_summary one, four;
    struct db_message message;
    char *contents[2];
    options.log = fopen("/dev/null", "w");
    options.db_path = db;
    options.corpus_dir = corpus;
    for (int i = 0; i < 2; i++) {
        snprintf(db, sizeof db, "%s/%d.db", folder, i);
        snprintf(corpus, sizeof corpus, "%s/%d", folder, i);
        options.jobs = i == 0 ? 1 : 4;
        arena.used = 0;
        assert_int_equal(campaign_run(&arena, &options, i == 0 ? &one : &four, &message), 0);
        contents[i] = content(db);
        assert_int_equal(count_files(corpus), (i == 0 ? one : four).remembered);
    }
    assert_string_equal(contents[0], contents[1]);
    assert_int_equal(one.cases, options.cases);
    assert_int_equal(one.flaky, 0);
    assert_true(one.features > 500 && one.remembered > 100);
    assert_int_equal(one.features, four.features);
    assert_int_equal(one.remembered, four.remembered);
    assert_int_equal(one.thread_steps, four.thread_steps);
    snprintf(command, sizeof command, "diff -r %s/0 %s/1 >/dev/null", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    fclose(options.log);
    free(contents[0]);
    free(contents[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_first_generations_are_fresh),
        cmocka_unit_test(test_case_text), cmocka_unit_test(test_mutated_finding),
        cmocka_unit_test(test_workers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
