/*
 * serve_cuda.c - the CUDA driver, loaded in a process of its own: PTX in, memory out.
 *
 * The library is libcuda.so.1, or what SIMTFUZZ_LIBCUDA names (docs/outside.md). Options of a request: "jit=0" to
 * "jit=4", the optimisation level of the driver's compiler.
 */
#include "fuzz/serve/cuda_api.h"
#include "fuzz/serve/loaded.h"
#include "fuzz/serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 256, LOG_BYTES = 16 << 10, LEVEL_DEFAULT = 4 };

struct cuda {
    cu_device device;
    cu_context context;
#define FUNCTION(name, symbol, parameters) cu_result(*name) parameters;
    CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* ---- loading ---- */

static bool load_functions(struct arena *arena, struct cuda *cu, const char **reason)
{
    const char *path = getenv("SIMTFUZZ_LIBCUDA");
    path = path && *path ? path : "libcuda.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        *reason = arena_printf(arena, "there is no %s", path);
        return false;
    }
#define FUNCTION(name, symbol, parameters)                                                         \
    {                                                                                              \
        if (!loaded_find(library, #symbol, &cu->name)) {                                           \
            *reason = arena_printf(arena, "%s lacks %s", path, #symbol);                           \
            return false;                                                                          \
        }                                                                                          \
    }
    CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return true;
}

/* "cuCtxCreate: CUDA_ERROR_NO_DEVICE" */
static const char *error_text(struct arena *arena, const struct cuda *cu, const char *function,
                              cu_result error)
{
    const char *name = NULL;
    if (cu->error_name(error, &name) != CU_SUCCESS || !name)
        name = arena_printf(arena, "error %d", error);
    return arena_printf(arena, "%s: %s", function, name);
}

/* `rest`: the number of the device, "" for the first. */
static void *load(struct arena *arena, const char *rest, const char **reason)
{
    struct cuda *cu = ARENA_NEW(arena, struct cuda);
    int count = 0;
    if (!load_functions(arena, cu, reason))
        return NULL;
    const char *step = "cuInit";
    cu_result error = cu->init(0);
    if (!error) {
        step = "cuDeviceGetCount";
        error = cu->device_count(&count);
    }
    if (!error) {
        step = "cuDeviceGet";
        error = cu->device_get(&cu->device, (int)strtol(rest, NULL, 10));
    }
    if (!error) {
        step = "cuCtxCreate";
        error = cu->context_create(&cu->context, CU_CTX_SCHED_SPIN, cu->device);
    }
    *reason = error ? error_text(arena, cu, step, error) : "the driver has no device";
    return error || count == 0 ? NULL : cu;
}

static void hello(struct arena *arena, void *own, struct text *answer)
{
    const struct cuda *cu = own;
    char name[NAME_MAX_BYTES] = "";
    int version = 0, major = 0, minor = 0;
    (void)cu->device_name(name, sizeof name - 1, cu->device);
    (void)cu->driver_version(&version);
    (void)cu->device_attribute(&major, CU_COMPUTE_CAPABILITY_MAJOR, cu->device);
    (void)cu->device_attribute(&minor, CU_COMPUTE_CAPABILITY_MINOR, cu->device);
    message_put_text(answer, "name", name);
    message_put_text(answer, "version",
                     arena_printf(arena, "CUDA driver %d.%d, %s, sm_%d%d", version / 1000,
                                  version % 1000 / 10, name, major, minor));
    message_put_text(answer, "language", "ptx");
}

/* ---- kernels ---- */

/* What a kernel works on: the buffer that is its argument. */
static const char *run_on(struct arena *arena, const struct cuda *cu, cu_function function,
                          const struct served_kernel *k, cu_address buffer, void *words)
{
    void *parameters[] = {&buffer, NULL};
    const char *step = "cuMemcpyHtoD";
    cu_result error = cu->to_device(buffer, words, k->bytes);
    if (!error) {
        step = "cuLaunchKernel";
        error = cu->launch(function, k->blocks, 1, 1, k->threads, 1, 1, 0, NULL, parameters, NULL);
    }
    if (!error) {
        step = "cuCtxSynchronize";
        error = cu->synchronize();
    }
    if (!error) {
        step = "cuMemcpyDtoH";
        error = cu->to_host(words, buffer, k->bytes);
    }
    return error ? error_text(arena, cu, step, error) : NULL;
}

/* NULL: it terminated; `words` are what memory then holds. Otherwise what failed. */
static const char *run_function(struct arena *arena, const struct cuda *cu, cu_module module,
                                const struct served_kernel *k, void *words)
{
    cu_function function;
    cu_address buffer;
    cu_result error = cu->module_function(&function, module, k->entry);
    if (error)
        return error_text(arena, cu, "cuModuleGetFunction", error);
    error = cu->allocate(&buffer, k->bytes);
    if (error)
        return error_text(arena, cu, "cuMemAlloc", error);
    const char *failed = run_on(arena, cu, function, k, buffer, words);
    (void)cu->release(buffer);
    return failed;
}

/* An error of a kernel spoils the context for all that comes after it: there must be a new one. */
static void renew_context(struct cuda *cu)
{
    (void)cu->context_destroy(cu->context);
    if (cu->context_create(&cu->context, CU_CTX_SCHED_SPIN, cu->device) != CU_SUCCESS) {
        fprintf(stderr, "fatal error: the driver gives no new context after a failed kernel\n");
        _exit(EXIT_FAILURE);
    }
}

/* ---- requests ---- */

static int level_of(const char *options)
{
    const char *jit = strstr(options, "jit=");
    return jit && jit[4] >= '0' && jit[4] <= '4' ? jit[4] - '0' : LEVEL_DEFAULT;
}

static cu_result load_text(const struct cuda *cu, const struct message *request, char *log,
                           cu_module *module)
{
    int options[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER,
                     CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)(intptr_t)level_of(message_text(request, "options", 0)), log,
                      (void *)(intptr_t)(LOG_BYTES - 1)};
    return cu->module_load(module, message_text(request, "text", 0),
                           sizeof options / sizeof options[0], options, values);
}

/* Nothing that the text is to blame for: this driver takes no such PTX. */
static bool is_unsupported(cu_result error)
{
    return error == CU_UNSUPPORTED_PTX_VERSION || error == CU_JIT_COMPILER_NOT_FOUND ||
           error == CU_NO_BINARY_FOR_GPU;
}

/* False: the module is lost, with its context. */
static bool run_kernel(struct arena *arena, struct cuda *cu, cu_module module,
                       const struct served_kernel *k, struct text *answer)
{
    void *words = arena_room(arena, k->bytes);
    memcpy(words, k->memory, k->bytes);
    const char *failed = run_function(arena, cu, module, k, words);
    if (failed)
        served_answer(answer, "run-error", failed, "", 0);
    else
        served_answer(answer, "final", "", words, k->bytes);
    if (failed)
        renew_context(cu);
    return !failed;
}

static void run(struct arena *arena, void *own, const struct message *request, struct text *answer)
{
    struct cuda *cu = own;
    struct served_kernel kernel;
    cu_module module = NULL;
    char *log = ARENA_ARRAY(arena, char, LOG_BYTES);
    cu_result error = load_text(cu, request, log, &module);
    bool loaded = !error;
    message_put_text(answer, "log", log);
    for (uint32_t i = 0; served_kernel(request, i, &kernel); i++) {
        if (!error && !loaded)
            loaded = (error = load_text(cu, request, log, &module)) == CU_SUCCESS;
        if (error)
            served_answer(answer, is_unsupported(error) ? "unsupported" : "compile-error",
                          *log ? "" : error_text(arena, cu, "cuModuleLoadDataEx", error), "", 0);
        else
            loaded = run_kernel(arena, cu, module, &kernel, answer);
    }
    if (loaded)
        (void)cu->module_unload(module);
}

const struct served served_cuda = {
    .name = "cuda",
    .load = load,
    .hello = hello,
    .run = run,
};
