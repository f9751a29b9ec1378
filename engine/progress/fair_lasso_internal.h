/*
 * fair_lasso_internal.h - between fair_lasso.c (samples), fair_lasso_check.c (the definition) and
 * fair_lasso_minimise.c.
 */
#ifndef ENGINE_FAIR_LASSO_INTERNAL_H
#define ENGINE_FAIR_LASSO_INTERNAL_H

#include "engine/machine/machine.h"
#include "engine/progress/fair_lasso.h"

/* ---- units of a machine ---- */

/* Sets of units: a byte each. */
struct fair_sets {
    const struct machine *machine;
    const struct fair_units *units;
    uint8_t *begun;
    uint8_t *unfinished, *enabled; /* in the machine's state when fair_look was called last */
};

struct fair_sets fair_sets_new(struct arena *arena, const struct machine *machine,
                               const struct fair_units *units);

/* Fills in unfinished and enabled. */
void fair_look(struct fair_sets *sets);

/* F in the state that was looked at; its size. */
uint32_t fair_members(const struct fair_sets *sets, enum progress_model model, uint8_t *F);

/* ---- stems and loops ---- */

/* As tapes: an actor, then the choices inside its step. */
struct fair_path {
    uint32_t *entries;
    uint32_t stem, count; /* the stem is [0, stem), the loop [stem, count) */
};

/* The entries of a path, at most; a step has at most FAIR_STEP of them. */
enum { FAIR_ENTRIES = 1 << 20, FAIR_STEP = 512 };

/* Paths that are tried. */
struct fair_trial {
    struct choices choices; /* first member: choices inside a step, from the path */
    struct machine *machine;
    struct fair_sets sets;
    const struct fair_path *path; /* that is being run */
    uint32_t at;
    struct fair_path ran; /* what ran of it: without steps of actors that could not step */
    uint32_t capacity;    /* of `ran` */
    uint64_t *hashes;     /* of the states before each entry of `ran`; NULL: not wanted */
    uint32_t *saved;
    uint32_t *live; /* in the state before */
    uint32_t live_count;
    uint8_t *F, *F_after, *settled;
    uint32_t missing; /* units of F that are not settled */
    uint64_t steps;   /* so far */
};

struct fair_trial *fair_trial_new(struct arena *arena, struct machine *machine,
                                  const struct fair_units *units, uint32_t capacity);

/* Whether the path is an infinite execution of the model; `ran` is what ran. */
bool fair_try(struct fair_trial *trial, const struct fair_path *path, enum progress_model model);

/* As tapes, and back. */
struct fair_path fair_path_of(struct arena *arena, const struct tape *stem,
                              const struct tape *loop);
struct tape *fair_tape_of(struct arena *arena, const uint32_t *entries, uint32_t count);

/* Makes a path that is one shorter; within so many steps. False: they did not suffice, or it was stopped. */
bool fair_minimise(struct arena *arena, struct fair_trial *trial, struct fair_path *path,
                   enum progress_model model, uint64_t budget_steps,
                   const volatile sig_atomic_t *stop);

#endif
