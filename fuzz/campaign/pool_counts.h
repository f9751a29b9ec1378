/*
 * pool_counts.h - what a worker has done so far, for who watches a campaign while it runs.
 *
 * A worker hands over whole chunks, and the first ones may take many seconds. So that a watcher sees more than
 * zeros until then, each worker also counts its cases one by one, where only it writes: relaxed loads and stores, no
 * lock, as nothing depends on which of the numbers another thread sees together. What is stored comes from chunks alone.
 */
#ifndef FUZZ_POOL_COUNTS_H
#define FUZZ_POOL_COUNTS_H

#include "fuzz/campaign/chunk.h"

#include <stdatomic.h>

struct pool_counts {
    atomic_uint_least64_t thread_steps, warp_steps, hits[RULE_COUNT];
    atomic_uint_least64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
};

/* What was counted of a chunk already; a sum of several workers' counts. */
struct pool_told {
    uint64_t thread_steps, warp_steps, hits[RULE_COUNT];
    uint64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
};

/* Counts what the case that was just run has added to its chunk. */
void pool_count_case(struct pool_counts *counts, const struct chunk *chunk, struct pool_told *told);

/* The sum of what is stored `before` and the workers' counts .. */
void pool_counts_start(struct pool_told *sum, const struct campaign_summary *before);
void pool_counts_add(struct pool_told *sum, const struct pool_counts *counts);
/* .. is what the summary shows. With feedback chunks that are stored are run again, for the memory, and the sum is
 * below what is stored for a while: that is shown then. */
void pool_counts_show(const struct pool_told *sum, struct campaign_summary *summary);

#endif
