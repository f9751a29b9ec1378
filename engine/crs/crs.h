/*
 * crs.h - the PTX machine of "The Model of Computation of CUDA and its Formal Semantics": warps with a
 * branch unit (→CRS, 5.4.1), votes (5.4.2), warp steps (→Ω, 5.4.3), thread blocks with named barriers (→B,
 * 5.5), and threads with their own pc (→Θpc, 6.3). Sequentially consistent memory; one grid of several
 * blocks; one warp steps at a time (BLK.seq).
 *
 *     semantics_crs        actors are the warps
 *     semantics_thread_pc  the same, each lane with a pc of its own at which it executes (CHK.branch,
 *                          CHK.reset)
 *     semantics_block      actors are the threads, each with its own pc and its own stack of break
 *                          and call addresses; barriers are those of CTA semantics (named-barriers)
 *
 * ssy, preBrk, preRet, sync do nothing in semantics_block but keep the private stack: so it runs
 * code before and after injection.
 */
#ifndef ENGINE_CRS_H
#define ENGINE_CRS_H

#include "engine/input/crs_tokens.h"
#include "engine/lanes/ptx_exec.h"
#include "engine/machine/machine.h"

struct crs_token { /* τ */
    uint32_t type; /* enum crs_token_type */
    uint32_t pc;
    lane_mask mask;
};

/* ς, with what else a warp has. Lane sets are bit masks, lane 0 the lowest bit. */
struct crs_state {
    uint32_t pc;
    uint32_t depth;                     /* tokens on the stack */
    lane_mask active;                   /* α */
    lane_mask broken, returned, exited; /* δ: disjoint */
    uint32_t completed;
    uint32_t waiting; /* set of barrier numbers that it waits for */
};

/* The warp's token stack, bottom first: tokens[depth - 1] is the top. */
struct crs_warp {
    const struct crs_state *state;
    const struct crs_token *tokens;
    const struct ptx_lanes *lanes;
    const uint32_t *pcs; /* thread-pc: a lane; NULL otherwise. 0 = ε */
};

/* Of a machine of semantics_crs or semantics_thread_pc. */
struct crs_warp crs_warp(const struct machine *machine, uint32_t warp);

/* semantics_block: the thread's pc (0: ended), its waiting barrier (-1: none) */
struct cta_thread {
    uint32_t pc;
    int32_t barrier;
    const struct ptx_lanes *lanes;
};
struct cta_thread cta_thread(const struct machine *machine, uint32_t thread);

/* semantics_block: a barrier of a block: n, |I|, |A|; all 0: not configured. */
struct cta_barrier {
    uint32_t count;
    uint32_t synced, arrived;
};
struct cta_barrier cta_barrier(const struct machine *machine, uint32_t block, uint32_t number);

/* The set of barriers of a block that are configured: of a block that is done, those that NB.done drops
 * half-filled (C-3). */
uint32_t cta_dangling(const struct machine *machine, uint32_t block);

/* The blocks of a machine of semantics_crs, untracked, as slots of a device: the window of a grid's resident blocks.
 * After machine_new all slots hold a block. */

/* Whatever ran there is gone. */
void crs_slot_empty(struct machine *machine, uint32_t slot);
/* A block at its entry, in an empty slot. */
void crs_slot_start(struct machine *machine, uint32_t slot);
/* All warps have completed; of an empty slot too. */
bool crs_slot_done(const struct machine *machine, uint32_t slot);
/* The number in the grid of each slot's block, for %ctaid; the caller owns and changes them. */
void crs_slot_numbers(struct machine *machine, const uint32_t *numbers);

/* Bits of machine_options.crs_switches: 1u << CRS_SWITCH_... */
enum crs_switch {
#define CRS_SWITCH(id, name, mutant, sentence) CRS_SWITCH_##id,
#include "engine/crs/crs_switches.def"
    CRS_SWITCH_COUNT
};

enum { /* all that the patent has */
       CRS_PATENT_ALL = 0
#define CRS_PATENT(id, ...) | 1 << CRS_SWITCH_##id
#define CRS_SWITCH(id, ...)
#include "engine/crs/crs_switches.def"
};

/* Bits of machine_options.block_options. */
enum {
    BLOCK_EXIT_ARRIVES = 1, /* completed warps count as arrived (OPT.exit_arrives) */
    BLOCK_ALL_WARPS = 2,    /* default count: all warps of the block (MUT of BAR.2m) */
    BLOCK_ALIGNED =
        4,            /* bar.sync by a warp some of whose lanes are missing is barrier_divergence */
    BLOCK_LANES = 8,  /* barriers count lanes, not warps (mutant of BAR.5) */
    BLOCK_EAGER = 16, /* semantics_block: no recycle priority (C-7) */
    BLOCK_LATE = 32   /* a full barrier ends behind any later step of its block, as the schedule
                         chooses, not at once (ERR.76) */
};

#endif
