/* Tapes: text and back, runs, context switches, what is refused and where. */
#include "engine/schedule/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/pcg.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    return arena_init(&arena, 64 << 20);
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static void prints_runs(void **state)
{
    (void)state;
    static const uint32_t entries[] = {3, 3, 3, 0, TAPE_INNER | 1, TAPE_INNER | 1, 3, 12, 12};
    struct tape *tape = tape_new(&arena, 16);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        tape_add(tape, entries[i]);
    assert_string_equal(tape_print(&arena, tape), "3*3 0 !1 !1 3 12*2");
    assert_int_equal(tape_context_switches(tape), 3);
    assert_string_equal(tape_print(&arena, tape_new(&arena, 0)), "");
}

static void round_trips(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(7, PCG_KERNEL, 0);
    for (int round = 0; round < 200; round++) {
        uint32_t length = pcg_below(&rng, 40);
        struct tape *tape = tape_new(&arena, length);
        for (uint32_t i = 0; i < length; i++)
            tape_add(tape, pcg_below(&rng, 4) | (pcg_below(&rng, 5) ? 0 : TAPE_INNER));
        size_t column = 0;
        struct tape *again = tape_parse(&arena, tape_print(&arena, tape), &column);
        assert_non_null(again);
        assert_int_equal(again->count, tape->count);
        assert_memory_equal(again->entries, tape->entries, tape->count * sizeof(uint32_t));
    }
}

static void full_tape_drops(void **state)
{
    (void)state;
    struct tape *tape = tape_new(&arena, 2);
    tape_add(tape, 1);
    tape_add(tape, 2);
    assert_false(tape->truncated);
    tape_add(tape, 3);
    assert_true(tape->truncated);
    assert_int_equal(tape->count, 2);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t column;
    } rows[] = {{"x", 1},   {"1 2 y", 5},      {"1*0", 4},        {"1*", 3},
                {"!", 2},   {"!1*2", 3},       {"4000000000", 1}, {"-1", 1},
                {"1,2", 2}, {"1*20000000", 3}, {"1*16777216", 3}, {"1*16777215 2 3", 15}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t column = 0;
        assert_null(tape_parse(&arena, rows[i].text, &column));
        assert_int_equal(column, rows[i].column);
    }
    size_t column = 0;
    assert_non_null(tape_parse(&arena, " 1\t2\n", &column));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(prints_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(round_trips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_tape_drops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
