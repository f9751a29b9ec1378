/*
 * search.h - exhaustive search of a small kernel's executions.
 *
 * Two methods, chosen by estimate (docs/measured.md: state matching wins on racy increments, partial-order
 * reduction on long independent stretches):
 * - SEARCH_STATES: breadth-first over states with exact matching (incremental hash, then compare), so
 *   witnesses are shortest. Also finds out about non-termination: the graph of all reachable states
 *   is complete.
 * - SEARCH_DPOR: dynamic partial-order reduction with source sets and sleep sets, stateless; for
 *   kernels whose executions all end, of at most 64 actors. Not for PTX with barriers: there the order of
 *   arrivals matters, and which warps have completed. Nor where choices are made by memory that others
 *   write: choosing accesses nothing. Asked for there, SEARCH_STATES is what runs.
 * - SEARCH_SLEEP: depth-first over states told apart by their hashes, with sleep sets (search_sleep.c): for outcomes
 *   alone, of kernels over caches above all. Says nothing of races and lassos, nor of whether executions end.
 *
 * All enumerate the choices inside a step too. The first two assume of a semantics what all grant: a live actor
 * can always step, only its own step makes it wait or final, and an actor that waits is back when a step
 * of another actor of its block releases the block.
 */
#ifndef ENGINE_SEARCH_H
#define ENGINE_SEARCH_H

#include "engine/machine/machine.h"
#include "engine/schedule/tape.h"

#include <signal.h>

/* SEARCH_AUTO: SEARCH_STATES when the kernel has a loop or a recursion, or when one execution shows
 * more conflicts than the lattice of all interleavings has levels to spare (search.c); else
 * SEARCH_DPOR. When a bound cuts the first method off, the other has the steps that are left; what both
 * found is put together. */
enum search_method { SEARCH_AUTO, SEARCH_STATES, SEARCH_DPOR, SEARCH_SLEEP };

extern const char *const search_method_names[]; /* "auto", "states", "dpor", "sleep" */

struct graph;

struct search_options {
    enum search_method method;
    uint64_t max_states;   /* SEARCH_STATES: distinct states kept */
    uint64_t max_bytes;    /* memory for them */
    uint64_t max_steps;    /* steps of all executions together */
    uint32_t max_depth;    /* steps of one execution */
    uint32_t max_outcomes; /* distinct final stores kept */
    bool no_races;         /* races are not looked for: result->race says nothing */
    /* SEARCH_STATES: whether executions end is not asked: result->liveness is unknown. */
    bool no_lasso;
    /* SEARCH_STATES: local steps are taken at once with the step before them (search_local.c): fewer states and
     * steps; outcomes and progress are the same, witnesses are as short in transitions. Races and the lasso
     * are not to be asked with it. */
    bool merge_local;
    /* SEARCH_STATES, of a machine with note_begun that search_has_quotient: states up to permutations
     * (search_symmetry.h); outcomes have no tapes, progress no witnesses. Or NULL. */
    const struct symmetry *symmetry;
    uint64_t hash_mask; /* SEARCH_STATES: bits of hashes that are used, for tests; 0: all */
    /* SEARCH_STATES: progress models, and what judges them on the graph; set by progress_ask (progress.h). Or NULL. */
    struct progress *progress;
    void (*judge)(struct graph *graph);
    const volatile sig_atomic_t *stop; /* SEARCH_STATES: not 0 cuts it off (stop.h); or NULL */
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
    LIVENESS_UNKNOWN     /* cut off (the witness, if any, is an unfair lasso), or SEARCH_DPOR of a
                        kernel with loops */
};

struct search_result {
    enum search_method method; /* that was used */
    bool complete;             /* false: a bound cut it off; the outcomes are a subset */
    /* NULL, or the bound: "states", "bytes", "steps", "depth", "interrupted", "time", "outcomes" (all were explored,
     * but not all kept), "actors" (SEARCH_DPOR with more than 64). */
    const char *cut;
    uint64_t states;      /* distinct ones; not SEARCH_DPOR */
    uint64_t ends;        /* of them, in which the execution is over; not SEARCH_DPOR */
    uint64_t transitions; /* between them */
    uint64_t bytes;       /* SEARCH_STATES: of the arena, at most, judging included */
    uint64_t steps;       /* of all methods used */
    uint64_t cut_bytes;   /* where a bound cut it off: of the arena */
    uint32_t cut_depth;   /* .. and that is "depth": steps of the execution */
    uint64_t executions;  /* SEARCH_DPOR: complete ones; those that a sleep set ends do not count */
    uint32_t outcome_count; /* distinct (status, store) */
    struct search_outcome *outcomes;
    /* Two different actors (threads, or warps) access one word of global or shared memory in one
     * execution, at least one of them writing, not both by atomics, and no barrier of a block of both
     * lies between (lockstep-cfg Defs. 3.1, 4.1; atomics order nothing). SEARCH_DPOR looks at all
     * pairs of accesses of every explored execution; that one of each trace is explored is enough,
     * since equivalent executions have the same accesses between the same releases.
     *
     * SEARCH_STATES looks for a reachable state with two actors whose next steps conflict so. Without
     * atomics there is one iff there is a race: take a shortest execution with a race, b its last
     * step, and of the racing pairs (a, b) the one with the latest a. Leave out a and what depends on
     * it: its actor's later steps, steps that conflict with one left out, releases that wait for one
     * left out, and what the block does after those. What remains can be done without them, and then,
     * if b remains, a and b are both next. Were b left out, a chain of dependences would lead from a to
     * b. No conflict (c, d) on it is a race - with d before b the execution were not a shortest one,
     * with d = b the pair (c, b) had a later first step - so a release of their block orders c and d.
     * Then program order and releases alone order a before b; they stay in one block, and a release of
     * it lies between a and b: no race. A conflict of two atomics is none either, but nothing orders
     * it; so with atomics the accesses that some path to a state has had since its last release - of
     * another block, ever - are added up over the graph (search_race.c), and compared with the next ones.
     *
     * With named barriers, which order some threads of a block only: true when two conflicting accesses
     * can be next at the same time, and nothing else is looked for.
     *
     * Exact when the search is complete or says true. Lanes of one warp are one actor. */
    bool race;
    /* SEARCH_STATES: a thread took a choice of its own stream (havoc, pick, goto). */
    bool own_choices;
    bool up_to_symmetry; /* for callers: its states stand for others */
    enum search_liveness liveness;
    const struct tape *lasso_stem, *lasso_loop; /* witness of a lasso (fair one if there is one) */
};

/* The machine must have been made by search_machine; it is reset first, and left in any state, with
 * the observers that it had. The result and its parts live in `arena`; scratch memory too, of which
 * at most half of what is free is used. */
struct search_result *search_run(struct arena *arena, struct machine *machine,
                                 const struct search_options *options);

/* Whether the outcome is among those of the set; the first one of a set that another does not have, NULL: none. */
bool search_has(const struct program *program, const struct search_result *set,
                const struct search_outcome *outcome);
const struct search_outcome *search_missing(const struct program *program,
                                            const struct search_result *of,
                                            const struct search_result *in);

/* Whether a thread may come to a statement again: by a loop, or by recursion. Without, every execution ends.
 * Not for PTX. */
bool search_has_loop(const struct program *program);

/* A machine fit for search_run; its undo log holds one step. */
struct machine *search_machine(struct arena *arena, const struct semantics *semantics,
                               const struct program *program, bool then_first);
/* The same with other options: literal, raw_goto, ..; its tracking is set. */
struct machine *search_machine_with(struct arena *arena, const struct semantics *semantics,
                                    const struct program *program,
                                    const struct machine_options *options);

extern const struct search_options SEARCH_DEFAULTS;

#endif
