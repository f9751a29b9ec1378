/*
 * reduce_expressions.c - what the reducer does to expressions, and to variables wherever they stand.
 * A constant is simpler than `tid`, that than any other name, that than an expression of several.
 */
#include "engine/language/walk.h"
#include "fuzz/reduce/reduce_internal.h"

enum { UNITE_VARIABLES = 6 }; /* where there are more, deleting statements comes first */

typedef void visit_expr(struct edit *edit, struct ast_expr **slot);

/* ---- walks ---- */

static void walk_expr(struct edit *edit, struct ast_expr **slot, visit_expr *visit)
{
    if (!*slot)
        return;
    struct ast_expr *expr = *slot;
    visit(edit, slot);
    if (*slot != expr)
        return;
    walk_expr(edit, &expr->a, visit);
    walk_expr(edit, &expr->b, visit);
    walk_expr(edit, &expr->c, visit);
}

/* Of a list the elements. */
static void walk_expr_list(struct edit *edit, struct ast_expr **list, visit_expr *visit)
{
    for (; *list; list = &(*list)->next) {
        struct ast_expr *next = (*list)->next;
        walk_expr(edit, list, visit);
        (*list)->next = next; /* of whatever stands there now */
    }
}

static void walk_stm_exprs(struct edit *edit, struct ast_stm *s, visit_expr *visit)
{
    if (!s)
        return;
    walk_expr(edit, &s->target.index, visit);
    walk_expr(edit, &s->place.index, visit);
    walk_expr(edit, &s->value, visit);
    walk_expr(edit, &s->second, visit);
    walk_expr(edit, &s->guard, visit);
    walk_expr_list(edit, &s->arguments, visit);
    walk_stm_exprs(edit, s->init, visit);
    walk_stm_exprs(edit, s->step, visit);
}

/* ---- operands ---- */

static void replace_by_operand(struct edit *edit, struct ast_expr **slot)
{
    struct ast_expr *const operands[] = {(*slot)->a, (*slot)->b, (*slot)->c};
    for (int i = 0; i < 3; i++)
        if (operands[i] && edit_here(edit)) {
            *slot = operands[i];
            return;
        }
}

static void operands_in_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next)
        walk_stm_exprs(edit, s, replace_by_operand);
}

void reduce_operands(struct edit *edit)
{
    edit_walk_lists(edit, operands_in_list);
}

/* ---- constants ---- */

static bool is_int(const struct ast_expr *e)
{
    return e->kind == EXPR_INT;
}

static void replace_by_constant(struct edit *edit, struct ast_expr **slot)
{
    struct ast_expr *e = *slot;
    for (int32_t value = 0; value < 2; value++) {
        if (is_int(e) && (e->value == 0 || (e->value == 1 && value == 1)))
            return;
        if (edit_here(edit)) {
            *slot = ast_int(edit->arena, value);
            return;
        }
    }
    if (is_int(e) && (e->value > 3 || e->value < -1) && edit_here(edit))
        *slot = ast_int(edit->arena, e->value / 2);
    else if (is_int(e) && e->value > 2 && edit_here(edit))
        *slot = ast_int(edit->arena, e->value - 1);
    else if (e->kind == EXPR_VAR && e->var->init_count > 0 && edit_here(edit))
        *slot = ast_int(edit->arena, e->var->init[0]);
}

static void constants_in_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next)
        walk_stm_exprs(edit, s, replace_by_constant);
}

void reduce_constants(struct edit *edit)
{
    edit_walk_lists(edit, constants_in_list);
}

/* ---- leaves ---- */

static void replace_by_tid(struct edit *edit, struct ast_expr **slot)
{
    struct ast_expr *e = *slot;
    if (is_int(e) || (e->kind == EXPR_BUILTIN && e->builtin == BUILTIN_TID) || !edit_here(edit))
        return;
    struct ast_expr *tid = ARENA_NEW(edit->arena, struct ast_expr);
    tid->kind = EXPR_BUILTIN;
    tid->builtin = BUILTIN_TID;
    *slot = tid;
}

static void leaves_in_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next)
        walk_stm_exprs(edit, s, replace_by_tid);
}

void reduce_leaves(struct edit *edit)
{
    edit_walk_lists(edit, leaves_in_list);
}

/* ---- variables, wherever they stand ---- */

/* One variable takes another's places; the same one: it has become a scalar. */
struct substitution {
    const struct ast_var *from;
    struct ast_var *to;
};

static void substitute_expr(void *context, struct ast_expr *e)
{
    const struct substitution *s = context;
    if (!ast_names(e) || e->var != s->from)
        return;
    e->var = s->to;
    if (!s->to->is_array) {
        e->kind = EXPR_VAR;
        e->a = NULL;
    }
}

static void substitute_place(void *context, struct ast_lvalue *place)
{
    const struct substitution *s = context;
    if (place->var != s->from)
        return;
    place->var = s->to;
    if (!s->to->is_array)
        place->index = NULL;
}

static void substitute(struct ast_kernel *kernel, struct substitution s)
{
    const struct ast_change change = {
        .expression = substitute_expr, .place = substitute_place, .context = &s};
    ast_change_kernel(&change, kernel);
}

static void scalars_of(struct edit *edit, struct ast_var *vars)
{
    for (struct ast_var *v = vars; v && !edit_done(edit); v = v->next)
        if (v->is_array && v->length == 1 && edit_here(edit)) {
            v->is_array = false;
            substitute(edit->kernel, (struct substitution){v, v});
        }
}

void reduce_scalars(struct edit *edit)
{
    scalars_of(edit, edit->kernel->vars);
    scalars_of(edit, edit->kernel->main->locals);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next)
        scalars_of(edit, f->locals);
}

static bool alike(const struct ast_var *a, const struct ast_var *b)
{
    return a->space == b->space && a->is_array == b->is_array && a->length >= b->length;
}

static void unite_in(struct edit *edit, struct ast_var **list)
{
    uint32_t count = 0;
    for (const struct ast_var *v = *list; v; v = v->next)
        count++;
    for (struct ast_var **slot = list; count <= UNITE_VARIABLES && *slot; slot = &(*slot)->next)
        for (struct ast_var *other = *list; other; other = other->next) {
            struct ast_var *v = *slot;
            if (other == v || v->is_parameter || !alike(other, v) || !edit_here(edit))
                continue;
            substitute(edit->kernel, (struct substitution){v, other});
            *slot = v->next;
            return;
        }
}

void reduce_unite(struct edit *edit)
{
    unite_in(edit, &edit->kernel->vars);
    if (!edit_done(edit))
        unite_in(edit, &edit->kernel->main->locals);
    for (struct ast_function *f = edit->kernel->functions; f && !edit_done(edit); f = f->next)
        unite_in(edit, &f->locals);
}
