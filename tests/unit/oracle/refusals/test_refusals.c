/*
 * Each row of each table of refusals, with and without something before it; and what is drawn near limits (TEXTS=N: so
 * many).
 */
#include "oracle/refusals/limits.h"
#include "oracle/refusals/refusals.h"

#include <stdio.h>

#include "tests/unit/oracle/texts/drawn_texts.h"

static void rows(void **state)
{
    /* Each thing before it; and behind what is right, in another line and in the same. */
    static const uint64_t draws[] = {0, 1, 2, 3, 4, 5, 1ull << 32, 3ull << 32};
    uint32_t failed = 0;
    (void)state;
    for (uint32_t t = 0; t < refusals_table_count; t++)
        for (uint32_t row = 0; row < refusals_tables[t]->count; row++)
            for (size_t draw = 0; draw < sizeof draws / sizeof *draws; draw++) {
                test_arena.used = 0;
                const char *text = "";
                const char *differs =
                    refusals_ask(&test_arena, refusals_tables[t], row, draws[draw], &text);
                if (differs)
                    fprintf(stderr, "row %u\n%.2000s\n%s\n", row, text, differs);
                failed += differs != NULL;
            }
    assert_int_equal(failed, 0);
}

static void limits(void **state)
{
    (void)state;
    drawn_texts_ask(limits_ask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
