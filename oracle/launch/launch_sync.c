#include "oracle/launch/launch_sync.h"

#include <string.h>

enum { KIND_THREAD, KIND_WARP, KIND_BLOCK };
enum { SETS_BYTES = 256 << 20, PLACES = 1 << 8 };

static uint64_t key(unsigned kind, uint64_t number)
{
    return (uint64_t)kind << 62 | number;
}

/* ---- sets ---- */

/* Whether all that b says follows from a. */
static bool covers(const struct sync_set *a, const struct sync_set *b)
{
    uint32_t i = 0;
    if (!b || a == b)
        return true;
    if (!a || a->count < b->count)
        return false;
    for (uint32_t k = 0; k < b->count; k++) {
        while (i < a->count && a->facts[i].who < b->facts[k].who)
            i++;
        if (i == a->count || a->facts[i].who != b->facts[k].who ||
            a->facts[i].before < b->facts[k].before)
            return false;
    }
    return true;
}

static struct sync_set *room_for(struct launch_sync *sync, uint32_t count)
{
    size_t bytes = sizeof(struct sync_set) + count * sizeof(struct sync_fact);
    if (sync->arena->used + bytes > sync->limit) {
        sync->incomplete = true;
        return NULL;
    }
    return arena_room(sync->arena, bytes);
}

static const struct sync_set *merge(struct launch_sync *sync, const struct sync_set *a,
                                    const struct sync_set *b)
{
    if (covers(a, b))
        return a;
    if (covers(b, a))
        return b;
    struct sync_set *all = room_for(sync, a->count + b->count);
    uint32_t i = 0, k = 0, count = 0;
    if (!all)
        return a;
    while (i < a->count || k < b->count) {
        bool first = k == b->count || (i < a->count && a->facts[i].who <= b->facts[k].who);
        struct sync_fact fact = first ? a->facts[i++] : b->facts[k++];
        if (first && k < b->count && b->facts[k].who == fact.who) {
            fact.before = fact.before > b->facts[k].before ? fact.before : b->facts[k].before;
            k++;
        }
        all->facts[count++] = fact;
    }
    all->count = count;
    return all;
}

/* What the set knows of `who`: everything before this time. */
static uint32_t known(const struct sync_set *set, uint64_t who)
{
    uint32_t low = 0, high = set ? set->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->facts[middle].who < who)
            low = middle + 1;
        else
            high = middle;
    }
    return set && low < set->count && set->facts[low].who == who ? set->facts[low].before : 0;
}

/* ---- who is who ---- */

static uint32_t block_of(const struct launch_sync *sync, uint32_t thread)
{
    return thread / sync->threads;
}

/* Among the resident warps. */
static uint32_t warp_of(const struct launch_sync *sync, uint32_t thread)
{
    return thread / sync->threads * sync->warps + thread % sync->threads / sync->warp;
}

static uint64_t grid_thread(const struct launch_sync *sync, uint32_t thread)
{
    return (uint64_t)sync->first_block * sync->threads + thread;
}

static uint64_t grid_warp(const struct launch_sync *sync, uint64_t thread)
{
    return thread / sync->threads * sync->warps + thread % sync->threads / sync->warp;
}

/* ---- order ---- */

static bool knows(const struct launch_sync *sync, const struct sync_set *set, uint64_t earlier,
                  uint32_t time)
{
    return set && (time < known(set, key(KIND_THREAD, earlier)) ||
                   time < known(set, key(KIND_WARP, grid_warp(sync, earlier))) ||
                   time < known(set, key(KIND_BLOCK, earlier / sync->threads)));
}

bool sync_before(const struct launch_sync *sync, uint64_t earlier, uint32_t time, uint32_t thread)
{
    uint64_t self = grid_thread(sync, thread);
    const struct sync_block *block = &sync->block[block_of(sync, thread)];
    if (earlier / sync->threads == self / sync->threads) {
        if (time < block->floor)
            return true;
        if (grid_warp(sync, earlier) == grid_warp(sync, self) &&
            time < sync->warp_floor[warp_of(sync, thread)])
            return true;
    }
    return sync->incomplete || knows(sync, sync->thread[thread].knows, earlier, time) ||
           knows(sync, block->knows, earlier, time);
}

void sync_barrier(struct launch_sync *sync, uint32_t block)
{
    struct sync_block *b = &sync->block[block];
    for (uint32_t t = block * sync->threads;
         !sync->only_barriers && t < (block + 1) * sync->threads; t++) {
        b->knows = merge(sync, b->knows, sync->thread[t].knows);
        sync->thread[t].knows = NULL;
    }
    b->floor = ++b->clock;
}

void sync_cluster(struct launch_sync *sync, const uint32_t *blocks, uint32_t count)
{
    const struct sync_set *all = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct sync_set *own = room_for(sync, 1);
        sync_barrier(sync, blocks[i]);
        if (!own)
            return;
        const struct sync_block *b = &sync->block[blocks[i]];
        own->count = 1;
        own->facts[0] =
            (struct sync_fact){key(KIND_BLOCK, (uint64_t)sync->first_block + blocks[i]), b->floor};
        all = merge(sync, merge(sync, all, own), b->knows);
    }
    for (uint32_t i = 0; i < count; i++)
        sync->block[blocks[i]].knows = all;
}

/* What a thread has done until now, and knows, as it was at its fence. */
static const struct sync_set *publish(struct launch_sync *sync, uint32_t thread,
                                      const struct sync_fence *fence)
{
    struct sync_set *own = room_for(sync, 3);
    if (!own)
        return NULL;
    uint64_t self = grid_thread(sync, thread);
    own->count = 3;
    own->facts[0] = (struct sync_fact){key(KIND_THREAD, self), fence->time};
    own->facts[1] = (struct sync_fact){key(KIND_WARP, grid_warp(sync, self)), fence->warp_floor};
    own->facts[2] = (struct sync_fact){key(KIND_BLOCK, self / sync->threads), fence->block_floor};
    return merge(sync, merge(sync, own, fence->knows), fence->block_knows);
}

static struct sync_fence fence_now(struct launch_sync *sync, uint32_t thread, enum sync_scope scope)
{
    struct sync_block *block = &sync->block[block_of(sync, thread)];
    return (struct sync_fence){.is_set = true,
                               .scope = scope,
                               .time = ++block->clock,
                               .warp_floor = sync->warp_floor[warp_of(sync, thread)],
                               .block_floor = block->floor,
                               .knows = sync->thread[thread].knows,
                               .block_knows = block->knows};
}

void sync_warp(struct launch_sync *sync, uint32_t first_thread, uint64_t lanes, bool all)
{
    struct sync_block *block = &sync->block[block_of(sync, first_thread)];
    const struct sync_set *together = NULL;
    for (uint32_t lane = 0; lane < sync->warp; lane++) {
        struct sync_thread *t = &sync->thread[first_thread + lane];
        if (!(lanes >> lane & 1))
            continue;
        together = merge(sync, together, t->knows);
        if (all)
            continue;
        struct sync_fence now = fence_now(sync, first_thread + lane, SYNC_BLOCK);
        together = merge(sync, together, publish(sync, first_thread + lane, &now));
    }
    for (uint32_t lane = 0; lane < sync->warp; lane++)
        if (lanes >> lane & 1)
            sync->thread[first_thread + lane].knows = together;
    if (all)
        sync->warp_floor[warp_of(sync, first_thread)] = ++block->clock;
}

void sync_fence(struct launch_sync *sync, uint32_t thread, enum sync_scope scope)
{
    struct sync_thread *t = &sync->thread[thread];
    for (uint32_t s = 0; s <= scope; s++) {
        t->knows = merge(sync, t->knows, t->read[s]);
        t->read[s] = NULL;
    }
    t->fence = fence_now(sync, thread, scope);
}

/* ---- locations ---- */

static struct sync_place *find_place(const struct launch_sync *sync, uint32_t location)
{
    uint32_t at = location * 2654435761u;
    for (;; at++) {
        struct sync_place *place = &sync->places[at & (sync->place_capacity - 1)];
        if (place->location == 0 || place->location == location + 1)
            return place;
    }
}

static void grow_places(struct launch_sync *sync)
{
    struct sync_place *before = sync->places;
    uint32_t capacity = sync->place_capacity;
    if (2 * sync->place_count < capacity)
        return;
    if (sync->arena->used + 2 * capacity * sizeof *before > sync->limit) {
        sync->incomplete = true;
        return;
    }
    sync->place_capacity = 2 * capacity;
    sync->places = ARENA_ARRAY(sync->arena, struct sync_place, sync->place_capacity);
    for (uint32_t i = 0; i < capacity; i++)
        if (before[i].location)
            *find_place(sync, before[i].location - 1) = before[i];
}

static struct sync_place *add_place(struct launch_sync *sync, uint32_t location)
{
    struct sync_place *place = find_place(sync, location);
    if (place->location)
        return place;
    grow_places(sync);
    place = find_place(sync, location);
    if (2 * sync->place_count >= sync->place_capacity)
        return NULL;
    sync->place_count++;
    place->location = location + 1;
    return place;
}

void sync_plain_write(struct launch_sync *sync, uint32_t location)
{
    struct sync_place *place = sync->place_count ? find_place(sync, location) : NULL;
    for (uint32_t s = 0; place && place->location && s < SYNC_SCOPES; s++)
        place->to[s].set = NULL;
}

/* Which block, or cluster, a scope takes in. */
static uint32_t group_of(const struct launch_sync *sync, uint32_t thread, uint32_t scope)
{
    return scope == SYNC_BLOCK     ? (uint32_t)(grid_thread(sync, thread) / sync->threads)
           : scope == SYNC_CLUSTER ? sync->block[block_of(sync, thread)].cluster
                                   : 0;
}

static void observe(struct launch_sync *sync, uint32_t thread, const struct sync_access *access)
{
    struct sync_place *place = find_place(sync, access->location);
    struct sync_thread *t = &sync->thread[thread];
    for (uint32_t s = 0; place->location && s <= access->scope; s++) {
        const bool is_for = place->to[s].group == group_of(sync, thread, s);
        const struct sync_set *set = is_for ? place->to[s].set : NULL;
        t->read[s] = merge(sync, t->read[s], set);
        if (access->acquires)
            t->knows = merge(sync, t->knows, set);
    }
}

static void leave(struct launch_sync *sync, uint32_t thread, const struct sync_access *access)
{
    struct sync_thread *t = &sync->thread[thread];
    struct sync_fence now = t->fence;
    if (access->releases)
        now = fence_now(sync, thread, access->scope);
    if (!now.is_set && (access->reads || !sync->place_count))
        return; /* nothing is said; what others said stays, as a read-modify-write is part of their release */
    struct sync_place *place = add_place(sync, access->location);
    const struct sync_set *set = now.published;
    if (now.is_set && !set)
        set = publish(sync, thread, &now);
    if (!access->releases)
        t->fence.published = set;
    if (!place)
        return;
    for (uint32_t s = 0; s < SYNC_SCOPES; s++) {
        const uint32_t group = group_of(sync, thread, s);
        if (!access->reads || place->to[s].group != group)
            place->to[s].set = NULL;
        place->to[s].group = group;
        if (s <= now.scope && s <= access->scope)
            place->to[s].set = merge(sync, place->to[s].set, set);
    }
}

void sync_strong(struct launch_sync *sync, uint32_t thread, const struct sync_access *access)
{
    if (access->reads && sync->place_count)
        observe(sync, thread, access);
    if (access->writes)
        leave(sync, thread, access);
}

/* ---- start ---- */

void sync_start(struct launch_sync *sync, struct arena *arena, uint32_t blocks, uint32_t threads,
                uint32_t warp)
{
    *sync = (struct launch_sync){.arena = arena, .threads = threads, .warp = warp};
    sync->limit = arena->used + SETS_BYTES < arena->size ? arena->used + SETS_BYTES : arena->size;
    sync->warps = (threads + warp - 1) / warp;
    sync->thread = ARENA_ARRAY(arena, struct sync_thread, (size_t)blocks * threads);
    sync->warp_floor = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * sync->warps);
    sync->block = ARENA_ARRAY(arena, struct sync_block, blocks);
    sync->place_capacity = PLACES;
    sync->places = ARENA_ARRAY(arena, struct sync_place, PLACES);
}

void sync_restart(struct launch_sync *sync, uint32_t first_block, uint32_t blocks)
{
    sync->first_block = first_block;
    memset(sync->thread, 0, (size_t)blocks * sync->threads * sizeof *sync->thread);
    memset(sync->warp_floor, 0, (size_t)blocks * sync->warps * sizeof *sync->warp_floor);
    memset(sync->block, 0, blocks * sizeof *sync->block);
}
