/*
 * ref_pair.h - two threads of a block alone, barrier by barrier (lockstep-cfg App. C.1; gpuverify-tutorial): s runs
 * until it waits or has ended, then t does; what each has read and written since the last barrier is two sets; a
 * barrier makes shared state what somebody says (C2.havoc). Each thread by Table 4 (ref_threads.c).
 */
#ifndef ENGINE_REF_PAIR_H
#define ENGINE_REF_PAIR_H

#include "engine/reference/reference.h"

struct ref_pair {
    uint32_t s, t;
    const int32_t *const
        *stores; /* global and shared memory behind barrier number i; NULL: as it is */
    uint32_t store_count;
    uint64_t budget_steps;
};

/* What the interval in which it ends has; more than one where it ends in several ways. */
struct ref_pair_end {
    bool decided; /* false: the budget is spent, there is no store any more, or r->unknown */
    bool race, divergence, assert_fails, out_of_bounds;
    uint32_t barriers; /* passed before */
    uint64_t steps;    /* of both threads */
};

/* `r`: of REF_THREADS. `accessed`: a byte for each word of global and shared memory, for this run's use. */
struct ref_pair_end ref_pair_run(struct ref *r, const int32_t *inputs, const struct ref_pair *pair,
                                 uint8_t *accessed);

/* The first word of the thread's private variables; *words: how many these are. */
const int32_t *ref_private_of(const struct ref *r, uint32_t thread, uint32_t *words);

#endif
