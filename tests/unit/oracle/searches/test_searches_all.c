/*
 * Searches of kernels with several ends, beside all their executions as the reference takes them. KERNELS=N: so many.
 */
#include "oracle/searches/searches.h"

#include <stdlib.h>

#include "tests/unit/shared/support.h"

static void searches_see_all(void **state)
{
    static const enum subject_id subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE, SUBJECT_SIMT};
    uint32_t kernels = getenv("KERNELS") ? (uint32_t)atoi(getenv("KERNELS")) : 60, known = 0;
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        for (uint64_t number = 0; number < kernels; number++) {
            test_arena.used = 0;
            const char *unknown, *text = searches_text(&test_arena, subjects[i], number);
            const char *differs = searches_differ(&test_arena, subjects[i], text, &unknown);
            if (differs)
                fail_msg("%s, number %llu: %s\n%s", subject_table[subjects[i]].name,
                         (unsigned long long)number, differs, text);
            known += !unknown;
        }
    }
    assert_true(known > 2 * kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(searches_see_all)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
