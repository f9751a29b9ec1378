/*
 * clock.h - who knows of whom: a vector of times for each thread, and room for more such vectors.
 *
 * Thread u knows all that thread t did before known(u, t). A barrier of a whole block is a floor: everybody in it knows
 * of everybody in it what came before; so for a warp.
 */
#ifndef ORACLE_SCOPED_CLOCK_H
#define ORACLE_SCOPED_CLOCK_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct clocks {
    uint32_t threads, block_threads, blocks; /* threads: of the grid */
    uint32_t warp, block_warps;              /* lanes; warps of a block */
    uint16_t *block_of, *warp_of;            /* a thread: its block, its warp */
    uint32_t *known;                         /* [thread][thread] */
    uint32_t *floors, *warp_floors;          /* a block, a warp */
    bool *learnt;   /* a block: one of its threads knows more than floors */
    bool *fresh;    /* a thread: it knows more than what its block knew at its latest barrier */
    bool *apart;    /* a warp: one of its lanes knows more than at their latest barrier */
    uint32_t *room; /* [capacity][thread] */
    uint32_t used, capacity, free; /* free: a vector + 1, whose first word is the next */
    bool full;                     /* a vector was asked for, and there was none */
};

/* False: so many threads are too many. */
bool clocks_make(struct clocks *clocks, struct arena *arena, uint32_t blocks,
                 uint32_t block_threads, uint32_t warp);
void clocks_begin(struct clocks *clocks); /* nobody knows anything */

static inline uint32_t *clocks_at(const struct clocks *clocks, uint32_t number)
{
    return &clocks->room[(size_t)(number - 1) * clocks->threads];
}

/* A vector of zeros, its number + 1; 0: there is no room. */
uint32_t clocks_take(struct clocks *clocks);
void clocks_drop(struct clocks *clocks, uint32_t number);

static inline uint32_t clocks_warp(const struct clocks *clocks, uint32_t thread)
{
    return clocks->warp_of[thread];
}

static inline uint32_t clocks_known(const struct clocks *clocks, uint32_t u, uint32_t t)
{
    uint32_t block = clocks->block_of[u], warp = clocks_warp(clocks, u);
    bool near = clocks->block_of[t] == block;
    uint32_t floor = near ? clocks->floors[block] : 0;
    uint32_t learnt = clocks->learnt[block] ? clocks->known[(size_t)u * clocks->threads + t] : 0;
    if (near && clocks_warp(clocks, t) == warp && clocks->warp_floors[warp] > floor)
        floor = clocks->warp_floors[warp];
    return learnt > floor ? learnt : floor;
}

/* What u knows, and what it has done itself before `now`, is added to a vector; what a vector says, u knows. */
void clocks_tell(const struct clocks *clocks, uint32_t u, uint32_t now, uint32_t *vector);
void clocks_learn(struct clocks *clocks, uint32_t u, const uint32_t *vector);
void clocks_merge(const struct clocks *clocks, uint32_t *vector, const uint32_t *other);

/* A barrier of all threads of a block. */
void clocks_barrier(struct clocks *clocks, uint32_t block, uint32_t now);

/* One of all threads of a warp that still run; first: its lane 0. */
void clocks_warp_barrier(struct clocks *clocks, uint32_t first, uint32_t now);

#endif
