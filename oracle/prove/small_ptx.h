/*
 * small_ptx.h - small kernels in PTX, in which every instruction that proofs know stands often (engine/duo/lift_*.c):
 * kernels that a campaign generates as PTX hold much that proofs refuse.
 */
#ifndef ORACLE_PROVE_SMALL_PTX_H
#define ORACLE_PROVE_SMALL_PTX_H

#include "engine/input/input.h"

const struct ast_kernel *small_ptx(struct arena *arena, uint64_t seed);

#endif
