/*
 * bench.h - what the parts of the benchmark share. Figures to read, not a test: machines are noisy,
 * ratios within one run are what holds.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "engine/base/arena.h"

#include <stdint.h>

enum { BENCH_RUNS = 5 };

extern struct arena bench_arena;

/* A workload: does some work, returns how many units. */
typedef uint64_t workload(void *context);

/* Units a CPU second, the median of BENCH_RUNS. */
double measure(workload *work, void *context);

/* The median of BENCH_RUNS values, which are sorted. */
double median(double *values);

/* One row; `ceiling`: the rate to compare with, 0: none. */
void line(const char *what, double rate, const char *unit, double ceiling);

/* How often malloc, calloc and realloc were called since the start. */
uint64_t bench_allocations(void);

void bench_canonical(void);
void bench_barriers(void);
void bench_lockstep(void);
void bench_ptx(void);
void bench_cases(void);
void bench_caches(void);
/* Only when it is asked for: `simtfuzz-bench outside`. */
void bench_outside(void);
int bench_outside_echo(void);
/* Only when it is asked for: `simtfuzz-bench view`. */
void bench_view(void);
void bench_search(void);
void bench_search_tiny(void);
void bench_search_one(uint32_t number, uint32_t threads, uint64_t mebibytes);
void bench_memory(uint64_t cases);
void bench_workers(void);

#endif
