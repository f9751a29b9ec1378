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

/* Of tiny kernels that the seed draws, whatever the case's kernel is: class `account` (pairs_tiny.c). */
void pairs_tiny_judge(struct checking *checking);

/* ---- for tests ---- */

/* A kernel by its number, and what one account of a pair of its threads says otherwise than the other, or NULL. */
const char *pairs_tiny_text(struct arena *arena, uint64_t number);
const char *pairs_tiny_differ(struct arena *arena, const char *text, uint64_t number);

#endif
