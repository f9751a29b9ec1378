#define _GNU_SOURCE /* strcasestr */
/*
 * serve_opencl.c - an OpenCL platform, loaded through libOpenCL.
 */
#include "fuzz/serve/loaded.h"
#include "fuzz/serve/opencl_api.h"
#include "fuzz/serve/serve.h"

#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 16, INFO_MAX = 256, LOG_MAX = 32 << 10 };

struct opencl {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
#define FUNCTION(result, name, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* ---- loading ---- */

static bool load_functions(struct opencl *cl, const char **reason)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    bool complete = library != NULL;
    *reason = library ? "libOpenCL lacks a function" : "there is no libOpenCL.so.1";
    if (!library)
        return false;
#define FUNCTION(result, name, parameters)                                                         \
    complete = loaded_find(library, #name, &cl->name) && complete;
    OPENCL_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return complete;
}

static const char *platform_info(const struct opencl *cl, struct arena *arena, uint32_t what)
{
    char *text = ARENA_ARRAY(arena, char, INFO_MAX);
    if (cl->clGetPlatformInfo(cl->platform, what, INFO_MAX - 1, text, NULL) != 0)
        *text = '\0';
    return text;
}

static const char *device_info(const struct opencl *cl, struct arena *arena, uint32_t what)
{
    char *text = ARENA_ARRAY(arena, char, INFO_MAX);
    if (cl->clGetDeviceInfo(cl->device, what, INFO_MAX - 1, text, NULL) != 0)
        *text = '\0';
    return text;
}

static bool has_device(struct opencl *cl)
{
    uint32_t count = 0;
    return cl->clGetDeviceIDs(cl->platform, CL_DEVICE_TYPE_ALL, 1, &cl->device, &count) == 0 &&
           count > 0;
}

/* The first platform with a device whose name holds the text. */
static bool find_platform(struct opencl *cl, struct arena *arena, const char *name)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    uint32_t count = 0;
    if (cl->clGetPlatformIDs(PLATFORMS_MAX, platforms, &count) != 0)
        return false;
    for (uint32_t i = 0; i < count && i < PLATFORMS_MAX; i++) {
        cl->platform = platforms[i];
        if (strcasestr(platform_info(cl, arena, CL_PLATFORM_NAME), name) && has_device(cl))
            return true;
    }
    return false;
}

static void *load(struct arena *arena, const char *rest, const char **reason)
{
    struct opencl *cl = ARENA_NEW(arena, struct opencl);
    int32_t error = 0;
    if (!load_functions(cl, reason))
        return NULL;
    *reason = "there is no such platform with a device";
    if (!find_platform(cl, arena, rest))
        return NULL;
    *reason = "the device gives no context";
    cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, &error);
    if (!cl->context || error)
        return NULL;
    cl->queue = cl->clCreateCommandQueue(cl->context, cl->device, 0, &error);
    return cl->queue && !error ? cl : NULL;
}

/* ---- requests ---- */

static void hello(struct arena *arena, void *own, struct text *answer)
{
    const struct opencl *cl = own;
    message_put_text(answer, "name", platform_info(cl, arena, CL_PLATFORM_NAME));
    message_put_text(answer, "version",
                     arena_printf(arena, "%s, %s, %s",
                                  platform_info(cl, arena, CL_PLATFORM_VERSION),
                                  device_info(cl, arena, CL_DEVICE_NAME),
                                  device_info(cl, arena, CL_DRIVER_VERSION)));
    message_put_text(answer, "language", "opencl");
}

static const char *code_of(struct arena *arena, const char *function, int32_t error)
{
    return arena_printf(arena, "%s: error %d", function, (int)error);
}

/* NULL: it terminated; `words` are what the buffer then holds. Otherwise what failed. */
static const char *launch(struct arena *arena, const struct opencl *cl, cl_kernel kernel,
                          const struct served_kernel *k, void *words)
{
    const size_t local = k->threads, global = (size_t)k->threads * k->blocks;
    int32_t error = 0;
    cl_mem buffer = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       k->bytes, words, &error);
    if (error)
        return code_of(arena, "clCreateBuffer", error);
    const char *failed = "clSetKernelArg";
    error = cl->clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (!error) {
        failed = "clEnqueueNDRangeKernel";
        error =
            cl->clEnqueueNDRangeKernel(cl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    }
    if (!error) {
        failed = "clEnqueueReadBuffer";
        error = cl->clEnqueueReadBuffer(cl->queue, buffer, 1, 0, k->bytes, words, 0, NULL, NULL);
    }
    (void)cl->clFinish(cl->queue);
    (void)cl->clReleaseMemObject(buffer);
    return error ? code_of(arena, failed, error) : NULL;
}

static void run_kernel(struct arena *arena, const struct opencl *cl, cl_program program,
                       const struct served_kernel *k, struct text *answer)
{
    int32_t error = 0;
    cl_kernel kernel = cl->clCreateKernel(program, k->entry, &error);
    if (!kernel || error) {
        served_answer(answer, "run-error", code_of(arena, "clCreateKernel", error), "", 0);
        return;
    }
    void *words = arena_room(arena, k->bytes);
    memcpy(words, k->memory, k->bytes);
    const char *failed = launch(arena, cl, kernel, k, words);
    if (failed)
        served_answer(answer, "run-error", failed, "", 0);
    else
        served_answer(answer, "final", "", words, k->bytes);
    (void)cl->clReleaseKernel(kernel);
}

static const char *build_log(struct arena *arena, const struct opencl *cl, cl_program program)
{
    size_t length = 0;
    if (cl->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length) != 0)
        return "";
    char *text = ARENA_ARRAY(arena, char, length + 1);
    if (cl->clGetProgramBuildInfo(program, cl->device, CL_PROGRAM_BUILD_LOG, length, text, NULL) !=
        0)
        return "";
    text[length < LOG_MAX ? length : LOG_MAX] = '\0';
    return text;
}

static void run(struct arena *arena, void *own, const struct message *request, struct text *answer)
{
    const struct opencl *cl = own;
    const char *source = message_text(request, "text", 0);
    int32_t error = 0;
    struct served_kernel kernel;
    cl_program program = cl->clCreateProgramWithSource(cl->context, 1, &source, NULL, &error);
    if (!error)
        error = cl->clBuildProgram(program, 1, &cl->device, message_text(request, "options", 0),
                                   NULL, NULL);
    if (error && program)
        message_put_text(answer, "log", build_log(arena, cl, program));
    for (uint32_t i = 0; served_kernel(request, i, &kernel); i++)
        if (error)
            served_answer(answer, "compile-error", "", "", 0);
        else
            run_kernel(arena, cl, program, &kernel, answer);
    if (program)
        (void)cl->clReleaseProgram(program);
}

const struct served served_opencl = {
    .name = "opencl",
    .load = load,
    .hello = hello,
    .run = run,
};
