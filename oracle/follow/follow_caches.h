/*
 * follow_caches.h - following `crs`, `thread-pc` and `block` over caches: memory alone, operation by operation.
 *
 * The lines of all L1s, memory, and the operations under way are the reference's own (engine/reference_caches), from
 * the start on. After each micro step, and each silent rule, they must be what the machine has, and registers what a
 * load put there. Of a step of a warp or thread the operations that it makes are held against the instruction - which
 * memory program, which bytes, which lanes write -, and whether it could be issued: fences, releases, barriers,
 * registers that are blocked, order on a word. All else that such a step does is what it does without caches, and is
 * followed there.
 *
 * Before each step of an operation or an L1 those that can step must be offered, and no others.
 *
 * Before each of them one warp that nothing keeps back - no fence, register, order, or want of room - must be offered.
 *
 * On trust: the addresses of lanes, and which line they are in; what call and ret do to memory.
 */
#ifndef ORACLE_FOLLOW_CACHES_H
#define ORACLE_FOLLOW_CACHES_H

#include "oracle/steps/follower.h"

/* False: the machine is too large to be followed, *why. */
bool follow_caches_new(struct arena *arena, struct follower *f, const char **why);
void follow_caches_begin(struct follower *f);
/* A step of a warp or thread; of an operation, or an L1. */
void follow_caches_step(struct follower *f, const struct step_event *event);
void follow_caches_environment(struct follower *f, const struct step_event *event);
void follow_caches_end(struct follower *f, enum status status);

#endif
