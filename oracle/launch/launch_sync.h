/*
 * launch_sync.h - what orders the threads of a launch: barriers, and the fences and atomics of PTX's memory model.
 *
 * Time is counted by block: a block's clock ticks whenever something in it is ordered. An access by thread u of block
 * b at time e comes before whatever thread t does now if
 *
 *     u is t, or
 *     b is t's block, and a barrier of all its threads, or of the warp of both, lies between, or
 *     t knows of it: there is a chain of patterns  u: access, fence, strong write of x;  v: strong read of x, fence.
 *
 * (PTX ISA, "Memory Consistency Model": release and acquire patterns; observation is by the order of the execution,
 * which is sequentially consistent.) An atomic that has .release or .acquire is a pattern by itself. A pattern holds
 * between threads of one block if it has scope .cta, of one cluster if fence and access have scope .cluster, between
 * all threads if they have a wider one.
 *
 * What a thread knows is a set of facts "of thread u (warp w, block b) everything before time e". Sets are never
 * changed: threads, locations and fences share them.
 */
#ifndef ORACLE_LAUNCH_SYNC_H
#define ORACLE_LAUNCH_SYNC_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum sync_scope { SYNC_BLOCK, SYNC_CLUSTER, SYNC_DEVICE, SYNC_SCOPES };

struct sync_fact {
    uint64_t who; /* kind << 62 | number in the grid: of a thread, a warp, a block */
    uint32_t before;
};

struct sync_set { /* ascending by who; NULL: empty */
    uint32_t count;
    struct sync_fact facts[];
};

/* What a thread had done and known when it executed a fence. */
struct sync_fence {
    bool is_set;
    enum sync_scope scope;
    uint32_t time, warp_floor, block_floor;
    const struct sync_set *knows, *block_knows;
    const struct sync_set *published; /* all of that as a set, once somebody asked for it */
};

struct sync_thread {
    const struct sync_set *knows;             /* beyond what its block knows */
    const struct sync_set *read[SYNC_SCOPES]; /* from strong writes of this scope, no fence yet */
    struct sync_fence fence;                  /* the latest */
};

struct sync_block {
    uint32_t clock, floor; /* floor: what happened before it is known to the whole block */
    uint32_t cluster;      /* its number in the grid */
    const struct sync_set *knows;
};

/* What strong writes have published at a location. */
struct sync_place {
    uint32_t location; /* + 1; 0: free */
    struct {
        uint32_t group; /* the block, the cluster that this is for */
        const struct sync_set *set;
    } to[SYNC_SCOPES];
};

struct launch_sync {
    struct arena *arena;                        /* of the sets */
    size_t limit;                               /* of it; beyond, `incomplete` */
    uint32_t first_block, threads, warp, warps; /* of a block */
    struct sync_thread *thread;                 /* of the resident blocks */
    uint32_t *warp_floor;
    struct sync_block *block;
    struct sync_place *places;
    uint32_t place_count, place_capacity;
    bool only_barriers; /* no fence, no release: nobody knows anything of another block */
    bool
        incomplete; /* there was no room for all that threads know: no more races between them are told */
};

/* For so many resident blocks; the threads of a block, the lanes of a warp. */
void sync_start(struct launch_sync *sync, struct arena *arena, uint32_t blocks, uint32_t threads,
                uint32_t warp);

/* The next blocks are resident; which clusters they are of is the caller's to say, here and at the start. */
void sync_restart(struct launch_sync *sync, uint32_t first_block, uint32_t blocks);

/* Whether what thread `earlier` (number in the grid) did at `time` comes before what the resident thread does now;
 * not asked when they are the same. */
bool sync_before(const struct launch_sync *sync, uint64_t earlier, uint32_t time, uint32_t thread);

/* A barrier of all threads of a resident block; of these lanes of a warp. */
void sync_barrier(struct launch_sync *sync, uint32_t block);
/* The same of these blocks together. */
void sync_cluster(struct launch_sync *sync, const uint32_t *blocks, uint32_t count);
void sync_warp(struct launch_sync *sync, uint32_t first_thread, uint64_t lanes, bool all);

/* A fence of a resident thread. */
void sync_fence(struct launch_sync *sync, uint32_t thread, enum sync_scope scope);

/* A strong access: relaxed or volatile, or with .acquire, .release, or both. */
struct sync_access {
    uint32_t location;
    enum sync_scope scope;
    bool reads, writes, acquires, releases;
};
void sync_strong(struct launch_sync *sync, uint32_t thread, const struct sync_access *access);

/* A plain write: what was published at the location is there no more. */
void sync_plain_write(struct launch_sync *sync, uint32_t location);

#endif
