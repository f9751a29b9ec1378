/*
 * matrix_judge.h - the termination matrix in campaigns: a kernel that is searched exhaustively is asked for the
 * whole of it, within small bounds, and its rows are held to account. Classes of the oracle `liveness`:
 *
 *     matrix           an implication among rows does not hold that must (docs/progress.md, What must hold)
 *     matrix-seen      a row says something else than the case's own executions, lassos and searches of its subject
 *     matrix-witness   what a row shows of a hang is none (matrix_witness.h)
 *     matrix-other     another way of asking has another verdict: the graph of all states without merged local steps
 *                      (search_local.c), or samples where that graph is too large; a share of the cases each
 *     matrix-form      the same kernel in another form - structured, blocks, PTX - has another verdict under a
 *                      progress model, though all that threads see of each other happens in the same steps
 *     lemma-6          the refutation of Lemma 6 cannot be played again
 */
#ifndef ORACLE_MATRIX_JUDGE_H
#define ORACLE_MATRIX_JUDGE_H

#include "oracle/check/explore.h"
#include "oracle/matrix/matrix.h"

/* When all subjects are searched; divergences go to the answer. */
void matrix_judge(struct checking *checking, struct answer *answer);

/* The same of this matrix of the kernel. */
void matrix_judge_rows(struct checking *checking, const struct matrix *matrix,
                       struct answer *answer);

/* Of another matrix of the kernel, made in another way. */
void matrix_judge_other(struct checking *checking, const struct matrix *matrix,
                        const struct matrix *other, struct answer *answer);

/* Of the kernel's rows of progress models in another form (matrix_of_form), which must be the same. */
void matrix_judge_form(struct checking *checking, const struct matrix *matrix,
                       const struct matrix *other, struct answer *answer);

#endif
