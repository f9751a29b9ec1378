/*
 * The passes that make a kernel what lockstep-cfg asks for, one by one, and Def. 5.1 as a check:
 * against the definition by brute force where guards are small.
 */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "engine/language/print.h"
#include "fuzz/generate/generate.h"

/* ---- generated kernels ---- */

static bool is_call(const struct ast_stm *stm)
{
    return stm && stm->kind == STM_CALL;
}

/* What the passes promise, of one function, under several sort orders. */
static void check_normal(const struct ast_function *function, bool is_kernel)
{
    uint32_t ends = 0, returns = 0;
    for (const struct ast_block *b = function->blocks; b; b = b->next) {
        bool calls = false;
        for (const struct ast_stm *stm = b->body; stm; stm = stm->next)
            calls |= is_call(stm);
        assert_true(!calls || !b->body->next);
        assert_false(calls && is_kernel && b == function->blocks);
        assert_true(calls || b->returns || b->body->kind == STM_ASSUME);
        for (uint32_t t = 0; t < b->target_count; t++) {
            assert_ptr_not_equal(b->targets[t], function->blocks);
            ends += !b->targets[t];
        }
        if (b->target_count == 1 && !b->targets[0])
            assert_true(b->body->next->kind == STM_BARRIER && !b->body->next->next);
        returns += b->returns;
        assert_true(!b->returns || (!b->body && !b->next));
    }
    assert_true(is_kernel ? ends <= 1 && returns == 0 : ends == 0 && returns <= 1);
    for (uint64_t seed = 0; seed < 4; seed++) {
        const char *reason;
        struct location at;
        struct cfg *cfg = cfg_build(&test_arena, function, &reason, &at);
        cfg_sort(&test_arena, cfg, seed);
        assert_true(cfg_order_valid(cfg));
        for (uint32_t l = 0; l < cfg->loop_count; l++) {
            uint32_t place = cfg->count - 1;
            while (!cfg_in_loop(cfg, l, cfg->order[place]))
                place--;
            assert_false(is_call(cfg->blocks[cfg->order[place]]->body));
        }
        if (returns)
            assert_true(cfg->blocks[cfg->order[cfg->count - 1]]->returns);
    }
}

static void test_generated(void **state)
{
    (void)state;
    struct gen_options options = GEN_DEFAULTS;
    const char *at;
    uint32_t graphs = 0, procedures = 0;
    assert_true(
        gen_parse_features("graphs,directions,barriers,atomics,choices", &options.features, &at));
    for (uint64_t number = 0; number < 1500; number++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 5, number, &options);
        const char *reason = NULL;
        struct location place;
        if (kernel->form == FORM_BLOCKS) {
            enum well_formed before = well_formed(&test_arena, kernel, &reason, &place);
            struct ast_kernel *once = normalise(&test_arena, kernel, NORMALISE_ALL, &reason);
            assert_non_null(once);
            check_normal(once->main, true);
            for (const struct ast_function *f = once->functions; f; f = f->next)
                check_normal(f, false);
            assert_int_equal(well_formed(&test_arena, once, &reason, &place), before);
            const char *text = print_kernel(&test_arena, once);
            assert_string_equal(print_kernel(&test_arena, support_parse(text)), text);
            once = normalise(&test_arena, once, NORMALISE_ALL, &reason);
            assert_string_equal(print_kernel(&test_arena, once), text);
            graphs++;
            procedures += kernel->functions != NULL;
        }
        arena_release(&test_arena, mark);
    }
    assert_true(graphs > 200 && procedures > 50);
}

/* A chain of calls in one block needs a block each. */
static void test_limit(void **state)
{
    (void)state;
    for (uint32_t calls = 1022; calls <= 1024; calls++) {
        const char *text = "void p() blocks { R: return; } kernel k() blocks { Start: ;";
        for (uint32_t i = 0; i < calls; i++)
            text = arena_printf(&test_arena, "%s p();", text);
        text = arena_printf(&test_arena, "%s goto End; }", text);
        const char *reason = NULL;
        struct ast_kernel *kernel =
            normalise(&test_arena, support_parse(text), NORMALISE_CALLS, &reason);
        assert_int_equal(kernel != NULL, calls + 2 <= LIMIT_LABELS);
        if (!kernel)
            assert_string_equal(reason, "more than 1024 blocks");
    }
    const char *reason = NULL;
    const char *irreducible = "kernel k() blocks { Start: goto A, B; A: goto B; B: goto A, End; }";
    assert_null(normalise(&test_arena, support_parse(irreducible), NORMALISE_ALL, &reason));
    assert_non_null(strstr(reason, "irreducible: the edge from 'Start' to 'B'"));
}

/* ---- Def. 5.1 ---- */

/* Guards over two variables and small constants: the values from -3 to 6 decide. */
static const char *random_guard(struct pcg *rng, uint32_t depth)
{
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    const char *name = pcg_below(rng, 2) ? "i" : "j";
    if (depth > 0 && pcg_below(rng, 2)) {
        const char *left = random_guard(rng, depth - 1);
        return arena_printf(&test_arena, "(%s %s %s)", left, pcg_below(rng, 2) ? "&&" : "||",
                            random_guard(rng, depth - 1));
    }
    switch (pcg_below(rng, 8)) {
    case 0:
        return name;
    case 1:
        return arena_printf(&test_arena, "!%s", name);
    case 2:
        return arena_printf(&test_arena, "!(%s)", random_guard(rng, 0));
    case 3:
        return arena_printf(&test_arena, "(%u %s %s)", (unsigned)pcg_below(rng, 4),
                            operators[pcg_below(rng, 6)], name);
    default:
        return arena_printf(&test_arena, "(%s %s %u)", name, operators[pcg_below(rng, 6)],
                            (unsigned)pcg_below(rng, 4));
    }
}

static int32_t guard_value(const struct ast_expr *e, int32_t i, int32_t j)
{
    if (e->kind == EXPR_INT)
        return e->value;
    if (e->kind == EXPR_VAR)
        return e->var->name[0] == 'i' ? i : j;
    if (e->kind == EXPR_UNARY)
        return ast_eval_unary(e->unary, guard_value(e->a, i, j));
    return ast_eval_binary(e->binary, guard_value(e->a, i, j), guard_value(e->b, i, j));
}

static bool all_covered(const struct ast_block *start)
{
    for (int32_t i = -3; i <= 6; i++)
        for (int32_t j = -3; j <= 6; j++) {
            bool covered = false;
            for (uint32_t t = 0; t < start->target_count; t++)
                covered |= guard_value(start->targets[t]->body->value, i, j) != 0;
            if (!covered)
                return false;
        }
    return true;
}

static void test_coverage(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(9, PCG_KERNEL, 0);
    uint32_t good = 0, bad = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        size_t mark = arena_mark(&test_arena);
        const char *reason;
        struct location at;
        const char *text = arena_printf(
            &test_arena,
            "private int i, j; kernel k() blocks { Start: goto A, B, C; A: assume(%s); goto End;"
            "B: assume(%s); goto End; C: assume(%s); goto End; }",
            random_guard(&rng, 2), random_guard(&rng, 2), random_guard(&rng, 1));
        const struct ast_kernel *kernel = support_parse(text);
        bool covered = all_covered(kernel->main->blocks);
        enum well_formed verdict = well_formed(&test_arena, kernel, &reason, &at);
        if (verdict != (covered ? WELL_FORMED : ILL_FORMED))
            fail_msg("%s: %d", text, (int)verdict);
        good += covered;
        bad += !covered;
        arena_release(&test_arena, mark);
    }
    assert_true(good > 300 && bad > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
