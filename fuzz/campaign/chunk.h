/*
 * chunk.h - consecutive cases: what one worker runs and what the collector then takes.
 */
#ifndef FUZZ_CHUNK_H
#define FUZZ_CHUNK_H

#include "engine/smt/solver.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/generate/generate.h"
#include "fuzz/supervise/watch.h"
#include "fuzz/trace/trace_back.h"

#include <stdatomic.h>

enum {
    CHUNK_FINDINGS_MAX =
        CAMPAIGN_CHUNK * (ORACLE_COUNT + 2 + BESIDE_COUNT), /* two of the engine's own */
    CHUNK_REASONS_MAX = 192, /* distinct ones; what does not fit is counted as "other reasons" */
    SIGNATURE_MAX = 200,
    RERUN_SHARE = 32, /* one case in so many is run twice: chunk.c, run_again */
};

struct chunk_finding {
    uint64_t number;                 /* of the case */
    const struct incident *incident; /* of an engine finding; NULL: an oracle's */
    char signature[SIGNATURE_MAX];
};

struct chunk_reason {
    enum oracle_id oracle;
    enum verdict verdict;
    uint64_t count;
    char text[REASON_MAX];
};

/* What a worker hands over for CAMPAIGN_CHUNK consecutive cases, in their order. */
struct chunk {
    uint64_t cases; /* fewer than planned when the campaign was stopped */
    uint64_t refused, thread_steps, warp_steps;
    uint64_t hits[RULE_COUNT];
    uint32_t pairs[RULE_COUNT][CONTEXT_COUNT]; /* cases in which the rule fired in the context */
    uint64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
    uint64_t beside[BESIDE_COUNT][VERDICT_COUNT];
    uint32_t finding_count, reason_count;
    struct chunk_finding findings[CHUNK_FINDINGS_MAX];
    struct chunk_reason reasons[CHUNK_REASONS_MAX];
};

/* A worker's own: what cases are made in and from. */
struct chunk_maker {
    const struct campaign_options *options;
    struct arena *arena; /* empty */
    struct gen_walk walk;
    struct watch_slot *slot;
    struct trace_back trace_back;
    struct solver_keeper solvers; /* none at first */
    /* Of the latest case, while the arena holds them. */
    const struct ast_kernel *kernel;
    const struct check_result *result;
};

/* Makes and checks case `number`, and adds what it shows to the chunk. False: an enumeration has no such
 * case. No malloc, no lock, no system call. */
bool chunk_run_case(struct chunk_maker *maker, struct chunk *chunk, uint64_t number);

/* Adds the engine's finding of the case that was just run or left out, before it is counted. */
void chunk_add_incident(struct chunk *chunk, uint64_t number, const struct incident *incident);

/* "engine|crash|SIGSEGV|checking" */
void chunk_incident_signature(char signature[SIGNATURE_MAX], const struct incident *incident);
/* "crash", "hang"; "flaky": it did not show again. */
const char *chunk_incident_class(const struct incident *incident);

/* ---- what a worker has done so far, for who watches a campaign while it runs ----
 *
 * A worker hands over whole chunks, and the first ones may take many seconds. So that a watcher sees more than zeros
 * until then, each worker also counts its cases one by one, where only it writes: relaxed loads and stores, no
 * lock, as nothing depends on which of the numbers another thread sees together. What is stored comes from chunks
 * alone. */

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
/* .. is what the summary shows. */
void pool_counts_show(const struct pool_told *sum, struct campaign_summary *summary);

#endif
