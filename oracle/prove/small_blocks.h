/*
 * small_blocks.h - small kernels in block form, in which whatever P can hold stands often: guarded statements that read
 * memory, in loops and outside of them, atomics, havocs, choices, barriers.
 */
#ifndef ORACLE_PROVE_SMALL_BLOCKS_H
#define ORACLE_PROVE_SMALL_BLOCKS_H

#include "engine/input/input.h"

const struct ast_kernel *small_blocks(struct arena *arena, uint64_t seed);

#endif
