/* Weights of the generator: what they change, and what they never do. */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "fuzz/case/case.h"
#include "fuzz/gen/gen_weights.h"
#include "fuzz/gen/generator.h"
#include "fuzz/generate/generate.h"

#include <stdio.h>

static const struct gen_weights *weights_of(const char *list)
{
    const struct gen_weights *weights;
    const char *error_at;
    assert_true(gen_weights_parse(&test_arena, list, &weights, &error_at));
    return weights;
}

static char *kernel_text(uint64_t number, const struct gen_weights *weights, bool small)
{
    struct gen_options options = GEN_DEFAULTS;
    options.weights = weights;
    options.small = small;
    return print_kernel(&test_arena, gen_case(&test_arena, 7, number, &options));
}

static void a_hundred_changes_nothing(void **state)
{
    (void)state;
    const struct gen_weights *all = gen_weights_new(&test_arena),
                             *named = weights_of("loops:100,stm.if:100%");
    for (uint64_t i = 0; i < 100; i++) {
        size_t mark = arena_mark(&test_arena);
        char *usual = kernel_text(i, NULL, i % 4 == 0);
        assert_string_equal(kernel_text(i, all, i % 4 == 0), usual);
        assert_string_equal(kernel_text(i, named, i % 4 == 0), usual);
        arena_release(&test_arena, mark);
    }
}

static uint64_t hits_of(const struct gen_weights *weights, uint32_t row)
{
    static uint32_t hits[W_COUNT];
    struct gen_options options = GEN_DEFAULTS;
    options.weights = weights;
    memset(hits, 0, sizeof hits);
    for (uint64_t i = 0; i < 400; i++) {
        size_t mark = arena_mark(&test_arena);
        struct source source;
        source_random(&source, 7, i);
        gen_kernel_counted(&test_arena, &source, &options, hits, NULL);
        arena_release(&test_arena, mark);
    }
    return hits[row];
}

static void a_weight_is_a_proportion(void **state)
{
    (void)state;
    uint64_t usual = hits_of(NULL, W_WARP_4);
    assert_in_range(usual, 80, 150);                                         /* 30 of 105 of 400 */
    assert_in_range(hits_of(weights_of("warp.4:1000"), W_WARP_4), 290, 350); /* 300 of 375 */
    assert_in_range(hits_of(weights_of("warp.4:10"), W_WARP_4), 4, 40);      /* 3 of 78 */
    assert_in_range(hits_of(weights_of("blocks.2:10000,blocks.3:10000"), W_BLOCKS_2), 250,
                    320); /* 3 of 4 */
    assert_true(hits_of(weights_of("loops:1"), W_STM_LOOP) * 10 < hits_of(NULL, W_STM_LOOP));
    /* A feature's percentage and a row's multiply. */
    assert_int_equal(
        hits_of(weights_of("blocks:200,blocks.2:50,blocks.3:50,edge.blocks:50"), W_BLOCKS_2),
        hits_of(NULL, W_BLOCKS_2));
}

/* Whatever the weights, kernels are kernels: extreme ones, drawn for each kernel. */
static void any_weights_make_kernels(void **state)
{
    (void)state;
    static const uint32_t extremes[] = {1, 1, 10, 100, 1000, GEN_WEIGHT_MAX, GEN_WEIGHT_MAX};
    for (uint64_t i = 0; i < 600; i++) {
        size_t mark = arena_mark(&test_arena);
        struct source source;
        struct diag diag;
        source_random(&source, 11, i);
        struct gen_weights *weights = gen_weights_new(&test_arena);
        const char *name;
        for (uint32_t k = 0; (name = gen_weight_name(&test_arena, k)); k++)
            assert_true(
                gen_weights_set(weights, name, strlen(name), extremes[source_below(&source, 7)]));
        char *text = kernel_text(i, weights, i % 5 == 0);
        diag_init(&diag, "generated", text, strlen(text));
        if (!parse_kernel(&test_arena, text, strlen(text), &diag))
            fail_msg("does not parse:\n%s", text);
        arena_release(&test_arena, mark);
    }
}

static void lists_print_to_themselves(void **state)
{
    (void)state;
    static const char list[] = "loops:200,calls:1,warp.wide:3,stm.function-return:10000";
    assert_string_equal(gen_weights_print(&test_arena, weights_of(list)), list);
    assert_string_equal(gen_weights_print(&test_arena, weights_of("stm.if:50%,loops:10%")),
                        "loops:10,stm.if:50");
    assert_string_equal(gen_weights_print(&test_arena, NULL), "");
    assert_null(weights_of(""));
    static const char *const bad[] = {"loops",    "loops:",      "loops:0",  "loops:10001",
                                      "loops:-1", "nosuch:5",    "stm:5",    "loops:5,",
                                      ",",        "loops:5;x:3", "Loops:50", "always:50"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct gen_weights *weights;
        const char *error_at = NULL;
        assert_false(gen_weights_parse(&test_arena, bad[i], &weights, &error_at));
        assert_non_null(error_at);
    }
}

/* The weights are a part of the case: its text gives the same kernel. */
static void a_case_keeps_its_weights(void **state)
{
    (void)state;
    struct gen_options options = GEN_DEFAULTS;
    struct check_options check = CHECK_DEFAULTS;
    struct fuzz_case c, again;
    const char *error;
    options.weights = weights_of("switch:700,stm.loop:30");
    case_of_campaign(&c, 7, 3, &options, &check);
    char *text = case_print(&test_arena, &c);
    assert_non_null(strstr(text, " weights=switch:700,stm.loop:30 "));
    assert_non_null(
        strstr(case_print_options(&test_arena, &options, &check), " weights=switch:700,"));
    assert_true(case_parse(&test_arena, text, &again, &error));
    assert_string_equal(case_print(&test_arena, &again), text);
    assert_string_equal(print_kernel(&test_arena, case_kernel(&test_arena, &again, NULL)),
                        print_kernel(&test_arena, case_kernel(&test_arena, &c, NULL)));
    assert_non_null(
        strstr(case_gen_command(&test_arena, 7, &options), " --weights switch:700,stm.loop:30 "));
    assert_false(case_parse(&test_arena, "weights=nosuch:3", &again, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_changes_nothing), cmocka_unit_test(a_weight_is_a_proportion),
        cmocka_unit_test(any_weights_make_kernels),  cmocka_unit_test(lists_print_to_themselves),
        cmocka_unit_test(a_case_keeps_its_weights),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
