/* transform_wrap.c - control flow around statements, and code that nobody reaches. */
#include "engine/rewrite/transform_internal.h"

enum { RUN_MAX = 3 };

/* Of the statements from *slot on, how many: one, or more. */
static uint32_t choose_run(struct edit *edit, const struct ast_stm *first)
{
    uint32_t length = edit_length(first);
    return 1 + edit_choose(edit, length < RUN_MAX ? length : RUN_MAX);
}

/*      S   ==>   if (t) { S }      if (t) { S } else ;      if (f) ; else { S }
 *
 * t holds in every thread, f in none, so S is done by whom it was done: also barriers and votes in it. The
 * branch is uniform, whatever it looks like. Jumps in S keep their targets. */
static void wrap_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        if (!edit_here(edit))
            continue;
        struct location at = (*slot)->at;
        uint32_t shape = edit_choose(edit, 3);
        struct ast_expr *condition = transform_known(edit, shape != 2, false);
        struct ast_stm *run = edit_take(slot, choose_run(edit, *slot));
        struct ast_stm *skip = ast_stm(edit->arena, STM_SKIP, at);
        edit_put(slot, shape == 0   ? transform_if(edit, condition, run, NULL, at)
                       : shape == 1 ? transform_if(edit, condition, run, skip, at)
                                    : transform_if(edit, condition, skip, run, at));
        return;
    }
}

void transform_wrap(struct edit *edit)
{
    edit_walk_lists(edit, wrap_list);
}

/*      S   ==>   do { S } while (f);          no break or continue leaves S
 *
 * One trip for everybody: who was at one barrier of S is at it in the same, only trip. */
static void once_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct transform_facts facts = transform_facts(edit, *slot, true);
        if (facts.breaks || facts.continues || !edit_here(edit))
            continue;
        uint32_t run = choose_run(edit, *slot), length = 1;
        for (const struct ast_stm *s = (*slot)->next; length < run; s = s->next, length++) {
            facts = transform_facts(edit, s, true);
            if (facts.breaks || facts.continues)
                break;
        }
        struct ast_stm *loop = ast_stm(edit->arena, STM_DO, (*slot)->at);
        loop->value = transform_known(edit, false, false);
        loop->body = edit_block(edit, edit_take(slot, length));
        edit_put(slot, loop);
        return;
    }
}

void transform_do_once(struct edit *edit)
{
    edit_walk_lists(edit, once_list);
}

/* A legal jump: of those that there are, the one chosen. */
static struct ast_stm *choose_jump(struct edit *edit, struct edit_place place, struct location at)
{
    enum ast_stm_kind kinds[4] = {STM_RETURN};
    uint32_t count = 1;
    if (place.breakable)
        kinds[count++] = STM_BREAK;
    if (place.in_loop)
        kinds[count++] = STM_CONTINUE;
    if (edit->function == edit->kernel->main)
        kinds[count++] = STM_EXIT; /* in a procedure it has no block form */
    struct ast_stm *jump = ast_stm(edit->arena, kinds[edit_choose(edit, count)], at);
    if (jump->kind == STM_RETURN && edit->function->returns_int)
        jump->value = ast_int(edit->arena, 0);
    return jump;
}

/*      S   ==>   if (f) jump; S               f holds in no thread */
static void jump_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next)
        if (edit_here(edit)) {
            struct location at = (*slot)->at;
            struct ast_stm *jump = choose_jump(edit, place, at);
            struct ast_expr *never = transform_known(edit, false, false);
            edit_put(slot, transform_if(edit, never, jump, NULL, at));
            return;
        }
}

void transform_dead_jump(struct edit *edit)
{
    edit_walk_lists(edit, jump_list);
}

/* All threads write there, if it is ever done. NULL: there is no such variable. */
static struct ast_stm *racy_store(struct edit *edit, struct location at)
{
    struct ast_var *var = edit->kernel->vars;
    while (var && var->space != SPACE_SHARED && var->space != SPACE_GLOBAL)
        var = var->next;
    if (!var)
        return NULL;
    struct ast_expr *index = var->is_array ? ast_int(edit->arena, 0) : NULL;
    return ast_assign(edit->arena, var, index, ast_builtin_ref(edit->arena, BUILTIN_TID), at);
}

static struct ast_stm *dead_code(struct edit *edit, const struct ast_stm *next)
{
    struct ast_stm *s = NULL, copy = *next;
    switch (edit_choose(edit, 5)) {
    case 0:
        s = racy_store(edit, next->at);
        break;
    case 1:
        return ast_stm(edit->arena, STM_BARRIER, next->at);
    case 2:
        s = ast_stm(edit->arena, STM_WHILE, next->at);
        s->value = ast_int(edit->arena, 1);
        s->body = edit_block(edit, NULL);
        break;
    case 3:
        copy.next = NULL;
        s = ast_stm_list_copy(edit->arena, &copy);
        break;
    default:
        break;
    }
    if (!s) {
        s = ast_stm(edit->arena, STM_ASSERT, next->at);
        s->value = ast_int(edit->arena, 0);
    }
    return s;
}

/*      S   ==>   if (f) { dead } S            f holds in no thread, though it may read tid or lane
 *
 * Nobody comes to `dead`: what a race, a barrier, an error in it would do happens to nobody. */
static void dead_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next)
        if (edit_here(edit)) {
            struct location at = (*slot)->at;
            struct ast_stm *dead = dead_code(edit, *slot);
            struct ast_expr *never = transform_known(edit, false, false);
            edit_put(slot, transform_if(edit, never, dead, NULL, at));
            return;
        }
}

void transform_dead_code(struct edit *edit)
{
    edit_walk_lists(edit, dead_list);
}

/*      c   ==>   c && t      t && c      c || f      f || c
 *
 * Where only the truth of c matters; c is evaluated as before, t and f read what nobody writes. */
static void opaque_expr(struct edit *edit, struct ast_expr **slot, bool condition)
{
    if (!condition || !edit_here(edit))
        return;
    bool conjunction = edit_choose(edit, 2) == 0, last = edit_choose(edit, 2) == 0;
    struct ast_expr *known = transform_known(edit, conjunction, false);
    enum ast_binary op = conjunction ? BINARY_LOGICAL_AND : BINARY_LOGICAL_OR;
    *slot = ast_binary(edit->arena, op, last ? *slot : known, last ? known : *slot);
}

void transform_opaque(struct edit *edit)
{
    transform_walk_exprs(edit, opaque_expr);
}
