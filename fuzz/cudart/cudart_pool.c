/*
 * Memory beside cudaMalloc: pools, memory of the host's own that becomes known to the device, what is known of ranges.
 */
#include "fuzz/cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

struct pool {
    bool is_default;
};

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(struct pool **pool, int device);
EXPORT cudaError_t cudaDeviceGetMemPool(struct pool **pool, int device);
EXPORT cudaError_t cudaMemGetDefaultMemPool(struct pool **pool, const void *location, int kind);
EXPORT cudaError_t cudaMemGetMemPool(struct pool **pool, const void *location, int kind);
EXPORT cudaError_t cudaMemPoolCreate(struct pool **pool, const void *properties);
EXPORT cudaError_t cudaMemPoolGetAttribute(const struct pool *pool, int attribute, void *value);
EXPORT cudaError_t cudaMemPoolGetAccess(int *access, const struct pool *pool, const void *location);
EXPORT cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, const struct pool *pool,
                                           cudaStream_t stream);
EXPORT cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
EXPORT cudaError_t cudaHostUnregister(void *pointer);
EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer);
EXPORT cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute,
                                            const void *pointer, size_t count);
EXPORT cudaError_t cudaMemRangeGetAttributes(void **data, const size_t *bytes,
                                             const int *attributes, size_t number,
                                             const void *pointer, size_t count);

/* ---- pools: memory comes from one place ---- */

cudaError_t cudaDeviceGetDefaultMemPool(struct pool **pool, int device)
{
    static struct pool common = {true};
    *pool = &common;
    return give(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetMemPool(struct pool **pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaMemGetDefaultMemPool(struct pool **pool, const void *location, int kind)
{
    (void)location, (void)kind;
    return cudaDeviceGetDefaultMemPool(pool, 0);
}

cudaError_t cudaMemGetMemPool(struct pool **pool, const void *location, int kind)
{
    (void)location, (void)kind;
    return cudaDeviceGetDefaultMemPool(pool, 0);
}

cudaError_t cudaMemPoolCreate(struct pool **pool, const void *properties)
{
    if (!pool || !properties)
        return give(cudaErrorInvalidValue);
    *pool = calloc(1, sizeof **pool);
    return give(*pool ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* The first three are switches, the others counts of bytes. */
cudaError_t cudaMemPoolGetAttribute(const struct pool *pool, int attribute, void *value)
{
    enum { SWITCHES = 3, ATTRIBUTES = 8 };
    const uint64_t bytes = 0;
    const int on = 1;
    if (!pool || !value || attribute < 1 || attribute > ATTRIBUTES)
        return give(cudaErrorInvalidValue);
    if (attribute <= SWITCHES)
        memcpy(value, &on, sizeof on);
    else
        memcpy(value, &bytes, sizeof bytes);
    return give(cudaSuccess);
}

cudaError_t cudaMemPoolGetAccess(int *access, const struct pool *pool, const void *location)
{
    enum { READ_WRITE = 3 };
    (void)pool, (void)location;
    *access = READ_WRITE;
    return give(cudaSuccess);
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, const struct pool *pool,
                                    cudaStream_t stream)
{
    return pool ? cudaMallocAsync(pointer, bytes, stream) : give(cudaErrorInvalidValue);
}

/* ---- the host's own memory ---- */

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    enum { cudaErrorHostMemoryAlreadyRegistered = 712 };
    (void)flags;
    if (!pointer || bytes == 0)
        return give(cudaErrorInvalidValue);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    const bool known = pages_have_memory((uint64_t)(uintptr_t)pointer, bytes);
    const struct allocation *a = known ? NULL : allocation_of_host(pointer, bytes);
    if (a)
        tell_allocation(a);
    else if (known && !allocation_of(pointer))
        device_say(DEVICE_NOTE,
                   "cudaHostRegister(%p, %zu): a part of its pages is registered "
                   "already; ranges that share a page are not supported",
                   pointer, bytes);
    device_leave();
    return give(known ? cudaErrorHostMemoryAlreadyRegistered
                : a   ? cudaSuccess
                      : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    enum { cudaErrorHostMemoryNotRegistered = 713 };
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct allocation *a = allocation_of(pointer);
    const bool is_registered = a && a->kind == DEVICE_MEMORY_HOST && a->stays_mapped;
    if (is_registered) {
        device_tell(DEVICE_FREE, &a->address, sizeof a->address, NULL, 0);
        allocation_end(a);
    }
    device_leave();
    return give(is_registered ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer)
{
    enum { MAPPED = 2 };
    if (!device_enter())
        return give(cudaErrorInitializationError);
    const struct allocation *a = allocation_of(pointer);
    const bool is_hosts = a && a->kind == DEVICE_MEMORY_HOST;
    device_leave();
    *flags = MAPPED; /* all are */
    return give(is_hosts ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- ranges of managed memory: nothing is advised, and nothing was fetched ---- */

cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute, const void *pointer,
                                     size_t count)
{
    enum { READ_MOSTLY = 1, NOWHERE = -2 };
    const int value = attribute == READ_MOSTLY ? 0 : NOWHERE;
    (void)pointer, (void)count;
    if (!data || bytes % sizeof value != 0)
        return give(cudaErrorInvalidValue);
    for (size_t at = 0; at < bytes; at += sizeof value)
        memcpy((char *)data + at, &value, sizeof value);
    return give(cudaSuccess);
}

cudaError_t cudaMemRangeGetAttributes(void **data, const size_t *bytes, const int *attributes,
                                      size_t number, const void *pointer, size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < number && !error; i++)
        error = cudaMemRangeGetAttribute(data[i], bytes[i], attributes[i], pointer, count);
    return error;
}
