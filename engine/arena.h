/*
 * arena.h - memory for one case: bump allocation, reset in one go.
 *
 * An arena reserves address space once (pages are touched as they are used) and never calls malloc
 * afterwards. `struct arena *` as a parameter: the result lives there. To use the rest of an arena
 * as scratch, take a mark and release it. AddressSanitizer is told: who touches the padding behind an
 * object, or what was released, ends there.
 */
#ifndef ENGINE_ARENA_H
#define ENGINE_ARENA_H

#include "engine/inline.h"

#include <stddef.h>
#ifdef SIMTFUZZ_ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

struct arena {
    char *base;
    size_t used;
    size_t size; /* bytes reserved */
    size_t most; /* bytes used before something was released, at most */
};

/* Reserves `size` bytes of address space; returns 0, or -1 with errno when the system refuses. */
int arena_init(struct arena *arena, size_t size);
void arena_destroy(struct arena *arena);

/* `count` objects of `size` bytes, zeroed, 16-byte aligned. Never fails: inputs are bounded so that
 * they fit, and an arena that overflows all the same is a failed INVARIANT. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* Room for `bytes` that are written before they are read: not zeroed. */
void *arena_room(struct arena *arena, size_t bytes);

/* A zero-terminated copy of `length` bytes of `text`. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);

/* printf into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline size_t arena_mark(const struct arena *arena)
{
    return arena->used;
}

static inline void arena_release(struct arena *arena, size_t mark)
{
    ASAN_POISON_MEMORY_REGION(arena->base + mark, arena->used - mark);
    arena->most = arena->used > arena->most ? arena->used : arena->most;
    arena->used = mark;
}

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))

#endif
