/*
 * vector_loop.h - the minimal interpreter of vectors: a loop over a table of instructions, each a loop
 * over 32 lanes. What interpreting the kernel of vector_ceiling.h costs without checks of indices, races,
 * budgets, calls, or choices (field.md's minimal loop).
 */
#ifndef TESTS_BENCH_VECTOR_LOOP_H
#define TESTS_BENCH_VECTOR_LOOP_H

#include <stdint.h>

/* As vector_ceiling_run. */
uint64_t vector_loop_run(uint64_t executions, int32_t *a);

#endif
