/* The oracle `metamorphic`: sound semantics agree about transformed kernels; faults planted into the steps
 * of what was explored show as another verdict, or another store, than that of the kernel transformed. */
#include "tests/unit/shared/checking.h"
#include "tests/unit/shared/planted.h"

#include "oracle/results/metamorphic.h"

static const char OWNED[] = "launch(threads = 4, blocks = 2); global int g; shared int a[4], b;"
                            " kernel k() { private int i; i = 0; while (i < 2 && tid < 2) {"
                            " a[tid] += i + 1; i++; } barrier(); if (tid == 0) b = a[1]; }";
static const char GRAPH[] = "launch(threads = 4); shared int a[4]; kernel k() blocks {"
                            " private int i, q; Start: i = 0; goto H; H: q = i < tid; goto B, E;"
                            " B: assume(q); a[tid] = a[tid] + i; i = i + 1; goto H;"
                            " E: assume(!q); barrier(); goto End; }";
static const char PTX[] = "// simtfuzz: threads=8 warp=4\n.version 8.0\n.target sm_80\n"
                          ".address_size 64\n.global .align 4 .u32 out[8];\n.entry k()\n{\n"
                          ".reg .u32 t;\n.reg .u64 a, b;\n.reg .pred p;\nmov.u32 t, %tid.x;\n"
                          "mov.u64 b, out;\nmad.wide.u32 a, t, 4, b;\nsetp.lt.u32 p, t, 3;\n"
                          "@p bra L;\nadd.u32 t, t, 100;\nL:\nst.global.u32 [a], t;\nret;\n}\n";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

/* Explores one subject with these steps, and asks; without a list, four are drawn. */
static const struct answer *ask(struct fixture *f, const char *text, enum subject_id subject,
                                step_function *step, const char *list)
{
    const char *at;
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects = SUBJECT_BIT(subject);
    if (list)
        assert_true(transform_parse_list(list, &f->options.transforms, &at));
    f->c = checking_of(text, &f->options, &f->result);
    f->c.alone = true;
    f->result.answers[ORACLE_METAMORPHIC].verdict = VERDICT_NOT_APPLICABLE;
    explore_prepare(&f->c);
    assert_true(explore_runs(&f->c, subject));
    plant(f->c.subjects[subject].machine, step);
    f->c.subjects[subject].machine->step = step;
    explore_subject(&f->c, subject);
    metamorphic_judge(&f->c);
    return &f->result.answers[ORACLE_METAMORPHIC];
}

static const struct {
    const char *text;
    enum subject_id subject;
} asked[] = {
    {OWNED, SUBJECT_THREADS},    {OWNED, SUBJECT_SIMT},       {OWNED, SUBJECT_SIMT_THEN},
    {OWNED, SUBJECT_INTERLEAVE}, {OWNED, SUBJECT_PREDICATED}, {OWNED, SUBJECT_LOCKSTEP},
    {GRAPH, SUBJECT_INTERLEAVE}, {GRAPH, SUBJECT_PREDICATED}, {GRAPH, SUBJECT_LOCKSTEP},
    {PTX, SUBJECT_BLOCK},
};
enum { ASKED = sizeof asked / sizeof *asked };

static void test_honest_subjects_agree(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ASKED; i++) {
        struct fixture f;
        const struct answer *answer = ask(&f, asked[i].text, asked[i].subject, honest_step, NULL);
        assert_int_equal(answer->verdict, VERDICT_AGREE);
        assert_in_range(answer->checked, 1, METAMORPHIC_LISTS);
    }
}

static void test_faults_show(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ASKED; i++) {
        struct fixture f;
        const struct answer *answer = ask(&f, asked[i].text, asked[i].subject, add_one, NULL);
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(answer->divergence->class_name, "store");
        assert_non_null(strstr(answer->divergence->evidence, "\"transforms\": \""));
        assert_non_null(strstr(answer->divergence->evidence, "\"transformed\": \""));
        if (asked[i].subject == SUBJECT_BLOCK)
            continue; /* its detector is another */
        answer = ask(&f, asked[i].text, asked[i].subject, invent_race, NULL);
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(answer->divergence->class_name, "clean");
        assert_string_equal(answer->divergence->observable, "race");
    }
}

/* Memory that a transformation adds moves what is behind it: compared is what a variable holds. */
static void test_new_memory_moves_the_rest(void **state)
{
    (void)state;
    struct fixture f;
    const char *list = "constant:2000000000,opaque:4000000001,constant:1500000003,duplicate:12";
    const struct answer *answer = ask(&f, OWNED, SUBJECT_THREADS, honest_step, list);
    assert_int_equal(answer->verdict, VERDICT_AGREE);
}

static void test_says_why_not(void **state)
{
    (void)state;
    struct fixture f;
    static const char RACY_ATOMICS[] = "shared int x, y; kernel k() { private int r;"
                                       " r = atomic_add(x, 1); y = r; }";
    const struct answer *answer = ask(&f, RACY_ATOMICS, SUBJECT_THREADS, honest_step, NULL);
    assert_int_equal(answer->verdict, VERDICT_NOT_APPLICABLE);
    assert_string_equal(answer->reason, "the order of its atomics can be seen");
    answer = ask(&f, "shared int x; kernel k() { x = tid; }", SUBJECT_THREADS, honest_step,
                 "flatten,join");
    assert_int_equal(answer->verdict, VERDICT_NOT_APPLICABLE);
    assert_string_equal(answer->reason, "no transformation has a place in the kernel");
}

/* A racy kernel is racy in all its transformations, whatever it ends with. */
static void test_racy_kernels_agree(void **state)
{
    (void)state;
    struct fixture f;
    const struct answer *answer = ask(&f, "shared int x; kernel k() { if (tid < 2) x = x + tid; }",
                                      SUBJECT_LOCKSTEP, honest_step, NULL);
    assert_int_equal(answer->verdict, VERDICT_AGREE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest_subjects_agree, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_faults_show, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_new_memory_moves_the_rest, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_says_why_not, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_racy_kernels_agree, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
