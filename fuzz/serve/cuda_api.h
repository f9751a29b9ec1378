/*
 * cuda_api.h - as much of the CUDA driver API as running kernels takes, declared here so that building needs no
 * headers; the functions come from the driver's library at run time. Numbers and shapes are those of NVIDIA's cuda.h.
 */
#ifndef FUZZ_SERVE_CUDA_API_H
#define FUZZ_SERVE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result; /* CUresult; 0: success */
typedef int cu_device;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef unsigned long long cu_address; /* CUdeviceptr */

enum {
    CU_SUCCESS = 0,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_INVALID_PTX = 218,
    CU_JIT_COMPILER_NOT_FOUND = 221,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_LAUNCH_OUT_OF_RESOURCES = 701,
    CU_CTX_SCHED_SPIN = 1, /* who waits uses up CPU time, by which hangs are judged */
    CU_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_COMPUTE_CAPABILITY_MINOR = 76,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_OPTIMIZATION_LEVEL = 7
};

/* FUNCTION(name, symbol, parameters) */
#define CUDA_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(init, cuInit, (unsigned int))                                                         \
    FUNCTION(driver_version, cuDriverGetVersion, (int *))                                          \
    FUNCTION(device_count, cuDeviceGetCount, (int *))                                              \
    FUNCTION(device_get, cuDeviceGet, (cu_device *, int))                                          \
    FUNCTION(device_name, cuDeviceGetName, (char *, int, cu_device))                               \
    FUNCTION(device_attribute, cuDeviceGetAttribute, (int *, int, cu_device))                      \
    FUNCTION(context_create, cuCtxCreate_v2, (cu_context *, unsigned int, cu_device))              \
    FUNCTION(context_destroy, cuCtxDestroy_v2, (cu_context))                                       \
    FUNCTION(synchronize, cuCtxSynchronize, (void))                                                \
    FUNCTION(module_load, cuModuleLoadDataEx,                                                      \
             (cu_module *, const void *, unsigned int, int *, void **))                            \
    FUNCTION(module_unload, cuModuleUnload, (cu_module))                                           \
    FUNCTION(module_function, cuModuleGetFunction, (cu_function *, cu_module, const char *))       \
    FUNCTION(module_global, cuModuleGetGlobal_v2,                                                  \
             (cu_address *, size_t *, cu_module, const char *))                                    \
    FUNCTION(allocate, cuMemAlloc_v2, (cu_address *, size_t))                                      \
    FUNCTION(release, cuMemFree_v2, (cu_address))                                                  \
    FUNCTION(to_device, cuMemcpyHtoD_v2, (cu_address, const void *, size_t))                       \
    FUNCTION(to_host, cuMemcpyDtoH_v2, (void *, cu_address, size_t))                               \
    FUNCTION(launch, cuLaunchKernel,                                                               \
             (cu_function, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,   \
              unsigned int, unsigned int, cu_stream, void **, void **))                            \
    FUNCTION(error_name, cuGetErrorName, (cu_result, const char **))

#endif
