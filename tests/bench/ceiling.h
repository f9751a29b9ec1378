/*
 * ceiling.h - the canonical scheduling workload in a minimal hand-written loop: what any scheduler of
 * steps on this machine could reach at best.
 *
 * Four threads make twenty assignments x_k = x_k + 1 to ten shared variables, each a read step and a
 * write step; a uniform walk picks the next thread.
 */
#ifndef TESTS_BENCH_CEILING_H
#define TESTS_BENCH_CEILING_H

#include "engine/pcg.h"

enum { CANONICAL_THREADS = 4, CANONICAL_STATEMENTS = 20, CANONICAL_VARIABLES = 10 };

/* Runs `executions` of them; returns the steps taken. */
uint64_t ceiling_run(uint64_t executions, struct pcg *rng, int32_t *memory);

#endif
