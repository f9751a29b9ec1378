/*
 * The reducer on generated kernels and planted predicates: findings end at their hand-minimal size, the signature is
 * kept, and the number of jobs changes nothing. Erratum A-4 (lemmas, strict mode) is a divergence that any build of
 * simtfuzz shows. Kernels that are written out: tests/cases/fuzz/reduce.
 */
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "fuzz/generate/generate.h"
#include "fuzz/keep/keep_signature.h"
#include "fuzz/reduce/reduce_internal.h"
#include "fuzz/reduce/reduce_schedule.h"
#include "tests/unit/fuzz/reduce/planted_interest.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct ast_kernel *parse(const char *text)
{
    static struct diag diag;
    diag_init(&diag, "test", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    return kernel;
}

/* The signature of the first divergence that `options` show on a kernel; NULL: none. */
static const char *signature_of(const struct ast_kernel *kernel,
                                const struct check_options *options)
{
    struct check_result *result = ARENA_NEW(&arena, struct check_result);
    check_kernel(&arena, kernel, options, result);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (result->answers[i].verdict == VERDICT_DIVERGE)
            return divergence_signature(&arena, result->answers[i].divergence);
    return NULL;
}

static struct signature_result *reduce(const struct ast_kernel *kernel,
                                       const struct check_options *check, const char *signature,
                                       uint32_t jobs)
{
    struct reduce_options options = {.check = *check, .max_tests = 20000, .jobs = jobs};
    struct signature_result *result = ARENA_NEW(&arena, struct signature_result);
    reduce_finding(&arena, kernel, signature, &options, result);
    return result;
}

static void erratum_a4_ends_at_one_loop(void **state)
{
    (void)state;
    struct check_options check = CHECK_DEFAULTS;
    check.oracles = 1u << ORACLE_LEMMAS;
    check.modes = ORACLE_MODE_LEMMAS_STRICT;
    struct gen_options gen = GEN_DEFAULTS;
    gen.features &= ~(1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS);
    uint32_t reduced = 0;
    for (uint64_t number = 0; number < 80 && reduced < 8; number++) {
        struct ast_kernel *kernel = gen_case(&arena, 0xa4, number, &gen);
        const char *signature = signature_of(kernel, &check);
        if (!signature)
            continue;
        reduced++;
        struct signature_result *one = reduce(kernel, &check, signature, 1);
        assert_true(one->reduced.reproduced);
        assert_false(one->relaxed);
        /* x = 1; while (x) x -= 1;   - or with a guard that holds at first, without x = 1 */
        if (one->reduced.size_after > 3)
            fail_msg("case %u ends at %u statements:\n%s", (unsigned)number,
                     one->reduced.size_after, print_kernel(&arena, one->reduced.kernel));
        assert_int_equal(one->reduced.kernel->launch.threads, 1);
        assert_string_equal(signature_of(one->reduced.kernel, &check), signature);
        struct signature_result *two = reduce(kernel, &check, signature, 2);
        assert_string_equal(print_kernel(&arena, one->reduced.kernel),
                            print_kernel(&arena, two->reduced.kernel));
        assert_int_equal(one->reduced.tests, two->reduced.tests);
    }
    assert_int_equal(reduced, 8);
}

/* ---- schedules ---- */

static bool always(void *context)
{
    (void)context;
    return true;
}

/* The loop is entered, and Lemma 5 fails in it, if warp 1 writes before warp 0 reads. */
static void schedules_keep_what_matters(void **state)
{
    (void)state;
    static const char text[] = "launch(threads = 4, warp = 2);\n"
                               "shared int g; private int x;\n"
                               "kernel k() { if (tid > 1) g = 1; else x = g; while (x) x -= 1; }\n";
    struct arena scratch;
    assert_int_equal(arena_init(&scratch, (size_t)1 << 30), 0);
    struct ast_kernel *kernel = parse(text);
    struct schedule_search search = {.scratch = &scratch,
                                     .kernel = kernel,
                                     .check = CHECK_DEFAULTS,
                                     .max_tests = 1000,
                                     .go_on = always};
    search.check.oracles = 1u << ORACLE_LEMMAS;
    search.check.modes = ORACLE_MODE_LEMMAS_STRICT;
    search.check.subjects = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT);
    search.check.tape_subject = SUBJECT_SIMT;
    size_t column;
    const struct tape *given = tape_parse(&arena, "0 1*4 0 1*9 0*30", &column);
    assert_null(signature_of(kernel, &search.check));
    search.check.tape = given;
    const char *signature = signature_of(kernel, &search.check);
    assert_non_null(signature);
    search.interest = keep_signature(&arena, signature);
    const struct tape *small = reduce_schedule(&arena, &search, given);
    assert_non_null(small);
    assert_in_range(tape_context_switches(small), 0, 1);
    assert_int_equal(small->entries[0], 1);
    search.check.tape = small;
    assert_string_equal(signature_of(kernel, &search.check), signature);
    arena_destroy(&scratch);
}

static bool all_eight_steps(const struct interest *interest, struct interest_question *question)
{
    (void)interest;
    return question->check->tape->count == 8;
}

/* No step may go, and the steps of each actor may stand together: segments meet which were moved before. */
static void segments_that_met_are_one(void **state)
{
    (void)state;
    struct arena scratch;
    assert_int_equal(arena_init(&scratch, 1 << 20), 0);
    const struct interest interest = {.shown = all_eight_steps};
    struct schedule_search search = {.interest = &interest,
                                     .scratch = &scratch,
                                     .check = CHECK_DEFAULTS,
                                     .max_tests = 1000,
                                     .go_on = always};
    size_t column;
    const struct tape *small =
        reduce_schedule(&arena, &search, tape_parse(&arena, "0 1 0 1 0 1 0 1", &column));
    assert_non_null(small);
    assert_int_equal(small->count, 8);
    assert_int_equal(tape_context_switches(small), 1);
    arena_destroy(&scratch);
}

/* ---- planted predicates ---- */

static struct ast_kernel *reduce_while(const char *text, planted_keeps *keeps)
{
    struct reduce_result *result = ARENA_NEW(&arena, struct reduce_result);
    planted_reduce(&arena, parse(text), keeps, NULL, result);
    return result->kernel;
}

static bool assigns_five_or_more(struct arena *scratch, const struct ast_kernel *kernel,
                                 void *context)
{
    (void)scratch;
    (void)context;
    const struct ast_stm *s = kernel->main->body;
    return s && s->kind == STM_ASSIGN && s->value->kind == EXPR_INT && s->value->value >= 5;
}

static void numbers_become_as_small_as_can_be(void **state)
{
    (void)state;
    struct ast_kernel *kernel =
        reduce_while("private int a; kernel k() { a = 1000; a = 3; }", assigns_five_or_more);
    assert_int_equal(kernel->main->body->value->value, 5);
}

/* ---- block form, with planted predicates ---- */

static uint32_t block_count(const struct ast_kernel *kernel)
{
    uint32_t count = 0;
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next)
        count++;
    return count;
}

static bool has_kind(const struct ast_block *block, enum ast_stm_kind kind)
{
    for (const struct ast_stm *s = block->body; s; s = s->next)
        if (s->kind == kind)
            return true;
    return false;
}

/* A barrier in a loop. */
static bool keeps_barrier_in_loop(struct arena *scratch, const struct ast_kernel *kernel,
                                  void *context)
{
    (void)context;
    const char *reason;
    struct location at;
    struct cfg *cfg = cfg_build(scratch, kernel->main, &reason, &at);
    for (uint32_t b = 0; cfg && b < cfg->count; b++)
        if (cfg->innermost[b] != CFG_NO_LOOP && has_kind(cfg->blocks[b], STM_BARRIER))
            return true;
    return false;
}

/* A goto with three targets, to at least two blocks. */
static bool keeps_wide_goto(struct arena *scratch, const struct ast_kernel *kernel, void *context)
{
    (void)scratch;
    (void)context;
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next)
        if (b->target_count > 2 && b->targets[0] != b->targets[1])
            return true;
    return false;
}

/* Two loops, one in the other, and an assignment in neither. */
static bool keeps_nest(struct arena *scratch, const struct ast_kernel *kernel, void *context)
{
    (void)context;
    const char *reason;
    struct location at;
    bool nested = false, assigns = false;
    struct cfg *cfg = cfg_build(scratch, kernel->main, &reason, &at);
    for (uint32_t l = 0; cfg && l < cfg->loop_count; l++)
        nested |= cfg->loops[l].parent != CFG_NO_LOOP;
    for (uint32_t b = 0; cfg && b < cfg->count; b++)
        assigns |= cfg->innermost[b] == CFG_NO_LOOP && has_kind(cfg->blocks[b], STM_ASSIGN);
    return nested && assigns;
}

static bool calls(const struct ast_function *f, const struct ast_function *callee)
{
    for (const struct ast_block *b = f->blocks; b; b = b->next)
        for (const struct ast_stm *s = b->body; s; s = s->next)
            if (s->kind == STM_CALL && s->function == callee)
                return true;
    return false;
}

/* A procedure that the kernel calls, and that calls itself. */
static bool keeps_recursion(struct arena *scratch, const struct ast_kernel *kernel, void *context)
{
    (void)scratch;
    (void)context;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (calls(kernel->main, f) && calls(f, f))
            return true;
    return false;
}

static void recursion_ends_at_two_calls(void **state)
{
    (void)state;
    struct gen_options gen = GEN_DEFAULTS;
    gen.blocks_only = true;
    const char *error_at;
    assert_true(gen_parse_features("graphs", &gen.features, &error_at));
    uint32_t reduced = 0;
    for (uint64_t number = 0; number < 600 && reduced < 8; number++) {
        size_t mark = arena_mark(&arena);
        struct ast_kernel *kernel = gen_case(&arena, 32, number, &gen);
        if (keeps_recursion(&arena, kernel, NULL)) {
            struct reduce_result result;
            planted_reduce(&arena, kernel, keeps_recursion, NULL, &result);
            const struct ast_function *f = result.kernel->functions;
            bool bare = f && !f->next && !f->locals && !result.kernel->vars && !f->blocks->next;
            if (!bare || result.size_after != 2 || !keeps_recursion(&arena, result.kernel, NULL))
                fail_msg("case %u:\n%s", (unsigned)number, print_kernel(&arena, result.kernel));
            reduced++;
        }
        arena_release(&arena, mark);
    }
    assert_int_equal(reduced, 8);
}

/* What is left has what was to be kept, is valid and reducible, and is as small as can be. */
static void graphs_end_at_their_planted_core(void **state)
{
    (void)state;
    static const struct {
        planted_keeps *keeps;
        uint32_t statements, blocks, least;
    } table[] = {
        {keeps_barrier_in_loop, 1, 2, 4}, /* Start: goto B; B: barrier; goto B */
        {keeps_wide_goto, 0, 2, 8},       /* Start: goto B, End, End; B: goto End */
        {keeps_nest, 1, 4, 8},
    };
    struct gen_options gen = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features("graphs,barriers,atomics,choices", &gen.features, &error_at));
    uint32_t reduced[3] = {0};
    for (uint64_t number = 0; number < 1200; number++) {
        size_t mark = arena_mark(&arena);
        struct ast_kernel *kernel = gen_case(&arena, 31, number, &gen);
        for (uint32_t i = 0; i < 3 && kernel->form == FORM_BLOCKS; i++) {
            if (reduced[i] >= table[i].least || !table[i].keeps(&arena, kernel, NULL))
                continue;
            struct reduce_result result;
            planted_reduce(&arena, kernel, table[i].keeps, NULL, &result);
            char *text = print_kernel(&arena, result.kernel);
            assert_true(result.reproduced);
            assert_true(table[i].keeps(&arena, result.kernel, NULL));
            assert_true(ast_check(result.kernel, NULL));
            const char *reason;
            struct location at;
            assert_int_equal(well_formed(&arena, result.kernel, &reason, &at), WELL_FORMED);
            assert_non_null(parse(text));
            if (result.size_after > table[i].statements ||
                block_count(result.kernel) > table[i].blocks)
                fail_msg("case %u, row %u:\n%s", (unsigned)number, i, text);
            reduced[i]++;
        }
        arena_release(&arena, mark);
    }
    for (uint32_t i = 0; i < 3; i++)
        if (reduced[i] < table[i].least)
            fail_msg("row %u: %u", i, reduced[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(erratum_a4_ends_at_one_loop),
        cmocka_unit_test(schedules_keep_what_matters),
        cmocka_unit_test(segments_that_met_are_one),
        cmocka_unit_test(numbers_become_as_small_as_can_be),
        cmocka_unit_test(graphs_end_at_their_planted_core),
        cmocka_unit_test(recursion_ends_at_two_calls),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
