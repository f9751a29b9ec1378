/*
 * ref_group.c - what the lanes of a warp that step together do to memory, and say of each other: assign^w, havoc^w,
 * atomic^w, vote^w. All places and values come first, then the lanes one after another, in an order that is told.
 */
#include "engine/reference/ref_internal.h"

bool ref_group_holds(struct ref *r, const struct ref_group *group, const struct ast_expr *e,
                     bool *holds)
{
    for (uint32_t i = 0; i < group->count; i++)
        holds[i] = ref_value(r, group->threads[i], e) != 0;
    return !ref_failed(r);
}

static bool is_in_order(struct ref *r, const struct ref_group *group, const struct ref_told *told)
{
    if (!ref_is_order(told, group->threads, group->count))
        r->misled = "the lanes that write are not the active ones, each once";
    return !r->misled;
}

static bool assign(struct ref *r, const struct ref_group *group, const struct ast_stm *s,
                   const struct ref_told *told)
{
    struct ref_cell cells[LIMIT_WARP];
    int32_t values[LIMIT_WARP];
    for (uint32_t i = 0; i < group->count; i++)
        cells[group->threads[i] - group->first] =
            ref_assigned(r, group->threads[i], s, &values[group->threads[i] - group->first]);
    if (ref_failed(r) || !is_in_order(r, group, told))
        return false;
    ref_ways_to_write(r, group->threads, group->count, group->first, cells, values);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t lane = told->order[i] - group->first;
        ref_write(r, told->order[i], &cells[lane], values[lane]);
    }
    return true;
}

/* Choices are each thread's own. */
static bool havoc(struct ref *r, const struct ref_group *group, const struct ast_stm *s,
                  const struct ref_told *told)
{
    struct ref_cell cells[LIMIT_WARP];
    for (uint32_t i = 0; i < group->count; i++)
        cells[group->threads[i] - group->first] = ref_place(r, group->threads[i], &s->place);
    if (ref_failed(r) || !is_in_order(r, group, told))
        return false;
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t thread = told->order[i];
        ref_write(r, thread, &cells[thread - group->first], ref_choice_value(r, thread));
    }
    return true;
}

static bool atomics(struct ref *r, const struct ref_group *group, const struct ast_stm *s,
                    const struct ref_told *told)
{
    struct ref_operands operands[LIMIT_WARP];
    for (uint32_t i = 0; i < group->count; i++)
        (void)ref_operands(r, group->threads[i], s, &operands[group->threads[i] - group->first]);
    if (ref_failed(r) || !is_in_order(r, group, told))
        return false;
    ref_ways_of(r, s, group->threads, group->count, group->first, operands);
    for (uint32_t i = 0; i < group->count; i++)
        ref_atomic(r, told->order[i], s, &operands[told->order[i] - group->first]);
    return true;
}

/* all: e holds for every lane; any: for one; uni: for all or none; ballot: for which, lanes 0 to 31 */
static int32_t vote_of(enum ast_vote vote, const struct ref_group *group, const bool *holds)
{
    uint32_t yes = 0, ballot = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t lane = group->threads[i] - group->first;
        yes += holds[i];
        ballot += holds[i] && lane < 32 ? (uint32_t)1 << lane : 0;
    }
    switch (vote) {
    case VOTE_ALL:
        return yes == group->count;
    case VOTE_ANY:
        return yes > 0;
    case VOTE_UNI:
        return yes == group->count || yes == 0;
    case VOTE_BALLOT:
        return (int32_t)ballot;
    case VOTE_COUNT:
        break;
    }
    return 0;
}

static bool votes(struct ref *r, const struct ref_group *group, const struct ast_stm *s)
{
    bool holds[LIMIT_WARP];
    if (!ref_group_holds(r, group, s->value, holds))
        return false;
    for (uint32_t i = 0; i < group->count; i++)
        *ref_cell_of(r, group->threads[i], s->target.var, 0).word = vote_of(s->vote, group, holds);
    return true;
}

bool ref_group_does(struct ref *r, const struct ref_group *group, const struct ast_stm *s,
                    const struct ref_told *told)
{
    switch ((int)s->kind) { /* those that do something to memory */
    case STM_ASSIGN:
        return assign(r, group, s, told);
    case STM_HAVOC:
        return havoc(r, group, s, told);
    case STM_ATOMIC:
        return atomics(r, group, s, told);
    case STM_VOTE:
        return votes(r, group, s);
    default:
        (void)ref_unknown(r, ast_stm_names[s->kind]);
        return false;
    }
}
