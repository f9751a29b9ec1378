/*
 * driver.h - the CUDA driver's functions (libcuda.so.1), on what the runtime's are made of. Errors have the numbers of
 * the runtime's, as they have since CUDA 10.1.
 */
#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H

#include "fuzz/cudart/cudart.h"

typedef int CUresult;
enum {
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_FILE_NOT_FOUND = 301,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_NOT_SUPPORTED = 801
};

typedef uint64_t CUdeviceptr;

/* Zero, or what keeps a function from being used: cuInit was not called, no context is current, a kernel has failed. */
CUresult driver_ready(void);

/* The current one, or that of the runtime. */
struct context *driver_context(void);

/* A result of the runtime's functions as the driver gives it: the runtime's last error is not touched. */
CUresult driver_result(cudaError_t error);

struct operation;

/* Does an operation now, or where the stream has it, if there is no error yet. */
CUresult driver_now(const struct operation *operation, CUresult error);
CUresult driver_later(const struct operation *operation, CUresult error, cudaStream_t stream);

/* The runtime makes the driver ready by itself, and a context current. */
void use_driver(void);

struct module;

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                    uint64_t flags, int *status);
EXPORT CUresult cuLibraryLoadData(struct module **library, const void *image, const int *options,
                                  void **values, unsigned count, const int *library_options,
                                  void **library_values, unsigned library_count);
EXPORT CUresult cuLibraryLoadFromFile(struct module **library, const char *path, const int *options,
                                      void **values, unsigned count, const int *library_options,
                                      void **library_values, unsigned library_count);
EXPORT CUresult cuLibraryUnload(struct module *library);
EXPORT CUresult cuLibraryGetKernel(struct kernel **kernel, struct module *library,
                                   const char *name);
EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, struct module *library,
                                   const char *name);
EXPORT CUresult cuLibraryGetKernelCount(unsigned *count, const struct module *library);
EXPORT CUresult cuLibraryEnumerateKernels(struct kernel **kernels, unsigned room,
                                          const struct module *library);

#endif
