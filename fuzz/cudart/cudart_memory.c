/*
 * cudaMalloc and its kin, copies, cudaMemset.
 */
#include "fuzz/cudart/operation.h"
#include "fuzz/cudart/order.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, SET_CHUNK = 1 << 18 }; /* bytes at once: the device hears of each */

EXPORT cudaError_t cudaMalloc(void **pointer, size_t bytes);
EXPORT cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
EXPORT cudaError_t cudaMallocHost(void **pointer, size_t bytes);
EXPORT cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
EXPORT cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned flags);
EXPORT cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
EXPORT cudaError_t cudaFree(void *pointer);
EXPORT cudaError_t cudaFreeHost(void *pointer);
EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                                   cudaStream_t stream);
EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, int kind);
EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, int kind, cudaStream_t stream);
EXPORT cudaError_t cudaMemset(void *to, int value, size_t bytes);
EXPORT cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
EXPORT cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
EXPORT cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream);
EXPORT cudaError_t cudaMemset3D(struct pitched to, int value, struct extent extent);
EXPORT cudaError_t cudaMemset3DAsync(struct pitched to, int value, struct extent extent,
                                     cudaStream_t stream);
EXPORT cudaError_t cudaMalloc3D(struct pitched *pitched, struct extent extent);
EXPORT cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                                  size_t bytes);
EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                       size_t bytes, cudaStream_t stream);
EXPORT cudaError_t cudaMemGetInfo(size_t *available, size_t *total);

/* ---- allocation ---- */

void tell_allocation(const struct allocation *a)
{
    struct device_allocated message = {
        .at = {a->address, a->bytes, a->offset, (uint32_t)a->kind, a->number}};
    host_frames(&message.stack);
    device_tell(DEVICE_ALLOCATE, &message, sizeof message, NULL, 0);
}

cudaError_t allocate(void **pointer, size_t bytes, enum device_memory kind)
{
    static bool said;
    cudaError_t error = lasting_error();
    if (!error)
        error = capture_forbids();
    if (error || !pointer)
        return give(error ? error : cudaErrorInvalidValue);
    *pointer = NULL;
    if (bytes == 0)
        return give(cudaSuccess);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct allocation *a = allocation_new(bytes, kind);
    if (a) {
        tell_allocation(a);
        *pointer = (void *)(uintptr_t)a->address;
    } else if (!said) {
        device_say(DEVICE_NOTE,
                   "%zu bytes more are not there: this device has %llu MiB, and room for %u "
                   "allocations",
                   bytes, (unsigned long long)(DEVICE_MEMORY_BYTES >> 20), DEVICE_SLOTS);
        said = true;
    }
    device_leave();
    return give(a ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t release(const char *function, void *pointer)
{
    if (!pointer)
        return give(cudaSuccess);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct allocation *a = allocation_of(pointer);
    bool is_start =
        a && a->address == (uint64_t)(uintptr_t)pointer && a->kind != DEVICE_MEMORY_VARIABLE;
    if (is_start) {
        device_tell(DEVICE_FREE, &a->address, sizeof a->address, NULL, 0);
        if (a->is_of_graph)
            a->absent = true;
        else
            allocation_end(a);
    } else {
        device_say(DEVICE_WRONG, "%s(%p): %s", function, pointer,
                   a ? "the address is not the first one of its allocation"
                     : "nothing is allocated there, or it was freed before");
    }
    device_leave();
    return give(is_start ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, DEVICE_MEMORY_DEVICE);
}

/* In a graph that is captured: an address at which memory is, from one of its nodes to another. */
static cudaError_t allocate_in_graph(void **pointer, size_t bytes, cudaStream_t stream)
{
    struct operation operation = {.kind = NODE_ALLOCATE};
    if (!pointer || bytes == 0)
        return give(cudaErrorInvalidValue);
    if (!(operation.u.memory = allocation_of_graph(bytes)))
        return give(cudaErrorMemoryAllocation);
    *pointer = (void *)(uintptr_t)operation.u.memory->address;
    return operation_issue(stream, &operation);
}

/* Memory comes and goes in the order of a stream: nobody may access it before, or behind. */
static void touch_all(const char *function, cudaStream_t stream, const void *pointer)
{
    stream_begins(stream);
    const uint64_t before = order_enter(lane_of_stream(stream));
    if (device_enter()) {
        const struct allocation *a = allocation_of(pointer);
        if (a)
            order_touch(function, pointer, NULL, a->bytes);
        device_leave();
    }
    order_enter(before);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    if (stream_is_captured(stream))
        return allocate_in_graph(pointer, bytes, stream);
    const cudaError_t error = allocate(pointer, bytes, DEVICE_MEMORY_DEVICE);
    if (!error)
        touch_all("cudaMallocAsync", stream, *pointer);
    return error;
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(pointer, bytes, DEVICE_MEMORY_MANAGED);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, DEVICE_MEMORY_HOST);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(pointer, bytes, DEVICE_MEMORY_HOST);
}

cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned flags)
{
    (void)flags;
    *pointer = host; /* one address for both, as with all unified addressing */
    return give(cudaSuccess);
}

static size_t product(size_t a, size_t b)
{
    return b > 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

size_t pitched_bytes(size_t *pitch, size_t unit, size_t width, size_t height)
{
    *pitch = product(width / unit + (width % unit != 0), unit);
    return product(*pitch, height);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    return allocate(pointer, pitched_bytes(pitch, PITCH_UNIT, width, height), DEVICE_MEMORY_DEVICE);
}

cudaError_t release_now(const char *function, void *pointer)
{
    cudaError_t error = pointer ? capture_forbids() : cudaSuccess;
    if (!error)
        order_join_all(LANE_HOST);
    return error ? give(error) : release(function, pointer);
}

cudaError_t cudaFree(void *pointer)
{
    return release_now("cudaFree", pointer);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    struct operation operation = {.kind = NODE_FREE};
    if (!stream_is_captured(stream)) {
        touch_all("cudaFreeAsync", stream, pointer);
        return release("cudaFreeAsync", pointer);
    }
    operation.u.memory = graph_allocation_of(pointer);
    return operation.u.memory ? operation_issue(stream, &operation) : give(cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void *pointer)
{
    return release_now("cudaFreeHost", pointer);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = DEVICE_MEMORY_BYTES;
    *available = DEVICE_MEMORY_BYTES - memory_in_use();
    return give(cudaSuccess);
}

/* ---- copies ---- */

/* Whether the bytes from `at` on lie in the allocation; otherwise it is said. */
static bool fits(const char *function, const struct allocation *a, const void *at, size_t bytes)
{
    uint64_t offset = a ? (uint64_t)(uintptr_t)at - a->address : 0;
    if (!a || (offset <= a->bytes && bytes <= a->bytes - offset))
        return true;
    device_say(DEVICE_WRONG, "%s of %zu bytes at byte %llu of buffer%u, which has %llu bytes",
               function, bytes, (unsigned long long)offset, a->number,
               (unsigned long long)a->bytes);
    return false;
}

/* Addresses of device memory that no allocation has. */
static bool is_wild(const struct allocation *a, const void *at)
{
    uint64_t address = (uint64_t)(uintptr_t)at;
    return !a && address >= DEVICE_FIRST && address - DEVICE_FIRST < DEVICE_SLOTS * DEVICE_SLOT;
}

static cudaError_t copy_between(const struct allocation *to, uint64_t to_at, char *host_to,
                                const struct allocation *from, uint64_t from_at,
                                const char *host_from, size_t bytes)
{
    static char chunk[CHUNK];
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < CHUNK ? bytes - done : CHUNK;
        const char *in = from ? chunk : host_from + done;
        if (from && !device_read(from, from_at + done, to ? chunk : host_to + done, part))
            return cudaErrorInvalidValue;
        if (to && !device_write(to, to_at + done, in, part))
            return cudaErrorInvalidValue;
        done += part;
    }
    if (!to && !from)
        memmove(host_to, host_from, bytes);
    return cudaSuccess;
}

/* A copy within one allocation whose two ends overlap goes through a buffer of its own. */
static cudaError_t copy_within(const struct allocation *a, uint64_t to, uint64_t from, size_t bytes)
{
    char *all = malloc(bytes);
    bool done = all && device_read(a, from, all, bytes) && device_write(a, to, all, bytes);
    free(all);
    return done ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t copy_locked(const char *function, void *to, const void *from, size_t bytes)
{
    const struct allocation *a = allocation_of(to), *b = allocation_of(from);
    cudaError_t error;
    if (is_wild(a, to) || is_wild(b, from)) {
        device_say(DEVICE_WRONG, "%s: nothing is allocated at %p, or it was freed before", function,
                   is_wild(a, to) ? to : from);
        return cudaErrorInvalidValue;
    }
    if (!fits(function, a, to, bytes) || !fits(function, b, from, bytes))
        return cudaErrorInvalidValue;
    uint64_t to_at = a ? (uint64_t)(uintptr_t)to - a->address : 0;
    uint64_t from_at = b ? (uint64_t)(uintptr_t)from - b->address : 0;
    if (a && a == b)
        error = copy_within(a, to_at, from_at, bytes);
    else
        error = copy_between(a, to_at, to, b, from_at, from, bytes);
    struct device_range range = {(uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes};
    if (a && !error)
        device_tell(b ? DEVICE_COPIED : DEVICE_WRITTEN, &range, sizeof range, NULL, 0);
    if (!error)
        order_touch(function, a ? to : NULL, b ? from : NULL, bytes);
    return error;
}

/* So many of the bytes lie in one allocation; the others in the next one, if it begins where this one ends, as with
 * memory that was mapped piece by piece. */
static size_t piece_of(const char *at, size_t bytes)
{
    const struct allocation *a = allocation_of(at);
    const uint64_t left = a ? a->address + a->bytes - (uint64_t)(uintptr_t)at : bytes;
    return left > 0 && left < bytes && allocation_of(at + left) ? (size_t)left : bytes;
}

cudaError_t copy_memory(const char *function, void *to, const void *from, size_t bytes)
{
    cudaError_t error = lasting_error();
    if (error || bytes == 0)
        return give(error);
    if (!to || !from)
        return give(cudaErrorInvalidValue);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    for (size_t done = 0, part; done < bytes && !error; done += part) {
        char *there = (char *)to + done;
        const char *here = (const char *)from + done;
        part = piece_of(there, piece_of(here, bytes - done));
        error = copy_locked(function, there, here, part);
    }
    device_leave();
    return give(error);
}

/* The direction says nothing that the addresses do not; one that they contradict is an error. */
static cudaError_t check_kind(const char *function, const void *to, const void *from, int kind)
{
    enum { cudaErrorInvalidMemcpyDirection = 21 };
    bool wrong = false;
    if (kind < HOST_TO_HOST || kind > ANY_DIRECTION)
        return cudaErrorInvalidMemcpyDirection;
    if (!device_enter())
        return cudaErrorInitializationError;
    const struct allocation *a = allocation_of(to), *b = allocation_of(from);
    bool to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
    bool from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
    if (kind >= HOST_TO_HOST && kind <= DEVICE_TO_DEVICE)
        wrong = (to_device && !a && !is_wild(a, to)) || (from_device && !b && !is_wild(b, from)) ||
                (!to_device && a && !a->mapped) || (!from_device && b && !b->mapped);
    if (wrong)
        device_say(DEVICE_WRONG, "%s(%p, %p, ..): the direction does not fit the addresses",
                   function, to, from);
    device_leave();
    return wrong ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t copy_of_kind(const char *function, void *to, const void *from, size_t bytes, int kind)
{
    cudaError_t error = bytes ? check_kind(function, to, from, kind) : cudaSuccess;
    return error ? give(error) : copy_memory(function, to, from, bytes);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    const struct operation o = copy_operation("cudaMemcpy", to, from, bytes, kind);
    return operation_do_now(&o);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
    const struct operation o = copy_operation("cudaMemcpyAsync", to, from, bytes, kind);
    return operation_issue(stream, &o);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    const struct operation o = copy_operation("cudaMemcpyPeer", to, from, bytes, ANY_DIRECTION);
    return to_device == 0 && from_device == 0 ? operation_do_now(&o) : give(cudaErrorInvalidDevice);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    const struct operation o =
        copy_operation("cudaMemcpyPeerAsync", to, from, bytes, ANY_DIRECTION);
    return to_device == 0 && from_device == 0 ? operation_issue(stream, &o)
                                              : give(cudaErrorInvalidDevice);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, int kind)
{
    const struct operation o =
        rows_operation("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind);
    return operation_do_now(&o);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, int kind, cudaStream_t stream)
{
    const struct operation o =
        rows_operation("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind);
    return operation_issue(stream, &o);
}

/* ---- sets ---- */

static cudaError_t set_row(const struct set_2d *set, const char *function, char *to)
{
    const size_t bytes = set->width * set->element;
    const size_t most = bytes < SET_CHUNK ? bytes : SET_CHUNK;
    char *chunk = malloc(most + 1);
    cudaError_t error = chunk ? cudaSuccess : cudaErrorMemoryAllocation;
    if (!error && set->element == 1)
        memset(chunk, (int)set->value, most);
    for (size_t i = 0; set->element > 1 && i < most && !error; i += set->element)
        memcpy(chunk + i, &set->value, set->element);
    for (size_t done = 0; done < bytes && !error; done += most)
        error = copy_memory(function, to + done, chunk, bytes - done < most ? bytes - done : most);
    free(chunk);
    return error;
}

cudaError_t set_2d(const char *function, const struct set_2d *set)
{
    cudaError_t error = cudaSuccess;
    if (set->element != 1 && set->element != 2 && set->element != 4)
        return give(cudaErrorInvalidValue);
    if ((uintptr_t)set->to % set->element != 0 || set->width > SIZE_MAX / set->element)
        return give(cudaErrorInvalidValue);
    for (size_t row = 0; row < set->height && !error; row++)
        error = set_row(set, function, set->to + row * set->pitch);
    return error;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    const struct operation o = set_operation("cudaMemset", to, bytes, (unsigned)value, bytes, 1);
    return operation_do_now(&o);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    const struct operation o =
        set_operation("cudaMemsetAsync", to, bytes, (unsigned)value, bytes, 1);
    return operation_issue(stream, &o);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    const struct operation o =
        set_operation("cudaMemset2D", to, pitch, (unsigned)value, width, height);
    return operation_do_now(&o);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    const struct operation o =
        set_operation("cudaMemset2DAsync", to, pitch, (unsigned)value, width, height);
    return operation_issue(stream, &o);
}

/* Slices lie one behind the other. */
cudaError_t cudaMemset3DAsync(struct pitched to, int value, struct extent extent,
                              cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && !error; z++)
        error = cudaMemset2DAsync(to.pointer + z * to.height * to.pitch, to.pitch, value,
                                  extent.width, extent.height, stream);
    return error;
}

cudaError_t cudaMemset3D(struct pitched to, int value, struct extent extent)
{
    cudaError_t error = capture_forbids();
    return error ? give(error) : cudaMemset3DAsync(to, value, extent, NULL);
}

cudaError_t cudaMalloc3D(struct pitched *pitched, struct extent extent)
{
    void *data = NULL;
    size_t pitch;
    cudaError_t error =
        cudaMallocPitch(&data, &pitch, extent.width, product(extent.height, extent.depth));
    if (!error)
        *pitched = (struct pitched){data, pitch, extent.width, extent.height};
    return error;
}
