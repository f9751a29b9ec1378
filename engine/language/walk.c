/*
 * walk.c - every part of a tree, once.
 */
#include "engine/language/walk.h"

const uint8_t ast_stm_traits[STM_KIND_COUNT] = {
#define STATEMENT(kind, name, traits) [STM_##kind] = (traits),
#include "engine/language/statements.def"
#undef STATEMENT
};

/* ---- asking ---- */

bool ast_ask_expr(const struct ast_question *q, const struct ast_expr *list)
{
    for (; list; list = list->next)
        if ((q->expression && q->expression(q->context, list)) || ast_ask_expr(q, list->a) ||
            ast_ask_expr(q, list->b) || ast_ask_expr(q, list->c))
            return true;
    return false;
}

static bool ask_place(const struct ast_question *q, const struct ast_lvalue *place)
{
    return q->place && place->var && q->place(q->context, place);
}

static bool ask_own(const struct ast_question *q, const struct ast_stm *s)
{
    if (ask_place(q, &s->target) || ask_place(q, &s->place))
        return true;
    const struct ast_expr *const expressions[] = {
        s->target.index, s->place.index, s->value, s->second, s->arguments, s->outs, s->guard};
    for (size_t i = 0; q->expression && i < sizeof expressions / sizeof expressions[0]; i++)
        if (ast_ask_expr(q, expressions[i]))
            return true;
    return q->statement && q->statement(q->context, s);
}

bool ast_ask_stms(const struct ast_question *q, const struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (ask_own(q, list) || ast_ask_stms(q, list->init) || ast_ask_stms(q, list->step) ||
            ast_ask_stms(q, list->body) || ast_ask_stms(q, list->other))
            return true;
        for (const struct ast_case *c = list->cases; c; c = c->next)
            if (ast_ask_stms(q, c->body))
                return true;
    }
    return false;
}

bool ast_ask_function(const struct ast_question *q, const struct ast_function *function)
{
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        if (ast_ask_stms(q, b->body))
            return true;
    return ast_ask_stms(q, function->body);
}

bool ast_ask_kernel(const struct ast_question *q, const struct ast_kernel *kernel)
{
    if (ast_ask_function(q, kernel->main))
        return true;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (ast_ask_function(q, f))
            return true;
    return false;
}

/* ---- changing ---- */

void ast_change_expr(const struct ast_change *change, struct ast_expr *list)
{
    for (; list; list = list->next) {
        change->expression(change->context, list);
        ast_change_expr(change, list->a);
        ast_change_expr(change, list->b);
        ast_change_expr(change, list->c);
    }
}

static void change_own(const struct ast_change *change, struct ast_stm *s)
{
    struct ast_lvalue *const places[] = {&s->target, &s->place};
    for (int i = 0; change->place && i < 2; i++)
        if (places[i]->var)
            change->place(change->context, places[i]);
    struct ast_expr *const expressions[] = {s->target.index, s->place.index, s->value, s->second,
                                            s->arguments,    s->outs,        s->guard};
    for (size_t i = 0; change->expression && i < sizeof expressions / sizeof expressions[0]; i++)
        ast_change_expr(change, expressions[i]);
    if (change->statement)
        change->statement(change->context, s);
}

void ast_change_stms(const struct ast_change *change, struct ast_stm *list)
{
    for (; list; list = list->next) {
        change_own(change, list);
        ast_change_stms(change, list->init);
        ast_change_stms(change, list->step);
        ast_change_stms(change, list->body);
        ast_change_stms(change, list->other);
        for (struct ast_case *c = list->cases; c; c = c->next)
            ast_change_stms(change, c->body);
    }
}

void ast_change_function(const struct ast_change *change, struct ast_function *function)
{
    ast_change_stms(change, function->body);
    for (struct ast_block *b = function->blocks; b; b = b->next)
        ast_change_stms(change, b->body);
}

void ast_change_kernel(const struct ast_change *change, struct ast_kernel *kernel)
{
    ast_change_function(change, kernel->main);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        ast_change_function(change, f);
}

/* ---- questions that many ask ---- */

struct wanted {
    const struct ast_var *var;
    const struct ast_function *function;
};

static bool expr_is_wanted(void *context, const struct ast_expr *expr)
{
    const struct wanted *wanted = context;
    return ast_names(expr) && expr->var == wanted->var;
}

static bool place_is_wanted(void *context, const struct ast_lvalue *place)
{
    const struct wanted *wanted = context;
    return place->var == wanted->var;
}

static bool calls_wanted(void *context, const struct ast_stm *stm)
{
    const struct wanted *wanted = context;
    return stm->kind == STM_CALL && stm->function == wanted->function;
}

static bool is_shared(void *context, const struct ast_expr *expr)
{
    (void)context;
    return ast_names(expr) &&
           (expr->var->space == SPACE_GLOBAL || expr->var->space == SPACE_SHARED);
}

bool ast_expr_mentions(const struct ast_expr *expr, const struct ast_var *var)
{
    struct wanted wanted = {.var = var};
    const struct ast_question q = {.expression = expr_is_wanted, .context = &wanted};
    return ast_ask_expr(&q, expr);
}

bool ast_mentions(const struct ast_stm *list, const struct ast_var *var)
{
    struct wanted wanted = {.var = var};
    const struct ast_question q = {
        .expression = expr_is_wanted, .place = place_is_wanted, .context = &wanted};
    return ast_ask_stms(&q, list);
}

bool ast_reads_shared(const struct ast_expr *expr)
{
    const struct ast_question q = {.expression = is_shared};
    return expr && (is_shared(NULL, expr) || ast_ask_expr(&q, expr->a) ||
                    ast_ask_expr(&q, expr->b) || ast_ask_expr(&q, expr->c));
}

bool ast_calls(const struct ast_stm *list, const struct ast_function *function)
{
    struct wanted wanted = {.function = function};
    const struct ast_question q = {.statement = calls_wanted, .context = &wanted};
    return ast_ask_stms(&q, list);
}
