/*
 * crs_cluster.h - the barrier of a cluster of blocks (PTX ISA 9.7.13.4, barrier.cluster): threads arrive, and wait
 * until all threads of the cluster that have not exited have arrived. Arriving and waiting are instructions of their
 * own. For crs and thread-pc.
 *
 * Observers hear of it as of a named barrier, number CRS_CLUSTER_BARRIER, of the cluster's first block here: of
 * arrivals, and of all lanes that arrived when its generation ends.
 */
#ifndef ENGINE_CRS_CLUSTER_H
#define ENGINE_CRS_CLUSTER_H

#include "engine/crs/crs_internal.h"

enum { CRS_CLUSTER_BARRIER = CRS_BARRIERS }; /* also its bit in crs_state.waiting */

/* Lanes of a warp that have arrived in the current generation and gone on; that wait for its end; that have arrived in
 * one that has ended, and not waited yet. */
struct crs_cluster_lanes {
    lane_mask arrived, waiting, passed;
};

/* Words of a block's barriers that this takes. */
uint32_t crs_cluster_words(const struct program *program);

/* A warp's lanes arrive, or wait. */
enum rule crs_cluster_step(struct machine *machine, uint32_t warp, uint32_t pc,
                           lane_mask executing);

/* Ends the generation of the warp's cluster if all have arrived. */
void crs_cluster_settle(struct machine *machine, uint32_t warp);

/* Of a warp that waits there: its lanes. */
lane_mask crs_cluster_waiting(const struct machine *machine, uint32_t warp);

#endif
