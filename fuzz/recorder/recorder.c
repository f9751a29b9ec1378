/*
 * Device memory, modules and launches as both interfaces have them.
 */
#include "fuzz/recorder/recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct buffer {
    uint64_t address, bytes, offset; /* offset: in the file */
    enum device_memory kind;
    char *copy; /* where the file is mapped */
    struct buffer *next;
};

struct module {
    const void *handle;
    const void *wrapper; /* of one that is registered, and not told; else NULL */
    uint32_t number;
    struct module *next;
};

struct handle {
    const void *handle;
    struct kernel *kernel;
    struct handle *next;
};

static struct buffer *buffers;
static struct module *modules;
static struct variable *variables;
static struct handle *handles; /* the newest first: a handle may have been another kernel's */
static uint64_t file_bytes;
static uint32_t buffer_count, module_count;
static bool incomplete; /* some of device memory is not kept: launches are not recorded */

bool recorder_enter(void)
{
    if (device_lock() != DEVICE_OURS)
        return false;
    for (struct module *m = modules; m; m = m->next)
        if (m->wrapper) {
            device_tell_module(m->number, m->wrapper);
            m->wrapper = NULL;
        }
    return true;
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
    const bool fits = b && bytes <= DEVICE_MEMORY_BYTES &&
                      file_bytes + length <= DEVICE_MEMORY_BYTES &&
                      ftruncate(device_file(), (off_t)(file_bytes + length)) == 0;
    char *copy = fits ? mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, device_file(),
                             (off_t)file_bytes)
                      : MAP_FAILED;
    if (copy == MAP_FAILED) {
        device_say(DEVICE_NOTE,
                   "device memory of more than %llu bytes: launches from here on are not recorded",
                   (unsigned long long)DEVICE_MEMORY_BYTES);
        incomplete = true;
        free(b);
        return NULL;
    }
    *b = (struct buffer){address, bytes, file_bytes, kind, copy, buffers};
    file_bytes += length;
    return buffers = b;
}

static struct device_allocation allocation(const struct buffer *b)
{
    return (struct device_allocation){b->address, b->bytes, b->offset, (uint32_t)b->kind,
                                      ++buffer_count};
}

void memory_allocated(uint64_t address, uint64_t bytes, enum device_memory kind)
{
    if (bytes == 0 || !recorder_enter())
        return;
    const struct buffer *b = new_buffer(address, bytes, kind);
    if (b) {
        const struct device_allocated message = {.at = allocation(b)};
        device_tell(DEVICE_ALLOCATE, &message, sizeof message, NULL, 0);
    }
    device_leave();
}

static void drop(struct buffer **at)
{
    struct buffer *gone = *at;
    munmap(gone->copy, mapped(gone->bytes));
    *at = gone->next;
    device_tell(DEVICE_FREE, &gone->address, sizeof gone->address, NULL, 0);
    free(gone);
}

void memory_freed(uint64_t address, uint64_t bytes)
{
    if (address == 0 || !recorder_enter())
        return;
    for (struct buffer **b = &buffers; *b;)
        if (bytes > 0 ? (*b)->address - address < bytes : (*b)->address == address)
            drop(b);
        else
            b = &(*b)->next;
    device_leave();
}

/* ---- modules ---- */

uint32_t module_number(void)
{
    return ++module_count;
}

static void add_module(const void *handle, const void *wrapper, uint32_t number)
{
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return;
    *module = (struct module){handle, wrapper, number, modules};
    modules = module;
}

void module_add(const void *handle, uint32_t number)
{
    add_module(handle, NULL, number);
}

void module_register(const void *handle, const void *wrapper)
{
    add_module(handle, wrapper, module_number());
}

static struct module *find_module(const void *handle)
{
    struct module *module = modules;
    while (module && module->handle != handle)
        module = module->next;
    return module;
}

void module_forget(const void *handle)
{
    struct module *module = find_module(handle);
    if (module)
        module->wrapper = NULL;
}

uint32_t module_of(const void *handle)
{
    const struct module *module = find_module(handle);
    return module ? module->number : 0;
}

void variable_add(const struct variable *variable)
{
    struct variable *v = calloc(1, sizeof *v);
    if (!v)
        return;
    *v = *variable;
    v->name = strdup(variable->name);
    v->next = variables;
    variables = v;
}

void variables_drop(uint32_t module)
{
    for (struct variable **v = &variables; *v;) {
        struct variable *gone = *v;
        if (gone->module != module) {
            v = &gone->next;
            continue;
        }
        for (struct buffer **b = &buffers; *b && gone->buffer; b = &(*b)->next)
            if (*b == gone->buffer) {
                drop(b);
                break;
            }
        *v = gone->next;
        free(gone->name);
        free(gone);
    }
}

/* The variables of all modules get their addresses when the device is there: at the first launch. */
static void find_variables(void)
{
    for (struct variable *v = variables; v; v = v->next) {
        if (v->known)
            continue;
        v->known = true;
        const uint64_t address = v->place(v);
        v->buffer = address ? new_buffer(address, v->bytes, DEVICE_MEMORY_VARIABLE) : NULL;
        if (!v->buffer)
            continue;
        const struct device_variable message = {allocation(v->buffer), v->module, v->is_constant};
        uint32_t error;
        device_tell(DEVICE_VARIABLE, &message, sizeof message, v->name, strlen(v->name));
        device_hear(&error, sizeof error);
    }
}

struct kernel *kernel_new(const void *host, const char *name, uint32_t module)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel)
        *kernel = (struct kernel){.host = host, .name = strdup(name), .module = module};
    return kernel;
}

void handle_add(const void *handle, struct kernel *kernel)
{
    struct handle *h = kernel ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return;
    *h = (struct handle){handle, kernel, handles};
    handles = h;
}

struct kernel *kernel_of_handle(const void *handle)
{
    const struct handle *h = handles;
    while (h && h->handle != handle)
        h = h->next;
    return h ? h->kernel : NULL;
}

/* ---- launches ---- */

/* All of device memory, as it is now. */
static bool copy_memory_out(const struct interface *interface)
{
    for (const struct buffer *b = buffers; b; b = b->next)
        if (b->kind == DEVICE_MEMORY_HOST)
            memcpy(b->copy, (const void *)(uintptr_t)b->address, b->bytes);
        else if (interface->copy_out(b->copy, b->address, b->bytes) != 0)
            return false;
    return true;
}

static void note_once(bool *said, const char *text)
{
    if (!*said)
        device_say(DEVICE_NOTE, "%s", text);
    *said = true;
}

static void ask_kernel_once(struct kernel *kernel)
{
    if (kernel->known)
        return;
    device_tell(DEVICE_KERNEL, &kernel->module, sizeof kernel->module, kernel->name,
                strlen(kernel->name));
    device_hear(&kernel->device, sizeof kernel->device);
    kernel->known = true;
}

bool record_start(const struct interface *interface, const void *handle,
                  struct device_launch *launch, void **arguments, void **extra)
{
    static bool said;
    struct device_launched answer = {.error = 1};
    void *unpacked[DEVICE_PARAMETERS];
    if (!recorder_enter())
        return false;
    struct kernel *kernel = kernel_of_handle(handle);
    if (!kernel) {
        device_leave();
        return false;
    }
    ask_kernel_once(kernel);
    const bool packed = extra && !arguments;
    if (!kernel->device.error && (!packed || device_unpack(&kernel->device, extra, unpacked)) &&
        !interface->is_captured((cudaStream_t)(uintptr_t)launch->stream) &&
        interface->wait() == 0) {
        find_variables();
        launch->module = kernel->module;
        if (!incomplete && !copy_memory_out(interface))
            note_once(&said, "launches are not recorded while device memory cannot be copied");
        else if (!incomplete)
            device_tell_launch(&kernel->device, kernel->name, launch, packed ? unpacked : arguments,
                               &answer);
    }
    if (answer.error)
        device_leave();
    return answer.error == 0;
}

void record_end(const struct interface *interface, cudaError_t error)
{
    struct device_result result = {.error = (uint32_t)error};
    uint32_t heard;
    if (!error)
        result.error = (uint32_t)interface->wait();
    if (!result.error && !copy_memory_out(interface))
        result.error = 1;
    const char *text = result.error ? interface->explain((cudaError_t)result.error) : "";
    device_tell(DEVICE_RESULT, &result, sizeof result, text, strlen(text));
    device_hear(&heard, sizeof heard);
    device_leave();
}

void record_graph(void)
{
    static bool said;
    if (!recorder_enter())
        return;
    note_once(&said, "launches of graphs are not recorded");
    device_leave();
}
