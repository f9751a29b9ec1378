/*
 * Each row of each table of refusals, with and without something before it.
 */
#include "oracle/refusals/refusals.h"

#include <stdio.h>

#include "tests/unit/shared/support.h"

static void rows(void **state)
{
    uint32_t failed = 0;
    (void)state;
    for (uint32_t t = 0; t < refusals_table_count; t++)
        for (uint32_t row = 0; row < refusals_tables[t]->count; row++)
            for (uint64_t draw = 0; draw < REFUSALS_BEFORES; draw++) {
                test_arena.used = 0;
                const char *text = "";
                const char *differs =
                    refusals_ask(&test_arena, refusals_tables[t], row, draw, &text);
                if (differs)
                    fprintf(stderr, "row %u\n%.2000s\n%s\n", row, text, differs);
                failed += differs != NULL;
            }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
