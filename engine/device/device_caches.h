/*
 * device_caches.h - memory=caches: grids over the caches of cuda-crs 4 (engine/caches), in micro steps; of L1s that
 * belong to the device, and not to a grid.
 *
 * A grid's machine has the lines of all L1s while it holds the memory (device_memory.c), each under its own number of
 * the line's first word; in between they lie here, under the words of the device's memory. What another grid has
 * alone - a buffer that this one does not reach, local memory - is there as a line of somebody else's, which takes up
 * room.
 */
#ifndef ENGINE_DEVICE_CACHES_H
#define ENGINE_DEVICE_CACHES_H

#include "engine/caches/caches.h"
#include "engine/device/device.h"

struct device_cached_line {
    uint32_t used;  /* 1; behind them, those that are not */
    uint32_t owner; /* of local memory: its grid + 1; else 0 */
    uint32_t
        base; /* its region's first word in the device's memory; of local memory: its first word in the grid's */
    uint32_t offset; /* from there to the line: also less than 0 */
    uint32_t valid, dirty, pins, pending, first;
    uint32_t vals[CACHES_WORDS];
    uint32_t padding;
};

_Static_assert(sizeof(struct device_cached_line) % 8 == 0, "an even number of words");

struct device_caches {
    struct device_cached_line *lines; /* SM by SM, options.lines each: state */
    /* The shared memory of each place of each SM, where somebody may find what others do there: two blocks at one place
     * (occupancy=context), or an operation of one that is over (drain=none, ends=keep). State. */
    int32_t *shared;
    uint32_t *locks;       /* which banks of it are locked, by whomever: state */
    uint32_t shared_words; /* of a place; 0: each block has its own */
    uint32_t
        late; /* while who holds the memory has made a step of a block that is over: its slot + 1 */
};

/* Words of shared memory of a place that are state. */
uint32_t cached_shared_words(const struct device *device);

/* How a grid's machine is made; false: it cannot be, and an error is in diag. */
bool cached_options(struct device *device, struct memory_options *options, struct diag *diag);

/* The machine of who is about to hold the memory gets the lines, or gives them back. */
void cached_in(struct device *device, struct device_grid *grid);
void cached_out(struct device *device, struct device_grid *grid);
/* Shared memory alone, of the places of its blocks. */
void cached_shared_in(struct device *device, struct device_grid *grid);

/* Whether the grid's machine may have alternatives: blocks, or operations under way. */
bool cached_moves(const struct device_grid *grid);
/* Who can step of it is up to date. */
void cached_look(struct device *device, struct device_grid *grid);

/* The slot of a grid's machine for a block that comes to this place: one whose operations are there, or that has
 * none. */
uint32_t cached_slot(const struct device *device, const struct device_grid *grid, uint32_t sm,
                     uint32_t place);
bool cached_words_pending(const struct device *device, uint32_t base, uint32_t words);
uint32_t cached_count(const struct device *device, const struct device_grid *grid);
/* Whether lines of global memory are waited for: an L1 cannot be emptied. */
bool cached_pinned(struct device *device);
void cached_flush(struct device *device);

#endif
