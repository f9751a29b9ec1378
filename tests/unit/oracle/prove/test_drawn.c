/* Of drawn kernels formulas say what executions do; drawn formulas are what their operations are. */
#include "oracle/verdicts/small.h"

#include "engine/input/input.h"
#include "oracle/prove/drawn_terms.h"
#include "oracle/verdicts/horn_text.h"
#include "tests/unit/shared/support.h"

enum { KERNELS = 400, FORMULAS = 2000 };

/* At least so many of a hundred are retraced. */
static void retrace_all(const struct ast_kernel *(*draw)(struct arena *, uint64_t), uint32_t least)
{
    uint32_t count = 0;
    for (uint64_t seed = 0; seed < KERNELS; seed++) {
        uint32_t pairs = 0;
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = draw(&test_arena, seed);
        struct retrace_fault fault =
            retrace_executions(&test_arena, forms_new(&test_arena, kernel),
                               (struct retrace_claims){.cut = NULL}, seed, &pairs);
        if (fault.what)
            fail_msg("%s: %s\n%s", fault.what, fault.why, print_kernel(&test_arena, kernel));
        count += pairs > 0;
        arena_release(&test_arena, mark);
    }
    assert_true(count * 100 > KERNELS * least);
}

static void ptx(void **state)
{
    (void)state;
    retrace_all(small_ptx, 90);
}

static void blocks(void **state)
{
    (void)state;
    retrace_all(small_blocks, 95);
}

static void loops(void **state)
{
    (void)state;
    retrace_all(small_loops, 95);
}

static void pairs(void **state)
{
    (void)state;
    retrace_all(small_pairs, 99);
}

static void terms(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < FORMULAS; seed++) {
        size_t mark = arena_mark(&test_arena);
        struct retrace_fault fault = drawn_terms(&test_arena, seed);
        if (fault.what)
            fail_msg("formula %d: %s", (int)seed, fault.why);
        arena_release(&test_arena, mark);
    }
}

/* Of drawn kernels with loops: the Horn clauses say what the walk does. */
static void horn_clauses_of_loops(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 300; n++) {
        size_t mark = arena_mark(&test_arena);
        struct proof_options options = PROOF_DEFAULTS;
        const char *reason = NULL;
        const struct ast_kernel *kernel = small_loops(&test_arena, pcg_splitmix(n));
        options.counted = false;
        struct duo *duo =
            duo_new(&test_arena, forms_new(&test_arena, kernel), &options, 0, &reason);
        assert_non_null(duo);
        duo_run(duo);
        const char *why = duo->reason ? NULL : horn_text_judge(&test_arena, duo, n);
        if (why)
            fail_msg("number %u: %s in\n%s", (unsigned)n, why, print_kernel(&test_arena, kernel));
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx),   cmocka_unit_test(blocks), cmocka_unit_test(loops),
        cmocka_unit_test(pairs), cmocka_unit_test(terms),  cmocka_unit_test(horn_clauses_of_loops)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
