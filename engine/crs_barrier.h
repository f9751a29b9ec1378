/*
 * crs_barrier.h - barriers of a thread block for warps: →B of the report (5.5; catalogue section 9).
 *
 * For crs.c only. The state of all blocks' barriers lies in the machine's block, in front of the warps
 * (crs_internal.h), and is written through `put`. A warp that waits has the numbers of its barriers in
 * crs_state.waiting and is not among the live actors (machine_unlive, group->waiting); when the set becomes
 * empty it is again (machine_relive).
 */
#ifndef ENGINE_CRS_BARRIER_H
#define ENGINE_CRS_BARRIER_H

#include "engine/crs.h"

/* Words of the machine's block that the barriers of the grid take: an even number. */
uint32_t crs_barrier_words(const struct program *program);

/* WRP.comm for bar.sync, bar.arrive, bar.red at pc, by these lanes of the warp (not empty), and what becomes
 * of the block's barriers (BLK.exec, BLK.endBar). The caller has set the warp's next pc. May make the
 * warp wait, end barriers and wake warps of the block, this one too; a fault ends the execution. Returns the
 * rule. */
enum rule crs_barrier_step(struct machine *machine, uint32_t warp, uint32_t pc, lane_mask executing,
                           unsigned mode);

/* The warp has completed and was retired: with BLOCK_EXIT_ARRIVES it counts as arrived. */
void crs_barrier_retire(struct machine *machine, uint32_t warp, unsigned mode);

#endif
