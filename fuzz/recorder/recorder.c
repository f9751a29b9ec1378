/*
 * recorder.c - what `simtfuzz record` loads into a CUDA program that runs on a GPU: the runtime's functions that
 * allocate, register and launch go through here to the runtime that would have been called (the next one that has
 * them). Before and behind each launch all of device memory is copied into the file that simtfuzz reads.
 *
 * Launches come one after the other so: whatever the program had under way is waited for first.
 */
#include "fuzz/cudart/cudart.h"
#include "fuzz/cudart/static_link.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TO_HOST = 2, PAGE = 4096 };

struct buffer {
    uint64_t address, bytes, offset; /* offset: in the file */
    enum device_memory kind;
    char *copy; /* where the file is mapped */
    struct buffer *next;
};

struct module {
    void **handle;
    uint32_t number;
    struct module *next;
};

struct variable {
    const void *host;
    char *name;
    uint32_t module;
    size_t bytes;
    bool is_constant, known;
    struct variable *next;
};

static struct buffer *buffers;
static struct module *modules;
static struct variable *variables;
static struct kernel *kernels;
static uint64_t file_bytes;
static uint32_t buffer_count, module_count;
static bool incomplete; /* some of device memory is not kept: launches are not recorded */

/* ---- the runtime behind this one ---- */

/* Of a program that is linked with the static one, whose functions all become those of the shared one. */
static void *shared_runtime;

static void *find_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found || !shared_runtime ? found : dlsym(shared_runtime, name);
}

/* For static_link_runtime: there is no shared one, so all stays. */
static void *find_other(const char *name)
{
    if (!find_next("cudaMalloc") && !shared_runtime)
        shared_runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (!find_next("cudaMalloc"))
        return NULL;
    void *own = static_link_own(name);
    return own ? own : find_next(name);
}

static __attribute__((constructor)) void start(void)
{
    static_link_runtime(find_other);
}

static void *next_of(const char *name)
{
    void *found = find_next(name);
    if (found)
        return found;
    fprintf(stderr, "simtfuzz record: there is no %s behind the recorder\n", name);
    _exit(3);
}

/* The function of this name and type that would have been called. */
#define NEXT(name) ((__typeof__(&name))next_of(#name))

EXPORT cudaError_t cudaDeviceSynchronize(void);
EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
EXPORT cudaError_t cudaGetLastError(void);
EXPORT const char *cudaGetErrorString(cudaError_t error);

/* The first who has a GPU is recorded, not a shell before it. */
static bool enter(void)
{
    static bool claimed;
    if (!claimed)
        device_claim(DEVICE_RECORD_NAME);
    claimed = true;
    return device_lock() == DEVICE_OURS;
}

/* ---- memory ---- */

/* Of the file. */
static uint64_t mapped(uint64_t bytes)
{
    return (bytes + PAGE) / PAGE * PAGE;
}

static struct buffer *new_buffer(uint64_t address, uint64_t bytes, enum device_memory kind)
{
    const uint64_t length = mapped(bytes);
    struct buffer *b = calloc(1, sizeof *b);
    if (!b || file_bytes + length > DEVICE_MEMORY_BYTES ||
        ftruncate(device_file(), (off_t)(file_bytes + length)) != 0) {
        device_say(DEVICE_NOTE,
                   "device memory of more than %llu bytes: launches from here on are not recorded",
                   (unsigned long long)DEVICE_MEMORY_BYTES);
        incomplete = true;
        free(b);
        return NULL;
    }
    *b = (struct buffer){address, bytes, file_bytes, kind, NULL, buffers};
    b->copy =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, device_file(), (off_t)b->offset);
    file_bytes += length;
    return buffers = b;
}

static struct device_allocation allocation(const struct buffer *b)
{
    return (struct device_allocation){b->address, b->bytes, b->offset, (uint32_t)b->kind,
                                      ++buffer_count};
}

static cudaError_t allocated(cudaError_t error, void *const *pointer, uint64_t bytes,
                             enum device_memory kind)
{
    if (error || bytes == 0 || !enter())
        return error;
    const struct buffer *b = new_buffer((uint64_t)(uintptr_t)*pointer, bytes, kind);
    if (b) {
        const struct device_allocated message = {.at = allocation(b)};
        device_tell(DEVICE_ALLOCATE, &message, sizeof message, NULL, 0);
    }
    device_leave();
    return error;
}

static void forget(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!pointer || !enter())
        return;
    for (struct buffer **b = &buffers; *b; b = &(*b)->next)
        if ((*b)->address == address) {
            struct buffer *gone = *b;
            munmap(gone->copy, mapped(gone->bytes));
            *b = gone->next;
            free(gone);
            device_tell(DEVICE_FREE, &address, sizeof address, NULL, 0);
            break;
        }
    device_leave();
}

/* The variables of all modules get their addresses when the device is there: at the first launch. */
static void find_variables(void)
{
    for (struct variable *v = variables; v; v = v->next) {
        void *address = NULL;
        if (v->known)
            continue;
        v->known = true;
        if (NEXT(cudaGetSymbolAddress)(&address, v->host) != 0) {
            NEXT(cudaGetLastError)();
            continue;
        }
        const struct buffer *b =
            new_buffer((uint64_t)(uintptr_t)address, v->bytes, DEVICE_MEMORY_VARIABLE);
        if (!b)
            continue;
        const struct device_variable message = {allocation(b), v->module, v->is_constant};
        uint32_t error;
        device_tell(DEVICE_VARIABLE, &message, sizeof message, v->name, strlen(v->name));
        device_hear(&error, sizeof error);
    }
}

/* All of device memory, as it is now. */
static bool copy_memory_out(void)
{
    for (const struct buffer *b = buffers; b; b = b->next) {
        const void *from = (const void *)(uintptr_t)b->address;
        if (b->kind == DEVICE_MEMORY_HOST)
            memcpy(b->copy, from, b->bytes);
        else if (NEXT(cudaMemcpy)(b->copy, from, b->bytes, TO_HOST) != 0)
            return false;
    }
    return true;
}

EXPORT cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocated(NEXT(cudaMalloc)(pointer, bytes), pointer, bytes, DEVICE_MEMORY_DEVICE);
}

EXPORT cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    return allocated(NEXT(cudaMallocAsync)(pointer, bytes, stream), pointer, bytes,
                     DEVICE_MEMORY_DEVICE);
}

EXPORT cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    const cudaError_t error = NEXT(cudaMallocPitch)(pointer, pitch, width, height);
    return allocated(error, pointer, error ? 0 : *pitch * height, DEVICE_MEMORY_DEVICE);
}

EXPORT cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    return allocated(NEXT(cudaMallocManaged)(pointer, bytes, flags), pointer, bytes,
                     DEVICE_MEMORY_MANAGED);
}

EXPORT cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocated(NEXT(cudaMallocHost)(pointer, bytes), pointer, bytes, DEVICE_MEMORY_HOST);
}

EXPORT cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return allocated(NEXT(cudaHostAlloc)(pointer, bytes, flags), pointer, bytes,
                     DEVICE_MEMORY_HOST);
}

EXPORT cudaError_t cudaFree(void *pointer);
cudaError_t cudaFree(void *pointer)
{
    forget(pointer);
    return NEXT(cudaFree)(pointer);
}

EXPORT cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    forget(pointer);
    return NEXT(cudaFreeAsync)(pointer, stream);
}

EXPORT cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaFreeHost(void *pointer)
{
    forget(pointer);
    return NEXT(cudaFreeHost)(pointer);
}

/* ---- modules ---- */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
void **__cudaRegisterFatBinary(void *wrapper)
{
    void **handle = NEXT(__cudaRegisterFatBinary)(wrapper);
    struct module *module = calloc(1, sizeof *module);
    if (!module || !enter())
        return handle;
    *module = (struct module){handle, ++module_count, modules};
    modules = module;
    device_tell_module(module->number, wrapper);
    device_leave();
    return handle;
}

static uint32_t module_of(void **handle)
{
    const struct module *module = modules;
    while (module && module->handle != handle)
        module = module->next;
    return module ? module->number : 0;
}

EXPORT void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                                   int thread_limit, void *tid, void *bid, void *block, void *grid,
                                   int *warp);
void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    NEXT(__cudaRegisterFunction)
    (module, host, device, name, thread_limit, tid, bid, block, grid, warp);
    if (!kernel)
        return;
    *kernel = (struct kernel){
        .host = host, .name = strdup(name), .module = module_of(module), .next = kernels};
    kernels = kernel;
}

static void add_variable(void **module, const void *host, const char *name, size_t bytes,
                         bool is_constant)
{
    struct variable *v = calloc(1, sizeof *v);
    if (!v)
        return;
    *v = (struct variable){.host = host,
                           .name = strdup(name),
                           .module = module_of(module),
                           .bytes = bytes,
                           .is_constant = is_constant,
                           .next = variables};
    variables = v;
}

EXPORT void __cudaRegisterVar(void **module, char *host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global);
void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global)
{
    NEXT(__cudaRegisterVar)(module, host, device, name, is_extern, bytes, is_constant, is_global);
    add_variable(module, host, name, bytes, is_constant != 0);
}

EXPORT void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name,
                                     int is_extern, size_t bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global)
{
    NEXT(__cudaRegisterManagedVar)
    (module, host, device, name, is_extern, bytes, is_constant, is_global);
    add_variable(module, host, name, bytes, false);
}

/* ---- launches ---- */

static struct kernel *kernel_of(const void *host)
{
    struct kernel *kernel = kernels;
    while (kernel && kernel->host != host)
        kernel = kernel->next;
    return kernel;
}

struct handle { /* of cudaGetKernel: another name for the kernel */
    const void *handle;
    struct kernel *kernel;
    struct handle *next;
};
static struct handle *handles;

static struct kernel *kernel_of_handle(const void *handle)
{
    const struct handle *h = handles;
    while (h && h->handle != handle)
        h = h->next;
    return h ? h->kernel : kernel_of(handle);
}

EXPORT cudaError_t __cudaGetKernel(void **kernel, const void *host);
cudaError_t __cudaGetKernel(void **kernel, const void *host)
{
    const cudaError_t error = NEXT(__cudaGetKernel)(kernel, host);
    struct handle *h = calloc(1, sizeof *h);
    if (!h || !enter())
        return error;
    *h = (struct handle){*kernel, kernel_of(host), handles};
    handles = h;
    device_leave();
    return error;
}

static bool is_capturing(cudaStream_t stream)
{
    cudaError_t (*ask)(cudaStream_t, int *) =
        (cudaError_t(*)(cudaStream_t, int *))find_next("cudaStreamIsCapturing");
    int status = 0;
    return ask && ask(stream, &status) == 0 && status != 0;
}

/* Locked, and memory copied, if the launch is one to record; else neither. */
static bool record_start(struct kernel *kernel, struct device_launch *launch, void **arguments)
{
    struct device_launched answer = {.error = 1};
    if (!kernel || !enter())
        return false;
    if (!kernel->known) {
        device_tell(DEVICE_KERNEL, &kernel->module, sizeof kernel->module, kernel->name,
                    strlen(kernel->name));
        device_hear(&kernel->device, sizeof kernel->device);
        kernel->known = true;
    }
    const bool captured = is_capturing((cudaStream_t)(uintptr_t)launch->stream);
    if (captured)
        device_say(DEVICE_NOTE, "%s: launches of graphs are not recorded", kernel->name);
    if (!captured && NEXT(cudaDeviceSynchronize)() == 0) {
        find_variables();
        launch->module = kernel->module;
        if (!incomplete && !kernel->device.error && copy_memory_out())
            device_tell_launch(&kernel->device, kernel->name, launch, arguments, &answer);
    }
    if (answer.error)
        device_leave();
    return answer.error == 0;
}

static void record_end(cudaError_t error)
{
    struct device_result result = {.error = (uint32_t)error};
    uint32_t heard;
    if (!error)
        result.error = (uint32_t)NEXT(cudaDeviceSynchronize)();
    if (!result.error && !copy_memory_out())
        result.error = 1;
    const char *text = result.error ? NEXT(cudaGetErrorString)((cudaError_t)result.error) : "";
    device_tell(DEVICE_RESULT, &result, sizeof result, text, strlen(text));
    device_hear(&heard, sizeof heard);
    device_leave();
}

static struct device_launch launch_of(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    struct device_launch launch = {.grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .shared_bytes = shared,
                                   .stream = (uint64_t)(uintptr_t)stream};
    host_frames(&launch.stack);
    return launch;
}

/* `call` launches; what stands around it records. */
#define RECORDED(kernel, launch, arguments, call)                                                  \
    const bool recorded = record_start(kernel, launch, arguments);                                 \
    const cudaError_t error = call;                                                                \
    if (recorded)                                                                                  \
        record_end(error);                                                                         \
    return error

EXPORT cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    struct device_launch launch = launch_of(grid, block, shared, stream);
    RECORDED(kernel_of_handle(function), &launch, arguments,
             NEXT(cudaLaunchKernel)(function, grid, block, arguments, shared, stream));
}

EXPORT cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream)
{
    struct device_launch launch = launch_of(grid, block, shared, stream);
    RECORDED(kernel_of_handle(kernel), &launch, arguments,
             NEXT(__cudaLaunchKernel)(kernel, grid, block, arguments, shared, stream));
}

EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                               void **arguments, size_t shared,
                                               cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream)
{
    struct device_launch launch = launch_of(grid, block, shared, stream);
    launch.cooperative = true;
    RECORDED(kernel_of_handle(function), &launch, arguments,
             NEXT(cudaLaunchCooperativeKernel)(function, grid, block, arguments, shared, stream));
}

EXPORT cudaError_t cudaLaunchKernelExC(const void *config, const void *function, void **arguments);
cudaError_t cudaLaunchKernelExC(const void *config, const void *function, void **arguments)
{
    const char *at = config; /* grid, block, shared bytes, stream; then attributes */
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    memcpy(&grid, at, sizeof grid);
    memcpy(&block, at + 12, sizeof block);
    memcpy(&shared, at + 24, sizeof shared);
    memcpy(&stream, at + 32, sizeof stream);
    struct device_launch launch = launch_of(grid, block, shared, stream);
    device_read_attributes(config, &launch);
    RECORDED(kernel_of_handle(function), &launch, arguments,
             NEXT(cudaLaunchKernelExC)(config, function, arguments));
}
