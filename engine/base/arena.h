/*
 * arena.h - memory for one case: bump allocation, reset in one go.
 *
 * An arena reserves address space once and never calls malloc afterwards. Pages are touched as they are used: a large
 * object of which little is used takes little memory. `struct arena *` as a parameter: the result lives there. To use
 * the rest of an arena as scratch, take a mark and release it.
 *
 * In builds under AddressSanitizer, and in the hunter of mutants (SIMTFUZZ_ARENA_GUARDS), every object has a zone
 * behind it that is as large as itself, 16 bytes at least. AddressSanitizer is told: who touches it, or what was
 * released, ends there. The hunter's zones hold a pattern, and a release that finds another one is a failed INVARIANT.
 * All that is counted in bytes - marks, `used`, `size` - leaves the zones out, so that limits are met at the same place
 * in every build.
 */
#ifndef ENGINE_ARENA_H
#define ENGINE_ARENA_H

#include "engine/base/inline.h"

#include <stdbool.h>
#include <stddef.h>
#ifdef SIMTFUZZ_ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#if defined(SIMTFUZZ_ADDRESS_SANITIZED) || defined(SIMTFUZZ_ARENA_GUARDS)
enum { ARENA_STRIDE = 2, ARENA_EDGE = 16 }; /* zones behind objects; what lies before the first */
#else
enum { ARENA_STRIDE = 1, ARENA_EDGE = 0 };
#endif

struct arena {
    char *base;
    size_t used;
    size_t size; /* bytes for objects */
    size_t most; /* bytes that were ever used: what lies above is zero */
};

/* Of the arenas that are made from now on `wanted` bytes in all are wanted, and `given` may be had: each gets its
 * share. Without a call, or with 0 given, the limit of the process's addresses (ulimit -v) is given to 32 GiB. */
void arena_share(size_t wanted, size_t given);

/* Who is told of an arena that has no room for `bytes` more; it must not return. Without one that is a failed
 * INVARIANT. */
typedef void arena_full_handler(const struct arena *arena, size_t bytes);
void arena_on_full(arena_full_handler *handler);

/* Reserves `size` bytes of address space, or their share; returns 0, or -1 with errno when the system refuses. */
int arena_init(struct arena *arena, size_t size);
/* The same; that the system refuses is told as that an arena is full, one of size 0. */
void arena_reserve(struct arena *arena, size_t size);
void arena_destroy(struct arena *arena);

/* Empties it, and gives its pages back to the system: the reserved addresses stay. */
void arena_drop(struct arena *arena);

/* `count` objects of `size` bytes, zeroed, 16-byte aligned. Never fails: inputs are bounded so that
 * they fit; see arena_on_full. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* Room for `bytes` that are written before they are read: not zeroed. */
void *arena_room(struct arena *arena, size_t bytes);

/* More room for an object of `bytes` bytes, a multiple of 16, if it is the arena's last one: `more` bytes, zeroed,
 * right behind it. */
bool arena_extend(struct arena *arena, void *object, size_t bytes, size_t more);

/* Gives back what the arena's last object, of `bytes` bytes, does not need beyond the first `kept`, 1 at least. */
void arena_trim(struct arena *arena, void *object, size_t bytes, size_t kept);

/* A zero-terminated copy of `length` bytes of `text`. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);

/* printf into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline size_t arena_mark(const struct arena *arena)
{
    return arena->used;
}

#ifdef SIMTFUZZ_ARENA_GUARDS
/* The zones of all objects above the mark are as they were made. */
void arena_check_guards(const struct arena *arena, size_t mark);
#endif

static inline void arena_release(struct arena *arena, size_t mark)
{
#ifdef SIMTFUZZ_ARENA_GUARDS
    arena_check_guards(arena, mark);
#endif
    ASAN_POISON_MEMORY_REGION(arena->base + ARENA_STRIDE * mark,
                              ARENA_STRIDE * (arena->used - mark));
    arena->used = mark;
}

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))

#endif
