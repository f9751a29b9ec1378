/*
 * The device: its properties, what it has room for, and what is known of a kernel or a pointer.
 */
#include "fuzz/cudart/cudart.h"

#include <stdio.h>
#include <string.h>

EXPORT cudaError_t cudaGetDeviceCount(int *count);
EXPORT cudaError_t cudaGetDevice(int *device);
EXPORT cudaError_t cudaSetDevice(int device);
EXPORT cudaError_t cudaGetDeviceProperties(void *properties, int device);
EXPORT cudaError_t cudaRuntimeGetVersion(int *version);
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int threads, size_t shared, unsigned flags);
EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function,
                                                             int blocks, int threads);
EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                        const void *config);
EXPORT cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *function,
                                                  const void *config);
EXPORT cudaError_t cudaFuncGetName(const char **name, const void *function);
EXPORT cudaError_t cudaFuncGetParamInfo(const void *function, size_t number, size_t *at,
                                        size_t *bytes);
EXPORT cudaError_t cudaFuncGetAttributes(void *attributes, const void *function);
EXPORT cudaError_t cudaPointerGetAttributes(void *attributes, const void *pointer);

enum { RUNTIME = 13000, RESIDENT = 2048, BLOCKS = 32, MAJOR = 8, MINOR = 0 };

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
    {368, 8, 512},    /* textureAlignment */
    {376, 8, 32},     /* texturePitchAlignment */
    {384, 4, 1},      /* multiProcessorCount */
    {392, 4, 1},      /* canMapHostMemory */
    {396, 4, 131072}, /* maxTexture1D */
    {404, 4, 131072}, /* maxTexture2D */
    {408, 4, 65536},
    {420, 4, 131072}, /* maxTexture2DLinear */
    {424, 4, 65000},
    {428, 4, 2097120},
    {440, 4, 16384}, /* maxTexture3D */
    {444, 4, 16384},
    {448, 4, 16384},
    {496, 4, 32768},  /* maxSurface1D */
    {500, 4, 131072}, /* maxSurface2D */
    {504, 4, 65536},
    {552, 8, 512},          /* surfaceAlignment */
    {560, 4, 1},            /* concurrentKernels */
    {584, 4, 1},            /* asyncEngineCount */
    {588, 4, 1},            /* unifiedAddressing */
    {592, 4, 256},          /* memoryBusWidth: programs divide by it, and by the next one */
    {596, 4, 4 << 20},      /* l2CacheSize */
    {604, 4, RESIDENT},     /* maxThreadsPerMultiProcessor */
    {624, 8, 164 << 10},    /* sharedMemPerMultiprocessor */
    {632, 4, 65536},        /* regsPerMultiprocessor */
    {636, 4, 1},            /* managedMemory */
    {704, 4, 1},            /* hostRegisterSupported */
    {720, 4, 1},            /* memoryPoolsSupported */
    {656, 4, 1},            /* concurrentManagedAccess */
    {668, 4, 1},            /* cooperativeLaunch */
    {672, 8, SHARED_OPTIN}, /* sharedMemPerBlockOptin */
    {688, 4, 32},           /* maxBlocksPerMultiProcessor */
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
    } known[] = {{1, 1024},       {2, 1024},    {3, 1024},      {4, 64},    {5, INT32_MAX},
                 {6, 65535},      {7, 65535},   {8, 49152},     {9, 65536}, {10, 32},
                 {11, INT32_MAX}, {12, 65536},  {13, 1000000},  {16, 1},    {18, 0},
                 {19, 1},         {31, 1},      {36, 1000000},  {37, 256},  {38, 4 << 20},
                 {40, 1},         {115, 1},     {39, RESIDENT}, {41, 1},    {75, MAJOR},
                 {76, MINOR},     {81, 167936}, {82, 65536},    {83, 1},    {89, 1},
                 {95, 1},         {97, 166912}, {106, 32}};
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

/* ---- kernels ---- */

enum { SHARED_ALL = 164 << 10, SHARED_KEPT = 1 << 10 /* for the system, of each block */ };

/* Blocks of so many threads and bytes of dynamic shared memory that are there at a time. */
static int resident(const struct kernel *kernel, int threads, size_t shared)
{
    if (threads <= 0 || (uint32_t)threads > kernel->device.most_threads)
        return 0;
    const int by_threads = RESIDENT / threads;
    const size_t bytes = kernel->device.shared_bytes + shared;
    const size_t by_shared = SHARED_ALL / (bytes + SHARED_KEPT);
    const int blocks = by_threads > BLOCKS ? BLOCKS : by_threads;
    return by_shared < (size_t)blocks ? (int)by_shared : blocks;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t shared)
{
    struct kernel *kernel = know_kernel(function);
    if (!kernel)
        return give(cudaErrorInvalidDeviceFunction);
    *blocks = resident(kernel, threads, shared);
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

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *function,
                                                      int blocks, int threads)
{
    const struct kernel *kernel = know_kernel(function);
    if (!kernel || blocks <= 0 || blocks > resident(kernel, threads, 0))
        return give(kernel ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    const size_t each = SHARED_ALL / (size_t)blocks - SHARED_KEPT;
    const size_t most = each > SHARED_OPTIN ? SHARED_OPTIN : each;
    *shared = most - kernel->device.shared_bytes;
    return give(cudaSuccess);
}

/* A cluster has up to eight blocks. */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                 const void *config)
{
    (void)config;
    *size = 8;
    return give(know_kernel(function) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *function, const void *config)
{
    struct device_launch launch = {.cluster = {1, 1, 1}};
    const struct kernel *kernel = know_kernel(function);
    dim3 block;
    size_t shared;
    if (!kernel)
        return give(cudaErrorInvalidDeviceFunction);
    memcpy(&block, (const char *)config + 12, sizeof block);
    memcpy(&shared, (const char *)config + 24, sizeof shared);
    device_read_attributes(config, &launch);
    const uint32_t size = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
    if (size == 0 || size > 8)
        return give(cudaErrorInvalidValue);
    *count = resident(kernel, (int)(block.x * block.y * block.z), shared) / (int)size;
    return give(cudaSuccess);
}

/* Members of cudaFuncAttributes; the numbers of the driver's attributes are their places. */
cudaError_t cudaFuncGetAttributes(void *attributes, const void *function)
{
    enum { BYTES = 144, SHARED = 0, MOST_THREADS = 24, REGISTERS = 28, PTX = 32, BINARY = 36 };
    enum { MOST_DYNAMIC = 44 };
    const struct kernel *kernel = know_kernel(function);
    if (!kernel)
        return give(cudaErrorInvalidDeviceFunction);
    const struct {
        int at, value;
    } values[] = {{MOST_THREADS, (int)kernel->device.most_threads},
                  {REGISTERS, 32},
                  {PTX, MAJOR * 10 + MINOR},
                  {BINARY, MAJOR * 10 + MINOR},
                  {MOST_DYNAMIC, (int)most_dynamic(kernel)}};
    const size_t shared = kernel->device.shared_bytes;
    memset(attributes, 0, BYTES);
    memcpy((char *)attributes + SHARED, &shared, sizeof shared);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        memcpy((char *)attributes + values[i].at, &values[i].value, sizeof values[i].value);
    return give(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    enum { MOST_DYNAMIC = 8 };
    struct kernel *kernel = know_kernel(function);
    if (!kernel)
        return give(cudaErrorInvalidDeviceFunction);
    if (attribute != MOST_DYNAMIC)
        return give(lasting_error());
    if (value < 0 || (uint32_t)value > SHARED_OPTIN - kernel->device.shared_bytes)
        return give(cudaErrorInvalidValue);
    kernel->most_dynamic = (uint32_t)value;
    return give(lasting_error());
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    const struct kernel *kernel = find_kernel(function);
    if (!kernel)
        return give(cudaErrorInvalidDeviceFunction);
    *name = kernel->name;
    return give(cudaSuccess);
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t number, size_t *at, size_t *bytes)
{
    const struct kernel *kernel = know_kernel(function);
    if (!kernel || number >= kernel->device.parameter_count)
        return give(kernel ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    if (at)
        *at = kernel->device.offsets[number];
    if (bytes)
        *bytes = kernel->device.sizes[number];
    return give(cudaSuccess);
}

/* ---- pointers ---- */

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

/* ---- what programs ask of a device, and that of the only one ---- */

EXPORT cudaError_t cudaDeviceSetLimit(int limit, size_t value);
EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, int limit);
EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags);
EXPORT cudaError_t cudaChooseDevice(int *device, const void *properties);
EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int device);
EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text);
EXPORT cudaError_t cudaDeviceGetCacheConfig(int *config);
EXPORT cudaError_t cudaDeviceGetSharedMemConfig(int *config);
EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer);
EXPORT cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to);
EXPORT cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int attribute, void *value);

enum { LIMIT_HEAP = 2, LIMITS = 7 };

/* stack, printf, heap, depth and number of launches by kernels, L2: only the heap's means something here. */
static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

cudaError_t cudaDeviceGetLimit(size_t *value, int limit)
{
    if (!value || limit < 0 || limit >= LIMITS)
        return give(cudaErrorInvalidValue);
    *value = limits[limit];
    return give(cudaSuccess);
}

cudaError_t cudaDeviceSetLimit(int limit, size_t value)
{
    const uint64_t bytes = value;
    uint32_t error = cudaSuccess;
    if (limit < 0 || limit >= LIMITS)
        return give(cudaErrorInvalidValue);
    if (limit == LIMIT_HEAP) {
        if (!device_enter())
            return give(cudaErrorInitializationError);
        device_tell(DEVICE_HEAP, &bytes, sizeof bytes, NULL, 0);
        if (!device_hear(&error, sizeof error))
            error = cudaErrorInitializationError;
        device_leave();
    }
    if (error == cudaSuccess)
        limits[limit] = value;
    return give((cudaError_t)error);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    enum { MAP_HOST = 8 };
    *flags = MAP_HOST;
    return give(cudaSuccess);
}

cudaError_t cudaChooseDevice(int *device, const void *properties)
{
    (void)properties;
    return cudaGetDevice(device);
}

static const char bus[] = "0000:00:00.0";

cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int device)
{
    if (device != 0 || !text || room < (int)sizeof bus)
        return give(device != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    memcpy(text, bus, sizeof bus);
    return give(cudaSuccess);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    *device = 0;
    return give(strcmp(text, bus) == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetCacheConfig(int *config)
{
    *config = 0;
    return give(cudaSuccess);
}

cudaError_t cudaDeviceGetSharedMemConfig(int *config)
{
    *config = 1; /* banks of four bytes */
    return give(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = 0;
    return give(device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return give(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return give(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to)
{
    (void)attribute, (void)from, (void)to;
    *value = 0;
    return give(cudaErrorInvalidDevice); /* of two devices that differ */
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int attribute, void *value)
{
    enum { PRIORITY = 8 };
    memset(value, 0, DEVICE_ATTRIBUTE_VALUE);
    return attribute == PRIORITY ? cudaStreamGetPriority(stream, value) : give(cudaSuccess);
}
