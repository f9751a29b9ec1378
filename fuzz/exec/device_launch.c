#define _GNU_SOURCE /* SEEK_DATA */
/*
 * A launch of the program: a kernel with its parameters and all of device memory, run by oracle/launch.
 */
#include "engine/base/diag.h"
#include "engine/base/text.h"
#include "engine/input/ptx_kernel.h"
#include "engine/ptx/ptx_reach.h"
#include "fuzz/base/clock.h"
#include "fuzz/exec/heap.h"
#include "fuzz/exec/order.h"
#include "fuzz/out/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ERROR_NONE = 0,
    ERROR_MEMORY = 2,
    ERROR_NO_FUNCTION = 98,
    ERROR_NO_IMAGE = 209,
    ERROR_PTX = 218,
    ERROR_ADDRESS = 700,
    ERROR_RESOURCES = 701,
    ERROR_TIMEOUT = 702,
    ERROR_ASSERT = 710,
    ERROR_MISALIGNED = 716,
    ERROR_FAILURE = 719,
    ERROR_TOO_LARGE = 720,
    ERROR_UNSUPPORTED = 801
};

enum { SHARED_MOST = 227 << 10, RESIDENT_MOST = 2048, THREADS_MOST = 1024, PROGRESS_MS = 10000 };

static const struct device_module *module_of(const struct device *device, uint32_t number)
{
    const struct device_module *module = device->modules;
    while (module && module->number != number)
        module = module->next;
    return module;
}

static const struct ptx_function *find_entry(const struct device_module *module, const char *name)
{
    const struct ptx_item *item = module && module->ptx ? module->ptx->items : NULL;
    for (; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->is_entry &&
            item->u.function->has_body && strcmp(item->u.function->name, name) == 0)
            return item->u.function;
    return NULL;
}

static void refuse(struct device *device, const char *name, const char *why)
{
    static const char *const launches[] = {"__cuda_syscall_cnp", "cudaLaunchDevice",
                                           "cudaGetParameterBuffer"};
    device->report->refused++;
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
        if (strstr(why, launches[i]))
            why = arena_printf(
                &device->arena,
                "it launches kernels (dynamic parallelism), which exec does not do: %s", why);
    device_tell_note(
        device, "refused",
        demangle_text(&device->arena, arena_printf(&device->arena, "%s: %s", name, why)));
}

/* As the ABI has it: by the type, or by .align. */
static uint32_t parameter_align(const struct ptx_variable *p)
{
    uint32_t align = ptx_type_of(p->type).bits / 8u;
    align *= p->vector == PTX_W_V2 ? 2 : p->vector == PTX_W_V4 ? 4 : 1;
    align = p->align > align ? p->align : align;
    return align ? align : 1;
}

/* What has a place in the device's memory, of this module. */
static bool is_memory(const struct ptx_variable *variable)
{
    return (variable->space == PTX_W_GLOBAL || variable->space == PTX_W_CONST) &&
           variable->linkage != PTX_LINK_EXTERN;
}

/* Of a block: what the entry says (.maxntid, .reqntid), or the most that there is. */
static uint32_t most_threads(const struct ptx_function *entry)
{
    uint64_t threads = 0;
    for (const struct ptx_attribute *a = entry->attributes; a; a = a->next)
        if (a->kind == PTX_MAXNTID || a->kind == PTX_REQNTID) {
            threads = 1;
            for (uint32_t i = 0; i < a->count; i++)
                threads *= a->values[i];
        }
    return threads > 0 && threads < THREADS_MOST ? (uint32_t)threads : THREADS_MOST;
}

/* Of the variables that the entry reaches. */
static uint32_t shared_of(struct device *device, const struct device_module *module,
                          const struct ptx_function *entry)
{
    struct arena *arena = &device->arena;
    const size_t mark = arena_mark(arena);
    struct ptx_reach reach = {.function_count = 0};
    uint64_t bytes = 0;
    ptx_reach(arena, module->ptx, entry, &reach);
    for (uint32_t i = 0; i < reach.variable_count; i++)
        if (reach.variables[i]->space == PTX_W_SHARED)
            bytes += ptx_memory_bytes(reach.variables[i]);
    arena_release(arena, mark);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

void device_ask_kernel(struct device *device, uint32_t number, const char *name,
                       struct device_kernel *kernel)
{
    const struct device_module *module = module_of(device, number);
    const struct ptx_function *entry = find_entry(module, name);
    const uint32_t room = sizeof kernel->sizes / sizeof kernel->sizes[0];
    if (!entry) {
        const char *why = module && module->why ? module->why : "the PTX has no such entry";
        refuse(device, name, why);
        kernel->error = !module || !module->ptx ? ERROR_NO_IMAGE : ERROR_NO_FUNCTION;
        return;
    }
    kernel->most_threads = most_threads(entry);
    kernel->shared_bytes = shared_of(device, module, entry);
    uint32_t end = 0;
    for (const struct ptx_variable *p = entry->parameters; p && kernel->parameter_count < room;
         p = p->next) {
        uint32_t align = parameter_align(p), at = (end + align - 1) / align * align;
        kernel->offsets[kernel->parameter_count] = at;
        kernel->sizes[kernel->parameter_count++] = (uint32_t)ptx_memory_bytes(p);
        end = at + (uint32_t)ptx_memory_bytes(p);
    }
}

uint32_t device_symbols(struct device *device, uint32_t number, struct device_symbol *symbols,
                        uint32_t *count)
{
    const struct device_module *module = module_of(device, number);
    const struct ptx_item *item = module && module->ptx ? module->ptx->items : NULL;
    *count = 0;
    if (!module || !module->ptx) {
        if (!device->options->records) /* there, only its launches count */
            refuse(device, "the module that is loaded",
                   module && module->why ? module->why : "it is not there");
        return module && module->is_text ? ERROR_PTX : ERROR_NO_IMAGE;
    }
    for (; item; item = item->next) {
        struct device_symbol symbol = {.is_kernel = item->kind == PTX_ITEM_FUNCTION};
        const char *name = NULL;
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->is_entry &&
            item->u.function->has_body)
            name = item->u.function->name;
        if (item->kind == PTX_ITEM_VARIABLE && is_memory(item->u.variable)) {
            symbol.is_constant = item->u.variable->space == PTX_W_CONST;
            symbol.bytes = ptx_memory_bytes(item->u.variable);
            name = item->u.variable->name;
        }
        if (!name)
            continue;
        strncpy(symbol.name, name, sizeof symbol.name - 1);
        if (symbols)
            symbols[*count] = symbol;
        ++*count;
    }
    return ERROR_NONE;
}

/* ---- settings ---- */

/* One parameter: a number where it is one, else its words. */
static void add_parameter(struct text *text, uint32_t number, const struct ptx_variable *parameter,
                          const uint8_t *value)
{
    uint32_t bytes = (uint32_t)ptx_memory_bytes(parameter);
    struct ptx_type type = ptx_type_of(parameter->type);
    bool is_number = parameter->dimension_count == 0 && type.kind != PTX_CLASS_FLOAT && bytes <= 8;
    uint64_t bits = 0;
    memcpy(&bits, value, bytes < 8 ? bytes : 8);
    if (is_number) {
        text_format(text, " bind:%u=0x%llx", number, (unsigned long long)bits);
        return;
    }
    text_format(text, " bind:%u=words:", number);
    for (uint32_t at = 0; at < bytes; at += 4) {
        uint32_t word = 0;
        memcpy(&word, value + at, bytes - at < 4 ? bytes - at : 4);
        text_format(text, "%s%u", at ? "," : "", word);
    }
}

/* Whether a variable belongs to the kernel, or any module's memory may be pointed to. */
static bool is_placed(const struct device_buffer *buffer, const struct ptx_reach *reach,
                      uint32_t module)
{
    bool reached = false;
    for (uint32_t i = 0; i < reach->variable_count; i++)
        reached |= strcmp(reach->variables[i]->name, buffer->name) == 0;
    if (buffer->is_freed)
        return false;
    if (buffer->is_constant || (buffer->is_inner && buffer->is_laid_out))
        return reached && buffer->module == module;
    return buffer->module == 0 || buffer->module == module;
}

static const char *launch_settings(struct arena *arena, const struct device *device,
                                   const struct device_launch *launch,
                                   const struct ptx_function *entry, const struct ptx_reach *reach,
                                   const uint8_t *arguments)
{
    struct text text = text_begin(arena);
    uint32_t number = 0;
    const uint32_t *g = launch->grid, *b = launch->block;
    text_format(&text, "entry=%s blocks=%ux%ux%u/0+1 threads=%ux%ux%u shared=%llu", entry->name,
                g[0], g[1], g[2], b[0], b[1], b[2], (unsigned long long)launch->shared_bytes);
    if (launch->cluster[0] > 0)
        text_format(&text, " cluster=%ux%ux%u", launch->cluster[0], launch->cluster[1],
                    launch->cluster[2]);
    for (const struct ptx_variable *p = entry->parameters; p; p = p->next, number++) {
        add_parameter(&text, number, p, arguments);
        arguments += ptx_memory_bytes(p);
    }
    for (const struct device_buffer *buffer = device->buffers; buffer; buffer = buffer->next)
        if (is_placed(buffer, reach, launch->module))
            text_format(&text, " memory:%s=0x%llx:%llu", buffer->name,
                        (unsigned long long)buffer->at.address,
                        (unsigned long long)buffer->at.bytes);
    if (launch->cooperative)
        text_format(&text, " memory:" PTX_GRID_BARRIER "=0x%llx:%d",
                    (unsigned long long)(DEVICE_FIRST - DEVICE_SLOT), PTX_GRID_BARRIER_BYTES);
    for (const struct device_texture *t = device->textures; t; t = t->next)
        if (t->text)
            text_format(&text, " texture:0x%llx=%s", (unsigned long long)t->handle, t->text);
    return text.bytes;
}

/* ---- memory ---- */

/* Constants are read when the program is laid out. */
static bool read_constants(struct device *device, struct arena *arena, struct ast_kernel *kernel,
                           uint32_t module)
{
    for (struct ptx_bind *m = kernel->ptx->memory; m; m = m->next) {
        const struct device_buffer *buffer = device_buffer_named(device, m->parameter, module);
        if (!buffer || !buffer->is_constant)
            continue;
        uint8_t *data = ARENA_ARRAY(arena, uint8_t, m->bytes + 1);
        if (pread(device->memory, data, m->bytes, (off_t)buffer->at.offset) != (ssize_t)m->bytes)
            return false;
        m->fill = PTX_FILL_FILE;
        m->data = data;
        m->data_bytes = m->bytes;
    }
    return true;
}

/* Of its bytes, from the first on, that may hold something. */
static uint64_t used_bytes(const struct device *device, const struct device_buffer *buffer,
                           const void *from)
{
    const bool is_heap = device->heap && device->heap->address == buffer->at.address;
    return is_heap ? heap_used(buffer, from) : buffer->at.bytes;
}

enum { PIECE = 1 << 16 }; /* bytes that are moved at once */

static bool move_piece(int file, char *bytes, size_t count, off_t place, bool out)
{
    while (count > 0) {
        ssize_t moved = out ? pwrite(file, bytes, count, place) : pread(file, bytes, count, place);
        if (moved <= 0)
            return false;
        bytes += moved;
        place += moved;
        count -= (size_t)moved;
    }
    return true;
}

static bool is_zero(const char *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static bool move_bytes(const struct device *device, const struct device_buffer *buffer, char *bytes,
                       bool out)
{
    if (buffer->own) {
        void *to = out ? buffer->own : bytes, *from = out ? bytes : buffer->own;
        memcpy(to, from, used_bytes(device, buffer, from));
        return true;
    }
    for (uint64_t at = 0, end; at < buffer->at.bytes; at = end) {
        const off_t place = (off_t)(buffer->at.offset + at);
        const off_t data = lseek(device->memory, place, SEEK_DATA);
        end = at + PIECE < buffer->at.bytes ? at + PIECE : buffer->at.bytes;
        const bool is_hole = data < 0 ? errno == ENXIO : data >= (off_t)(buffer->at.offset + end);
        /* Zeros here and there; before a launch its variables have their initial values. */
        if (is_hole && is_zero(bytes + at, end - at))
            continue;
        if (!move_piece(device->memory, bytes + at, end - at, place, out))
            return false;
    }
    return true;
}

/* All of global memory, into the launch or back, with what is known of its bytes. */
static bool move_memory(struct device *device, struct launch *launch, uint32_t module, bool out)
{
    const struct ptx_regions *regions = &launch->program->ptx->global;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *region = &regions->items[i];
        struct device_buffer *buffer = device_buffer_named(device, region->name, module);
        uint8_t *written = launch->race->written + region->word;
        const void *from = out ? launch_bytes(launch, region) : buffer ? buffer->own : NULL;
        const uint64_t bytes =
            buffer && buffer->own ? used_bytes(device, buffer, from) : region->bytes;
        const size_t words = (bytes + 3) / 4;
        if (buffer && !buffer->is_laid_out &&
            !move_bytes(device, buffer, launch_bytes(launch, region), out))
            return false;
        if (out && buffer && !buffer->own && !buffer->is_laid_out)
            order_launch_region(device, launch, region, buffer);
        if (buffer && !device_all_written(buffer)) {
            device_spread_written(buffer);
            memcpy(out ? buffer->written : written, out ? written : buffer->written, words);
        } else if (!out) {
            launch_race_written(launch->race, region->word, (uint32_t)words);
        }
    }
    return true;
}

/* ---- the run ---- */

static uint32_t error_of(const struct launch *launch)
{
    switch ((int)launch->status) {
    case STATUS_TERMINATED:
        return ERROR_NONE;
    case STATUS_OUT_OF_BOUNDS:
        return launch->fault_misaligned ? ERROR_MISALIGNED : ERROR_ADDRESS;
    case STATUS_ASSERT_FAILS:
        return launch->fault_trap ? ERROR_FAILURE : ERROR_ASSERT;
    case STATUS_NONTERMINATING:
    case STATUS_STEP_LIMIT:
        return ERROR_TIMEOUT;
    case STATUS_UNSUPPORTED:
        return ERROR_UNSUPPORTED;
    default:
        return ERROR_FAILURE;
    }
}

#define HOST_LAST (((uint64_t)1 << 47) - 1) /* of a program's addresses */

/* The finding's text as far as the address, and what is known of what lies there. */
static const char *with_place(struct arena *arena, const char *text, const char *what)
{
    static const char *const ends[] = {": byte ", ": no variable "};
    size_t length = strlen(text);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const char *end = strstr(text, ends[i]);
        if (end && (size_t)(end - text) < length)
            length = (size_t)(end - text);
    }
    return arena_printf(arena, "%.*s: %s", (int)length, text, what);
}

/* Of an address that leads nowhere: what was there, or whose it is. What lies near it by number has nothing to do with
 * it. */
static void explain_address(const struct device *device, struct arena *arena,
                            struct launch_finding *finding, uint64_t address)
{
    for (const struct device_buffer *b = device->buffers; b; b = b->next)
        if (b->is_freed && address - b->at.address < b->at.bytes) {
            const char *what = arena_printf(arena, "it was byte %llu of %s, which has been freed",
                                            (unsigned long long)(address - b->at.address), b->name);
            finding->text = with_place(arena, finding->text, what);
            return;
        }
    if (address >= DEVICE_FIRST + DEVICE_SLOTS * DEVICE_SLOT && address <= HOST_LAST)
        finding->text = with_place(arena, finding->text,
                                   "it is an address of the host's own memory, which the device "
                                   "does not reach");
}

/* grid.sync traps in a launch that is not cooperative. */
static void explain_trap(struct arena *arena, const struct ptx_kernel *ptx,
                         struct launch_finding *finding)
{
    if (ptx_grid_address(ptx) == 0 && ptx_waits_for_grid(arena, ptx->module, ptx->entry))
        finding->text = arena_printf(arena,
                                     "%s: the kernel waits for its grid (grid.sync), which needs a "
                                     "launch by cudaLaunchCooperativeKernel",
                                     finding->text);
}

static void tell(struct device *device, struct arena *arena, struct launch *launch,
                 const struct ptx_kernel *ptx, const char *text)
{
    for (struct launch_finding *f = launch->race->findings; f; f = f->next) {
        if (f->kind == LAUNCH_FAULT && f->status == STATUS_ASSERT_FAILS && launch->fault_trap)
            explain_trap(arena, ptx, f);
        if (f->kind == LAUNCH_FAULT && f->status == STATUS_OUT_OF_BOUNDS)
            explain_address(device, arena, f, launch->fault_address);
        device_found(device, arena, text, ptx->entry->name, f);
    }
    if (launch->status == STATUS_UNSUPPORTED) {
        device->report->refused++;
        device_tell_note(device, "unknown",
                         arena_printf(arena, "%s: %s", text, launch->machine->fault_text));
    }
    if (launch->status == STATUS_STEP_LIMIT) {
        device->report->refused++;
        device_tell_note(device, "unknown",
                         arena_printf(arena,
                                      "%s was stopped after %llu steps of warps and %llu of %llu "
                                      "blocks",
                                      text, (unsigned long long)launch->steps,
                                      (unsigned long long)launch->blocks_done,
                                      (unsigned long long)launch->blocks));
    }
}

/* Address space for a launch: state, and what is remembered of each location, touched as it is used. */
static size_t arena_bytes(const struct device *device)
{
    uint64_t bytes = 0;
    for (const struct device_buffer *b = device->buffers; b; b = b->next)
        bytes += b->is_freed ? 0 : b->at.bytes + 4096;
    return (size_t)(LAUNCH_LOCATION_BYTES * bytes + 16 * bytes) + ((size_t)6 << 30);
}

/* A long launch says now and then how far it is. */
static bool go_on(void *context, uint64_t steps, uint64_t blocks)
{
    struct device *device = context;
    const uint64_t now = clock_monotonic_ms();
    if (now - device->told_ms > PROGRESS_MS) {
        char text[128];
        snprintf(text, sizeof text, "a launch is running: %llu blocks done, %llu M steps of warps",
                 (unsigned long long)blocks, (unsigned long long)steps / 1000000);
        device_tell_note(device, "note", text);
        device->told_ms = now;
    }
    return !device->stop || *device->stop == 0;
}

/* What the kernel printed goes to the program, whose output it belongs to. */
static void print(struct device *device, const struct launch *launch)
{
    const struct launch_print *printed = launch->print;
    if (!printed)
        return;
    device->printed = arena_strndup(&device->arena, printed->text, printed->length);
    device->printed_bytes = (uint32_t)printed->length;
    if (printed->dropped > 0)
        device_tell_note(device, "note",
                         arena_printf(&device->arena,
                                      "printf: the first %d bytes of a launch are kept; %llu calls "
                                      "more printed nothing",
                                      LAUNCH_PRINT_BYTES, (unsigned long long)printed->dropped));
}

/* What the handles of a GPU's textures are of is not told to `record`. */
static bool has_textures(const struct ptx_code *code)
{
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (code->ops[pc].exec == PTX_EXEC_TEXTURE || code->ops[pc].exec == PTX_EXEC_SUST)
            return true;
    return false;
}

static bool reaches_malloc(const struct ptx_reach *reach)
{
    for (uint32_t i = 0; i < reach->function_count; i++)
        if (strcmp(reach->functions[i]->name, "malloc") == 0)
            return true;
    return false;
}

static uint32_t run_in(struct device *device, struct arena *arena,
                       const struct device_launch *launch, const struct ptx_function *entry,
                       const struct device_module *module, const uint8_t *arguments)
{
    struct launch_options options = {.budget = device->options->budget,
                                     .go_on = go_on,
                                     .context = device,
                                     .workers = device->options->workers};
    struct capture *capture = NULL;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    struct ptx_reach reach = {.function_count = 0};
    const char *why = NULL;
    diag_init(diag, entry->name, NULL, 0);
    ptx_reach(arena, module->ptx, entry, &reach);
    if (reaches_malloc(&reach) && (device->options->records || !heap_ready(device))) {
        refuse(device, entry->name,
               device->options->records ? "launches of kernels that call malloc are not recorded"
                                        : "there is no memory for the heap");
        return ERROR_UNSUPPORTED;
    }
    options.heap = device->heap;
    const char *settings = launch_settings(arena, device, launch, entry, &reach, arguments);
    struct ast_kernel *kernel = ptx_kernel_new(arena, module->ptx, settings, diag);
    if (!kernel || !read_constants(device, arena, kernel, launch->module)) {
        refuse(device, entry->name,
               kernel ? "device memory cannot be read" : device_first_error(arena, diag));
        return ERROR_UNSUPPORTED;
    }
    struct launch *run = launch_new(arena, kernel, launch->grid, &options, &why);
    if (!run) {
        refuse(device, entry->name, why);
        return ERROR_UNSUPPORTED;
    }
    if (device->options->records && has_textures(run->program->ptx)) {
        refuse(device, entry->name, "launches with textures or surfaces are not recorded");
        return ERROR_UNSUPPORTED;
    }
    if (launch->cooperative && run->blocks > run->program->launch.blocks)
        return ERROR_TOO_LARGE;
    if (!move_memory(device, run, launch->module, false)) {
        refuse(device, entry->name, "device memory cannot be read");
        return ERROR_MEMORY;
    }
    device->report->launches++;
    if (device->options->capture) {
        capture = capture_start(device, arena, run, &why);
        if (!capture)
            device_tell_note(device, "note", why);
    }
    if (device->options->records) {
        bool kept = capture && capture_recorded(capture, device, run, launch->module, &why);
        if (capture && !kept)
            device_tell_note(device, "note", why);
        return kept ? ERROR_NONE : ERROR_MEMORY;
    }
    if (device->options->no_unwritten)
        run->race->written = NULL;
    device->told_ms = clock_monotonic_ms();
    launch_run(run, &options);
    print(device, run);
    if (device->options->no_unwritten)
        run->race->written = ARENA_ARRAY(arena, uint8_t, run->program->shared_base + 1);
    order_launch_begin(device, launch, entry->name);
    device->report->steps += run->steps;
    device->report->blocks += run->blocks_done;
    if (capture && !capture_end(capture, run, &why))
        device_tell_note(device, "note", why);
    if (!move_memory(device, run, launch->module, true))
        return ERROR_MEMORY;
    order_launch_end(device, arena, run);
    if (!run->race->findings && run->status == STATUS_TERMINATED && !device->options->verbose)
        return ERROR_NONE;
    const char *text = device_launch_text(arena, device, launch, entry->name);
    tell(device, arena, run, kernel->ptx, text);
    if (device->options->verbose && !run->race->findings && run->status == STATUS_TERMINATED)
        device_tell_note(device, "clean", text);
    return error_of(run);
}

uint32_t device_run(struct device *device, const struct device_launch *launch, const char *name,
                    const uint8_t *arguments)
{
    const struct device_module *module = module_of(device, launch->module);
    const struct ptx_function *entry = find_entry(module, name);
    struct arena arena;
    if (!entry)
        return ERROR_NO_FUNCTION;
    if (launch->shared_bytes > SHARED_MOST)
        return ERROR_RESOURCES;
    if (arena_init(&arena, arena_bytes(device)) != 0) {
        refuse(device, name, "there is no memory for the launch");
        return ERROR_MEMORY;
    }
    uint32_t error = run_in(device, &arena, launch, entry, module, arguments);
    arena_destroy(&arena);
    return error;
}
