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

/* ---- passes ---- */

/* The blocks on one line each: "name: statements > targets". */
static const char *blocks_of(const struct ast_kernel *kernel)
{
    const char *text = "";
    const struct ast_function *functions[] = {kernel->functions, kernel->main};
    for (uint32_t i = 0; i < 2; i++)
        for (const struct ast_function *f = functions[i]; f; f = i ? NULL : f->next)
            for (const struct ast_block *b = f->blocks; b; b = b->next) {
                text = arena_printf(&test_arena, "%s%s:", text, b->name);
                for (const struct ast_stm *stm = b->body; stm; stm = stm->next)
                    text =
                        arena_printf(&test_arena, "%s %s", text, print_stm_head(&test_arena, stm));
                for (uint32_t t = 0; t < b->target_count; t++)
                    text = arena_printf(&test_arena, "%s %s%s", text, t ? "" : "> ",
                                        b->targets[t] ? b->targets[t]->name : "End");
                text = arena_printf(&test_arena, "%s%s\n", text, b->returns ? " return" : "");
            }
    return text;
}

static const struct pass_case {
    unsigned passes;
    const char *kernel, *blocks; /* blocks NULL: nothing changes */
} pass_cases[] = {
    {NORMALISE_ENTRY,
     "private int i; kernel k() blocks { Start: i = i + 1; goto Start, X; X: goto End; }",
     "Start: > Start_2\nStart_2: i = i + 1; > Start_2 X\nX: > End\n"},
    {NORMALISE_ENTRY,
     "private int i; kernel k() blocks { Start: goto Start, Start_2; Start_2: goto End; }",
     "Start: > Start_3\nStart_3: > Start_3 Start_2\nStart_2: > End\n"},
    {NORMALISE_ENTRY, "kernel k() blocks { Start: goto A; A: goto A, End; }", NULL},

    {NORMALISE_FINAL, "kernel k() blocks { Start: goto End; }",
     "Start: > Exit\nExit: assume(1); barrier(); > End\n"},
    {NORMALISE_FINAL,
     "kernel k() blocks { Start: goto A, End, Exit; A: goto End; Exit: barrier(); goto End; }",
     "Start: > A Exit_2 Exit\nA: > Exit_2\nExit: barrier(); > Exit_2\n"
     "Exit_2: assume(1); barrier(); > End\n"},
    {NORMALISE_FINAL, "kernel k() blocks { Start: goto X; X: barrier(); goto End; }", NULL},
    {NORMALISE_FINAL, "kernel k() blocks { Start: goto X; X: assume(1); barrier(); goto End; }",
     NULL},
    {NORMALISE_FINAL, "kernel k() blocks { Start: goto X; X: barrier() if (tid); goto End; }",
     "Start: > X\nX: barrier() if (tid); > Exit\nExit: assume(1); barrier(); > End\n"},
    {NORMALISE_FINAL, "kernel k() blocks { Start: goto X; X: barrier(); goto X, End; }",
     "Start: > X\nX: barrier(); > X Exit\nExit: assume(1); barrier(); > End\n"},
    {NORMALISE_FINAL, "kernel k() blocks { Start: goto X; X: assume(tid); barrier(); goto End; }",
     "Start: > X\nX: assume(tid); barrier(); > Exit\nExit: assume(1); barrier(); > End\n"},
    {NORMALISE_FINAL, "kernel k() blocks { Start: goto X; X: goto X; }", NULL},

    {NORMALISE_ASSUMES,
     "private int i; void p() blocks { B: p(); goto R; R: return; }\n"
     "kernel k() blocks { Start: i = 1; goto A, B; A: assume(i); goto C; B: goto C;\n"
     "C: p(); goto D; D: p(); i = 2; goto End; }",
     "B: p(); > R\nR: return\nStart: assume(1); i = 1; > A B\nA: assume(i); > C\n"
     "B: assume(1); > C\nC: p(); > D\nD: assume(1); p(); i = 2; > End\n"},

    {NORMALISE_CALLS,
     "private int i; void p() blocks { R: return; }\n"
     "kernel k() blocks { Start: assume(1); p(); p(); i = 1; goto End; }",
     "R: return\nStart: assume(1); > Start_2\nStart_2: p(); > Start_3\nStart_3: p(); > Start_4\n"
     "Start_4: i = 1; > End\n"},
    {NORMALISE_CALLS, "void p() blocks { R: return; } kernel k() blocks { Start: p(); goto End; }",
     "R: return\nStart: > Start_2\nStart_2: p(); > End\n"},
    {NORMALISE_CALLS,
     "void p() blocks { R: p(); return; } kernel k() blocks { Start: goto A; A: p(); goto End; }",
     NULL},
    /* A call block that could stand last in its loop. */
    {NORMALISE_CALLS,
     "void p() blocks { R: return; }\n"
     "kernel k() blocks { Start: goto H; H: p(); goto B; B: goto H, C; C: p(); goto H, End; }",
     "R: return\nStart: > H\nH: p(); > B\nB: > H C\nC: p(); > C_2\nC_2: > H End\n"},
    {NORMALISE_CALLS,
     "void p() blocks { R: return; }\n"
     "kernel k() blocks { Start: goto H; H: p(); goto H, End; }",
     "R: return\nStart: > H\nH: p(); > H_2\nH_2: > H End\n"},

    {NORMALISE_RETURN,
     "private int i; void p() blocks { E: goto A, B; A: i = 1; return; B: return; }\n"
     "kernel k() blocks { Start: goto End; }",
     "E: > A B\nA: i = 1; > Return\nB: > Return\nReturn: return\nStart: > End\n"},
    {NORMALISE_RETURN,
     "private int i; void p() blocks { E: i = 1; return; }\n"
     "kernel k() blocks { Start: goto End; }",
     "E: i = 1; > Return\nReturn: return\nStart: > End\n"},
    {NORMALISE_RETURN,
     "void p() blocks { E: goto R, B; R: return; B: goto R; }\n"
     "kernel k() blocks { Start: goto End; }",
     "E: > R B\nB: > R\nR: return\nStart: > End\n"},
    {NORMALISE_RETURN,
     "void p() blocks { E: goto E, R; R: return; } kernel k() blocks { Start: goto End; }",
     "entry: > E\nE: > E R\nR: return\nStart: > End\n"},
    {NORMALISE_RETURN,
     "void p() blocks { E: return; } void q() blocks { E: goto F; F: goto F; }\n"
     "kernel k() blocks { Start: goto End; }",
     NULL},

    {NORMALISE_ALL,
     "private int i; void p() blocks { E: i = i + 1; p(); return; }\n"
     "kernel k() blocks { Start: p(); goto Start, End; }",
     "E: assume(1); i = i + 1; > E_2\nE_2: p(); > Return\nReturn: return\n"
     "Start: assume(1); > Start_2\nStart_2: p(); > Start_3\nStart_3: assume(1); > Start_2 Exit\n"
     "Exit: assume(1); barrier(); > End\n"},
};

static void test_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pass_cases / sizeof pass_cases[0]; i++) {
        const struct pass_case *c = &pass_cases[i];
        const char *reason = NULL;
        const struct ast_kernel *kernel = support_parse(c->kernel);
        const char *before = print_kernel(&test_arena, kernel);
        struct ast_kernel *once = normalise(&test_arena, kernel, c->passes, &reason);
        if (!once)
            fail_msg("%s: %s", c->kernel, reason);
        assert_string_equal(print_kernel(&test_arena, kernel), before);
        if (c->blocks)
            assert_string_equal(blocks_of(once), c->blocks);
        else
            assert_string_equal(print_kernel(&test_arena, once), before);
        const char *text = print_kernel(&test_arena, once);
        assert_string_equal(print_kernel(&test_arena, support_parse(text)), text);
        once = normalise(&test_arena, once, c->passes, &reason);
        assert_string_equal(print_kernel(&test_arena, once), text);
    }
}

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

static const struct form_case {
    const char *blocks;
    enum well_formed verdict;
    const char *reason;
    uint32_t line;
} form_cases[] = {
    {"Start: goto End;", WELL_FORMED, NULL, 0},
    {"Start: assume(1); goto A;\nA: i = 1; goto End;", WELL_FORMED, NULL, 0},
    {"Start: i = 1; goto A, B;\nA: assume(i == 1); goto End;\nB: assume(!(i == 1)); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(i * 2 < tid + j); goto End;\n"
     "B: assume(tid + j <= i * 2); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(!(i < j)); goto End;\nB: assume(!(i >= j)); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(i < j); goto End;\nB: assume(i < j); goto End;",
     WELL_FORMED_UNKNOWN,
     "WF.3: not known whether the guards of the targets of 'Start' cover everything", 1},
    {"Start: goto A, End;\nA: assume(i < j); goto End;", WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(0); goto End;\nB: goto End;", WELL_FORMED, NULL, 0},
    {"Start: goto A, B, C;\nA: assume(i == 0); goto End;\nB: assume(i < 0); goto End;\n"
     "C: assume(i > 0); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A;\nA: goto B, C, D;\nB: assume(i == 0); goto End;\n"
     "C: assume(i < 0); goto End;\nD: assume(i > 1); goto End;",
     ILL_FORMED, "WF.3: where 'A' ends, the guards of its targets may all be false", 2},
    {"Start: goto A, B, C;\nA: assume(i > 2 && j); goto End;\nB: assume(3 > i); goto End;\n"
     "C: assume(!j || i == 7); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A, B, C;\nA: assume(i > 2 && j); goto End;\nB: assume(2 > i); goto End;\n"
     "C: assume(!j || i == 7); goto End;",
     ILL_FORMED, "WF.3: where 'Start' ends, the guards of its targets may all be false", 1},
    /* tid of four threads */
    {"Start: goto A, B, C;\nA: assume(tid == 0); goto End;\nB: assume(tid < 3); goto End;\n"
     "C: assume(tid == 3); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(tid == 0); goto End;\nB: assume(tid < 3); goto End;", ILL_FORMED,
     "WF.3: where 'Start' ends, the guards of its targets may all be false", 1},
    {"Start: goto A, B;\nA: assume(tid == 0); goto End;\nB: assume(tid > 0); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(warp == 0); goto End;\nB: assume(lane > 3); goto End;",
     WELL_FORMED, NULL, 0},
    {"Start: goto A;\nA: assume(2147483647 == i || i < 2147483647); goto End;", WELL_FORMED, NULL,
     0},
    {"Start: goto A;\nA: assume(i == -2147483648 || i > -2147483647); goto End;", ILL_FORMED,
     "WF.3: where 'Start' ends, the guards of its targets may all be false", 1},
    {"Start: assume(0);\ngoto End;", ILL_FORMED, "WF.0: the guard of 'Start' is not true", 1},
    {"Start: assume(i == j);\ngoto End;", WELL_FORMED_UNKNOWN,
     "WF.0: the guard of 'Start' is not true", 1},
    {"Start: goto A, B;\nA: assume(x == 1); goto End;\nB: assume(x != 1); goto End;", ILL_FORMED,
     "WF.1: the guard of 'A' at line 2 is not on private variables only", 2},
    {"Start: goto A, B;\nA: assume(c[i + a[0]] == 1); goto End;\nB: goto End;", ILL_FORMED,
     "WF.1: the guard of 'A' at line 2 is not on private variables only", 2},
    {"Start: goto A, B;\nA: assume(c[i]); goto End;\nB: goto End;", WELL_FORMED, NULL, 0},
    {"Start: goto A, B;\nA: assume(i); i = 1;\nassume(j); goto End;\nB: goto End;", ILL_FORMED,
     "WF.2: a second assume at line 3", 3},
    {"Start: i = 1;\nassume(1); goto End;", ILL_FORMED, "WF.2: a second assume at line 2", 2},
};

static void test_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof form_cases / sizeof form_cases[0]; i++) {
        const struct form_case *c = &form_cases[i];
        const char *reason = NULL;
        struct location at = {0, 0};
        const char *text = arena_printf(&test_arena,
                                        "shared int x, a[2]; private int i, j, c[2]; "
                                        "kernel k() blocks { %s }",
                                        c->blocks);
        enum well_formed verdict = well_formed(&test_arena, support_parse(text), &reason, &at);
        if (verdict != c->verdict)
            fail_msg("%s: %d", c->blocks, (int)verdict);
        if (!c->reason)
            continue;
        assert_string_equal(reason, c->reason);
        assert_int_equal(at.line, c->line);
    }
}

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
        cmocka_unit_test(test_passes),   cmocka_unit_test(test_generated),
        cmocka_unit_test(test_limit),    cmocka_unit_test(test_well_formed),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
