/*
 * vector_ceiling.h - what lock-step execution could cost at most: one kernel written by hand for 32
 * lanes, each statement a loop over all of them that the compiler vectorises.
 */
#ifndef TESTS_BENCH_VECTOR_CEILING_H
#define TESTS_BENCH_VECTOR_CEILING_H

#include <stdint.h>

enum { VECTOR_CEILING_LANES = 32, VECTOR_CEILING_TRIPS = 64 };

/* The kernel that it is, in block form. */
extern const char VECTOR_CEILING_KERNEL[];

/* Runs it; lane steps: statements (gotos included) times the threads that execute them. `a` has an
 * element a lane and holds the kernel's array afterwards. */
uint64_t vector_ceiling_run(uint64_t executions, int32_t *a);

#endif
