/*
 * The runtime's functions that are recorded; also those of a default stream for each thread (_ptsz).
 */
#include "fuzz/recorder/recorder.h"

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
EXPORT cudaError_t cudaGetLastError(void);
EXPORT const char *cudaGetErrorString(cudaError_t error);
EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status);

static cudaError_t wait_for_device(void)
{
    return NEXT(cudaDeviceSynchronize)();
}

static cudaError_t copy_out(void *to, uint64_t from, size_t bytes)
{
    enum { TO_HOST = 2 };
    return NEXT(cudaMemcpy)(to, (const void *)(uintptr_t)from, bytes, TO_HOST);
}

static const char *explain(cudaError_t error)
{
    return NEXT(cudaGetErrorString)(error);
}

static bool is_captured(cudaStream_t stream)
{
    int status = 0;
    return find_next("cudaStreamIsCapturing") &&
           NEXT(cudaStreamIsCapturing)(stream, &status) == 0 && status != 0;
}

static const struct interface runtime = {wait_for_device, copy_out, explain, is_captured};

/* ---- memory ---- */

struct pitched { /* cudaPitchedPtr, cudaExtent */
    void *at;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};

ALLOCATES(cudaMalloc, (void **pointer, size_t bytes), (pointer, bytes), *pointer, bytes,
          DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMallocAsync, (void **pointer, size_t bytes, cudaStream_t stream),
          (pointer, bytes, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMallocAsync_ptsz, (void **pointer, size_t bytes, cudaStream_t stream),
          (pointer, bytes, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMallocFromPoolAsync, (void **pointer, size_t bytes, void *pool, cudaStream_t stream),
          (pointer, bytes, pool, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMallocFromPoolAsync_ptsz,
          (void **pointer, size_t bytes, void *pool, cudaStream_t stream),
          (pointer, bytes, pool, stream), *pointer, bytes, DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height),
          (pointer, pitch, width, height), *pointer, *pitch *height, DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMalloc3D, (struct pitched * pitched, struct extent extent), (pitched, extent),
          pitched->at, pitched->pitch *extent.height *extent.depth, DEVICE_MEMORY_DEVICE)
ALLOCATES(cudaMallocManaged, (void **pointer, size_t bytes, unsigned flags),
          (pointer, bytes, flags), *pointer, bytes, DEVICE_MEMORY_MANAGED)
ALLOCATES(cudaMallocHost, (void **pointer, size_t bytes), (pointer, bytes), *pointer, bytes,
          DEVICE_MEMORY_HOST)
ALLOCATES(cudaHostAlloc, (void **pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
          *pointer, bytes, DEVICE_MEMORY_HOST)
ALLOCATES(cudaHostRegister, (void *pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
          pointer, bytes, DEVICE_MEMORY_HOST)

FREES(cudaFree, (void *pointer), (pointer), pointer, 0)
FREES(cudaFreeAsync, (void *pointer, cudaStream_t stream), (pointer, stream), pointer, 0)
FREES(cudaFreeAsync_ptsz, (void *pointer, cudaStream_t stream), (pointer, stream), pointer, 0)
FREES(cudaFreeHost, (void *pointer), (pointer), pointer, 0)
FREES(cudaHostUnregister, (void *pointer), (pointer), pointer, 0)

/* ---- modules ---- */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
void **__cudaRegisterFatBinary(void *wrapper)
{
    void **handle = NEXT(__cudaRegisterFatBinary)(wrapper);
    device_guard();
    module_register(handle, wrapper);
    device_leave();
    return handle;
}

EXPORT void __cudaUnregisterFatBinary(void **module);
void __cudaUnregisterFatBinary(void **module)
{
    device_guard();
    module_forget(module);
    device_leave();
    NEXT(__cudaUnregisterFatBinary)(module);
}

EXPORT void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                                   int thread_limit, void *tid, void *bid, void *block, void *grid,
                                   int *warp);
void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp)
{
    NEXT(__cudaRegisterFunction)
    (module, host, device, name, thread_limit, tid, bid, block, grid, warp);
    device_guard();
    handle_add(host, kernel_new(host, name, module_of(module)));
    device_leave();
}

static uint64_t place_of_symbol(const struct variable *variable)
{
    void *address = NULL;
    if (NEXT(cudaGetSymbolAddress)(&address, variable->of) == 0)
        return (uint64_t)(uintptr_t)address;
    NEXT(cudaGetLastError)();
    return 0;
}

static void register_variable(void **module, const void *host, const char *name, size_t bytes,
                              bool is_constant)
{
    device_guard();
    variable_add(&(struct variable){.of = host,
                                    .name = (char *)(uintptr_t)name,
                                    .module = module_of(module),
                                    .bytes = bytes,
                                    .is_constant = is_constant,
                                    .place = place_of_symbol});
    device_leave();
}

EXPORT void __cudaRegisterVar(void **module, char *host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global);
void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global)
{
    NEXT(__cudaRegisterVar)(module, host, device, name, is_extern, bytes, is_constant, is_global);
    register_variable(module, host, name, bytes, is_constant != 0);
}

EXPORT void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name,
                                     int is_extern, size_t bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global)
{
    NEXT(__cudaRegisterManagedVar)
    (module, host, device, name, is_extern, bytes, is_constant, is_global);
    register_variable(module, host, name, bytes, false);
}

/* ---- launches ---- */

/* Another name for the kernel of a function. */
#define NAMES_KERNEL(name)                                                                         \
    EXPORT cudaError_t name(void **kernel, const void *function);                                  \
    cudaError_t name(void **kernel, const void *function)                                          \
    {                                                                                              \
        const cudaError_t error = NEXT(name)(kernel, function);                                    \
        if (error || !recorder_enter())                                                            \
            return error;                                                                          \
        handle_add(*kernel, kernel_of_handle(function));                                           \
        device_leave();                                                                            \
        return error;                                                                              \
    }

NAMES_KERNEL(__cudaGetKernel)
NAMES_KERNEL(cudaGetKernel)
NAMES_KERNEL(cudaGetFuncBySymbol)

static struct device_launch launch_of(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    struct device_launch launch = {.grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .shared_bytes = shared,
                                   .stream = (uint64_t)(uintptr_t)stream};
    host_frames(&launch.stack);
    return launch;
}

#define LAUNCHES(name, is_cooperative)                                                             \
    EXPORT cudaError_t name(const void *function, dim3 grid, dim3 block, void **arguments,         \
                            size_t shared, cudaStream_t stream);                                   \
    cudaError_t name(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, \
                     cudaStream_t stream)                                                          \
    {                                                                                              \
        struct device_launch launch = launch_of(grid, block, shared, stream);                      \
        launch.cooperative = is_cooperative;                                                       \
        RECORDED(&runtime, function, &launch, arguments, NULL,                                     \
                 NEXT(name)(function, grid, block, arguments, shared, stream));                    \
    }

LAUNCHES(cudaLaunchKernel, false)
LAUNCHES(cudaLaunchKernel_ptsz, false)
LAUNCHES(__cudaLaunchKernel, false)
LAUNCHES(__cudaLaunchKernel_ptsz, false)
LAUNCHES(cudaLaunchCooperativeKernel, true)
LAUNCHES(cudaLaunchCooperativeKernel_ptsz, true)

struct configuration { /* cudaLaunchConfig_t; then attributes */
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

#define LAUNCHES_CONFIGURED(name)                                                                  \
    EXPORT cudaError_t name(const struct configuration *config, const void *function,              \
                            void **arguments);                                                     \
    cudaError_t name(const struct configuration *config, const void *function, void **arguments)   \
    {                                                                                              \
        struct device_launch launch =                                                              \
            launch_of(config->grid, config->block, config->shared, config->stream);                \
        device_read_attributes(config, &launch);                                                   \
        RECORDED(&runtime, function, &launch, arguments, NULL,                                     \
                 NEXT(name)(config, function, arguments));                                         \
    }

LAUNCHES_CONFIGURED(cudaLaunchKernelExC)
LAUNCHES_CONFIGURED(cudaLaunchKernelExC_ptsz)

LAUNCHES_GRAPH(cudaGraphLaunch)
LAUNCHES_GRAPH(cudaGraphLaunch_ptsz)

/* ---- functions of the driver ---- */

#define FINDS_DRIVER(name)                                                                         \
    EXPORT cudaError_t name(const char *symbol, void **function, unsigned long long flags,         \
                            int *found);                                                           \
    cudaError_t name(const char *symbol, void **function, unsigned long long flags, int *found)    \
    {                                                                                              \
        const cudaError_t error = NEXT(name)(symbol, function, flags, found);                      \
        if (!error)                                                                                \
            *function = instead_of(*function, symbol, 0, flags);                                   \
        return error;                                                                              \
    }

#define FINDS_DRIVER_OF(name)                                                                      \
    EXPORT cudaError_t name(const char *symbol, void **function, unsigned version,                 \
                            unsigned long long flags, int *found);                                 \
    cudaError_t name(const char *symbol, void **function, unsigned version,                        \
                     unsigned long long flags, int *found)                                         \
    {                                                                                              \
        const cudaError_t error = NEXT(name)(symbol, function, version, flags, found);             \
        if (!error)                                                                                \
            *function = instead_of(*function, symbol, (int)version, flags);                        \
        return error;                                                                              \
    }

FINDS_DRIVER(cudaGetDriverEntryPoint)
FINDS_DRIVER(cudaGetDriverEntryPoint_ptsz)
FINDS_DRIVER_OF(cudaGetDriverEntryPointByVersion)
FINDS_DRIVER_OF(cudaGetDriverEntryPointByVersion_ptsz)
