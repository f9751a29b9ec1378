/*
 * opencl_api.h - as much of OpenCL 1.2 as running kernels takes, declared here so that building needs no headers; the
 * functions come from libOpenCL at run time. Numbers and shapes are those of Khronos' CL/cl.h.
 */
#ifndef FUZZ_SERVE_OPENCL_API_H
#define FUZZ_SERVE_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_mem *cl_mem;

#define CL_PLATFORM_VERSION 0x0901u
#define CL_PLATFORM_NAME 0x0902u
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu
#define CL_DEVICE_NAME 0x102Bu
#define CL_DRIVER_VERSION 0x102Du
#define CL_DEVICE_MAX_WORK_GROUP_SIZE 0x1004u
#define CL_PROGRAM_BUILD_LOG 0x1183u
#define CL_MEM_READ_WRITE 1u
#define CL_MEM_COPY_HOST_PTR 32u

/* FUNCTION(result, name, parameters) */
#define OPENCL_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(int32_t, clGetPlatformIDs, (uint32_t, cl_platform_id *, uint32_t *))                  \
    FUNCTION(int32_t, clGetPlatformInfo, (cl_platform_id, uint32_t, size_t, void *, size_t *))     \
    FUNCTION(int32_t, clGetDeviceIDs,                                                              \
             (cl_platform_id, uint64_t, uint32_t, cl_device_id *, uint32_t *))                     \
    FUNCTION(int32_t, clGetDeviceInfo, (cl_device_id, uint32_t, size_t, void *, size_t *))         \
    FUNCTION(cl_context, clCreateContext,                                                          \
             (const intptr_t *, uint32_t, const cl_device_id *,                                    \
              void (*)(const char *, const void *, size_t, void *), void *, int32_t *))            \
    FUNCTION(cl_command_queue, clCreateCommandQueue,                                               \
             (cl_context, cl_device_id, uint64_t, int32_t *))                                      \
    FUNCTION(cl_program, clCreateProgramWithSource,                                                \
             (cl_context, uint32_t, const char **, const size_t *, int32_t *))                     \
    FUNCTION(int32_t, clBuildProgram,                                                              \
             (cl_program, uint32_t, const cl_device_id *, const char *,                            \
              void (*)(cl_program, void *), void *))                                               \
    FUNCTION(int32_t, clGetProgramBuildInfo,                                                       \
             (cl_program, cl_device_id, uint32_t, size_t, void *, size_t *))                       \
    FUNCTION(cl_kernel, clCreateKernel, (cl_program, const char *, int32_t *))                     \
    FUNCTION(cl_mem, clCreateBuffer, (cl_context, uint64_t, size_t, void *, int32_t *))            \
    FUNCTION(int32_t, clSetKernelArg, (cl_kernel, uint32_t, size_t, const void *))                 \
    FUNCTION(int32_t, clEnqueueNDRangeKernel,                                                      \
             (cl_command_queue, cl_kernel, uint32_t, const size_t *, const size_t *,               \
              const size_t *, uint32_t, const void *, void *))                                     \
    FUNCTION(int32_t, clEnqueueReadBuffer,                                                         \
             (cl_command_queue, cl_mem, uint32_t, size_t, size_t, void *, uint32_t, const void *,  \
              void *))                                                                             \
    FUNCTION(int32_t, clFinish, (cl_command_queue))                                                \
    FUNCTION(int32_t, clReleaseMemObject, (cl_mem))                                                \
    FUNCTION(int32_t, clReleaseKernel, (cl_kernel))                                                \
    FUNCTION(int32_t, clReleaseProgram, (cl_program))

#endif
