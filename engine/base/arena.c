#include "engine/base/arena.h"

#include "engine/base/invariant.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* ---- zones (arena.h) ---- */

static char *place_of(const struct arena *arena, size_t used)
{
    return arena->base + ARENA_STRIDE * used;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

#ifdef SIMTFUZZ_ARENA_GUARDS
/* The pattern fills what lies between an object and its zone, and the zone's start; its last word is the object's
 * size. */
enum { GUARD = 0xa5, GUARD_MAX = 512 };
static const uint64_t SIZE_KEY = UINT64_C(0x9e3779b97f4a7c15);

static size_t guard_length(size_t bytes)
{
    size_t length = 2 * rounded(bytes) - sizeof(uint64_t) - bytes;
    return length < GUARD_MAX ? length : GUARD_MAX;
}

static void make_zone(struct arena *arena, char *object, size_t bytes)
{
    uint64_t size = bytes ^ SIZE_KEY;
    if (bytes > 0) {
        memset(object + bytes, GUARD, guard_length(bytes));
        memcpy(place_of(arena, arena->used) - sizeof size, &size, sizeof size);
    }
}

void arena_check_guards(const struct arena *arena, size_t mark)
{
    for (size_t used = arena->used; used > mark;) {
        uint64_t size;
        memcpy(&size, place_of(arena, used) - sizeof size, sizeof size);
        size ^= SIZE_KEY;
        INVARIANT(size > 0 && size <= used - mark && rounded(size) <= used - mark);
        used -= rounded(size);
        const unsigned char *guard = (const unsigned char *)place_of(arena, used) + size;
        for (size_t i = 0; i < guard_length(size); i++)
            INVARIANT(guard[i] == GUARD);
    }
}
#else
static void make_zone(struct arena *arena, char *object, size_t bytes)
{
    ASAN_POISON_MEMORY_REGION(object, place_of(arena, arena->used) - object);
    ASAN_UNPOISON_MEMORY_REGION(object, bytes);
}
#endif

/* ---- arenas ---- */

/* Where the process may not have all the addresses that it likes (ulimit -v, a batch system, --memory), every arena
 * gets its share. They are large only so that no case is too large for them. */
static size_t wanted_by_all = (size_t)32 << 30, given_to_all;
static arena_full_handler *full_handler;

void arena_share(size_t wanted, size_t given)
{
    wanted_by_all = wanted;
    given_to_all = given;
}

void arena_on_full(arena_full_handler *handler)
{
    full_handler = handler;
}

static size_t limit_of_all(void)
{
    struct rlimit limit;
    if (given_to_all > 0)
        return given_to_all;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < SIZE_MAX ? (size_t)limit.rlim_cur
                                                                          : SIZE_MAX;
}

static size_t affordable(size_t size)
{
    static const size_t LEAST = (size_t)1 << 20, PAGE = 4096;
    size_t given = limit_of_all();
    if (given >= wanted_by_all)
        return size;
    size_t share = (size_t)((double)size * ((double)given / (double)wanted_by_all)) / PAGE * PAGE;
    return share > LEAST ? share : size < LEAST ? size : LEAST;
}

static _Noreturn void fail_full(const struct arena *arena, size_t bytes)
{
    if (full_handler)
        full_handler(arena, bytes);
    invariant_fail("the arena has room", __FILE__, __LINE__);
}

int arena_init(struct arena *arena, size_t size)
{
    size = affordable(size);
    char *map = mmap(NULL, ARENA_STRIDE * size + ARENA_EDGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return -1;
    (void)madvise(map, ARENA_STRIDE * size + ARENA_EDGE,
                  MADV_HUGEPAGE); /* fewer misses, where the system can */
    *arena = (struct arena){.base = map + ARENA_EDGE, .size = size};
    ASAN_POISON_MEMORY_REGION(map, ARENA_EDGE);
    return 0;
}

void arena_reserve(struct arena *arena, size_t size)
{
    *arena = (struct arena){0};
    if (arena_init(arena, size) != 0)
        fail_full(arena, size);
}

void arena_destroy(struct arena *arena)
{
    if (arena->base) {
        arena_release(arena, 0);
        ASAN_UNPOISON_MEMORY_REGION(arena->base - ARENA_EDGE,
                                    ARENA_EDGE + ARENA_STRIDE * arena->most);
        munmap(arena->base - ARENA_EDGE, ARENA_STRIDE * arena->size + ARENA_EDGE);
    }
    *arena = (struct arena){0};
}

void arena_drop(struct arena *arena)
{
    arena_release(arena, 0);
    (void)madvise(arena->base - ARENA_EDGE, ARENA_STRIDE * arena->most + ARENA_EDGE, MADV_DONTNEED);
    arena->most = 0;
}

void *arena_room(struct arena *arena, size_t bytes)
{
    size_t left = arena->size - arena->used;
    if (bytes > left || rounded(bytes) > left)
        fail_full(arena, bytes);
    char *result = place_of(arena, arena->used);
    arena->used += rounded(bytes);
    arena->most = arena->used > arena->most ? arena->used : arena->most;
    make_zone(arena, result, bytes);
    return result - (bytes == 0) * ARENA_EDGE; /* nothing: it lies in the zone before */
}

/* What lies above all that was ever used is zero as the system gave it, and is not touched: a large object of which
 * little is used takes little memory. */
void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t start = arena->used, most = arena->most;
    if (size > 0 && count > SIZE_MAX / size)
        fail_full(arena, SIZE_MAX);
    char *object = arena_room(arena, count * size);
    size_t soiled = most > start ? ARENA_STRIDE * (most - start) : 0;
    return memset(object, 0, soiled < count * size ? soiled : count * size);
}

bool arena_extend(struct arena *arena, void *object, size_t bytes, size_t more)
{
    if (arena->used < bytes || place_of(arena, arena->used - bytes) != object)
        return false;
    arena_release(arena, arena->used - bytes);
    (void)arena_room(arena, bytes + more);
    memset((char *)object + bytes, 0, more);
    return true;
}

void arena_trim(struct arena *arena, void *object, size_t bytes, size_t kept)
{
    size_t start = arena->used - rounded(bytes);
    INVARIANT(place_of(arena, start) == object && kept > 0 && kept <= bytes);
    arena_release(arena, start);
    (void)arena_room(arena, kept);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    INVARIANT(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
