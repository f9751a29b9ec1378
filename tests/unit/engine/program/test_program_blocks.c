/*
 * Block programs as compiled: numbers, targets, guards, footprints, and the loops that count.
 */
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
        print_error("%s\n", reason);
    assert_non_null(program);
    return program;
}

static const struct code_block *block_of(const struct program *program, const char *name)
{
    for (uint32_t i = 0; i < program->block_count; i++)
        if (strcmp(program->blocks[i].name, name) == 0)
            return &program->blocks[i];
    fail_msg("no block %s", name);
    return NULL;
}

static void a_block_is_a_list_that_ends_with_its_goto(void **state)
{
    (void)state;
    const struct program *p = compiled("shared int s, a[4]; private int i; kernel k() blocks {"
                                       "Start: i = tid; a[s] = i; goto T, F;"
                                       "T: assume(i < 2); barrier(); goto End;"
                                       "F: assume(i >= 2); a[i] += s; goto T, End; }");
    const struct code_block *start = block_of(p, "Start"), *t = block_of(p, "T"),
                            *f = block_of(p, "F");
    assert_int_equal(p->form, FORM_BLOCKS);
    assert_int_equal(p->block_count, 3);
    assert_int_equal(p->functions[0].entry, 0);
    assert_int_equal(start - p->blocks, 0);
    const struct code_stm *s = &p->stms[start->first];
    assert_int_equal(s[0].kind, CODE_ASSIGN);
    assert_int_equal(s[1].kind, CODE_ASSIGN);
    assert_int_equal(s[2].kind, CODE_GOTO);
    assert_false(s[0].last || s[1].last);
    assert_true(s[2].last);
    assert_int_equal(s[1].reads, 1); /* the index reads s */
    assert_int_equal(s[1].writes, 2);
    assert_int_equal(start->target_count, 2);
    assert_ptr_equal(&p->blocks[p->targets[start->target_first]], t);
    assert_ptr_equal(&p->blocks[p->targets[start->target_first + 1]], f);
    assert_int_equal(p->targets[t->target_first], BLOCK_END);
    assert_int_equal(p->targets[f->target_first + 1], BLOCK_END);
    assert_int_equal(start->guard, CODE_NONE);
    assert_int_equal(t->guard, p->stms[t->first].value);
    assert_int_equal(f->guard, p->stms[f->first].value);
    /* a[i] += s is one statement that reads a and s. */
    assert_int_equal(p->stms[f->first + 1].reads, 3);
    assert_int_equal(p->barrier_count, 1);
    assert_int_equal(p->stms[t->first + 1].barrier, 0);
    assert_true(p->has_choices);
    for (uint32_t i = 0; i < p->stm_count; i++)
        assert_ptr_equal(&p->blocks[p->stms[i].block], i < t->first ? start : i < f->first ? t : f);
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

/* A goto's step evaluates its targets' guards. */
static void a_goto_reads_what_its_targets_guards_read(void **state)
{
    (void)state;
    const struct program *p = compiled("shared int s; private int i; kernel k() blocks {"
                                       "Start: goto A, B; A: assume(s); goto End;"
                                       "B: assume(i); assume(s); goto End; }");
    assert_int_equal(p->stms[0].kind, CODE_GOTO);
    assert_int_equal(p->stms[0].reads, 1);
}

/* The guard may be the first expression of all. */
static void so_does_the_first_of_all(void **state)
{
    (void)state;
    const struct program *p =
        compiled("shared int s; kernel k() blocks { Start: goto T, F;"
                 "T: assume(s != 0); goto End; F: assume(s == 0); goto End; }");
    assert_int_equal(p->stms[block_of(p, "Start")->first].reads, 1);
    p = compiled("shared int s; kernel k() blocks { Start: goto T, F;"
                 "T: assume(s != 0); goto End; F: goto End; }");
    assert_int_equal(p->stms[block_of(p, "Start")->first].reads, 1);
    p = compiled("shared int s; private int i; kernel k() blocks { Start: goto T, F;"
                 "T: i = s; goto End; F: i = s; goto End; }");
    assert_int_equal(p->stms[block_of(p, "Start")->first].reads, 0);
}

static void calls_hand_over_their_parameters(void **state)
{
    (void)state;
    const struct program *p =
        compiled("private int x, y; void p(int a, out int b, int c) blocks { private int l[2];"
                 " E: b = a + c + l[1]; return; }"
                 "kernel k() blocks { private int z; Start: goto C;"
                 " C: p(x + 1, z, y); goto X; X: goto End; }");
    const struct code_function *callee = &p->functions[1];
    const struct code_stm *call = &p->stms[block_of(p, "C")->first];
    const struct code_argument *arguments = &p->arguments[call->second];
    assert_int_equal(call->kind, CODE_CALL);
    assert_int_equal(call->first, 1);
    assert_int_equal(callee->in_count, 2);
    assert_int_equal(callee->out_count, 1);
    assert_int_equal(callee->frame_words, 5);
    assert_int_equal(callee->body, CODE_NONE);
    assert_string_equal(p->blocks[callee->entry].name, "E");
    static const uint32_t offsets[] = {0, 2, 1}; /* in, in, out */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(arguments[i].offset, offsets[i]);
    assert_int_equal(p->ops[arguments[0].value].op, OP_PRIVATE);
    assert_int_equal(arguments[2].target.space, SPACE_LOCAL);
    assert_int_equal(arguments[2].target.offset, 0);
    assert_int_equal(p->stms[block_of(p, "E")->first + 1].kind, CODE_END_CALL);
    assert_int_equal(block_of(p, "E")->target_count, 0);
    assert_int_equal(p->words[SPACE_LOCAL], 1 + 5);
    assert_int_equal(p->stack_depth, 2 + 2);
    assert_false(p->recursive);
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
    assert_int_equal(p->stms[block_of(p, "A")->first].reads, 2);
    assert_int_equal(p->functions[0].counters, 0);
}

/* CK7: while (i < 2) { j = 0; while (j < tid + 1) j++; barrier; i++; } */
static const char ck7[] = "launch(threads = 2); private int i, j; kernel k() blocks {"
                          "Start: goto H;"
                          "H: goto B, X;"
                          "B: assume(i < 2); j = 0; goto I;"
                          "I: goto J, Z;"
                          "J: assume(j < tid + 1); j++; goto I;"
                          "Z: assume(j >= tid + 1); barrier(); i++; goto H;"
                          "X: assume(i >= 2); goto End; }";

static void loops_with_a_barrier_count(void **state)
{
    (void)state;
    const struct program *p = compiled(ck7);
    assert_int_equal(p->functions[0].counters, 1); /* the inner loop has no barrier */
    assert_int_equal(block_of(p, "H")->heads, 1);
    static const struct {
        const char *name;
        uint64_t loops;
    } blocks[] = {{"Start", 0}, {"H", 1}, {"B", 1}, {"I", 1}, {"J", 1}, {"Z", 1}, {"X", 0}};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        assert_int_equal(block_of(p, blocks[i].name)->loops, blocks[i].loops);
    assert_int_equal(p->stack_depth, 3);
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

/* App. A's inner loop holds the barrier, too: it reaches I through H (erratum B-2). */
static void appendix_loops_swallow_more(void **state)
{
    (void)state;
    const char *reason = NULL;
    const struct program_options options = {.appendix_loops = true};
    const struct program *p =
        program_compile_with(&test_arena, support_parse(ck7), &options, &reason);
    assert_non_null(p);
    assert_int_equal(p->functions[0].counters, 2);
    uint64_t inner = block_of(p, "I")->heads, outer = block_of(p, "H")->heads;
    assert_int_equal(inner | outer, 3);
    assert_int_equal(block_of(p, "Z")->loops, 3);
    assert_int_equal(block_of(p, "B")->loops, outer);
}

static const char *refusal(const char *text)
{
    const char *reason = NULL;
    assert_null(compile(text, &reason));
    return reason;
}

static char *many_loops(uint32_t count)
{
    char *text = arena_printf(&test_arena, "kernel k() blocks { Start: goto L0;");
    for (uint32_t i = 0; i < count; i++)
        text = arena_printf(&test_arena, "%s L%u: barrier(); goto L%u, L%u;", text, (unsigned)i,
                            (unsigned)i, (unsigned)i + 1);
    return arena_printf(&test_arena, "%s L%u: goto End; }", text, (unsigned)count);
}

static void what_has_no_code_is_named(void **state)
{
    (void)state;
    assert_string_equal(refusal("kernel k() blocks { Start: goto A, B; A: goto B; B: goto A; }"),
                        "irreducible: the edge from 'Start' to 'B' enters a loop past its head "
                        "'A'");
    assert_non_null(strstr(refusal("kernel k() blocks { Start: goto End; A: goto End; }"), "'A'"));
    assert_string_equal(refusal("kernel k() blocks { Start:\n sync(1, 2); goto End; }"),
                        "unsupported statement 'sync' at line 2");
    assert_string_equal(refusal("shared int x; kernel k() blocks { Start: x = atomic_add(x, 1);"
                                " goto End; }"),
                        "unsupported target 'x' of 'atomic' at line 1: only a private scalar "
                        "takes the value");
    assert_int_equal(compiled(loops_in_a_row(64))->functions[0].counters, 64);
    assert_string_equal(refusal(many_loops(65)), "more than 64 loops of 'k' hold a barrier");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_a_list_that_ends_with_its_goto),
        cmocka_unit_test(trees_carry_the_numbers),
        cmocka_unit_test(a_goto_reads_what_its_targets_guards_read),
        cmocka_unit_test(so_does_the_first_of_all),
        cmocka_unit_test(calls_hand_over_their_parameters),
        cmocka_unit_test(reductions_stand_apart),
        cmocka_unit_test(loops_with_a_barrier_count),
        cmocka_unit_test(there_is_a_bit_for_each),
        cmocka_unit_test(appendix_loops_swallow_more),
        cmocka_unit_test(what_has_no_code_is_named),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
