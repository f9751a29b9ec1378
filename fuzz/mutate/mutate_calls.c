/*
 * mutate_calls.c - statements become a function, a call becomes statements.
 */
#include "fuzz/mutate/mutate_internal.h"

static const struct location NOWHERE = {0, 0};

/* ---- outline ---- */

struct outline {
    struct mutation *m;
    struct ast_function *from, *to;
    struct ast_stm *call;
    struct ast_expr **arguments_end;
    bool sets; /* now looking for what is set: it must be visible to both */
};

static bool is_local_of(const struct ast_function *f, const struct ast_var *var)
{
    const struct ast_var *v = f->locals;
    while (v && v != var)
        v = v->next;
    return v != NULL;
}

/* The variable moves to file level: every function sees it then. */
static void promote(struct outline *o, struct ast_var *var)
{
    struct ast_var **link = &o->from->locals;
    while (*link && *link != var)
        link = &(*link)->next;
    if (!*link || var->is_parameter)
        return;
    *link = var->next;
    var->next = NULL;
    var->space = SPACE_PRIVATE;
    var->name = mutate_name(o->m, var->name);
    ast_var_append(&o->m->kernel->vars, var);
}

static void outline_exprs(struct outline *o, struct ast_expr *e);

/* A parameter that gets the variable's value, for one that is only read. */
static struct ast_var *parameter_for(struct outline *o, struct ast_var *var)
{
    struct ast_var *p = ast_var(o->m->arena, mutate_name(o->m, var->name), SPACE_LOCAL, 1, false);
    p->is_parameter = true;
    ast_var_append(&o->to->locals, p);
    o->to->parameter_count++;
    *o->arguments_end = ast_var_ref(o->m->arena, var);
    o->arguments_end = &(*o->arguments_end)->next;
    return p;
}

static void outline_exprs(struct outline *o, struct ast_expr *e)
{
    for (; e; e = e->next) {
        bool is_var = e->kind == EXPR_VAR || e->kind == EXPR_INDEX;
        if (is_var && is_local_of(o->from, e->var)) {
            if (o->sets && e->kind == EXPR_INDEX)
                promote(o, e->var);
            if (!o->sets && e->kind == EXPR_VAR && o->to->parameter_count < LIMIT_PARAMETERS)
                e->var = parameter_for(o, e->var);
        }
        outline_exprs(o, e->a);
        outline_exprs(o, e->b);
        outline_exprs(o, e->c);
    }
}

static void outline_list(struct outline *o, struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (o->sets && list->target.var)
            promote(o, list->target.var);
        if (o->sets && list->place.var)
            promote(o, list->place.var);
        outline_exprs(o, list->target.index);
        outline_exprs(o, list->place.index);
        outline_exprs(o, list->value);
        outline_exprs(o, list->second);
        outline_exprs(o, list->arguments);
        outline_list(o, list->body);
        outline_list(o, list->other);
        outline_list(o, list->init);
        outline_list(o, list->step);
        for (struct ast_case *c = list->cases; c; c = c->next)
            outline_list(o, c->body);
    }
}

/* What it sets becomes private to the thread instead of to the frame, what it reads is handed over;
 * jumps out of it go (mutate_repair), a return returns to here. */
bool mutate_outline(struct mutation *m)
{
    struct site *site = mutate_pick_site(m, mutate_sites(m, m->kernel, false));
    uint32_t count = site ? mutate_run(m, site) : 0;
    if (count == 0)
        return false;
    struct ast_function *f = ARENA_NEW(m->arena, struct ast_function);
    f->name = mutate_name(m, "f");
    f->body = edit_take(site->slot, count);
    struct ast_function **end = &m->kernel->functions;
    while (*end)
        end = &(*end)->next;
    *end = f;
    struct ast_stm *call = ast_stm(m->arena, STM_CALL, NOWHERE);
    call->function = f;
    struct outline o = {.m = m,
                        .from = site->function,
                        .to = f,
                        .call = call,
                        .arguments_end = &call->arguments,
                        .sets = true};
    outline_list(&o, f->body);
    o.sets = false;
    outline_list(&o, f->body);
    mutate_adopt_list(m, f, f->body);
    edit_put(site->slot, call);
    return true;
}

/* ---- inline ---- */

static bool is_call(const struct ast_stm *stm)
{
    return stm->kind == STM_CALL && !stm->function->blocks;
}

static const struct ast_expr *last_value(const struct ast_stm *list)
{
    while (list && list->next)
        list = list->next;
    return list && list->kind == STM_RETURN ? list->value : NULL;
}

/* The parameters become locals that get the arguments; of returns only the last one gives a value,
 * the others are the caller's. */
bool mutate_inline(struct mutation *m)
{
    struct site *site = mutate_pick_where(m, mutate_sites(m, m->kernel, false), is_call);
    if (!site || (*site->slot)->function == site->function)
        return false;
    struct ast_stm *call = *site->slot, *list = NULL;
    struct ast_function *f = call->function;
    const struct ast_expr *value = last_value(f->body);
    const struct ast_expr *argument = call->arguments;
    for (struct ast_var *p = f->locals; p && p->is_parameter && argument; p = p->next) {
        struct ast_expr *copy = ast_expr_copy(m->arena, argument);
        copy->next = NULL;
        ast_stm_append(&list, ast_assign(m->arena, p, NULL, copy, NOWHERE));
        argument = argument->next;
    }
    ast_stm_append(&list, ast_stm_list_copy(m->arena, f->body));
    struct ast_stm **end = &list;
    while (*end && !((*end)->kind == STM_RETURN && !(*end)->next))
        end = &(*end)->next;
    *end = NULL;
    if (value && call->target.var) {
        struct ast_stm *result = ast_assign(m->arena, call->target.var, call->target.index,
                                            ast_expr_copy(m->arena, value), NOWHERE);
        ast_stm_append(&list, result);
    }
    mutate_adopt_list(m, site->function, list);
    edit_splice(site->slot, list);
    return true;
}
