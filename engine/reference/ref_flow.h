/*
 * ref_flow.h - what is said of a graph with an entry, by definition: a way from one node to another that avoids a third
 * is looked for, and nothing else. Nodes are numbers; 0 is the entry.
 */
#ifndef ENGINE_REF_FLOW_H
#define ENGINE_REF_FLOW_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define REF_FLOW_NONE UINT32_MAX

struct ref_flow {
    uint32_t count;
    uint32_t *next_count; /* of each node */
    uint32_t **next;
    uint32_t *waiting; /* of the search that is under way */
    bool *seen;        /* by the last search */
    /* The last search that avoids nothing and the last of the others, as the same is asked many times in a row. */
    struct ref_flow_searched {
        uint32_t from, avoid;
        bool *seen;
    } searched[2];
};

/* A graph of so many nodes without edges, each of which may have up to `most` successors. */
struct ref_flow *ref_flow_new(struct arena *arena, uint32_t count, const uint32_t *most);
/* An edge; one that is there already is not added. */
void ref_flow_add(struct ref_flow *g, uint32_t from, uint32_t to);

/* Marks in g->seen what is reached from a node, itself included, without passing `avoid`. */
void ref_flow_search(struct ref_flow *g, uint32_t from, uint32_t avoid);
bool ref_flow_reaches(struct ref_flow *g, uint32_t from, uint32_t to, uint32_t avoid);

/* Every way from the entry to `node` passes `by`, and there is one. */
bool ref_flow_dominates(struct ref_flow *g, uint32_t by, uint32_t node);
/* Every way from `node` to an end - a node without successors - passes `by`, and there is one. */
bool ref_flow_post_dominates(struct ref_flow *g, uint32_t by, uint32_t node);

/* The nearest other node that dominates it; that post-dominates it. NONE: there is none. */
uint32_t ref_flow_dominator(struct ref_flow *g, uint32_t node);
uint32_t ref_flow_post_dominator(struct ref_flow *g, uint32_t node);

/* A back edge goes to what dominates its source. Whether there is a cycle without one: the graph is not reducible. */
bool ref_flow_is_back(struct ref_flow *g, uint32_t from, uint32_t to);
bool ref_flow_reducible(struct ref_flow *g, struct arena *arena);

/* Whether some back edge goes to the node: it heads a loop. Whether a node is in the loop that `head` heads: it is the
 * head, or leads to a back edge's source without passing the head. */
bool ref_flow_heads(struct ref_flow *g, uint32_t head);
bool ref_flow_in_loop(struct ref_flow *g, uint32_t head, uint32_t node);
/* The head of the innermost loop that the node is in: it is in all others that hold the node. NONE: it is in none. */
uint32_t ref_flow_innermost(struct ref_flow *g, uint32_t node);
/* Whether an edge of the node leads out of that loop. */
bool ref_flow_leaves_loop(struct ref_flow *g, uint32_t node);

#endif
