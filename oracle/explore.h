/*
 * explore.h - the executions of one check: what the oracles that compare whole executions share.
 *
 * The machines are made once a case and reset for each schedule; every execution is kept as the
 * schedule that gives it, so that one that turns out to matter is run again with its tape recorded.
 */
#ifndef ORACLE_EXPLORE_H
#define ORACLE_EXPLORE_H

#include "oracle/check.h"
#include "oracle/simulation.h"

/* One explored execution. */
struct execution {
    enum subject_id subject;
    struct sched_spec spec;
    enum status status;
    bool race;
    bool searched;         /* an outcome of the exhaustive search: races and steps unknown */
    bool fair;             /* its scheduler starves nobody, whatever the kernel does */
    uint64_t steps;        /* of its machine; 0: unknown (searched) */
    uint64_t thread_steps; /* simt: those of the co-simulation */
    bool thread_steps_known;
    struct race_witness witness; /* of its first race */
};

/* How an execution contradicts the one that the others are compared with. */
struct store_mismatch {
    const struct execution *execution; /* NULL: none */
    uint32_t address;
    int32_t value, reference_value;
};

struct checking {
    struct arena *arena;
    const struct check_options *options;
    const struct ast_kernel *kernel;
    const struct program *program;
    struct check_result *result;

    struct machine *threads, *warps;
    struct race_detector *detector;
    struct race_log *log; /* NULL when the oracle `race` was not asked */
    struct simulation *simulation;
    struct counting *counting;
    struct final_claims *finals; /* expect.h */

    struct execution **executions;
    uint32_t execution_count, execution_capacity;

    /* The first execution that terminated, its store (frame_base words; private_base if it was
     * searched), and the first later one whose store is another. */
    const struct execution *reference;
    bool any_race; /* some execution had a race */
    int32_t *reference_store;
    uint32_t reference_words;
    struct store_mismatch mismatch;

    struct lasso_probe *probes[SUBJECT_COUNT]; /* liveness.h; NULL: not tried */
    bool unfair[SUBJECT_COUNT];
    bool all_fair_end; /* an exhaustive search of `threads` found no fair infinite execution */

    uint64_t length_estimate;        /* steps of the first execution of `threads` */
    const uint8_t *selected;         /* SURW: racy statements, and how many steps at them ... */
    const uint32_t *selected_counts; /* ... each thread took; NULL until both are known */
};

/* Whether a scheduler is weakly fair: each live actor steps again and again (with probability 1). */
bool explore_fair(enum sched_kind kind, const struct machine *machine);

/* Machines, detector, co-simulation. */
void explore_prepare(struct checking *checking);

/* The executions of a subject that was asked for. */
void explore_threads(struct checking *checking);
void explore_simt(struct checking *checking, enum subject_id subject);

/* More fair executions of `threads`, so that at least EXPLORE_FAIR_MIN have been seen. */
enum { EXPLORE_FAIR_MIN = 8 };
void explore_more_fair(struct checking *checking);

/* One more execution to be filled in; there is room for any number. */
struct execution *explore_add(struct checking *checking, enum subject_id subject,
                              const struct sched_spec *spec);
/* Counts it, by its status, and looks at its store (private_base words; terminated only). */
void explore_keep_store(struct checking *checking, const struct execution *execution,
                        const int32_t *store);
/* The infinite execution of a proven lasso counts as one that was explored. */
void explore_add_lasso(struct check_run *run);

/* Runs an execution again; its choices. Its machine is left as the execution ends. */
const struct tape *explore_record(struct checking *checking, const struct execution *execution);

/* "uniform", "tape", ...: the name of an execution's schedule with its number. */
const char *explore_name(const struct checking *checking, const struct execution *execution);

#endif
