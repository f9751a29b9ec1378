/*
 * lower_ptx_blocks.c - kernels in block form as plain PTX: labels and branches, for ptx_inject to place the
 * branch unit's instructions in.
 */
#include "engine/forms/normalise.h"
#include "engine/language/walk.h"
#include "engine/to_ptx/lower_ptx_internal.h"

enum { TARGETS_MAX = 64 };

static void refuse(struct ptx_lowering *l, const char *what, struct location at)
{
    if (!l->reason)
        l->reason = arena_printf(l->arena, "%s at line %u", what, (unsigned)at.line);
}

/* ---- gotos ---- */

static const struct ast_expr *guard_of(const struct ast_block *block)
{
    static const struct ast_expr always = {.kind = EXPR_INT, .value = 1};
    bool guarded = block && block->body && block->body->kind == STM_ASSUME;
    return guarded ? block->body->value : &always;
}

static bool is_always(const struct ast_expr *guard)
{
    return guard->kind == EXPR_INT && guard->value != 0;
}

static void branch(struct ptx_lowering *l, const struct ast_block *target,
                   const struct predicate *p)
{
    struct ptx_instruction *i =
        lp_emit(l, target ? PTX_FORM_BRA_ANY : PTX_FORM_EXIT_ANY, PTX_W_NONE);
    if (p)
        lp_guard(l, i, *p);
    if (target)
        lp_arg_label(l, l->block_labels[target->mark]);
}

static bool is_of_others(void *context, const struct ast_expr *expr)
{
    (void)context;
    return ast_names(expr) &&
           (expr->var->space == SPACE_GLOBAL || expr->var->space == SPACE_SHARED);
}

/*  goto A;                             bra A;                              (to End: exit)
 *  goto T1, .., Tn;                    p := g1;  @p bra T1;  ..  bra Tn;
 *
 *  gi is the leading assume of Ti. Exactly one of them must hold whatever the private variables are: PTX has no
 *  choices. They may read private arrays: where an index is wrong none holds, and the assume of T1 ends the run for
 *  that reason, as the load does.
 */
static void go_to(struct ptx_lowering *l, const struct ast_block *block)
{
    const struct ast_question of_others = {.expression = is_of_others};
    const struct ast_expr *guards[TARGETS_MAX];
    uint32_t count = block->target_count;
    if (count == 0 || count > TARGETS_MAX) {
        refuse(l, "a goto with very many targets", block->at);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        guards[i] = guard_of(block->targets[i]);
    bool decided =
        count == 1 ? is_always(guards[0]) : guards_decide(&l->kernel->launch, guards, count);
    for (uint32_t i = 0; i < count; i++)
        decided = decided && !ast_ask_expr(&of_others, guards[i]);
    if (!decided) {
        refuse(l, "a goto that chooses among its targets, or has none", block->at);
        return;
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        l->registers = l->local_registers;
        l->predicates = 0;
        struct predicate p = lp_condition(l, guards[i]);
        branch(l, block->targets[i], &p);
    }
    branch(l, block->targets[count - 1], NULL);
}

/* ---- procedures ---- */

/* %o<n> := out parameter;  ret; */
static void leave(struct ptx_lowering *l, const struct ast_function *f)
{
    for (const struct ast_var *var = f->locals; var; var = var->next) {
        if (!var->is_parameter || !var->is_out)
            continue;
        const struct home *home = lp_home(l, var);
        (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
        lp_arg_variable(l, home->variable);
        lp_arg(l, lp_reg(home->reg));
    }
    (void)lp_emit(l, PTX_FORM_RET_ANY, PTX_W_NONE);
}

/*  f(e1, .., x1, ..);                  call (r1, ..), f, (v1, ..);  x1 := r1;  .. */
void lp_block_call(struct ptx_lowering *l, const struct ast_stm *stm)
{
    struct value arguments[LIMIT_PARAMETERS], results[LIMIT_PARAMETERS];
    uint32_t in = 0, out = 0, n = 0;
    for (const struct ast_expr *e = stm->arguments; e; e = e->next)
        arguments[in++] = lp_eval(l, e);
    for (const struct ast_expr *e = stm->outs; e; e = e->next)
        results[out++] = lp_temporary(l);
    (void)lp_emit(l, PTX_FORM_CALL_ANY, PTX_W_NONE);
    if (out > 0)
        lp_arg_list(l, results, out);
    lp_arg_function(l, stm->function);
    if (in > 0)
        lp_arg_list(l, arguments, in);
    for (const struct ast_expr *e = stm->outs; e; e = e->next) {
        struct ast_lvalue target = {.var = e->var};
        struct place place = lp_place(l, &target);
        lp_store(l, &place, results[n++]);
    }
}

/* ---- blocks ---- */

static void lower_block(struct ptx_lowering *l, const struct ast_function *f,
                        const struct ast_block *block)
{
    const struct ast_stm *body = block->body;
    lp_place_label(l, l->block_labels[block->mark]);
    if (body && body->kind == STM_ASSUME)
        body = body->next; /* whoever goes here has seen to it */
    for (const struct ast_stm *stm = body; stm; stm = stm->next)
        if (stm->guard)
            refuse(l, "unsupported statement with a guard", stm->at);
    lp_statements(l, body);
    if (block->returns)
        leave(l, f);
    else
        go_to(l, block);
}

void lp_blocks(struct ptx_lowering *l, const struct ast_function *f)
{
    uint32_t count = 0;
    for (struct ast_block *b = f->blocks; b; b = b->next)
        b->mark = count++;
    l->block_labels = ARENA_ARRAY(l->arena, struct ptx_statement *, count);
    for (uint32_t i = 0; i < count; i++)
        l->block_labels[i] = lp_new_label(l, 'B', i);
    if (!is_always(guard_of(f->blocks)))
        refuse(l, "a guard where the first block starts", f->blocks->at);
    for (const struct ast_block *b = f->blocks; b; b = b->next)
        lower_block(l, f, b);
}
