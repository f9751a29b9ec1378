/*
 * lemmas.h - Lemmas 1 to 5 of simt-correctness (sections 3.4 and 4.3) as predicates over the states
 * and transitions of the warp semantics, and what follows from them.
 *
 * A predicate says which lemma fails first, or LEMMA_NONE. Lemma 3 (the projections of inactive lanes
 * stay as they are) and the step counts of Lemmas 4 and 5 are read off the co-simulation, which
 * has compared every lane's projection with a thread that it did not step (simulation.c).
 */
#ifndef ORACLE_LEMMAS_H
#define ORACLE_LEMMAS_H

#include "engine/warps/simt.h"

enum lemma {
    LEMMA_NONE,
    LEMMA_1_1,    /* below div_M: statements, then sync_N, and M within N */
    LEMMA_1_2,    /* below a continuing loop: brk_N, and Theta within N */
    LEMMA_1_3,    /* the masks of tokens other than div grow downwards */
    LEMMA_1_4,    /* Theta is apart from every div's mask and within every other's */
    LEMMA_INV0,   /* an active lane is not disabled [derived] */
    LEMMA_2,      /* actToken_theta(tau, Delta(theta)) <=> theta in fst(enable(Delta, tau)) */
    LEMMA_ENABLE, /* token^w leaves exactly enable(Delta, tau) [section 3.3] */
    LEMMA_3,
    LEMMA_4,
    LEMMA_5,
    LEMMA_DET, /* the one rule that applies is the one that fired [derived] */
    LEMMA_COUNT
};

struct lemma_info {
    const char *name; /* "lemma-1.1": the divergence class */
    const char *sentence;
};

extern const struct lemma_info lemma_table[LEMMA_COUNT];

/* enable(Delta, t_M) of section 3.3. */
struct lemma_enabled {
    lane_mask theta, b, r, e;
};
struct lemma_enabled lemma_enable(const struct warp_state *warp, enum entry_kind token,
                                  lane_mask mask);

/* Lemmas 1 and 2 and inv0 for a whole configuration: every token of the stack. */
enum lemma lemmas_state(const struct warp_state *warp);

/* What is remembered of a warp before a step. */
struct lemma_before {
    stack_entry top;
    lane_mask top_mask;
    struct warp_state warp; /* masks and depth; its stack has been stepped since */
};
struct lemma_before lemmas_before(const struct warp_state *warp);

/* The one rule that applies to a configuration (SIMT.det). */
enum rule lemmas_rule(const struct program *program, const struct lemma_before *before,
                      bool then_first);

/* Of a transition by token^w: LEMMA_ENABLE or LEMMA_NONE. */
enum lemma lemmas_token(const struct lemma_before *before, const struct warp_state *after);

/* Lemmas 4 and 5: an assignment takes at least one thread step (two for each active lane), any
 * other rule at most one for each. `most` is the largest number of steps that one lane took. As
 * printed (strict) the exit of a continuing loop breaks Lemma 5 (erratum A-4: while_cont_ff, then
 * context); otherwise that pair is allowed. */
enum lemma lemmas_step_count(enum rule rule, uint32_t total, uint32_t most, bool strict);

#endif
