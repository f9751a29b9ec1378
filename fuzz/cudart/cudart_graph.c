/*
 * CUDA graphs as the runtime has them: nodes and their parameters, edges, instances.
 */
#include "fuzz/cudart/graph.h"

#include <string.h>

enum { cudaErrorGraphExecUpdateFailure = 910 };

struct graph_updated;

EXPORT cudaError_t cudaGraphCreate(struct graph **graph, unsigned flags);
EXPORT cudaError_t cudaGraphDestroy(struct graph *graph);
EXPORT cudaError_t cudaGraphClone(struct graph **clone, const struct graph *graph);
EXPORT cudaError_t cudaGraphNodeFindInClone(struct graph_node **found,
                                            const struct graph_node *node,
                                            const struct graph *clone);
EXPORT cudaError_t cudaGraphInstantiate(struct graph **instance, const struct graph *graph,
                                        unsigned long long flags);
EXPORT cudaError_t cudaGraphInstantiateWithFlags(struct graph **instance, const struct graph *graph,
                                                 unsigned long long flags);
EXPORT cudaError_t cudaGraphInstantiateWithParams(struct graph **instance,
                                                  const struct graph *graph, void *parameters);
EXPORT cudaError_t cudaGraphExecGetFlags(const struct graph *instance, unsigned long long *flags);
EXPORT cudaError_t cudaGraphExecDestroy(struct graph *instance);
EXPORT cudaError_t cudaGraphUpload(const struct graph *instance, cudaStream_t stream);
EXPORT cudaError_t cudaGraphLaunch(struct graph *instance, cudaStream_t stream);
EXPORT cudaError_t cudaGraphExecUpdate(struct graph *instance, const struct graph *graph,
                                       struct graph_updated *updated);
EXPORT cudaError_t cudaGraphNodeSetEnabled(const struct graph *instance,
                                           const struct graph_node *node, unsigned enabled);
EXPORT cudaError_t cudaGraphNodeGetEnabled(const struct graph *instance,
                                           const struct graph_node *node, unsigned *enabled);

/* ---- graphs ---- */

cudaError_t cudaGraphCreate(struct graph **graph, unsigned flags)
{
    if (!graph || flags != 0)
        return give(cudaErrorInvalidValue);
    *graph = graph_new();
    return give(*graph ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphDestroy(struct graph *graph)
{
    if (!graph)
        return give(cudaErrorInvalidValue);
    graph_end(graph);
    return give(cudaSuccess);
}

cudaError_t cudaGraphClone(struct graph **clone, const struct graph *graph)
{
    if (!clone || !graph)
        return give(cudaErrorInvalidValue);
    *clone = graph_clone(graph);
    return give(*clone ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphNodeFindInClone(struct graph_node **found, const struct graph_node *node,
                                     const struct graph *clone)
{
    if (!found)
        return give(cudaErrorInvalidValue);
    *found = graph_copy_of(clone, node);
    return give(*found ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- instances ---- */

cudaError_t cudaGraphInstantiateWithFlags(struct graph **instance, const struct graph *graph,
                                          unsigned long long flags)
{
    if (!instance || !graph)
        return give(cudaErrorInvalidValue);
    *instance = graph_instance(graph, flags);
    return give(*instance ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphInstantiate(struct graph **instance, const struct graph *graph,
                                 unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(instance, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(struct graph **instance, const struct graph *graph,
                                           void *parameters)
{
    struct { /* cudaGraphInstantiateParams */
        unsigned long long flags;
        cudaStream_t upload;
        const struct graph_node *wrong;
        int result; /* 0: done, 1: an error */
    } given;
    if (!parameters)
        return give(cudaErrorInvalidValue);
    memcpy(&given, parameters, sizeof given);
    cudaError_t error = cudaGraphInstantiateWithFlags(instance, graph, given.flags);
    given.wrong = NULL;
    given.result = error != cudaSuccess;
    memcpy(parameters, &given, sizeof given);
    return error;
}

cudaError_t cudaGraphExecGetFlags(const struct graph *instance, unsigned long long *flags)
{
    *flags = instance->flags;
    return give(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(struct graph *instance)
{
    return cudaGraphDestroy(instance);
}

cudaError_t cudaGraphUpload(const struct graph *instance, cudaStream_t stream)
{
    (void)stream;
    return give(instance ? lasting_error() : cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(struct graph *instance, cudaStream_t stream)
{
    const struct operation operation = {.kind = NODE_GRAPH, .u.graph = instance};
    if (!instance || !instance->order)
        return give(cudaErrorInvalidValue);
    return operation_issue(stream, &operation);
}

struct graph_updated { /* cudaGraphExecUpdateResultInfo */
    int result;
    struct graph_node *node, *from;
};

enum { UPDATED = 0, FAILED = 1, TOPOLOGY_CHANGED = 2, KIND_CHANGED = 3 };

/* What keeps the nodes of one from taking the place of the other's; *node is the one where it shows. */
static int compare(const struct graph *a, const struct graph *b, struct graph_node **node)
{
    *node = NULL;
    if (a->nodes.count != b->nodes.count)
        return TOPOLOGY_CHANGED;
    for (size_t i = 0; i < a->nodes.count; i++) {
        const struct graph_node *x = a->nodes.at[i];
        const struct graph_node *y = *node = b->nodes.at[i];
        if (x->operation.kind != y->operation.kind)
            return KIND_CHANGED;
        if (x->before.count != y->before.count)
            return TOPOLOGY_CHANGED;
        for (size_t k = 0; k < x->before.count; k++)
            if (!nodes_have(&y->before, b->nodes.at[x->before.at[k]->number]))
                return TOPOLOGY_CHANGED;
        if (x->operation.kind == NODE_GRAPH &&
            compare(x->operation.u.graph, y->operation.u.graph, node) != UPDATED)
            return TOPOLOGY_CHANGED;
    }
    *node = NULL;
    return UPDATED;
}

static bool take_over(struct graph *instance, const struct graph *graph)
{
    bool good = true;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct graph_node *node = instance->nodes.at[i];
        const struct operation *new = &graph->nodes.at[i]->operation;
        good &= new->kind == NODE_GRAPH ? take_over(node->operation.u.graph, new->u.graph)
                                        : graph_change(node, new);
    }
    return good;
}

cudaError_t cudaGraphExecUpdate(struct graph *instance, const struct graph *graph,
                                struct graph_updated *updated)
{
    struct graph_updated result = {.result = UPDATED};
    if (!instance || !graph)
        return give(cudaErrorInvalidValue);
    result.result = compare(instance, graph, &result.node);
    if (result.result == UPDATED && !take_over(instance, graph))
        result.result = FAILED;
    if (updated)
        *updated = result;
    return give(result.result == UPDATED ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}

cudaError_t cudaGraphNodeSetEnabled(const struct graph *instance, const struct graph_node *node,
                                    unsigned enabled)
{
    struct graph_node *copy = graph_copy_of(instance, node);
    if (copy)
        copy->disabled = enabled == 0;
    return give(copy ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetEnabled(const struct graph *instance, const struct graph_node *node,
                                    unsigned *enabled)
{
    const struct graph_node *copy = graph_copy_of(instance, node);
    if (copy)
        *enabled = !copy->disabled;
    return give(copy ? cudaSuccess : cudaErrorInvalidValue);
}
