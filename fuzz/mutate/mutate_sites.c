/*
 * mutate_sites.c - the places of a kernel: where statements stand, where expressions.
 */
#include "engine/language/walk.h"
#include "fuzz/mutate/mutate_internal.h"

/* ---- statements ---- */

struct site_walk {
    struct sites *sites;
    bool ends;
};

static void add_site(struct site_walk *walk, const struct site *around, struct ast_stm **slot)
{
    if ((!*slot && !walk->ends) || walk->sites->count == MUTATE_SITES_MAX)
        return;
    struct site *site = &walk->sites->at[walk->sites->count++];
    *site = *around;
    site->slot = slot;
}

static void walk_list(struct site_walk *walk, const struct site *around, struct ast_stm **list);

/* The statement under an if or a loop: the list in its braces. */
static void walk_part(struct site_walk *walk, const struct site *inside, struct ast_stm *part)
{
    if (part && part->kind == STM_BLOCK)
        walk_list(walk, inside, &part->body);
}

static void walk_inside(struct site_walk *walk, const struct site *around, struct ast_stm *stm)
{
    struct site inside = *around;
    inside.depth++;
    if (stm->kind == STM_BLOCK)
        walk_list(walk, &inside, &stm->body);
    if (ast_is(stm, STM_LOOP))
        inside.in_loop = inside.breakable = true;
    if (stm->kind == STM_SWITCH)
        inside.breakable = true;
    if (stm->kind != STM_BLOCK)
        walk_part(walk, &inside, stm->body);
    walk_part(walk, &inside, stm->other);
    for (struct ast_case *c = stm->cases; c; c = c->next)
        walk_list(walk, &inside, &c->body);
}

static void walk_list(struct site_walk *walk, const struct site *around, struct ast_stm **list)
{
    struct ast_stm **slot = list;
    for (; *slot; slot = &(*slot)->next) {
        add_site(walk, around, slot);
        walk_inside(walk, around, *slot);
    }
    add_site(walk, around, slot);
}

static void walk_function(struct site_walk *walk, struct ast_function *f)
{
    struct site around = {.function = f};
    if (!f->blocks)
        walk_list(walk, &around, &f->body);
    for (struct ast_block *b = f->blocks; b; b = b->next) {
        around.block = b;
        walk_list(walk, &around, &b->body);
    }
}

struct sites *mutate_sites(struct mutation *m, struct ast_kernel *kernel, bool ends)
{
    struct site_walk walk = {.sites = ARENA_NEW(m->arena, struct sites), .ends = ends};
    walk_function(&walk, kernel->main);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        walk_function(&walk, f);
    return walk.sites;
}

struct site *mutate_pick_site(struct mutation *m, struct sites *sites)
{
    return sites->count ? &sites->at[mutate_below(m, sites->count)] : NULL;
}

struct site *mutate_pick_where(struct mutation *m, struct sites *sites,
                               bool (*accept)(const struct ast_stm *stm))
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sites->count; i++)
        if (*sites->at[i].slot && accept(*sites->at[i].slot))
            sites->at[count++] = sites->at[i];
    sites->count = count;
    return mutate_pick_site(m, sites);
}

uint32_t mutate_run(struct mutation *m, const struct site *site)
{
    uint32_t wanted = 1 + mutate_below(m, MUTATE_RUN_MAX), count = 0;
    for (const struct ast_stm *s = *site->slot; s && count < wanted; s = s->next) {
        if (mutate_counts(s) && !mutate_chance(m, 6))
            break;
        count++;
    }
    return count;
}

struct ast_stm *mutate_copy_run(struct mutation *m, const struct ast_stm *from, uint32_t count)
{
    struct ast_stm *copy = ast_stm_list_copy(m->arena, from), **end = &copy;
    for (uint32_t i = 0; i < count && *end; i++)
        end = &(*end)->next;
    *end = NULL;
    return copy;
}

/* ---- expressions ---- */

struct expr_walk {
    struct expr_sites *sites;
    struct ast_function *function;
    bool (*accept)(const struct expr_site *site);
};

static void walk_expr(struct expr_walk *walk, struct ast_expr **slot, enum expr_role role)
{
    if (!*slot)
        return;
    struct expr_site site = {slot, walk->function, role};
    if (walk->sites->count < MUTATE_SITES_MAX && walk->accept(&site))
        walk->sites->at[walk->sites->count++] = site;
    enum expr_role inside = (*slot)->kind == EXPR_INDEX && role != ROLE_LOOP ? ROLE_INDEX
                            : role == ROLE_CONDITION                         ? ROLE_VALUE
                                                                             : role;
    walk_expr(walk, &(*slot)->a, inside);
    walk_expr(walk, &(*slot)->b, inside);
    walk_expr(walk, &(*slot)->c, inside);
}

static enum expr_role role_of(const struct ast_stm *stm)
{
    if (mutate_counts(stm))
        return ROLE_LOOP;
    if (ast_is(stm, STM_LOOP))
        return ROLE_LOOP;
    if (stm->kind == STM_IF || stm->kind == STM_ASSUME || stm->kind == STM_ASSERT)
        return ROLE_CONDITION;
    return ROLE_VALUE;
}

/* Out-parameters and the constants of a pick are not expressions to change. */
static void walk_arguments(struct expr_walk *walk, struct ast_stm *stm)
{
    uint32_t number = 0;
    for (struct ast_expr **a = &stm->arguments; *a; a = &(*a)->next, number++)
        if (stm->kind != STM_PICK || number % 2)
            walk_expr(walk, a, stm->kind == STM_PICK ? ROLE_CONDITION : ROLE_VALUE);
}

static void walk_exprs(struct expr_walk *walk, struct ast_stm *list)
{
    for (; list; list = list->next) {
        walk_expr(walk, &list->target.index, ROLE_INDEX);
        walk_expr(walk, &list->place.index, ROLE_INDEX);
        walk_expr(walk, &list->value, role_of(list));
        walk_expr(walk, &list->second, ROLE_VALUE);
        walk_expr(walk, &list->guard, ROLE_CONDITION);
        walk_arguments(walk, list);
        walk_exprs(walk, list->body);
        walk_exprs(walk, list->other);
        for (struct ast_case *c = list->cases; c; c = c->next)
            walk_exprs(walk, c->body);
    }
}

static void walk_function_exprs(struct expr_walk *walk, struct ast_function *f)
{
    walk->function = f;
    walk_exprs(walk, f->body);
    for (struct ast_block *b = f->blocks; b; b = b->next)
        walk_exprs(walk, b->body);
}

struct expr_sites *mutate_exprs(struct mutation *m, struct ast_kernel *kernel,
                                bool (*accept)(const struct expr_site *site))
{
    struct expr_walk walk = {.sites = ARENA_NEW(m->arena, struct expr_sites), .accept = accept};
    mutate_mark_counters(kernel);
    walk_function_exprs(&walk, kernel->main);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        walk_function_exprs(&walk, f);
    return walk.sites;
}

static bool is_delicate(enum expr_role role)
{
    return role == ROLE_LOOP || role == ROLE_INDEX;
}

struct expr_site *mutate_pick_expr(struct mutation *m, struct expr_sites *sites)
{
    if (!mutate_chance(m, 6)) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < sites->count; i++)
            if (!is_delicate(sites->at[i].role))
                sites->at[count++] = sites->at[i];
        sites->count = count;
    }
    return sites->count ? &sites->at[mutate_below(m, sites->count)] : NULL;
}

/* ---- counters ---- */

static void unmark(struct ast_var *list)
{
    for (; list; list = list->next)
        list->mark = 0;
}

static bool mark_read(void *context, const struct ast_expr *e)
{
    (void)context;
    if (e->kind == EXPR_VAR && mutate_is_private(e->var))
        e->var->mark = 1;
    return false;
}

/* i += 1, i = i + 1. */
static bool is_step(const struct ast_stm *s)
{
    if (s->kind != STM_ASSIGN || !s->target.var || s->target.var->is_array || !s->value)
        return false;
    if (s->op == ASSIGN_ADD || s->op == ASSIGN_SUB)
        return s->value->kind == EXPR_INT;
    const struct ast_expr *e = s->value;
    return s->op == ASSIGN_SET && e->kind == EXPR_BINARY &&
           (e->binary == BINARY_ADD || e->binary == BINARY_SUB) && e->a->kind == EXPR_VAR &&
           e->a->var == s->target.var && e->b->kind == EXPR_INT;
}

static bool mark_stm(void *context, const struct ast_stm *stm)
{
    static const struct ast_question reads = {.expression = mark_read};
    (void)context;
    if (is_step(stm) && mutate_is_private(stm->target.var))
        stm->target.var->mark = 1;
    return ast_is(stm, STM_LOOP) && ast_ask_expr(&reads, stm->value);
}

void mutate_mark_counters(struct ast_kernel *kernel)
{
    unmark(kernel->vars);
    unmark(kernel->main->locals);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        unmark(f->locals);
    const struct ast_question marks = {.statement = mark_stm};
    ast_ask_kernel(&marks, kernel);
}

bool mutate_counts(const struct ast_stm *stm)
{
    return stm->target.var && stm->target.var->mark;
}
