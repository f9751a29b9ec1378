#include "engine/base/pool.h"

#include "engine/base/invariant.h"

static uint32_t next_chunk(const struct pool *pool)
{
    return 31 - (uint32_t)__builtin_clz(pool->count / POOL_FIRST + 1);
}

size_t pool_growth(const struct pool *pool)
{
    uint32_t chunk = next_chunk(pool);
    INVARIANT(chunk < POOL_CHUNKS);
    return pool->chunks[chunk] ? 0 : ((size_t)POOL_FIRST << chunk) * pool->record;
}

void *pool_add(struct pool *pool, struct arena *arena)
{
    size_t growth = pool_growth(pool);
    if (growth > 0)
        pool->chunks[next_chunk(pool)] = arena_alloc(arena, 1, growth);
    return pool_at(pool, pool->count++);
}
