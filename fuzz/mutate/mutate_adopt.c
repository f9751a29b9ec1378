/*
 * mutate_adopt.c - parts from elsewhere: of another function, of the donor.
 *
 * What a function does not see is mapped, the same thing to the same thing within one adoption: a
 * variable to one of its kind that the function sees, or to a new one; a function of the donor to
 * itself, moved into the kernel. What counts a loop gets a new variable always.
 */
#include "fuzz/mutate/mutate_internal.h"

/* ---- names, variables ---- */

const char *mutate_name(struct mutation *m, const char *base)
{
    if (!m->names)
        m->names = fresh_names_of(m->arena, m->kernel);
    return fresh_name(m->names, base);
}

bool mutate_is_private(const struct ast_var *var)
{
    return var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL;
}

static bool list_has(const struct ast_var *list, const struct ast_var *var)
{
    while (list && list != var)
        list = list->next;
    return list != NULL;
}

bool mutate_may_see(const struct ast_kernel *kernel, const struct ast_function *function,
                    const struct ast_var *var)
{
    return list_has(function->locals, var) || list_has(kernel->vars, var);
}

struct ast_var *mutate_new_local(struct mutation *m, struct ast_function *function,
                                 const char *base)
{
    struct ast_var *var = ast_var(m->arena, mutate_name(m, base), SPACE_LOCAL, 1, false);
    ast_var_append(&function->locals, var);
    return var;
}

struct ast_var *mutate_pick_var(struct mutation *m, struct ast_function *function,
                                bool (*accept)(const struct ast_var *var, const void *context),
                                const void *context)
{
    struct ast_var *const lists[] = {m->kernel->vars, function->locals};
    uint32_t count = 0;
    for (int i = 0; i < 2; i++)
        for (const struct ast_var *v = lists[i]; v; v = v->next)
            count += accept(v, context);
    if (count == 0)
        return NULL;
    uint32_t left = mutate_below(m, count);
    for (int i = 0; i < 2; i++)
        for (struct ast_var *v = lists[i]; v; v = v->next)
            if (accept(v, context) && left-- == 0)
                return v;
    return NULL;
}

/* ---- adoption ---- */

struct adoption {
    struct mutation *m;
    struct ast_function *function;
    uint32_t count;
    const struct ast_var *from[MUTATE_MAP_MAX];
    struct ast_var *to[MUTATE_MAP_MAX];
};

static void adopt_list(struct adoption *a, struct ast_function *function, struct ast_stm *list);

/* What may stand for a variable: as private as it is, as long. */
static bool may_replace(const struct ast_var *var, const void *context)
{
    const struct ast_var *old = context;
    bool file_level = old->space == SPACE_PRIVATE;
    return var->is_array == old->is_array && mutate_is_private(var) == mutate_is_private(old) &&
           (!file_level || var->space == SPACE_PRIVATE) && var->length >= old->length &&
           !var->mark && (!old->is_input || var->is_input);
}

static struct ast_var *new_var(struct mutation *m, struct ast_function *function,
                               const struct ast_var *old)
{
    struct ast_var *var = ARENA_NEW(m->arena, struct ast_var);
    *var = *old;
    var->name = mutate_name(m, old->name);
    var->next = NULL;
    var->mark = 0;
    var->is_parameter = var->is_out = false;
    ast_var_append(old->space == SPACE_LOCAL ? &function->locals : &m->kernel->vars, var);
    return var;
}

static struct ast_var *map_var(struct adoption *a, struct ast_function *function,
                               struct ast_var *var)
{
    struct mutation *m = a->m;
    if (!var || mutate_may_see(m->kernel, function, var))
        return var;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->from[i] == var && mutate_may_see(m->kernel, function, a->to[i]))
            return a->to[i];
    struct ast_var *to = NULL;
    if (!var->mark && mutate_chance(m, 70))
        to = mutate_pick_var(m, function, may_replace, var);
    if (!to)
        to = new_var(m, function, var);
    if (a->count < MUTATE_MAP_MAX) {
        a->from[a->count] = var;
        a->to[a->count++] = to;
    }
    return to;
}

static bool has_function(const struct ast_kernel *kernel, const struct ast_function *f)
{
    const struct ast_function *g = kernel->functions;
    while (g && g != f)
        g = g->next;
    return g != NULL;
}

/* Moves a function of the donor into the kernel, and what it calls. */
static void import_function(struct adoption *a, struct ast_function *f)
{
    struct mutation *m = a->m;
    if (has_function(m->kernel, f))
        return;
    struct ast_function **end = &m->kernel->functions, **from = &m->donor->functions;
    while (*from && *from != f)
        from = &(*from)->next;
    if (*from)
        *from = f->next;
    f->next = NULL;
    f->name = mutate_name(m, f->name);
    while (*end)
        end = &(*end)->next;
    *end = f;
    adopt_list(a, f, f->body);
    for (struct ast_block *b = f->blocks; b; b = b->next)
        adopt_list(a, f, b->body);
}

static void adopt_expr(struct adoption *a, struct ast_function *function, struct ast_expr *e)
{
    for (; e; e = e->next) {
        if (e->kind == EXPR_VAR || e->kind == EXPR_INDEX)
            e->var = map_var(a, function, e->var);
        adopt_expr(a, function, e->a);
        adopt_expr(a, function, e->b);
        adopt_expr(a, function, e->c);
    }
}

static void adopt_list(struct adoption *a, struct ast_function *function, struct ast_stm *list)
{
    for (; list; list = list->next) {
        list->target.var = map_var(a, function, list->target.var);
        list->place.var = map_var(a, function, list->place.var);
        struct ast_expr *const exprs[] = {list->target.index, list->place.index, list->value,
                                          list->second,       list->arguments,   list->outs,
                                          list->guard};
        for (size_t i = 0; i < sizeof exprs / sizeof exprs[0]; i++)
            adopt_expr(a, function, exprs[i]);
        if (list->kind == STM_CALL)
            import_function(a, list->function);
        adopt_list(a, function, list->body);
        adopt_list(a, function, list->other);
        adopt_list(a, function, list->init);
        adopt_list(a, function, list->step);
        for (struct ast_case *c = list->cases; c; c = c->next)
            adopt_list(a, function, c->body);
    }
}

void mutate_adopt_list(struct mutation *m, struct ast_function *function, struct ast_stm *list)
{
    struct adoption a = {.m = m, .function = function};
    adopt_list(&a, function, list);
}

void mutate_adopt_expr(struct mutation *m, struct ast_function *function, struct ast_expr *expr)
{
    struct adoption a = {.m = m, .function = function};
    adopt_expr(&a, function, expr);
}

/* ---- expressions from somewhere ---- */

static bool is_condition(const struct expr_site *site)
{
    return site->role == ROLE_CONDITION;
}

static bool is_value(const struct expr_site *site)
{
    return site->role == ROLE_VALUE;
}

/* Of the kernel, or of the donor. */
static struct ast_expr *copy_from(struct mutation *m, struct ast_function *function,
                                  bool (*accept)(const struct expr_site *site))
{
    struct ast_kernel *from = mutate_chance(m, 30) ? m->donor : m->kernel;
    struct expr_sites *sites = mutate_exprs(m, from, accept);
    mutate_mark_counters(m->kernel);
    if (sites->count == 0)
        return NULL;
    struct ast_expr *expr = ast_expr_copy(m->arena, *sites->at[mutate_below(m, sites->count)].slot);
    expr->next = NULL;
    mutate_adopt_expr(m, function, expr);
    return expr;
}

static struct ast_expr *thread_condition(struct mutation *m)
{
    static const enum ast_builtin who[] = {BUILTIN_LANE, BUILTIN_TID, BUILTIN_WARP, BUILTIN_BID};
    static const enum ast_binary how[] = {BINARY_LT, BINARY_EQ, BINARY_NE, BINARY_GE, BINARY_AND};
    struct ast_expr *thread = ast_builtin_ref(m->arena, who[mutate_below(m, 4)]);
    return ast_binary(m->arena, how[mutate_below(m, 5)], thread,
                      ast_int(m->arena, 1 + (int32_t)mutate_below(m, 4)));
}

struct ast_expr *mutate_condition(struct mutation *m, struct ast_function *function)
{
    struct ast_expr *expr = mutate_chance(m, 60) ? copy_from(m, function, is_condition) : NULL;
    return expr ? expr : thread_condition(m);
}

struct ast_expr *mutate_value(struct mutation *m, struct ast_function *function)
{
    struct ast_expr *expr = mutate_chance(m, 80) ? copy_from(m, function, is_value) : NULL;
    return expr ? expr : ast_int(m->arena, (int32_t)mutate_below(m, 8));
}
