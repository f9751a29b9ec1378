/*
 * cudaMalloc and its kin, copies, cudaMemset.
 */
#include "fuzz/cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

EXPORT cudaError_t cudaMalloc(void **pointer, size_t bytes);
EXPORT cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
EXPORT cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
EXPORT cudaError_t cudaMallocHost(void **pointer, size_t bytes);
EXPORT cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
EXPORT cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned flags);
EXPORT cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
EXPORT cudaError_t cudaFree(void *pointer);
EXPORT cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
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
EXPORT cudaError_t cudaMemGetInfo(size_t *available, size_t *total);

/* ---- allocation ---- */

cudaError_t allocate(void **pointer, size_t bytes, enum device_memory kind)
{
    cudaError_t error = lasting_error();
    if (error || !pointer)
        return give(error ? error : cudaErrorInvalidValue);
    *pointer = NULL;
    if (bytes == 0)
        return give(cudaSuccess);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct allocation *a = allocation_new(bytes, kind);
    if (a) {
        struct device_allocated message = {
            .at = {a->address, a->bytes, a->offset, (uint32_t)kind, a->number}};
        host_frames(&message.stack);
        device_tell(DEVICE_ALLOCATE, &message, sizeof message, NULL, 0);
        *pointer = (void *)(uintptr_t)a->address;
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

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return allocate(pointer, bytes, DEVICE_MEMORY_DEVICE);
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

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return allocate(pointer, *pitch * height, DEVICE_MEMORY_DEVICE);
}

cudaError_t cudaFree(void *pointer)
{
    return release("cudaFree", pointer);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    (void)stream;
    return release("cudaFreeAsync", pointer);
}

cudaError_t cudaFreeHost(void *pointer)
{
    return release("cudaFreeHost", pointer);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = *total = DEVICE_MEMORY_BYTES;
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
    return error;
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
    error = copy_locked(function, to, from, bytes);
    device_leave();
    return give(error);
}

/* The direction says nothing that the addresses do not; one that they contradict is an error. */
static cudaError_t check_kind(const char *function, const void *to, const void *from, int kind)
{
    enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE };
    bool wrong = false;
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
    return copy_of_kind("cudaMemcpy", to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
    (void)stream;
    return copy_of_kind("cudaMemcpyAsync", to, from, bytes, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, int kind)
{
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && !error; row++)
        error = copy_of_kind("cudaMemcpy2D", (char *)to + row * to_pitch,
                             (const char *)from + row * from_pitch, width, kind);
    return error;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, int kind, cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    char chunk[CHUNK];
    cudaError_t error = lasting_error();
    memset(chunk, value, sizeof chunk);
    for (size_t done = 0; done < bytes && !error; done += CHUNK)
        error = copy_memory("cudaMemset", (char *)to + done, chunk,
                            bytes - done < CHUNK ? bytes - done : CHUNK);
    return give(error);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMemset(to, value, bytes);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && !error; row++)
        error = cudaMemset((char *)to + row * pitch, value, width);
    return error;
}
