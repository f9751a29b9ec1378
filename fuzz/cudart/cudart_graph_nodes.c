/*
 * The nodes of CUDA graphs: each kind is added, asked for its parameters, and given others, in a graph or an instance.
 */
#include "fuzz/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- any node ---- */

static bool is_of(const struct graph_node *node, enum node_kind kind)
{
    return node && node->operation.kind == kind;
}

cudaError_t node_add(struct graph_node **node, struct graph *graph,
                     struct graph_node *const *before, size_t count,
                     const struct operation *operation)
{
    if (!node || !graph || !nodes_are_of(graph, before, count))
        return give(cudaErrorInvalidValue);
    *node = graph_add(graph, operation, before, count);
    return give(*node ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t node_change(struct graph_node *node, const struct operation *operation)
{
    return give(node && graph_change(node, operation) ? cudaSuccess : cudaErrorInvalidValue);
}

/* The copy of a graph's node that an instance has. */
static cudaError_t change_in(const struct graph *instance, const struct graph_node *node,
                             const struct operation *operation)
{
    return node_change(graph_copy_of(instance, node), operation);
}

/* ---- kernels ---- */

/* What a launch needs, with room for what it points to. */
struct launching {
    struct operation operation;
    struct device_launch launch;
    void *unpacked[DEVICE_PARAMETERS];
};

static cudaError_t start_launching(struct launching *l, const struct kernel_parameters *p)
{
    struct kernel *kernel = p ? find_kernel(p->function) : NULL;
    void **arguments = p ? p->arguments : NULL;
    cudaError_t error =
        p ? prepare_launch(&l->launch, kernel, p->grid, p->block, p->shared, false, NULL)
          : cudaErrorInvalidValue;
    if (error)
        return error;
    if (!arguments && p->extra) {
        if (!unpack_arguments(p->extra, kernel, l->unpacked))
            return cudaErrorInvalidValue;
        arguments = l->unpacked;
    }
    l->operation =
        (struct operation){.kind = NODE_KERNEL, .u.kernel = {kernel, &l->launch, arguments}};
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphAddKernelNode(struct graph_node **node, struct graph *graph,
                                          struct graph_node *const *before, size_t count,
                                          const struct kernel_parameters *parameters);
EXPORT cudaError_t cudaGraphKernelNodeGetParams(const struct graph_node *node,
                                                struct kernel_parameters *parameters);
EXPORT cudaError_t cudaGraphKernelNodeSetParams(struct graph_node *node,
                                                const struct kernel_parameters *parameters);
EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(const struct graph *instance,
                                                    const struct graph_node *node,
                                                    const struct kernel_parameters *parameters);
EXPORT cudaError_t cudaGraphKernelNodeSetAttribute(struct graph_node *node, int attribute,
                                                   const void *value);
EXPORT cudaError_t cudaGraphKernelNodeGetAttribute(const struct graph_node *node, int attribute,
                                                   void *value);
EXPORT cudaError_t cudaGraphKernelNodeCopyAttributes(struct graph_node *to,
                                                     const struct graph_node *from);

cudaError_t cudaGraphAddKernelNode(struct graph_node **node, struct graph *graph,
                                   struct graph_node *const *before, size_t count,
                                   const struct kernel_parameters *parameters)
{
    struct launching l;
    cudaError_t error = start_launching(&l, parameters);
    return error ? give(error) : node_add(node, graph, before, count, &l.operation);
}

cudaError_t cudaGraphKernelNodeGetParams(const struct graph_node *node,
                                         struct kernel_parameters *parameters)
{
    if (!is_of(node, NODE_KERNEL) || !parameters)
        return give(cudaErrorInvalidValue);
    const struct kernel_call *call = &node->operation.u.kernel;
    const struct device_launch *l = call->launch;
    *parameters = (struct kernel_parameters){.function = call->kernel->host,
                                             .grid = {l->grid[0], l->grid[1], l->grid[2]},
                                             .block = {l->block[0], l->block[1], l->block[2]},
                                             .shared = (unsigned)l->shared_bytes,
                                             .arguments = call->arguments};
    return give(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeSetParams(struct graph_node *node,
                                         const struct kernel_parameters *parameters)
{
    struct launching l;
    cudaError_t error = start_launching(&l, parameters);
    return error ? give(error) : node_change(node, &l.operation);
}

cudaError_t cudaGraphExecKernelNodeSetParams(const struct graph *instance,
                                             const struct graph_node *node,
                                             const struct kernel_parameters *parameters)
{
    struct launching l;
    cudaError_t error = start_launching(&l, parameters);
    return error ? give(error) : change_in(instance, node, &l.operation);
}

cudaError_t cudaGraphKernelNodeSetAttribute(struct graph_node *node, int attribute,
                                            const void *value)
{
    if (!is_of(node, NODE_KERNEL) || !value)
        return give(cudaErrorInvalidValue);
    device_set_attribute(node->operation.u.kernel.launch, (uint32_t)attribute, value);
    return give(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeGetAttribute(const struct graph_node *node, int attribute,
                                            void *value)
{
    if (!is_of(node, NODE_KERNEL) || !value)
        return give(cudaErrorInvalidValue);
    memset(value, 0, DEVICE_ATTRIBUTE_VALUE);
    device_get_attribute(node->operation.u.kernel.launch, (uint32_t)attribute, value);
    return give(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeCopyAttributes(struct graph_node *to, const struct graph_node *from)
{
    if (!is_of(to, NODE_KERNEL) || !is_of(from, NODE_KERNEL))
        return give(cudaErrorInvalidValue);
    struct device_launch *launch = to->operation.u.kernel.launch;
    const struct device_launch *old = from->operation.u.kernel.launch;
    launch->cooperative = old->cooperative;
    memcpy(launch->cluster, old->cluster, sizeof launch->cluster);
    return give(cudaSuccess);
}

/* ---- copies, sets, calls of the host, events, graphs: one operation each ---- */

/* Add, GetParams, SetParams and those of an instance, for a kind whose parameters are a member of the operation. */
#define NODES(name, node_kind_, member, type, text)                                                \
    EXPORT cudaError_t cudaGraphAdd##name##Node(struct graph_node **node, struct graph *graph,     \
                                                struct graph_node *const *before, size_t count,    \
                                                const type *parameters);                           \
    EXPORT cudaError_t cudaGraph##name##NodeGetParams(const struct graph_node *node,               \
                                                      type *parameters);                           \
    EXPORT cudaError_t cudaGraph##name##NodeSetParams(struct graph_node *node,                     \
                                                      const type *parameters);                     \
    EXPORT cudaError_t cudaGraphExec##name##NodeSetParams(                                         \
        const struct graph *instance, const struct graph_node *node, const type *parameters);      \
    cudaError_t cudaGraphAdd##name##Node(struct graph_node **node, struct graph *graph,            \
                                         struct graph_node *const *before, size_t count,           \
                                         const type *parameters)                                   \
    {                                                                                              \
        if (!parameters)                                                                           \
            return give(cudaErrorInvalidValue);                                                    \
        const struct operation o = {                                                               \
            .kind = node_kind_, .function = text, .u.member = *parameters};                        \
        return node_add(node, graph, before, count, &o);                                           \
    }                                                                                              \
    cudaError_t cudaGraph##name##NodeGetParams(const struct graph_node *node, type *parameters)    \
    {                                                                                              \
        if (!is_of(node, node_kind_) || !parameters)                                               \
            return give(cudaErrorInvalidValue);                                                    \
        *parameters = node->operation.u.member;                                                    \
        return give(cudaSuccess);                                                                  \
    }                                                                                              \
    cudaError_t cudaGraph##name##NodeSetParams(struct graph_node *node, const type *parameters)    \
    {                                                                                              \
        const struct operation o = {                                                               \
            .kind = node_kind_, .function = text, .u.member = *parameters};                        \
        return node_change(node, &o);                                                              \
    }                                                                                              \
    cudaError_t cudaGraphExec##name##NodeSetParams(                                                \
        const struct graph *instance, const struct graph_node *node, const type *parameters)       \
    {                                                                                              \
        const struct operation o = {                                                               \
            .kind = node_kind_, .function = text, .u.member = *parameters};                        \
        return change_in(instance, node, &o);                                                      \
    }

NODES(Memcpy, NODE_COPY, copy, struct copy_3d, "a graph's copy")
NODES(Memset, NODE_SET, set, struct set_2d, "a graph's memset")
NODES(Host, NODE_HOST, host, struct host_call, "a graph's host node")

/* The same for a kind that has one pointer: where it is asked for and changed has a name of its own. */
#define POINTER_NODES(name, node_kind_, member, type, get, set, set_in)                            \
    EXPORT cudaError_t cudaGraphAdd##name##Node(struct graph_node **node, struct graph *graph,     \
                                                struct graph_node *const *before, size_t count,    \
                                                type *pointer);                                    \
    EXPORT cudaError_t get(const struct graph_node *node, type **pointer);                         \
    EXPORT cudaError_t set(struct graph_node *node, type *pointer);                                \
    EXPORT cudaError_t set_in(const struct graph *instance, const struct graph_node *node,         \
                              type *pointer);                                                      \
    cudaError_t cudaGraphAdd##name##Node(struct graph_node **node, struct graph *graph,            \
                                         struct graph_node *const *before, size_t count,           \
                                         type *pointer)                                            \
    {                                                                                              \
        const struct operation o = {.kind = node_kind_, .u.member = pointer};                      \
        return pointer ? node_add(node, graph, before, count, &o) : give(cudaErrorInvalidValue);   \
    }                                                                                              \
    cudaError_t get(const struct graph_node *node, type **pointer)                                 \
    {                                                                                              \
        if (!is_of(node, node_kind_) || !pointer)                                                  \
            return give(cudaErrorInvalidValue);                                                    \
        *pointer = node->operation.u.member;                                                       \
        return give(cudaSuccess);                                                                  \
    }                                                                                              \
    cudaError_t set(struct graph_node *node, type *pointer)                                        \
    {                                                                                              \
        const struct operation o = {.kind = node_kind_, .u.member = pointer};                      \
        return pointer ? node_change(node, &o) : give(cudaErrorInvalidValue);                      \
    }                                                                                              \
    cudaError_t set_in(const struct graph *instance, const struct graph_node *node, type *pointer) \
    {                                                                                              \
        const struct operation o = {.kind = node_kind_, .u.member = pointer};                      \
        return pointer ? change_in(instance, node, &o) : give(cudaErrorInvalidValue);              \
    }

POINTER_NODES(EventRecord, NODE_RECORD, event, struct event, cudaGraphEventRecordNodeGetEvent,
              cudaGraphEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent)
POINTER_NODES(EventWait, NODE_WAIT, event, struct event, cudaGraphEventWaitNodeGetEvent,
              cudaGraphEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent)

EXPORT cudaError_t cudaGraphAddChildGraphNode(struct graph_node **node, struct graph *graph,
                                              struct graph_node *const *before, size_t count,
                                              struct graph *child);
EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(const struct graph_node *node,
                                                   struct graph **child);
EXPORT cudaError_t cudaGraphAddEmptyNode(struct graph_node **node, struct graph *graph,
                                         struct graph_node *const *before, size_t count);

cudaError_t cudaGraphAddChildGraphNode(struct graph_node **node, struct graph *graph,
                                       struct graph_node *const *before, size_t count,
                                       struct graph *child)
{
    const struct operation o = {.kind = NODE_GRAPH, .u.graph = child};
    return child ? node_add(node, graph, before, count, &o) : give(cudaErrorInvalidValue);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(const struct graph_node *node, struct graph **child)
{
    if (!is_of(node, NODE_GRAPH) || !child)
        return give(cudaErrorInvalidValue);
    *child = node->operation.u.graph;
    return give(cudaSuccess);
}

cudaError_t cudaGraphAddEmptyNode(struct graph_node **node, struct graph *graph,
                                  struct graph_node *const *before, size_t count)
{
    const struct operation o = {.kind = NODE_EMPTY};
    return node_add(node, graph, before, count, &o);
}

/* ---- copies in one piece, and of symbols ---- */

/* Add, SetParams and those of an instance; `make` fills the operation o and gives an error. */
#define COPY_NODES(suffix, make, ...)                                                              \
    EXPORT cudaError_t cudaGraphAddMemcpyNode##suffix(                                             \
        struct graph_node **node, struct graph *graph, struct graph_node *const *before,           \
        size_t count, __VA_ARGS__);                                                                \
    EXPORT cudaError_t cudaGraphMemcpyNodeSetParams##suffix(struct graph_node *node, __VA_ARGS__); \
    EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(                                   \
        const struct graph *instance, const struct graph_node *node, __VA_ARGS__);                 \
    cudaError_t cudaGraphAddMemcpyNode##suffix(struct graph_node **node, struct graph *graph,      \
                                               struct graph_node *const *before, size_t count,     \
                                               __VA_ARGS__)                                        \
    {                                                                                              \
        struct operation o;                                                                        \
        const cudaError_t error = make;                                                            \
        return error ? give(error) : node_add(node, graph, before, count, &o);                     \
    }                                                                                              \
    cudaError_t cudaGraphMemcpyNodeSetParams##suffix(struct graph_node *node, __VA_ARGS__)         \
    {                                                                                              \
        struct operation o;                                                                        \
        const cudaError_t error = make;                                                            \
        return error ? give(error) : node_change(node, &o);                                        \
    }                                                                                              \
    cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(                                          \
        const struct graph *instance, const struct graph_node *node, __VA_ARGS__)                  \
    {                                                                                              \
        struct operation o;                                                                        \
        const cudaError_t error = make;                                                            \
        return error ? give(error) : change_in(instance, node, &o);                                \
    }

static cudaError_t copy_in_one(struct operation *o, void *to, const void *from, size_t bytes,
                               int kind)
{
    *o = copy_operation("a graph's copy", to, from, bytes, kind);
    return cudaSuccess;
}

COPY_NODES(1D, copy_in_one(&o, to, from, bytes, kind), void *to, const void *from, size_t bytes,
           int kind)
COPY_NODES(ToSymbol, to_symbol(&o, "a graph's copy", symbol, from, bytes, offset, kind),
           const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
COPY_NODES(FromSymbol, from_symbol(&o, "a graph's copy", to, symbol, bytes, offset, kind), void *to,
           const void *symbol, size_t bytes, size_t offset, int kind)

/* ---- memory of the graph ---- */

struct memory_parameters { /* cudaMemAllocNodeParams */
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    void *pointer;
};

EXPORT cudaError_t cudaGraphAddMemAllocNode(struct graph_node **node, struct graph *graph,
                                            struct graph_node *const *before, size_t count,
                                            struct memory_parameters *parameters);
EXPORT cudaError_t cudaGraphAddMemFreeNode(struct graph_node **node, struct graph *graph,
                                           struct graph_node *const *before, size_t count,
                                           const void *pointer);

cudaError_t cudaGraphAddMemAllocNode(struct graph_node **node, struct graph *graph,
                                     struct graph_node *const *before, size_t count,
                                     struct memory_parameters *parameters)
{
    struct operation o = {.kind = NODE_ALLOCATE};
    if (!parameters || parameters->bytes == 0)
        return give(cudaErrorInvalidValue);
    if (!(o.u.memory = allocation_of_graph(parameters->bytes)))
        return give(cudaErrorMemoryAllocation);
    parameters->pointer = (void *)(uintptr_t)o.u.memory->address;
    return node_add(node, graph, before, count, &o);
}

cudaError_t cudaGraphAddMemFreeNode(struct graph_node **node, struct graph *graph,
                                    struct graph_node *const *before, size_t count,
                                    const void *pointer)
{
    const struct operation o = {.kind = NODE_FREE, .u.memory = graph_allocation_of(pointer)};
    return o.u.memory ? node_add(node, graph, before, count, &o) : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(const struct graph_node *node,
                                                  struct memory_parameters *parameters);
EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(const struct graph_node *node, void **pointer);

cudaError_t cudaGraphMemAllocNodeGetParams(const struct graph_node *node,
                                           struct memory_parameters *parameters)
{
    if (!is_of(node, NODE_ALLOCATE) || !parameters)
        return give(cudaErrorInvalidValue);
    const struct allocation *a = node->operation.u.memory;
    *parameters =
        (struct memory_parameters){.bytes = a->bytes, .pointer = (void *)(uintptr_t)a->address};
    return give(cudaSuccess);
}

cudaError_t cudaGraphMemFreeNodeGetParams(const struct graph_node *node, void **pointer)
{
    if (!is_of(node, NODE_FREE) || !pointer)
        return give(cudaErrorInvalidValue);
    *pointer = (void *)(uintptr_t)node->operation.u.memory->address;
    return give(cudaSuccess);
}

/* ---- any kind, by one function ---- */

struct node_parameters { /* cudaGraphNodeParams */
    int kind, reserved[3];
    union {
        long long reserved[29];
        struct kernel_parameters kernel;
        struct {
            int flags, reserved[3];
            struct copy_3d copy;
        } copy;
        struct set_2d set;
        struct host_call host;
        struct graph *graph;
        struct event *event;
        struct memory_parameters memory;
        void *pointer;
    } u;
};

EXPORT cudaError_t cudaGraphAddNode(struct graph_node **node, struct graph *graph,
                                    struct graph_node *const *before, const void *edges,
                                    size_t count, struct node_parameters *parameters);
EXPORT cudaError_t cudaGraphNodeSetParams(struct graph_node *node,
                                          const struct node_parameters *parameters);
EXPORT cudaError_t cudaGraphExecNodeSetParams(const struct graph *instance,
                                              const struct graph_node *node,
                                              const struct node_parameters *parameters);

/* Of the kinds whose parameters are all that the operation is. */
static cudaError_t operation_of(struct launching *l, const struct node_parameters *p)
{
    enum { CONDITIONAL = 13 };
    static bool said;
    struct operation *o = &l->operation;
    *o = (struct operation){.kind = (enum node_kind)p->kind, .function = "a graph's node"};
    switch (p->kind) {
    case NODE_KERNEL:
        return start_launching(l, &p->u.kernel);
    case NODE_COPY:
        o->u.copy = p->u.copy.copy;
        return cudaSuccess;
    case NODE_SET:
        o->u.set = p->u.set;
        return cudaSuccess;
    case NODE_HOST:
        o->u.host = p->u.host;
        return o->u.host.function ? cudaSuccess : cudaErrorInvalidValue;
    case NODE_GRAPH:
        o->u.graph = p->u.graph;
        return o->u.graph ? cudaSuccess : cudaErrorInvalidValue;
    case NODE_WAIT:
    case NODE_RECORD:
        o->u.event = p->u.event;
        return o->u.event ? cudaSuccess : cudaErrorInvalidValue;
    case NODE_EMPTY:
        return cudaSuccess;
    default:
        return refuse_call(p->kind == CONDITIONAL ? "a conditional node of a graph"
                                                  : "a node of a graph for semaphores or batches",
                           &said);
    }
}

cudaError_t cudaGraphAddNode(struct graph_node **node, struct graph *graph,
                             struct graph_node *const *before, const void *edges, size_t count,
                             struct node_parameters *parameters)
{
    struct launching l;
    (void)edges;
    if (!parameters)
        return give(cudaErrorInvalidValue);
    if (parameters->kind == NODE_ALLOCATE)
        return cudaGraphAddMemAllocNode(node, graph, before, count, &parameters->u.memory);
    if (parameters->kind == NODE_FREE)
        return cudaGraphAddMemFreeNode(node, graph, before, count, parameters->u.pointer);
    cudaError_t error = operation_of(&l, parameters);
    return error ? give(error) : node_add(node, graph, before, count, &l.operation);
}

cudaError_t cudaGraphNodeSetParams(struct graph_node *node,
                                   const struct node_parameters *parameters)
{
    struct launching l;
    cudaError_t error = parameters ? operation_of(&l, parameters) : cudaErrorInvalidValue;
    return error ? give(error) : node_change(node, &l.operation);
}

cudaError_t cudaGraphExecNodeSetParams(const struct graph *instance, const struct graph_node *node,
                                       const struct node_parameters *parameters)
{
    struct launching l;
    cudaError_t error = parameters ? operation_of(&l, parameters) : cudaErrorInvalidValue;
    return error ? give(error) : change_in(instance, node, &l.operation);
}
