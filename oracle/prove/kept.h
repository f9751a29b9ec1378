/*
 * kept.h - what Houdini keeps of the guesses, held against what it should keep, by definition: the largest set of them
 * of which each holds before its loop and after each trip that begins where all of them hold.
 *
 * All loops together, without runs that are drawn first, without halves: a set that is not of this kind is told, and so
 * is a guess that was dropped and belongs to it. What a solver does not say is not told.
 */
#ifndef ORACLE_PROVE_KEPT_H
#define ORACLE_PROVE_KEPT_H

#include "oracle/prove/retrace.h"

struct solver;

/* Of a walk whose loops are cut and whose guesses houdini() has settled. `whole`: it had all answers, so that nothing
 * is dropped for want of one; some of what was dropped, drawn by the seed, is tried again. */
struct retrace_fault kept_judge(struct arena *arena, struct duo *cut, struct solver *solver,
                                bool whole, uint64_t seed);

#endif
