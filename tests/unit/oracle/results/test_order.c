/* The oracle `order`: sound semantics agree in every order; faults planted into one subject's steps
 * show as another verdict, or another store, than that of the alternative program. */
#include "tests/unit/shared/checking.h"
#include "tests/unit/shared/planted.h"

#include "oracle/results/order.h"

static const char OWNED[] = "launch(threads = 3); shared int a[3]; kernel k() {"
                            " private int i; for (i = 0; i < 2 && tid < 2; i++) a[tid] += i + 1; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

static void run(struct fixture *f, const char *text, enum subject_id subject, step_function *step)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects = SUBJECT_BIT(subject);
    f->c = checking_of(text, &f->options, &f->result);
    f->result.answers[ORACLE_ORDER].verdict = VERDICT_NOT_APPLICABLE;
    explore_prepare(&f->c);
    assert_true(explore_runs(&f->c, subject));
    plant(f->c.subjects[subject].machine, step);
    explore_subject(&f->c, subject);
    order_judge(&f->c);
}

static const enum subject_id subjects[] = {SUBJECT_INTERLEAVE, SUBJECT_PREDICATED,
                                           SUBJECT_LOCKSTEP};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static void test_honest_subjects_agree(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        struct fixture f;
        run(&f, OWNED, subjects[i], honest_step);
        const struct answer *answer = &f.result.answers[ORACLE_ORDER];
        assert_int_equal(answer->verdict, VERDICT_AGREE);
        assert_int_equal(answer->checked, 1);
    }
}

static void test_store_fault(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        struct fixture f;
        run(&f, OWNED, subjects[i], add_one);
        const struct answer *answer = &f.result.answers[ORACLE_ORDER];
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(divergence_signature(&test_arena, answer->divergence),
                            "order|store|none|shared memory");
        assert_non_null(strstr(answer->divergence->evidence, "\"location\": \"a[0]\""));
    }
}

static void test_race_fault(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        struct fixture f;
        run(&f, OWNED, subjects[i], invent_race);
        const struct answer *answer = &f.result.answers[ORACLE_ORDER];
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(answer->divergence->class_name, "clean");
        assert_string_equal(answer->divergence->observable, "race");
    }
}

/* Racy kernels may end with any store: only the verdict is compared. */
static void test_racy_kernels_agree(void **state)
{
    (void)state;
    struct fixture f;
    run(&f, "shared int x; kernel k() { x = x + tid; }", SUBJECT_LOCKSTEP, honest_step);
    assert_int_equal(f.result.answers[ORACLE_ORDER].verdict, VERDICT_AGREE);
}

static void test_says_why_not(void **state)
{
    (void)state;
    struct fixture f;
    run(&f, "kernel k() { while (1) ; }", SUBJECT_LOCKSTEP, honest_step);
    assert_int_equal(f.result.answers[ORACLE_ORDER].verdict, VERDICT_INCONCLUSIVE);
    run(&f, "shared int x; kernel k() { x = 1; }", SUBJECT_THREADS, honest_step);
    assert_int_equal(f.result.answers[ORACLE_ORDER].verdict, VERDICT_NOT_APPLICABLE);
    assert_non_null(f.result.answers[ORACLE_ORDER].reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest_subjects_agree, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_store_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_race_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_racy_kernels_agree, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_says_why_not, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
