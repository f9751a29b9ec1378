/*
 * The mutators: what they make of corpus kernels and generated ones parses to what it is, the same
 * choices make the same, the donor stays as it was, and each of them has something to do.
 */
#include "engine/input/input.h"
#include "fuzz/generate/generate.h"
#include "fuzz/mutate/mutate.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KERNELS_MAX = 600, LINEAGE = 8 };

static struct arena arena;
static struct ast_kernel *kernels[KERNELS_MAX];
static uint32_t kernel_count;
static uint32_t done[MUTATOR_COUNT];

static struct ast_kernel *parse(const char *name, const char *text)
{
    static struct diag diag;
    diag_init(&diag, name, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    return kernel;
}

static void add_corpus(const char *pattern)
{
    glob_t found;
    static struct diag diag;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc && kernel_count < KERNELS_MAX; i++) {
        size_t length;
        diag_init(&diag, found.gl_pathv[i], NULL, 0);
        char *text = parse_read_file(&arena, found.gl_pathv[i], &length, &diag);
        assert_non_null(text);
        struct ast_kernel *kernel = parse(found.gl_pathv[i], text);
        if (kernel)
            kernels[kernel_count++] = kernel;
    }
    globfree(&found);
}

static int setup(void **state)
{
    (void)state;
    if (arena_init(&arena, (size_t)2 << 30) != 0)
        return -1;
    add_corpus(SIMTFUZZ_SOURCE_DIR "/corpus/regress/*.simt");
    add_corpus(SIMTFUZZ_SOURCE_DIR "/corpus/rules/*.simt");
    add_corpus(SIMTFUZZ_SOURCE_DIR "/corpus/papers/*.simt");
    add_corpus(SIMTFUZZ_SOURCE_DIR "/corpus/papers/crs/*.ptx");
    add_corpus(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/[a-d]*.ptx");
    struct gen_options gen = GEN_DEFAULTS;
    for (uint64_t number = 0; number < 60; number++)
        kernels[kernel_count++] = gen_case(&arena, 7, number, &gen);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

/* Printed, it is a kernel that prints so. */
static void assert_is_kernel(const struct ast_kernel *kernel, const char *what)
{
    const char *text = print_kernel(&arena, kernel);
    const struct ast_kernel *again = parse("mutated", text);
    if (!again)
        fail_msg("%s made what does not parse:\n%s", what, text);
    assert_string_equal(print_kernel(&arena, again), text);
}

static const struct ast_kernel *donor_of(uint32_t i)
{
    return i % 5 == 0 ? NULL : kernels[(i * 37 + 11) % kernel_count];
}

static void lineages_of_mutations_parse(void **state)
{
    (void)state;
    uint32_t tried = 0, changed = 0;
    for (uint32_t i = 0; i < kernel_count; i++) {
        size_t mark = arena_mark(&arena);
        struct ast_kernel *kernel = ast_kernel_copy(&arena, kernels[i]);
        for (uint32_t k = 0; k < LINEAGE; k++) {
            struct source choices;
            source_random(&choices, i, k);
            bool did = mutate_kernel(&arena, kernel, &choices, donor_of(i + k));
            tried++;
            changed += did;
            if (did)
                assert_is_kernel(kernel, "a mutator");
        }
        arena_release(&arena, mark);
    }
    assert_true(tried > 2000);
    assert_true(changed * 10 > tried * 9);
}

static void each_mutator_keeps_kernels_kernels(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < kernel_count; i++)
        for (uint32_t k = 0; k < MUTATOR_COUNT; k++) {
            size_t mark = arena_mark(&arena);
            struct ast_kernel *kernel = ast_kernel_copy(&arena, kernels[i]);
            struct source choices;
            source_random(&choices, 1000 + i, k);
            if (mutate_kernel_by(&arena, kernel, (enum mutator_id)k, &choices, donor_of(i))) {
                done[k]++;
                assert_is_kernel(kernel, mutator_table[k].name);
            }
            arena_release(&arena, mark);
        }
    for (uint32_t k = 0; k < MUTATOR_COUNT; k++)
        if (done[k] < 10)
            fail_msg("%s did something %u times only", mutator_table[k].name, done[k]);
}

static void the_same_choices_make_the_same(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < kernel_count; i++) {
        size_t mark = arena_mark(&arena);
        const char *texts[2];
        for (int k = 0; k < 2; k++) {
            struct ast_kernel *kernel = ast_kernel_copy(&arena, kernels[i]);
            struct source choices;
            source_random(&choices, 5, i);
            for (int step = 0; step < 4; step++)
                mutate_kernel(&arena, kernel, &choices, donor_of(i));
            texts[k] = print_kernel(&arena, kernel);
            arena_strndup(&arena, "elsewhere", 9); /* other addresses, the same result */
        }
        assert_string_equal(texts[0], texts[1]);
        arena_release(&arena, mark);
    }
}

static void the_donor_stays_as_it_was(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < kernel_count; i++) {
        size_t mark = arena_mark(&arena);
        const struct ast_kernel *donor = kernels[(i + 1) % kernel_count];
        const char *before = print_kernel(&arena, donor);
        struct ast_kernel *kernel = ast_kernel_copy(&arena, kernels[i]);
        struct source choices;
        source_random(&choices, 6, i);
        mutate_kernel(&arena, kernel, &choices, donor);
        assert_string_equal(print_kernel(&arena, donor), before);
        arena_release(&arena, mark);
    }
}

/* When nothing could be done, nothing was. */
static void a_refusal_changes_nothing(void **state)
{
    (void)state;
    struct ast_kernel *kernel = parse("text", "kernel k() { if (tid) ; } expect terminates;");
    const char *before = print_kernel(&arena, kernel);
    struct source choices;
    for (uint32_t k = 0; k < MUTATOR_COUNT; k++) {
        source_random(&choices, 9, k);
        if (!mutate_kernel_by(&arena, kernel, (enum mutator_id)k, &choices, NULL))
            assert_string_equal(print_kernel(&arena, kernel), before);
        kernel = parse("text", before);
    }
    source_random(&choices, 9, 0);
    assert_false(mutate_kernel_by(&arena, kernel, MUTATOR_RETARGET, &choices, NULL));
    assert_true(mutate_kernel_by(&arena, kernel, MUTATOR_NEGATE, &choices, NULL));
    assert_null(kernel->expects);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lineages_of_mutations_parse),
        cmocka_unit_test(each_mutator_keeps_kernels_kernels),
        cmocka_unit_test(the_same_choices_make_the_same),
        cmocka_unit_test(the_donor_stays_as_it_was),
        cmocka_unit_test(a_refusal_changes_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
