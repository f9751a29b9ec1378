/*
 * Device memory as the program sees it: places in the file that holds it.
 */
#include "fuzz/cudart/cudart.h"
#include "fuzz/cudart/static_link.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static __thread bool in_host_function;

void host_function_begins(void)
{
    in_host_function = true;
}

void host_function_ends(void)
{
    in_host_function = false;
}

bool device_enter(void)
{
    static bool said;
    const enum device_link link = device_lock();
    if (link == DEVICE_OURS) {
        tell_registered();
        if (in_host_function)
            device_say(DEVICE_WRONG, "a function that a stream calls on the host calls CUDA, which "
                                     "answers cudaErrorNotPermitted on a GPU");
        return true;
    }
    if (!said)
        fprintf(stderr, "simtfuzz: there is no device: %s\n",
                link == DEVICE_NEVER ? "the program does not run under `simtfuzz exec`"
                                     : "it belongs to the process that this one was forked from");
    said = true;
    return false;
}

/* ---- memory ---- */

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

static uint64_t page_behind(uint64_t end)
{
    return page_of(end + PAGE - 1);
}

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
    for (const struct allocation *a = allocations; a; a = a->next)
        if (address + bytes > page_of(a->address) &&
            page_of(address) < page_behind(a->address + a->bytes))
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

/* `seen`: by the host, too. Slots are used again only when all have been: so the memory of one that was freed is
 * nobody's for long. */
static void *map_slot(uint64_t length, bool seen)
{
    static uint32_t slot;
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

/* Whole pages more at the end of the file, for an allocation that is to be filled. NULL: no room. */
static struct allocation *make_room(uint64_t length)
{
    if (length > DEVICE_MEMORY_BYTES - memory_used ||
        ftruncate(device_file(), (off_t)(memory_end + length)) != 0)
        return NULL;
    return calloc(1, sizeof(struct allocation));
}

/* They are the allocation's. */
static struct allocation *take_room(struct allocation *a, uint64_t length)
{
    a->offset = memory_end + a->address % PAGE;
    a->number = ++numbers;
    a->next = allocations;
    memory_end += length;
    memory_used += length;
    return allocations = a;
}

struct allocation *allocation_new(uint64_t bytes, enum device_memory kind)
{
    const uint64_t length = page_behind(bytes ? bytes : 1);
    const bool seen = kind == DEVICE_MEMORY_MANAGED || kind == DEVICE_MEMORY_HOST;
    struct allocation *a = bytes <= DEVICE_MEMORY_BYTES ? make_room(length) : NULL;
    void *at = a ? map_slot(length, seen) : NULL;
    if (!at) {
        free(a);
        return NULL;
    }
    *a = (struct allocation){.address = (uint64_t)(uintptr_t)at,
                             .bytes = bytes,
                             .kind = kind,
                             .mapped = seen ? at : NULL};
    return take_room(a, length);
}

/* The pages it lies on become pages of the file, with what they held. */
struct allocation *allocation_of_host(void *address, uint64_t bytes)
{
    const uint64_t at = (uint64_t)(uintptr_t)address;
    const uint64_t length = page_behind(at + bytes) - page_of(at);
    void *pages = (void *)(uintptr_t)page_of(at);
    struct allocation *a = make_room(length);
    const struct allocation whole = {.offset = memory_end};
    if (!a || !device_write(&whole, 0, pages, length) ||
        mmap(pages, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device_file(),
             (off_t)memory_end) != pages) {
        free(a);
        return NULL;
    }
    *a = (struct allocation){.address = at,
                             .bytes = bytes,
                             .kind = DEVICE_MEMORY_HOST,
                             .mapped = address,
                             .stays_mapped = true};
    return take_room(a, length);
}

void allocation_end(struct allocation *allocation)
{
    const uint64_t before = allocation->address % PAGE; /* on the first page: of the host's own */
    const uint64_t length = page_behind(before + (allocation->bytes ? allocation->bytes : 1));
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

/* Much of nothing but zeros takes no memory: the file has a hole there. False: it was not done. */
static bool write_zeros(const struct allocation *to, uint64_t at, const char *from, size_t bytes)
{
    enum { MUCH = 1 << 16 };
    return bytes >= MUCH && from[0] == 0 && memcmp(from, from + 1, bytes - 1) == 0 &&
           fallocate(device_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     (off_t)(to->offset + at), (off_t)bytes) == 0;
}

bool device_write(const struct allocation *to, uint64_t at, const void *from, size_t bytes)
{
    if (write_zeros(to, at, from, bytes))
        return true;
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
    return bytes > DEVICE_SLOT / 2 ? 0 : (uint64_t)(uintptr_t)map_slot(bytes, false);
}

void address_give_back(uint64_t address, uint64_t bytes)
{
    munmap((void *)(uintptr_t)address, bytes);
}

struct allocation *allocation_at_address(uint64_t address, uint64_t bytes)
{
    struct allocation *a = bytes % PAGE == 0 ? make_room(bytes) : NULL;
    if (!a)
        return NULL;
    *a = (struct allocation){
        .address = address, .bytes = bytes, .kind = DEVICE_MEMORY_DEVICE, .stays_mapped = true};
    return take_room(a, bytes);
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

void graph_memory(struct graph_memory *memory)
{
    static uint64_t most_used, most_reserved;
    *memory = (struct graph_memory){.used = 0};
    for (const struct allocation *a = allocations; a; a = a->next) {
        memory->used += a->is_of_graph && !a->absent ? a->bytes : 0;
        memory->reserved += a->is_of_graph ? a->bytes : 0;
    }
    most_used = memory->used > most_used ? memory->used : most_used;
    most_reserved = memory->reserved > most_reserved ? memory->reserved : most_reserved;
    memory->most_used = most_used;
    memory->most_reserved = most_reserved;
}

struct allocation *graph_allocation_of(const void *address)
{
    if (!device_enter())
        return NULL;
    struct allocation *a = allocation_at(address);
    device_leave();
    return a && a->is_of_graph ? a : NULL;
}
