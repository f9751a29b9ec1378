/*
 * small.h - small kernels that a seed draws, of what proofs are about, since those of campaigns hold much that is
 * refused, and little that is rare.
 */
#ifndef ORACLE_VERDICTS_SMALL_H
#define ORACLE_VERDICTS_SMALL_H

#include "engine/input/input.h"

/* In PTX: instructions of which something is known, accesses, branches, loops. */
const struct ast_kernel *small_ptx(struct arena *arena, uint64_t seed);

/* In block form, in which whatever P can hold stands often: guarded statements that read memory, in loops and outside,
 * atomics, havocs, choices, barriers. */
const struct ast_kernel *small_blocks(struct arena *arena, uint64_t seed);

/* Of loops: strides, halves, doubles, slices, rows, nests, loops of some threads, loops that nobody enters; what
 * threads access in them is mostly their own. */
const struct ast_kernel *small_loops(struct arena *arena, uint64_t seed);

/* Of two or three threads, or as many of two blocks: a few accesses of one or two places, of each kind, that barriers,
 * conditions of one thread, and trips stand around; structured, or in PTX. */
const struct ast_kernel *small_pairs(struct arena *arena, uint64_t seed);

#endif
