/*
 * tutorial_internal.h - the state of a run of the tutorial's translation; for engine/pairs/tutorial*.c only.
 *
 * Thread number i of the pair (0 = s, 1 = t) is the paper's $i+1. A set of the two is a mask.
 */
#ifndef ENGINE_TUTORIAL_INTERNAL_H
#define ENGINE_TUTORIAL_INTERNAL_H

#include "engine/machine/rules.h"
#include "engine/pairs/tutorial.h"

enum { PAIR_NONE = 0, PAIR_S = 1, PAIR_T = 2, PAIR_BOTH = 3 };

/* A copy of the locals: one of the two threads. */
struct pair_thread {
    uint32_t thread; /* in the grid */
    uint32_t base[SPACE_COUNT];
    int32_t builtin[BUILTIN_COUNT];
    uint32_t choices; /* that it has made (choice.h) */
    uint32_t reads;   /* of shared state, so far: numbers its havocs in mode adv */
};

/* X_HAS_OCCURRED_A, X_OFFSET_A for X = READ, WRITE. */
enum { LOG_READ, LOG_WRITE, LOG_COUNT };

struct pair_offsets {             /* of an array: coin, reservoir */
    uint32_t interval[LOG_COUNT]; /* the interval in which X_HAS_OCCURRED_A was set, + 1 */
    uint32_t offset[LOG_COUNT];   /* an address */
    uint32_t stm[LOG_COUNT];
    uint32_t seen[LOG_COUNT]; /* reservoir: accesses of this interval so far */
    uint32_t seen_interval[LOG_COUNT];
};

struct pair_cell { /* of a location: full */
    uint32_t interval[LOG_COUNT];
    uint32_t stm[LOG_COUNT];
};

/* An access to shared state. */
struct pair_access {
    uint32_t var, address, stm;
};

struct pair_run {
    const struct program *program;
    const struct tutorial_options *options;
    uint64_t *hits;
    struct tutorial_result result;
    bool stopped; /* with the result's verdict */
    int32_t *memory;
    struct pair_thread threads[2];
    struct pair_offsets *offsets; /* a variable; full: NULL */
    struct pair_cell *cells;      /* a location of global and shared memory; NULL unless full */
    uint32_t logged;              /* accesses that s was about to log: numbers the coins */
    uint32_t domain;              /* havocs draw from [0, domain): all indices */
};

static inline void pair_fire(struct pair_run *run, enum rule rule)
{
    run->hits[rule]++;
}

/* The run ends. */
void pair_stop(struct pair_run *run, enum tutorial_verdict verdict, uint32_t stm, uint32_t i);

/* ---- tutorial_log.c ---- */

void pair_log_start(struct arena *arena, struct pair_run *run);

/* Thread i reads or writes shared state: s logs, t checks. False: a race, the run has stopped. */
bool pair_read(struct pair_run *run, uint32_t i, const struct pair_access *access, int32_t *value);
bool pair_write(struct pair_run *run, uint32_t i, const struct pair_access *access, int32_t value);

/* What a successful barrier does: the log is emptied, shared state made arbitrary. */
void pair_pass_barrier(struct pair_run *run);

/* ---- tutorial_eval.c ---- */

/* e$i for the threads in P, together. False: the run has stopped. */
bool pair_eval(struct pair_run *run, uint32_t expr, uint32_t P, uint32_t stm, int32_t value[2]);

/* The addresses of a place for the threads in P. */
bool pair_eval_place(struct pair_run *run, const struct code_place *place, uint32_t P, uint32_t stm,
                     uint32_t address[2]);

#endif
