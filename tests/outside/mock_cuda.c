/*
 * mock_cuda.c - libcuda.so.1 without a GPU: a module is its text, device memory is the process's, and a kernel is run
 * by the program that MOCK_CUDA_GPU names (run_ptx.c). MOCK_CUDA names a fault to have.
 */
#include "fuzz/serve/cuda_api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700
};

struct CUmod_st {
    char *text;
    int level;
};

struct CUfunc_st {
    struct CUmod_st *module;
    char name[64];
};

static struct CUfunc_st last_function; /* one at a time is all that is asked for */
static bool spoiled;                   /* an error of a kernel, until there is a new context */
static size_t allocated;               /* bytes of the one buffer */
static int launches;

static bool has_fault(const char *name)
{
    const char *fault = getenv("MOCK_CUDA");
    return fault && strcmp(fault, name) == 0;
}

EXPORT cu_result cuInit(unsigned int flags);
EXPORT cu_result cuInit(unsigned int flags)
{
    if (has_fault("chatter"))
        printf("welcome to the mock\n");
    return flags ? INVALID_VALUE : has_fault("no-device") ? NO_DEVICE : CU_SUCCESS;
}

EXPORT cu_result cuDriverGetVersion(int *version);
EXPORT cu_result cuDriverGetVersion(int *version)
{
    *version = 13010;
    return CU_SUCCESS;
}

EXPORT cu_result cuDeviceGetCount(int *count);
EXPORT cu_result cuDeviceGetCount(int *count)
{
    *count = 1;
    return CU_SUCCESS;
}

EXPORT cu_result cuDeviceGet(cu_device *device, int number);
EXPORT cu_result cuDeviceGet(cu_device *device, int number)
{
    *device = number;
    return number == 0 ? CU_SUCCESS : INVALID_DEVICE;
}

EXPORT cu_result cuDeviceGetName(char *name, int size, cu_device device);
EXPORT cu_result cuDeviceGetName(char *name, int size, cu_device device)
{
    snprintf(name, (size_t)size, "Mock %d", device);
    return CU_SUCCESS;
}

EXPORT cu_result cuDeviceGetAttribute(int *value, int attribute, cu_device device);
EXPORT cu_result cuDeviceGetAttribute(int *value, int attribute, cu_device device)
{
    (void)device;
    *value = attribute == CU_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return CU_SUCCESS;
}

EXPORT cu_result cuCtxCreate_v2(cu_context *context, unsigned int flags, cu_device device);
EXPORT cu_result cuCtxCreate_v2(cu_context *context, unsigned int flags, cu_device device)
{
    (void)flags;
    (void)device;
    if (spoiled && has_fault("spoiled"))
        return ILLEGAL_ADDRESS;
    spoiled = false;
    *context = (cu_context)(void *)&spoiled;
    return CU_SUCCESS;
}

EXPORT cu_result cuCtxDestroy_v2(cu_context context);
EXPORT cu_result cuCtxDestroy_v2(cu_context context)
{
    return context ? CU_SUCCESS : INVALID_VALUE;
}

EXPORT cu_result cuCtxSynchronize(void);
EXPORT cu_result cuCtxSynchronize(void)
{
    while (has_fault("hang"))
        ;
    return spoiled ? ILLEGAL_ADDRESS : CU_SUCCESS;
}

static void refuse(int count, const int *options, void **values, const char *words)
{
    for (int i = 0; i < count; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            strcpy(values[i], words);
}

EXPORT cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int count,
                                    int *options, void **values);
EXPORT cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int count,
                                    int *options, void **values)
{
    if (spoiled)
        return ILLEGAL_ADDRESS;
    if (has_fault("old"))
        return CU_UNSUPPORTED_PTX_VERSION;
    if (has_fault("refuse")) {
        refuse((int)count, options, values,
               "ptxas application ptx input, line 17; error   : I know no bar.sync\n");
        return CU_INVALID_PTX;
    }
    if (has_fault("abort")) {
        fprintf(stderr, "jit.cpp:12: int f(): Assertion `Live != Dead' failed.\n");
        abort();
    }
    *module = calloc(1, sizeof **module);
    (*module)->text = strdup(image);
    for (unsigned int i = 0; i < count; i++)
        if (options[i] == CU_JIT_OPTIMIZATION_LEVEL)
            (*module)->level = (int)(intptr_t)values[i];
    return CU_SUCCESS;
}

EXPORT cu_result cuModuleUnload(cu_module module);
EXPORT cu_result cuModuleUnload(cu_module module)
{
    free(module->text);
    free(module);
    return CU_SUCCESS;
}

EXPORT cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name);
EXPORT cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    if (!strstr(module->text, name))
        return NOT_FOUND;
    last_function.module = module;
    snprintf(last_function.name, sizeof last_function.name, "%s", name);
    *function = &last_function;
    return CU_SUCCESS;
}

EXPORT cu_result cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module,
                                      const char *name);
EXPORT cu_result cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module,
                                      const char *name)
{
    (void)module;
    (void)name;
    *address = 0;
    *bytes = 0;
    return NOT_FOUND;
}

EXPORT cu_result cuMemAlloc_v2(cu_address *address, size_t bytes);
EXPORT cu_result cuMemAlloc_v2(cu_address *address, size_t bytes)
{
    void *memory = bytes ? malloc(bytes) : NULL;
    *address = (cu_address)(uintptr_t)memory;
    allocated = bytes;
    return memory ? CU_SUCCESS : OUT_OF_MEMORY;
}

EXPORT cu_result cuMemFree_v2(cu_address address);
EXPORT cu_result cuMemFree_v2(cu_address address)
{
    free((void *)(uintptr_t)address);
    return CU_SUCCESS;
}

EXPORT cu_result cuMemcpyHtoD_v2(cu_address to, const void *from, size_t bytes);
EXPORT cu_result cuMemcpyHtoD_v2(cu_address to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CU_SUCCESS;
}

EXPORT cu_result cuMemcpyDtoH_v2(void *to, cu_address from, size_t bytes);
EXPORT cu_result cuMemcpyDtoH_v2(void *to, cu_address from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CU_SUCCESS;
}

static void put_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        abort();
}

/* On the GPU: the working directory is the worker's own. */
static bool run(const struct CUfunc_st *function, unsigned int blocks, unsigned int threads,
                void *memory)
{
    char command[512];
    snprintf(command, sizeof command, "\"$MOCK_CUDA_GPU\" mock.ptx %s %u %u mock.memory 1>&2",
             function->name, threads, blocks);
    put_file("mock.ptx", function->module->text, strlen(function->module->text));
    put_file("mock.memory", memory, allocated);
    if (system(command) != 0)
        return false;
    FILE *file = fopen("mock.memory", "rb");
    bool read = file && fread(memory, 1, allocated, file) == allocated;
    if (file)
        fclose(file);
    return read;
}

EXPORT cu_result cuLaunchKernel(cu_function function, unsigned int bx, unsigned int by,
                                unsigned int bz, unsigned int tx, unsigned int ty, unsigned int tz,
                                unsigned int shared, cu_stream stream, void **parameters,
                                void **extra);
EXPORT cu_result cuLaunchKernel(cu_function function, unsigned int bx, unsigned int by,
                                unsigned int bz, unsigned int tx, unsigned int ty, unsigned int tz,
                                unsigned int shared, cu_stream stream, void **parameters,
                                void **extra)
{
    int *memory = (int *)(uintptr_t) * (cu_address *)parameters[0];
    if (by != 1 || bz != 1 || ty != 1 || tz != 1 || shared || stream || extra)
        return INVALID_VALUE;
    launches++;
    if (has_fault("illegal") || has_fault("spoiled") || (has_fault("third") && launches == 3))
        spoiled = true;
    if (!spoiled && !run(function, bx, tx, memory))
        spoiled = true;
    if (has_fault("wrong") || (has_fault("optimises") && function->module->level > 1))
        memory[0]++;
    return CU_SUCCESS;
}

EXPORT cu_result cuGetErrorName(cu_result error, const char **name);
EXPORT cu_result cuGetErrorName(cu_result error, const char **name)
{
    *name = error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
                                     : NULL;
    return *name ? CU_SUCCESS : INVALID_VALUE;
}
