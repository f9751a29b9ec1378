/*
 * host_follow_internal.h - what the files that follow a device share.
 */
#ifndef ORACLE_HOST_FOLLOW_INTERNAL_H
#define ORACLE_HOST_FOLLOW_INTERNAL_H

#include "engine/base/pcg.h"
#include "engine/crs/crs.h"
#include "engine/device/device_caches.h"
#include "engine/device/device_flight.h"
#include "engine/reference_device/ref_device.h"
#include "engine/reference_device/ref_turns.h"
#include "oracle/device/host_follow.h"

struct follow_observer {
    struct observer observer;
    struct host_follow *follow;
    uint32_t grid;
};

struct host_follow {
    struct arena *arena;
    struct device *device;
    struct ref_device *ref;
    struct device_watcher watcher;
    struct follow_observer *observers;
    /* the step that is under way: it is taken by the reference when the next one begins */
    bool begun;
    struct device_alternative step;
    uint32_t ways, way; /* of the first choice within it; 0: none. Which the schedule takes */
    bool has_turns;     /* the schedule is known */
    struct ref_turns turns;
    struct pcg numbers;
    uint32_t operation; /* ALTERNATIVE_MICRO: the reference's number, */
    struct ref_flight performed;
    const struct ptx_instruction *instruction; /* ALTERNATIVE_WARP: that is next; or NULL */
    struct ref_reach reach[REF_FLIGHTS];       /* what it accesses, memory=inflight */
    uint32_t reach_count;
    uint64_t operands[LIMIT_WARP][2];
    uint32_t ended; /* ALTERNATIVE_WARP: warps of its block that have ended behind the step */
    struct follow_cached *cached; /* memory=caches; or NULL */
    lane_mask active;             /* ALTERNATIVE_WARP, cached: of the warp, before the step */
    uint64_t steps;
    bool lost; /* something differs, or the bound was reached: nothing more is compared */
    const char *text;
    uint32_t line;
};

/* host_follow_texts.c: what the device says of the alternative, and of how it ended. */
void follow_compare_text(struct host_follow *follow, struct device_alternative x);
void follow_compare_end(struct host_follow *follow, enum device_end end);

/* host_follow_turns.c: the execution is by this schedule; it takes this step. */
void host_follow_schedule(struct host_follow *follow, const struct device_schedule *schedule);
void follow_turn(struct host_follow *follow, struct device_alternative x);

/* Something differs: of a statement, or where the host is. */
void follow_tell_of(struct host_follow *follow, uint32_t statement, const char *text);
void follow_tell(struct host_follow *follow, const char *text);

/* The instruction of a warp that is next; NULL: none of the text. */
const struct ptx_instruction *follow_next(const struct host_follow *follow, uint32_t grid,
                                          uint32_t actor);
/* The reference's operation that this one is; HOST_NONE: there is none. */
uint32_t follow_operation(const struct host_follow *follow, uint32_t flight);

/* A word of the machine's memory: of the device's; HOST_NONE: it is shared, or local. */
uint32_t follow_word(const struct device_grid *grid, uint32_t word);

/* ---- host_follow_caches.c: memory=caches ---- */

/* Words of local memory of the grid. */
uint32_t follow_private_words(const struct device_grid *grid);
/* False: larger than is followed. */
bool follow_cached_new(struct host_follow *follow);
void follow_cached_start(struct host_follow *follow);
/* Before the step. */
void follow_cached_begin(struct host_follow *follow);
/* What the step does to operations and lines; of a warp's, behind it. */
void follow_cached_warp(struct host_follow *follow);
void follow_cached_arrive(struct host_follow *follow, uint32_t grid, uint32_t slot);
void follow_cached_leave(struct host_follow *follow);
void follow_cached_flush(struct host_follow *follow);
void follow_cached_move(struct host_follow *follow);
/* Whether it may be offered; and what must be. */
bool follow_cached_may(const struct host_follow *follow, struct device_alternative x);
void follow_cached_offers(struct host_follow *follow,
                          void (*expect)(struct host_follow *, enum device_alternative_kind,
                                         uint32_t, uint32_t));
void follow_cached_compare(struct host_follow *follow);

/* ---- host_follow_state.c ---- */

void follow_compare_alternatives(struct host_follow *follow);
void follow_compare_state(struct host_follow *follow);
/* A block that has come to a slot is at its entry, and finds what the module has. */
void follow_compare_block(struct host_follow *follow, uint32_t grid, uint32_t slot);
/* The word that a load has brought is in its register. */
void follow_compare_register(struct host_follow *follow, int32_t found);

#endif
