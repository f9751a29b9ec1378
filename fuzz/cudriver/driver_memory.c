/*
 * The CUDA driver: memory, copies, sets.
 */
#include "fuzz/cudart/operation.h"
#include "fuzz/cudriver/driver.h"

#include <stdlib.h>
#include <string.h>

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, cudaStream_t stream);
EXPORT CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags);
EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                                   unsigned element);
EXPORT CUresult cuMemAllocHost_v2(void **pointer, size_t bytes);
EXPORT CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host, unsigned flags);
EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer);
EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, cudaStream_t stream);
EXPORT CUresult cuMemFreeHost(void *pointer);
EXPORT CUresult cuMemGetInfo_v2(size_t *available, size_t *total);
EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *first, size_t *bytes, CUdeviceptr pointer);
EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream);
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                     cudaStream_t stream);
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, cudaStream_t stream);
EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                     cudaStream_t stream);
EXPORT CUresult cuPointerGetAttributes(unsigned count, const int *attributes, void **data,
                                       CUdeviceptr pointer);
EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer);
EXPORT CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer);

static void *at(CUdeviceptr pointer)
{
    return (void *)(uintptr_t)pointer;
}

/* ---- allocation ---- */

static CUresult allocate_for(void **pointer, size_t bytes, enum device_memory kind)
{
    CUresult error = driver_ready();
    if (!error && (!pointer || bytes == 0))
        error = CUDA_ERROR_INVALID_VALUE;
    return error ? error : driver_result(allocate(pointer, bytes, kind));
}

static CUresult allocate_at(CUdeviceptr *pointer, size_t bytes, enum device_memory kind)
{
    void *found = NULL;
    CUresult error = allocate_for(&found, bytes, kind);
    if (!error)
        *pointer = (uintptr_t)found;
    return error;
}

static CUresult free_for(const char *function, void *pointer)
{
    CUresult error = driver_ready();
    return error ? error : driver_result(release_now(function, pointer));
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    return allocate_at(pointer, bytes, DEVICE_MEMORY_DEVICE);
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, cudaStream_t stream)
{
    void *found = NULL;
    CUresult error = driver_ready();
    if (!error && (!pointer || bytes == 0))
        error = CUDA_ERROR_INVALID_VALUE;
    if (!error)
        error = driver_result(cudaMallocAsync(&found, bytes, stream));
    if (!error)
        *pointer = (uintptr_t)found;
    return error;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate_at(pointer, bytes, DEVICE_MEMORY_MANAGED);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                            unsigned element)
{
    (void)element;
    return allocate_at(pointer, pitched_bytes(pitch, PITCH_UNIT, width, height),
                       DEVICE_MEMORY_DEVICE);
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    return allocate_for(pointer, bytes, DEVICE_MEMORY_HOST);
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate_for(pointer, bytes, DEVICE_MEMORY_HOST);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host, unsigned flags)
{
    (void)flags;
    *pointer = (uintptr_t)host;
    return driver_ready();
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    return free_for("cuMemFree", at(pointer));
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, cudaStream_t stream)
{
    CUresult error = driver_ready();
    return error ? error : driver_result(cudaFreeAsync(at(pointer), stream));
}

CUresult cuMemFreeHost(void *pointer)
{
    return free_for("cuMemFreeHost", pointer);
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    *total = DEVICE_MEMORY_BYTES;
    *available = DEVICE_MEMORY_BYTES - memory_in_use();
    return driver_ready();
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *first, size_t *bytes, CUdeviceptr pointer)
{
    CUresult error = driver_ready();
    if (error || !device_enter())
        return error ? error : CUDA_ERROR_NOT_INITIALIZED;
    const struct allocation *a = allocation_of(at(pointer));
    if (a && first)
        *first = a->address;
    if (a && bytes)
        *bytes = a->bytes;
    device_leave();
    return a ? cudaSuccess : CUDA_ERROR_NOT_FOUND;
}

/* The kinds of memory, and where a pointer points. */
enum pointer_attribute {
    OF_CONTEXT = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    ORDINAL = 9,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    IS_MAPPED = 13
};

/* 0: the attribute is not known. */
static size_t attribute_of(const struct allocation *a, CUdeviceptr pointer, int attribute,
                           uint64_t *value)
{
    enum { HOST = 1, DEVICE = 2 };
    switch (attribute) {
    case OF_CONTEXT:
        *value = (uint64_t)(uintptr_t)driver_context();
        return sizeof *value;
    case DEVICE_POINTER:
    case HOST_POINTER:
        *value = pointer;
        return sizeof *value;
    case BUFFER_ID:
        *value = a->number;
        return sizeof *value;
    case RANGE_START:
        *value = a->address;
        return sizeof *value;
    case RANGE_SIZE:
        *value = a->bytes;
        return sizeof *value;
    case MEMORY_TYPE:
        *value = a->kind == DEVICE_MEMORY_HOST ? HOST : DEVICE;
        return sizeof(int);
    case IS_MANAGED:
        *value = a->kind == DEVICE_MEMORY_MANAGED;
        return sizeof(int);
    case SYNC_MEMOPS:
    case ORDINAL:
        *value = 0;
        return sizeof(int);
    case IS_MAPPED:
        *value = 1;
        return sizeof(int);
    default:
        return 0;
    }
}

CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer)
{
    uint64_t value = 0;
    CUresult error = driver_ready();
    if (error || !device_enter())
        return error ? error : CUDA_ERROR_NOT_INITIALIZED;
    const struct allocation *a = allocation_of(at(pointer));
    const size_t bytes = a ? attribute_of(a, pointer, attribute, &value) : 0;
    device_leave();
    memcpy(data, &value, bytes);
    return !a ? CUDA_ERROR_INVALID_VALUE : bytes ? cudaSuccess : CUDA_ERROR_NOT_SUPPORTED;
}

/* There is one that can be set, and it changes nothing: copies are done when they are asked for. */
CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer)
{
    uint64_t is;
    return value && attribute == SYNC_MEMOPS ? cuPointerGetAttribute(&is, attribute, pointer)
                                             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttributes(unsigned count, const int *attributes, void **data,
                                CUdeviceptr pointer)
{
    CUresult error = driver_ready();
    for (unsigned i = 0; i < count && !error; i++)
        error = cuPointerGetAttribute(data[i], attributes[i], pointer);
    return error;
}

/* ---- copies ---- */

static CUresult copy(const char *function, void *to, const void *from, size_t bytes, int kind)
{
    const struct operation o = copy_operation(function, to, from, bytes, kind);
    return driver_now(&o, cudaSuccess);
}

static CUresult copy_in(cudaStream_t stream, const char *function, void *to, const void *from,
                        size_t bytes, int kind)
{
    const struct operation o = copy_operation(function, to, from, bytes, kind);
    return driver_later(&o, cudaSuccess, stream);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpy", at(to), at(from), bytes, ANY_DIRECTION);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream)
{
    return copy_in(stream, "cuMemcpyAsync", at(to), at(from), bytes, ANY_DIRECTION);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy("cuMemcpyHtoD", at(to), from, bytes, HOST_TO_DEVICE);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpyDtoH", to, at(from), bytes, DEVICE_TO_HOST);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpyDtoD", at(to), at(from), bytes, DEVICE_TO_DEVICE);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, cudaStream_t stream)
{
    return copy_in(stream, "cuMemcpyHtoDAsync", at(to), from, bytes, HOST_TO_DEVICE);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, cudaStream_t stream)
{
    return copy_in(stream, "cuMemcpyDtoHAsync", to, at(from), bytes, DEVICE_TO_HOST);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream)
{
    return copy_in(stream, "cuMemcpyDtoDAsync", at(to), at(from), bytes, DEVICE_TO_DEVICE);
}

/* ---- sets ---- */

struct rows {
    size_t pitch, width, height; /* the width in elements */
};

static struct operation sets(const char *function, CUdeviceptr to, unsigned value, unsigned element,
                             struct rows rows)
{
    return (struct operation){
        .kind = NODE_SET,
        .function = function,
        .u.set = {at(to), rows.pitch, value, element, rows.width, rows.height}};
}

static CUresult set(const char *function, CUdeviceptr to, unsigned value, unsigned element,
                    struct rows rows)
{
    const struct operation o = sets(function, to, value, element, rows);
    return driver_now(&o, cudaSuccess);
}

static CUresult set_in(cudaStream_t stream, const char *function, CUdeviceptr to, unsigned value,
                       unsigned element, struct rows rows)
{
    const struct operation o = sets(function, to, value, element, rows);
    return driver_later(&o, cudaSuccess, stream);
}

/* Of each size: all, of a stream, of rows. */
#define SETS(bits, type)                                                                           \
    EXPORT CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count);                \
    EXPORT CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count,               \
                                           cudaStream_t stream);                                   \
    EXPORT CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, \
                                           size_t height);                                         \
    EXPORT CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value,             \
                                             size_t width, size_t height, cudaStream_t stream);    \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)                        \
    {                                                                                              \
        return set("cuMemsetD" #bits, to, value, bits / 8, (struct rows){0, count, 1});            \
    }                                                                                              \
    CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, cudaStream_t stream) \
    {                                                                                              \
        return set_in(stream, "cuMemsetD" #bits "Async", to, value, bits / 8,                      \
                      (struct rows){0, count, 1});                                                 \
    }                                                                                              \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,        \
                                    size_t height)                                                 \
    {                                                                                              \
        return set("cuMemsetD2D" #bits, to, value, bits / 8, (struct rows){pitch, width, height}); \
    }                                                                                              \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,      \
                                      size_t height, cudaStream_t stream)                          \
    {                                                                                              \
        return set_in(stream, "cuMemsetD2D" #bits "Async", to, value, bits / 8,                    \
                      (struct rows){pitch, width, height});                                        \
    }

SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)
