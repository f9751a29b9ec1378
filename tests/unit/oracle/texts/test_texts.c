/*
 * Texts over the whole grammar say what they were drawn to say, read, copied and printed. TEXTS=N: so many.
 */
#include "oracle/texts/texts.h"

#include "tests/unit/oracle/texts/drawn_texts.h"

static void kernels(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_kernel);
}

static void ptx(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_ptx);
}

static void programs(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_program);
}

static void mistakes(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_mistake);
}

static void rows(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_rows);
}

static void hosts(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_host);
}

static void base(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels),  cmocka_unit_test(ptx),
                                       cmocka_unit_test(programs), cmocka_unit_test(rows),
                                       cmocka_unit_test(mistakes), cmocka_unit_test(hosts),
                                       cmocka_unit_test(base)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
