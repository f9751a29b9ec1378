/*
 * search.h - exhaustive search of a small kernel's executions.
 *
 * Two methods, chosen by estimate (field.md: state matching wins on racy increments, partial-order
 * reduction on long independent stretches):
 * - SEARCH_STATES: depth-first over states, undo log, exact state matching (incremental hash, then
 *   compare). Also finds out about non-termination: the graph of all reachable states is complete.
 * - SEARCH_DPOR: dynamic partial-order reduction (Flanagan & Godefroid, POPL 2005) with sleep sets,
 *   stateless; for kernels whose executions all end.
 */
#ifndef ENGINE_SEARCH_H
#define ENGINE_SEARCH_H

#include "engine/machine.h"
#include "engine/tape.h"

enum search_method { SEARCH_AUTO, SEARCH_STATES, SEARCH_DPOR };

struct search_options {
    enum search_method method;
    uint64_t max_states;   /* SEARCH_STATES: distinct states kept */
    uint64_t max_bytes;    /* memory for them */
    uint64_t max_steps;    /* steps of all executions together */
    uint32_t max_depth;    /* steps of one execution */
    uint32_t max_outcomes; /* distinct final stores kept */
};

struct search_outcome {
    enum status status;
    uint64_t store_hash;
    const int32_t *store;    /* program.private_base words; NULL for errors */
    const struct tape *tape; /* an execution that ends so */
};

enum search_liveness {
    LIVENESS_ALL_TERMINATE, /* no infinite execution exists */
    LIVENESS_UNFAIR_LASSO,  /* infinite executions exist, each starves some live actor for ever:
                               every weakly fair execution ends */
    LIVENESS_FAIR_LASSO, /* an infinite execution exists in which every live actor steps for ever */
    LIVENESS_UNKNOWN     /* cut off, or DPOR */
};

struct search_result {
    enum search_method method; /* that was used */
    bool complete;             /* false: a bound cut it off; the outcomes are a subset */
    const char *cut;           /* which bound, e.g. "states" */
    uint64_t states, steps, executions;
    uint32_t outcome_count; /* distinct (status, store) */
    struct search_outcome *outcomes;
    bool race; /* some pair of conflicting accesses by different actors was seen
                                  (SEARCH_DPOR only finds it among explored executions) */
    enum search_liveness liveness;
    const struct tape *lasso_stem, *lasso_loop; /* witness of a lasso (fair one if there is one) */
};

/* The machine must have been made with track and enough undo entries (search_machine does it).
 * The result and its parts live in `arena`; scratch memory too. */
struct search_result *search_run(struct arena *arena, struct machine *machine,
                                 const struct search_options *options);

/* A machine fit for search_run. */
struct machine *search_machine(struct arena *arena, const struct semantics *semantics,
                               const struct program *program, bool then_first);

extern const struct search_options SEARCH_DEFAULTS;

#endif
