/*
 * The CUDA driver: modules from PTX or fat binaries, their kernels and variables, launches.
 */
#include "fuzz/cudart/driver.h"

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
    struct module *next;
};

static struct module *modules; /* all that were ever loaded; under device_enter */

struct linking {
    void *image; /* of the one input that there may be */
    size_t bytes;
};

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
EXPORT CUresult cuLibraryLoadData(struct module **library, const void *image, const int *options,
                                  void **values, unsigned count, const int *library_options,
                                  void **library_values, unsigned library_count);
EXPORT CUresult cuLibraryLoadFromFile(struct module **library, const char *path, const int *options,
                                      void **values, unsigned count, const int *library_options,
                                      void **library_values, unsigned library_count);
EXPORT CUresult cuLibraryUnload(struct module *library);
EXPORT CUresult cuLibraryGetKernel(struct kernel **kernel, struct module *library,
                                   const char *name);
EXPORT CUresult cuLibraryGetModule(struct module **module, struct module *library);
EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, struct module *library,
                                   const char *name);
EXPORT CUresult cuKernelGetFunction(struct kernel **function, struct kernel *kernel);
EXPORT CUresult cuLinkCreate_v2(unsigned count, const int *options, void **values,
                                struct linking **linking);
EXPORT CUresult cuLinkAddData_v2(struct linking *linking, int type, void *data, size_t bytes,
                                 const char *name, unsigned count, const int *options,
                                 void **values);
EXPORT CUresult cuLinkComplete(struct linking *linking, void **image, size_t *bytes);
EXPORT CUresult cuLinkDestroy(struct linking *linking);
EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, const struct kernel *kernel);
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
EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *kernel,
                                                 void *shared_of, size_t shared, int most);

/* ---- loading ---- */

/* A text, a fat binary, or what nvcc wraps one into; machine code has a length, too, but nothing to run. */
static size_t image_bytes(const void **image)
{
    static const unsigned char wrapper[] = {0xb1, 0x43, 0x62, 0x46},
                               container[] = {0x50, 0xed, 0x55, 0xba};
    if (memcmp(*image, wrapper, sizeof wrapper) == 0)
        memcpy(image, (const char *)*image + 8, sizeof *image);
    if (memcmp(*image, container, sizeof container) == 0)
        return containers_bytes(*image);
    return memcmp(*image, "\177ELF", 4) == 0 ? 64 : strlen(*image);
}

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
    return (CUresult)head.error;
}

static CUresult load(struct module **module, const void *image)
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
    *module = error ? NULL : new;
    return error;
}

static CUresult load_file(struct module **module, const char *path)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *image = length < 0 ? NULL : calloc(1, (size_t)length + 16);
    bool read = image && fread(image, 1, (size_t)length, file) == (size_t)length;
    fclose(file);
    CUresult error = read ? load(module, image) : CUDA_ERROR_FILE_NOT_FOUND;
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
    return load(module, image);
}

CUresult cuModuleLoadDataEx(struct module **module, const void *image, unsigned count,
                            const int *options, void **values)
{
    (void)count, (void)options, (void)values;
    return load(module, image);
}

CUresult cuModuleLoadFatBinary(struct module **module, const void *image)
{
    return load(module, image);
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
    (void)options, (void)values, (void)count;
    (void)library_options, (void)library_values, (void)library_count;
    return load(library, image);
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

/* ---- linking: of one input there is nothing to do ---- */

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
    (void)type, (void)name, (void)count, (void)options, (void)values;
    if (linking->image) {
        if (device_enter()) {
            device_say(DEVICE_NOTE, "cuLinkAddData: modules of several inputs are not supported");
            device_leave();
        }
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    linking->image = calloc(1, bytes + 16);
    if (!linking->image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(linking->image, data, bytes);
    linking->bytes = bytes;
    return cudaSuccess;
}

CUresult cuLinkComplete(struct linking *linking, void **image, size_t *bytes)
{
    *image = linking->image;
    if (bytes)
        *bytes = linking->bytes;
    return linking->image ? cudaSuccess : CUDA_ERROR_INVALID_IMAGE;
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

CUresult cuFuncGetName(const char **name, const struct kernel *kernel)
{
    *name = kernel->name;
    return driver_ready();
}

CUresult cuFuncGetAttribute(int *value, int attribute, const struct kernel *kernel)
{
    static const int values[] = {1024, 0, 0, 0, 32, 80, 80, 0, 48 << 10};
    (void)kernel;
    *value = attribute >= 0 && attribute < (int)(sizeof values / sizeof values[0])
                 ? values[attribute]
                 : 0;
    return driver_ready();
}

/* ---- launches ---- */

/* Parameters given as one buffer: what `extra` lists until its end. False: it lists something else. */
static bool unpack(void **extra, const struct device_kernel *kernel, void **parameters)
{
    enum { END = 0, BUFFER = 1, SIZE = 2 };
    char *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != (void *)END; extra += 2) {
        if (*extra == (void *)BUFFER)
            buffer = extra[1];
        else if (*extra == (void *)SIZE)
            memcpy(&bytes, extra[1], sizeof bytes);
        else
            return false;
    }
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (!buffer || kernel->offsets[i] + kernel->sizes[i] > bytes)
            return false;
        parameters[i] = buffer + kernel->offsets[i];
    }
    return true;
}

static CUresult launch(struct kernel *kernel, dim3 grid, dim3 block, unsigned shared,
                       cudaStream_t stream, void **parameters, void **extra, bool cooperative,
                       const void *config)
{
    void *unpacked[sizeof kernel->device.sizes / sizeof kernel->device.sizes[0]];
    CUresult error = driver_ready();
    if (error || !kernel)
        return error ? error : CUDA_ERROR_INVALID_HANDLE;
    if (extra && !parameters) {
        if (!device_enter())
            return CUDA_ERROR_NOT_INITIALIZED;
        ask_kernel(kernel);
        device_leave();
        if (!unpack(extra, &kernel->device, unpacked))
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

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *kernel,
                                          void *shared_of, size_t shared, int most)
{
    (void)kernel, (void)shared_of, (void)shared;
    *block = most > 0 && most < 1024 ? most : 1024;
    *grid = 2048 / *block;
    return driver_ready();
}
