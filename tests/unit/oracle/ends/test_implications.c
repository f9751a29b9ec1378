/* What termination under one model says about others: honest searches agree, answers that are tampered with are
 * reported. */
#include "tests/unit/shared/checking.h"

#include "oracle/ends/implications.h"
#include "oracle/lemma6/own_loops.h"
#include "oracle/matrix/matrix.h"
#include "oracle/results/exhaust.h"

#include <stdio.h>

static const char P3[] =
    "launch(threads = 3, warp = 3); shared int x; kernel k() { while (x != tid) ;"
    " x = x + 1; }";
static const char NOBODY[] = "launch(threads = 2); shared int x; kernel k() { while (x == 0) ; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
    struct answer answer;
    struct progress *progress; /* of the threads */
};

static void search(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects = SUBJECT_BIT(SUBJECT_THREADS);
    f->options.budget_steps = 4000;
    f->c = checking_of(text, &f->options, &f->result);
    explore_prepare(&f->c);
    assert_true(explore_runs(&f->c, SUBJECT_THREADS));
    f->options.search = SEARCH_DEFAULTS;
    f->options.search.method = SEARCH_STATES;
    exhaust_search(&f->c);
    f->progress = (struct progress *)(uintptr_t)f->c.progress[SUBJECT_THREADS];
    assert_non_null(f->progress);
}

static const char *asked(struct fixture *f)
{
    implications_judge(&f->c, &f->answer);
    if (f->answer.verdict != VERDICT_DIVERGE)
        return NULL;
    return divergence_signature(&test_arena, f->answer.divergence);
}

static void test_honest(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    assert_int_equal(f.progress->answers[PROGRESS_FAIR].verdict, PROGRESS_ENDS);
    assert_int_equal(f.progress->answers[PROGRESS_OBE].verdict, PROGRESS_MAY_HANG);
    f.result.runs[SUBJECT_SIMT].fair_lasso = true;
    assert_null(asked(&f));
    assert_int_equal(f.result.differences, 1u << MATRIX_CLASS_STACK_UNFAIR |
                                               1u << MATRIX_CLASS_POLICY_UNFAIR |
                                               1u << MATRIX_CLASS_MODEL_DEPENDENT);
    search(&f, NOBODY);
    assert_int_equal(f.progress->answers[PROGRESS_FAIR].verdict, PROGRESS_HANGS);
    f.result.runs[SUBJECT_SIMT].fair_lasso = true;
    assert_null(asked(&f));
    assert_int_equal(f.result.differences, 0);
}

/* Thread 1 waits for one that has begun: whoever must be let run is, under all models but the one without any. */
static void test_unfair_only(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, "launch(threads = 2); shared int x, y; kernel k() { if (tid == 0) { x = 1; y = 1; } "
               "else if (x == 1) while (y == 0) ; }");
    assert_int_equal(f.progress->answers[PROGRESS_UNFAIR].verdict, PROGRESS_MAY_HANG);
    for (int m = PROGRESS_UNFAIR + 1; m < PROGRESS_MODEL_COUNT; m++)
        assert_int_equal(f.progress->answers[m].verdict, PROGRESS_ENDS);
    assert_null(asked(&f));
    assert_int_equal(f.result.differences, 1u << MATRIX_CLASS_MODEL_DEPENDENT);
}

static void test_model_order(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    f.progress->answers[PROGRESS_HSA_OBE].verdict = PROGRESS_MAY_HANG;
    assert_string_equal(asked(&f), "liveness|model-order|none|hsa-obe");
    search(&f, P3);
    f.progress->answers[PROGRESS_FAIR].verdict = PROGRESS_UNKNOWN; /* a bound says nothing */
    assert_null(asked(&f));
}

/* Nobody ends NOBODY; said that every fair execution does, the policies contradict. */
static void test_policies(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, NOBODY);
    for (int m = PROGRESS_HSA; m < PROGRESS_MODEL_COUNT; m++)
        f.progress->answers[m].verdict = PROGRESS_ENDS;
    assert_string_equal(asked(&f), "liveness|policy-unfair|none|stackless:oldest");
}

/* P3 hangs under OBE; said that it ends, sampled schedules contradict. */
static void test_samples(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    f.progress->answers[PROGRESS_UNFAIR].verdict = PROGRESS_MAY_HANG;
    f.progress->answers[PROGRESS_OBE].verdict = PROGRESS_ENDS;
    assert_string_equal(asked(&f), "liveness|sampled-hang|none|obe");
}

/* A warp that runs for ever, and threads that always end. */
static void test_lasso_missed(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, "launch(threads = 2); shared int x; kernel k() { x = 1; }");
    assert_null(asked(&f));
    f.result.runs[SUBJECT_SIMT].fair_lasso = true;
    assert_string_equal(asked(&f), "liveness|lasso-missed|none|threads");
}

/* Loops are a thread's own business, or not. */
static void test_own_loops(void **state)
{
    (void)state;
    static const struct {
        bool own;
        const char *text;
    } table[] = {
        {true, "kernel k() { }"},
        {true, "kernel k() { private int x; while (x != tid) x = (x + 2) & 3; }"},
        {true, "shared int a; kernel k() { private int x, i; x = a; a = x + 1;"
               " for (i = 0; i < tid; i++) a = a + x; }"},
        {true, "shared input int a; kernel k() { while (a > tid) ; }"}, /* nobody writes it */
        {false, "shared int a; kernel k() { while (a == 0) ; a = 1; }"},
        {false, "shared int a; kernel k() { private int x; if (tid == 0) a = 1; else x = a; while "
                "(x) ; }"},
        {false, "shared int a; kernel k() { private int x; x = atomic_exch(a, 1); while (x) ; }"},
        {false, "shared int a; kernel k() { if (a) while (1) ; a = 1; }"},
        {false, "shared int a; kernel k() { while (1) { if (a) break; } a = 1; }"},
        {false, "shared int a; kernel k() { private int x; if (a) x = 1; a = 1; while (x) ; }"},
        {false, "shared int a; kernel k() { private int x[2], i; i = a; x[i & 1] = 1; a = 1; while "
                "(x[0]) ; }"},
        {false, "shared int a; void f(int n) { while (n) ; } kernel k() { f(a); a = 1; }"},
        {false, "shared int a; void f() { while (1) ; } kernel k() { if (a) f(); a = 1; }"},
        {false, "shared int a; void f() { exit; } void g() { f(); } kernel k() { if (a) g(); a = "
                "1; while (1) ; }"},
        {false, "shared int a; int f() { return a; } kernel k() { private int x; x = f(); a = 1; "
                "while (x) ; }"},
        {false, "kernel k() { barrier(); while (1) ; }"},
        {false, "shared int a; kernel k() { switch (a) { case 0: while (1) ; } a = 1; }"},
        {false, "shared int a; kernel k() { private int x, y; while (y) ; y = x; x = a; a = 1; }"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (own_loops(support_parse(table[i].text)) != table[i].own)
            fail_msg("%s", table[i].text);
    assert_false(own_loops_errors(support_parse("kernel k() { while (1) { if (tid) ; } }")));
    assert_true(own_loops_errors(support_parse("kernel k() { while (1) { if (1) assert(0); } }")));
    assert_true(own_loops_errors(support_parse("shared int a[2]; kernel k() { a[tid] = 1; }")));
    assert_true(own_loops_errors(support_parse("void f() { } kernel k() { f(); }")));
}

static void test_own_loops_reported(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, "launch(threads = 2); kernel k() { while (tid == 1) ; }");
    assert_true(f.result.runs[SUBJECT_THREADS].fair_lasso);
    assert_null(asked(&f));
    f.result.runs[SUBJECT_SIMT].statuses[STATUS_TERMINATED] = 1;
    assert_string_equal(asked(&f), "liveness|own-loops|none|simt");
    search(&f, NOBODY);
    f.result.runs[SUBJECT_SIMT].statuses[STATUS_TERMINATED] = 1;
    assert_true(own_loops(f.c.kernel)); /* nobody writes x */
    assert_string_equal(asked(&f), "liveness|own-loops|none|simt");
    search(&f, P3);
    f.result.runs[SUBJECT_SIMT].fair_lasso = true;
    f.result.runs[SUBJECT_SIMT_THEN].statuses[STATUS_TERMINATED] = 1;
    assert_null(asked(&f));
}

/* Barriers of PTX count warps: where threads end in barrier_divergence, a warp may spin. */
static void test_other_barriers(void **state)
{
    (void)state;
    static const char text[] =
        "launch(threads = 2, warp = 2); kernel k() { if (tid == 0) { barrier(); while (1) ; } }";
    struct fixture f;
    search(&f, text);
    f.result.runs[SUBJECT_CRS].fair_lasso = true;
    assert_null(asked(&f));
    f.result.runs[SUBJECT_SIMT].fair_lasso = true;
    assert_string_equal(asked(&f), "liveness|lasso-missed|none|threads");
    struct matrix matrix = matrix_of(forms_new(&test_arena, support_parse(text)), &MATRIX_DEFAULTS);
    assert_null(matrix.broken);
}

/* Room for 64 variables that others have had a hand in, and for 16 functions: one more, and nothing is claimed. */
static void test_own_loops_room(void **state)
{
    (void)state;
    for (uint32_t count = 60; count < 70; count++) {
        char vars[2048] = "private int v0", body[4096] = "";
        for (uint32_t i = 1; i < count; i++)
            sprintf(vars + strlen(vars), ", v%u", i);
        for (uint32_t i = 0; i < count; i++)
            sprintf(body + strlen(body), "v%u = a; ", i);
        const char *text =
            arena_printf(&test_arena, "shared int a; kernel k() { %s; a = 1; %s }", vars, body);
        assert_int_equal(own_loops(support_parse(text)), count + 1 <= 64); /* a, too */
    }
    for (uint32_t count = 12; count < 20; count++) {
        char functions[2048] = "", body[2048] = "";
        for (uint32_t i = 0; i < count; i++) {
            sprintf(functions + strlen(functions), "void f%u() { ; } ", i);
            sprintf(body + strlen(body), "f%u(); ", i);
        }
        const char *text = arena_printf(
            &test_arena, "shared int a; %skernel k() { a = 1; if (a) { %s } }", functions, body);
        assert_int_equal(own_loops(support_parse(text)), count <= 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_unfair_only, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_model_order, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_policies, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_samples, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_lasso_missed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_other_barriers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_own_loops, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_own_loops_room, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_own_loops_reported, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
