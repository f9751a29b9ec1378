/*
 * ceiling.h - the canonical scheduling workload in a minimal hand-written loop: what any scheduler of
 * steps on this machine could reach at best.
 *
 * Four threads make twenty assignments x_k = x_k + 1 to ten shared variables, each a read step and a
 * write step; a uniform walk picks the next thread.
 */
#ifndef TESTS_BENCH_CEILING_H
#define TESTS_BENCH_CEILING_H

#include "engine/base/pcg.h"

#include <stdbool.h>

enum { CANONICAL_THREADS = 4, CANONICAL_STATEMENTS = 20, CANONICAL_VARIABLES = 10 };

/* Runs `executions` of them; returns the steps taken. */
uint64_t ceiling_run(uint64_t executions, struct pcg *rng, int32_t *memory);

/*
 * The kernel of docs/measured.md: 4 threads, 20 shared accesses each, 2 barriers, and in each of the 3 phases one
 * write of each thread to a location that all write to. A step is an access, a barrier, or the end.
 */
enum { BARRIER_CEILING_STEPS = CANONICAL_THREADS * (20 + 2 + 1) };
extern const char BARRIER_CEILING_KERNEL[], BARRIER_CEILING_BLOCKS[];

struct barrier_ceiling {
    uint64_t executions;
    bool race;       /* one word a location: its epoch, its writer, its reader */
    uint32_t result; /* of races and memory: so that nothing is computed in vain */
};

/* Returns the executions. */
uint64_t barrier_ceiling_run(struct barrier_ceiling *ceiling, struct pcg *rng);

#endif
