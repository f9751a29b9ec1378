/*
 * safety_lanes.h - the lanes of one warp as threads with a pc of their own (cuda-crs 6.3: →Θpc,
 * CHK.branch, CHK.step, CHK.reset), and with a private stack each (CHK.oracle).
 *
 * branch_Θ takes the addresses of break and return from the warp's own stack, so a stack that is wrong
 * but agrees with itself is seen by nobody (ERR.34). The private stack is independent of it:
 *
 *     preBrk a, preRet a    pushes (break, a), (call, a)
 *     break                 drops entries down to the topmost break entry, and it; ret: the same with call
 *
 * No function allocates.
 */
#ifndef ORACLE_SAFETY_LANES_H
#define ORACLE_SAFETY_LANES_H

#include "oracle/crs/safety_state.h"

struct safety_lanes {
    uint32_t count;    /* lanes of the warp, without dummies */
    uint32_t capacity; /* entries of a private stack */
    uint32_t *pcs;     /* a lane; 0 = ε */
    uint32_t *entries; /* [lane][capacity], bottom first: address * 2, + 1 for call */
    uint32_t *heights; /* a lane: entries */
    uint32_t *calls;   /* a lane: of these, call entries */
    uint32_t *frames;  /* a lane: calls that it has executed and not returned from */
    bool
        overflow; /* a private stack was full: no step of a machine with as many tokens does that */
    bool left_function; /* a break has dropped a call entry: frames are not those of the calls */
};

/* The flow actions of a step, as the warp takes it. */
struct safety_step {
    enum ptx_exec exec;
    lane_mask active;        /* before */
    lane_mask executing;     /* X: of these, those whose guard holds */
    uint32_t address;        /* ssy, preBrk, preRet */
    const uint32_t *targets; /* bra, call: of the executing lanes, by lane */
    uint32_t pc;             /* of the warp, before */
};

struct safety_lanes *safety_lanes_new(struct arena *arena, uint32_t count, uint32_t capacity);

/* Active lanes stand where the warp does; their private stacks are what the tokens say. */
void safety_lanes_start(struct safety_lanes *lanes, const struct crs_state *s,
                        const struct crs_token *tokens);

/* →Θpc for each lane; τ is the warp's stack before the step. */
void safety_lanes_step(struct safety_lanes *lanes, const struct safety_step *step,
                       const struct crs_token *tokens, uint32_t depth);

/* CHK.reset, when the warp has stepped: of a branch or call with several targets, those that were active
 * and are not any more have not moved. */
void safety_lanes_reset(struct safety_lanes *lanes, const struct safety_step *step,
                        lane_mask active_after);

/* Whether these lanes, about to call, have each pushed an entry for it: a call that is entered otherwise
 * than by its preRet finds the token of the call before, which satisfies stack-cons 6', too. */
bool safety_lanes_paired(const struct safety_lanes *lanes, lane_mask set);

/* chk_private for these lanes. */
bool safety_lanes_private(const struct safety_lanes *lanes, const struct crs_token *tokens,
                          uint32_t depth, lane_mask set);

#endif
