/*
 * exhaust.h - all executions of a small kernel (engine/search/search.h) as ground truth: outcomes that no
 * schedule happened to reach, and SIM.mem - what a warp ends with, an interleaving ends with too, racy
 * or not.
 */
#ifndef ORACLE_EXHAUST_H
#define ORACLE_EXHAUST_H

#include "oracle/check/explore.h"

/* Searches every subject that was explored. Outcomes count as executions from then on. */
void exhaust_search(struct checking *checking);

/* The same, if the check is exhaustive. */
void exhaust_explored(struct checking *checking);

/* Classes "outcome-set", "sampled-set", "goto-set", "method-set" (methods.h) of `result` and "race-search" of `race`:
 * complete searches only. */
void exhaust_judge(struct checking *checking);

#endif
