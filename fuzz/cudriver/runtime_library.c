/*
 * The runtime's way to the driver: libraries that are loaded, kernels' handles, functions by their names.
 */
#include "fuzz/cudriver/driver.h"

#include <string.h>

struct module;

EXPORT cudaError_t cudaGetKernel(struct kernel **kernel, const void *function);
EXPORT cudaError_t cudaGetFuncBySymbol(struct kernel **kernel, const void *function);
EXPORT cudaError_t cudaGetDriverEntryPoint(const char *name, void **function,
                                           unsigned long long flags, int *found);
EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function,
                                                    unsigned version, unsigned long long flags,
                                                    int *found);
EXPORT cudaError_t cudaLibraryLoadData(struct module **library, const void *image,
                                       const int *options, void **values, unsigned count,
                                       const int *library_options, void **library_values,
                                       unsigned library_count);
EXPORT cudaError_t cudaLibraryLoadFromFile(struct module **library, const char *path,
                                           const int *options, void **values, unsigned count,
                                           const int *library_options, void **library_values,
                                           unsigned library_count);
EXPORT cudaError_t cudaLibraryUnload(struct module *library);
EXPORT cudaError_t cudaLibraryGetKernel(struct kernel **kernel, struct module *library,
                                        const char *name);
EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned *count, const struct module *library);
EXPORT cudaError_t cudaLibraryEnumerateKernels(struct kernel **kernels, unsigned room,
                                               const struct module *library);
EXPORT cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes, struct module *library,
                                        const char *name);

cudaError_t cudaGetKernel(struct kernel **kernel, const void *function)
{
    *kernel = find_kernel(function);
    return give(*kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetFuncBySymbol(struct kernel **kernel, const void *function)
{
    return cudaGetKernel(kernel, function);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, int *found)
{
    if (!name || !function)
        return give(cudaErrorInvalidValue);
    use_driver();
    cuGetProcAddress_v2(name, function, (int)version, flags, found);
    return give(cudaSuccess); /* that there is none is *found */
}

cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *found)
{
    int version;
    cudaDriverGetVersion(&version);
    return cudaGetDriverEntryPointByVersion(name, function, (unsigned)version, flags, found);
}

cudaError_t cudaLibraryLoadData(struct module **library, const void *image, const int *options,
                                void **values, unsigned count, const int *library_options,
                                void **library_values, unsigned library_count)
{
    use_driver();
    return give(cuLibraryLoadData(library, image, options, values, count, library_options,
                                  library_values, library_count));
}

cudaError_t cudaLibraryLoadFromFile(struct module **library, const char *path, const int *options,
                                    void **values, unsigned count, const int *library_options,
                                    void **library_values, unsigned library_count)
{
    use_driver();
    return give(cuLibraryLoadFromFile(library, path, options, values, count, library_options,
                                      library_values, library_count));
}

cudaError_t cudaLibraryUnload(struct module *library)
{
    return give(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(struct kernel **kernel, struct module *library, const char *name)
{
    return give(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, const struct module *library)
{
    return give(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(struct kernel **kernels, unsigned room,
                                        const struct module *library)
{
    return give(cuLibraryEnumerateKernels(kernels, room, library));
}

cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes, struct module *library,
                                 const char *name)
{
    CUdeviceptr at = 0;
    CUresult error = cuLibraryGetGlobal(&at, bytes, library, name);
    *pointer = (void *)(uintptr_t)at;
    return give(error);
}
