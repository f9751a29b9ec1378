/*
 * barrier.h - barriers of a thread block, the same for every semantics whose actors can wait
 * (lockstep-cfg section 4; for warps and structured threads: docs/catalogue.md, "Between the papers").
 *
 * For the semantics only, like semantics.h. An actor's step that reaches an enabled barrier
 * calls barrier_wait; a step that makes it final calls machine_retire. After such a step has been
 * observed, barrier_settle looks whether the block has a live actor left, and if not applies
 *
 *     CFG.barrier_S   all threads at a barrier with equal barrier variables: all go past it together
 *     CFG.barrier_F   otherwise - variables differ, or a thread has ended while another waits - the
 *                     execution ends: barrier_divergence (the stuck rule, B-7)
 */
#ifndef ENGINE_BARRIER_H
#define ENGINE_BARRIER_H

#include "engine/machine/semantics.h"

/* The actor, at an enabled barrier, waits: v_barrier is set (CFG.bv.bar). */
void barrier_wait(struct machine *machine, uint32_t actor);

/* The last thing of a step in which the actor has stopped: waits, or is final. */
void barrier_settle(struct machine *machine, uint32_t actor);

#endif
