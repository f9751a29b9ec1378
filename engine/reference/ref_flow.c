#include "engine/reference/ref_flow.h"

#include <string.h>

struct ref_flow *ref_flow_new(struct arena *arena, uint32_t count, const uint32_t *most)
{
    struct ref_flow *g = ARENA_NEW(arena, struct ref_flow);
    g->count = count;
    g->next_count = ARENA_ARRAY(arena, uint32_t, count + 1);
    g->next = arena_alloc(arena, count + 1, sizeof *g->next);
    g->waiting = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (int i = 0; i < 2; i++)
        g->searched[i] =
            (struct ref_flow_searched){REF_FLOW_NONE, 0, ARENA_ARRAY(arena, bool, count + 1)};
    for (uint32_t n = 0; n < count; n++)
        g->next[n] = ARENA_ARRAY(arena, uint32_t, most[n] + 1);
    return g;
}

void ref_flow_add(struct ref_flow *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->next_count[from]; i++)
        if (g->next[from][i] == to)
            return;
    g->next[from][g->next_count[from]++] = to;
    g->searched[0].from = g->searched[1].from = REF_FLOW_NONE;
}

void ref_flow_search(struct ref_flow *g, uint32_t from, uint32_t avoid)
{
    uint32_t waiting = 0;
    struct ref_flow_searched *searched = &g->searched[avoid != REF_FLOW_NONE];
    g->seen = searched->seen;
    if (searched->from == from && searched->avoid == avoid)
        return;
    searched->from = from;
    searched->avoid = avoid;
    memset(g->seen, 0, g->count * sizeof *g->seen);
    if (from == avoid)
        return;
    g->waiting[waiting++] = from;
    g->seen[from] = true;
    while (waiting > 0) {
        uint32_t n = g->waiting[--waiting];
        for (uint32_t i = 0; i < g->next_count[n]; i++) {
            uint32_t to = g->next[n][i];
            if (to != avoid && !g->seen[to]) {
                g->seen[to] = true;
                g->waiting[waiting++] = to;
            }
        }
    }
}

bool ref_flow_reaches(struct ref_flow *g, uint32_t from, uint32_t to, uint32_t avoid)
{
    ref_flow_search(g, from, avoid);
    return g->seen[to];
}

bool ref_flow_dominates(struct ref_flow *g, uint32_t by, uint32_t node)
{
    return ref_flow_reaches(g, 0, node, REF_FLOW_NONE) && !ref_flow_reaches(g, 0, node, by);
}

static bool reaches_end(struct ref_flow *g, uint32_t node, uint32_t avoid)
{
    ref_flow_search(g, node, avoid);
    for (uint32_t n = 0; n < g->count; n++)
        if (g->seen[n] && g->next_count[n] == 0)
            return true;
    return false;
}

bool ref_flow_post_dominates(struct ref_flow *g, uint32_t by, uint32_t node)
{
    return reaches_end(g, node, REF_FLOW_NONE) && !reaches_end(g, node, by);
}

/* Of all others that have it in their way the one that all of these have in theirs. */
static uint32_t nearest(struct ref_flow *g, uint32_t node,
                        bool (*passes)(struct ref_flow *, uint32_t, uint32_t))
{
    uint32_t best = REF_FLOW_NONE;
    for (uint32_t by = 0; by < g->count; by++)
        if (by != node && passes(g, by, node) && (best == REF_FLOW_NONE || passes(g, best, by)))
            best = by;
    return best;
}

uint32_t ref_flow_dominator(struct ref_flow *g, uint32_t node)
{
    return nearest(g, node, ref_flow_dominates);
}

uint32_t ref_flow_post_dominator(struct ref_flow *g, uint32_t node)
{
    return nearest(g, node, ref_flow_post_dominates);
}

bool ref_flow_is_back(struct ref_flow *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->next_count[from]; i++)
        if (g->next[from][i] == to)
            return ref_flow_dominates(g, to, from);
    return false;
}

bool ref_flow_heads(struct ref_flow *g, uint32_t head)
{
    for (uint32_t n = 0; n < g->count; n++)
        if (ref_flow_is_back(g, n, head))
            return true;
    return false;
}

bool ref_flow_in_loop(struct ref_flow *g, uint32_t head, uint32_t node)
{
    if (node == head)
        return ref_flow_heads(g, head);
    if (!ref_flow_reaches(g, 0, node, REF_FLOW_NONE))
        return false;
    for (uint32_t n = 0; n < g->count; n++)
        if (ref_flow_is_back(g, n, head) && n != head && ref_flow_reaches(g, node, n, head))
            return true;
    return false;
}

uint32_t ref_flow_innermost(struct ref_flow *g, uint32_t node)
{
    uint32_t best = REF_FLOW_NONE;
    for (uint32_t head = 0; head < g->count; head++)
        if (ref_flow_in_loop(g, head, node) &&
            (best == REF_FLOW_NONE || ref_flow_in_loop(g, best, head)))
            best = head;
    return best;
}

bool ref_flow_leaves_loop(struct ref_flow *g, uint32_t node)
{
    uint32_t head = ref_flow_innermost(g, node);
    for (uint32_t i = 0; head != REF_FLOW_NONE && i < g->next_count[node]; i++)
        if (!ref_flow_in_loop(g, head, g->next[node][i]))
            return true;
    return false;
}

/* What is reached from the entry is on no cycle without a back edge: otherwise one can go on for ever without any. */
bool ref_flow_reducible(struct ref_flow *g, struct arena *arena)
{
    size_t mark = arena_mark(arena);
    bool *reached = ARENA_ARRAY(arena, bool, g->count + 1),
         *ends = ARENA_ARRAY(arena, bool, g->count + 1);
    bool changed = true, all = true;
    ref_flow_search(g, 0, REF_FLOW_NONE);
    memcpy(reached, g->seen, g->count * sizeof *reached);
    while (changed) {
        changed = false;
        for (uint32_t n = 0; n < g->count; n++) {
            bool stops = !ends[n];
            for (uint32_t i = 0; i < g->next_count[n] && stops; i++)
                stops = ends[g->next[n][i]] || ref_flow_is_back(g, n, g->next[n][i]);
            ends[n] |= stops;
            changed |= stops;
        }
    }
    for (uint32_t n = 0; n < g->count; n++)
        all = all && (ends[n] || !reached[n]);
    arena_release(arena, mark);
    return all;
}
