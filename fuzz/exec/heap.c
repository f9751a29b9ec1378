/*
 * What is given has a granule of 16 bytes in front: its class, the next one that is free, and whether it is somebody's.
 * A class is a size: so many granules up to 64, above eight sizes to each power of two. Each class has a list of what
 * is free, and granules that were never given come one behind the other. At the start of the heap stand the number of
 * the first of these, in the place of class 0, the lists, each a granule's number and how often the list was changed,
 * and at the end of the table the limit. All of it is accessed by atomics and volatile, so that no thread races there.
 */
#include "fuzz/exec/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP_ADDRESS (DEVICE_FIRST - 2 * DEVICE_SLOT)
#define HEAP_NAME "kernel-heap" /* no variable can have it */

enum {
    HEAP_USUAL = 8 << 20, /* as CUDA's */
    HEAP_MOST = 128 << 20,
    HEAP_TABLE = 2048, /* bytes before the first granule that is given */
    HEAP_LIMIT_AT = HEAP_TABLE - 8,
    ERROR_VALUE = 1
};

/* HEAP_TABLE and HEAP_LIMIT_AT stand in it as numbers. */
static const char functions[] =
    ".extern .func " PTX_HEAP_GIVES "(.param .b64 address, .param .b64 bytes);\n"
    ".extern .func " PTX_HEAP_TAKES "(.param .b64 address);\n"
    ".visible .func (.param .b64 address) malloc(.param .b64 bytes)\n"
    "{\n"
    "\t.reg .pred %%p<2>;\n"
    "\t.reg .b32 %%r<8>;\n"
    "\t.reg .b64 %%rd<10>;\n"
    "\tmov.b64 %%rd0, %llu;\n"
    "\tld.param.b64 %%rd1, [bytes];\n"
    "\tmov.b64 %%rd2, 0;\n"
    "\tld.global.u64 %%rd9, [%%rd0+2040];\n"
    "\tadd.s64 %%rd3, %%rd1, -1;\n"
    "\tsetp.ge.u64 %%p1, %%rd3, %%rd9;\n" /* also of 0 bytes */
    "\t@%%p1 bra done;\n"
    "\tshr.u64 %%rd3, %%rd3, 4;\n"
    "\tcvt.u32.u64 %%r1, %%rd3;\n"
    "\tadd.s32 %%r1, %%r1, 1;\n"
    "\tmov.b32 %%r2, %%r1;\n"
    "\tsetp.le.u32 %%p1, %%r1, 64;\n"
    "\t@%%p1 bra known;\n"
    "\tclz.b32 %%r3, %%r1;\n"
    "\tsub.s32 %%r3, 28, %%r3;\n"
    "\tmov.b32 %%r4, 1;\n"
    "\tshl.b32 %%r4, %%r4, %%r3;\n"
    "\tadd.s32 %%r1, %%r1, %%r4;\n"
    "\tadd.s32 %%r1, %%r1, -1;\n"
    "\tshr.u32 %%r1, %%r1, %%r3;\n"
    "\tshl.b32 %%r1, %%r1, %%r3;\n"
    "\tclz.b32 %%r3, %%r1;\n"
    "\tsub.s32 %%r3, 28, %%r3;\n"
    "\tshr.u32 %%r2, %%r1, %%r3;\n"
    "\tmad.lo.s32 %%r2, %%r3, 8, %%r2;\n"
    "\tadd.s32 %%r2, %%r2, 33;\n" /* the first is 3 * 8 + 8 */
    "known:\n"
    "\tmul.wide.u32 %%rd4, %%r2, 8;\n"
    "\tadd.s64 %%rd4, %%rd4, %%rd0;\n"
    "again:\n"
    "\tld.volatile.global.u64 %%rd5, [%%rd4];\n"
    "\tcvt.u32.u64 %%r3, %%rd5;\n"
    "\tsetp.eq.s32 %%p1, %%r3, 0;\n"
    "\t@%%p1 bra fresh;\n"
    "\tmul.wide.u32 %%rd6, %%r3, 16;\n"
    "\tadd.s64 %%rd6, %%rd6, %%rd0;\n"
    "\tld.volatile.global.u32 %%r4, [%%rd6+4];\n"
    "\tshr.u64 %%rd7, %%rd5, 32;\n"
    "\tadd.s64 %%rd7, %%rd7, 1;\n"
    "\tshl.b64 %%rd7, %%rd7, 32;\n"
    "\tcvt.u64.u32 %%rd8, %%r4;\n"
    "\tor.b64 %%rd7, %%rd7, %%rd8;\n"
    "\tatom.global.cas.b64 %%rd8, [%%rd4], %%rd5, %%rd7;\n"
    "\tsetp.ne.s64 %%p1, %%rd8, %%rd5;\n"
    "\t@%%p1 bra again;\n"
    "\tbra given;\n"
    "fresh:\n"
    "\tld.volatile.global.u32 %%r3, [%%rd0];\n"
    "\tadd.s32 %%r4, %%r3, %%r1;\n"
    "\tadd.s32 %%r4, %%r4, 1;\n"
    "\tadd.s64 %%rd5, %%rd9, 2048;\n"
    "\tshr.u64 %%rd5, %%rd5, 4;\n"
    "\tcvt.u32.u64 %%r5, %%rd5;\n"
    "\tsetp.gt.u32 %%p1, %%r4, %%r5;\n"
    "\t@%%p1 bra done;\n"
    "\tatom.global.cas.b32 %%r5, [%%rd0], %%r3, %%r4;\n"
    "\tsetp.ne.s32 %%p1, %%r5, %%r3;\n"
    "\t@%%p1 bra fresh;\n"
    "\tmul.wide.u32 %%rd6, %%r3, 16;\n"
    "\tadd.s64 %%rd6, %%rd6, %%rd0;\n"
    "given:\n"
    "\tst.volatile.global.u32 [%%rd6], %%r2;\n"
    "\tst.volatile.global.u32 [%%rd6+8], 1;\n"
    "\tadd.s64 %%rd2, %%rd6, 16;\n"
    "\t{\n"
    "\t.param .b64 a;\n"
    "\t.param .b64 b;\n"
    "\tst.param.b64 [a], %%rd2;\n"
    "\tst.param.b64 [b], %%rd1;\n"
    "\tcall.uni " PTX_HEAP_GIVES ", (a, b);\n"
    "\t}\n"
    "done:\n"
    "\tst.param.b64 [address], %%rd2;\n"
    "\tret;\n"
    "}\n"
    ".visible .func free(.param .b64 address)\n"
    "{\n"
    "\t.reg .pred %%p<2>;\n"
    "\t.reg .b32 %%r<5>;\n"
    "\t.reg .b64 %%rd<10>;\n"
    "\tmov.b64 %%rd0, %llu;\n"
    "\tld.param.b64 %%rd1, [address];\n"
    "\tsetp.eq.s64 %%p1, %%rd1, 0;\n"
    "\t@%%p1 bra done;\n"
    "\t{\n"
    "\t.param .b64 a;\n"
    "\tst.param.b64 [a], %%rd1;\n"
    "\tcall.uni " PTX_HEAP_TAKES ", (a);\n"
    "\t}\n"
    /* What malloc has not given, or what is free already, stays as it is. */
    "\tld.global.u64 %%rd9, [%%rd0+2040];\n"
    "\tsub.s64 %%rd2, %%rd1, %%rd0;\n"
    "\tadd.s64 %%rd2, %%rd2, -16;\n"
    "\tsub.s64 %%rd3, %%rd2, 2048;\n"
    "\tsetp.ge.u64 %%p1, %%rd3, %%rd9;\n"
    "\t@%%p1 bra done;\n"
    "\tand.b64 %%rd3, %%rd2, 15;\n"
    "\tsetp.ne.s64 %%p1, %%rd3, 0;\n"
    "\t@%%p1 bra done;\n"
    "\tadd.s64 %%rd4, %%rd2, %%rd0;\n"
    "\tatom.global.cas.b32 %%r1, [%%rd4+8], 1, 0;\n"
    "\tsetp.ne.s32 %%p1, %%r1, 1;\n"
    "\t@%%p1 bra done;\n"
    "\tld.volatile.global.u32 %%r2, [%%rd4];\n"
    "\tmul.wide.u32 %%rd5, %%r2, 8;\n"
    "\tadd.s64 %%rd5, %%rd5, %%rd0;\n"
    "\tshr.u64 %%rd6, %%rd2, 4;\n"
    "again:\n"
    "\tld.volatile.global.u64 %%rd7, [%%rd5];\n"
    "\tcvt.u32.u64 %%r3, %%rd7;\n"
    "\tst.volatile.global.u32 [%%rd4+4], %%r3;\n"
    "\tshr.u64 %%rd8, %%rd7, 32;\n"
    "\tadd.s64 %%rd8, %%rd8, 1;\n"
    "\tshl.b64 %%rd8, %%rd8, 32;\n"
    "\tor.b64 %%rd8, %%rd8, %%rd6;\n"
    "\tatom.global.cas.b64 %%rd3, [%%rd5], %%rd7, %%rd8;\n"
    "\tsetp.ne.s64 %%p1, %%rd3, %%rd7;\n"
    "\t@%%p1 bra again;\n"
    "done:\n"
    "\tret;\n"
    "}\n";

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
    const unsigned long long start = HEAP_ADDRESS;
    const char *behind = arena_printf(arena, functions, start, start);
    return arena_printf(arena, "%s\n%s", text, behind);
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
    const uint32_t first = HEAP_TABLE / HEAP_GRANULE;
    memcpy(buffer->own, &first, sizeof first);
    memcpy((char *)buffer->own + HEAP_LIMIT_AT, &limit, sizeof limit);
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
