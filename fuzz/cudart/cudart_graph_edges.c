/*
 * What a program asks of a graph: its nodes, their kinds, and the edges between them.
 */
#include "fuzz/cudart/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

EXPORT cudaError_t cudaGraphGetNodes(const struct graph *graph, struct graph_node **nodes,
                                     size_t *count);
EXPORT cudaError_t cudaGraphGetRootNodes(const struct graph *graph, struct graph_node **nodes,
                                         size_t *count);
EXPORT cudaError_t cudaGraphGetEdges(const struct graph *graph, struct graph_node **from,
                                     struct graph_node **to, void *data, size_t *count);
EXPORT cudaError_t cudaGraphNodeGetDependencies(const struct graph_node *node,
                                                struct graph_node **nodes, void *data,
                                                size_t *count);
EXPORT cudaError_t cudaGraphNodeGetDependentNodes(const struct graph_node *node,
                                                  struct graph_node **nodes, void *data,
                                                  size_t *count);
EXPORT cudaError_t cudaGraphNodeGetType(const struct graph_node *node, int *kind);
EXPORT cudaError_t cudaGraphAddDependencies(struct graph *graph, struct graph_node *const *from,
                                            struct graph_node *const *to, const void *data,
                                            size_t count);
EXPORT cudaError_t cudaGraphRemoveDependencies(struct graph *graph, struct graph_node *const *from,
                                               struct graph_node *const *to, const void *data,
                                               size_t count);
EXPORT cudaError_t cudaGraphDestroyNode(struct graph_node *node);
EXPORT cudaError_t cudaGraphDebugDotPrint(const struct graph *graph, const char *path,
                                          unsigned flags);

enum { EDGE_BYTES = 8 }; /* of cudaGraphEdgeData: nothing but zeros here */

/* Lists are asked for twice: without room for how long they are, then with it. */
struct list {
    struct graph_node **at;
    size_t room, count;
};

static void put(struct list *list, struct graph_node *node)
{
    if (list->at && list->count < list->room)
        list->at[list->count] = node;
    list->count++;
}

static struct list begin_list(struct graph_node **at, const size_t *count)
{
    return (struct list){at, at ? *count : 0, 0};
}

static cudaError_t end_list(const struct list *list, void *data, size_t *count)
{
    const size_t given = list->at && list->count > list->room ? list->room : list->count;
    for (size_t i = list->count; list->at && i < list->room; i++)
        list->at[i] = NULL;
    if (data)
        memset(data, 0, given * EDGE_BYTES);
    *count = given;
    return give(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(const struct graph *graph, struct graph_node **nodes, size_t *count)
{
    if (!graph || !count)
        return give(cudaErrorInvalidValue);
    struct list list = begin_list(nodes, count);
    for (size_t i = 0; i < graph->nodes.count; i++)
        put(&list, graph->nodes.at[i]);
    return end_list(&list, NULL, count);
}

cudaError_t cudaGraphGetRootNodes(const struct graph *graph, struct graph_node **nodes,
                                  size_t *count)
{
    if (!graph || !count)
        return give(cudaErrorInvalidValue);
    struct list list = begin_list(nodes, count);
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->before.count == 0)
            put(&list, graph->nodes.at[i]);
    return end_list(&list, NULL, count);
}

cudaError_t cudaGraphGetEdges(const struct graph *graph, struct graph_node **from,
                              struct graph_node **to, void *data, size_t *count)
{
    if (!graph || !count)
        return give(cudaErrorInvalidValue);
    struct list starts = begin_list(from, count), ends = begin_list(to, count);
    for (size_t i = 0; i < graph->nodes.count; i++)
        for (size_t k = 0; k < graph->nodes.at[i]->before.count; k++) {
            put(&starts, graph->nodes.at[i]->before.at[k]);
            put(&ends, graph->nodes.at[i]);
        }
    size_t same;
    end_list(&ends, NULL, &same);
    return end_list(&starts, data, count);
}

cudaError_t cudaGraphNodeGetDependencies(const struct graph_node *node, struct graph_node **nodes,
                                         void *data, size_t *count)
{
    if (!node || !count)
        return give(cudaErrorInvalidValue);
    struct list list = begin_list(nodes, count);
    for (size_t i = 0; i < node->before.count; i++)
        put(&list, node->before.at[i]);
    return end_list(&list, data, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(const struct graph_node *node, struct graph_node **nodes,
                                           void *data, size_t *count)
{
    if (!node || !count)
        return give(cudaErrorInvalidValue);
    struct list list = begin_list(nodes, count);
    for (size_t i = 0; i < node->graph->nodes.count; i++)
        if (nodes_have(&node->graph->nodes.at[i]->before, node))
            put(&list, node->graph->nodes.at[i]);
    return end_list(&list, data, count);
}

cudaError_t cudaGraphNodeGetType(const struct graph_node *node, int *kind)
{
    if (!node || !kind)
        return give(cudaErrorInvalidValue);
    *kind = (int)node->operation.kind;
    return give(cudaSuccess);
}

cudaError_t cudaGraphAddDependencies(struct graph *graph, struct graph_node *const *from,
                                     struct graph_node *const *to, const void *data, size_t count)
{
    bool good = graph != NULL;
    (void)data;
    for (size_t i = 0; i < count && good; i++)
        good = from[i] && to[i] && from[i]->graph == graph && to[i]->graph == graph &&
               from[i] != to[i] && !nodes_have(&to[i]->before, from[i]) &&
               nodes_add(&to[i]->before, from[i]);
    return give(good ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphRemoveDependencies(struct graph *graph, struct graph_node *const *from,
                                        struct graph_node *const *to, const void *data,
                                        size_t count)
{
    bool good = graph != NULL;
    (void)data;
    for (size_t i = 0; i < count && good; i++) {
        good = from[i] && to[i] && to[i]->graph == graph && nodes_have(&to[i]->before, from[i]);
        if (good)
            graph_drop_edge(to[i], from[i]);
    }
    return give(good ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphDestroyNode(struct graph_node *node)
{
    if (!node)
        return give(cudaErrorInvalidValue);
    graph_drop(node);
    return give(cudaSuccess);
}

static const char *name_of(const struct operation *operation)
{
    static const char *const names[] = {"kernel",
                                        "memcpy",
                                        "memset",
                                        "host",
                                        "graph",
                                        "empty",
                                        "event wait",
                                        "event record",
                                        [NODE_ALLOCATE] = "allocation",
                                        [NODE_FREE] = "free"};
    return operation->kind == NODE_KERNEL ? operation->u.kernel.kernel->name
                                          : names[operation->kind];
}

cudaError_t cudaGraphDebugDotPrint(const struct graph *graph, const char *path, unsigned flags)
{
    FILE *file = graph && path ? fopen(path, "w") : NULL;
    (void)flags;
    if (!file)
        return give(cudaErrorInvalidValue);
    fputs("digraph {\n", file);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = graph->nodes.at[i];
        fprintf(file, "  n%" PRIu32 " [label=\"%s\"]\n", node->number, name_of(&node->operation));
        for (size_t k = 0; k < node->before.count; k++)
            fprintf(file, "  n%" PRIu32 " -> n%" PRIu32 "\n", node->before.at[k]->number,
                    node->number);
    }
    fputs("}\n", file);
    return give(fclose(file) == 0 ? cudaSuccess : cudaErrorInvalidValue);
}
