/*
 * Modules that the program loads, by the driver or as libraries of the runtime; linking by the driver.
 */
#include "fuzz/recorder/recorder.h"

#include <stdlib.h>

struct link { /* what a linker of the driver is given */
    const void *state;
    struct linking linking;
    const void *image; /* what the driver has made of it */
    struct link *next;
};

static struct link *links;

/* ---- modules ---- */

EXPORT cudaError_t cuModuleGetGlobal_v2(uint64_t *pointer, size_t *bytes, const void *module,
                                        const char *name);
EXPORT cudaError_t cuLibraryGetGlobal(uint64_t *pointer, size_t *bytes, const void *library,
                                      const char *name);
EXPORT cudaError_t cudaLibraryGetGlobal(uint64_t *pointer, size_t *bytes, const void *library,
                                        const char *name);

/* Another thing than cudaSuccess: it has none, or nobody can say. */
#define PLACE(ask)                                                                                 \
    static uint64_t place_by_##ask(const struct variable *variable)                                \
    {                                                                                              \
        uint64_t address = 0;                                                                      \
        size_t bytes;                                                                              \
        return NEXT(ask)(&address, &bytes, variable->of, variable->name) == 0 ? address : 0;       \
    }

PLACE(cuModuleGetGlobal_v2)
PLACE(cuLibraryGetGlobal)
PLACE(cudaLibraryGetGlobal)

static void add_variables(uint32_t module, const void *handle,
                          uint64_t (*place)(const struct variable *))
{
    struct device_symbols head;
    device_tell(DEVICE_SYMBOLS, &module, sizeof module, NULL, 0);
    device_hear(&head, sizeof head);
    struct device_symbol *symbols = calloc(head.count + 1, sizeof *symbols);
    if (!symbols)
        return;
    device_hear(symbols, head.count * sizeof *symbols);
    for (uint32_t i = 0; i < head.count; i++)
        if (!symbols[i].is_kernel)
            variable_add(&(struct variable){.of = handle,
                                            .name = symbols[i].name,
                                            .module = module,
                                            .bytes = symbols[i].bytes,
                                            .is_constant = symbols[i].is_constant != 0,
                                            .place = place});
    free(symbols);
}

/* An image that was linked is machine code: what it was linked of is taken. */
static const void *linked_of(const void *image, size_t *bytes)
{
    struct link *link = links;
    while (link && link->image != image)
        link = link->next;
    return link && link->linking.inputs > 0 ? linking_complete(&link->linking, bytes) : NULL;
}

static cudaError_t loaded(cudaError_t error, const void *handle, const void *image,
                          uint64_t (*place)(const struct variable *))
{
    size_t bytes;
    if (error || !image || !recorder_enter())
        return error;
    const void *linked = linked_of(image, &bytes);
    if (!linked)
        bytes = image_bytes(&image);
    const uint32_t number = module_number();
    device_tell(DEVICE_MODULE, &number, sizeof number, linked ? linked : image, bytes);
    module_add(handle, number);
    add_variables(number, handle, place);
    device_leave();
    return error;
}

static cudaError_t loaded_file(cudaError_t error, const void *handle, const char *path,
                               uint64_t (*place)(const struct variable *))
{
    size_t bytes;
    char *image = error ? NULL : image_read(path, &bytes);
    loaded(error, handle, image, place);
    free(image);
    return error;
}

#define LOADS(name, types, arguments, place)                                                       \
    EXPORT cudaError_t name types;                                                                 \
    cudaError_t name types                                                                         \
    {                                                                                              \
        const cudaError_t error = NEXT(name) arguments;                                            \
        return loaded(error, *module, image, place);                                               \
    }

#define LOADS_FILE(name, types, arguments, place)                                                  \
    EXPORT cudaError_t name types;                                                                 \
    cudaError_t name types                                                                         \
    {                                                                                              \
        const cudaError_t error = NEXT(name) arguments;                                            \
        return loaded_file(error, *module, path, place);                                           \
    }

#define LIBRARY_TYPES(what)                                                                        \
    (void **module, what, const int *options, void **values, unsigned count,                       \
     const int *library_options, void **library_values, unsigned library_count)
#define LIBRARY_ARGUMENTS(what)                                                                    \
    (module, what, options, values, count, library_options, library_values, library_count)

LOADS(cuModuleLoadData, (void **module, const void *image), (module, image),
      place_by_cuModuleGetGlobal_v2)
LOADS(cuModuleLoadDataEx,
      (void **module, const void *image, unsigned count, const int *options, void **values),
      (module, image, count, options, values), place_by_cuModuleGetGlobal_v2)
LOADS(cuModuleLoadFatBinary, (void **module, const void *image), (module, image),
      place_by_cuModuleGetGlobal_v2)
LOADS_FILE(cuModuleLoad, (void **module, const char *path), (module, path),
           place_by_cuModuleGetGlobal_v2)
LOADS(cuLibraryLoadData, LIBRARY_TYPES(const void *image), LIBRARY_ARGUMENTS(image),
      place_by_cuLibraryGetGlobal)
LOADS_FILE(cuLibraryLoadFromFile, LIBRARY_TYPES(const char *path), LIBRARY_ARGUMENTS(path),
           place_by_cuLibraryGetGlobal)
LOADS(cudaLibraryLoadData, LIBRARY_TYPES(const void *image), LIBRARY_ARGUMENTS(image),
      place_by_cudaLibraryGetGlobal)
LOADS_FILE(cudaLibraryLoadFromFile, LIBRARY_TYPES(const char *path), LIBRARY_ARGUMENTS(path),
           place_by_cudaLibraryGetGlobal)

#define UNLOADS(name)                                                                              \
    EXPORT cudaError_t name(void *module);                                                         \
    cudaError_t name(void *module)                                                                 \
    {                                                                                              \
        if (recorder_enter()) {                                                                    \
            variables_drop(module_of(module));                                                     \
            device_leave();                                                                        \
        }                                                                                          \
        return NEXT(name)(module);                                                                 \
    }

UNLOADS(cuModuleUnload)
UNLOADS(cuLibraryUnload)
UNLOADS(cudaLibraryUnload)

EXPORT cudaError_t cuLibraryGetModule(void **module, const void *library);
cudaError_t cuLibraryGetModule(void **module, const void *library)
{
    const cudaError_t error = NEXT(cuLibraryGetModule)(module, library);
    if (error || !recorder_enter())
        return error;
    module_add(*module, module_of(library));
    device_leave();
    return error;
}

/* ---- kernels ---- */

#define FINDS_KERNEL(name)                                                                         \
    EXPORT cudaError_t name(void **kernel, const void *module, const char *symbol);                \
    cudaError_t name(void **kernel, const void *module, const char *symbol)                        \
    {                                                                                              \
        const cudaError_t error = NEXT(name)(kernel, module, symbol);                              \
        if (error || !recorder_enter())                                                            \
            return error;                                                                          \
        if (module_of(module) != 0)                                                                \
            handle_add(*kernel, kernel_new(*kernel, symbol, module_of(module)));                   \
        device_leave();                                                                            \
        return error;                                                                              \
    }

FINDS_KERNEL(cuModuleGetFunction)
FINDS_KERNEL(cuLibraryGetKernel)
FINDS_KERNEL(cudaLibraryGetKernel)

EXPORT cudaError_t cuFuncGetName(const char **name, const void *function);
EXPORT cudaError_t cuKernelGetName(const char **name, const void *kernel);

/* All kernels of a module; the driver knows their names. */
#define LISTS_KERNELS(name, get_name)                                                              \
    EXPORT cudaError_t name(void **kernels, unsigned room, const void *module);                    \
    cudaError_t name(void **kernels, unsigned room, const void *module)                            \
    {                                                                                              \
        for (unsigned i = 0; i < room; i++)                                                        \
            kernels[i] = NULL;                                                                     \
        const cudaError_t error = NEXT(name)(kernels, room, module);                               \
        if (error || !recorder_enter())                                                            \
            return error;                                                                          \
        for (unsigned i = 0; i < room && kernels[i]; i++) {                                        \
            const char *symbol;                                                                    \
            if (NEXT(get_name)(&symbol, kernels[i]) == 0)                                          \
                handle_add(kernels[i], kernel_new(kernels[i], symbol, module_of(module)));         \
        }                                                                                          \
        device_leave();                                                                            \
        return error;                                                                              \
    }

LISTS_KERNELS(cuModuleEnumerateFunctions, cuFuncGetName)
LISTS_KERNELS(cuLibraryEnumerateKernels, cuKernelGetName)
LISTS_KERNELS(cudaLibraryEnumerateKernels, cuKernelGetName)

EXPORT cudaError_t cuKernelGetFunction(void **function, const void *kernel);
cudaError_t cuKernelGetFunction(void **function, const void *kernel)
{
    const cudaError_t error = NEXT(cuKernelGetFunction)(function, kernel);
    if (error || !recorder_enter())
        return error;
    handle_add(*function, kernel_of_handle(kernel));
    device_leave();
    return error;
}

/* ---- linking ---- */

static void link_add(const void *state, int type, const void *data, size_t bytes)
{
    struct link *link = links;
    if (!recorder_enter())
        return;
    while (link && link->state != state)
        link = link->next;
    if (!link && (link = calloc(1, sizeof *link))) {
        *link = (struct link){.state = state, .next = links};
        links = link;
    }
    if (link && !linking_add(&link->linking, type, data, bytes))
        device_say(DEVICE_NOTE, "several inputs are linked only of PTX");
    device_leave();
}

EXPORT cudaError_t cuLinkAddData_v2(void *state, int type, void *data, size_t bytes,
                                    const char *name, unsigned count, const int *options,
                                    void **values);
cudaError_t cuLinkAddData_v2(void *state, int type, void *data, size_t bytes, const char *name,
                             unsigned count, const int *options, void **values)
{
    link_add(state, type, data, bytes);
    return NEXT(cuLinkAddData_v2)(state, type, data, bytes, name, count, options, values);
}

EXPORT cudaError_t cuLinkAddFile_v2(void *state, int type, const char *path, unsigned count,
                                    const int *options, void **values);
cudaError_t cuLinkAddFile_v2(void *state, int type, const char *path, unsigned count,
                             const int *options, void **values)
{
    size_t bytes;
    char *data = image_read(path, &bytes);
    if (data)
        link_add(state, type, data, bytes);
    free(data);
    return NEXT(cuLinkAddFile_v2)(state, type, path, count, options, values);
}

EXPORT cudaError_t cuLinkComplete(void *state, void **image, size_t *bytes);
cudaError_t cuLinkComplete(void *state, void **image, size_t *bytes)
{
    const cudaError_t error = NEXT(cuLinkComplete)(state, image, bytes);
    if (error || !recorder_enter())
        return error;
    for (struct link *link = links; link; link = link->next)
        if (link->state == state)
            link->image = *image;
    device_leave();
    return error;
}

EXPORT cudaError_t cuLinkDestroy(void *state);
cudaError_t cuLinkDestroy(void *state)
{
    struct link **at = &links;
    if (recorder_enter()) {
        while (*at && (*at)->state != state)
            at = &(*at)->next;
        if (*at) {
            struct link *gone = *at;
            *at = gone->next;
            free(gone->linking.image);
            free(gone);
        }
        device_leave();
    }
    return NEXT(cuLinkDestroy)(state);
}
