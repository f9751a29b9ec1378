/*
 * graph.h - CUDA graphs: operations with an order among them. A graph that is instantiated is a copy of it; its nodes
 * are done one after the other, in an order that respects theirs.
 */
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

#include "fuzz/cudart/operation.h"

struct nodes {
    size_t count;
    struct graph_node **at;
};

struct graph_node {
    struct graph *graph;
    struct operation operation;
    struct nodes before;             /* what it waits for */
    const struct graph_node *origin; /* what it is a copy of */
    bool disabled;
    uint32_t number; /* of its graph, from 0 */
};

struct graph {
    struct nodes nodes;       /* in the order in which they were made */
    uint32_t *order;          /* of an instance: in which they are done */
    unsigned long long flags; /* of an instance */
};

/* False: no memory. */
bool nodes_add(struct nodes *nodes, struct graph_node *node);
bool nodes_have(const struct nodes *nodes, const struct graph_node *node);
bool nodes_are_of(const struct graph *graph, struct graph_node *const *nodes, size_t count);

struct graph *graph_new(void);
struct graph *graph_clone(const struct graph *graph);
void graph_end(struct graph *graph);

/* The operation is kept. NULL: no memory, or the launch lacks arguments. */
struct graph_node *graph_add(struct graph *graph, const struct operation *operation,
                             struct graph_node *const *before, size_t count);
/* Another operation of the same kind takes the place of the node's. */
bool graph_change(struct graph_node *node, const struct operation *operation);

void graph_drop(struct graph_node *node);
void graph_drop_edge(struct graph_node *node, const struct graph_node *before);

/* A copy that can be run. NULL: the nodes wait for each other, or no memory. */
struct graph *graph_instance(const struct graph *graph, unsigned long long flags);
cudaError_t graph_run(const struct graph *graph);

/* The copy of a node in a copy of its graph, or of a graph that one of its nodes is. NULL: it has none, or there is no
 * graph or no node. */
struct graph_node *graph_copy_of(const struct graph *copy, const struct graph_node *node);

/* ---- what the runtime's and the driver's nodes have in common ---- */

struct kernel_parameters { /* cudaKernelNodeParams, and the beginning of CUDA_KERNEL_NODE_PARAMS */
    const void *function;
    dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
};

cudaError_t node_add(struct graph_node **node, struct graph *graph,
                     struct graph_node *const *before, size_t count,
                     const struct operation *operation);
cudaError_t node_change(struct graph_node *node, const struct operation *operation);

#endif
