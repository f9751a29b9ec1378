/*
 * What is wrong with a kernel about waiting: a release left out, the wrong flag, an atomic operation that is
 * none any more. One place of a kernel is changed; where there is none of the kind, nothing.
 */
#include "engine/language/walk.h"
#include "fuzz/waiting/gen_spin.h"

#include <string.h>

enum { SITES = 256 };

/* All statements and expressions of a kernel, up to so many, in the order of its text. */
struct sites {
    uint32_t stm_count, expr_count, place_count;
    struct ast_stm *stms[SITES];
    struct ast_expr *exprs[SITES];
    struct ast_lvalue *places[SITES];
};

static void see_expr(void *context, struct ast_expr *expr)
{
    struct sites *s = context;
    expr->at = (struct location){0};
    if (s->expr_count < SITES)
        s->exprs[s->expr_count++] = expr;
}

static void see_place(void *context, struct ast_lvalue *place)
{
    struct sites *s = context;
    place->at = (struct location){0};
    if (s->place_count < SITES)
        s->places[s->place_count++] = place;
}

static void see_stm(void *context, struct ast_stm *stm)
{
    struct sites *s = context;
    stm->at = (struct location){0};
    if (s->stm_count < SITES)
        s->stms[s->stm_count++] = stm;
    for (struct ast_case *c = stm->cases; c; c = c->next)
        c->at = (struct location){0};
}

static void see_kernel(struct sites *s, struct ast_kernel *kernel)
{
    const struct ast_change see = {see_stm, see_expr, see_place, s};
    s->stm_count = s->expr_count = s->place_count = 0;
    for (struct ast_function *f = kernel->functions; f; f = f->next) {
        f->at = (struct location){0};
        ast_change_stms(&see, f->body);
    }
    kernel->main->at = (struct location){0};
    ast_change_stms(&see, kernel->main->body);
}

/* ---- flaws: each at the site drawn among those that it is possible at ---- */

static bool is_comparison(const struct ast_expr *expr)
{
    return expr->kind == EXPR_BINARY && expr->binary >= BINARY_LT && expr->binary <= BINARY_NE;
}

static struct ast_stm *draw_stm(struct gen *g, const struct sites *s,
                                bool (*fits)(const struct ast_stm *))
{
    uint32_t count = 0, chosen;
    for (uint32_t i = 0; i < s->stm_count; i++)
        count += fits(s->stms[i]);
    if (count == 0)
        return NULL;
    chosen = gen_below(g, count);
    for (uint32_t i = 0;; i++)
        if (fits(s->stms[i]) && chosen-- == 0)
            return s->stms[i];
}

static struct ast_expr *draw_expr(struct gen *g, const struct sites *s,
                                  bool (*fits)(const struct ast_expr *))
{
    uint32_t count = 0, chosen;
    for (uint32_t i = 0; i < s->expr_count; i++)
        count += fits(s->exprs[i]);
    if (count == 0)
        return NULL;
    chosen = gen_below(g, count);
    for (uint32_t i = 0;; i++)
        if (fits(s->exprs[i]) && chosen-- == 0)
            return s->exprs[i];
}

/* Becomes what stands in `by`, and keeps its place in its list. */
static void replace(struct ast_stm *stm, const struct ast_stm *by)
{
    struct ast_stm *next = stm->next;
    *stm = *by;
    stm->next = next;
}

static bool is_simple(const struct ast_stm *stm)
{
    return stm->kind == STM_ASSIGN || stm->kind == STM_ATOMIC || stm->kind == STM_BREAK ||
           stm->kind == STM_CALL || stm->kind == STM_BARRIER;
}

/* The step of a loop is no place for `;`. */
static void drop(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    struct ast_stm *stm = draw_stm(g, s, is_simple);
    (void)kernel;
    for (uint32_t i = 0; i < s->stm_count; i++)
        if (s->stms[i]->init == stm || s->stms[i]->step == stm)
            return;
    if (stm)
        replace(stm, gen_stm(g, STM_SKIP));
}

static bool has_next(const struct ast_stm *stm)
{
    return stm->next && stm->next->kind != STM_BREAK && stm->kind != STM_BREAK;
}

static void swap(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    struct ast_stm *stm = draw_stm(g, s, has_next);
    (void)kernel;
    if (!stm)
        return;
    struct ast_stm first = *stm, *second = stm->next;
    replace(stm, second);
    replace(second, &first);
}

static bool is_if(const struct ast_stm *stm)
{
    return stm->kind == STM_IF;
}

static void swap_arms(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    struct ast_stm *stm = draw_stm(g, s, is_if);
    (void)kernel;
    if (!stm)
        return;
    struct ast_stm *body = stm->body;
    stm->body = gen_stm(g, STM_BLOCK);
    stm->body->body = stm->other;
    stm->other = body;
}

static bool is_shared(const struct ast_var *var)
{
    return var->space == SPACE_SHARED || var->space == SPACE_GLOBAL;
}

/* Another place, or a scalar read in a place's stead. */
static void exchange_variable(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    struct ast_var **uses[2 * SITES];
    uint32_t count = 0, others = 0;
    for (uint32_t i = 0; i < s->expr_count; i++)
        if ((s->exprs[i]->kind == EXPR_VAR || s->exprs[i]->kind == EXPR_INDEX) &&
            is_shared(s->exprs[i]->var))
            uses[count++] = &s->exprs[i]->var;
    for (uint32_t i = 0; i < s->place_count; i++)
        if (is_shared(s->places[i]->var))
            uses[count++] = &s->places[i]->var;
    if (count == 0)
        return;
    struct ast_var **use = uses[gen_below(g, count)];
    for (struct ast_var *var = kernel->vars; var; var = var->next)
        others += var != *use && var->is_array == (*use)->is_array;
    if (others == 0)
        return;
    uint32_t chosen = gen_below(g, others);
    for (struct ast_var *var = kernel->vars; var; var = var->next)
        if (var != *use && var->is_array == (*use)->is_array && chosen-- == 0) {
            *use = var;
            return;
        }
}

static bool is_number(const struct ast_expr *expr)
{
    return expr->kind == EXPR_INT;
}

static void change_constant(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    struct ast_expr *expr = draw_expr(g, s, is_number);
    (void)kernel;
    if (expr)
        expr->value = expr->value == 0 || gen_below(g, 2) ? expr->value + 1 : expr->value - 1;
}

static void change_comparison(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    static const enum ast_binary becomes[BINARY_COUNT] = {
        [BINARY_LT] = BINARY_LE, [BINARY_LE] = BINARY_LT, [BINARY_GT] = BINARY_GE,
        [BINARY_GE] = BINARY_GT, [BINARY_EQ] = BINARY_NE, [BINARY_NE] = BINARY_EQ};
    struct ast_expr *expr = draw_expr(g, s, is_comparison);
    (void)kernel;
    if (expr)
        expr->binary = becomes[expr->binary];
}

static bool is_split(const struct ast_stm *stm)
{
    return stm->kind == STM_ATOMIC && (stm->atomic == ATOMIC_ADD || stm->atomic == ATOMIC_EXCH ||
                                       (stm->atomic == ATOMIC_CAS && stm->target.var));
}

static struct ast_expr *read_of(struct gen *g, const struct ast_lvalue *place)
{
    return place->index ? ast_index(g->arena, place->var, ast_expr_copy(g->arena, place->index))
                        : ast_var_ref(g->arena, place->var);
}

/* x = atomic(place, ..): x = place; place = .. */
static void split(struct gen *g, const struct sites *s, struct ast_kernel *kernel)
{
    struct ast_stm *stm = draw_stm(g, s, is_split), *block = gen_stm(g, STM_BLOCK);
    (void)kernel;
    if (!stm)
        return;
    struct ast_expr *argument = ast_expr_copy(g->arena, stm->arguments);
    struct ast_stm *write = gen_stm(g, STM_ASSIGN), *read = NULL;
    write->target = stm->place;
    write->value = argument;
    if (stm->target.var) {
        read = gen_stm(g, STM_ASSIGN);
        read->target = stm->target;
        read->value = read_of(g, &stm->place);
    }
    if (stm->atomic == ATOMIC_ADD)
        write->value = ast_binary(g->arena, BINARY_ADD,
                                  read_of(g, read ? &stm->target : &stm->place), argument);
    if (stm->atomic == ATOMIC_CAS) {
        struct ast_expr *expected = argument;
        write->value = ast_expr_copy(g->arena, stm->arguments->next);
        write = gen_if(g, ast_binary(g->arena, BINARY_EQ, read_of(g, &stm->target), expected),
                       write, NULL);
    }
    block->body = read ? read : write;
    if (read)
        read->next = write;
    replace(stm, block);
}

/* ---- the kernel ---- */

static void drop_unused(struct ast_var **list)
{
    while (*list)
        if ((*list)->mark)
            list = &(*list)->next;
        else
            *list = (*list)->next;
}

static void mark_all(struct ast_kernel *kernel, uint32_t mark)
{
    for (struct ast_var *var = kernel->vars; var; var = var->next) {
        var->mark = mark;
        var->at = (struct location){0};
    }
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        for (struct ast_var *var = f->locals; var; var = var->next) {
            var->mark = mark;
            var->at = (struct location){0};
        }
    for (struct ast_var *var = kernel->main->locals; var; var = var->next) {
        var->mark = mark;
        var->at = (struct location){0};
    }
}

/* The patterns declare what some of their alternatives use. */
static void drop_variables(struct ast_kernel *kernel, struct sites *s)
{
    mark_all(kernel, 0);
    see_kernel(s, kernel);
    for (uint32_t i = 0; i < s->expr_count; i++)
        if (s->exprs[i]->kind == EXPR_VAR || s->exprs[i]->kind == EXPR_INDEX)
            s->exprs[i]->var->mark = 1;
    for (uint32_t i = 0; i < s->place_count; i++)
        s->places[i]->var->mark = 1;
    if (s->expr_count == SITES || s->place_count == SITES)
        return; /* not all were seen */
    drop_unused(&kernel->vars);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        drop_unused(&f->locals);
    drop_unused(&kernel->main->locals);
    mark_all(kernel, 0);
}

static void spoil(struct gen *g, struct ast_kernel *kernel, struct sites *s)
{
    static void (*const flaws[])(struct gen *, const struct sites *, struct ast_kernel *) = {
#define ITEM(item) [W_LOCK_FLAW_##item - W_LOCK_FLAW_FIRST]
        ITEM(NONE) = NULL,
        ITEM(DROP) = drop,
        ITEM(SWAP) = swap,
        ITEM(ARMS) = swap_arms,
        ITEM(VARIABLE) = exchange_variable,
        ITEM(CONSTANT) = change_constant,
        ITEM(COMPARE) = change_comparison,
        ITEM(SPLIT) = split,
    };
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t flaw = gen_pick(g, GROUP_LOCK_FLAW, 0);
        if (flaws[flaw - W_LOCK_FLAW_FIRST])
            flaws[flaw - W_LOCK_FLAW_FIRST](g, s, kernel);
        if (flaw == W_LOCK_FLAW_NONE)
            break;
        see_kernel(s, kernel);
    }
}

void spin_finish(struct gen *g, struct ast_kernel *kernel, bool flaws)
{
    struct sites *s = ARENA_NEW(g->arena, struct sites);
    drop_variables(kernel, s);
    if (!flaws)
        return;
    spoil(g, kernel, s);
    drop_variables(kernel, s);
}
