/* Kernels about waiting: valid, small, of all kinds; tiny ones enumerated, none twice. */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/progress/lasso.h"
#include "engine/search/search.h"
#include "fuzz/generate/generate.h"
#include "fuzz/waiting/gen_spin.h"

#include <stdio.h>
#include <stdlib.h>

static struct gen_options spinning(void)
{
    struct gen_options options = GEN_DEFAULTS;
    options.spin = true;
    return options;
}

static void check_kernel(const struct ast_kernel *kernel)
{
    struct diag diag;
    char *text = print_kernel(&test_arena, kernel);
    diag_init(&diag, "generated", text, strlen(text));
    if (!ast_check(kernel, &diag))
        fail_msg("not well-formed:\n%s", text);
    struct ast_kernel *parsed = parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!parsed)
        fail_msg("does not parse:\n%s", text);
    assert_string_equal(print_kernel(&test_arena, parsed), text);
    assert_in_range(kernel->launch.threads * kernel->launch.blocks, 2, 4);
    assert_in_range(ast_kernel_size(kernel), 0, 60);
}

static void kernels_are_valid(void **state)
{
    (void)state;
    struct gen_options options = spinning();
    uint32_t blocks = 0, warps = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 1, i, &options);
        check_kernel(kernel);
        blocks += kernel->launch.blocks > 1;
        warps += kernel->launch.threads > kernel->launch.warp;
        arena_release(&test_arena, mark);
    }
    assert_true(blocks > 500 && warps > 500);
}

/* Bytes of a fuzzer, too; none at all is the smallest kernel. */
static void every_buffer_is_a_kernel(void **state)
{
    (void)state;
    struct gen_options options = spinning();
    static uint8_t bytes[80];
    struct pcg rng = pcg_derive(1, PCG_MUTATE, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        size_t mark = arena_mark(&test_arena), length = i == 0 ? 0 : pcg_below(&rng, sizeof bytes);
        for (size_t k = 0; k < length; k++)
            bytes[k] = i == 1 ? 255 : (uint8_t)pcg_next(&rng);
        struct source source;
        source_bytes(&source, bytes, length);
        check_kernel(gen_kernel(&test_arena, &source, &options));
        arena_release(&test_arena, mark);
    }
}

/* Every alternative of every pattern parses, not just the ones drawn so far: many draws of each idiom. */
static void every_idiom_parses(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < W_LOCK_IDIOM_OWN - W_LOCK_IDIOM_FIRST + 1; i++) {
        const struct spin_idiom *idiom = &spin_idioms[i];
        assert_non_null(idiom->shared);
        for (uint64_t draw = 0; draw < 200; draw++) {
            size_t mark = arena_mark(&test_arena);
            struct source source;
            struct gen g = {.arena = &test_arena, .source = &source, .options = &GEN_DEFAULTS};
            struct spin_writing w = {.g = &g,
                                     .text = text_begin(&test_arena),
                                     .threads = 3,
                                     .space = "shared",
                                     .who = "tid"};
            source_random(&source, i, draw);
            spin_write(&w, idiom->shared);
            spin_write(&w, "kernel k() { private ");
            spin_write(&w, idiom->private);
            spin_write(&w, idiom->body);
            spin_write(&w, "}");
            struct diag diag;
            diag_init(&diag, "pattern", w.text.bytes, w.text.length);
            if (!parse_kernel(&test_arena, w.text.bytes, w.text.length, &diag))
                fail_msg("%s", w.text.bytes);
            arena_release(&test_arena, mark);
        }
    }
}

/* Searches of all states tell them apart: some end, some hang under a fair scheduler, some under an unfair one
 * only. */
static void some_hang_and_some_do_not(void **state)
{
    (void)state;
    struct gen_options options = spinning();
    uint32_t liveness[4] = {0};
    for (uint64_t i = 0; i < 300; i++) {
        size_t mark = arena_mark(&test_arena);
        struct search_options search = SEARCH_DEFAULTS;
        search.max_steps = search.max_states = 20000;
        const struct ast_kernel *kernel = gen_case(&test_arena, 2, i, &options);
        const char *reason;
        const struct program *program =
            program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        const struct search_result *result = search_run(&test_arena, machine, &search);
        liveness[result->liveness]++;
        arena_release(&test_arena, mark);
    }
    assert_true(liveness[LIVENESS_ALL_TERMINATE] > 30);
    assert_true(liveness[LIVENESS_UNFAIR_LASSO] > 30);
    assert_true(liveness[LIVENESS_FAIR_LASSO] > 30);
    assert_true(liveness[LIVENESS_UNKNOWN] < 60);
}

/* ---- enumerated ---- */

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All tiny programs of one and two accesses, for two, three and four threads in one warp and in several. */
static void tiny_programs_can_be_enumerated(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct gen_options options = spinning();
    struct gen_walk walk = {.started = false};
    char **texts = ARENA_ARRAY(&test_arena, char *, MANY);
    uint32_t count = 0, of_one = 0;
    options.small = options.enumerate = true;
    for (; count < MANY; count++) {
        struct ast_kernel *kernel = gen_next_case(&test_arena, 0, count, &options, &walk);
        assert_non_null(kernel);
        check_kernel(kernel);
        texts[count] = print_kernel(&test_arena, kernel);
        if (walk.source.value[0] == 0)
            of_one = count + 1;
        if (walk.source.value[0] == 2)
            break;
    }
    /* A place; stored 0 or 1, or read or exchanged until it is not, or is, 0: for 2, 3, 4 threads, twice. */
    assert_int_equal(of_one, (2 + 6) * 3 * 2 - 1);
    assert_true(count < MANY && count > 2000);
    qsort(texts, count, sizeof *texts, compare);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(texts[i - 1], texts[i]) == 0)
            fail_msg("twice:\n%s", texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_valid),
        cmocka_unit_test(every_buffer_is_a_kernel),
        cmocka_unit_test(every_idiom_parses),
        cmocka_unit_test(some_hang_and_some_do_not),
        cmocka_unit_test(tiny_programs_can_be_enumerated),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
