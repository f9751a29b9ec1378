/* Liveness of warps of PTX (cuda-crs 6.5): the spin lock of Programs 6.1 and 6.2, by number of lanes, and its
 * repaired form. */
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"
#include "oracle/check/check.h"

static struct check_result *check_file(const char *path, const char *settings)
{
    static char text[1 << 16];
    struct check_options options = CHECK_DEFAULTS;
    struct diag diag;
    char name[300];
    (void)snprintf(name, sizeof name, "%s/%s", SIMTFUZZ_SOURCE_DIR, path);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    diag_init(&diag, path, text, length);
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, length, &diag);
    assert_non_null(kernel);
    assert_true(ptx_kernel_set(&test_arena, kernel, settings, &diag));
    kernel->expects = NULL;
    options.budget_steps = 1 << 18;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, kernel, &options, result);
    return result;
}

static const char *lanes(uint32_t n)
{
    return arena_printf(&test_arena, "threads=%u warp=%u", n, n);
}

static void the_spin_lock_is_not_live(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {2, 3, 4, 8, 31, 32};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct check_result *r = check_file("corpus/papers/crs/gt-62.ptx", lanes(numbers[i]));
        const struct answer *answer = &r->answers[ORACLE_LIVENESS];
        assert_true(r->runs[SUBJECT_CRS].fair_lasso);
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(answer->divergence->class_name, "unfair");
        assert_string_equal(answer->divergence->known, "UNF");
        assert_non_null(strstr(answer->divergence->evidence, "\"stack_depth_at_least\": 1"));
        assert_int_equal(r->answers[ORACLE_SAFETY].verdict, VERDICT_AGREE); /* safe all the same */
    }
}

static void one_lane_gets_through(void **state)
{
    (void)state;
    struct check_result *r = check_file("corpus/papers/crs/gt-62.ptx", lanes(1));
    assert_int_equal(r->answers[ORACLE_LIVENESS].verdict, VERDICT_NOT_APPLICABLE);
    assert_true(r->runs[SUBJECT_CRS].statuses[STATUS_TERMINATED] > 0);
}

static void the_section_inside_of_the_loop_is_live(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {1, 2, 4, 8, 32};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct check_result *r =
            check_file("corpus/papers/crs/gt-62-inside.ptx", lanes(numbers[i]));
        const struct check_run *run = &r->runs[SUBJECT_CRS];
        assert_int_equal(run->statuses[STATUS_TERMINATED], run->schedules);
        assert_false(run->fair_lasso);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_spin_lock_is_not_live, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(one_lane_gets_through, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(the_section_inside_of_the_loop_is_live, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
