/*
 * projection.h - what a warp's configuration says about one of its threads: simt-correctness,
 * section 4.2, Table 5.
 *
 *     pi_Theta(W, Delta)(theta) = pi_theta(W, Delta(theta))       theta in Theta
 *                                 pi_not_theta(W, Delta(theta))   otherwise
 *
 * projection_lane is the table itself; projection_compare holds all lanes of a warp against the
 * stacks of a `threads` machine in one pass over W, for use after every step. tests/unit checks
 * the one against the other.
 */
#ifndef ORACLE_PROJECTION_H
#define ORACLE_PROJECTION_H

#include "engine/warps/simt.h"
#include "engine/warps/threads.h"

/* pi_Theta(W, Delta)(theta) for the lane theta: entries topmost last, as a thread keeps them. `stack`
 * has room for warp->depth entries; returns how many there are. */
uint32_t projection_lane(const struct warp_state *warp, uint32_t lane, stack_entry *stack);

/* The lanes whose projection is not the stack of their thread in `threads` (an evaluated assignment
 * on top counts as another stack). */
lane_mask projection_compare(const struct warp_state *warp, const struct machine *threads);

static inline lane_mask projection_all_lanes(const struct warp_state *warp)
{
    return warp->lanes == 64 ? ~(lane_mask)0 : ((lane_mask)1 << warp->lanes) - 1;
}

#endif
