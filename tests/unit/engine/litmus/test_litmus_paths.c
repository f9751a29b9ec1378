/* The way to each outcome of the caches' tests: it begins at the start, every step changes something, and the last
 * state has ended with the outcome's values; each outcome has one, and none is longer than need be where that is
 * known. */
#include "engine/input/input.h"
#include "engine/litmus/litmus_path.h"
#include "tests/unit/shared/support.h"

#include <string.h>

enum { STATES = 1 << 18, MOST = 64 };

static int16_t last_value(const struct litmus_path *path, const struct litmus_observed *o)
{
    const struct litmus_state *end = &path->moments[path->count - 1].state;
    return o->is_register ? end->actors[o->thread].regs[o->number] : end->words[o->number];
}

static bool shared_or_global(const struct litmus_observed *o)
{
    return o->is_register || o->number < LITMUS_GLOBALS + 4 * LITMUS_THREADS;
}

static void check_path(const struct litmus_paths *paths, const struct litmus_path *path)
{
    const struct litmus_test *test = paths->test;
    assert_true(path->count > 0);
    for (uint32_t i = 0; i < path->count; i++) {
        assert_int_equal(path->moments[i].move.kind == MOVE_START, i == 0);
        if (i > 0)
            assert_memory_not_equal(&path->moments[i].state, &path->moments[i - 1].state,
                                    sizeof path->moments[i].state);
    }
    const struct litmus_state *end = &path->moments[path->count - 1].state;
    for (uint32_t t = 0; t < test->count; t++)
        assert_int_equal(end->actors[t].pc, test->threads[t].length);
    for (uint32_t i = 0; i < test->observed; i++)
        if (shared_or_global(&test->observe[i]))
            assert_int_equal(last_value(path, &test->observe[i]), path->values[i]);
}

static uint32_t check_model(const struct litmus_test *test, enum litmus_model model)
{
    struct litmus_result result;
    struct litmus_paths paths = {.most = MOST};
    assert_true(litmus_run_paths(&test_arena, test, model, STATES, &result, &paths));
    if (result.silent)
        return 0;
    assert_int_equal(paths.count, result.count < MOST ? result.count : MOST);
    for (uint32_t i = 0; i < paths.count; i++)
        check_path(&paths, &paths.of[i]);
    return paths.count;
}

static void paths_end_as_they_say(void **state)
{
    (void)state;
    struct diag diag;
    size_t length;
    uint32_t tests = 0, found = 0;
    const char *name = "corpus/litmus/caches.litmus";
    diag_init(&diag, name, NULL, 0);
    const char *text = parse_read_file(
        &test_arena, arena_printf(&test_arena, "%s/%s", SIMTFUZZ_SOURCE_DIR, name), &length, &diag);
    assert_non_null(text);
    struct litmus_reader reader = {.at = text};
    struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
    size_t mark = arena_mark(&test_arena);
    for (; litmus_next(&test_arena, &reader, test, &diag); tests++) {
        for (uint32_t m = 0; m <= LITMUS_COHERENT; m++)
            found += check_model(test, (enum litmus_model)m);
        arena_release(&test_arena, mark);
    }
    assert_int_equal(diag.count, 0);
    assert_true(tests > 100 && found > 4 * tests);
}

/* Under sc a way has as many steps as the threads have instructions. */
static void sc_takes_each_instruction_once(void **state)
{
    (void)state;
    struct diag diag;
    struct litmus_result result;
    struct litmus_paths paths = {.most = MOST};
    struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
    struct litmus_reader reader = {.at = "test MP\n"
                                         "thread 0: st.cg x 1; mb.gl; st.cg y 1\n"
                                         "thread 1: ld.ca r1 y; ld.ca r2 x\n"
                                         "observe 1:r1 1:r2\n"};
    diag_init(&diag, "MP", NULL, 0);
    assert_true(litmus_next(&test_arena, &reader, test, &diag));
    assert_true(litmus_run_paths(&test_arena, test, LITMUS_SC, STATES, &result, &paths));
    assert_int_equal(paths.count, 3);
    for (uint32_t i = 0; i < paths.count; i++)
        assert_int_equal(paths.of[i].count, 1 + 5);
    assert_string_equal(litmus_text(&test_arena, test, 0, 0), "st.cg x 1");
    assert_string_equal(litmus_text(&test_arena, test, 0, 1), "membar.gl");
    assert_string_equal(litmus_text(&test_arena, test, 1, 1), "ld.ca r2 x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_end_as_they_say),
        cmocka_unit_test(sc_takes_each_instruction_once),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
