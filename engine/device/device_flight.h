/*
 * device_flight.h - memory=inflight: operations that are under way for a while, and an L1 in each SM. A model of its
 * own, for small programs: what happens between grids when operations have not ended (ERR.83 to ERR.89).
 *
 * An access of 32 bits of global or shared memory by one lane is one operation in two phases: the instruction is
 * issued, its registers are blocked, and later, at any time, it is performed at once. Loads (.ca) read the word in the
 * L1 of their SM if it is there, and leave it there; .cg, .cv and volatile ones drop it and read what all SMs agree on;
 * stores and atomics write that, and drop the word of their own L1. A word may leave an L1 at any time (the silent
 * rule). cuda-crs 4 has more phases: engine/litmus has them, for threads without grids.
 */
#ifndef ENGINE_DEVICE_FLIGHT_H
#define ENGINE_DEVICE_FLIGHT_H

#include "engine/device/device.h"

enum {
    FLIGHTS = 16,
    FLIGHT_WORDS = 64,  /* of global memory */
    FLIGHT_SHARED = 16, /* words of shared memory of a block */
    FLIGHT_CAP = 4      /* operations of a warp under way: MO.cap */
};

#define FLIGHT_IS_SHARED 0x80000000u

struct device_flight {
    uint32_t used; /* 1; in front, those that are not */
    uint16_t
        stale; /* its block has made room for another one, whose flags are reset (flags=reset) */
    uint16_t awaited; /* its warp has come to a barrier since, and waits behind it (ERR.77) */
    uint32_t grid, actor, pc, lane;
    uint32_t
        block; /* whose operation it is: who comes to the slot later does not wait for it (ERR.43) */
    uint32_t sm, place;    /* whose L1, whose shared memory */
    uint32_t word;         /* of the device's memory; FLIGHT_IS_SHARED: of the block's */
    uint32_t value, other; /* operands */
};

_Static_assert(sizeof(struct device_flight) % 8 == 0, "an even number of words");

struct device_line {
    uint32_t valid, value;
};

struct flight_row; /* what a step was seen to access */

/* State, but for `rows`. */
struct device_flights {
    struct device_flight *flights;
    struct device_line *lines; /* SM by SM, FLIGHT_WORDS each */
    int32_t *shared;           /* of each place of each SM */
    struct flight_row *rows;
    uint32_t row_count;
    struct observer observer;
    const struct device_grid *stepping;
    uint32_t *saved; /* a machine's words */
};

/* Why the grid's kernel cannot be run so; NULL: it can. */
const char *flight_refuses(struct arena *arena, const struct device *device,
                           const struct device_grid *grid);
void flight_make(struct device *device);

bool flight_pending(const struct device *device, const struct device_grid *grid);
bool flight_slot_pending(const struct device *device, const struct device_grid *grid,
                         uint32_t slot);
/* Of operations on these words of global memory. */
bool flight_words_pending(const struct device *device, uint32_t base, uint32_t words);
bool flight_context_pending(const struct device *device, uint32_t context);
uint32_t flight_count(const struct device *device);

/* Whether the warp's next instruction can be issued. */
bool flight_may(const struct device *device, const struct device_grid *grid, uint32_t actor);
/* A warp's step, whose accesses get under way. */
void mem_issue(struct device *device, struct device_grid *grid, uint32_t actor,
               struct choices *choices);
/* A block comes to a slot: the shared memory of its place is as the module has it. */
void flight_arrive(struct device *device, const struct device_grid *grid, uint32_t slot);
void mem_perform(struct device *device, uint32_t number);
bool flight_line_valid(const struct device *device, uint32_t sm, uint32_t word);
void mem_silent(struct device *device, uint32_t sm, uint32_t word);
void flight_flush(struct device *device);

/* "st of x[0] by warp 0 of grid 1". */
const char *flight_text(struct arena *arena, const struct device *device, uint32_t number);

#endif
