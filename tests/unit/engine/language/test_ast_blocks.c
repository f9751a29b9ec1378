/* Trees in block and lock-step form: random ones are accepted, print and parse to the same, copy to the
 * same; and each rule of ast_check about them, broken once. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "tests/unit/engine/language/tree_equal.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct diag diag;
static const struct location nowhere;

/* ---- random trees ---- */

struct random {
    struct pcg rng;
    struct ast_kernel *kernel;
    struct ast_function *function; /* being filled */
    struct ast_var *scalars[8];    /* visible: shared, global, then private ones */
    uint32_t scalar_count, private_from;
    bool no_reduction;
};

static uint32_t below(struct random *r, uint32_t bound)
{
    return pcg_below(&r->rng, bound);
}

static struct ast_var *private_scalar(struct random *r)
{
    return r->scalars[r->private_from + below(r, r->scalar_count - r->private_from)];
}

static struct ast_expr *random_expr(struct random *r, uint32_t depth)
{
    struct ast_var *array = r->kernel->vars;
    if (depth == 0 || below(r, 4) == 0) {
        switch (below(r, 3)) {
        case 0:
            return ast_int(&arena, (int32_t)below(r, 7) - 3);
        case 1:
            return ast_var_ref(&arena, r->scalars[below(r, r->scalar_count)]);
        default:
            return ast_builtin_ref(&arena, (enum ast_builtin)below(r, BUILTIN_COUNT));
        }
    }
    depth--;
    switch (below(r, 6)) {
    case 0:
        return ast_index(&arena, array, random_expr(r, depth));
    case 1:
        return ast_unary(&arena, (enum ast_unary)below(r, 3), random_expr(r, depth));
    case 2:
        return ast_cond(&arena, random_expr(r, depth), random_expr(r, depth),
                        random_expr(r, depth));
    case 3:
        if (r->kernel->form == FORM_LOCKSTEP && !r->no_reduction) {
            struct ast_expr *e = ARENA_NEW(&arena, struct ast_expr);
            e->kind = below(r, 2) ? EXPR_ALL : EXPR_ANY;
            r->no_reduction = true;
            e->a = random_expr(r, depth);
            r->no_reduction = false;
            return e;
        }
        break;
    default:
        break;
    }
    return ast_binary(&arena, (enum ast_binary)below(r, BINARY_COUNT), random_expr(r, depth),
                      random_expr(r, depth));
}

static struct ast_lvalue random_place(struct random *r)
{
    if (below(r, 3) == 0)
        return (struct ast_lvalue){.var = r->kernel->vars, .index = random_expr(r, 1)};
    return (struct ast_lvalue){.var = r->scalars[below(r, r->scalar_count)]};
}

static void random_pick(struct random *r, struct ast_stm *s)
{
    struct ast_expr **last = &s->arguments;
    s->target = (struct ast_lvalue){.var = private_scalar(r)};
    for (uint32_t n = 1 + below(r, 3); n > 0; n--) {
        *last = ast_int(&arena, (int32_t)below(r, 100) - 50);
        (*last)->next = random_expr(r, 2);
        last = &(*last)->next->next;
    }
}

/* At most one out-parameter is given each private variable. */
static void random_call(struct random *r, struct ast_stm *s)
{
    struct ast_expr **in = &s->arguments, **out = &s->outs;
    uint32_t next = r->private_from;
    s->function = r->kernel->functions;
    for (uint32_t n = below(r, 2); n > 0 && s->function->next; n--)
        s->function = s->function->next;
    for (const struct ast_var *v = s->function->locals; v && v->is_parameter; v = v->next) {
        if (v->is_out) {
            *out = ast_var_ref(&arena, r->scalars[next++]);
            out = &(*out)->next;
        } else {
            *in = random_expr(r, 2);
            in = &(*in)->next;
        }
    }
}

static void random_assign(struct random *r, struct ast_stm *s)
{
    s->target = random_place(r);
    s->value = random_expr(r, 3);
    s->op = below(r, 2) ? ASSIGN_SET : (enum ast_assign_op)below(r, ASSIGN_COUNT);
}

static void random_atomic(struct random *r, struct ast_stm *s)
{
    s->atomic = (enum ast_atomic)below(r, ATOMIC_COUNT);
    s->place = random_place(r);
    if (below(r, 2))
        s->target = random_place(r);
    s->arguments = random_expr(r, 2);
    if (s->atomic == ATOMIC_CAS)
        s->arguments->next = random_expr(r, 2);
}

static void random_vote(struct random *r, struct ast_stm *s)
{
    s->vote = (enum ast_vote)below(r, VOTE_COUNT);
    s->target = random_place(r);
    s->value = random_expr(r, 2);
}

static void random_place_only(struct random *r, struct ast_stm *s)
{
    s->place = random_place(r);
}

static void random_value(struct random *r, struct ast_stm *s)
{
    s->value = random_expr(r, 3);
}

static void random_values(struct random *r, struct ast_stm *s)
{
    s->value = random_expr(r, 1);
    s->second = random_expr(r, 1);
}

static void random_nothing(struct random *r, struct ast_stm *s)
{
    (void)r;
    (void)s;
}

static struct ast_stm *random_stm(struct random *r)
{
    static const struct {
        enum ast_stm_kind kind;
        void (*fill)(struct random *, struct ast_stm *);
        bool guarded;
    } kinds[] = {
        {STM_ASSIGN, random_assign, true},    {STM_ATOMIC, random_atomic, true},
        {STM_HAVOC, random_place_only, true}, {STM_PICK, random_pick, true},
        {STM_BARRIER, random_nothing, true},  {STM_SKIP, random_nothing, false},
        {STM_MEMBAR, random_nothing, false},  {STM_VOTE, random_vote, false},
        {STM_SYNC, random_values, false},     {STM_ARRIVE, random_values, false},
        {STM_ASSERT, random_value, false},    {STM_ASSUME, random_value, false},
        {STM_CALL, random_call, false},      /* these two only where there is something to call, */
        {STM_LOCKSYNC, random_value, false}, /* and in lock-step form */
    };
    uint32_t kind = below(r, COUNT(kinds));
    if ((kinds[kind].kind == STM_CALL && !r->kernel->functions) ||
        (kinds[kind].kind == STM_LOCKSYNC && r->kernel->form != FORM_LOCKSTEP))
        kind = 0;
    struct ast_stm *s = ast_stm(&arena, kinds[kind].kind, nowhere);
    kinds[kind].fill(r, s);
    if (kinds[kind].guarded && s->op == ASSIGN_SET && below(r, 2))
        s->guard = random_expr(r, 2);
    return s;
}

/* Blocks with targets among them; End for a kernel, return for a procedure. */
static void random_blocks(struct random *r, bool is_kernel)
{
    struct ast_block *blocks[5], **last = &r->function->blocks;
    uint32_t count = 1 + below(r, COUNT(blocks));
    for (uint32_t i = 0; i < count; i++, last = &(*last)->next) {
        *last = blocks[i] = ARENA_NEW(&arena, struct ast_block);
        blocks[i]->name = i == 0 && is_kernel ? "Start" : arena_printf(&arena, "B%u", i);
        for (uint32_t n = below(r, 4); n > 0; n--)
            ast_stm_append(&blocks[i]->body, random_stm(r));
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ast_block *b = blocks[i];
        b->returns = !is_kernel && below(r, 3) == 0;
        if (b->returns)
            continue;
        b->target_count = 1 + below(r, 3);
        b->targets = ARENA_ARRAY(&arena, struct ast_block *, b->target_count);
        for (uint32_t t = 0; t < b->target_count; t++)
            b->targets[t] = is_kernel && below(r, 3) == 0 ? NULL : blocks[below(r, count)];
    }
}

static void add_local(struct random *r, struct ast_var *var)
{
    ast_var_append(&r->function->locals, var);
    r->scalars[r->scalar_count++] = var;
}

static void random_function(struct random *r, struct ast_function *f, bool is_kernel)
{
    uint32_t visible = r->scalar_count;
    r->function = f;
    f->blocks = NULL;
    for (struct ast_var *v = f->locals; v; v = v->next)
        r->scalars[r->scalar_count++] = v;
    if (below(r, 2) || is_kernel)
        add_local(r, ast_var(&arena, "i", SPACE_LOCAL, 1, false));
    random_blocks(r, is_kernel);
    r->scalar_count = visible;
}

/* A procedure without its blocks: two parameters, each in or out. */
static struct ast_function *random_procedure(struct random *r, const char *name)
{
    struct ast_function *f = ARENA_NEW(&arena, struct ast_function);
    f->name = name;
    f->parameter_count = below(r, 3);
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        struct ast_var *v = ast_var(&arena, i ? "q" : "p", SPACE_LOCAL, 1, false);
        v->is_parameter = true;
        v->is_out = below(r, 2);
        ast_var_append(&f->locals, v);
    }
    return f;
}

static struct ast_kernel *random_kernel(uint32_t number)
{
    struct random r = {.rng = pcg_derive(21, PCG_MUTATE, number),
                       .kernel = ARENA_NEW(&arena, struct ast_kernel)};
    struct ast_kernel *k = r.kernel;
    k->name = "k";
    k->form = number % 2 ? FORM_BLOCKS : FORM_LOCKSTEP;
    k->launch = AST_DEFAULT_LAUNCH;
    ast_var_append(&k->vars, ast_var(&arena, "a", SPACE_SHARED, 4, true));
    static const struct {
        const char *name;
        enum ast_space space;
    } scalars[] = {{"all", SPACE_SHARED},
                   {"g", SPACE_GLOBAL},
                   {"pick", SPACE_PRIVATE},
                   {"out", SPACE_PRIVATE},
                   {"v", SPACE_PRIVATE}};
    for (size_t i = 0; i < COUNT(scalars); i++) {
        r.scalars[r.scalar_count++] = ast_var(&arena, scalars[i].name, scalars[i].space, 1, false);
        ast_var_append(&k->vars, r.scalars[i]);
    }
    r.private_from = 2;
    static const char *const names[] = {"any", "lockstep"};
    struct ast_function **last = &k->functions;
    for (uint32_t i = 0, n = below(&r, 3); i < n; i++, last = &(*last)->next)
        *last = random_procedure(&r, names[i]);
    for (struct ast_function *f = k->functions; f; f = f->next)
        random_function(&r, f, false);
    k->main = ARENA_NEW(&arena, struct ast_function);
    k->main->name = "k";
    random_function(&r, k->main, true);
    return k;
}

static void round_trip(uint32_t number)
{
    struct ast_kernel *kernel = random_kernel(number);
    const char *text = print_kernel(&arena, kernel);
    diag_init(&diag, "tree", text, strlen(text));
    if (!ast_check(kernel, &diag)) {
        diag_print(&diag, stderr);
        fail_msg("refused: %s", text);
    }
    struct ast_kernel *again = parse_kernel(&arena, text, strlen(text), &diag);
    if (!again)
        diag_print(&diag, stderr);
    if (!again || !kernel_equal(kernel, again))
        fail_msg("not the same kernel again (%u): %s", number, text);
    const struct ast_kernel *copy = ast_kernel_copy(&arena, kernel);
    assert_true(kernel_equal(kernel, copy));
    assert_true(ast_check(copy, NULL));
    assert_int_equal(ast_kernel_size(copy), ast_kernel_size(kernel));
    for (const struct ast_function *f = copy->functions; f; f = f->next)
        for (const struct ast_function *g = kernel->functions; g; g = g->next)
            assert_true(f != g && f->blocks != g->blocks);
}

static void random_trees(void **state)
{
    (void)state;
    size_t mark = arena_mark(&arena);
    for (uint32_t i = 0; i < 3000; i++) {
        round_trip(i);
        arena_release(&arena, mark);
    }
}

/* ---- each rule of ast_check, broken once ---- */

struct sample {
    struct ast_kernel *kernel;
    struct ast_function *p;
    struct ast_stm *call, *assign, *pick;
};

static struct sample sample_new(void)
{
    static const char text[] =
        "shared int s, a[2]; private int v, w;\n"
        "void p(int n, out int r, out int t) blocks { A: r = n; goto B; B: return; }\n"
        "kernel k() blocks { Start: p(s, v, w); s = 1 if (v); pick(v, 1 : w); goto B, End;\n"
        "B: barrier(); goto End; }";
    diag_init(&diag, "text", text, strlen(text));
    struct sample s = {.kernel = parse_kernel(&arena, text, strlen(text), &diag)};
    assert_non_null(s.kernel);
    s.p = s.kernel->functions;
    s.call = s.kernel->main->blocks->body;
    s.assign = s.call->next;
    s.pick = s.assign->next;
    return s;
}

static void kernel_returns(struct sample *s)
{
    s->kernel->main->blocks->returns = true;
}
static void procedure_ends(struct sample *s)
{
    s->p->blocks->targets[0] = NULL;
}
static void goto_other_function(struct sample *s)
{
    s->kernel->main->blocks->targets[0] = s->p->blocks;
}
static void no_transfer(struct sample *s)
{
    s->p->blocks->target_count = 0;
}
static void no_blocks(struct sample *s)
{
    s->kernel->main->blocks = NULL;
}
static void function_without_blocks(struct sample *s)
{
    s->p->blocks = NULL;
    for (struct ast_var *v = s->p->locals; v; v = v->next)
        v->is_out = false;
    s->call->arguments->next = s->call->outs;
    s->call->outs = NULL;
}
static void blocks_in_structured(struct sample *s)
{
    s->kernel->form = FORM_STRUCTURED;
    s->assign->guard = NULL;
    s->assign->next = NULL;
}
static void guard_in_structured(struct sample *s)
{
    s->kernel->form = FORM_STRUCTURED;
    s->assign->next = NULL;
    s->kernel->main->body = s->assign;
    s->kernel->main->blocks = NULL;
    s->kernel->functions = NULL;
}
static void pick_in_structured(struct sample *s)
{
    guard_in_structured(s);
    s->kernel->main->body = s->pick;
}
static void statements_and_blocks(struct sample *s)
{
    s->p->body = ast_stm(&arena, STM_SKIP, nowhere);
}
static void returns_value(struct sample *s)
{
    s->p->returns_int = true;
}
static void out_local(struct sample *s)
{
    struct ast_var *var = ast_var(&arena, "x", SPACE_LOCAL, 1, false);
    var->is_out = true;
    ast_var_append(&s->p->locals, var);
}
static void out_as_in(struct sample *s)
{
    s->call->arguments->next = s->call->outs;
    s->call->outs = NULL;
}
static void out_missing(struct sample *s)
{
    s->call->outs->next = NULL;
}
static void out_expression(struct sample *s)
{
    s->call->outs->next = ast_int(&arena, 1);
}
static void out_twice(struct sample *s)
{
    s->call->outs->next->var = s->call->outs->var;
}
static void out_shared(struct sample *s)
{
    s->call->outs->var = s->kernel->vars;
}
static void pick_of_nothing(struct sample *s)
{
    s->pick->arguments = NULL;
}
static void pick_odd(struct sample *s)
{
    s->pick->arguments->next = NULL;
}
static void pick_variable(struct sample *s)
{
    s->pick->arguments->kind = EXPR_VAR;
    s->pick->arguments->var = s->kernel->vars;
}
static void pick_shared(struct sample *s)
{
    s->pick->target.var = s->kernel->vars;
}
static void reduction_in_blocks(struct sample *s)
{
    struct ast_expr *e = ARENA_NEW(&arena, struct ast_expr);
    e->kind = EXPR_ALL;
    e->a = s->assign->value;
    s->assign->value = e;
}
static void reduction_of_nothing(struct sample *s)
{
    s->kernel->form = FORM_LOCKSTEP;
    s->assign->value = ARENA_NEW(&arena, struct ast_expr);
    s->assign->value->kind = EXPR_ANY;
}
static void locksync_in_blocks(struct sample *s)
{
    struct ast_stm *sync = ast_stm(&arena, STM_LOCKSYNC, nowhere);
    sync->value = ast_int(&arena, 1);
    ast_stm_append(&s->kernel->main->blocks->body, sync);
}
static void guarded_addition(struct sample *s)
{
    s->assign->op = ASSIGN_ADD;
}
static void guarded_call(struct sample *s)
{
    s->call->guard = ast_int(&arena, 1);
}
static void guard_of_unknown(struct sample *s)
{
    s->assign->guard->var = ast_var(&arena, "y", SPACE_PRIVATE, 1, false);
}
static void compound_in_block(struct sample *s)
{
    ast_stm_append(&s->kernel->main->blocks->body, ast_stm(&arena, STM_EXIT, nowhere));
}
static void named_pick(struct sample *s)
{
    s->p->name = "pick";
}

static void check_finds_each_fault(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(struct sample *);
        const char *message;
    } table[] = {
        {kernel_returns, "a kernel in block form ends with 'goto End', not 'return'"},
        {procedure_ends, "a procedure ends with 'return', not 'goto End'"},
        {goto_other_function, "block 'Start' goes to a block of another function"},
        {no_transfer, "block 'A' has neither a target nor a return"},
        {no_blocks, "the kernel has no blocks"},
        {function_without_blocks, "function 'p' is not made of blocks, its kernel is"},
        {blocks_in_structured, "procedure 'p' is made of blocks, its kernel is not"},
        {guard_in_structured,
         "a guard stands only behind a statement of a kernel in block or lock-step form"},
        {pick_in_structured, "'pick' stands only in a kernel in block or lock-step form"},
        {statements_and_blocks, "procedure 'p' has statements outside of its blocks"},
        {returns_value, "procedure 'p' gives values back through out-parameters, not as 'int'"},
        {out_local, "'x': only a procedure in block form has out-parameters"},
        {out_as_in, "procedure 'p' has 2 out-parameters, not 0"},
        {out_missing, "procedure 'p' takes 3 arguments, not 2"},
        {out_expression, "out-parameter 't' of 'p' needs a private variable"},
        {out_twice, "'v' takes two out-parameters of one call"},
        {out_shared, "out-parameter 'r' of 'p' needs a private variable; 's' is shared"},
        {pick_of_nothing, "'pick' needs a value with its condition, value : condition"},
        {pick_odd, "'pick' needs a value with its condition, value : condition"},
        {pick_variable, "the values of 'pick' are constants"},
        {pick_shared, "'pick' needs a private variable that is no array"},
        {reduction_in_blocks, "'all(..)' stands only in a kernel in lock-step form"},
        {reduction_of_nothing, "operand is missing"},
        {locksync_in_blocks,
         "'sync(e)' stands only in a kernel in lock-step form; a named barrier is sync(b, n)"},
        {guarded_addition, "an assignment with a guard is written with '='"},
        {guarded_call, "'call' takes no guard"},
        {guard_of_unknown, "'y' is not a variable that is visible here"},
        {compound_in_block, "'exit' cannot stand in a block of a block-form kernel"},
        {named_pick, "no procedure is named 'pick': it is a statement"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct sample s = sample_new();
        table[i].spoil(&s);
        assert_false(ast_check(s.kernel, &diag));
        assert_string_equal(diag.entries[0].text, table[i].message);
        assert_false(ast_check(s.kernel, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_trees, setup, teardown),
        cmocka_unit_test_setup_teardown(check_finds_each_fault, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
