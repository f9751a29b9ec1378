/*
 * simulation.h - the co-simulation: a `simt` machine W, and beside it a `threads` machine I that
 * takes, for each step of a warp, exactly the thread steps that the proof of Theorem 1 names
 * (simt-correctness, Fig. 2; docs/catalogue.md):
 *
 *     assign                 every active lane assign_rd, then assign_wr in W's order of writes
 *     if, while, while_cont  each active lane one step, tt or ff as its guard says; a while_cont
 *                            that ends takes two: while_cont_ff, then context (erratum A-4)
 *     token brk, call        each active lane context
 *     token div, sync; inact nothing
 *     havoc, atomic [EXT]    each active lane havoc, atomic, in W's order
 *     barrier_reach,         each active lane barrier_reach; the release comes with the last warp's
 *     barrier_div [EXT]      step in W, with the last thread's in I
 *     any other rule         each active lane the rule of the same name
 *
 * After each step the projection of every lane must be the stack of its thread, and the memories must
 * be equal. An execution of W that ends with an error must be matched by the same error of the same
 * thread at the same statement. With barriers, which the paper does not have, three things differ: where
 * W ends because a lane of the warp is missing at a barrier (barrier_div), I has only begun to wait,
 * and nothing more is claimed than that the active threads reach that barrier; where the last warp
 * stops and barrier_F applies, I ends with the same error in the same place; and where I ends so while
 * the last warp still has tokens to pop, W must not end well. A kernel with votes is not replayed: the
 * threads have no such statement. Nothing is sampled: a divergence is a contradiction to Theorem 1.
 *
 * Several warps interleave at warp steps; only the threads of the warp that steps move.
 */
#ifndef ORACLE_SIMULATION_H
#define ORACLE_SIMULATION_H

#include "engine/schedule/tape.h"
#include "oracle/check/verdict.h"
#include "oracle/warps/lemmas.h"

struct simulation {
    struct arena *arena;
    const struct program *program;
    struct machine *warps;     /* W */
    struct machine *threads;   /* I */
    enum subject_id subject;   /* of the execution at hand */
    struct answer *answer;     /* of `simulation`; NULL: not asked */
    struct answer *lemmas;     /* of `lemmas`; NULL: not asked */
    bool strict;               /* Lemma 5 as printed */
    bool lost;                 /* a divergence was found: I no longer follows */
    const char *refused;       /* NULL, or why the threads cannot follow this program at all */
    struct tape *record;       /* of the execution so far, W's choices */
    uint64_t inner_choices;    /* of this execution: how often W chose a winner */
    uint64_t warp_steps;       /* of this execution */
    uint64_t thread_steps;     /* of this execution, by I */
    uint64_t total_warp_steps; /* of all executions */
    uint64_t total_thread_steps;
};

/* W and I must be untracked machines of one program; I's observers, if any, see the replayed thread
 * steps. */
struct simulation *simulation_new(struct arena *arena, struct machine *warps,
                                  struct machine *threads);

/* Both machines back to the start, for a run of `subject` (simt, in one order or the other). */
void simulation_begin(struct simulation *simulation, enum subject_id subject);

/* One step of a warp, its replay and all comparisons. */
void simulation_step(struct simulation *simulation, uint32_t warp, struct choices *choices);

/* Steps until W is no longer running or warp and thread steps together have reached `budget_steps`
 * (STATUS_STEP_LIMIT: it can be called again with a larger budget). */
enum status simulation_run(struct simulation *simulation, struct choices *choices,
                           uint64_t budget_steps);

/* A copy of the tape of this execution so far. */
const struct tape *simulation_tape(const struct simulation *simulation);

#endif
