/*
 * mock_opencl.c - an OpenCL library with two platforms, mock-a and mock-b, that runs every kernel as `a = 7` of its
 * first word, and behaves as drivers do. MOCK_OPENCL names what it does: print, chdir, signals, fork, exit, leak, die.
 */
#include "fuzz/serve/opencl_api.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DECLARE(result, name, parameters) result name parameters;
OPENCL_FUNCTIONS(DECLARE)

enum { PLATFORMS = 2, OUT_OF_MEMORY = -6 };

struct _cl_mem {
    int32_t *words;
};

static char names[PLATFORMS][8] = {"mock-a", "mock-b"};
static cl_mem argument;

static int does(const char *what)
{
    const char *mock = getenv("MOCK_OPENCL");
    return mock && strcmp(mock, what) == 0;
}

static void *any(void)
{
    static int thing;
    return &thing;
}

/* Something that a parent might take for an answer. */
static void print(const char *where)
{
    if (!does("print"))
        return;
    printf("5\nmock: %s\n", where);
    (void)fflush(stdout);
    if (write(1, "7\nanswer\n", 9) < 0)
        abort();
}

/* ---- loading and unloading ---- */

static void go_on(int signal)
{
    (void)signal; /* the process is told to end, and does not */
}

__attribute__((constructor)) static void load(void)
{
    print("loading");
    if (does("chdir") && chdir("/") != 0)
        abort();
    if (!does("signals"))
        return;
    const int caught[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXCPU, SIGCHLD, SIGALRM};
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        (void)signal(caught[i], go_on);
}

__attribute__((destructor)) static void unload(void)
{
    while (does("exit"))
        (void)sleep(1);
}

int32_t clGetPlatformIDs(uint32_t room, cl_platform_id *platforms, uint32_t *count)
{
    for (uint32_t i = 0; i < PLATFORMS && i < room; i++)
        platforms[i] = (cl_platform_id)(void *)names[i];
    *count = PLATFORMS;
    return 0;
}

static int32_t tell(const char *text, size_t room, void *value)
{
    snprintf(value, room, "%s", text);
    return 0;
}

int32_t clGetPlatformInfo(cl_platform_id platform, uint32_t what, size_t room, void *value,
                          size_t *length)
{
    (void)length;
    return tell(what == CL_PLATFORM_NAME ? (const char *)(void *)platform : "1.2", room, value);
}

int32_t clGetDeviceIDs(cl_platform_id platform, uint64_t type, uint32_t room, cl_device_id *devices,
                       uint32_t *count)
{
    (void)type;
    if (room)
        devices[0] = (cl_device_id)(void *)platform;
    *count = 1;
    return 0;
}

int32_t clGetDeviceInfo(cl_device_id device, uint32_t what, size_t room, void *value,
                        size_t *length)
{
    (void)device;
    (void)what;
    (void)length;
    return tell("mock", room, value);
}

/* Two drivers that define what the other one defines, too: who uses both in one process dies. */
cl_context clCreateContext(const intptr_t *properties, uint32_t count, const cl_device_id *devices,
                           void (*notify)(const char *, const void *, size_t, void *), void *user,
                           int32_t *error)
{
    static cl_device_id first;
    (void)properties;
    (void)count;
    (void)notify;
    (void)user;
    if (first && first != devices[0])
        abort();
    first = devices[0];
    *error = 0;
    return any();
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, uint64_t properties,
                                      int32_t *error)
{
    (void)context;
    (void)device;
    (void)properties;
    *error = 0;
    return any();
}

/* ---- programs ---- */

cl_program clCreateProgramWithSource(cl_context context, uint32_t count, const char **texts,
                                     const size_t *lengths, int32_t *error)
{
    (void)context;
    (void)count;
    (void)texts;
    (void)lengths;
    print("compiling");
    *error = 0;
    return any();
}

int32_t clBuildProgram(cl_program program, uint32_t count, const cl_device_id *devices,
                       const char *options, void (*notify)(cl_program, void *), void *user)
{
    (void)program;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    if (does("die"))
        (void)raise(SIGSEGV);
    return 0;
}

int32_t clGetProgramBuildInfo(cl_program program, cl_device_id device, uint32_t what, size_t room,
                              void *value, size_t *length)
{
    (void)program;
    (void)device;
    (void)what;
    (void)room;
    (void)value;
    *length = 0;
    return 0;
}

cl_kernel clCreateKernel(cl_program program, const char *name, int32_t *error)
{
    (void)program;
    (void)name;
    *error = 0;
    return any();
}

int32_t clReleaseKernel(cl_kernel kernel)
{
    (void)kernel;
    return 0;
}

int32_t clReleaseProgram(cl_program program)
{
    (void)program;
    return 0;
}

/* ---- memory ---- */

/* What leaks is address space: a few kernels later there is none left below the limit. */
static int leak(void)
{
    const size_t bytes = (size_t)6 << 30;
    return !does("leak") || mmap(NULL, bytes, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

cl_mem clCreateBuffer(cl_context context, uint64_t flags, size_t size, void *host, int32_t *error)
{
    (void)context;
    (void)flags;
    cl_mem buffer = leak() ? malloc(sizeof *buffer) : NULL;
    *error = buffer ? 0 : OUT_OF_MEMORY;
    if (!buffer)
        return NULL;
    *buffer = (struct _cl_mem){.words = malloc(size)};
    memcpy(buffer->words, host, size);
    return buffer;
}

int32_t clSetKernelArg(cl_kernel kernel, uint32_t number, size_t size, const void *value)
{
    (void)kernel;
    (void)number;
    memcpy(&argument, value, size);
    return 0;
}

int32_t clReleaseMemObject(cl_mem buffer)
{
    free(buffer->words);
    free(buffer);
    return 0;
}

/* ---- running ---- */

/* A child that stays, and holds what its parent holds. */
static void leave_child(void)
{
    pid_t pid = fork();
    const char *path = getenv("MOCK_OPENCL_CHILD");
    FILE *file = pid > 0 && path ? fopen(path, "w") : NULL;
    while (pid == 0)
        (void)sleep(1);
    if (!file)
        return;
    fprintf(file, "%ld\n", (long)pid);
    fclose(file);
}

int32_t clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, uint32_t dimensions,
                               const size_t *offset, const size_t *global, const size_t *local,
                               uint32_t count, const void *events, void *event)
{
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)global;
    (void)local;
    (void)count;
    (void)events;
    (void)event;
    volatile int forever = does("signals");
    while (forever)
        ;
    if (does("fork"))
        leave_child();
    print("running");
    argument->words[0] = 7;
    return 0;
}

int32_t clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, uint32_t blocking, size_t offset,
                            size_t bytes, void *host, uint32_t count, const void *events,
                            void *event)
{
    (void)queue;
    (void)blocking;
    (void)count;
    (void)events;
    (void)event;
    memcpy(host, (const char *)buffer->words + offset, bytes);
    return 0;
}

int32_t clFinish(cl_command_queue queue)
{
    (void)queue;
    return 0;
}
