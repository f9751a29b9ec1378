/*
 * own_loops.c - which variables may hold what another thread had a hand in: a set that grows until nothing is
 * added, over all statements, whatever their order.
 */
#include "oracle/lemma6/own_loops.h"
#include "engine/language/walk.h"

enum { VARIABLES = 64, FUNCTIONS = 16 };

struct flow {
    uint32_t var_count, function_count;
    const struct ast_var
        *vars[VARIABLES]; /* foreign: private ones that may hold it, others that are written */
    const struct ast_function *functions[FUNCTIONS]; /* called where it depends on such values */
    bool full, foreign; /* foreign: some loop or jump depends on them */
};

static bool is_foreign_var(const struct flow *f, const struct ast_var *var)
{
    for (uint32_t i = 0; i < f->var_count; i++)
        if (f->vars[i] == var)
            return true;
    return false;
}

static void add_var(struct flow *f, const struct ast_var *var)
{
    if (is_foreign_var(f, var))
        return;
    f->full |= f->var_count == VARIABLES;
    if (!f->full)
        f->vars[f->var_count++] = var;
}

static bool is_foreign_function(const struct flow *f, const struct ast_function *function)
{
    for (uint32_t i = 0; i < f->function_count; i++)
        if (f->functions[i] == function)
            return true;
    return false;
}

static void add_function(struct flow *f, const struct ast_function *function)
{
    if (is_foreign_function(f, function))
        return;
    f->full |= f->function_count == FUNCTIONS;
    if (!f->full)
        f->functions[f->function_count++] = function;
}

/* Also of the expressions behind it in its list. */
static bool names_foreign(void *context, const struct ast_expr *expr)
{
    return ast_names(expr) && is_foreign_var(context, expr->var);
}

static bool is_foreign(struct flow *f, const struct ast_expr *expr)
{
    const struct ast_question question = {.expression = names_foreign, .context = f};
    return ast_ask_expr(&question, expr);
}

static bool is_private(const struct ast_var *var)
{
    return var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL;
}

/* What others may write is foreign to all who read it. */
static void write_place(struct flow *f, const struct ast_lvalue *place, bool foreign)
{
    if (place->var && (foreign || !is_private(place->var) || is_foreign(f, place->index)))
        add_var(f, place->var);
}

static void walk_list(struct flow *f, const struct ast_stm *stm, bool under);

static void walk_call(struct flow *f, const struct ast_stm *stm, bool under)
{
    const struct ast_var *parameter = stm->function->locals;
    const struct ast_expr *argument = stm->arguments;
    if (under)
        add_function(f, stm->function);
    for (; argument && parameter; argument = argument->next, parameter = parameter->next) {
        /* is_foreign looks at the rest of the list too: one more is foreign, at most. */
        if (under || is_foreign(f, argument))
            add_var(f, parameter);
    }
    write_place(f, &stm->target, true);
}

static void walk_loop(struct flow *f, const struct ast_stm *stm, bool under)
{
    f->foreign |= under || is_foreign(f, stm->value);
    walk_list(f, stm->init, under);
    walk_list(f, stm->step, under);
    walk_list(f, stm->body, under);
}

static void walk(struct flow *f, const struct ast_stm *stm, bool under)
{
    switch (stm->kind) {
    case STM_ASSIGN:
        write_place(f, &stm->target, under || is_foreign(f, stm->value));
        break;
    case STM_ATOMIC:
        write_place(f, &stm->place, true);
        write_place(f, &stm->target, true);
        break;
    case STM_HAVOC:
        write_place(f, &stm->place, true);
        break;
    case STM_CALL:
        walk_call(f, stm, under);
        break;
    case STM_IF:
        walk_list(f, stm->body, under || is_foreign(f, stm->value));
        walk_list(f, stm->other, under || is_foreign(f, stm->value));
        break;
    case STM_SWITCH:
        for (const struct ast_case *c = stm->cases; c; c = c->next)
            walk_list(f, c->body, under || is_foreign(f, stm->value));
        break;
    case STM_BLOCK:
        walk_list(f, stm->body, under);
        break;
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
        walk_loop(f, stm, under);
        break;
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
        f->foreign |= under;
        break;
    case STM_SKIP:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_MEMBAR:
        break;
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_VOTE:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        f->foreign = true;
        break;
    }
}

static void walk_list(struct flow *f, const struct ast_stm *stm, bool under)
{
    for (; stm; stm = stm->next)
        walk(f, stm, under);
}

bool own_loops(const struct ast_kernel *kernel)
{
    struct flow f = {.full = false};
    uint32_t before;
    if (kernel->form != FORM_STRUCTURED)
        return false;
    do {
        before = f.var_count + f.function_count;
        walk_list(&f, kernel->main->body, false);
        for (const struct ast_function *function = kernel->functions; function;
             function = function->next)
            walk_list(&f, function->body, is_foreign_function(&f, function));
    } while (f.var_count + f.function_count > before && !f.full && !f.foreign);
    return !f.full && !f.foreign;
}

static bool claims(const struct ast_stm *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == STM_ASSERT || stm->kind == STM_ASSUME || claims(stm->body) ||
            claims(stm->other))
            return true;
        for (const struct ast_case *c = stm->cases; c; c = c->next)
            if (claims(c->body))
                return true;
    }
    return false;
}

bool own_loops_errors(const struct ast_kernel *kernel)
{
    const struct ast_var *lists[] = {kernel->vars, kernel->main->locals};
    if (kernel->functions || claims(kernel->main->body))
        return true;
    for (uint32_t i = 0; i < 2; i++)
        for (const struct ast_var *var = lists[i]; var; var = var->next)
            if (var->is_array)
                return true;
    return false;
}
