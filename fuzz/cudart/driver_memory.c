/*
 * The CUDA driver: memory, copies, sets.
 */
#include "fuzz/cudart/driver.h"

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
EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                cudaStream_t stream);
EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                                 cudaStream_t stream);
EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, cudaStream_t stream);
EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer);

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
    return error ? error : driver_result(release(function, pointer));
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    return allocate_at(pointer, bytes, DEVICE_MEMORY_DEVICE);
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return allocate_at(pointer, bytes, DEVICE_MEMORY_DEVICE);
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
    *pitch = (width + 511) / 512 * 512;
    return allocate_at(pointer, *pitch * height, DEVICE_MEMORY_DEVICE);
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
    (void)stream;
    return free_for("cuMemFreeAsync", at(pointer));
}

CUresult cuMemFreeHost(void *pointer)
{
    return free_for("cuMemFreeHost", pointer);
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    *available = *total = DEVICE_MEMORY_BYTES;
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
CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer)
{
    enum { MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, IS_MANAGED = 8, ORDINAL = 9 };
    enum { HOST = 1, DEVICE = 2 };
    CUresult error = driver_ready();
    if (error || !device_enter())
        return error ? error : CUDA_ERROR_NOT_INITIALIZED;
    const struct allocation *a = allocation_of(at(pointer));
    int number = attribute == MEMORY_TYPE  ? a && a->kind == DEVICE_MEMORY_HOST ? HOST : DEVICE
                 : attribute == IS_MANAGED ? a && a->kind == DEVICE_MEMORY_MANAGED
                                           : 0;
    device_leave();
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case MEMORY_TYPE:
    case IS_MANAGED:
    case ORDINAL:
        memcpy(data, &number, sizeof number);
        return cudaSuccess;
    case DEVICE_POINTER:
    case HOST_POINTER:
        memcpy(data, &pointer, sizeof pointer);
        return cudaSuccess;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- copies ---- */

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, ANY = 4 };

static CUresult copy(const char *function, void *to, const void *from, size_t bytes, int kind)
{
    CUresult error = driver_ready();
    return error ? error : driver_result(copy_of_kind(function, to, from, bytes, kind));
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpy", at(to), at(from), bytes, ANY);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return copy("cuMemcpyAsync", at(to), at(from), bytes, ANY);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy("cuMemcpyHtoD", at(to), from, bytes, TO_DEVICE);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpyDtoH", to, at(from), bytes, TO_HOST);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpyDtoD", at(to), at(from), bytes, ON_DEVICE);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return copy("cuMemcpyHtoDAsync", at(to), from, bytes, TO_DEVICE);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return copy("cuMemcpyDtoHAsync", to, at(from), bytes, TO_HOST);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return copy("cuMemcpyDtoDAsync", at(to), at(from), bytes, ON_DEVICE);
}

/* ---- sets ---- */

static CUresult set(const char *function, CUdeviceptr to, unsigned value, size_t size, size_t count)
{
    enum { CHUNK = 1 << 16 };
    char chunk[CHUNK];
    CUresult error = driver_ready();
    for (size_t i = 0; i < CHUNK; i += size)
        memcpy(chunk + i, &value, size);
    if (!error && to % size != 0)
        error = CUDA_ERROR_INVALID_VALUE;
    for (size_t done = 0; done < count * size && !error; done += CHUNK) {
        size_t left = count * size - done;
        error =
            driver_result(copy_memory(function, at(to + done), chunk, left < CHUNK ? left : CHUNK));
    }
    return error;
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return set("cuMemsetD8", to, value, 1, count);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count)
{
    return set("cuMemsetD16", to, value, 2, count);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count)
{
    return set("cuMemsetD32", to, value, 4, count);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, cudaStream_t stream)
{
    (void)stream;
    return set("cuMemsetD8Async", to, value, 1, count);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, cudaStream_t stream)
{
    (void)stream;
    return set("cuMemsetD16Async", to, value, 2, count);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, cudaStream_t stream)
{
    (void)stream;
    return set("cuMemsetD32Async", to, value, 4, count);
}
