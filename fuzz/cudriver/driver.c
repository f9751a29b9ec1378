/*
 * The CUDA driver: start, device, contexts, streams, events, errors, and where a function is.
 */
#include "fuzz/cudriver/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct context {
    unsigned flags;
    uint64_t number;
};

enum { STACK = 64, VERSION_3 = 11040, VERSION_12 = 12000, VERSION_4 = 13000 };

static bool initialised;
static uint64_t contexts; /* that were created */
static struct context primary;
static __thread struct context *stack[STACK]; /* the last one is current */
static __thread unsigned depth;

void use_driver(void)
{
    initialised = true;
    if (depth == 0)
        stack[depth++] = &primary;
}

CUresult driver_ready(void)
{
    if (!initialised && !modules_are_registered())
        return CUDA_ERROR_NOT_INITIALIZED;
    if ((depth == 0 || !stack[depth - 1]) && !modules_are_registered())
        return CUDA_ERROR_INVALID_CONTEXT;
    return lasting_error();
}

CUresult driver_result(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDevicePointer:
        return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_INVALID_HANDLE;
    default:
        return error;
    }
}

/* ---- the device ---- */

EXPORT CUresult cuInit(unsigned flags);
EXPORT CUresult cuDriverGetVersion(int *version);
EXPORT CUresult cuDeviceGetCount(int *count);
EXPORT CUresult cuDeviceGet(int *device, int ordinal);
EXPORT CUresult cuDeviceGetName(char *name, int room, int device);
EXPORT CUresult cuDeviceGetUuid_v2(void *uuid, int device);
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, int device);
EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, int device);

CUresult cuInit(unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    initialised = true;
    return cudaSuccess;
}

CUresult cuDriverGetVersion(int *version)
{
    return version ? cudaDriverGetVersion(version) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult of_device(int device)
{
    return !initialised && !modules_are_registered() ? CUDA_ERROR_NOT_INITIALIZED
           : device == 0                             ? cudaSuccess
                                                     : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return of_device(0);
}

CUresult cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return of_device(ordinal);
}

CUresult cuDeviceGetName(char *name, int room, int device)
{
    if (room <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)room, "simtfuzz");
    return of_device(device);
}

CUresult cuDeviceGetUuid_v2(void *uuid, int device)
{
    memcpy(uuid, "simtfuzz, device", 16);
    return of_device(device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = DEVICE_MEMORY_BYTES;
    return of_device(device);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int device)
{
    CUresult error = of_device(device);
    return error ? error : cudaDeviceGetAttribute(value, attribute, 0);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, int device)
{
    enum { MAJOR = 75, MINOR = 76 };
    CUresult error = cuDeviceGetAttribute(major, MAJOR, device);
    return error ? error : cuDeviceGetAttribute(minor, MINOR, device);
}

/* ---- contexts ---- */

EXPORT CUresult cuCtxCreate_v2(struct context **context, unsigned flags, int device);
EXPORT CUresult cuCtxCreate_v3(struct context **context, void *affinity, int count, unsigned flags,
                               int device);
EXPORT CUresult cuCtxCreate_v4(struct context **context, void *parameters, unsigned flags,
                               int device);
EXPORT CUresult cuCtxDestroy_v2(struct context *context);
EXPORT CUresult cuCtxPushCurrent_v2(struct context *context);
EXPORT CUresult cuCtxPopCurrent_v2(struct context **context);
EXPORT CUresult cuCtxSetCurrent(struct context *context);
EXPORT CUresult cuCtxGetCurrent(struct context **context);
EXPORT CUresult cuCtxGetDevice(int *device);
EXPORT CUresult cuCtxGetFlags(unsigned *flags);
EXPORT CUresult cuCtxGetId(struct context *context, unsigned long long *number);
EXPORT CUresult cuCtxEnablePeerAccess(struct context *context, unsigned flags);
EXPORT CUresult cuCtxDisablePeerAccess(struct context *context);
EXPORT CUresult cuStreamGetCtx(cudaStream_t stream, struct context **context);
EXPORT CUresult cuCtxGetApiVersion(struct context *context, unsigned *version);
EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
EXPORT CUresult cuDevicePrimaryCtxRetain(struct context **context, int device);
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(int device);
EXPORT CUresult cuDevicePrimaryCtxReset_v2(int device);
EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
EXPORT CUresult cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);

CUresult cuCtxPushCurrent_v2(struct context *context)
{
    if (!initialised || depth == STACK)
        return initialised ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NOT_INITIALIZED;
    stack[depth++] = context;
    return cudaSuccess;
}

CUresult cuCtxPopCurrent_v2(struct context **context)
{
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return cudaSuccess;
}

CUresult cuCtxCreate_v2(struct context **context, unsigned flags, int device)
{
    CUresult error = of_device(device);
    if (error)
        return error;
    *context = calloc(1, sizeof **context);
    if (!*context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    **context = (struct context){flags, ++contexts};
    return cuCtxPushCurrent_v2(*context);
}

CUresult cuCtxCreate_v3(struct context **context, void *affinity, int count, unsigned flags,
                        int device)
{
    (void)affinity, (void)count;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxCreate_v4(struct context **context, void *parameters, unsigned flags, int device)
{
    (void)parameters;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(struct context *context)
{
    if (!context || context == &primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    for (unsigned i = 0; i < depth; i++)
        if (stack[i] == context)
            stack[i] = NULL;
    depth -= depth > 0 && !stack[depth - 1];
    free(context);
    return cudaSuccess;
}

CUresult cuCtxSetCurrent(struct context *context)
{
    if (depth > 0)
        depth--;
    return context ? cuCtxPushCurrent_v2(context) : cudaSuccess;
}

CUresult cuCtxGetCurrent(struct context **context)
{
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return initialised ? cudaSuccess : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuCtxGetDevice(int *device)
{
    *device = 0;
    return driver_ready();
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    *flags = depth > 0 && stack[depth - 1] ? stack[depth - 1]->flags : 0;
    return driver_ready();
}

struct context *driver_context(void)
{
    return depth > 0 && stack[depth - 1] ? stack[depth - 1] : &primary;
}

CUresult cuCtxGetId(struct context *context, unsigned long long *number)
{
    *number = (context ? context : driver_context())->number;
    return driver_ready();
}

/* All contexts are of one device. */
CUresult cuCtxEnablePeerAccess(struct context *context, unsigned flags)
{
    (void)flags;
    return context ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxDisablePeerAccess(struct context *context)
{
    return context ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuStreamGetCtx(cudaStream_t stream, struct context **context)
{
    (void)stream;
    *context = driver_context();
    return driver_ready();
}

CUresult cuCtxGetApiVersion(struct context *context, unsigned *version)
{
    (void)context;
    *version = 3020;
    return driver_ready();
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    return cudaDeviceGetStreamPriorityRange(least, greatest);
}

CUresult cuDevicePrimaryCtxRetain(struct context **context, int device)
{
    *context = &primary;
    return of_device(device);
}

CUresult cuDevicePrimaryCtxRelease_v2(int device)
{
    return of_device(device);
}

CUresult cuDevicePrimaryCtxReset_v2(int device)
{
    return of_device(device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    primary.flags = flags;
    return of_device(device);
}

CUresult cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = primary.flags;
    *active = 1;
    return of_device(device);
}

/* ---- functions that have nothing to do: all work is done when it is asked for ---- */

#define DONE(name)                                                                                 \
    EXPORT CUresult name(void);                                                                    \
    CUresult name(void)                                                                            \
    {                                                                                              \
        return driver_ready();                                                                     \
    }

DONE(cuCtxSetCacheConfig)
DONE(cuCtxSetSharedMemConfig)
DONE(cuCtxSetFlags)
DONE(cuCtxResetPersistingL2Cache)
DONE(cuFuncSetCacheConfig)
DONE(cuFuncSetSharedMemConfig)
DONE(cuKernelSetCacheConfig)
DONE(cuFuncLoad)
DONE(cuStreamAttachMemAsync)
DONE(cuProfilerStart)
DONE(cuProfilerStop)
DONE(cuStreamSetAttribute)
DONE(cuStreamCopyAttributes)
DONE(cuMemPoolSetAccess)
DONE(cuMemPoolTrimTo)
DONE(cuMemPoolDestroy)
DONE(cuDeviceSetMemPool)
DONE(cuDeviceGraphMemTrim)

/* ---- streams, events ---- */

EXPORT CUresult cuCtxSynchronize(void);
EXPORT CUresult cuCtxSynchronize_v2(const struct context *context);
EXPORT CUresult cuStreamDestroy_v2(cudaStream_t stream);
EXPORT CUresult cuStreamSynchronize(cudaStream_t stream);
EXPORT CUresult cuStreamQuery(cudaStream_t stream);
EXPORT CUresult cuStreamWaitEvent(cudaStream_t stream, const struct event *event, unsigned flags);
EXPORT CUresult cuStreamCreate(cudaStream_t *stream, unsigned flags);
EXPORT CUresult cuStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
EXPORT CUresult cuStreamAddCallback(cudaStream_t stream,
                                    void (*callback)(cudaStream_t, cudaError_t, void *), void *data,
                                    unsigned flags);
EXPORT CUresult cuLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data);
EXPORT CUresult cuEventCreate(struct event **event, unsigned flags);
EXPORT CUresult cuEventDestroy_v2(struct event *event);
EXPORT CUresult cuEventRecord(struct event *event, cudaStream_t stream);
EXPORT CUresult cuEventRecordWithFlags(struct event *event, cudaStream_t stream, unsigned flags);
EXPORT CUresult cuEventSynchronize(const struct event *event);
EXPORT CUresult cuEventQuery(const struct event *event);
EXPORT CUresult cuEventElapsedTime(float *milliseconds, const struct event *start,
                                   const struct event *end);
EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, const struct event *start,
                                      const struct event *end);

/* What the runtime has under another name. */
#define SAME(name, runtime, types, arguments)                                                      \
    CUresult name types                                                                            \
    {                                                                                              \
        CUresult error = driver_ready();                                                           \
        return error ? error : driver_result(runtime arguments);                                   \
    }

SAME(cuCtxSynchronize, cudaDeviceSynchronize, (void), ())
SAME(cuStreamDestroy_v2, cudaStreamDestroy, (cudaStream_t stream), (stream))
SAME(cuStreamSynchronize, cudaStreamSynchronize, (cudaStream_t stream), (stream))
SAME(cuStreamQuery, cudaStreamQuery, (cudaStream_t stream), (stream))
SAME(cuStreamWaitEvent, cudaStreamWaitEvent,
     (cudaStream_t stream, const struct event *event, unsigned flags), (stream, event, flags))
SAME(cuStreamCreate, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
     (stream, flags))
SAME(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority))
SAME(cuStreamAddCallback, cudaStreamAddCallback,
     (cudaStream_t stream, void (*callback)(cudaStream_t, cudaError_t, void *), void *data,
      unsigned flags),
     (stream, callback, data, flags))
SAME(cuLaunchHostFunc, cudaLaunchHostFunc,
     (cudaStream_t stream, void (*function)(void *), void *data), (stream, function, data))
SAME(cuEventCreate, cudaEventCreateWithFlags, (struct event * *event, unsigned flags),
     (event, flags))
SAME(cuEventDestroy_v2, cudaEventDestroy, (struct event * event), (event))
SAME(cuEventRecord, cudaEventRecord, (struct event * event, cudaStream_t stream), (event, stream))
SAME(cuEventRecordWithFlags, cudaEventRecordWithFlags,
     (struct event * event, cudaStream_t stream, unsigned flags), (event, stream, flags))
SAME(cuEventSynchronize, cudaEventSynchronize, (const struct event *event), (event))
SAME(cuEventQuery, cudaEventQuery, (const struct event *event), (event))
SAME(cuEventElapsedTime, cudaEventElapsedTime,
     (float *milliseconds, const struct event *start, const struct event *end),
     (milliseconds, start, end))
SAME(cuEventElapsedTime_v2, cudaEventElapsedTime,
     (float *milliseconds, const struct event *start, const struct event *end),
     (milliseconds, start, end))

CUresult cuCtxSynchronize_v2(const struct context *context)
{
    return context ? cuCtxSynchronize() : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- errors ---- */

EXPORT CUresult cuGetErrorName(CUresult error, const char **name);
EXPORT CUresult cuGetErrorString(CUresult error, const char **text);

static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static CUresult describe(CUresult error, bool name, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error) {
            *text = name ? errors[i].name : errors[i].text;
            return cudaSuccess;
        }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    return describe(error, true, name);
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    return describe(error, false, text);
}

/* ---- where a function is ---- */

EXPORT CUresult cuGetExportTable(const void **table, const void *uuid);

/* Tables that no document describes: libraries of NVIDIA's ask for them, and go on without. */
CUresult cuGetExportTable(const void **table, const void *uuid)
{
    (void)uuid;
    if (table)
        *table = NULL;
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);

/* The newest that the version of the interface which is asked for has. */
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                             int *status)
{
    enum { FOUND = 0, NOT_FOUND = 1 };
    static void *own;
    char name[256];
    Dl_info info;
    (void)flags;
    if (!own && dladdr((void *)(uintptr_t)cuInit, &info))
        own = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (strcmp(symbol, "cuGraphInstantiate") == 0 && version >= VERSION_12)
        symbol = "cuGraphInstantiateWithFlags";
    int newest = strcmp(symbol, "cuCtxCreate") != 0 || version >= VERSION_4 ? 4
                 : version >= VERSION_3                                     ? 3
                                                                            : 2;
    *function = NULL;
    for (; own && !*function && newest >= 2; newest--) {
        snprintf(name, sizeof name, "%s_v%d", symbol, newest);
        *function = dlsym(own, name);
    }
    if (own && !*function)
        *function = dlsym(own, symbol);
    if (status)
        *status = *function ? FOUND : NOT_FOUND;
    return *function ? cudaSuccess : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
