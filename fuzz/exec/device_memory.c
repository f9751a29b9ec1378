/*
 * Device memory as the program has it: which bytes are whose, and which were ever written.
 */
#include "engine/program/ptx_code.h"
#include "engine/ptx/ptx_reach.h"
#include "fuzz/exec/heap.h"
#include "fuzz/exec/order.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALL_BYTES = 0xf };

struct device_buffer *device_buffer_at(const struct device *device, uint64_t address)
{
    for (struct device_buffer *b = device->buffers; b; b = b->next)
        if (!b->is_freed && address - b->at.address < b->at.bytes)
            return b;
    return NULL;
}

struct device_buffer *device_buffer_named(const struct device *device, const char *name,
                                          uint32_t module)
{
    struct device_buffer *b = device->buffers;
    while (b && (b->is_freed || strcmp(b->name, name) != 0 || (b->module && b->module != module)))
        b = b->next;
    return b;
}

struct device_buffer *device_add_buffer(struct device *device, const struct device_allocation *at,
                                        const char *name)
{
    struct device_buffer *buffer = ARENA_NEW(&device->arena, struct device_buffer);
    *buffer = (struct device_buffer){.at = *at, .name = name, .next = device->buffers};
    device->buffers = buffer;
    return buffer;
}

void device_add(struct device *device, const struct device_allocated *allocated)
{
    const struct device_allocation *at = &allocated->at;
    struct device_buffer *buffer =
        device_add_buffer(device, at, arena_printf(&device->arena, "buffer%u", at->number));
    if (at->kind == DEVICE_MEMORY_DEVICE && !device->options->no_unwritten)
        buffer->written = calloc(at->bytes / 4 + 1, 1);
    if (device->options->leaks) {
        struct device_stack *stack = ARENA_NEW(&device->arena, struct device_stack);
        *stack = allocated->stack;
        buffer->stack = stack;
    }
}

/* The program has allocated it, and has it still. */
static bool is_leak(const struct device_buffer *b)
{
    return !b->is_freed && !b->own && b->module == 0;
}

void device_count_leaks(const struct device *device)
{
    for (const struct device_buffer *b = device->buffers; b; b = b->next)
        if (is_leak(b)) {
            device->report->leaks++;
            device->report->leaked_bytes += b->at.bytes;
        }
}

void device_tell_leaks(struct device *device)
{
    struct arena *arena = &device->arena;
    for (const struct device_buffer *b = device->buffers; b; b = b->next) {
        struct launch_finding finding = {.kind = LAUNCH_LEAK};
        if (!is_leak(b))
            continue;
        const char *stack =
            b->stack ? host_stack(arena, device, b->stack, "", &finding.sources[0]) : NULL;
        finding.text = arena_printf(arena, "%s of %llu bytes is never freed%s%s", b->name,
                                    (unsigned long long)b->at.bytes,
                                    stack ? "; it was allocated by " : "", stack ? stack : "");
        device_found(device, arena, finding.text, "the host", &finding);
    }
    heap_tell_leaks(device);
}

void device_drop(struct device *device, uint64_t address)
{
    struct device_buffer *buffer = device_buffer_at(device, address);
    if (buffer) {
        free(buffer->written);
        free(buffer->accesses);
        buffer->written = NULL;
        buffer->accesses = NULL;
        buffer->is_freed = true;
    }
}

void device_end(struct device *device)
{
    order_end(device);
    for (struct device_buffer *b = device->buffers; b; b = b->next) {
        free(b->written);
        b->written = NULL;
    }
}

static void mark_byte(struct device_buffer *buffer, uint64_t byte, bool written)
{
    uint8_t bit = (uint8_t)(1u << byte % 4);
    if (written)
        buffer->written[byte / 4] |= bit;
    else
        buffer->written[byte / 4] &= (uint8_t)~bit;
}

void device_mark(struct device *device, const struct device_range *range)
{
    struct device_buffer *buffer = device_buffer_at(device, range->to);
    uint64_t at = buffer ? range->to - buffer->at.address : 0, end = at + range->bytes;
    if (!buffer || !buffer->written || end > buffer->at.bytes)
        return;
    if (at <= buffer->filled) {
        buffer->filled = end > buffer->filled ? end : buffer->filled;
        return;
    }
    for (; at < end && at % 4 != 0; at++)
        mark_byte(buffer, at, true);
    if (end >= at + 4) {
        memset(buffer->written + at / 4, ALL_BYTES, (end - at) / 4);
        at += (end - at) / 4 * 4;
    }
    for (; at < end; at++)
        mark_byte(buffer, at, true);
}

bool device_all_written(const struct device_buffer *buffer)
{
    return !buffer->written || buffer->filled == buffer->at.bytes;
}

void device_spread_written(struct device_buffer *buffer)
{
    memset(buffer->written, ALL_BYTES, buffer->filled / 4);
    for (uint64_t at = buffer->filled / 4 * 4; at < buffer->filled; at++)
        mark_byte(buffer, at, true);
    buffer->filled = 0;
}

void device_copy_marks(struct device *device, const struct device_range *range)
{
    struct device_buffer *to = device_buffer_at(device, range->to);
    const struct device_buffer *from = device_buffer_at(device, range->from);
    if (!to || !to->written || !from)
        return;
    if (device_all_written(from)) {
        device_mark(device, range);
        return;
    }
    device_spread_written(to);
    for (uint64_t i = 0; i < range->bytes; i++) {
        uint64_t source = range->from - from->at.address + i;
        mark_byte(to, range->to - to->at.address + i,
                  source < from->filled || from->written[source / 4] >> source % 4 & 1);
    }
}

/* ---- variables ---- */

static const struct ptx_variable *find_variable(const struct device_module *module,
                                                const char *name)
{
    const struct ptx_item *item = module->ptx ? module->ptx->items : NULL;
    for (; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && strcmp(item->u.variable->name, name) == 0)
            return item->u.variable;
    return NULL;
}

/* Below the addresses of allocations, of the heap, and of the grid's barrier. */
enum { INNER_MOST = 1200, INNER_SPACE_SHIFT = 33 };
#define INNER_LAST (DEVICE_FIRST - 3 * DEVICE_SLOT)

void device_add_inner(struct device *device, const struct device_module *module)
{
    const struct ptx_item *item = module->ptx->items;
    for (; item && device->inner_count < INNER_MOST; item = item->next) {
        const struct ptx_variable *var = item->kind == PTX_ITEM_VARIABLE ? item->u.variable : NULL;
        const uint64_t bytes = var ? ptx_memory_bytes(var) : 0;
        const char *why;
        if (!var || var->space != PTX_W_GLOBAL || var->linkage == PTX_LINK_EXTERN || bytes == 0)
            continue;
        const struct device_allocation at = {
            .address = INNER_LAST - ((uint64_t)device->inner_count++ << INNER_SPACE_SHIFT),
            .bytes = bytes};
        struct device_buffer *buffer = device_add_buffer(device, &at, var->name);
        buffer->module = module->number;
        buffer->is_inner = true;
        buffer->own = (void *)(uintptr_t)ptx_variable_image(&device->arena, var, bytes, &why);
        buffer->is_laid_out = !buffer->own;
    }
}

static void drop_inner(struct device *device, uint32_t module, const char *name)
{
    struct device_buffer **at = &device->buffers;
    while (*at && !((*at)->is_inner && (*at)->module == module && strcmp((*at)->name, name) == 0))
        at = &(*at)->next;
    if (*at)
        *at = (*at)->next;
}

bool device_add_variable(struct device *device, const struct device_variable *variable,
                         const char *name, const char **why)
{
    const struct device_module *module = device->modules;
    while (module && module->number != variable->module)
        module = module->next;
    const struct ptx_variable *found = module ? find_variable(module, name) : NULL;
    drop_inner(device, variable->module, name);
    struct device_buffer *buffer = device_add_buffer(device, &variable->at, name);
    buffer->module = variable->module;
    buffer->is_constant = variable->is_constant != 0;
    if (!found)
        return false; /* no kernel can use it; that there is no PTX is told at the launch */
    size_t mark = arena_mark(&device->arena);
    const uint8_t *image = ptx_variable_image(&device->arena, found, variable->at.bytes, why);
    buffer->is_laid_out = !image;
    if (!image) {
        *why = NULL;
        return false;
    }
    bool good = pwrite(device->memory, image, variable->at.bytes, (off_t)variable->at.offset) ==
                (ssize_t)variable->at.bytes;
    arena_release(&device->arena, mark);
    return good;
}
