/* Block programs as compiled, what tests/cases/engine/program/blocks.case does not print. */
#include "tests/unit/shared/support.h"

static struct program *compile(const char *text, const char **reason)
{
    return program_compile(&test_arena, support_parse(text), reason);
}

static struct program *compiled(const char *text)
{
    const char *reason = NULL;
    struct program *program = compile(text, &reason);
    if (!program)
        fail_msg("%s", reason);
    return program;
}

static void trees_carry_the_numbers(void **state)
{
    (void)state;
    const char *reason = NULL;
    struct ast_kernel *kernel = support_parse("shared int x; kernel k() blocks {"
                                              "Start: x = 1; x = 2; goto A;"
                                              "A: skip; x = 3; goto End; }");
    const struct program *p = program_compile(&test_arena, kernel, &reason);
    uint32_t blocks = 0;
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next) {
        assert_int_equal(b->mark, blocks++);
        for (const struct ast_stm *s = b->body; s; s = s->next)
            assert_ptr_equal(p->stms[s->mark].source, s);
    }
}

/* The operand of all() and any() is a root of its own, behind the expression that it stands in. */
static void reductions_stand_apart(void **state)
{
    (void)state;
    const struct program *p = compiled("private int a; shared int s; kernel k() lockstep {"
                                       "Start: sync(!any(a) || all(a == 1)); goto A, B;"
                                       "A: assume(any(a + s)); goto End; B: goto End; }");
    assert_int_equal(p->form, FORM_LOCKSTEP);
    assert_int_equal(p->stms[0].kind, CODE_LOCKSYNC);
    uint32_t reductions[2] = {0, 0};
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct code_expr_op *op = &p->ops[i];
        if (op->op != OP_REDUCE)
            continue;
        uint32_t inner = (uint32_t)op->a;
        assert_int_equal(p->ops[inner - 1].op, OP_END);
        assert_int_equal(p->ops[inner].op, OP_PRIVATE);
        reductions[op->space]++;
    }
    assert_int_equal(reductions[0], 1);
    assert_int_equal(reductions[1], 2);
    assert_int_equal(p->stms[p->blocks[1].first].reads, 2);
    assert_int_equal(p->functions[0].counters, 0);
}

/* `loops` blocks, each with a barrier and a loop of its own. */
static const char *loops_in_a_row(uint32_t loops)
{
    const char *text = "kernel k() blocks { Start: goto B0;";
    for (uint32_t i = 0; i < loops; i++)
        text = arena_printf(&test_arena,
                            i + 1 < loops ? "%s B%u: barrier(); goto B%u, B%u;"
                                          : "%s B%u: barrier(); goto B%u, End;",
                            text, i, i, i + 1);
    return arena_printf(&test_arena, "%s }", text);
}

static void there_is_a_bit_for_each(void **state)
{
    (void)state;
    const char *reason = NULL;
    const struct program *p = compiled(loops_in_a_row(64));
    assert_int_equal(p->functions[0].counters, 64);
    assert_null(compile(loops_in_a_row(65), &reason));
    assert_string_equal(reason, "more than 64 loops of 'k' hold a barrier");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_carry_the_numbers),
        cmocka_unit_test(reductions_stand_apart),
        cmocka_unit_test(there_is_a_bit_for_each),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
