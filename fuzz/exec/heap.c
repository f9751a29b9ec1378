/* The heap of a device: one buffer for all launches. */
#include "fuzz/exec/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP_ADDRESS (DEVICE_FIRST - 2 * DEVICE_SLOT)
#define HEAP_NAME "kernel-heap" /* no variable can have it */

enum {
    HEAP_USUAL = 8 << 20, /* as CUDA's */
    HEAP_MOST = 128 << 20,
    ERROR_VALUE = 1
};

const char *heap_with_functions(struct arena *arena, const struct ptx_module *ptx, const char *text)
{
    bool calls = false, has = false;
    for (const struct ptx_item *item = ptx->items; item; item = item->next) {
        const struct ptx_function *f = item->kind == PTX_ITEM_FUNCTION ? item->u.function : NULL;
        if (!f || (strcmp(f->name, "malloc") != 0 && strcmp(f->name, "free") != 0))
            continue;
        calls |= !f->has_body;
        has |= f->has_body;
    }
    if (!calls || has)
        return NULL;
    return arena_printf(arena, "%s\n%s", text, launch_heap_functions(arena, HEAP_ADDRESS));
}

uint32_t heap_set_limit(struct device *device, uint64_t bytes)
{
    if (device->heap)
        return ERROR_VALUE;
    if (bytes > HEAP_MOST)
        device_tell_note(
            device, "note",
            arena_printf(&device->arena,
                         "the heap of kernels has %d MiB here, not the %llu bytes that "
                         "cudaLimitMallocHeapSize asks for",
                         HEAP_MOST >> 20, (unsigned long long)bytes));
    device->heap_limit = bytes > HEAP_MOST ? HEAP_MOST : bytes;
    return 0;
}

/* Zeros that take memory when they are written. */
static void *zeros(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool heap_ready(struct device *device)
{
    if (device->heap)
        return true;
    const uint64_t limit = (device->heap_limit ? device->heap_limit : HEAP_USUAL) & ~(uint64_t)15;
    const uint32_t bytes = (uint32_t)limit + HEAP_TABLE, granules = bytes / HEAP_GRANULE;
    struct launch_heap *heap = ARENA_NEW(&device->arena, struct launch_heap);
    const struct device_allocation at = {.address = HEAP_ADDRESS, .bytes = bytes};
    struct device_buffer *buffer = device_add_buffer(device, &at, HEAP_NAME);
    *heap = (struct launch_heap){.address = HEAP_ADDRESS,
                                 .bytes = bytes,
                                 .arena = &device->arena,
                                 .fill = zeros(granules),
                                 .blocks = zeros(granules * sizeof *heap->blocks)};
    buffer->own = zeros(bytes);
    buffer->written = calloc(bytes / 4 + 1, 1);
    if (!heap->fill || !heap->blocks || !buffer->own || !buffer->written)
        return false;
    launch_heap_begin(buffer->own, limit);
    memset(buffer->written, 0xf, HEAP_TABLE / 4);
    device->heap = heap;
    return true;
}

uint64_t heap_used(const struct device_buffer *heap, const void *bytes)
{
    uint32_t granules;
    memcpy(&granules, bytes, sizeof granules);
    const uint64_t used = (uint64_t)granules * HEAP_GRANULE;
    return used < heap->at.bytes ? used : heap->at.bytes;
}

/* Those of one call are told together. */
static void tell_site(struct device *device, const struct heap_block *first, struct heap_block *end)
{
    struct arena *arena = &device->arena;
    struct launch_finding finding = {.kind = LAUNCH_LEAK, .sources = {first->giver.site->source}};
    const char *giver = heap_caller_name(arena, &first->giver);
    uint64_t count = 0, bytes = 0;
    for (struct heap_block *b = device->heap->blocks; b < end; b++)
        if (b->is_live && b->giver.site == first->giver.site) {
            b->is_live = b == first;
            count++;
            bytes += b->bytes;
        }
    finding.text = count == 1
                       ? arena_printf(arena, "%llu bytes of the heap are never freed; %s got them",
                                      (unsigned long long)bytes, giver)
                       : arena_printf(arena,
                                      "%llu bytes of the heap are never freed; %s got %u of them, "
                                      "and %llu calls more the others",
                                      (unsigned long long)bytes, giver, first->bytes,
                                      (unsigned long long)count - 1);
    device_found(device, arena, finding.text, "the host", &finding);
}

void heap_tell_leaks(struct device *device)
{
    struct launch_heap *heap = device->heap;
    struct heap_block *end = heap ? heap->blocks + heap->bytes / HEAP_GRANULE : NULL;
    for (struct heap_block *b = heap ? heap->blocks : NULL; b < end; b++)
        if (b->is_live)
            tell_site(device, b, end);
}
