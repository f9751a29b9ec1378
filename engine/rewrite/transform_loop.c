/*
 * transform_loop.c - loops: peeled, unrolled, split, with a flag.
 *
 * A barrier in the body is told apart by the trips of the loop since the last barrier, which are equal for
 * all threads of a block that is at one. Where the body is copied, which copy a thread is in and that
 * copy's trips say how many trips it has made in all, and the other way round: so equal trips are equal
 * places. Jumps that leave further loops, or the function, do the same in a copy.
 */
#include "engine/language/walk.h"
#include "engine/rewrite/transform_internal.h"

static struct ast_expr *condition_of(struct edit *edit, const struct ast_stm *loop)
{
    return loop->value ? ast_expr_copy(edit->arena, loop->value) : ast_int(edit->arena, 1);
}

/* A copy of the body, and of what `for` does after it. */
static struct ast_stm *copy_trip(struct edit *edit, const struct ast_stm *loop)
{
    struct ast_stm *trip = ast_stm_list_copy(edit->arena, loop->body->body);
    if (loop->step)
        ast_stm_append(&trip, ast_stm_list_copy(edit->arena, loop->step));
    return trip;
}

static struct ast_stm *new_while(struct edit *edit, struct ast_expr *condition,
                                 struct ast_stm *body, struct location at)
{
    struct ast_stm *loop = ast_stm(edit->arena, STM_WHILE, at);
    loop->value = condition;
    loop->body = edit_block(edit, body);
    return loop;
}

static struct ast_stm *set_local(struct edit *edit, struct ast_var *var, int32_t value,
                                 struct location at)
{
    return ast_assign(edit->arena, var, NULL, ast_int(edit->arena, value), at);
}

/* Whether no jump in the body is the loop's own. */
static bool has_no_jumps(const struct edit *edit, const struct ast_stm *loop)
{
    struct transform_facts facts = transform_facts(edit, loop->body->body, false);
    return !facts.breaks && !facts.continues;
}

/*      while (c) S          ==>   if (c) { S while (c) S }
 *      for (i; c; u) S      ==>   i; if (c) { S u; while (c) { S u; } }
 *      do S while (c);      ==>   S while (c) S
 */
static struct ast_stm *peel(struct edit *edit, struct ast_stm *loop)
{
    struct ast_stm *first = copy_trip(edit, loop), *init = loop->init;
    struct ast_stm *rest =
        new_while(edit, condition_of(edit, loop), copy_trip(edit, loop), loop->at);
    ast_stm_append(&first, rest);
    if (loop->kind == STM_DO)
        return first;
    first = transform_if(edit, condition_of(edit, loop), first, NULL, loop->at);
    ast_stm_append(&init, first);
    return init;
}

static void peel_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        bool is_loop = ast_is(*slot, STM_LOOP);
        if (is_loop && has_no_jumps(edit, *slot) && edit_here(edit)) {
            edit_put(slot, peel(edit, edit_take(slot, 1)));
            return;
        }
    }
}

void transform_peel(struct edit *edit)
{
    edit_walk_lists(edit, peel_list);
}

/*      while (c) S   ==>   while (c) { S if (c) S }          no jump in S is the loop's own
 *
 * When the inner c does not hold it is evaluated again at once, with the same value. */
static void unroll_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm *s = *list; s; s = s->next)
        if (s->kind == STM_WHILE && has_no_jumps(edit, s) && edit_here(edit)) {
            struct ast_stm *again =
                transform_if(edit, condition_of(edit, s), copy_trip(edit, s), NULL, s->at);
            ast_stm_append(&s->body->body, again);
            return;
        }
}

void transform_unroll(struct edit *edit)
{
    edit_walk_lists(edit, unroll_list);
}

/*      while (c) S   ==>   n = 0; while (n < k && c) { n = n + 1; S } while (c) S
 *
 * No jump in S is the loop's own: a break of the first loop would begin the second. n is the thread's own. */
static void split_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct ast_stm *s = *slot;
        if (s->kind != STM_WHILE || !has_no_jumps(edit, s) || !edit_here(edit))
            continue;
        struct arena *arena = edit->arena;
        struct ast_var *n = edit_local(edit, "n");
        int32_t bound = 1 + (int32_t)edit_choose(edit, 3);
        struct ast_expr *more =
            ast_binary(arena, BINARY_LT, ast_var_ref(arena, n), ast_int(arena, bound));
        struct ast_stm *body = ast_assign(
            arena, n, NULL, ast_binary(arena, BINARY_ADD, ast_var_ref(arena, n), ast_int(arena, 1)),
            s->at);
        ast_stm_append(&body, copy_trip(edit, s));
        struct ast_stm *first = set_local(edit, n, 0, s->at);
        ast_stm_append(&first,
                       new_while(edit,
                                 ast_binary(arena, BINARY_LOGICAL_AND, more, condition_of(edit, s)),
                                 body, s->at));
        edit_put(slot, first);
        return;
    }
}

void transform_split(struct edit *edit)
{
    edit_walk_lists(edit, split_list);
}

/*      while (c) S   ==>   f = 1; while (f) if (c) S else f = 0;
 *
 * Each S is in the same trip as before; a break leaves the loop, and continue tests f, which is still 1. */
static void flag_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct ast_stm *s = *slot;
        if (s->kind != STM_WHILE || !edit_here(edit))
            continue;
        struct ast_var *f = edit_local(edit, "f");
        struct ast_stm *done = set_local(edit, f, 0, s->at);
        struct ast_stm *trip = transform_if(edit, s->value, s->body->body, done, s->at);
        s->value = ast_var_ref(edit->arena, f);
        s->body = edit_block(edit, trip);
        edit_put(slot, set_local(edit, f, 1, s->at));
        return;
    }
}

void transform_flag(struct edit *edit)
{
    edit_walk_lists(edit, flag_list);
}
