/*
 * What is asked of streams: done now, or kept for a graph.
 */
#include "fuzz/cudart/operation.h"
#include "fuzz/cudart/graph.h"
#include "fuzz/cudart/order.h"

#include <stdlib.h>
#include <string.h>

struct operation copy_operation(const char *function, void *to, const void *from, size_t bytes,
                                int kind)
{
    return rows_operation(function, to, bytes, from, bytes, bytes, 1, kind);
}

struct operation rows_operation(const char *function, void *to, size_t to_pitch, const void *from,
                                size_t from_pitch, size_t width, size_t height, int kind)
{
    struct operation operation = {.kind = NODE_COPY, .function = function};
    char *source;
    memcpy(&source, &from, sizeof source);
    operation.u.copy = (struct copy_3d){.from = {source, from_pitch, width, height},
                                        .to = {to, to_pitch, width, height},
                                        .extent = {width, height, 1},
                                        .kind = kind};
    return operation;
}

struct operation set_operation(const char *function, void *to, size_t pitch, unsigned value,
                               size_t width, size_t height)
{
    return (struct operation){.kind = NODE_SET,
                              .function = function,
                              .u.set = {to, pitch, value & 0xff, 1, width, height}};
}

/* ---- memory of a graph's own: an address that is there between two nodes ---- */

static void touch_all(const char *function, const struct allocation *memory)
{
    order_touch(function, (const void *)(uintptr_t)memory->address, NULL, memory->bytes);
}

static cudaError_t appear(struct allocation *memory)
{
    if (!device_enter())
        return give(cudaErrorInitializationError);
    bool was_there = !memory->absent;
    if (!was_there) {
        struct graph_memory now;
        memory->absent = false;
        graph_memory(&now);
        tell_allocation(memory);
        touch_all("a graph's cudaMallocAsync", memory);
    }
    device_leave();
    return give(was_there ? cudaErrorInvalidValue : cudaSuccess);
}

static cudaError_t disappear(struct allocation *memory)
{
    if (device_enter()) {
        touch_all("a graph's cudaFreeAsync", memory);
        device_leave();
    }
    return release("a graph's cudaFreeAsync", (void *)(uintptr_t)memory->address);
}

/* ---- doing ---- */

cudaError_t operation_do(const struct operation *operation)
{
    cudaError_t error = lasting_error();
    if (error)
        return give(error);
    switch (operation->kind) {
    case NODE_KERNEL:
        return run_launch(&operation->u.kernel);
    case NODE_COPY:
        return copy_3d(operation->function, &operation->u.copy);
    case NODE_SET:
        return set_2d(operation->function, &operation->u.set);
    case NODE_HOST:
        order_join(LANE_HOST, order_lane()); /* it may tell another thread */
        host_function_begins();
        operation->u.host.function(operation->u.host.data);
        host_function_ends();
        return cudaSuccess;
    case NODE_GRAPH:
        return graph_run(operation->u.graph);
    case NODE_RECORD:
        event_happens(operation->u.event);
        order_record(lane_of_event(operation->u.event), order_lane());
        return cudaSuccess;
    case NODE_WAIT:
        order_join(order_lane(), lane_of_event(operation->u.event));
        return cudaSuccess;
    case NODE_ALLOCATE:
        return appear(operation->u.memory);
    case NODE_FREE:
        return disappear(operation->u.memory);
    case NODE_EMPTY:
        break;
    }
    return cudaSuccess;
}

/* A copy to memory of the host's own, which is not pinned. */
static bool is_waited_for(const struct operation *operation)
{
    if (operation->kind != NODE_COPY || operation->u.copy.to_array || !device_enter())
        return false;
    const bool is_waited = !allocation_of(operation->u.copy.to.pointer);
    device_leave();
    return is_waited;
}

cudaError_t operation_do_on(cudaStream_t stream, const struct operation *operation)
{
    stream_begins(stream);
    const uint64_t before = order_enter(lane_of_stream(stream));
    const cudaError_t error = operation_do(operation);
    order_enter(before);
    if (is_waited_for(operation))
        order_join(LANE_HOST, lane_of_stream(stream));
    return error;
}

cudaError_t operation_do_now(const struct operation *operation)
{
    cudaError_t error = capture_forbids();
    if (error)
        return give(error);
    error = operation_do_on(NULL, operation);
    order_join(LANE_HOST, LANE_LEGACY);
    return error;
}

/* ---- keeping ---- */

/* The arguments' values, and the pointers to them in front. */
static void **keep_arguments(struct kernel *kernel, void **arguments)
{
    if (!device_enter())
        return NULL;
    ask_kernel(kernel);
    device_leave();
    const struct device_kernel *d = &kernel->device;
    size_t bytes = d->parameter_count * sizeof(void *);
    for (uint32_t i = 0; i < d->parameter_count; i++)
        bytes += d->sizes[i];
    void **all = malloc(bytes + 1);
    char *at = all ? (char *)(all + d->parameter_count) : NULL;
    for (uint32_t i = 0; all && i < d->parameter_count; i++) {
        if (!arguments || !arguments[i]) {
            free(all);
            return NULL;
        }
        all[i] = memcpy(at, arguments[i], d->sizes[i]);
        at += d->sizes[i];
    }
    return all;
}

static bool keep_launch(struct kernel_call *call)
{
    struct device_launch *launch = malloc(sizeof *launch);
    void **arguments = keep_arguments(call->kernel, call->arguments);
    if (!launch || !arguments) {
        free(launch);
        free(arguments);
        return false;
    }
    *launch = *call->launch;
    call->launch = launch;
    call->arguments = arguments;
    return true;
}

bool operation_keep(struct operation *operation)
{
    if (operation->kind == NODE_KERNEL)
        return keep_launch(&operation->u.kernel);
    if (operation->kind == NODE_GRAPH)
        return (operation->u.graph = graph_clone(operation->u.graph)) != NULL;
    return true;
}

void operation_end(struct operation *operation)
{
    if (operation->kind == NODE_KERNEL) {
        free(operation->u.kernel.launch);
        free(operation->u.kernel.arguments);
    }
    if (operation->kind == NODE_GRAPH)
        graph_end(operation->u.graph);
}
