/*
 * diamonds.h - in each state of an execution by chance drawn pairs of steps that are told to be independent are taken
 * in both orders, and must lead to one state (R4, memory-device A.4).
 */
#ifndef ORACLE_DIAMONDS_H
#define ORACLE_DIAMONDS_H

#include "engine/base/pcg.h"
#include "engine/machine/machine.h"

/* The machine tracks its state, and is left in any. NULL: all do; else what is said, and next statement of the first of
 * the two. *checked grows by how many pairs were taken. */
const char *diamonds_broken(struct arena *arena, struct machine *machine, struct pcg *rng,
                            uint32_t steps, uint32_t *stm, uint64_t *checked);

#endif
