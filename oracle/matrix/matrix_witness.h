/*
 * matrix_witness.h - whether what a row of the termination matrix shows of a hang is one: by a machine made anew, and
 * the definition written down a second time, apart from those who look for hangs.
 *
 *     tape        stem and loop can be taken as they stand
 *     state       the loop comes back to the state that it begins in
 *     fairness    of a progress model, and of warps and blocks: F is the same in each state of the loop and not empty
 *                 (but of UNFAIR), and each of its units steps in it, or cannot step in some state of it
 *     policy      a policy without a stack chooses these threads, and again when the loop is taken twice; the end is
 *                 not reached from the loop by groups chosen at random
 *     definition  fair_lasso.h says of the witness, and of one without the loop's last step, under each model the same
 *     sentence    who spins reads the first location that the loop reads and does not write, at the line named; who
 *                 would write it does not step in the loop and has not finished; who waits does
 */
#ifndef ORACLE_MATRIX_WITNESS_H
#define ORACLE_MATRIX_WITNESS_H

#include "oracle/matrix/matrix.h"

struct witness_fault {
    const char *observable; /* which of these; NULL: none */
    const char *text;       /* what is wrong */
};

/* Of a row that hangs. The seed: of walks from a loop of random groups. */
struct witness_fault matrix_witness(struct arena *arena, const struct matrix_row *row,
                                    uint64_t seed);

/* Of stem and loop only. */
struct witness_fault matrix_witness_of(struct arena *arena, const struct matrix_row *row);

/* Of a row of actors that are let run: whether the two definitions agree. */
struct witness_fault matrix_definition(struct arena *arena, const struct matrix_row *row);

/* Of the sentence only (matrix_sentence.c); stem and loop can be taken. */
struct witness_fault matrix_judge_sentence(struct arena *arena, const struct matrix_row *row);

#endif
