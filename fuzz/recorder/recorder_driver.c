/*
 * The driver's functions that are recorded: memory and launches; also those of a default stream for each thread.
 */
#include "fuzz/recorder/recorder.h"

EXPORT cudaError_t cuCtxSynchronize(void);
EXPORT cudaError_t cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
EXPORT cudaError_t cuGetErrorString(cudaError_t error, const char **text);
EXPORT cudaError_t cuStreamIsCapturing(cudaStream_t stream, int *status);

static cudaError_t wait_for_context(void)
{
    return NEXT(cuCtxSynchronize)();
}

static cudaError_t copy_out(void *to, uint64_t from, size_t bytes)
{
    return NEXT(cuMemcpyDtoH_v2)(to, from, bytes);
}

static const char *explain(cudaError_t error)
{
    const char *text = NULL;
    return NEXT(cuGetErrorString)(error, &text) == 0 && text ? text : "an unknown error";
}

static bool is_captured(cudaStream_t stream)
{
    int status = 0;
    return NEXT(cuStreamIsCapturing)(stream, &status) == 0 && status != 0;
}

static const struct interface driver = {wait_for_context, copy_out, explain, is_captured};

/* ---- memory ---- */

ALLOCATES(cuMemAlloc_v2, (uint64_t * pointer, size_t bytes), (pointer, bytes), *pointer, bytes,
          DEVICE_MEMORY_DEVICE)
ALLOCATES(cuMemAllocPitch_v2,
          (uint64_t * pointer, size_t *pitch, size_t width, size_t height, unsigned element),
          (pointer, pitch, width, height, element), *pointer, *pitch *height, DEVICE_MEMORY_DEVICE)
ALLOCATES(cuMemAllocManaged, (uint64_t * pointer, size_t bytes, unsigned flags),
          (pointer, bytes, flags), *pointer, bytes, DEVICE_MEMORY_MANAGED)
ALLOCATES(cuMemAllocAsync, (uint64_t * pointer, size_t bytes, cudaStream_t stream),
          (pointer, bytes, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cuMemAllocAsync_ptsz, (uint64_t * pointer, size_t bytes, cudaStream_t stream),
          (pointer, bytes, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cuMemAllocFromPoolAsync,
          (uint64_t * pointer, size_t bytes, void *pool, cudaStream_t stream),
          (pointer, bytes, pool, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cuMemAllocFromPoolAsync_ptsz,
          (uint64_t * pointer, size_t bytes, void *pool, cudaStream_t stream),
          (pointer, bytes, pool, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cuMemAllocHost_v2, (void **pointer, size_t bytes), (pointer, bytes), *pointer, bytes,
          DEVICE_MEMORY_HOST)
ALLOCATES(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
          *pointer, bytes, DEVICE_MEMORY_HOST)
ALLOCATES(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags),
          (pointer, bytes, flags), pointer, bytes, DEVICE_MEMORY_HOST)
ALLOCATES(cuMemMap, (uint64_t at, size_t bytes, size_t offset, void *memory, uint64_t flags),
          (at, bytes, offset, memory, flags), at, bytes, DEVICE_MEMORY_DEVICE)

FREES(cuMemFree_v2, (uint64_t pointer), (pointer), pointer, 0)
FREES(cuMemFreeAsync, (uint64_t pointer, cudaStream_t stream), (pointer, stream), pointer, 0)
FREES(cuMemFreeAsync_ptsz, (uint64_t pointer, cudaStream_t stream), (pointer, stream), pointer, 0)
FREES(cuMemFreeHost, (void *pointer), (pointer), pointer, 0)
FREES(cuMemHostUnregister, (void *pointer), (pointer), pointer, 0)
FREES(cuMemUnmap, (uint64_t at, size_t bytes), (at, bytes), at, bytes)

/* ---- launches ---- */

#define PLACE_TYPES                                                                                \
    const void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
        unsigned block_y, unsigned block_z, unsigned shared, cudaStream_t stream
#define PLACE grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream

/* All of a launch but its parameters, and where the host launched it. */
static struct device_launch launch_of(unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z,
                                      unsigned shared, cudaStream_t stream)
{
    struct device_launch launch = {.grid = {grid_x, grid_y, grid_z},
                                   .block = {block_x, block_y, block_z},
                                   .shared_bytes = shared,
                                   .stream = (uint64_t)(uintptr_t)stream};
    host_frames(&launch.stack);
    return launch;
}

#define LAUNCHES(name)                                                                             \
    EXPORT cudaError_t name(PLACE_TYPES, void **arguments, void **extra);                          \
    cudaError_t name(PLACE_TYPES, void **arguments, void **extra)                                  \
    {                                                                                              \
        struct device_launch launch = launch_of(PLACE);                                            \
        RECORDED(&driver, kernel, &launch, arguments, extra,                                       \
                 NEXT(name)(kernel, PLACE, arguments, extra));                                     \
    }

#define LAUNCHES_TOGETHER(name)                                                                    \
    EXPORT cudaError_t name(PLACE_TYPES, void **arguments);                                        \
    cudaError_t name(PLACE_TYPES, void **arguments)                                                \
    {                                                                                              \
        struct device_launch launch = launch_of(PLACE);                                            \
        launch.cooperative = true;                                                                 \
        RECORDED(&driver, kernel, &launch, arguments, NULL, NEXT(name)(kernel, PLACE, arguments)); \
    }

struct configuration { /* CUlaunchConfig; then attributes */
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    cudaStream_t stream;
};

#define LAUNCHES_CONFIGURED(name)                                                                  \
    EXPORT cudaError_t name(const struct configuration *config, const void *kernel,                \
                            void **arguments, void **extra);                                       \
    cudaError_t name(const struct configuration *config, const void *kernel, void **arguments,     \
                     void **extra)                                                                 \
    {                                                                                              \
        struct device_launch launch =                                                              \
            launch_of(config->grid_x, config->grid_y, config->grid_z, config->block_x,             \
                      config->block_y, config->block_z, config->shared, config->stream);           \
        device_read_attributes(config, &launch);                                                   \
        RECORDED(&driver, kernel, &launch, arguments, extra,                                       \
                 NEXT(name)(config, kernel, arguments, extra));                                    \
    }

LAUNCHES(cuLaunchKernel)
LAUNCHES(cuLaunchKernel_ptsz)
LAUNCHES_TOGETHER(cuLaunchCooperativeKernel)
LAUNCHES_TOGETHER(cuLaunchCooperativeKernel_ptsz)
LAUNCHES_CONFIGURED(cuLaunchKernelEx)
LAUNCHES_CONFIGURED(cuLaunchKernelEx_ptsz)
LAUNCHES_GRAPH(cuGraphLaunch)
LAUNCHES_GRAPH(cuGraphLaunch_ptsz)
