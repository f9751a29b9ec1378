/*
 * graph_nodes.h - what the runtime's and the driver's nodes of graphs have in common.
 */
#ifndef FUZZ_GRAPH_NODES_H
#define FUZZ_GRAPH_NODES_H

#include "fuzz/cudart/graph.h"

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
