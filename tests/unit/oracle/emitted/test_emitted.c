/*
 * What is written for others does what the kernel does. TEXTS=N: so many.
 */
#include "oracle/emitted/emitted.h"
#include "oracle/texts/texts.h"

#include "tests/unit/oracle/texts/drawn_texts.h"

static void kernels(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_kernel);
}

static void claims(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_claims);
}

static void lists(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_lists);
}

static void assumed(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_assumed);
}

static void launches(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_launch);
}

static void settings(void **state)
{
    (void)state;
    drawn_texts_ask(texts_of_settings);
}

static void sequential(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_sequential);
}

static void guesses(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_guesses);
}

static void scopes(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_scopes);
}

static void values(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_values);
}

static void jumps(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_jumps);
}

static void fills(void **state)
{
    (void)state;
    drawn_texts_ask(emitted_fills);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),    cmocka_unit_test(claims),   cmocka_unit_test(lists),
        cmocka_unit_test(launches),   cmocka_unit_test(settings), cmocka_unit_test(assumed),
        cmocka_unit_test(sequential), cmocka_unit_test(guesses),  cmocka_unit_test(scopes),
        cmocka_unit_test(values),     cmocka_unit_test(jumps),    cmocka_unit_test(fills)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
