/*
 * sched.h - schedulers: who steps next. docs/measured.md says how they compare.
 *
 * A scheduler is a `struct choices`; it draws from its own PCG stream and from nothing else, so a
 * schedule is a function of (spec, kernel).
 */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/machine/machine.h"
#include "engine/schedule/stackless.h"
#include "engine/schedule/tape.h"

enum sched_kind {
    SCHED_SEQUENTIAL,  /* the lowest live actor runs until it is final, then the next */
    SCHED_REVERSE,     /* the highest first */
    SCHED_ROUND_ROBIN, /* `quantum` steps each, in cyclic order */
    SCHED_UNIFORM,     /* uniform walk: each live actor with equal chance at every step */
    SCHED_PCT,    /* Burckhardt et al., ASPLOS 2010: random priorities, depth - 1 change points */
    SCHED_POS,    /* partial-order sampling, Yuan et al., CAV 2018: a random priority for each
                          pending step, drawn anew for those that conflict with the step taken */
    SCHED_SURW,   /* selectively uniform random walk, ASPLOS 2025: uniform over the orders of the
                          selected steps (statements in `racy`), given how many each actor has left */
    SCHED_STARVE, /* uniform, but never `victim` while another can run */
    SCHED_UNFAIR_FAIR, /* `prefix` steps of starving a random set of actors, then round robin with
                          a random order: weakly fair suffix */
    SCHED_STACKLESS,   /* warps without a stack (stackless.h) */
    SCHED_TAPE,        /* as recorded; then the lowest live actor */
    SCHED_KIND_COUNT
};

struct sched_spec {
    enum sched_kind kind;
    uint64_t seed;            /* of the case; the stream is (seed, PCG_SCHEDULE, index) */
    uint64_t index;           /* number of the schedule within its case */
    uint32_t depth;           /* PCT: 1..5 */
    uint32_t quantum;         /* round robin; 0 = 1 */
    uint32_t victim;          /* starve: actor */
    uint32_t prefix;          /* unfair prefix: steps */
    uint64_t length_estimate; /* PCT: k, steps of an execution; from an earlier run */
    const uint8_t *selected;  /* SURW: for each statement, 1 = selected */
    const uint32_t
        *selected_counts; /* SURW: for each actor, selected steps it is expected to take */
    struct stackless_spec stackless;
    const struct tape *tape; /* tape */
};

struct scheduler {
    struct choices choices; /* first member */
    struct sched_spec spec;
    struct pcg rng;
    uint32_t actor_count;
    uint32_t index;   /* in the live list, where `current` (POS, SURW: `last`) was seen */
    uint32_t current; /* round robin, PCT: running; starve: the victim; SURW: the intended actor;
                           unfair: place in the order */
    uint32_t last;    /* POS, SURW: picked last */
    uint32_t
        live_seen;   /* PCT: live actors when `current` was chosen; POS, SURW: at the last pick */
    uint32_t budget; /* round robin: steps left of the quantum; unfair: steps left of the prefix;
                           SURW: picks left until the intended actor is given up */
    uint32_t *priority;        /* an actor; unfair: the round robin's order */
    uint8_t *flags;            /* an actor; unfair: starved; SURW: its next step is selected */
    uint64_t *reads, *writes;  /* POS: footprint of each actor's next step */
    uint64_t change_points[4]; /* PCT, ascending: (pick << 3) | priority from there on */
    uint32_t change_count, change_next;
    uint32_t *remaining; /* SURW: selected steps that each actor has left */
    struct stackless *stackless;
    uint64_t picks;
    struct tape_reader reader;
    uint64_t drifts; /* tape: choices that did not fit */
    uint64_t
        first_drift; /* index in the tape of the first such choice; the tape's length if none */
    uint64_t beyond; /* choices made after the tape's end: no drift */
};

/* Makes a scheduler ready for a run from the machine's initial state; memory from the arena. */
void sched_start(struct scheduler *scheduler, const struct sched_spec *spec,
                 const struct machine *machine, struct arena *arena);

/* "uniform", "pct:3", "pos", "surw", "rr", "sequential", "reverse", "starve:2", "unfair:100",
 * "stackless:oldest:literal", "tape:FILE" (the file is not read here). False: unknown, *spec unchanged. */
bool sched_parse(const char *text, struct sched_spec *spec);
/* The same text back, in the arena. */
const char *sched_name(struct arena *arena, const struct sched_spec *spec);

/* PCT's guarantee: a bug of depth d is found with probability at least 1 / (n k^(d-1)). */
double sched_pct_bound(uint32_t actors, uint64_t steps, uint32_t depth);

/* The portfolio: schedule number `index` of a case. 0 is sequential; the others mix all kinds. The
 * caller fills in length_estimate, selected and selected_counts from what it learnt meanwhile. Some kinds are
 * in it only where they are possible: */
enum {
    PORTFOLIO_SURW = 1, /* there are selected statements */
    PORTFOLIO_STACKLESS =
        2, /* the actors are threads: two in a cycle of eleven are warps without a stack .. */
    PORTFOLIO_POLICIES = 4 /* .. with it: all behind the first are */
};
struct sched_spec sched_portfolio(uint64_t seed, uint64_t index, uint32_t actors,
                                  unsigned possible);

/* Whether a scheduler is weakly fair: each live actor steps again and again (with probability 1). */
bool sched_is_fair(const struct sched_spec *spec);

/* Steps until the machine is no longer running or `budget_steps` are spent (STATUS_STEP_LIMIT).
 * Records all choices to `record` unless NULL. */
enum status machine_run(struct machine *machine, struct choices *choices, uint64_t budget_steps,
                        struct tape *record);

#endif
