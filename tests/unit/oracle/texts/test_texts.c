/*
 * Texts over the whole grammar say what they were drawn to say, read, copied and printed. TEXTS=N: so many.
 */
#include "oracle/texts/texts.h"

#include <stdlib.h>

#include "tests/unit/shared/support.h"

static void kernels(void **state)
{
    uint32_t count = getenv("TEXTS") ? (uint32_t)atoi(getenv("TEXTS")) : 400;
    (void)state;
    for (uint64_t number = 0; number < count; number++) {
        test_arena.used = 0;
        const char *text, *differs = texts_of_kernel(&test_arena, number, &text);
        if (differs)
            fail_msg("number %llu: %s\n%s", (unsigned long long)number, differs, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
