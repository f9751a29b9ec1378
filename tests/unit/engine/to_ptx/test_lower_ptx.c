/*
 * Structured kernels compiled to PTX: random ones, and initial values of all kinds (lowered_ptx.h says what holds of
 * them all). What each statement becomes, and what is refused: tests/cases/engine/to_ptx.
 */
#include "engine/input/input.h"
#include "fuzz/case/case.h"
#include "tests/unit/shared/lowered_ptx.h"

enum { KERNELS = 400 };

static void random_kernels(void **state)
{
    (void)state;
    const struct gen_options gen = GEN_DEFAULTS;
    for (uint64_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct fuzz_case c;
        case_of_campaign(&c, 20, i, &gen, &CHECK_DEFAULTS);
        const struct ast_kernel *kernel = gen_case(&test_arena, 20, i, &c.gen);
        if (kernel->form == FORM_STRUCTURED || kernel->form == FORM_BLOCKS)
            lower_and_compare(kernel);
        arena_release(&test_arena, mark);
    }
}

/* ---- what it does ---- */

struct tally {
    uint32_t kernels, compared[SUBJECT_COUNT];
};

/* All subjects; where one execution terminates without a race, all end with its store. */
static void check_and_compare(const struct ast_kernel *kernel, uint64_t seed, struct tally *tally)
{
    static struct check_result result;
    struct check_options options = CHECK_DEFAULTS;
    options.seed = seed;
    options.subjects = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT) |
                       SUBJECT_BIT(SUBJECT_INTERLEAVE) | SUBJECT_BIT(SUBJECT_CRS) |
                       SUBJECT_BIT(SUBJECT_THREAD_PC) | SUBJECT_BIT(SUBJECT_BLOCK);
    options.oracles =
        1u << ORACLE_RACE | 1u << ORACLE_RESULT | 1u << ORACLE_SAFETY | 1u << ORACLE_DIRECTIONS;
    check_kernel(&test_arena, kernel, &options, &result);
    if (check_divergences(&result, true) > 0) {
        print_error("%s", print_kernel(&test_arena, kernel));
        for (uint32_t o = 0; o < ORACLE_COUNT; o++)
            for (const struct divergence *d = result.answers[o].divergence; d; d = d->next)
                print_error("%s\n%s\n", d->summary, d->evidence);
    }
    assert_int_equal(check_divergences(&result, true), 0);
    tally->kernels++;
    if (result.answers[ORACLE_RESULT].verdict == VERDICT_AGREE)
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
            tally->compared[s] += result.runs[s].statuses[STATUS_TERMINATED] > 0;
}

static void agree(uint64_t seed, bool blocks_only)
{
    struct tally tally = {0};
    for (uint64_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct gen_options gen = GEN_DEFAULTS;
        struct fuzz_case c;
        gen.blocks_only = blocks_only;
        case_of_campaign(&c, seed, i, &gen, &CHECK_DEFAULTS);
        const struct ast_kernel *kernel = gen_case(&test_arena, seed, i, &c.gen);
        if (kernel->form == (blocks_only ? FORM_BLOCKS : FORM_STRUCTURED))
            check_and_compare(kernel, i, &tally);
        arena_release(&test_arena, mark);
    }
    print_message(
        "%u kernels; compared: threads %u, interleave %u, crs %u, thread-pc %u, block %u\n",
        tally.kernels, tally.compared[SUBJECT_THREADS], tally.compared[SUBJECT_INTERLEAVE],
        tally.compared[SUBJECT_CRS], tally.compared[SUBJECT_THREAD_PC],
        tally.compared[SUBJECT_BLOCK]);
    assert_true(tally.compared[SUBJECT_CRS] > KERNELS / 8);
    assert_true(tally.compared[SUBJECT_THREAD_PC] > KERNELS / 8);
    assert_true(tally.compared[SUBJECT_BLOCK] > KERNELS / 8);
}

static void results_agree(void **state)
{
    (void)state;
    agree(23, false);
}

/* In block form, the branch unit's instructions injected. */
static void results_of_blocks_agree(void **state)
{
    (void)state;
    agree(22, true);
}

/* Initial values of all kinds: tables of inputs, long and short lists, arrays of functions. */
static void initial_values(void **state)
{
    (void)state;
    lower_and_compare(support_parse(
        "launch(threads = 5, warp = 2, blocks = 3, seed = 7);\n"
        "global int unused, g[3] = {1, -2}; shared input int s[2]; global input int t;\n"
        "private input int p, q[20]; private int r[30] = {1, 2, 3}, v = -2147483647;\n"
        "int f(int n) { private int a[40] = {4, 5}; private int b[3]; a[n] = v; b[0]++;\n"
        "    return a[1] + b[0]; }\n"
        "kernel k() { private int x; x = f(p); g[0] = x + q[1] + r[2] + s[0]; }\n"));
    lower_and_compare(support_parse(
        "private input int p; private int v = 3; global int y;\n"
        "kernel k() { private int a[20] = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2};\n"
        "    y = p + v + a[tid] + a[99] + warp_size; }\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(results_agree),
        cmocka_unit_test(results_of_blocks_agree),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
