/*
 * Device memory as the program sees it: places in the file that holds it.
 */
#include "fuzz/cudart/cudart.h"
#include "fuzz/cudart/static_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static uint64_t memory_end, memory_used;
static uint32_t numbers;
static struct allocation *allocations;

/* Before all others, also before the C library has taken the environment (-z initfirst): libraries that are linked with
 * the static runtime register their kernels in constructors of their own. */
static __attribute__((constructor)) void start(int count, char **arguments, char **environment)
{
    (void)count, (void)arguments;
    if (!environ)
        environ = environment;
    device_claim(DEVICE_VARIABLE_NAME);
    static_link_runtime(static_link_own);
}

bool device_enter(void)
{
    static bool said;
    const enum device_link link = device_lock();
    if (link == DEVICE_OURS)
        return true;
    if (!said)
        fprintf(stderr, "simtfuzz: there is no device: %s\n",
                link == DEVICE_NEVER ? "the program does not run under `simtfuzz exec`"
                                     : "it belongs to the process that this one was forked from");
    said = true;
    return false;
}

/* ---- memory ---- */

/* Also one of a graph that is not there now. */
static struct allocation *allocation_at(const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    for (struct allocation *a = allocations; a; a = a->next)
        if (at - a->address < a->bytes || (at == a->address && a->bytes == 0))
            return a;
    return NULL;
}

struct allocation *allocation_of(const void *address)
{
    struct allocation *a = allocation_at(address);
    return a && !a->absent ? a : NULL;
}

bool pages_have_memory(uint64_t address, uint64_t bytes)
{
    const uint64_t first = address & ~(uint64_t)(PAGE - 1);
    for (const struct allocation *a = allocations; a; a = a->next)
        if (address + bytes > (a->address & ~(uint64_t)(PAGE - 1)) &&
            first < ((a->address + a->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1)))
            return true;
    return false;
}

static bool is_taken(uint64_t address)
{
    for (const struct allocation *a = allocations; a; a = a->next)
        if (a->address == address)
            return true;
    return false;
}

/* Slots are used again only when all have been: so the memory of one that was freed is nobody's for long. */
static void *map_slot(uint64_t length, enum device_memory kind)
{
    static uint32_t slot;
    bool seen = kind == DEVICE_MEMORY_MANAGED || kind == DEVICE_MEMORY_HOST;
    for (uint32_t tries = 0; tries < DEVICE_SLOTS; tries++, slot++) {
        uint64_t address = DEVICE_FIRST + (uint64_t)(slot % DEVICE_SLOTS) * DEVICE_SLOT;
        if (is_taken(address))
            continue;
        void *mapped = mmap(
            (void *)(uintptr_t)address, length, seen ? PROT_READ | PROT_WRITE : PROT_NONE,
            (seen ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE) | MAP_FIXED_NOREPLACE,
            seen ? device_file() : -1, seen ? (off_t)memory_end : 0);
        if (mapped == (void *)(uintptr_t)address) {
            slot++;
            return mapped;
        }
        if (mapped != MAP_FAILED)
            munmap(mapped, length);
    }
    return NULL;
}

struct allocation *allocation_new(uint64_t bytes, enum device_memory kind)
{
    uint64_t length = ((bytes ? bytes : 1) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (bytes > DEVICE_MEMORY_BYTES || memory_used + length > DEVICE_MEMORY_BYTES ||
        ftruncate(device_file(), (off_t)(memory_end + length)) != 0)
        return NULL;
    struct allocation *a = calloc(1, sizeof *a);
    void *at = a ? map_slot(length, kind) : NULL;
    if (!at) {
        free(a);
        return NULL;
    }
    *a = (struct allocation){.address = (uint64_t)(uintptr_t)at,
                             .bytes = bytes,
                             .offset = memory_end,
                             .kind = kind,
                             .number = ++numbers,
                             .next = allocations};
    if (kind == DEVICE_MEMORY_MANAGED || kind == DEVICE_MEMORY_HOST)
        a->mapped = at;
    memory_end += length;
    memory_used += length;
    return allocations = a;
}

/* The pages it lies on become pages of the file, with what they held. */
struct allocation *allocation_of_host(void *address, uint64_t bytes)
{
    const uint64_t at = (uint64_t)(uintptr_t)address, first = at & ~(uint64_t)(PAGE - 1);
    const uint64_t length = ((at + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1)) - first;
    void *pages = (void *)(uintptr_t)first;
    if (length > DEVICE_MEMORY_BYTES || memory_used + length > DEVICE_MEMORY_BYTES ||
        ftruncate(device_file(), (off_t)(memory_end + length)) != 0)
        return NULL;
    struct allocation *a = calloc(1, sizeof *a);
    const struct allocation whole = {.offset = memory_end};
    if (!a || !device_write(&whole, 0, pages, length) ||
        mmap(pages, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device_file(),
             (off_t)memory_end) != pages) {
        free(a);
        return NULL;
    }
    *a = (struct allocation){.address = at,
                             .bytes = bytes,
                             .offset = memory_end + (at - first),
                             .kind = DEVICE_MEMORY_HOST,
                             .number = ++numbers,
                             .mapped = address,
                             .stays_mapped = true,
                             .next = allocations};
    memory_end += length;
    memory_used += length;
    return allocations = a;
}

void allocation_end(struct allocation *allocation)
{
    const uint64_t before = allocation->address % PAGE; /* on the first page: of the host's own */
    uint64_t length =
        (before + (allocation->bytes ? allocation->bytes : 1) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    struct allocation **at = &allocations;
    while (*at != allocation)
        at = &(*at)->next;
    *at = allocation->next;
    if (!allocation->stays_mapped)
        munmap((void *)(uintptr_t)allocation->address, length);
    memory_used -= length;
    free(allocation);
}

uint64_t memory_in_use(void)
{
    return memory_used;
}

bool device_read(const struct allocation *from, uint64_t at, void *to, size_t bytes)
{
    for (char *out = to; bytes > 0;) {
        ssize_t got = pread(device_file(), out, bytes, (off_t)(from->offset + at));
        if (got <= 0)
            return false;
        out += got;
        at += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

bool device_write(const struct allocation *to, uint64_t at, const void *from, size_t bytes)
{
    for (const char *in = from; bytes > 0;) {
        ssize_t put = pwrite(device_file(), in, bytes, (off_t)(to->offset + at));
        if (put <= 0)
            return false;
        in += put;
        at += (uint64_t)put;
        bytes -= (size_t)put;
    }
    return true;
}

/* ---- reserved addresses ---- */

uint64_t address_reserve(uint64_t bytes)
{
    return bytes > DEVICE_SLOT / 2 ? 0 : (uint64_t)(uintptr_t)map_slot(bytes, DEVICE_MEMORY_DEVICE);
}

void address_give_back(uint64_t address, uint64_t bytes)
{
    munmap((void *)(uintptr_t)address, bytes);
}

struct allocation *allocation_at_address(uint64_t address, uint64_t bytes)
{
    struct allocation *a = bytes % PAGE == 0 ? calloc(1, sizeof *a) : NULL;
    if (!a || memory_used + bytes > DEVICE_MEMORY_BYTES ||
        ftruncate(device_file(), (off_t)(memory_end + bytes)) != 0) {
        free(a);
        return NULL;
    }
    *a = (struct allocation){.address = address,
                             .bytes = bytes,
                             .offset = memory_end,
                             .kind = DEVICE_MEMORY_DEVICE,
                             .number = ++numbers,
                             .stays_mapped = true,
                             .next = allocations};
    memory_end += bytes;
    memory_used += bytes;
    return allocations = a;
}

/* ---- memory of graphs ---- */

struct allocation *allocation_of_graph(uint64_t bytes)
{
    if (!device_enter())
        return NULL;
    struct allocation *a = allocation_new(bytes, DEVICE_MEMORY_DEVICE);
    if (a)
        a->is_of_graph = a->absent = true;
    device_leave();
    return a;
}

struct allocation *graph_allocation_of(const void *address)
{
    if (!device_enter())
        return NULL;
    struct allocation *a = allocation_at(address);
    device_leave();
    return a && a->is_of_graph ? a : NULL;
}
