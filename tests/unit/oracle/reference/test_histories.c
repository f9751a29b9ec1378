/*
 * The histories of threads beside the kernel's text: whatever runs a kernel does what its text says, and what runs
 * another kernel is told where they part.
 */
#include "oracle/reference/source.h"
#include "tests/unit/shared/support.h"

static const enum subject_id subjects[] = {
    SUBJECT_THREADS,  SUBJECT_SIMT, SUBJECT_CONVERGENCE, SUBJECT_INTERLEAVE,
    SUBJECT_LOCKSTEP, SUBJECT_CRS,  SUBJECT_THREAD_PC,   SUBJECT_BLOCK};

/* What is said of `text` under a subject, if its text were `other`; NULL: nothing. */
static const char *said_of(const char *text, const char *other, enum subject_id subject)
{
    test_arena.used = 0;
    struct ast_kernel *kernel = support_parse(other);
    const char *why = NULL;
    const struct form *form =
        forms_get(forms_new(&test_arena, support_parse(text)), subject_table[subject].program);
    struct source *x =
        source_new(&test_arena, ref_room_new(&test_arena), kernel, support_program(other), &why);
    assert_non_null(x);
    assert_non_null(form->program);
    struct machine *m = machine_new(&test_arena, subject_table[subject].vtable, form->program,
                                    &subject_table[subject].options);
    const struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = 3};
    struct scheduler scheduler;
    machine_observe(m, source_begin(x, m));
    sched_start(&scheduler, &spec, m, &test_arena);
    return source_end(x, m, machine_run(m, &scheduler.choices, 2000, NULL)).differs;
}

#define HEAD "launch(threads = 4, warp = 4); shared int s[4]; private int p, q; "

/* Kernels of one layout; what each is told that runs in the place of the first one of its group. */
static const struct {
    const char *text, *differs; /* NULL: the first one of a group */
} kernels[] = {
    {HEAD "kernel k() { p = s[tid] + 1; s[tid] = p; }", NULL},
    {HEAD "kernel k() { p = s[tid] + 2; s[tid] = p; }", "write"},
    {HEAD "kernel k() { p = s[tid] + 1; s[3 - tid] = p; }", "write"},
    {HEAD "kernel k() { p = 1; s[tid] = p; }", "read"},
    {HEAD "kernel k() { p = s[tid] + 1; atomic_add(s[tid], 1); }", "write"},
    {HEAD "kernel k() { p = s[tid] + 1; s[tid] = p; s[tid] = 0; }", "end"},
    {HEAD "kernel k() { p = s[tid] + 1; barrier(); s[tid] = p; }", "write"},
    {HEAD "kernel k() { q = atomic_max(s[tid], -tid); p = atomic_cas(s[0], 0, tid); }", NULL},
    {HEAD "kernel k() { q = atomic_min(s[tid], -tid); p = atomic_cas(s[0], 0, tid); }", "atomic"},
    {HEAD "int f(int a) { if (a > 1) return a; a += 1; } kernel k() { for (p = 0; p < 4; p++) { "
          "if (p == tid) continue; switch (p) { case 1: s[p] = tid; case 2: q = f(p); break; "
          "default: q = 9; } barrier() ; do { s[tid] += q; } while (0); barrier(); } exit; }",
     NULL},
    {HEAD "int f(int a) { if (a > 1) return a; a += 1; return a; } kernel k() { for (p = 0; p < 4; "
          "p++) { if (p == tid) continue; switch (p) { case 1: s[p] = tid; case 2: q = f(p); "
          "break; default: q = 9; } barrier() ; do { s[tid] += q; } while (0); barrier(); } "
          "exit; }",
     "any"},
};

static void what_runs_another_text_is_told(void **state)
{
    (void)state;
    const char *first = NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        first = kernels[i].differs ? first : kernels[i].text;
        for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
            const char *differs = said_of(kernels[i].text, kernels[i].text, subjects[k]);
            if (differs)
                fail_msg("`%s`: %s: %s", subject_table[subjects[k]].name, kernels[i].text, differs);
            if (!kernels[i].differs || strcmp(kernels[i].differs, "any") == 0)
                continue;
            differs = said_of(kernels[i].text, first, subjects[k]);
            if (!differs || strcmp(differs, kernels[i].differs) != 0)
                fail_msg("`%s`: %s: %s", subject_table[subjects[k]].name, kernels[i].text,
                         differs ? differs : "nothing");
        }
    }
}

/* Private variables are looked at where the form has them as such; how a thread failed, where that is known. */
static void ends(void **state)
{
    (void)state;
    const char *text = HEAD "kernel k() { p = tid; s[tid] = 1; }";
    const char *other = HEAD "kernel k() { q = tid; s[tid] = 1; }";
    assert_string_equal(said_of(text, other, SUBJECT_THREADS), "private memory");
    assert_string_equal(said_of(text, other, SUBJECT_INTERLEAVE), "private memory");
    assert_null(said_of(text, other, SUBJECT_CRS));
    other = HEAD "kernel k() { p = tid; s[tid] = 1; assert(tid < 0); }";
    assert_string_equal(said_of(text, other, SUBJECT_THREADS), "end");
    assert_string_equal(said_of(other, text, SUBJECT_THREADS), "end");
}

static void what_it_is_not_asked_about(void **state)
{
    (void)state;
    const char *why = NULL;
    struct ast_kernel *kernel =
        support_parse("launch(threads = 2); private int p; kernel k() { p = vote_all(tid); }");
    assert_null(source_new(&test_arena, ref_room_new(&test_arena), kernel,
                           support_program("kernel k() { }"), &why));
    assert_non_null(strstr(why, "votes"));
    assert_false(source_applies(SUBJECT_CRS_PATENT));
    assert_false(source_applies(SUBJECT_INTERLEAVE_RAW));
    assert_true(source_applies(SUBJECT_INTERLEAVE_APPENDIX_LOOPS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_runs_another_text_is_told, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(ends, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(what_it_is_not_asked_about, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
