/* UNF: the programs of simt-correctness, section 5 (docs/catalogue.md, UNF), and lassos. */
#include "tests/unit/shared/support.h"

#include "oracle/check/check.h"

static const char P2[] = "shared int lock; kernel k() {\n"
                         "  if (tid == 0) lock = 1; else while (lock != 1) ;\n"
                         "}";
static const char P2R[] = "shared int lock; kernel k() {\n"
                          "  if (tid != 0) while (lock != 1) ; else lock = 1;\n"
                          "}";
static const char P3[] = "shared int lock; kernel k() {\n"
                         "  while (lock != tid) ;\n"
                         "  lock = lock + 1;\n"
                         "}";
static const char P4[] = "shared int next; kernel k() {\n"
                         "  while (next != threads) { if (tid == next) next = next + 1; else ; }\n"
                         "}";

static const struct {
    const char *text;
    bool else_diverges, then_diverges; /* n >= 2 */
    uint32_t else_steps, then_steps;   /* warp steps when it halts, n >= 2 */
    uint32_t steps_per_thread;         /* added to these for each thread */
    uint32_t steps_alone;              /* n = 1 */
    int32_t final;                     /* 0 = n */
} table[] = {
    {P2, true, false, 0, 8, 0, 6, 1},
    {P2R, false, true, 8, 0, 0, 6, 1},
    {P3, true, true, 0, 0, 0, 5, 0},
    {P4, false, false, 4, 4, 6, 10, 0},
};

static struct check_result *check(const char *text, uint32_t threads)
{
    struct ast_kernel *kernel = support_parse(text);
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    kernel->launch.threads = threads;
    kernel->launch.warp = threads;
    check_kernel(&test_arena, kernel, &CHECK_DEFAULTS, result);
    return result;
}

static void check_order(const struct check_result *r, enum subject_id subject, bool diverges,
                        uint32_t steps)
{
    const struct check_run *run = &r->runs[subject];
    assert_int_equal(run->fair_lasso, diverges);
    assert_int_equal(run->statuses[diverges ? STATUS_NONTERMINATING : STATUS_TERMINATED],
                     run->schedules);
    if (!diverges)
        assert_int_equal(run->steps, (uint64_t)steps * run->schedules);
}

static void test_unfairness_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (uint32_t n = 1; n <= 4; n++) {
            struct check_result *r = check(table[i].text, n);
            const struct check_run *threads = &r->runs[SUBJECT_THREADS];
            bool alone = n == 1, expected;
            uint32_t per = table[i].steps_per_thread * n;
            check_order(r, SUBJECT_SIMT, !alone && table[i].else_diverges,
                        alone ? table[i].steps_alone : table[i].else_steps + per);
            check_order(r, SUBJECT_SIMT_THEN, !alone && table[i].then_diverges,
                        alone ? table[i].steps_alone : table[i].then_steps + per);
            /* Every fair interleaving halts; a starving one need not. */
            assert_false(threads->fair_lasso);
            assert_int_equal(threads->fair_cut, 0);
            assert_int_equal(threads->statuses[STATUS_STEP_LIMIT] > 0, !alone);
            assert_int_equal(threads->final_count, 1);
            assert_int_equal(threads->finals[0][0], table[i].final ? table[i].final : (int32_t)n);
            expected = !alone && (table[i].else_diverges || table[i].then_diverges);
            const struct answer *answer = &r->answers[ORACLE_LIVENESS];
            assert_int_equal(answer->verdict, expected ? VERDICT_DIVERGE : VERDICT_NOT_APPLICABLE);
            assert_int_equal(check_divergences(r, false), 0);
            if (!expected)
                continue;
            assert_true(threads->fair >= 8);
            assert_string_equal(answer->divergence->known, "UNF");
            assert_string_equal(divergence_signature(&test_arena, answer->divergence),
                                "liveness|unfair|simt.while_cont|termination");
            assert_int_equal(answer->divergence->line, 2);
            assert_non_null(strstr(answer->divergence->evidence, "\"fair_schedules_that_end\""));
        }
}

static void test_program_4_full_warp(void **state)
{
    (void)state;
    struct check_result *r = check(P4, 32);
    check_order(r, SUBJECT_SIMT, false, 196);
    check_order(r, SUBJECT_SIMT_THEN, false, 196);
}

/* The expectations that the corpus states for them. */
static void test_expectations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "shared int lock; kernel k() { if (tid == 0) lock = 1; else while (lock != 1) ; }"
        "expect simt: nonterminating; expect simt:then-first: terminates;"
        "expect threads: terminates; expect unfair; expect simt: unfair;"
        "expect threads: final lock == 1;",
        "shared int lock; kernel k() { if (tid != 0) while (lock != 1) ; else lock = 1; }"
        "expect simt:then-first: nonterminating; expect simt: terminates;"
        "expect threads: terminates; expect unfair; expect simt:then-first: unfair;",
        "shared int lock; kernel k() { while (lock != tid) ; lock = lock + 1; }"
        "expect simt: nonterminating, unfair; expect simt:then-first: nonterminating, unfair;"
        "expect threads: terminates, final lock == 4;",
        "kernel k() { while (1) ; } expect nonterminating, race_free;",
        "kernel k() { while (tid == 1) ; } expect nonterminating;",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct check_result *r = check(texts[i], 4);
        for (uint32_t k = 0; k < r->claim_count; k++) {
            if (!r->claims[k].met)
                print_error("%s\n  %s\n", texts[i], r->claims[k].why);
            assert_true(r->claims[k].met);
        }
    }
    struct check_result *r = check("shared int lock; kernel k() { if (tid == 0) lock = 1; else"
                                   " while (lock != 1) ; } expect simt:then-first: unfair;",
                                   4);
    assert_false(r->claims[0].met);
}

/* Both sides run for ever: nothing unfair about it. */
static void test_both_diverge(void **state)
{
    (void)state;
    struct check_result *r = check("kernel k() { while (tid == 1) ; }", 4);
    assert_int_equal(r->answers[ORACLE_LIVENESS].verdict, VERDICT_AGREE);
    assert_true(r->runs[SUBJECT_THREADS].fair_lasso);
}

/* A state that never repeats: a spent budget proves nothing. */
static void test_budget_proves_nothing(void **state)
{
    (void)state;
    struct check_result *r =
        check("shared int x[4]; kernel k() { while (x[tid] >= 0 || 1) x[tid] = x[tid] + 1; }", 4);
    assert_int_equal(r->answers[ORACLE_LIVENESS].verdict, VERDICT_INCONCLUSIVE);
    assert_false(r->runs[SUBJECT_SIMT].fair_lasso);
    assert_int_equal(r->runs[SUBJECT_SIMT].statuses[STATUS_STEP_LIMIT], 1);
    assert_int_equal(r->answers[ORACLE_RESULT].verdict, VERDICT_NOT_APPLICABLE);
}

/* Two warps: one spins until the other writes. Every fair order of the warps ends; starving the
 * writer does not, and is no finding. */
static void test_other_warp_helps(void **state)
{
    (void)state;
    struct check_result *r =
        check("launch(threads = 4, warp = 2); shared int x; kernel k() {"
              " if (warp == 1) { if (lane == 0) x = 1; } else while (x != 1) ; }"
              "expect terminates;",
              4);
    r->runs[SUBJECT_SIMT].steps = 0;
    struct ast_kernel *kernel =
        support_parse("launch(threads = 4, warp = 2); shared int x; kernel k() {"
                      " if (warp == 1) { if (lane == 0) x = 1; } else while (x != 1) ; }"
                      "expect threads: terminates; expect simt: terminates;");
    check_kernel(&test_arena, kernel, &CHECK_DEFAULTS, r);
    assert_int_equal(r->answers[ORACLE_LIVENESS].verdict, VERDICT_NOT_APPLICABLE);
    assert_true(r->runs[SUBJECT_SIMT].statuses[STATUS_STEP_LIMIT] > 0);
    if (!r->claims[0].met)
        print_error("%s\n", r->claims[0].why);
    assert_true(r->claims[0].met && r->claims[1].met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unfairness_table, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_program_4_full_warp, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_expectations, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_both_diverge, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_budget_proves_nothing, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_other_warp_helps, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
