/*
 * Errors, streams, events, the device. All work is done when it is asked for, so there is nothing to wait for.
 */
#include "fuzz/cudart/cudart.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- errors ---- */

static __thread cudaError_t last;
static cudaError_t lasting;

cudaError_t give(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

cudaError_t give_lasting(cudaError_t error)
{
    lasting = error;
    return cudaSuccess; /* the launch itself went well */
}

cudaError_t lasting_error(void)
{
    return lasting;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {26, "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {209, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {801, "cudaErrorNotSupported", "operation not supported"},
};

EXPORT cudaError_t cudaGetLastError(void);
EXPORT cudaError_t cudaPeekAtLastError(void);
EXPORT const char *cudaGetErrorName(cudaError_t error);
EXPORT const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaPeekAtLastError(void)
{
    return lasting ? lasting : last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last = cudaSuccess;
    return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
}

/* ---- functions that have nothing to do ---- */

#define DONE(name, ...)                                                                            \
    EXPORT cudaError_t name(__VA_ARGS__);                                                          \
    cudaError_t name(__VA_ARGS__)                                                                  \
    {                                                                                              \
        return give(lasting_error());                                                              \
    }

DONE(cudaDeviceSynchronize, void)
DONE(cudaDeviceReset, void)
DONE(cudaInitDevice, void)
DONE(cudaDeviceSetCacheConfig, void)
DONE(cudaDeviceSetLimit, void)
DONE(cudaSetDeviceFlags, void)
DONE(cudaFuncSetCacheConfig, void)
DONE(cudaFuncSetAttribute, void)
DONE(cudaProfilerStart, void)
DONE(cudaProfilerStop, void)
DONE(cudaMemPrefetchAsync, void)
DONE(cudaMemAdvise, void)
DONE(cudaStreamDestroy, void)
DONE(cudaStreamSynchronize, void)
DONE(cudaStreamQuery, void)
DONE(cudaStreamWaitEvent, void)
DONE(cudaStreamAttachMemAsync, void)
DONE(cudaCtxResetPersistingL2Cache, void)

/* ---- streams ---- */

static cudaError_t new_stream(cudaStream_t *stream)
{
    static uint32_t count = 16; /* below are the default streams */
    if (!stream)
        return give(cudaErrorInvalidValue);
    *stream = (cudaStream_t)(uintptr_t)__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return give(lasting_error());
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status)
{
    (void)stream;
    *status = 0; /* there are no graphs */
    return give(lasting_error());
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream);

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return new_stream(stream);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    return new_stream(stream);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)flags, (void)priority;
    return new_stream(stream);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return give(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data)
{
    (void)stream;
    cudaError_t error = lasting_error();
    if (!error)
        function(data);
    return give(error);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  void (*callback)(cudaStream_t, cudaError_t, void *), void *data,
                                  unsigned flags)
{
    (void)flags;
    callback(stream, lasting_error(), data);
    return give(cudaSuccess);
}

/* ---- events ---- */

struct event {
    struct timespec time;
};

EXPORT cudaError_t cudaEventCreate(struct event **event);

cudaError_t cudaEventCreate(struct event **event)
{
    *event = calloc(1, sizeof **event);
    return give(*event ? lasting_error() : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventCreateWithFlags(struct event **event, unsigned flags)
{
    (void)flags;
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(struct event *event)
{
    free(event);
    return give(lasting_error());
}

cudaError_t cudaEventRecord(struct event *event, cudaStream_t stream)
{
    (void)stream;
    if (!event)
        return give(cudaErrorInvalidResourceHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    return give(lasting_error());
}

cudaError_t cudaEventRecordWithFlags(struct event *event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(const struct event *event)
{
    return give(event ? lasting_error() : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(const struct event *event)
{
    return give(event ? lasting_error() : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, const struct event *start,
                                 const struct event *end)
{
    if (!start || !end)
        return give(cudaErrorInvalidResourceHandle);
    double seconds = (double)(end->time.tv_sec - start->time.tv_sec);
    double nano = (double)(end->time.tv_nsec - start->time.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nano / 1e6);
    return give(lasting_error());
}

/* ---- the device ---- */

EXPORT cudaError_t cudaGetDeviceCount(int *count);
EXPORT cudaError_t cudaGetDevice(int *device);
EXPORT cudaError_t cudaSetDevice(int device);
EXPORT cudaError_t cudaGetDeviceProperties(void *properties, int device);
EXPORT cudaError_t cudaRuntimeGetVersion(int *version);
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int threads, size_t shared, unsigned flags);
EXPORT cudaError_t cudaFuncGetAttributes(void *attributes, const void *function);
EXPORT cudaError_t cudaPointerGetAttributes(void *attributes, const void *pointer);

enum { RUNTIME = 13000, RESIDENT = 2048, MAJOR = 8, MINOR = 0 };

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return give(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return give(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
    return give(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

/* Where the members of cudaDeviceProp lie that programs ask for (CUDA 13); the others are 0. */
static const struct {
    uint16_t offset, bytes;
    uint64_t value;
} members[] = {
    {288, 8, DEVICE_MEMORY_BYTES}, /* totalGlobalMem */
    {296, 8, 48 << 10},            /* sharedMemPerBlock */
    {304, 4, 65536},               /* regsPerBlock */
    {308, 4, 32},                  /* warpSize */
    {312, 8, INT32_MAX},           /* memPitch */
    {320, 4, 1024},                /* maxThreadsPerBlock */
    {324, 4, 1024},                /* maxThreadsDim */
    {328, 4, 1024},
    {332, 4, 64},
    {336, 4, INT32_MAX}, /* maxGridSize */
    {340, 4, 65535},
    {344, 4, 65535},
    {352, 8, 65536}, /* totalConstMem */
    {360, 4, MAJOR},
    {364, 4, MINOR},
    {368, 8, 512},       /* textureAlignment */
    {384, 4, 1},         /* multiProcessorCount */
    {392, 4, 1},         /* canMapHostMemory */
    {588, 4, 1},         /* unifiedAddressing */
    {604, 4, RESIDENT},  /* maxThreadsPerMultiProcessor */
    {624, 8, 164 << 10}, /* sharedMemPerMultiprocessor */
    {632, 4, 65536},     /* regsPerMultiprocessor */
    {636, 4, 1},         /* managedMemory */
    {656, 4, 1},         /* concurrentManagedAccess */
    {668, 4, 1},         /* cooperativeLaunch */
    {672, 8, 163 << 10}, /* sharedMemPerBlockOptin */
    {688, 4, 32},        /* maxBlocksPerMultiProcessor */
};

cudaError_t cudaGetDeviceProperties(void *properties, int device)
{
    enum { BYTES = 1008 };
    if (device != 0 || !properties)
        return give(cudaErrorInvalidDevice);
    memset(properties, 0, BYTES);
    strcpy(properties, "simtfuzz");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        memcpy((char *)properties + members[i].offset, &members[i].value, members[i].bytes);
    return give(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } known[] = {{1, 1024},       {2, 1024},   {3, 1024},     {4, 64},        {5, INT32_MAX},
                 {6, 65535},      {7, 65535},  {8, 49152},    {9, 65536},     {10, 32},
                 {11, INT32_MAX}, {12, 65536}, {13, 1000000}, {16, 1},        {18, 0},
                 {19, 1},         {31, 0},     {38, 0},       {39, RESIDENT}, {41, 1},
                 {75, MAJOR},     {76, MINOR}, {81, 167936},  {82, 65536},    {83, 1},
                 {89, 1},         {95, 1},     {97, 166912},  {106, 32}};
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    return give(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = RUNTIME;
    return give(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = RUNTIME;
    return give(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared)
{
    (void)function, (void)shared;
    *blocks = threads > 0 && threads <= 1024 ? RESIDENT / threads : 0;
    *blocks = *blocks > 32 ? 32 : *blocks;
    return give(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function,
                                                                   int threads, size_t shared,
                                                                   unsigned flags)
{
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

cudaError_t cudaFuncGetAttributes(void *attributes, const void *function)
{
    enum { BYTES = 144, MAX_THREADS = 24, REGISTERS = 28, MAX_DYNAMIC = 44 };
    const int values[] = {1024, 32, 48 << 10};
    (void)function;
    memset(attributes, 0, BYTES);
    memcpy((char *)attributes + MAX_THREADS, &values[0], sizeof values[0]);
    memcpy((char *)attributes + REGISTERS, &values[1], sizeof values[1]);
    memcpy((char *)attributes + MAX_DYNAMIC, &values[2], sizeof values[2]);
    return give(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(void *attributes, const void *pointer)
{
    struct {
        int type, device;
        const void *on_device, *on_host;
        long reserved[8];
    } given = {0};
    static const int types[] = {2, 3, 1, 2}; /* by enum device_memory: device, managed, host */
    if (!device_enter())
        return give(cudaErrorInitializationError);
    const struct allocation *a = allocation_of(pointer);
    if (a) {
        given.type = types[a->kind];
        given.on_device = pointer;
        given.on_host = a->mapped ? pointer : NULL;
    }
    device_leave();
    memcpy(attributes, &given, sizeof given);
    return give(cudaSuccess);
}
