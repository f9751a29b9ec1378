#include "oracle/scoped/clock.h"

#include <string.h>

enum { KNOWN_WORDS_MAX = 1 << 24, ROOM_WORDS_MAX = 1 << 22, EACH = 6, MORE = 256 };

bool clocks_make(struct clocks *clocks, struct arena *arena, uint32_t blocks,
                 uint32_t block_threads, uint32_t warp)
{
    uint64_t threads = (uint64_t)blocks * block_threads;
    uint64_t vectors = EACH * threads + MORE;
    if (threads * threads > KNOWN_WORDS_MAX)
        return false;
    if (vectors * threads > ROOM_WORDS_MAX)
        vectors = ROOM_WORDS_MAX / threads;
    *clocks = (struct clocks){.threads = (uint32_t)threads,
                              .block_threads = block_threads,
                              .blocks = blocks,
                              .warp = warp,
                              .block_warps = (block_threads + warp - 1) / warp,
                              .capacity = (uint32_t)vectors};
    clocks->block_of = ARENA_ARRAY(arena, uint16_t, threads);
    clocks->warp_of = ARENA_ARRAY(arena, uint16_t, threads);
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t block = t / block_threads;
        clocks->block_of[t] = (uint16_t)block;
        clocks->warp_of[t] = (uint16_t)(block * clocks->block_warps + t % block_threads / warp);
    }
    clocks->known = ARENA_ARRAY(arena, uint32_t, threads * threads);
    clocks->floors = ARENA_ARRAY(arena, uint32_t, blocks);
    clocks->warp_floors = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * clocks->block_warps);
    clocks->learnt = ARENA_ARRAY(arena, bool, blocks);
    clocks->fresh = ARENA_ARRAY(arena, bool, threads);
    clocks->apart = ARENA_ARRAY(arena, bool, (size_t)blocks * clocks->block_warps);
    clocks->room = arena_room(arena, vectors * threads * sizeof *clocks->room);
    return true;
}

void clocks_begin(struct clocks *clocks)
{
    for (uint32_t b = 0; b < clocks->blocks; b++) {
        uint32_t *rows = &clocks->known[(size_t)b * clocks->block_threads * clocks->threads];
        if (clocks->learnt[b])
            memset(rows, 0, (size_t)clocks->block_threads * clocks->threads * sizeof *rows);
        clocks->learnt[b] = false;
        clocks->floors[b] = 0;
    }
    memset(clocks->fresh, false, clocks->threads);
    memset(clocks->apart, false, (size_t)clocks->blocks * clocks->block_warps);
    memset(clocks->warp_floors, 0,
           (size_t)clocks->blocks * clocks->block_warps * sizeof *clocks->warp_floors);
    clocks->used = clocks->free = 0;
    clocks->full = false;
}

uint32_t clocks_take(struct clocks *clocks)
{
    uint32_t number = clocks->free;
    if (number)
        clocks->free = *clocks_at(clocks, number);
    else if (clocks->used < clocks->capacity)
        number = ++clocks->used;
    else
        clocks->full = true;
    if (number)
        memset(clocks_at(clocks, number), 0, clocks->threads * sizeof *clocks->room);
    return number;
}

void clocks_drop(struct clocks *clocks, uint32_t number)
{
    if (!number)
        return;
    *clocks_at(clocks, number) = clocks->free;
    clocks->free = number;
}

void clocks_merge(const struct clocks *clocks, uint32_t *vector, const uint32_t *other)
{
    for (uint32_t t = 0; t < clocks->threads; t++)
        if (vector[t] < other[t])
            vector[t] = other[t];
}

static void raise_to(uint32_t *vector, uint32_t count, uint32_t floor)
{
    for (uint32_t i = 0; i < count; i++)
        if (vector[i] < floor)
            vector[i] = floor;
}

void clocks_tell(const struct clocks *clocks, uint32_t u, uint32_t now, uint32_t *vector)
{
    uint32_t block = u / clocks->block_threads;
    uint32_t lane = u % clocks->block_threads / clocks->warp * clocks->warp;
    uint32_t lanes =
        clocks->block_threads - lane < clocks->warp ? clocks->block_threads - lane : clocks->warp;
    uint32_t *near = &vector[(size_t)block * clocks->block_threads];
    if (clocks->learnt[block])
        clocks_merge(clocks, vector, &clocks->known[(size_t)u * clocks->threads]);
    raise_to(near, clocks->block_threads, clocks->floors[block]);
    raise_to(near + lane, lanes, clocks->warp_floors[clocks_warp(clocks, u)]);
    if (vector[u] < now)
        vector[u] = now;
}

void clocks_learn(struct clocks *clocks, uint32_t u, const uint32_t *vector)
{
    uint32_t *known = &clocks->known[(size_t)u * clocks->threads], more = 0;
    for (uint32_t t = 0; t < clocks->threads; t++)
        more |= known[t] < vector[t];
    if (!more) /* who spins learns the same again and again */
        return;
    clocks->learnt[u / clocks->block_threads] = true;
    clocks->fresh[u] = true;
    clocks->apart[clocks_warp(clocks, u)] = true;
    clocks_merge(clocks, known, vector);
}

/* What one of these threads knows, all of them know. Who is not fresh knows what all of the block knew. */
static void share(const struct clocks *clocks, uint32_t first, uint32_t count)
{
    const size_t n = clocks->threads;
    uint32_t *together = NULL;
    for (uint32_t u = first; u < first + count; u++) {
        uint32_t *row = &clocks->known[u * n];
        if (clocks->fresh[u] && together)
            clocks_merge(clocks, together, row);
        else if (clocks->fresh[u])
            together = row;
    }
    for (uint32_t u = first; u < first + count && together; u++)
        if (&clocks->known[u * n] != together)
            memcpy(&clocks->known[u * n], together, n * sizeof *together);
}

void clocks_barrier(struct clocks *clocks, uint32_t block, uint32_t now)
{
    clocks->floors[block] = now;
    share(clocks, block * clocks->block_threads, clocks->block_threads);
    memset(&clocks->fresh[block * clocks->block_threads], false, clocks->block_threads);
    memset(&clocks->apart[block * clocks->block_warps], false, clocks->block_warps);
}

void clocks_warp_barrier(struct clocks *clocks, uint32_t first, uint32_t now)
{
    uint32_t left = clocks->block_threads - first % clocks->block_threads;
    clocks->warp_floors[clocks_warp(clocks, first)] = now;
    const uint32_t count = left < clocks->warp ? left : clocks->warp;
    bool *apart = &clocks->apart[clocks_warp(clocks, first)];
    if (!*apart)
        return;
    *apart = false;
    share(clocks, first, count);
    memset(&clocks->fresh[first], true, count);
}
