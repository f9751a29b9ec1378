/*
 * reduce_functions.c - functions and procedures: which are called, which variables are used, and what
 * the reducer does to them.
 */
#include "fuzz/reduce/reduce_internal.h"

/* ---- variables ---- */

static bool expr_uses(const struct ast_expr *e, const struct ast_var *var)
{
    for (; e; e = e->next)
        if (((e->kind == EXPR_VAR || e->kind == EXPR_INDEX) && e->var == var) ||
            expr_uses(e->a, var) || expr_uses(e->b, var) || expr_uses(e->c, var))
            return true;
    return false;
}

static bool list_uses(const struct ast_stm *list, const struct ast_var *var)
{
    for (; list; list = list->next) {
        if (list->target.var == var || list->place.var == var ||
            expr_uses(list->target.index, var) || expr_uses(list->place.index, var) ||
            expr_uses(list->value, var) || expr_uses(list->second, var) ||
            expr_uses(list->arguments, var) || expr_uses(list->outs, var) ||
            expr_uses(list->guard, var) || list_uses(list->body, var) ||
            list_uses(list->other, var) || list_uses(list->init, var) || list_uses(list->step, var))
            return true;
        for (const struct ast_case *c = list->cases; c; c = c->next)
            if (list_uses(c->body, var))
                return true;
    }
    return false;
}

static bool body_uses(const struct ast_function *body, const struct ast_var *var)
{
    for (const struct ast_block *b = body->blocks; b; b = b->next)
        if (list_uses(b->body, var))
            return true;
    return list_uses(body->body, var);
}

bool reduce_uses(const struct ast_kernel *kernel, const struct ast_var *var)
{
    if (body_uses(kernel->main, var))
        return true;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (body_uses(f, var))
            return true;
    return false;
}

/* ---- functions ---- */

static bool list_calls(const struct ast_stm *list, const struct ast_function *f)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CALL && list->function == f)
            return true;
        if (list_calls(list->body, f) || list_calls(list->other, f) || list_calls(list->init, f) ||
            list_calls(list->step, f))
            return true;
        for (const struct ast_case *c = list->cases; c; c = c->next)
            if (list_calls(c->body, f))
                return true;
    }
    return false;
}

static bool body_calls(const struct ast_function *body, const struct ast_function *f)
{
    for (const struct ast_block *b = body->blocks; b; b = b->next)
        if (list_calls(b->body, f))
            return true;
    return list_calls(body->body, f);
}

static bool function_is_called(const struct ast_kernel *kernel, const struct ast_function *f)
{
    if (body_calls(kernel->main, f))
        return true;
    for (const struct ast_function *g = kernel->functions; g; g = g->next)
        if (g != f && body_calls(g, f))
            return true;
    return false;
}

static void drop_uncalled(struct edit *edit)
{
    for (struct ast_function **f = &edit->kernel->functions; *f; f = &(*f)->next)
        if (!function_is_called(edit->kernel, *f) && edit_here(edit)) {
            *f = (*f)->next;
            return;
        }
}

/* Calls of one function at statement level: visited through a file-wide walk. */
struct call_edit {
    struct ast_function *function;
    uint32_t parameter; /* whose argument is removed; UINT32_MAX: drop all values of calls */
    bool is_out;        /* it is this one of the out-parameters; otherwise of the others */
};

static void edit_calls(struct ast_stm *list, const struct call_edit *what)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CALL && list->function == what->function) {
            if (what->parameter == UINT32_MAX) {
                list->target = (struct ast_lvalue){0};
            } else {
                struct ast_expr **a = what->is_out ? &list->outs : &list->arguments;
                for (uint32_t i = 0; i < what->parameter; i++)
                    a = &(*a)->next;
                *a = (*a)->next;
            }
        }
        edit_calls(list->body, what);
        edit_calls(list->other, what);
        edit_calls(list->init, what);
        edit_calls(list->step, what);
        for (struct ast_case *c = list->cases; c; c = c->next)
            edit_calls(c->body, what);
    }
}

static void edit_body(struct ast_function *body, const struct call_edit *what)
{
    edit_calls(body->body, what);
    for (struct ast_block *b = body->blocks; b; b = b->next)
        edit_calls(b->body, what);
}

static void edit_all_calls(struct ast_kernel *kernel, const struct call_edit *what)
{
    edit_body(kernel->main, what);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        edit_body(f, what);
}

static void drop_return_values(struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (list->kind == STM_RETURN)
            list->value = NULL;
        drop_return_values(list->body);
        drop_return_values(list->other);
        for (struct ast_case *c = list->cases; c; c = c->next)
            drop_return_values(c->body);
    }
}

/* A parameter becomes a local that starts at 0, its arguments go. */
static void drop_parameter(struct ast_kernel *kernel, struct ast_function *f, uint32_t number)
{
    struct ast_var **p = &f->locals;
    uint32_t place[2] = {0, 0}; /* among the in-parameters, the out-parameters */
    for (uint32_t i = 0; i < number; i++) {
        place[(*p)->is_out]++;
        p = &(*p)->next;
    }
    struct ast_var *var = *p;
    struct call_edit what = {f, place[var->is_out], var->is_out};
    *p = var->next;
    var->next = NULL;
    var->is_parameter = var->is_out = false;
    ast_var_append(&f->locals, var);
    f->parameter_count--;
    edit_all_calls(kernel, &what);
}

/* Functions: uncalled ones go, results and parameters are dropped. */
void reduce_functions(struct edit *edit)
{
    drop_uncalled(edit);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next) {
        if (edit_done(edit))
            return;
        if (f->returns_int && edit_here(edit)) {
            f->returns_int = false;
            drop_return_values(f->body);
            edit_all_calls(edit->kernel, &(struct call_edit){f, UINT32_MAX, false});
            return;
        }
        for (uint32_t i = 0; i < f->parameter_count; i++)
            if (edit_here(edit)) {
                drop_parameter(edit->kernel, f, i);
                return;
            }
    }
}

/* ---- calls become bodies ---- */

static uint32_t calls_in_list(const struct ast_stm *list, const struct ast_function *f)
{
    uint32_t calls = 0;
    for (; list; list = list->next) {
        calls += list->kind == STM_CALL && list->function == f;
        calls += calls_in_list(list->body, f) + calls_in_list(list->other, f) +
                 calls_in_list(list->init, f) + calls_in_list(list->step, f);
        for (const struct ast_case *c = list->cases; c; c = c->next)
            calls += calls_in_list(c->body, f);
    }
    return calls;
}

static uint32_t calls_of(const struct ast_kernel *kernel, const struct ast_function *f)
{
    uint32_t calls = calls_in_list(kernel->main->body, f);
    for (const struct ast_function *g = kernel->functions; g; g = g->next)
        calls += calls_in_list(g->body, f);
    return calls;
}

/* A function with its one call: parameters become variables that start at 0. */
static void move_locals(struct edit *edit, struct ast_function *f, struct ast_function *caller)
{
    while (f->locals) {
        struct ast_var *var = f->locals;
        f->locals = var->next;
        var->next = NULL;
        var->is_parameter = var->is_out = false;
        var->name = arena_printf(edit->arena, "%s_%s", f->name, var->name);
        ast_var_append(&caller->locals, var);
    }
    f->parameter_count = 0;
    f->returns_int = false;
    drop_return_values(f->body);
}

static void inline_in(struct edit *edit, struct ast_function *caller, struct ast_stm **list);

static void inline_below(struct edit *edit, struct ast_function *caller, struct ast_stm *s)
{
    if (s->kind == STM_BLOCK)
        inline_in(edit, caller, &s->body);
    else if (s->body)
        inline_in(edit, caller, &s->body->body);
    if (!edit_done(edit) && s->other)
        inline_in(edit, caller, &s->other->body);
    for (struct ast_case *c = s->cases; c && !edit_done(edit); c = c->next)
        inline_in(edit, caller, &c->body);
}

static void inline_in(struct edit *edit, struct ast_function *caller, struct ast_stm **list)
{
    for (struct ast_stm **slot = list; *slot && !edit_done(edit); slot = &(*slot)->next) {
        struct ast_function *f = (*slot)->function;
        bool is_call = (*slot)->kind == STM_CALL && !f->blocks && f != caller;
        bool bare = is_call && !(*slot)->target.var && !f->locals && !list_calls(f->body, f);
        if (bare || (is_call && calls_of(edit->kernel, f) == 1)) {
            if (edit_here(edit)) {
                if (!bare)
                    move_locals(edit, f, caller);
                reduce_splice(slot, ast_stm_list_copy(edit->arena, f->body));
                return;
            }
        }
        inline_below(edit, caller, *slot);
    }
}

void reduce_inline(struct edit *edit)
{
    inline_in(edit, edit->kernel->main, &edit->kernel->main->body);
    for (struct ast_function *f = edit->kernel->functions; f && !edit_done(edit); f = f->next)
        inline_in(edit, f, &f->body);
}
