/*
 * lasso.h - proofs of non-termination along one execution: a state that comes back.
 *
 * Under a deterministic policy the same state (of machine and policy) means the same future, so the
 * execution never ends: a verdict about that policy. A random walk that comes back to a state could
 * do so for ever: a verdict about what may happen. Either way the loop is a weakly fair infinite
 * execution iff every live actor steps in it (a live actor can always step).
 *
 * Hashes only propose; states are compared before anything is said.
 */
#ifndef ENGINE_LASSO_H
#define ENGINE_LASSO_H

#include "engine/schedule/sched.h"

enum lasso_kind {
    LASSO_NONE,    /* the execution ended: see status */
    LASSO_UNKNOWN, /* the budget is spent */
    LASSO_UNFAIR,  /* a loop in which some live actor never steps */
    LASSO_FAIR     /* a loop in which every live actor steps */
};

struct lasso {
    enum lasso_kind kind;
    enum status
        status; /* NONE: of its end; UNKNOWN: STATUS_STEP_LIMIT; else STATUS_NONTERMINATING */
    uint64_t stem, loop;    /* steps; of a loop of length > 0 the following are known too */
    const uint8_t *live;    /* an actor: 1 = live throughout the loop */
    const uint8_t *stepped; /* an actor: 1 = steps in the loop */
    const struct tape *stem_tape, *loop_tape; /* lasso_random; lasso_run: by lasso_tapes */
};

/* Whether lasso_run knows the policy: sequential, reverse, rr, starve, and stack-less warps but random ones.
 * Here starving is deterministic: the others take turns, one step each; the victim runs when it is alone. */
bool lasso_policy(const struct sched_spec *policy);

/* Runs the machine from its initial state under the policy; Brent's algorithm finds the shortest stem
 * and loop with one saved state. Every choice inside a step is 0. The machine must track its hash
 * (undo_entries may be 0: nothing is undone) and is left in the loop's first state, or where the
 * execution ended. `budget_steps` bounds the search; a loop that is found within it takes at most twice
 * as many again. Observers see the search only. */
struct lasso lasso_run(struct arena *arena, struct machine *machine,
                       const struct sched_spec *policy, uint64_t budget_steps);

/* Fills in the tapes of a loop that lasso_run found, by running again. */
void lasso_tapes(struct arena *arena, struct machine *machine, const struct sched_spec *policy,
                 struct lasso *lasso);

/* Runs the machine from its initial state under any scheduler until a fair loop closes, the execution
 * ends, or the budget is spent: kind in that order. An unfair loop met on the way (the first) is
 * reported when there is no fair one: as kind, or, when the execution ended, in stem, loop and tapes
 * only. Observers see each step once. */
struct lasso lasso_random(struct arena *arena, struct machine *machine, struct choices *choices,
                          uint64_t budget_steps);

#endif
