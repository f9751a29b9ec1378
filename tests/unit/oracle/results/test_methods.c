/* The two methods of exhaustive search find the same; and of a search that leaves something out it is said what. */
#include "oracle/results/methods.h"
#include "tests/unit/shared/support.h"

#define HEAD "launch(threads = 3); shared int x, y; private int p; kernel k() { "

static const char *const texts[] = {
    HEAD "x = 1; }",
    HEAD "x = tid; }",
    HEAD "p = x; y = p + 1; x = tid; }",
    HEAD "x = tid; assert(x != 1); }",
    HEAD "p = atomic_add(x, tid + 1); y = p; }",
};

static const struct search_result *search(const struct program *program, enum search_method method)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
    const struct search_result *result = search_run(&test_arena, machine, &options);
    assert_true(result->complete);
    assert_int_equal(result->method, method);
    return result;
}

static void both_methods(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test_arena.used = 0;
        const struct program *program = support_program(texts[i]);
        const char *differs =
            methods_differ(program, search(program, SEARCH_STATES), search(program, SEARCH_DPOR));
        if (differs)
            fail_msg("%s: %s", texts[i], differs);
    }
}

static void what_is_left_out(void **state)
{
    (void)state;
    static const char *const says[] = {NULL, "store", "store", "store", "store"};
    static const char *const race = HEAD "if (tid == 0) x = 1; }";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test_arena.used = 0;
        const struct program *program = support_program(texts[i]);
        const struct search_result *of = search(support_program(texts[0]), SEARCH_STATES);
        const char *differs = methods_differ(program, of, search(program, SEARCH_DPOR));
        assert_true(says[i] ? differs && strcmp(differs, says[i]) == 0 : !differs);
    }
    const struct program *program = support_program(race);
    assert_string_equal(methods_differ(program, search(support_program(texts[0]), SEARCH_DPOR),
                                       search(program, SEARCH_DPOR)),
                        "race");
    struct search_result less = *search(support_program(texts[3]), SEARCH_DPOR);
    const struct search_result *all = search(support_program(texts[3]), SEARCH_STATES);
    for (uint32_t i = 0; i < less.outcome_count; i++)
        if (less.outcomes[i].status == STATUS_ASSERT_FAILS)
            less.outcomes[i] = less.outcomes[--less.outcome_count];
    assert_string_equal(methods_differ(program, all, &less), "assert_fails");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_methods, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(what_is_left_out, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
