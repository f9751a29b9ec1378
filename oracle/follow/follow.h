/*
 * follow.h - an execution of the engine, followed step by step by the reference (engine/reference) along the same
 * choices. After each step the two are compared: the rule that fired, what was told to observers, memory, the actor's
 * stack, masks and frames, and how the execution ends. The first step after which they differ is where they part.
 */
#ifndef ORACLE_FOLLOW_H
#define ORACLE_FOLLOW_H

#include "oracle/steps/follower.h"

/* NULL: the kernel is too large for the reference, *why. */
struct follower *follow_new(struct arena *arena, struct ref_room *room, enum subject_id subject,
                            const struct machine *machine, const char **why);
/* An execution is about to start. */
void follow_begin(struct follower *f, uint64_t limit);
/* It has ended so. */
void follow_end(struct follower *f, enum status status);

#endif
