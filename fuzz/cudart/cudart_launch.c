/*
 * Modules, kernels, variables: what nvcc's start-up code registers, and launches.
 */
#include "fuzz/cudart/operation.h"
#include "fuzz/cudart/order.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PUSHED_MAX = 16 };

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void __cudaRegisterFatBinaryEnd(void **module);
EXPORT void __cudaUnregisterFatBinary(void **module);
EXPORT char __cudaInitModule(void **module);
EXPORT void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                                   int thread_limit, void *tid, void *bid, void *block, void *grid,
                                   int *warp);
EXPORT void __cudaRegisterVar(void **module, char *host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global);
EXPORT void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name,
                                     int is_extern, size_t bytes, int is_constant, int is_global);
EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream);
EXPORT cudaError_t __cudaGetKernel(void **kernel, const void *host);
EXPORT cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream);
EXPORT cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream);
EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                               void **arguments, size_t shared,
                                               cudaStream_t stream);
EXPORT cudaError_t cudaLaunchKernelExC(const void *config, const void *function, void **arguments);
EXPORT cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
EXPORT cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol);
EXPORT cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, int kind);
EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                           size_t offset, int kind, cudaStream_t stream);
EXPORT cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                        int kind);
EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                             size_t offset, int kind, cudaStream_t stream);

/* ---- what is registered ---- */

struct registered { /* a module; its handle in the program */
    uint32_t number;
    const void *wrapper; /* NULL: it was told, or is gone */
    struct registered *next;
};

struct variable {
    const void *host;
    void **managed; /* where the program keeps a managed variable's address */
    char *name;
    uint32_t module;
    size_t bytes;
    bool is_constant, told;
    struct allocation *at;
    struct variable *next;
};

static struct kernel *kernels;
static struct variable *variables, **variables_end = &variables;
static struct registered *registered, **registered_end = &registered;
static uint32_t modules;
static bool all_told = true; /* of what is registered */

bool modules_are_registered(void)
{
    return registered != NULL;
}

uint32_t module_new(const void *data, size_t bytes)
{
    uint32_t number = ++modules;
    device_tell(DEVICE_MODULE, &number, sizeof number, data, bytes);
    return number;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct registered *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    *new = (struct registered){++modules, wrapper, NULL};
    *registered_end = new;
    registered_end = &new->next;
    all_told = false;
    return (void **)new;
}

void __cudaRegisterFatBinaryEnd(void **module)
{
    (void)module;
}

void __cudaUnregisterFatBinary(void **module)
{
    if (module)
        ((struct registered *)(void *)module)->wrapper = NULL;
}

/* A managed variable is about to be used by the host. */
char __cudaInitModule(void **module)
{
    (void)module;
    if (device_enter())
        device_leave();
    return 1;
}

static uint32_t number_of(const void *module)
{
    return ((const struct registered *)module)->number;
}

void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    if (!kernel || !module)
        return;
    *kernel = (struct kernel){
        .host = host, .name = strdup(name), .module = number_of(module), .next = kernels};
    kernels = kernel;
}

struct allocation *variable_new(uint32_t module, const char *name, size_t bytes, bool is_constant,
                                bool is_managed)
{
    struct allocation *at =
        allocation_new(bytes, is_managed ? DEVICE_MEMORY_MANAGED : DEVICE_MEMORY_VARIABLE);
    if (!at)
        return NULL;
    struct device_variable message = {
        {at->address, bytes, at->offset, (uint32_t)at->kind, at->number}, module, is_constant};
    uint32_t error;
    device_tell(DEVICE_VARIABLE, &message, sizeof message, name, strlen(name));
    device_hear(&error, sizeof error);
    return at;
}

static void add_variable(const void *module, const void *host, void **managed, const char *name,
                         size_t bytes, bool is_constant)
{
    struct variable *variable = calloc(1, sizeof *variable);
    if (!variable || !module)
        return;
    *variable = (struct variable){.host = host,
                                  .managed = managed,
                                  .name = strdup(name),
                                  .module = number_of(module),
                                  .bytes = bytes,
                                  .is_constant = is_constant};
    *variables_end = variable;
    variables_end = &variable->next;
    all_told = false;
}

void tell_registered(void)
{
    if (all_told)
        return;
    all_told = true;
    for (struct registered *r = registered; r; r = r->next)
        if (r->wrapper) {
            device_tell_module(r->number, r->wrapper);
            r->wrapper = NULL;
        }
    for (struct variable *v = variables; v; v = v->next) {
        if (v->told)
            continue;
        v->told = true;
        v->at = variable_new(v->module, v->name, v->bytes, v->is_constant, v->managed != NULL);
        if (v->at && v->managed)
            *v->managed = v->at->mapped;
    }
}

void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_global;
    add_variable(module, host, NULL, name, bytes, is_constant != 0);
}

void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add_variable(module, host, host, name, bytes, false);
}

/* ---- <<<..>>> ---- */

struct configuration {
    dim3 grid, block;
    size_t shared;
    void *stream;
};

static __thread struct configuration pushed[PUSHED_MAX];
static __thread unsigned pushed_count;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    if (pushed_count == PUSHED_MAX)
        return 1;
    pushed[pushed_count++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (pushed_count == 0)
        return cudaErrorInvalidConfiguration;
    const struct configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    return cudaSuccess;
}

/* ---- launches ---- */

static struct kernel *loaded; /* kernels of the driver's modules */

void add_loaded_kernel(struct kernel *kernel)
{
    kernel->next_loaded = loaded;
    loaded = kernel;
}

struct kernel *find_kernel(const void *handle)
{
    struct kernel *kernel = kernels, *other = loaded;
    while (kernel && kernel->host != handle && kernel != handle)
        kernel = kernel->next;
    while (other && other != handle)
        other = other->next_loaded;
    return kernel ? kernel : other;
}

cudaError_t __cudaGetKernel(void **kernel, const void *host)
{
    struct kernel *found = find_kernel(host);
    *kernel = found;
    return give(found ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

void ask_kernel(struct kernel *kernel)
{
    if (kernel->known)
        return;
    device_tell(DEVICE_KERNEL, &kernel->module, sizeof kernel->module, kernel->name,
                strlen(kernel->name));
    device_hear(&kernel->device, sizeof kernel->device);
    kernel->known = true;
}

struct kernel *know_kernel(const void *handle)
{
    struct kernel *kernel = find_kernel(handle);
    if (!kernel || !device_enter())
        return NULL;
    ask_kernel(kernel);
    device_leave();
    return kernel->device.error ? NULL : kernel;
}

uint32_t most_dynamic(const struct kernel *kernel)
{
    const uint32_t own = kernel->device.shared_bytes;
    return kernel->most_dynamic ? kernel->most_dynamic
           : own < SHARED_USUAL ? SHARED_USUAL - own
                                : 0;
}

/* A launch that no device takes; between device_enter and _leave. */
static cudaError_t refuse_launch(const struct kernel *kernel, const struct device_launch *launch,
                                 cudaError_t error, const char *what, uint64_t is, uint64_t most)
{
    const uint32_t *g = launch->grid, *b = launch->block;
    device_say(DEVICE_WRONG,
               "%s<<<(%u,%u,%u), (%u,%u,%u)>>> is not launched: %llu %s, at most %llu",
               kernel->name, g[0], g[1], g[2], b[0], b[1], b[2], (unsigned long long)is, what,
               (unsigned long long)most);
    return error;
}

/* What is wrong with a launch that the kernel itself says. */
static cudaError_t check_launch(const struct kernel *kernel, const struct device_launch *launch)
{
    const uint32_t *b = launch->block, threads = b[0] * b[1] * b[2];
    if (threads > kernel->device.most_threads)
        return refuse_launch(kernel, launch, cudaErrorInvalidConfiguration,
                             "threads in a block of this kernel", threads,
                             kernel->device.most_threads);
    if (launch->shared_bytes > most_dynamic(kernel))
        return refuse_launch(kernel, launch, cudaErrorInvalidValue,
                             "bytes of dynamic shared memory (cudaFuncSetAttribute asks for more)",
                             launch->shared_bytes, most_dynamic(kernel));
    return cudaSuccess;
}

/* What the kernel printed. On a GPU it comes when the host waits for the device; here the launch has ended already. */
static void print(uint32_t bytes)
{
    char *text = bytes ? malloc(bytes) : NULL;
    if (text && device_hear(text, bytes))
        fwrite(text, 1, bytes, stdout);
    free(text);
}

static cudaError_t launch_locked(struct kernel *kernel, struct device_launch *launch,
                                 void **arguments)
{
    struct device_launched launched = {.error = cudaErrorMemoryAllocation};
    ask_kernel(kernel);
    if (kernel->device.error)
        return (cudaError_t)kernel->device.error;
    launch->module = kernel->module;
    const cudaError_t error = check_launch(kernel, launch);
    if (error)
        return error;
    if (!device_tell_launch(&kernel->device, kernel->name, launch, arguments, &launched))
        return cudaErrorInvalidValue;
    print(launched.printed_bytes);
    return (cudaError_t)launched.error;
}

bool unpack_arguments(void **extra, struct kernel *kernel, void **parameters)
{
    if (!device_enter())
        return false;
    ask_kernel(kernel);
    device_leave();
    return device_unpack(&kernel->device, extra, parameters);
}

/* Each size of a launch lies between 1 and what any device has. */
static bool check_sizes(const struct kernel *kernel, const struct device_launch *launch)
{
    enum { THREADS_MOST = 1024 };
    static const char *const names[] = {"blocks in x of the grid", "blocks in y of the grid",
                                        "blocks in z of the grid", "threads in x of a block",
                                        "threads in y of a block", "threads in z of a block",
                                        "threads in a block"};
    static const uint32_t most[] = {INT32_MAX, 65535, 65535, 1024, 1024, 64, THREADS_MOST};
    const uint32_t *g = launch->grid, *b = launch->block;
    uint64_t threads = (uint64_t)b[0] * b[1];
    threads = threads > THREADS_MOST ? threads : threads * b[2];
    const uint64_t sizes[] = {g[0], g[1], g[2], b[0], b[1], b[2], threads};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] > 0 && sizes[i] <= most[i])
            continue;
        if (device_enter()) {
            refuse_launch(kernel, launch, cudaSuccess, names[i], sizes[i], most[i]);
            device_leave();
        }
        return false;
    }
    return true;
}

cudaError_t prepare_launch(struct device_launch *launch, const struct kernel *kernel, dim3 grid,
                           dim3 block, size_t shared, bool cooperative, const void *config)
{
    *launch = (struct device_launch){.grid = {grid.x, grid.y, grid.z},
                                     .block = {block.x, block.y, block.z},
                                     .cooperative = cooperative,
                                     .shared_bytes = shared};
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (!check_sizes(kernel, launch))
        return cudaErrorInvalidConfiguration;
    if (config)
        device_read_attributes(config, launch);
    host_frames(&launch->stack);
    return cudaSuccess;
}

cudaError_t run_launch(const struct kernel_call *call)
{
    if (!device_enter())
        return give(cudaErrorInitializationError);
    call->launch->lane = order_lane();
    cudaError_t error = launch_locked(call->kernel, call->launch, call->arguments);
    device_leave();
    return error >= 700 && error < 800 && error != 701 && error != 720 ? give_lasting(error)
                                                                       : give(error);
}

cudaError_t launch_kernel(struct kernel *kernel, dim3 grid, dim3 block, void **arguments,
                          size_t shared, cudaStream_t stream, bool cooperative, const void *config)
{
    struct device_launch launch;
    const struct operation operation = {.kind = NODE_KERNEL,
                                        .u.kernel = {kernel, &launch, arguments}};
    cudaError_t error = lasting_error();
    if (!error)
        error = prepare_launch(&launch, kernel, grid, block, shared, cooperative, config);
    launch.stream = (uint64_t)(uintptr_t)stream;
    return error ? give(error) : operation_issue(stream, &operation);
}

cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream)
{
    return launch_kernel(kernel, grid, block, arguments, shared, stream, false, NULL);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    return launch_kernel(find_kernel(function), grid, block, arguments, shared, stream, false,
                         NULL);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared, cudaStream_t stream)
{
    return launch_kernel(find_kernel(function), grid, block, arguments, shared, stream, true, NULL);
}

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
    return launch_kernel(find_kernel(function), grid, block, arguments, shared, stream, false,
                         config);
}

/* ---- symbols ---- */

static struct variable *variable_of(const void *symbol)
{
    struct variable *variable = variables;
    if (!all_told && device_enter())
        device_leave();
    while (variable && variable->host != symbol && variable->managed != symbol)
        variable = variable->next;
    return variable && variable->at ? variable : NULL;
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    const struct variable *variable = variable_of(symbol);
    if (variable)
        *pointer = (void *)(uintptr_t)variable->at->address;
    return give(variable ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    const struct variable *variable = variable_of(symbol);
    if (variable)
        *bytes = variable->bytes;
    return give(variable ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t to_symbol(struct operation *o, const char *function, const void *symbol,
                      const void *from, size_t bytes, size_t offset, int kind)
{
    const struct variable *variable = variable_of(symbol);
    if (!variable)
        return cudaErrorInvalidSymbol;
    *o = copy_operation(function, (char *)(uintptr_t)variable->at->address + offset, from, bytes,
                        kind);
    return cudaSuccess;
}

cudaError_t from_symbol(struct operation *o, const char *function, void *to, const void *symbol,
                        size_t bytes, size_t offset, int kind)
{
    const struct variable *variable = variable_of(symbol);
    if (!variable)
        return cudaErrorInvalidSymbol;
    *o = copy_operation(function, to, (const char *)(uintptr_t)variable->at->address + offset,
                        bytes, kind);
    return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               int kind)
{
    struct operation o;
    cudaError_t error = to_symbol(&o, "cudaMemcpyToSymbol", symbol, from, bytes, offset, kind);
    return error ? give(error) : operation_do_now(&o);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, int kind, cudaStream_t stream)
{
    struct operation o;
    cudaError_t error = to_symbol(&o, "cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind);
    return error ? give(error) : operation_issue(stream, &o);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 int kind)
{
    struct operation o;
    cudaError_t error = from_symbol(&o, "cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind);
    return error ? give(error) : operation_do_now(&o);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      int kind, cudaStream_t stream)
{
    struct operation o;
    cudaError_t error =
        from_symbol(&o, "cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind);
    return error ? give(error) : operation_issue(stream, &o);
}
