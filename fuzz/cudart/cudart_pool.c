/*
 * Memory beside cudaMalloc: pools, memory of the host's own that becomes known to the device, what is known of ranges.
 */
#include "fuzz/cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_SWITCHES = 3, POOL_ATTRIBUTES = 8 };

struct pool {
    bool is_default, is_set[POOL_ATTRIBUTES + 1];
    uint64_t values[POOL_ATTRIBUTES + 1];
};

struct location { /* cudaMemLocation */
    int type; /* 1: a device, 2 to 4: the host. Before CUDA 13 it was a device's number alone, -1 for the host. */
    int id;
};

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(struct pool **pool, int device);
EXPORT cudaError_t cudaDeviceGetMemPool(struct pool **pool, int device);
EXPORT cudaError_t cudaMemGetDefaultMemPool(struct pool **pool, const void *location, int kind);
EXPORT cudaError_t cudaMemGetMemPool(struct pool **pool, const void *location, int kind);
EXPORT cudaError_t cudaMemPoolCreate(struct pool **pool, const void *properties);
EXPORT cudaError_t cudaMemPoolGetAttribute(const struct pool *pool, int attribute, void *value);
EXPORT cudaError_t cudaMemPoolSetAttribute(struct pool *pool, int attribute, const void *value);
EXPORT cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice,
                                 struct location location);
EXPORT cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct location location,
                                        unsigned flags, cudaStream_t stream);
EXPORT cudaError_t cudaMemPoolGetAccess(int *access, const struct pool *pool, const void *location);
EXPORT cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, const struct pool *pool,
                                           cudaStream_t stream);
EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value);
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
    static struct pool common = {.is_default = true};
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

/* The first three are switches, which are on at first, the others counts of bytes. */
cudaError_t cudaMemPoolGetAttribute(const struct pool *pool, int attribute, void *value)
{
    if (!pool || !value || attribute < 1 || attribute > POOL_ATTRIBUTES)
        return give(cudaErrorInvalidValue);
    const uint64_t bytes = pool->values[attribute];
    const int on = !pool->is_set[attribute] || bytes != 0;
    if (attribute <= POOL_SWITCHES)
        memcpy(value, &on, sizeof on);
    else
        memcpy(value, &bytes, sizeof bytes);
    return give(cudaSuccess);
}

cudaError_t cudaMemPoolSetAttribute(struct pool *pool, int attribute, const void *value)
{
    if (!pool || !value || attribute < 1 || attribute > POOL_ATTRIBUTES)
        return give(cudaErrorInvalidValue);
    pool->is_set[attribute] = true;
    memcpy(&pool->values[attribute], value, attribute <= POOL_SWITCHES ? sizeof(int) : 8);
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

/* Used now and at most, reserved now and at most. */
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    enum { ATTRIBUTES = 4 };
    struct graph_memory memory = {.used = 0};
    if (device != 0 || attribute < 0 || attribute >= ATTRIBUTES || !value)
        return give(device != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    graph_memory(&memory);
    device_leave();
    const uint64_t values[ATTRIBUTES] = {memory.used, memory.most_used, memory.reserved,
                                         memory.most_reserved};
    memcpy(value, &values[attribute], sizeof *values);
    return give(cudaSuccess);
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

/* ---- ranges of managed memory: what is said of a part of an allocation is kept of all of it ---- */

/* Of the managed memory that all these bytes lie in; NULL: they do not. Between device_enter and _leave. */
static struct advice *advice_of(const void *pointer, size_t bytes)
{
    struct allocation *a = allocation_of(pointer);
    const uint64_t at = a ? (uint64_t)(uintptr_t)pointer - a->address : 0;
    if (!a || a->kind != DEVICE_MEMORY_MANAGED || bytes == 0 || bytes > a->bytes - at)
        return NULL;
    if (!a->advice.is_given)
        a->advice = (struct advice){false, true, ADVICE_NONE, ADVICE_NONE, ADVICE_NONE};
    return &a->advice;
}

/* As attributes name it; the device is 0. */
static int number_of(struct location location)
{
    const bool is_host = location.type < 0 || location.type >= 2;
    return is_host ? ADVICE_HOST : location.id <= 0 ? location.id : ADVICE_NONE;
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, struct location location)
{
    enum { READ_MOSTLY = 1, PREFERRED = 3, ACCESSED_BY = 5, MOST = 6 };
    const int set = advice % 2 == 1, number = set ? number_of(location) : ADVICE_NONE;
    cudaError_t error = cudaErrorInvalidValue;
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct advice *a = advice_of(pointer, bytes);
    if (a && advice >= READ_MOSTLY && advice <= MOST) {
        error = set && advice != READ_MOSTLY && number == ADVICE_NONE ? cudaErrorInvalidDevice
                                                                      : cudaSuccess;
        if (advice < PREFERRED)
            a->read_mostly = set;
        else if (!error && advice < ACCESSED_BY)
            a->preferred = number;
        else if (!error)
            a->accessed_by = number;
    }
    device_leave();
    return give(error);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct location location,
                                 unsigned flags, cudaStream_t stream)
{
    (void)flags, (void)stream; /* nothing moves, so nothing has to wait */
    const int number = number_of(location);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    struct advice *a = number == ADVICE_NONE ? NULL : advice_of(pointer, bytes);
    if (a)
        a->fetched = number;
    device_leave();
    return give(a                       ? lasting_error()
                : number == ADVICE_NONE ? cudaErrorInvalidDevice
                                        : cudaErrorInvalidValue);
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute, const void *pointer,
                                     size_t count)
{
    enum { READ_MOSTLY = 1, PREFERRED, ACCESSED_BY, FETCHED };
    int value = ADVICE_NONE;
    if (!data || bytes == 0 || bytes % sizeof value != 0)
        return give(cudaErrorInvalidValue);
    if (!device_enter())
        return give(cudaErrorInitializationError);
    const struct advice *a = advice_of(pointer, count);
    if (a)
        value = attribute == READ_MOSTLY   ? a->read_mostly
                : attribute == PREFERRED   ? a->preferred
                : attribute == ACCESSED_BY ? a->accessed_by
                : attribute == FETCHED     ? a->fetched
                                           : ADVICE_NONE;
    device_leave();
    for (size_t at = 0; a && at < bytes; at += sizeof value) {
        memcpy((char *)data + at, &value, sizeof value);
        value = ADVICE_NONE; /* one device has access at most */
    }
    return give(a ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemRangeGetAttributes(void **data, const size_t *bytes, const int *attributes,
                                      size_t number, const void *pointer, size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < number && !error; i++)
        error = cudaMemRangeGetAttribute(data[i], bytes[i], attributes[i], pointer, count);
    return error;
}
