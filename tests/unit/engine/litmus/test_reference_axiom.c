/* The second account of the axioms: of each published PTX test that it can follow it has the verdict that is published,
 * and the outcomes of engine/axiom. */
#include "engine/axiom/axiom.h"
#include "engine/reference_axiom/ref_axiom.h"
#include "tests/unit/shared/support.h"

#include <dirent.h>
#include <string.h>

enum { CANDIDATES = 1 << 20 };

static bool has(const struct litmus_result *result, const int16_t *values)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (memcmp(result->values[i], values, sizeof result->values[i]) == 0)
            return true;
    return false;
}

static bool check_model(const struct litmus_test *test, enum litmus_model model,
                        enum ref_axioms axioms)
{
    struct ref_outcomes *second = ARENA_NEW(&test_arena, struct ref_outcomes);
    struct litmus_result first;
    if (!ref_axiom_outcomes(&test_arena, test, axioms, second))
        return false;
    struct litmus_result as_second = {.values = second->values, .count = second->count};
    if (test->verdict[model] != STATED_NOTHING)
        assert_int_equal(litmus_holds(test, &as_second), test->verdict[model] == STATED_YES);
    assert_true(axiom_run(&test_arena, test, axiom_model_of(model), CANDIDATES, &first, NULL));
    assert_int_equal(first.count, second->count);
    for (uint32_t i = 0; i < second->count; i++)
        assert_true(has(&first, second->values[i]));
    return true;
}

/* By steps: the same ends, and somebody stuck in both or in neither. */
static uint32_t check_steps(const struct litmus_test *test)
{
    struct ref_outcomes *second = ARENA_NEW(&test_arena, struct ref_outcomes);
    struct litmus_result first;
    if (!ref_steps_outcomes(&test_arena, test, second))
        return 0;
    assert_true(litmus_run(&test_arena, test, LITMUS_SC, CANDIDATES, &first));
    assert_int_equal(first.count, second->count);
    assert_int_equal(first.dead > 0, second->stuck);
    for (uint32_t i = 0; i < second->count; i++)
        assert_true(has(&first, second->values[i]));
    return 1;
}

static uint32_t check_file(const char *name, uint32_t *steps)
{
    struct diag diag;
    size_t length;
    struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
    const char *path =
        arena_printf(&test_arena, "%s/corpus/litmus/ptx/%s", SIMTFUZZ_SOURCE_DIR, name);
    diag_init(&diag, name, NULL, 0);
    struct litmus_reader reader = {.at = parse_read_file(&test_arena, path, &length, &diag)};
    assert_non_null(reader.at);
    assert_true(litmus_next(&test_arena, &reader, test, &diag));
    *steps += check_steps(test);
    return check_model(test, LITMUS_PTX60, REF_PTX60) + check_model(test, LITMUS_PTX75, REF_PTX75);
}

static void published_verdicts(void **state)
{
    uint32_t followed = 0, steps = 0;
    DIR *folder = opendir(SIMTFUZZ_SOURCE_DIR "/corpus/litmus/ptx");
    (void)state;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t mark = arena_mark(&test_arena);
        if (strstr(entry->d_name, ".litmus"))
            followed += check_file(entry->d_name, &steps);
        arena_release(&test_arena, mark);
    }
    closedir(folder);
    assert_true(followed >= 190);
    assert_true(steps >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_verdicts)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
