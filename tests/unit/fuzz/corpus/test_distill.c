/*
 * Distilling: every feature of the cases is shown by a kernel that states something, whatever the number of
 * workers.
 */
#include "engine/input/input.h"
#include "fuzz/corpus/distill.h"

#include "fuzz/corpus/distill_claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    return arena_init(&arena, (size_t)4 << 30);
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static struct distill_options few_cases(uint32_t jobs)
{
    return (struct distill_options){
        .seed = 6, .cases = 4, .jobs = jobs, .gen = GEN_DEFAULTS, .max_tests = 4};
}

static void test_covers_all(void **state)
{
    (void)state;
    struct distill_options options = few_cases(1);
    struct distillation d;
    struct coverage *map = ARENA_NEW(&arena, struct coverage);
    uint32_t own = 0;
    distill(&arena, &options, &d);
    assert_true(d.count > 1);
    assert_true(d.shown > 300);
    assert_int_equal(d.covered, d.shown);
    assert_int_equal(d.divergent, 0);
    for (uint32_t i = 0; i < d.count; i++) {
        const struct distilled *kernel = &d.kernels[i];
        struct distill_features shown;
        struct diag *diag = ARENA_NEW(&arena, struct diag);
        diag_init(diag, "kernel", kernel->text, strlen(kernel->text));
        const struct ast_kernel *ast =
            parse_kernel(&arena, kernel->text, strlen(kernel->text), diag);
        assert_non_null(ast);
        assert_non_null(ast->expects);
        assert_true(distill_check(&arena, ast, map, &shown));
        assert_true(kernel->size <= kernel->size_before);
        for (uint32_t k = 0; k < kernel->features.count; k++)
            assert_true(map->count[kernel->features.counters[k]] > 0);
        own += kernel->features.count;
    }
    assert_int_equal(own, d.covered);
}

static void test_does_not_depend_on_workers(void **state)
{
    (void)state;
    struct distill_options one = few_cases(1), three = few_cases(3);
    struct distillation a, b;
    distill(&arena, &one, &a);
    distill(&arena, &three, &b);
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.covered, b.covered);
    for (uint32_t i = 0; i < a.count; i++)
        assert_string_equal(a.kernels[i].text, b.kernels[i].text);
}

/* All schedules of the check end, whether or not another one is known that does not. */
static void test_claims_no_end_of_what_may_hang(void **state)
{
    (void)state;
    static const char text[] = "launch(threads=2, warp=2, blocks=1);\n"
                               "shared int done[2];\n"
                               "kernel k()\n{\n    done[tid] = 1;\n}\n";
    for (int may_hang = 0; may_hang < 2; may_hang++) {
        struct diag *diag = ARENA_NEW(&arena, struct diag);
        diag_init(diag, "kernel", text, strlen(text));
        struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), diag);
        bool claimed = false;
        assert_non_null(kernel);
        assert_true(distill_claims(&arena, kernel, may_hang));
        for (const struct ast_expect *e = kernel->expects; e; e = e->next)
            claimed |= e->claim == CLAIM_TERMINATES;
        assert_int_equal(claimed, !may_hang);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covers_all),
        cmocka_unit_test(test_does_not_depend_on_workers),
        cmocka_unit_test(test_claims_no_end_of_what_may_hang),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
