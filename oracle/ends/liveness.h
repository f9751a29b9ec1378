/*
 * liveness.h - does it end? The oracle `liveness`:
 * simt-correctness, section 5: a warp is an unfair scheduler of its lanes. cuda-crs 6.5: a warp whose token
 * stack is never again lower than it is makes some lanes wait for ever.
 *
 *     forall i. |τ_i| =/= 0  =>  exists j > i. |τ_j| < |τ_i|                   (LIV.prop; ERR.13)
 *
 * What runs for ever is proven by a lasso (check/probe.h).
 */
#ifndef ORACLE_LIVENESS_H
#define ORACLE_LIVENESS_H

#include "oracle/check/explore.h"

/* Where warps run for ever, more fair executions of single threads. */
void liveness_explore(struct checking *checking);

/* Answers the oracle, when all executions are explored, and fills in checking->unfair. */
void liveness_judge(struct checking *checking);

#endif
