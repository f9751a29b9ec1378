/*
 * matrix_judge.h - the termination matrix in campaigns: a kernel that is searched exhaustively is asked for the
 * whole of it, within small bounds, and its rows are held to account. Classes of the oracle `liveness`:
 *
 *     matrix    an implication among rows does not hold that must (docs/progress.md, What must hold)
 */
#ifndef ORACLE_MATRIX_JUDGE_H
#define ORACLE_MATRIX_JUDGE_H

#include "oracle/explore.h"

/* When all subjects are searched; divergences go to the answer. */
void matrix_judge(struct checking *checking, struct answer *answer);

#endif
