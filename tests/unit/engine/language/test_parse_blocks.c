/* Parsing the block form and the lock-step form: what each construct becomes, that it prints and
 * copies to the same. What each mistake is called: tests/cases/engine/language. */
#include "engine/input/input.h"
#include "engine/language/print.h"
#include "tests/unit/engine/language/parse_text.h"
#include "tests/unit/engine/language/tree_equal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct ast_kernel *try_parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/* The kernel of a text that is right; its copy and what its print parses to are the same kernel. */
static struct ast_kernel *parse_again(const char *text)
{
    struct ast_kernel *kernel = parse(text);
    const char *printed = print_kernel(&arena, kernel);
    const struct ast_kernel *again = try_parse(printed);
    if (!again || !kernel_equal(kernel, again))
        fail_msg("not the same kernel again: %s", printed);
    assert_string_equal(printed, print_kernel(&arena, again));
    const struct ast_kernel *copy = ast_kernel_copy(&arena, kernel);
    assert_true(kernel_equal(kernel, copy));
    assert_true(ast_check(copy, NULL));
    return kernel;
}

/* ---- what is right ---- */

static void kernel_with_private_variables(void **state)
{
    (void)state;
    const struct ast_kernel *k = parse_again("shared int x; private int p; kernel k() blocks {\n"
                                             "private int i = 3, a[4]; private int j;\n"
                                             "Start: i = p; a[i] = j; goto End; }");
    assert_int_equal(k->form, FORM_BLOCKS);
    assert_null(k->main->body);
    const struct ast_var *i = k->main->locals;
    assert_string_equal(i->name, "i");
    assert_int_equal(i->space, SPACE_LOCAL);
    assert_int_equal(i->init[0], 3);
    assert_ptr_equal(k->main->blocks->body->target.var, i);
    assert_string_equal(i->next->next->name, "j");
    assert_int_equal(k->main->mark, 0);
    assert_int_equal(parse_again("kernel k() lockstep { Start: goto Start, End; }")->form,
                     FORM_LOCKSTEP);
}

static void procedures(void **state)
{
    (void)state;
    const struct ast_kernel *k = parse_again(
        "shared int s; private int p;\n"
        "void q(int a, out int r, int b, out int t) blocks {\n"
        "  private int i;\n"
        "  Entry: i = a + b; q(i, p, 1, t); goto X, Start; X: return; Start: r = i; return; }\n"
        "kernel k() blocks { private int v; Start: q(s, v, tid, p); goto X; X: goto End; }");
    const struct ast_function *q = k->functions;
    assert_int_equal(q->parameter_count, 4);
    const struct ast_var *a = q->locals, *r = a->next, *b = r->next, *t = b->next;
    assert_true(!a->is_out && r->is_out && !b->is_out && t->is_out && r->is_parameter);
    assert_false(t->next->is_parameter);
    assert_string_equal(q->blocks->name, "Entry");
    assert_false(q->blocks->returns);
    assert_true(q->blocks->next->returns && q->blocks->next->next->returns);
    assert_ptr_equal(q->blocks->targets[1], q->blocks->next->next);
    const struct ast_stm *inner = q->blocks->body->next, *outer = k->main->blocks->body;
    assert_ptr_equal(inner->function, q);
    assert_ptr_equal(inner->arguments->var, t->next);
    assert_int_equal(inner->arguments->next->value, 1);
    assert_null(inner->arguments->next->next);
    assert_ptr_equal(inner->outs->var, k->vars->next);
    assert_ptr_equal(inner->outs->next->var, t);
    assert_ptr_equal(outer->function, q);
    assert_ptr_equal(outer->arguments->var, k->vars);
    assert_int_equal(outer->arguments->next->builtin, BUILTIN_TID);
    assert_ptr_equal(outer->outs->var, k->main->locals);
    assert_ptr_equal(outer->outs->next->var, k->vars->next);
    assert_null(outer->outs->next->next);
    /* a procedure may be called before it is defined */
    k = parse_again("void f(out int r) lockstep { A: g(r); return; }\n"
                    "void g(out int r) lockstep { A: r = 1; return; }\n"
                    "kernel k() lockstep { private int v; Start: f(v); goto End; }");
    const struct ast_stm *call = k->functions->blocks->body;
    assert_ptr_equal(call->function, k->functions->next);
    assert_null(call->arguments);
    assert_ptr_equal(call->outs->var, k->functions->locals);
}

static void guards(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        parse_again("shared int x; private int r; kernel k() blocks { Start:\n"
                    "x = 1 if (r); barrier() if (r == 1); havoc(x) if (r ? 1 : 2);\n"
                    "atomic_add(x, 1) if (!r); r = atomic_cas(x, 0, 1) if (tid);\n"
                    "pick(r, 1 : x, 2 : 1) if (x); x = 2; goto End; }");
    static const enum ast_stm_kind kinds[] = {STM_ASSIGN, STM_BARRIER, STM_HAVOC,
                                              STM_ATOMIC, STM_ATOMIC,  STM_PICK};
    const struct ast_stm *s = k->main->blocks->body;
    for (size_t i = 0; i < COUNT(kinds); i++, s = s->next) {
        assert_int_equal(s->kind, kinds[i]);
        assert_non_null(s->guard);
    }
    assert_null(s->guard);
    assert_null(s->next);
    assert_int_equal(k->main->blocks->body->guard->kind, EXPR_VAR);
}

static void pick(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        parse_again("private int v; kernel k() blocks { private int w; Start: pick(v, 3 : 1);\n"
                    "pick(w, -1 : v == 2, 1 ? 2 : 3 : v ? 1 : 0, 1 << 4 : w); goto End; }");
    const struct ast_stm *s = k->main->blocks->body;
    assert_int_equal(s->kind, STM_PICK);
    assert_ptr_equal(s->target.var, k->vars);
    assert_int_equal(s->arguments->value, 3);
    assert_int_equal(s->arguments->next->value, 1);
    assert_null(s->arguments->next->next);
    const struct ast_expr *e = s->next->arguments;
    assert_int_equal(e->value, -1);
    assert_int_equal(e->next->kind, EXPR_BINARY);
    assert_int_equal(e->next->next->value, 2);
    assert_int_equal(e->next->next->next->kind, EXPR_COND);
    assert_int_equal(e->next->next->next->next->value, 16);
    assert_string_equal(print_stm_head(&arena, s->next),
                        "pick(w, -1 : v == 2, 2 : v ? 1 : 0, 16 : w);");
}

static void lockstep(void **state)
{
    (void)state;
    const struct ast_kernel *k = parse_again(
        "shared int x, a[9]; private int p; kernel k() lockstep { Start:\n"
        "sync(!any(p) || all(p == 1)); sync(1, 32); assume(all(!p)); assert(any(p) + 1);\n"
        "p = all(p) if (any(p)); a[any(x)] = 1; barrier() if (p); goto End; }");
    const struct ast_stm *s = k->main->blocks->body;
    assert_int_equal(s->kind, STM_LOCKSYNC);
    assert_int_equal(s->value->kind, EXPR_BINARY);
    assert_int_equal(s->value->a->a->kind, EXPR_ANY);
    assert_int_equal(s->value->b->kind, EXPR_ALL);
    assert_int_equal(s->value->b->a->kind, EXPR_BINARY);
    s = s->next;
    assert_int_equal(s->kind, STM_SYNC);
    s = s->next;
    assert_int_equal(s->value->kind, EXPR_ALL);
    s = s->next->next;
    assert_int_equal(s->kind, STM_ASSIGN);
    assert_int_equal(s->value->kind, EXPR_ALL);
    assert_int_equal(s->guard->kind, EXPR_ANY);
    assert_int_equal(s->next->target.index->kind, EXPR_ANY);
}

/* The words of these forms are names everywhere that they can be. */
static void words_are_names(void **state)
{
    (void)state;
    parse_again(
        "shared int all, any, out, x;\n"
        "int pick(int out) { return out; } void lockstep(int any) { all = any; }\n"
        "kernel out() { private int y; y = pick(any); pick(1); lockstep(y); all = out + any; }");
    parse_again("int all(int a) { return a; } kernel any() { private int y; y = all(1); }");
    const struct ast_kernel *k = parse_again(
        "shared int all, pick, out, lockstep;\n"
        "void p(int any, out int out) lockstep { all: any = all; out = all(any); return; }\n"
        "void any(int pick) lockstep { lockstep: pick = any(pick); any(1); return; }\n"
        "kernel lockstep() lockstep { private int all; Start: pick = 1; all = all(all);\n"
        "  pick(all, 1 : 1); p(pick, all); out = lockstep + any(all); goto pick;\n"
        "  pick: any(2); goto End; }");
    const struct ast_stm *s = k->main->blocks->body;
    assert_int_equal(s->kind, STM_ASSIGN);
    assert_int_equal(s->next->value->kind, EXPR_ALL);
    assert_ptr_equal(s->next->value->a->var, k->main->locals);
    assert_int_equal(s->next->next->kind, STM_PICK);
    assert_int_equal(k->main->blocks->next->body->kind, STM_CALL);
    parse_again("private int v; void all(int a) blocks { E: v = a; return; }\n"
                "kernel k() blocks { Start: all(v); goto End; }");
}

/* The blocks of all functions together. */
static void blocks_are_bounded(void **state)
{
    (void)state;
    for (uint32_t over = 0; over < 2; over++) {
        const char *text = arena_printf(&arena, "%s", "void p() blocks { ");
        char *blocks = arena_alloc(&arena, 1 << 16, 1);
        size_t length = 0;
        for (uint32_t i = 0; i < LIMIT_LABELS / 2; i++)
            length += (size_t)snprintf(blocks + length, (1 << 16) - length, "L%u: return; ", i);
        text = arena_printf(&arena, "%s%s} kernel k() blocks { Start: goto End; ", text, blocks);
        length = 0;
        for (uint32_t i = 1; i < LIMIT_LABELS / 2 + over; i++)
            length += (size_t)snprintf(blocks + length, (1 << 16) - length, "L%u: goto End; ", i);
        text = arena_printf(&arena, "%s%s}", text, blocks);
        if (!over) {
            parse_again(text);
            continue;
        }
        assert_null(try_parse(text));
        assert_int_equal(diag.count, 1);
        assert_string_equal(diag.entries[0].text, "more than 1024 blocks");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernel_with_private_variables, setup, teardown),
        cmocka_unit_test_setup_teardown(procedures, setup, teardown),
        cmocka_unit_test_setup_teardown(guards, setup, teardown),
        cmocka_unit_test_setup_teardown(pick, setup, teardown),
        cmocka_unit_test_setup_teardown(lockstep, setup, teardown),
        cmocka_unit_test_setup_teardown(words_are_names, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_are_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
