/* Formulas told what executions did say the same; formulas that were made wrong do not. No solver is asked. */
#include "oracle/prove/retrace.h"

#include "engine/prove/inference.h"
#include "tests/unit/shared/support.h"

#define KERNEL(text)                                                                               \
    "launch(threads=4, blocks=2); shared int S[4]; global int A[8]; global input int n; "          \
    "private int i; private int x; kernel k() { " text " }"

static const char *const racy = KERNEL("S[tid] = 1; x = S[tid ^ 1];"),
                         *const outside = KERNEL("A[tid + 8 - n % 2] = 1;"),
                         *const fails = KERNEL("assert(tid != 2);"),
                         *const parts = KERNEL("if (tid == 2) { barrier(); }"),
                         *const loop = KERNEL("for (i = 0; i < (n & 31); i += 1) { S[tid] += i; "
                                              "barrier(); x += S[tid ^ 1]; barrier(); } "
                                              "A[tid + 4 * bid] = x;"),
                         *const choices = KERNEL("havoc(x); if (x & 1) { atomic_add(A[0], x); } "
                                                 "else { x = atomic_max(A[1], tid); } S[tid] = x;");

/* Loops are cut, and not run by constants. */
static struct duo *walked(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct proof_options *options = ARENA_NEW(&test_arena, struct proof_options);
    *options = PROOF_DEFAULTS;
    struct duo *duo = duo_new(&test_arena, forms_new(&test_arena, kernel), options, 0, &reason);
    assert_non_null(duo);
    duo_run(duo);
    return duo;
}

static const char *said(const struct ast_kernel *kernel, struct retrace_claims claims)
{
    uint32_t pairs = 0;
    struct retrace_fault fault =
        retrace_executions(&test_arena, forms_new(&test_arena, kernel), claims, 1, &pairs);
    assert_true(pairs > 0);
    return fault.what ? fault.what : "nothing";
}

static const char *said_of(const struct ast_kernel *kernel, struct duo *duo)
{
    return said(kernel, (struct retrace_claims){.cut = duo});
}

static void right(void **state)
{
    const char *const kernels[] = {racy, outside, fails, parts, loop, choices};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const struct ast_kernel *kernel = support_parse(kernels[i]);
        assert_string_equal(said_of(kernel, walked(kernel)), "nothing");
        assert_string_equal(said_of(kernel, NULL), "nothing");
    }
}

static struct deed *first_of(struct duo *duo, enum deed_kind kind)
{
    struct deed *deed = GROWN(duo->deeds, struct deed);
    while (deed->kind != kind)
        deed++;
    return deed;
}

/* What goes wrong is asked no more. */
static void nothing_is_wrong(void **state)
{
    const struct {
        const char *kernel, *what;
    } lost[] = {{racy, "race"}, {outside, "bounds"}, {fails, "asserts"}, {parts, "divergence"}};
    (void)state;
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        const struct ast_kernel *kernel = support_parse(lost[i].kernel);
        struct duo *duo = walked(kernel);
        for (uint32_t n = 0; n < duo->obligations.count; n++)
            GROWN(duo->obligations, struct obligation)[n].wrong = TERM_FALSE;
        assert_string_equal(said_of(kernel, duo), lost[i].what);
    }
}

/* Something is wrong always. */
static void all_is_wrong(void **state)
{
    const struct ast_kernel *kernel = support_parse(loop);
    struct duo *duo = walked(kernel);
    (void)state;
    GROWN(duo->obligations, struct obligation)[first_of(duo, DEED_WRONG)->count].wrong = TERM_TRUE;
    assert_true(strcmp(said_of(kernel, duo), "nothing") != 0);
}

static void others_are_accessed(void **state)
{
    const struct ast_kernel *kernel = support_parse(loop);
    struct duo *duo = walked(kernel);
    (void)state;
    first_of(duo, DEED_ACCESS)->seen.index = duo->tid[1];
    assert_string_equal(said_of(kernel, duo), "access");
}

static void launch_allows_one_twice(void **state)
{
    const struct ast_kernel *kernel = support_parse(loop);
    struct duo *duo = walked(kernel);
    (void)state;
    duo->assumptions.count = 0;
    assert_string_equal(said_of(kernel, duo), "launch");
}

/* A loop is taken for one that changes nothing. */
static void loops_change_nothing(void **state)
{
    const struct ast_kernel *kernel = support_parse(loop);
    struct duo *duo = walked(kernel);
    struct loop_cut *cut = GROWN(duo->cuts, struct loop_cut *)[0];
    (void)state;
    assert_int_equal(duo->cuts.count, 1);
    memcpy(cut->latch, cut->entry, duo->slot_count * sizeof *cut->latch);
    assert_true(strcmp(said_of(kernel, duo), "nothing") != 0);
}

static void false_invariant(void **state)
{
    const struct ast_kernel *kernel = support_parse(loop);
    struct duo *duo = walked(kernel);
    struct loop_cut *cut = GROWN(duo->cuts, struct loop_cut *)[0];
    (void)state;
    candidates_find(duo, cut);
    assert_true(cut->candidate_count > 0);
    for (uint32_t i = 0; i < cut->candidate_count; i++)
        cut->candidates[i].kept = true;
    assert_string_equal(said_of(kernel, duo), "invariant");
}

static void trips_go_on(void **state)
{
    (void)state;
    assert_string_equal(said(support_parse(loop), (struct retrace_claims){.ends = true}), "trips");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right),
        cmocka_unit_test(nothing_is_wrong),
        cmocka_unit_test(all_is_wrong),
        cmocka_unit_test(others_are_accessed),
        cmocka_unit_test(launch_allows_one_twice),
        cmocka_unit_test(loops_change_nothing),
        cmocka_unit_test(false_invariant),
        cmocka_unit_test(trips_go_on),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
