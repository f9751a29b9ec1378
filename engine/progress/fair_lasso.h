/*
 * fair_lasso.h - sampled search for infinite executions of progress models (progress.h): for kernels whose
 * graph of states is too large. It only ever refutes: who finds nothing knows nothing.
 *
 * Whatever may hang in a finite graph has an execution u w w w ...: a stem u, then a word w for ever. A
 * sample is such a schedule: u lets a random crowd of units run, w is made for the model: it holds all
 * units of F, and now and then others, in turns, in a random order, or at random. While w runs the
 * execution is deterministic, so Brent's algorithm sees when a state comes back; states are compared, not
 * only their hashes. The loop is then held to the definition:
 *
 *     the state is the same after the loop;  F is the same in each of its states, and not {} (but of UNFAIR);
 *     every unit of F steps in it, or cannot step in some state of it
 *
 * A loop is minimised by leaving out what lies between equal states, whole actors, and single steps, as
 * long as it is an execution of the model by the same definition.
 *
 * Units may be any number here, other than in progress.h.
 */
#ifndef ENGINE_FAIR_LASSO_H
#define ENGINE_FAIR_LASSO_H

#include "engine/progress/progress.h"

#include <signal.h>

/* Who is scheduled. */
struct fair_units {
    const uint32_t *unit_of; /* an actor: its unit, below count */
    uint32_t count;
};

struct fair_options {
    uint64_t seed;
    uint64_t
        budget_steps; /* of all samples together; minimising a witness takes at most a quarter of it */
    const volatile sig_atomic_t *stop; /* NULL, or: not 0 ends it, with what was found */
};

extern const struct fair_options FAIR_DEFAULTS;

struct fair_answer {
    bool found;
    const struct tape *stem, *loop;
    uint64_t sample; /* the schedule that showed it, of this seed */
};

struct fair_result {
    struct fair_answer answers[PROGRESS_MODEL_COUNT];
    uint64_t samples, steps;
    const char *stopped; /* by options->stop: why; or NULL */
};

/* Looks for an infinite execution of each of these models (bits 1u << model). The machine must track its
 * hash; it is left in any state, with the observers that it had; they see nothing. The result is a function of machine,
 * units, models, seed and budget. Tapes live in the arena, and so does scratch memory. */
struct fair_result fair_lasso_search(struct arena *arena, struct machine *machine,
                                     const struct fair_units *units, uint32_t models,
                                     const struct fair_options *options);

/* Whether stem and loop are an infinite execution of the model, by the definition above. */
bool fair_lasso_is(struct arena *arena, struct machine *machine, const struct fair_units *units,
                   enum progress_model model, const struct tape *stem, const struct tape *loop);

/* Makes a stem and a loop that are one shorter, as a search does, within so many steps. True: they sufficed, and
 * nothing of what is tried can be left out any more: a step, all steps of an actor, or of it those of the stem, what
 * lies between equal states of the loop, what the stem goes round. */
bool fair_lasso_shorten(struct arena *arena, struct machine *machine,
                        const struct fair_units *units, enum progress_model model,
                        const struct tape **stem, const struct tape **loop, uint64_t budget_steps);

#endif
