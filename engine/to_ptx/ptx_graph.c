/*
 * ptx_graph.c - dominators by Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001);
 * post-dominators are dominators of the reversed graph with one node more, the end.
 */
#include "engine/to_ptx/ptx_graph.h"

#include <string.h>

static uint32_t *none_array(struct arena *arena, uint32_t count)
{
    uint32_t *array = ARENA_ARRAY(arena, uint32_t, count + 1);
    memset(array, 0xff, (count + 1) * sizeof *array);
    return array;
}

/* ---- order ---- */

struct frame {
    uint32_t node, left; /* successors that are still to be visited */
};

/* Reverse postorder from the root, into order and place. */
static uint32_t search(struct arena *arena, uint32_t root, uint32_t count, const uint32_t *first,
                       const uint32_t *next, uint32_t *order, uint32_t *place)
{
    size_t mark = arena_mark(arena);
    struct frame *frames = ARENA_ARRAY(arena, struct frame, count + 1);
    uint32_t depth = 0, finished = 0;
    bool *seen = ARENA_ARRAY(arena, bool, count + 1);
    frames[depth++] = (struct frame){root, first[root + 1] - first[root]};
    seen[root] = true;
    while (depth > 0) {
        struct frame *top = &frames[depth - 1];
        if (top->left == 0) {
            order[finished++] = top->node;
            depth--;
            continue;
        }
        uint32_t target = next[first[top->node] + --top->left];
        if (!seen[target]) {
            seen[target] = true;
            frames[depth++] = (struct frame){target, first[target + 1] - first[target]};
        }
    }
    for (uint32_t i = 0; i < finished / 2; i++) {
        uint32_t node = order[i];
        order[i] = order[finished - 1 - i];
        order[finished - 1 - i] = node;
    }
    for (uint32_t i = 0; i < finished; i++)
        place[order[i]] = i;
    arena_release(arena, mark);
    return finished;
}

/* ---- dominators ---- */

static uint32_t common(const uint32_t *idom, const uint32_t *place, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (place[a] > place[b])
            a = idom[a];
        while (place[b] > place[a])
            b = idom[b];
    }
    return a;
}

/* idom of every node in order; the root's is the root. */
static void dominators(const uint32_t *order, uint32_t reached, const uint32_t *place,
                       const uint32_t *back_first, const uint32_t *back, uint32_t *idom)
{
    idom[order[0]] = order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < reached; i++) {
            uint32_t node = order[i], best = PTX_GRAPH_NONE;
            for (uint32_t e = back_first[node]; e < back_first[node + 1]; e++)
                if (place[back[e]] != PTX_GRAPH_NONE && idom[back[e]] != PTX_GRAPH_NONE)
                    best = best == PTX_GRAPH_NONE ? back[e] : common(idom, place, best, back[e]);
            changed |= idom[node] != best;
            idom[node] = best;
        }
    }
}

/* The edges turned round, those of unreachable nodes left out; `count` nodes. */
static void reverse(struct arena *arena, uint32_t count, const uint32_t *first,
                    const uint32_t *next, const uint32_t *place, uint32_t **back_first,
                    uint32_t **back)
{
    uint32_t *start = ARENA_ARRAY(arena, uint32_t, count + 2);
    *back = ARENA_ARRAY(arena, uint32_t, first[count] + 1);
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t e = first[n]; place[n] != PTX_GRAPH_NONE && e < first[n + 1]; e++)
            start[next[e] + 2]++;
    for (uint32_t n = 2; n <= count + 1; n++)
        start[n] += start[n - 1];
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t e = first[n]; place[n] != PTX_GRAPH_NONE && e < first[n + 1]; e++)
            (*back)[start[next[e] + 1]++] = n;
    *back_first = start;
}

/* The graph of the reachable nodes turned round: successors of n are its predecessors, those of the end
 * (node `count`) are the nodes without successors. Its predecessors are the graph's successors. */
static void post_dominators(struct arena *arena, struct ptx_graph *g)
{
    uint32_t count = g->count, end = count;
    g->post_dominator = none_array(arena, count);
    g->reaches_end = ARENA_ARRAY(arena, bool, count + 1);
    size_t mark = arena_mark(arena);
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 2);
    uint32_t *next = ARENA_ARRAY(arena, uint32_t, g->edges + count + 1);
    uint32_t edges = 0;
    for (uint32_t n = 0; n < count; n++) {
        first[n] = edges;
        for (uint32_t e = g->back_first[n]; e < g->back_first[n + 1]; e++)
            next[edges++] = g->back[e];
    }
    first[end] = edges;
    for (uint32_t n = 0; n < count; n++)
        if (g->place[n] != PTX_GRAPH_NONE && g->next_first[n] == g->next_first[n + 1])
            next[edges++] = n;
    first[end + 1] = edges;
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, count + 1), *place = none_array(arena, count);
    uint32_t reached = search(arena, end, count + 1, first, next, order, place);
    uint32_t *back_first, *back, *idom = none_array(arena, count);
    reverse(arena, count + 1, first, next, place, &back_first, &back);
    dominators(order, reached, place, back_first, back, idom);
    for (uint32_t n = 0; n < count; n++) {
        g->reaches_end[n] = place[n] != PTX_GRAPH_NONE;
        g->post_dominator[n] = idom[n] == end ? PTX_GRAPH_NONE : idom[n];
    }
    arena_release(arena, mark);
}

/* ---- loops ---- */

/* An edge that goes back in the order is a back edge: its target dominates its source. */
static void check_reducible(struct ptx_graph *g)
{
    g->reducible = true;
    for (uint32_t i = 0; i < g->reached && g->reducible; i++) {
        uint32_t node = g->order[i];
        for (uint32_t e = g->next_first[node]; e < g->next_first[node + 1]; e++)
            if (g->place[g->next[e]] <= i && !ptx_graph_dominates(g, g->next[e], node)) {
                g->reducible = false;
                g->bad_from = node;
                g->bad_to = g->next[e];
                break;
            }
    }
}

static uint32_t outermost(const struct ptx_graph *g, uint32_t loop)
{
    while (g->loops[loop].parent != PTX_GRAPH_NONE)
        loop = g->loops[loop].parent;
    return loop;
}

/* Backwards from the latches; loops found before lie inside and are passed by their headers. */
static void collect_loop(struct ptx_graph *g, uint32_t loop, uint32_t *worklist)
{
    uint32_t header = g->loops[loop].header, waiting = 0;
    for (uint32_t e = g->back_first[header]; e < g->back_first[header + 1]; e++)
        if (ptx_graph_dominates(g, header, g->back[e]))
            worklist[waiting++] = g->back[e];
    while (waiting > 0) {
        uint32_t node = worklist[--waiting];
        if (g->loop[node] == PTX_GRAPH_NONE) {
            g->loop[node] = loop;
        } else {
            uint32_t inner = outermost(g, g->loop[node]);
            if (inner == loop)
                continue;
            g->loops[inner].parent = loop;
            node = g->loops[inner].header;
        }
        if (node == header)
            continue;
        for (uint32_t e = g->back_first[node]; e < g->back_first[node + 1]; e++)
            worklist[waiting++] = g->back[e];
    }
}

static bool is_header(const struct ptx_graph *g, uint32_t node)
{
    for (uint32_t e = g->back_first[node]; e < g->back_first[node + 1]; e++)
        if (g->place[g->back[e]] >= g->place[node])
            return true;
    return false;
}

/* Headers of inner loops stand later in the order. */
static void find_loops(struct arena *arena, struct ptx_graph *g)
{
    g->loop = none_array(arena, g->count);
    g->loops = ARENA_ARRAY(arena, struct ptx_graph_loop, g->count + 1);
    uint32_t *worklist = ARENA_ARRAY(arena, uint32_t, 2 * g->edges + 1);
    for (uint32_t i = g->reached; i-- > 0;) {
        uint32_t node = g->order[i];
        if (!is_header(g, node))
            continue;
        g->loops[g->loop_count] = (struct ptx_graph_loop){node, PTX_GRAPH_NONE, 0};
        g->loop_count++;
        collect_loop(g, g->loop_count - 1, worklist);
    }
    for (uint32_t loop = g->loop_count; loop-- > 0;) {
        uint32_t parent = g->loops[loop].parent;
        g->loops[loop].depth = parent == PTX_GRAPH_NONE ? 1 : g->loops[parent].depth + 1;
    }
}

bool ptx_graph_dominates(const struct ptx_graph *g, uint32_t node, uint32_t other)
{
    if (g->place[node] == PTX_GRAPH_NONE || g->place[other] == PTX_GRAPH_NONE)
        return false;
    while (g->place[other] > g->place[node])
        other = g->dominator[other];
    return other == node;
}

bool ptx_graph_in_loop(const struct ptx_graph *g, uint32_t loop, uint32_t node)
{
    uint32_t l = g->loop[node];
    while (l != PTX_GRAPH_NONE && g->loops[l].depth > g->loops[loop].depth)
        l = g->loops[l].parent;
    return l == loop;
}

uint32_t ptx_graph_headed(const struct ptx_graph *g, uint32_t node)
{
    uint32_t loop = g->loop[node];
    return loop != PTX_GRAPH_NONE && g->loops[loop].header == node ? loop : PTX_GRAPH_NONE;
}

void ptx_graph_analyse(struct arena *arena, struct ptx_graph *g)
{
    g->order = ARENA_ARRAY(arena, uint32_t, g->count + 1);
    g->place = none_array(arena, g->count);
    g->dominator = none_array(arena, g->count);
    g->loop_count = 0;
    g->reached = search(arena, 0, g->count, g->next_first, g->next, g->order, g->place);
    reverse(arena, g->count, g->next_first, g->next, g->place, &g->back_first, &g->back);
    dominators(g->order, g->reached, g->place, g->back_first, g->back, g->dominator);
    post_dominators(arena, g);
    check_reducible(g);
    if (g->reducible)
        find_loops(arena, g);
    g->dominator[0] = PTX_GRAPH_NONE;
}
