/* What answers that are drawn make of proofs, and how drawn answers are read: both accounts agree. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "oracle/verdicts/small.h"
#include "oracle/verdicts/verdicts.h"

static void verdicts_by_drawn_answers(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 600; n++) {
        size_t mark = arena_mark(&test_arena);
        uint64_t seed = pcg_splitmix(n);
        const struct ast_kernel *kernel = n % 4 == 0   ? small_ptx(&test_arena, seed)
                                          : n % 4 == 1 ? small_blocks(&test_arena, seed)
                                                       : small_loops(&test_arena, seed);
        struct verdicts_fault fault = verdicts_judge(&test_arena, kernel, seed);
        if (!fault.stage)
            fault = guesses_judge(&test_arena, kernel, seed >> 8);
        if (fault.stage)
            fail_msg("number %u, %s: %s", (unsigned)n, fault.stage, fault.why);
        arena_release(&test_arena, mark);
    }
}

static void answers_that_are_drawn(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t mark = arena_mark(&test_arena);
        struct verdicts_fault fault = answers_judge(&test_arena, seed);
        if (fault.stage)
            fail_msg("seed %u: %s", (unsigned)seed, fault.why);
        arena_release(&test_arena, mark);
    }
}

static void guesses_that_runs_show_to_be_false(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t mark = arena_mark(&test_arena);
        const char *text;
        struct verdicts_fault fault = rehearsed_judge(&test_arena, seed, &text);
        if (fault.stage)
            fail_msg("seed %u: %s in\n%s", (unsigned)seed, fault.why, text);
        arena_release(&test_arena, mark);
    }
}

static void terms_that_are_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        size_t mark = arena_mark(&test_arena);
        struct verdicts_fault fault = laws_judge(&test_arena, seed);
        if (fault.stage)
            fail_msg("seed %u: %s", (unsigned)seed, fault.why);
        arena_release(&test_arena, mark);
    }
}

static void programs_that_are_asked(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 80; seed++) {
        size_t mark = arena_mark(&test_arena);
        struct verdicts_fault fault = children_judge(&test_arena, seed);
        if (fault.stage)
            fail_msg("seed %u: %s", (unsigned)seed, fault.why);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(verdicts_by_drawn_answers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(answers_that_are_drawn, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(guesses_that_runs_show_to_be_false, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(terms_that_are_one, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(programs_that_are_asked, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
