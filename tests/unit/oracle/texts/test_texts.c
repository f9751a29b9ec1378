/*
 * Texts over the whole grammar say what they were drawn to say, read, copied and printed. TEXTS=N: so many.
 */
#include "oracle/texts/texts.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/shared/support.h"

static void ask(const char *(*texts)(struct arena *, uint64_t, const char **))
{
    uint32_t count = getenv("TEXTS") ? (uint32_t)atoi(getenv("TEXTS")) : 400;
    for (uint64_t number = 0; number < count; number++) {
        test_arena.used = 0;
        const char *text, *differs = texts(&test_arena, number, &text);
        if (!differs)
            continue;
        fprintf(stderr, "%s\n", text); /* the library cuts messages off */
        fail_msg("number %llu: %s", (unsigned long long)number, differs);
    }
}

static void kernels(void **state)
{
    (void)state;
    ask(texts_of_kernel);
}

static void ptx(void **state)
{
    (void)state;
    ask(texts_of_ptx);
}

static void programs(void **state)
{
    (void)state;
    ask(texts_of_program);
}

static void hosts(void **state)
{
    (void)state;
    ask(texts_of_host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels), cmocka_unit_test(ptx),
                                       cmocka_unit_test(programs), cmocka_unit_test(hosts)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
