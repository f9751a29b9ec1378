/*
 * small_loops.h - small kernels of loops, as those that proofs are about: strides, halves, doubles, slices, rows, nests,
 * loops of some threads, loops that nobody enters; what threads access in them is mostly their own.
 */
#ifndef ORACLE_PROVE_SMALL_LOOPS_H
#define ORACLE_PROVE_SMALL_LOOPS_H

#include "engine/input/input.h"

const struct ast_kernel *small_loops(struct arena *arena, uint64_t seed);

#endif
