/*
 * Searches of kernels with several ends, beside all their executions as the reference takes them. KERNELS=N: so many.
 */
#include "oracle/searches/searches.h"

#include <stdlib.h>

#include "tests/unit/shared/support.h"

static void searches_see_all(void **state)
{
    static const enum subject_id subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE, SUBJECT_SIMT,
                                               SUBJECT_LOCKSTEP};
    uint32_t kernels = getenv("KERNELS") ? (uint32_t)atoi(getenv("KERNELS")) : 60, known = 0;
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        for (uint64_t number = 0; number < kernels; number++) {
            test_arena.used = 0;
            const char *unknown, *text = number % 2
                                             ? searches_tiny_text(&test_arena, subjects[i], number)
                                             : searches_text(&test_arena, subjects[i], number);
            const char *differs =
                searches_differ(&test_arena, subjects[i], text, SEARCHES_STATES, &unknown);
            if (differs)
                fail_msg("%s, number %llu: %s\n%s", subject_table[subjects[i]].name,
                         (unsigned long long)number, differs, text);
            known += !unknown;
        }
    }
    assert_true(known > 2 * kernels);
}

/* Subjects of which no reference takes all executions: their searches among each other, and beside threads. */
static void other_searches_agree(void **state)
{
    uint32_t kernels = getenv("KERNELS") ? (uint32_t)atoi(getenv("KERNELS")) : 60, known = 0;
    (void)state;
    for (uint64_t number = 0; number < kernels; number++) {
        const char *unknown;
        test_arena.used = 0;
        const struct searched_text drawn = searches_machines_text(&test_arena, number);
        const char *differs = searches_other_differs(&test_arena, &drawn, &unknown);
        if (differs)
            fail_msg("%s, number %llu: %s\n%s", subject_table[drawn.subject].name,
                     (unsigned long long)number, differs, drawn.text);
        known += !unknown;
    }
    assert_true(3 * known > 2 * kernels);
}

/* Barriers in loops: trips since the last release are a part of a state, in both accounts. */
static void loops_may_hold_barriers(void **state)
{
    static const char *const bodies[] = {
        "while (x == 0) { barrier(); }",
        "if (tid == 0) { x = 1; } while (x == 0) { barrier(); } y = y + 1;",
        "while (a < 3) { a = a + 1; barrier(); } x = a;",
        "while (a < 2) { a = a + 1; if (a == y) { barrier(); } }",
        "while (x < 2) { while (y == 0) { barrier(); y = 1; } x = x + 1; barrier(); }"};
    static const enum subject_id subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE, SUBJECT_SIMT,
                                               SUBJECT_LOCKSTEP};
    uint32_t known = 0;
    (void)state;
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
            const char *unknown, *text, *differs;
            test_arena.used = 0;
            text = arena_printf(&test_arena,
                                "launch(threads = 2, warp = 1, blocks = 1); shared int x, y; "
                                "private int a; kernel k() { %s }",
                                bodies[b]);
            differs = searches_differ(&test_arena, subjects[i], text, SEARCHES_STATES, &unknown);
            if (differs)
                fail_msg("%s: %s\n%s", subject_table[subjects[i]].name, differs, text);
            known += !unknown;
        }
    assert_true(known > 12); /* one or two have too many states */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(searches_see_all),
                                       cmocka_unit_test(loops_may_hold_barriers),
                                       cmocka_unit_test(other_searches_agree)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
