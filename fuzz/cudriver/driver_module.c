/*
 * The CUDA driver: modules from PTX or fat binaries, their kernels and variables, launches.
 */
#include "fuzz/cudriver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct global {
    char *name;
    struct allocation *at;
    struct global *next;
};

/* Of the driver's modules and libraries alike. */
struct module {
    uint32_t number;
    struct kernel *kernels;
    struct global *globals;
    char why[sizeof((struct device_symbols *)0)->why]; /* it could not be loaded */
    struct module *next;
};

static struct module *modules; /* all that were ever loaded; under device_enter */

EXPORT CUresult cuModuleLoad(struct module **module, const char *path);
EXPORT CUresult cuModuleLoadData(struct module **module, const void *image);
EXPORT CUresult cuModuleLoadDataEx(struct module **module, const void *image, unsigned count,
                                   const int *options, void **values);
EXPORT CUresult cuModuleLoadFatBinary(struct module **module, const void *image);
EXPORT CUresult cuModuleUnload(struct module *module);
EXPORT CUresult cuModuleGetFunction(struct kernel **kernel, struct module *module,
                                    const char *name);
EXPORT CUresult cuModuleGetFunctionCount(unsigned *count, const struct module *module);
EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, struct module *module,
                                     const char *name);
EXPORT CUresult cuModuleGetLoadingMode(int *mode);
EXPORT CUresult cuLibraryGetModule(struct module **module, struct module *library);
EXPORT CUresult cuKernelGetFunction(struct kernel **function, struct kernel *kernel);
EXPORT CUresult cuLinkCreate_v2(unsigned count, const int *options, void **values,
                                struct linking **linking);
EXPORT CUresult cuLinkAddData_v2(struct linking *linking, int type, void *data, size_t bytes,
                                 const char *name, unsigned count, const int *options,
                                 void **values);
EXPORT CUresult cuLinkAddFile_v2(struct linking *linking, int type, const char *path,
                                 unsigned count, const int *options, void **values);
EXPORT CUresult cuLinkComplete(struct linking *linking, void **image, size_t *bytes);
EXPORT CUresult cuLinkDestroy(struct linking *linking);
EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, const struct kernel *kernel);
EXPORT CUresult cuKernelGetAttribute(int *value, int attribute, const struct kernel *kernel,
                                     int device);
EXPORT CUresult cuFuncSetAttribute(const struct kernel *kernel, int attribute, int value);
EXPORT CUresult cuKernelSetAttribute(int attribute, int value, const struct kernel *kernel,
                                     int device);
EXPORT CUresult cuModuleEnumerateFunctions(struct kernel **kernels, unsigned room,
                                           const struct module *module);
EXPORT CUresult cuFuncGetModule(struct module **module, const struct kernel *kernel);
EXPORT CUresult cuKernelGetLibrary(struct module **library, const struct kernel *kernel);
EXPORT CUresult cuFuncIsLoaded(int *loaded, const struct kernel *kernel);
EXPORT CUresult cuFuncGetName(const char **name, const struct kernel *kernel);
EXPORT CUresult cuLaunchKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared, cudaStream_t stream,
                               void **parameters, void **extra);
EXPORT CUresult cuLaunchCooperativeKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y,
                                          unsigned grid_z, unsigned block_x, unsigned block_y,
                                          unsigned block_z, unsigned shared, cudaStream_t stream,
                                          void **parameters);
EXPORT CUresult cuLaunchKernelEx(const void *config, struct kernel *kernel, void **parameters,
                                 void **extra);
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                            int threads, size_t shared);
EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *function,
                                                 size_t (*shared_of)(int), size_t shared, int most);

/* ---- loading ---- */

static void add_symbol(struct module *module, const struct device_symbol *symbol)
{
    struct kernel *kernel = symbol->is_kernel ? calloc(1, sizeof *kernel) : NULL;
    struct global *global = symbol->is_kernel ? NULL : calloc(1, sizeof *global);
    if (kernel) {
        *kernel = (struct kernel){.host = kernel,
                                  .name = strdup(symbol->name),
                                  .module = module->number,
                                  .next = module->kernels};
        module->kernels = kernel;
        add_loaded_kernel(kernel);
    }
    if (global) {
        *global = (struct global){.name = strdup(symbol->name), .next = module->globals};
        global->at = variable_new(module->number, symbol->name, symbol->bytes,
                                  symbol->is_constant != 0, false);
        module->globals = global;
    }
}

static CUresult load_locked(struct module *module, const void *image, size_t bytes)
{
    struct device_symbols head;
    module->number = module_new(image, bytes);
    device_tell(DEVICE_SYMBOLS, &module->number, sizeof module->number, NULL, 0);
    device_hear(&head, sizeof head);
    struct device_symbol *symbols = calloc(head.count + 1, sizeof *symbols);
    if (!symbols)
        return CUDA_ERROR_OUT_OF_MEMORY;
    device_hear(symbols, head.count * sizeof *symbols);
    for (uint32_t i = 0; i < head.count; i++)
        add_symbol(module, &symbols[i]);
    free(symbols);
    memcpy(module->why, head.why, sizeof module->why);
    return (CUresult)head.error;
}

/* What the program asked to be told of compiling: buffers, and how long they are. */
static void fill_logs(unsigned count, const int *options, void **values, const char *why)
{
    enum { INFO = 3, INFO_BYTES = 4, ERROR = 5, ERROR_BYTES = 6 };
    static const int logs[][2] = {{INFO, INFO_BYTES}, {ERROR, ERROR_BYTES}};
    for (unsigned log = 0; log < 2; log++) {
        char *buffer = NULL;
        void **bytes = NULL;
        for (unsigned i = 0; options && values && i < count; i++) {
            if (options[i] == logs[log][0])
                buffer = values[i];
            if (options[i] == logs[log][1])
                bytes = &values[i];
        }
        if (!buffer || !bytes || *bytes == NULL)
            continue;
        snprintf(buffer, (size_t)(uintptr_t)*bytes, "%s", log == 1 ? why : "");
        *bytes = (void *)(uintptr_t)strlen(buffer);
    }
}

static CUresult load(struct module **module, const void *image, unsigned count, const int *options,
                     void **values)
{
    CUresult error = driver_ready();
    if (error || !image || !module)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    size_t bytes = image_bytes(&image);
    struct module *new = calloc(1, sizeof *new);
    if (!new || !device_enter()) {
        free(new);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    error = load_locked(new, image, bytes);
    new->next = modules;
    modules = new;
    device_leave();
    fill_logs(count, options, values, new->why);
    *module = error ? NULL : new;
    return error;
}

static CUresult load_file(struct module **module, const char *path)
{
    size_t bytes;
    char *image = image_read(path, &bytes);
    CUresult error = image ? load(module, image, 0, NULL, NULL) : CUDA_ERROR_FILE_NOT_FOUND;
    free(image);
    return error;
}

static CUresult unload(struct module *module)
{
    CUresult error = driver_ready();
    if (error || !module)
        return error ? error : CUDA_ERROR_INVALID_HANDLE;
    if (device_enter()) {
        for (struct global *g = module->globals; g; g = g->next)
            if (g->at) {
                device_tell(DEVICE_FREE, &g->at->address, sizeof g->at->address, NULL, 0);
                allocation_end(g->at);
                g->at = NULL;
            }
        device_leave();
    }
    return cudaSuccess; /* handles of its kernels stay readable */
}

CUresult cuModuleLoad(struct module **module, const char *path)
{
    return load_file(module, path);
}

CUresult cuModuleLoadData(struct module **module, const void *image)
{
    return load(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadDataEx(struct module **module, const void *image, unsigned count,
                            const int *options, void **values)
{
    return load(module, image, count, options, values);
}

CUresult cuModuleLoadFatBinary(struct module **module, const void *image)
{
    return load(module, image, 0, NULL, NULL);
}

CUresult cuModuleUnload(struct module *module)
{
    return unload(module);
}

CUresult cuModuleGetLoadingMode(int *mode)
{
    *mode = 1; /* eager */
    return cudaSuccess;
}

CUresult cuLibraryLoadData(struct module **library, const void *image, const int *options,
                           void **values, unsigned count, const int *library_options,
                           void **library_values, unsigned library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    return load(library, image, count, options, values);
}

CUresult cuLibraryLoadFromFile(struct module **library, const char *path, const int *options,
                               void **values, unsigned count, const int *library_options,
                               void **library_values, unsigned library_count)
{
    (void)options, (void)values, (void)count;
    (void)library_options, (void)library_values, (void)library_count;
    return load_file(library, path);
}

CUresult cuLibraryUnload(struct module *library)
{
    return unload(library);
}

/* ---- linking ---- */

CUresult cuLinkCreate_v2(unsigned count, const int *options, void **values,
                         struct linking **linking)
{
    (void)count, (void)options, (void)values;
    CUresult error = driver_ready();
    if (!error)
        *linking = calloc(1, sizeof **linking);
    return error ? error : *linking ? cudaSuccess : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuLinkAddData_v2(struct linking *linking, int type, void *data, size_t bytes,
                          const char *name, unsigned count, const int *options, void **values)
{
    (void)name, (void)count, (void)options, (void)values;
    if (linking_add(linking, type, data, bytes))
        return cudaSuccess;
    if (device_enter()) {
        device_say(DEVICE_NOTE, "cuLinkAddData: several inputs are linked only of PTX");
        device_leave();
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuLinkAddFile_v2(struct linking *linking, int type, const char *path, unsigned count,
                          const int *options, void **values)
{
    size_t bytes;
    char *data = image_read(path, &bytes);
    CUresult error =
        data ? cuLinkAddData_v2(linking, type, data, bytes, path, count, options, values)
             : CUDA_ERROR_FILE_NOT_FOUND;
    free(data);
    return error;
}

CUresult cuLinkComplete(struct linking *linking, void **image, size_t *bytes)
{
    size_t all;
    if (linking->inputs == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *image = linking_complete(linking, &all);
    if (bytes)
        *bytes = all;
    return cudaSuccess;
}

CUresult cuLinkDestroy(struct linking *linking)
{
    free(linking->image);
    free(linking);
    return cudaSuccess;
}

/* ---- kernels, variables ---- */

CUresult cuModuleGetFunction(struct kernel **kernel, struct module *module, const char *name)
{
    CUresult error = driver_ready();
    if (error || !kernel || !module || !name)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    *kernel = module->kernels;
    while (*kernel && strcmp((*kernel)->name, name) != 0)
        *kernel = (*kernel)->next;
    return *kernel ? cudaSuccess : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned *count, const struct module *module)
{
    *count = 0;
    for (const struct kernel *k = module->kernels; k; k = k->next)
        ++*count;
    return driver_ready();
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, struct module *module,
                              const char *name)
{
    CUresult error = driver_ready();
    if (error || !module || !name)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    const struct global *global = module->globals;
    while (global && (!global->at || strcmp(global->name, name) != 0))
        global = global->next;
    if (!global)
        return CUDA_ERROR_NOT_FOUND;
    if (pointer)
        *pointer = global->at->address;
    if (bytes)
        *bytes = global->at->bytes;
    return cudaSuccess;
}

CUresult cuLibraryGetKernel(struct kernel **kernel, struct module *library, const char *name)
{
    return cuModuleGetFunction(kernel, library, name);
}

CUresult cuLibraryGetKernelCount(unsigned *count, const struct module *library)
{
    return cuModuleGetFunctionCount(count, library);
}

CUresult cuModuleEnumerateFunctions(struct kernel **kernels, unsigned room,
                                    const struct module *module)
{
    struct kernel *kernel = module ? module->kernels : NULL;
    for (; kernel && room > 0; kernel = kernel->next, room--)
        *kernels++ = kernel;
    return driver_ready();
}

CUresult cuLibraryEnumerateKernels(struct kernel **kernels, unsigned room,
                                   const struct module *library)
{
    return cuModuleEnumerateFunctions(kernels, room, library);
}

CUresult cuLibraryGetModule(struct module **module, struct module *library)
{
    *module = library;
    return driver_ready();
}

CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, struct module *library,
                            const char *name)
{
    return cuModuleGetGlobal_v2(pointer, bytes, library, name);
}

CUresult cuKernelGetFunction(struct kernel **function, struct kernel *kernel)
{
    *function = kernel;
    return driver_ready();
}

static CUresult owner_of(struct module **module, const struct kernel *kernel)
{
    *module = modules;
    while (*module && kernel && (*module)->number != kernel->module)
        *module = (*module)->next;
    return *module && kernel ? driver_ready() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetModule(struct module **module, const struct kernel *kernel)
{
    return owner_of(module, kernel);
}

CUresult cuKernelGetLibrary(struct module **library, const struct kernel *kernel)
{
    return owner_of(library, kernel);
}

CUresult cuFuncIsLoaded(int *loaded, const struct kernel *kernel)
{
    *loaded = 1;
    return kernel ? driver_ready() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetName(const char **name, const struct kernel *kernel)
{
    *name = kernel->name;
    return driver_ready();
}

/* threads, shared, constant and local bytes, registers, PTX and machine code, a cache, dynamic shared bytes */
CUresult cuFuncGetAttribute(int *value, int attribute, const struct kernel *kernel)
{
    kernel = know_kernel(kernel);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    const int values[] = {
        (int)kernel->device.most_threads, (int)kernel->device.shared_bytes, 0, 0, 32, 80, 80, 0,
        (int)most_dynamic(kernel)};
    *value = attribute >= 0 && attribute < (int)(sizeof values / sizeof values[0])
                 ? values[attribute]
                 : 0;
    return driver_ready();
}

CUresult cuKernelGetAttribute(int *value, int attribute, const struct kernel *kernel, int device)
{
    (void)device;
    return cuFuncGetAttribute(value, attribute, kernel);
}

CUresult cuFuncSetAttribute(const struct kernel *kernel, int attribute, int value)
{
    CUresult error = driver_ready();
    return error ? error : driver_result(cudaFuncSetAttribute(kernel, attribute, value));
}

CUresult cuKernelSetAttribute(int attribute, int value, const struct kernel *kernel, int device)
{
    (void)device;
    return cuFuncSetAttribute(kernel, attribute, value);
}

/* ---- launches ---- */

static CUresult launch(struct kernel *kernel, dim3 grid, dim3 block, unsigned shared,
                       cudaStream_t stream, void **parameters, void **extra, bool cooperative,
                       const void *config)
{
    void *unpacked[DEVICE_PARAMETERS];
    CUresult error = driver_ready();
    if (error || !kernel)
        return error ? error : CUDA_ERROR_INVALID_HANDLE;
    if (extra && !parameters) {
        if (!unpack_arguments(extra, kernel, unpacked))
            return CUDA_ERROR_INVALID_VALUE;
        parameters = unpacked;
    }
    return driver_result(
        launch_kernel(kernel, grid, block, parameters, shared, stream, cooperative, config));
}

CUresult cuLaunchKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        cudaStream_t stream, void **parameters, void **extra)
{
    return launch(kernel, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, shared,
                  stream, parameters, extra, false, NULL);
}

CUresult cuLaunchCooperativeKernel(struct kernel *kernel, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, cudaStream_t stream,
                                   void **parameters)
{
    return launch(kernel, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, shared,
                  stream, parameters, NULL, true, NULL);
}

CUresult cuLaunchKernelEx(const void *config, struct kernel *kernel, void **parameters,
                          void **extra)
{
    struct { /* then attributes */
        dim3 grid, block;
        unsigned shared;
        cudaStream_t stream;
    } given;
    memcpy(&given, config, sizeof given);
    return launch(kernel, given.grid, given.block, given.shared, given.stream, parameters, extra,
                  false, config);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                     size_t shared)
{
    CUresult error = driver_ready();
    return error ? error
                 : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *function,
                                          size_t (*shared_of)(int), size_t shared, int most)
{
    enum { WARP = 32 };
    const struct kernel *kernel = know_kernel(function);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    int threads = (int)kernel->device.most_threads, best = 0;
    if (most > 0 && most < threads)
        threads = most;
    *block = *grid = 0;
    for (; threads > 0; threads -= threads % WARP ? threads % WARP : WARP) {
        int blocks = 0;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                      shared_of ? shared_of(threads) : shared);
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks;
        }
    }
    return driver_ready();
}
