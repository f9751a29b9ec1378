/*
 * ptx_graph.h - graphs with an entry: order, dominators, post-dominators, natural loops.
 */
#ifndef ENGINE_PTX_GRAPH_H
#define ENGINE_PTX_GRAPH_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define PTX_GRAPH_NONE UINT32_MAX

/* A natural loop: the header and all nodes that reach a back edge to it without passing it. Back edges to
 * the same header are one loop. */
struct ptx_graph_loop {
    uint32_t header;
    uint32_t parent; /* the loop around it; NONE */
    uint32_t depth;  /* 1: outermost */
};

struct ptx_graph {
    uint32_t count; /* nodes; 0 is the entry */
    uint32_t edges;
    uint32_t *next_first, *next; /* successors of n: next[next_first[n] .. next_first[n + 1]) */
    /* Made by ptx_graph_analyse. Unreachable nodes have no place, no dominator, no loop. */
    uint32_t *back_first, *back; /* predecessors that are reachable, each edge once */
    uint32_t reached;
    uint32_t
        *order; /* reachable nodes in reverse postorder (the last successor is visited first) */
    uint32_t *place;          /* of a node in it; NONE */
    uint32_t *dominator;      /* immediate; NONE: of the entry */
    uint32_t *post_dominator; /* immediate, over paths to an end; NONE: only the end, or no path */
    bool *reaches_end;        /* a node without successors */
    bool reducible;
    uint32_t bad_from, bad_to;    /* not reducible: an edge that enters a loop past its header */
    uint32_t loop_count;          /* the rest only if reducible */
    struct ptx_graph_loop *loops; /* inner ones before the ones around them */
    uint32_t *loop;               /* innermost of a node; NONE */
};

/* Fills in what follows from count, edges, next_first, next. */
void ptx_graph_analyse(struct arena *arena, struct ptx_graph *graph);

bool ptx_graph_dominates(const struct ptx_graph *graph, uint32_t node, uint32_t other);

/* loop or one inside of it holds the node. */
bool ptx_graph_in_loop(const struct ptx_graph *graph, uint32_t loop, uint32_t node);

/* The loop that the node is the header of; NONE. */
uint32_t ptx_graph_headed(const struct ptx_graph *graph, uint32_t node);

#endif
