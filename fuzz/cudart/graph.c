/*
 * Graphs: nodes, copies, the order in which an instance's nodes are done.
 */
#include "fuzz/cudart/graph.h"

#include "fuzz/cudart/order.h"

#include <stdlib.h>

bool nodes_add(struct nodes *nodes, struct graph_node *node)
{
    struct graph_node **at = realloc(nodes->at, (nodes->count + 1) * sizeof(struct graph_node *));
    if (!at)
        return false;
    nodes->at = at;
    at[nodes->count++] = node;
    return true;
}

bool nodes_have(const struct nodes *nodes, const struct graph_node *node)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->at[i] == node)
            return true;
    return false;
}

bool nodes_are_of(const struct graph *graph, struct graph_node *const *nodes, size_t count)
{
    bool are = count == 0 || nodes;
    for (size_t i = 0; i < count && are; i++)
        are = nodes[i] && nodes[i]->graph == graph;
    return are;
}

struct graph *graph_new(void)
{
    return calloc(1, sizeof(struct graph));
}

static void end_node(struct graph_node *node)
{
    operation_end(&node->operation);
    free(node->before.at);
    free(node);
}

void graph_end(struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        end_node(graph->nodes.at[i]);
    free(graph->nodes.at);
    free(graph->order);
    free(graph);
}

struct graph_node *graph_add(struct graph *graph, const struct operation *operation,
                             struct graph_node *const *before, size_t count)
{
    struct graph_node *node = calloc(1, sizeof *node);
    if (!node)
        return NULL;
    *node = (struct graph_node){
        .graph = graph, .operation = *operation, .number = (uint32_t)graph->nodes.count};
    bool good = operation_keep(&node->operation);
    if (!good)
        node->operation.kind = NODE_EMPTY;
    for (size_t i = 0; good && i < count; i++)
        good = nodes_add(&node->before, before[i]);
    if (!good || !nodes_add(&graph->nodes, node)) {
        end_node(node);
        return NULL;
    }
    return node;
}

static void drop(struct nodes *nodes, const struct graph_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->at[i] != node)
            nodes->at[kept++] = nodes->at[i];
    nodes->count = kept;
}

void graph_drop_edge(struct graph_node *node, const struct graph_node *before)
{
    drop(&node->before, before);
}

void graph_drop(struct graph_node *node)
{
    struct nodes *all = &node->graph->nodes;
    drop(all, node);
    for (size_t i = 0; i < all->count; i++) {
        drop(&all->at[i]->before, node);
        all->at[i]->number = (uint32_t)i;
    }
    end_node(node);
}

struct graph_node *graph_copy_of(const struct graph *copy, const struct graph_node *node)
{
    struct graph_node *found = NULL;
    for (size_t i = 0; copy && node && i < copy->nodes.count && !found; i++) {
        struct graph_node *own = copy->nodes.at[i];
        if (own->origin == node)
            found = own;
        else if (own->operation.kind == NODE_GRAPH)
            found = graph_copy_of(own->operation.u.graph, node);
    }
    return found;
}

struct graph *graph_clone(const struct graph *graph)
{
    struct graph *copy = graph_new();
    for (size_t i = 0; copy && i < graph->nodes.count; i++) {
        const struct graph_node *from = graph->nodes.at[i];
        struct graph_node *to = graph_add(copy, &from->operation, NULL, 0);
        if (!to) {
            graph_end(copy);
            return NULL;
        }
        to->origin = from;
        to->disabled = from->disabled;
    }
    for (size_t i = 0; copy && i < graph->nodes.count; i++) {
        const struct nodes *before = &graph->nodes.at[i]->before;
        for (size_t k = 0; k < before->count; k++)
            nodes_add(&copy->nodes.at[i]->before, copy->nodes.at[before->at[k]->number]);
    }
    return copy;
}

/* ---- instances ---- */

static bool is_ready(const struct graph_node *node, const bool *done)
{
    for (size_t i = 0; i < node->before.count; i++)
        if (!done[node->before.at[i]->number])
            return false;
    return true;
}

/* Each time the first one that waits for nothing; graphs in it as well. False: a circle, or no memory. */
static bool put_in_order(struct graph *graph)
{
    const size_t count = graph->nodes.count;
    bool *done = calloc(count + 1, sizeof *done);
    size_t placed = 0, first = 0;
    graph->order = calloc(count + 1, sizeof *graph->order);
    bool good = done && graph->order;
    while (good && placed < count) {
        while (done[first])
            first++;
        size_t i = first;
        while (i < count && (done[i] || !is_ready(graph->nodes.at[i], done)))
            i++;
        const struct operation *o = i < count ? &graph->nodes.at[i]->operation : NULL;
        good = o && (o->kind != NODE_GRAPH || put_in_order(o->u.graph));
        if (good) {
            done[i] = true;
            graph->order[placed++] = (uint32_t)i;
        }
    }
    free(done);
    return good;
}

struct graph *graph_instance(const struct graph *graph, unsigned long long flags)
{
    struct graph *instance = graph_clone(graph);
    if (instance && !put_in_order(instance)) {
        graph_end(instance);
        return NULL;
    }
    if (instance) {
        instance->flags = flags;
        order_start();
    }
    return instance;
}

bool graph_change(struct graph_node *node, const struct operation *operation)
{
    struct operation new = *operation;
    if (new.kind != node->operation.kind || !operation_keep(&new))
        return false;
    if (new.kind == NODE_GRAPH && node->graph->order && !put_in_order(new.u.graph)) {
        operation_end(&new);
        return false;
    }
    operation_end(&node->operation);
    node->operation = new;
    return true;
}

/* The lane of a node: that of a node before it which no other one goes on, or a new one. */
static uint64_t lane_of(const struct graph_node *node, uint64_t lane, const uint64_t *lanes,
                        bool *is_continued)
{
    uint64_t own = 0;
    for (size_t i = 0; i < node->before.count && !own; i++) {
        const uint32_t before = node->before.at[i]->number;
        if (!is_continued[before] && lanes[before]) {
            is_continued[before] = true;
            own = lanes[before];
        }
    }
    own = own ? own : order_branch(lane);
    order_join(own, lane);
    for (size_t i = 0; i < node->before.count; i++)
        order_join(own, lanes[node->before.at[i]->number]);
    return own;
}

/* Launches of one instance come one behind the other, in whichever streams. */
cudaError_t graph_run(const struct graph *graph)
{
    const size_t count = graph->nodes.count;
    uint64_t *lanes = calloc(count + 1, sizeof *lanes);
    bool *is_continued = calloc(count + 1, sizeof *is_continued);
    const uint64_t lane = order_lane();
    cudaError_t error = lanes && is_continued ? cudaSuccess : cudaErrorMemoryAllocation;
    order_join(lane, lane_of_instance(graph));
    for (size_t i = 0; i < count && !error; i++) {
        const struct graph_node *node = graph->nodes.at[graph->order[i]];
        lanes[graph->order[i]] = lane_of(node, lane, lanes, is_continued);
        order_enter(lanes[graph->order[i]]);
        if (!node->disabled)
            error = operation_do(&node->operation);
    }
    order_enter(lane);
    for (size_t i = 0; i < count && lanes; i++)
        if (lanes[i])
            order_join(lane, lanes[i]);
    order_record(lane_of_instance(graph), lane);
    free(lanes);
    free(is_continued);
    return error;
}
