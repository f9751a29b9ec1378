/*
 * ref_pair.h - two threads of a block alone, barrier by barrier (lockstep-cfg App. C.1; gpuverify-tutorial): s runs
 * until it waits or has ended, then t does; what each has read and written since the last barrier is two sets; a
 * barrier makes shared state what somebody says (C2.havoc). Each thread by Table 4 (ref_threads.c).
 */
#ifndef ENGINE_REF_PAIR_H
#define ENGINE_REF_PAIR_H

#include "engine/reference/reference.h"

/* What the two have done to a word since the last barrier; the first and the last place where s has written it. */
struct ref_pair_word {
    uint8_t accessed;
    uint32_t times; /* that s has accessed it */
    uint64_t first_at, last_at;
};

struct ref_pair {
    uint32_t s, t;
    const int32_t *const
        *stores; /* global and shared memory behind barrier number i; NULL: as it is */
    uint32_t store_count;
    uint64_t budget_steps;
};

/* Of conflicting accesses in an interval: whether both are writes, and where they stand in the text. */
enum ref_pair_conflict {
    REF_PAIR_READ = 1, /* one of them reads */
    REF_PAIR_S_FIRST = 2,
    REF_PAIR_T_FIRST = 4,
    REF_PAIR_ONE_PLACE = 8
};

/* What the interval in which it ends has; more than one where it ends in several ways. */
struct ref_pair_end {
    bool decided; /* false: the budget is spent, there is no store any more, or r->unknown */
    bool race, divergence, assert_fails, out_of_bounds;
    uint32_t conflicts; /* of the race: enum ref_pair_conflict */
    /* The first access of t that conflicts: of which word, where it stands, who of them writes. */
    uint32_t address, line, column;
    bool s_writes, t_writes;
    uint32_t times;    /* that s has accessed the word */
    bool fails[2];     /* whether s, and t, comes to an assertion that fails, or leaves an array */
    uint32_t barriers; /* passed before */
    uint64_t steps;    /* of both threads */
};

/* `r`: of REF_THREADS. `accessed`: an entry for each word of global and shared memory, for this run's use. */
struct ref_pair_end ref_pair_run(struct ref *r, const int32_t *inputs, const struct ref_pair *pair,
                                 struct ref_pair_word *accessed);

/* The first word of the thread's private variables; *words: how many these are. */
const int32_t *ref_private_of(const struct ref *r, uint32_t thread, uint32_t *words);

#endif
