/*
 * pairs_judge.h - the oracle `pairs`: two threads against all, for one explored execution of P (pairs.h).
 *
 * The execution is one of `interleave` with a defect, if there is one - the seed draws which -, or else
 * one that terminates.
 */
#ifndef ORACLE_PAIRS_JUDGE_H
#define ORACLE_PAIRS_JUDGE_H

#include "oracle/check/explore.h"

void pairs_judge(struct checking *checking);

#endif
