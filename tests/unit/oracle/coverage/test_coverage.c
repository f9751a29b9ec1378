/* The map of features: a feature is there exactly when its thing happened. */
#include "tests/unit/shared/support.h"

#include "oracle/check/check.h"
#include "oracle/coverage/coverage.h"

static struct coverage map;

static void watch(const char *text, struct check_result *result)
{
    struct check_options options = CHECK_DEFAULTS;
    options.coverage = &map;
    coverage_clear(&map);
    check_kernel(&test_arena, support_parse(text), &options, result);
}

static uint32_t counter_of(const char *name)
{
    for (uint32_t i = 0; i < COVERAGE_COUNT; i++)
        if (strcmp(coverage_name(&test_arena, i), name) == 0)
            return i;
    fail_msg("no feature is called %s", name);
    return 0;
}

#define STRAIGHT "launch(threads = 4, warp = 4); shared int x[4]; kernel k() { x[tid] = tid; }"
#define HALVES                                                                                     \
    "launch(threads = 4, warp = 4); shared int x[4];"                                              \
    "kernel k() { if (tid < 2) x[tid] = 1; else x[tid] = 2; }"
#define LEAVES                                                                                     \
    "launch(threads = 4, warp = 4); shared int x[4];"                                              \
    "kernel k() { while (1) { x[tid] = 1; if (tid == 1) break; x[tid] = 2; break; } }"
#define BARRIER "launch(threads = 4, warp = 2); kernel k() { barrier(); barrier(); }"
#define RACE "launch(threads = 4, warp = 2); shared int x; kernel k() { x = tid; }"
#define FALSE_ASSERT "launch(threads = 2, warp = 2); kernel k() { assert(tid == 0); }"
#define SPIN "launch(threads = 2, warp = 2); kernel k() { while (1) ; }"
#define TWO_BLOCKS                                                                                 \
    "launch(threads = 2, warp = 2, blocks = 2); global int x; kernel k() { x = bid; }"

static const struct {
    const char *kernel, *feature;
    bool happens;
} table[] = {
    {STRAIGHT, "rule simt.assign", true},
    {STRAIGHT, "rule simt.if", false},
    {HALVES, "rule simt.if", true},
    {STRAIGHT, "pair threads.assign_rd -> threads.assign_wr", true},
    {STRAIGHT, "pair threads.assign_wr -> threads.assign_rd", false},
    {HALVES, "pair simt.if -> simt.assign", true},
    {HALVES, "pair simt.assign -> simt.if", false},
    {HALVES, "simt-stack simt.if: div sync call", true},
    {STRAIGHT, "simt-stack simt.assign: call", true},
    {STRAIGHT, "simt-stack simt.assign: sync call", false},
    {HALVES, "simt-mask simt.if: some active, none disabled, token apart", true},
    {HALVES, "simt-mask simt.if: all active, none disabled, token same", false},
    {STRAIGHT, "simt-mask simt.assign: all active, none disabled, token same", true},
    {LEAVES, "simt-mask simt.break: none active, b disabled, token wider", false},
    {LEAVES, "simt-mask simt.break: none active, b disabled, token apart", true},
    {HALVES, "crs-stack crs.ssy: sync", true},
    {HALVES, "crs-stack crs.bra_guard: diverge sync", true},
    {STRAIGHT, "rule crs.bra_guard", false},
    {STRAIGHT, "crs-depth 1", false},
    {HALVES, "crs-depth 2", true},
    {HALVES, "lockstep-mask lockstep.vec_assign: some active", true},
    {STRAIGHT, "lockstep-mask lockstep.vec_assign: some active", false},
    {BARRIER, "barrier threads: all, generation 2", true},
    {BARRIER, "barrier threads: all, generation 3", false},
    {STRAIGHT, "barrier threads: all, generation 1", false},
    {BARRIER, "barrier crs: sync barrier 0 of all, generation 2", true},
    {RACE, "race threads: write, then write, in one warp", false},
    {RACE, "race threads: write, then write, in one warp, same statement", true},
    {RACE, "race simt: write, then write, in one warp, simultaneous, same statement", true},
    {STRAIGHT, "race threads: write, then write, in one warp, same statement", false},
    {TWO_BLOCKS, "race threads: write, then write, in one grid, same statement", true},
    {TWO_BLOCKS, "race threads: write, then write, in one block, same statement", false},
    {STRAIGHT, "status threads: terminated under sequential", true},
    {STRAIGHT, "status threads: assert_fails under sequential", false},
    {FALSE_ASSERT, "status threads: assert_fails under sequential", true},
    {FALSE_ASSERT, "status simt: assert_fails under sequential", true},
    {STRAIGHT, "outcome threads: one final stores", true},
    {RACE, "outcome threads: more final stores, race", true},
    {SPIN, "outcome threads: no final stores, lasso", true},
    {STRAIGHT, "outcome threads: no final stores, lasso", false},
};

static void test_table(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t mark = arena_mark(&test_arena);
        struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
        watch(table[i].kernel, result);
        if ((map.count[counter_of(table[i].feature)] > 0) != table[i].happens)
            fail_msg("%s: %s %s", table[i].kernel, table[i].feature,
                     table[i].happens ? "is missing" : "did not happen");
        arena_release(&test_arena, mark);
    }
}

/* Every counter has a name of its own, in its own domain. */
static void test_names(void **state)
{
    (void)state;
    uint32_t counter = 0;
    for (uint32_t d = 0; d < COVERAGE_DOMAIN_COUNT; d++) {
        const struct coverage_info *info = &coverage_table[d];
        assert_int_equal(info->first, counter);
        const char *before = "";
        for (uint32_t i = 0; i < info->count; i++, counter++) {
            assert_int_equal(coverage_domain_of(counter), d);
            const char *name = coverage_name(&test_arena, counter);
            assert_int_equal(strncmp(name, info->name, strlen(info->name)), 0);
            assert_string_not_equal(name, before);
            before = name;
        }
    }
    assert_int_equal(counter, COVERAGE_COUNT);
}

static void test_list(void **state)
{
    (void)state;
    uint32_t list[3];
    coverage_clear(&map);
    assert_int_equal(coverage_list(&map, list, 3), 0);
    map.count[0] = 1;
    map.count[9] = 7;
    map.count[4711] = 255;
    map.count[COVERAGE_COUNT - 1] = 128;
    assert_int_equal(coverage_list(&map, list, 3), 4);
    assert_int_equal(list[0], 0);
    assert_int_equal(list[1], 9 * COVERAGE_BUCKETS + 2);
    assert_int_equal(list[2], 4711 * COVERAGE_BUCKETS + 7);
}

/* Watching changes nothing of the result. */
static void test_silent(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t mark = arena_mark(&test_arena);
        struct check_result *watched = ARENA_NEW(&test_arena, struct check_result);
        struct check_result *alone = ARENA_NEW(&test_arena, struct check_result);
        watch(table[i].kernel, watched);
        check_kernel(&test_arena, support_parse(table[i].kernel), &CHECK_DEFAULTS, alone);
        assert_memory_equal(watched->hits, alone->hits, sizeof alone->hits);
        assert_int_equal(watched->thread_steps, alone->thread_steps);
        for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
            assert_int_equal(watched->answers[o].verdict, alone->answers[o].verdict);
            assert_int_equal(watched->answers[o].checked, alone->answers[o].checked);
        }
        arena_release(&test_arena, mark);
    }
}

/* docs/coverage.md has a row for each domain. */
static void test_documented(void **state)
{
    (void)state;
    static char text[1 << 16];
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/docs/coverage.md", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (uint32_t d = 0; d < COVERAGE_DOMAIN_COUNT; d++) {
        char row[60];
        snprintf(row, sizeof row, "\n| `%s` | ", coverage_table[d].name);
        if (!strstr(text, row))
            fail_msg("docs/coverage.md lacks%s", row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_list),       cmocka_unit_test(test_silent),
        cmocka_unit_test(test_documented),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
