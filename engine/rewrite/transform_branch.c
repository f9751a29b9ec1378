/* transform_branch.c - branches: negated, flattened, two copies and a selection. */
#include "engine/rewrite/transform_internal.h"

/*      if (c) S else T   ==>   if (!c) T else S
 *
 * The other branch comes first in lock-step, which a race alone could tell. */
static void negate_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm *s = *list; s; s = s->next)
        if (s->kind == STM_IF && edit_here(edit)) {
            struct ast_stm *then_branch = s->body;
            s->body = s->other ? s->other : edit_block(edit, NULL);
            s->other = then_branch;
            s->value = ast_unary(edit->arena, UNARY_NOT, s->value);
            return;
        }
}

void transform_negate(struct edit *edit)
{
    edit_walk_lists(edit, negate_list);
}

/* ---- flatten ---- */

static bool is_private_scalar(const struct ast_var *var)
{
    return !var->is_array && (var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL);
}

/* What a branch does: nothing (*assignment NULL), or one assignment; false: something else. */
static bool only_assigns(const struct ast_stm *branch, const struct ast_stm **assignment)
{
    *assignment = NULL;
    for (const struct ast_stm *s = branch ? branch->body : NULL; s; s = s->next) {
        if (s->kind == STM_SKIP)
            continue;
        if (*assignment || s->kind != STM_ASSIGN || !is_private_scalar(s->target.var))
            return false;
        *assignment = s;
    }
    return true;
}

static struct ast_expr *value_or_old(struct edit *edit, const struct ast_stm *assignment,
                                     struct ast_var *var)
{
    return assignment ? ast_assigned_value(edit->arena, assignment) : ast_var_ref(edit->arena, var);
}

/*      if (c) x = e; else x = f;   ==>   x = c ? e : f;          x a private scalar; no assignment: x = x
 *
 * c, then e or f is evaluated, as before: what was not read is not. (For a shared x, that who wrote nothing
 * now writes x would be a race.) */
static void flatten_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct ast_stm *s = *slot;
        const struct ast_stm *then_stm, *else_stm;
        if (s->kind != STM_IF || !only_assigns(s->body, &then_stm) ||
            !only_assigns(s->other, &else_stm) || (!then_stm && !else_stm) ||
            (then_stm && else_stm && then_stm->target.var != else_stm->target.var) ||
            !edit_here(edit))
            continue;
        struct ast_var *x = (then_stm ? then_stm : else_stm)->target.var;
        struct ast_expr *value = ast_cond(edit->arena, s->value, value_or_old(edit, then_stm, x),
                                          value_or_old(edit, else_stm, x));
        struct ast_stm *flat = ast_assign(edit->arena, x, NULL, value, s->at);
        (void)edit_take(slot, 1);
        edit_put(slot, flat);
        return;
    }
}

void transform_flatten(struct edit *edit)
{
    edit_walk_lists(edit, flatten_list);
}

/* ---- duplicate ---- */

/*      S   ==>   if (p) S else S          threads meet in S (barrier, vote): p the same in all of a block
 *
 * Whichever copy a thread takes, it does what it did. A copy of a barrier is another barrier, so all
 * threads of a block must take the same one. */
static void duplicate_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        if (!edit_here(edit))
            continue;
        bool meets = transform_facts(edit, *slot, true).meets;
        struct ast_expr *selection = transform_selection(edit, meets || edit_choose(edit, 4) == 3);
        struct ast_stm *s = edit_take(slot, 1);
        struct ast_stm *copy = ast_stm_list_copy(edit->arena, s);
        edit_put(slot, transform_if(edit, selection, s, copy, s->at));
        return;
    }
}

void transform_duplicate(struct edit *edit)
{
    edit_walk_lists(edit, duplicate_list);
}
