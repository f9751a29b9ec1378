/*
 * components.h - strongly connected components of the graph of states, and of its products with memories: Tarjan's
 * algorithm with its own stacks, and one word a node for index, lowest index and component (Pearce 2005).
 *
 * A function to be inlined with its arguments, which say what the graph is.
 */
#ifndef ENGINE_COMPONENTS_H
#define ENGINE_COMPONENTS_H

#include "engine/base/arena.h"
#include "engine/base/inline.h"

#include <stdbool.h>
#include <stdint.h>

#define COMPONENT_KNOWN 0x80000000u
#define COMPONENT_INNER 0x80000000u /* of a call: its node is not the root */

struct components {
    uint32_t *
        marks; /* a node: 0, the lowest index reached, or COMPONENT_KNOWN with its component's root */
    uint32_t *stack; /* nodes whose component is not known yet */
    uint32_t *calls,
        *edges; /* nodes being visited, and how far each one's edges have been followed */
    uint32_t stack_count, depth, counter;
};

enum { COMPONENT_BYTES = 16 }; /* a node */

static inline void components_start(struct components *c, struct arena *arena, uint32_t count)
{
    *c = (struct components){.marks = ARENA_ARRAY(arena, uint32_t, count),
                             .stack = ARENA_ARRAY(arena, uint32_t, count),
                             .calls = ARENA_ARRAY(arena, uint32_t, count),
                             .edges = ARENA_ARRAY(arena, uint32_t, count)};
}

static inline bool components_same(const struct components *c, uint32_t a, uint32_t b)
{
    return c->marks[a] == c->marks[b];
}

INLINED void components_enter(struct components *c, uint32_t node, uint32_t first_edge)
{
    c->marks[node] = ++c->counter;
    c->stack[c->stack_count++] = node;
    c->calls[c->depth] = node;
    c->edges[c->depth++] = first_edge;
}

/* All components that are reached from the node and not known yet. Of a node: its first edge, and the one after
 * its last; of an edge: its target. found(context, root, from): stack[from .. stack_count - 1] are a component. */
INLINED void components_visit(struct components *c, uint32_t node, void *context,
                              uint32_t (*first)(const void *context, uint32_t node),
                              uint32_t (*end)(const void *context, uint32_t node),
                              uint32_t (*target)(const void *context, uint32_t edge),
                              void (*found)(void *context, uint32_t root, uint32_t from))
{
    components_enter(c, node, first(context, node));
    while (c->depth > 0) {
        uint32_t call = c->calls[c->depth - 1], at = call & ~COMPONENT_INNER;
        uint32_t edge = c->edges[c->depth - 1], last = end(context, at), lowest = c->marks[at];
        uint32_t next = 0;
        bool enters = false;
        for (; edge < last && !enters; edge++) {
            next = target(context, edge);
            uint32_t mark = c->marks[next];
            enters = mark == 0;
            if (!enters && mark < lowest) /* COMPONENT_KNOWN is above all */
                lowest = mark;
        }
        if (lowest < c->marks[at]) {
            c->marks[at] = lowest;
            c->calls[c->depth - 1] = call |= COMPONENT_INNER;
        }
        c->edges[c->depth - 1] = edge;
        if (enters) {
            components_enter(c, next, first(context, next));
            continue;
        }
        c->depth--;
        if (c->depth > 0 && lowest < c->marks[c->calls[c->depth - 1] & ~COMPONENT_INNER]) {
            c->marks[c->calls[c->depth - 1] & ~COMPONENT_INNER] = lowest;
            c->calls[c->depth - 1] |= COMPONENT_INNER;
        }
        if (call & COMPONENT_INNER)
            continue;
        uint32_t from = c->stack_count;
        do
            c->marks[c->stack[--from]] = COMPONENT_KNOWN | at;
        while (c->stack[from] != at);
        found(context, at, from);
        c->stack_count = from;
    }
}

#endif
