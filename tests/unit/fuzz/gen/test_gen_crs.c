/*
 * test_gen_crs.c - raw programs of the branch unit: the same choices give the same text, every kind of
 * instruction comes up, the tiny ones can be enumerated, and what is meant to be control-flow
 * consistent is so.
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/gen/generator.h"
#include "fuzz/generate/generate.h"
#include "oracle/check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static struct gen_options raw_options(bool loose)
{
    struct gen_options options = GEN_DEFAULTS;
    options.features = 1u << FEATURE_CRS | (loose ? 1u << FEATURE_LOOSE : 0);
    return options;
}

static const char *text_of(uint64_t seed, uint64_t number, const struct gen_options *options)
{
    return print_kernel(&arena, gen_case(&arena, seed, number, options));
}

/* The same choices, the same text; a text that parses to a kernel of the same text. */
static void texts_are_stable(void **state)
{
    (void)state;
    const struct gen_options options = raw_options(true);
    for (uint64_t number = 0; number < 300; number++) {
        size_t mark = arena_mark(&arena);
        const char *text = text_of(7, number, &options);
        assert_string_equal(text, text_of(7, number, &options));
        struct diag diag;
        diag_init(&diag, "generated", text, strlen(text));
        struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
        assert_non_null(kernel);
        assert_int_equal(kernel->form, FORM_PTX);
        assert_true(kernel->ptx->raw);
        assert_string_equal(print_kernel(&arena, kernel), text);
        arena_release(&arena, mark);
    }
}

static uint32_t count(const char *text, const char *word)
{
    uint32_t n = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void every_instruction_comes_up(void **state)
{
    (void)state;
    static const char *const words[] = {"\tssy L",   "\tpreBrk L", "\tpreRet L", "\tsync;",
                                        "break;",    "ret;",       "exit;",      "bra L",
                                        "bra r0",    "bra r1",     "call L",     "call r",
                                        "not.pred ", "@f bra L",   "@!p0 ",      "sub.s32 n"};
    uint32_t seen[sizeof words / sizeof words[0]] = {0};
    const struct gen_options options = raw_options(false);
    for (uint64_t number = 0; number < 400; number++) {
        size_t mark = arena_mark(&arena);
        const char *text = text_of(3, number, &options);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            seen[i] += count(text, words[i]);
        arena_release(&arena, mark);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (seen[i] < 20)
            fail_msg("'%s' came up %u times", words[i], seen[i]);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The enumeration goes on where it stopped, and starts over for an earlier number; few sequences of
 * choices give the same program. */
static void the_tiny_ones_are_enumerated(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    struct gen_options options = raw_options(false);
    options.small = options.enumerate = true;
    struct gen_walk walk = {.started = false};
    const char **texts = ARENA_ARRAY(&arena, const char *, MANY);
    for (uint64_t number = 0; number < MANY; number++) {
        const struct ast_kernel *kernel = gen_next_case(&arena, 0, number, &options, &walk);
        assert_non_null(kernel);
        assert_in_range(kernel->launch.warp, 1, 3);
        texts[number] = print_kernel(&arena, kernel);
    }
    assert_string_equal(text_of(0, 17, &options), texts[17]);
    assert_string_equal(print_kernel(&arena, gen_next_case(&arena, 1, 99, &options, &walk)),
                        texts[99]);
    uint32_t different = 1;
    qsort(texts, MANY, sizeof *texts, compare_texts);
    for (uint32_t i = 1; i < MANY; i++)
        different += strcmp(texts[i - 1], texts[i]) != 0;
    assert_true(different > MANY / 4);
}

/* One warp, one choice of targets: what generated the program is what runs. */
static void consistent_programs_are_consistent(void **state)
{
    (void)state;
    struct gen_options options = raw_options(false);
    struct check_options check = CHECK_DEFAULTS;
    uint32_t agreed = 0, inconsistent = 0;
    check.oracles = 1u << ORACLE_SAFETY;
    check.schedules = 8;
    for (uint64_t number = 0; number < 300; number++) {
        size_t mark = arena_mark(&arena);
        const struct ast_kernel *kernel = gen_case(&arena, 11, number, &options);
        struct check_result *result = ARENA_NEW(&arena, struct check_result);
        check_kernel(&arena, kernel, &check, result);
        const struct answer *answer = &result->answers[ORACLE_SAFETY];
        if (answer->verdict == VERDICT_DIVERGE)
            fail_msg("case %u: %s", (unsigned)number, answer->reason);
        agreed += answer->verdict == VERDICT_AGREE;
        inconsistent += answer->verdict == VERDICT_NOT_APPLICABLE;
        arena_release(&arena, mark);
    }
    assert_true(agreed > 200);
    assert_true(inconsistent < 100);
}

static int start(void **state)
{
    (void)state;
    return arena_init(&arena, (size_t)1 << 30);
}

static int end(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_stable),
        cmocka_unit_test(every_instruction_comes_up),
        cmocka_unit_test(the_tiny_ones_are_enumerated),
        cmocka_unit_test(consistent_programs_are_consistent),
    };
    return cmocka_run_group_tests(tests, start, end);
}
