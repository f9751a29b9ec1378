/*
 * pool.h - tables that grow, whose records stay where they are: chunk k holds POOL_FIRST << k of them.
 */
#ifndef ENGINE_POOL_H
#define ENGINE_POOL_H

#include "engine/base/arena.h"

#include <stdint.h>

enum { POOL_FIRST = 64, POOL_CHUNKS = 24 };

struct pool {
    size_t record;  /* bytes */
    uint32_t count; /* may be lowered */
    char *chunks[POOL_CHUNKS];
};

static inline void *pool_at(const struct pool *pool, uint32_t index)
{
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(index / POOL_FIRST + 1);
    uint32_t before = POOL_FIRST * ((1u << chunk) - 1);
    return pool->chunks[chunk] + (index - before) * pool->record;
}

/* One more record, zeroed only when it is used for the first time. */
void *pool_add(struct pool *pool, struct arena *arena);

/* Bytes that the next pool_add takes from the arena; 0 when there is room. */
size_t pool_growth(const struct pool *pool);

#endif
