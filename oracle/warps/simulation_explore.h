/*
 * simulation_explore.h - the oracles `simulation` and `lemmas` in a check: executions of `simt` are run by the
 * co-simulation (simulation.h), which takes the thread steps beside each warp step.
 */
#ifndef ORACLE_SIMULATION_EXPLORE_H
#define ORACLE_SIMULATION_EXPLORE_H

#include "oracle/check/explore.h"
#include "oracle/warps/simulation.h"

/* NULL: without both machines. */
static inline struct simulation *simulation_of(const struct checking *checking)
{
    return checking->own[ORACLE_SIMULATION];
}

/* The co-simulation needs `threads` even where it is not asked for itself. */
void simulation_prepare(struct checking *checking);

/* The executions of a `simt` subject. */
bool simulation_explore(struct checking *checking, enum subject_id subject);

/* What diverges was reported along the way: these say what it rests on that nothing did. */
void simulation_judge(struct checking *checking);
void simulation_judge_lemmas(struct checking *checking);

#endif
