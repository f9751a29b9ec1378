/*
 * safety_state.h - chapter 6 of cuda-crs as predicates over execution states: the invariants, the two
 * relations between a warp and threads with a pc of their own, stack consistency (catalogue 11.2).
 *
 * A state is ς = <pc, α, δ, τ> of crs.h with W, the set of all lanes of the warp, dummies too (they are
 * inactive, and disabled as `exit`), and the pc of each lane (0 = ε).
 *
 *     actToken(lane)   the topmost token whose mask has the lane, which waits for it: inactive, δ =/= exit;
 *                      δ = break: a break token, δ = return: a call token. Otherwise none.
 */
#ifndef ORACLE_SAFETY_STATE_H
#define ORACLE_SAFETY_STATE_H

#include "engine/crs/crs.h"

enum safety_predicate {
    /* The theorem's hypothesis, before a step: control-flow consistency. */
    SAFETY_ADDR,    /* targets are in the same function, those of calls start one (CHK.addr) */
    SAFETY_STACK_1, /* break: there is a break token */
    SAFETY_STACK_2, /* ret: there is a call token */
    SAFETY_STACK_3, /* sync: the top is a sync or diverge token */
    SAFETY_STACK_4, /* sync, diverge on top: 4', the first other token is sync, with address pc+1; as printed
                       it is the next one, and holds the diverge token's lanes and the active ones */
    SAFETY_STACK_5, /* sync, sync on top: its address is pc+1 */
    SAFETY_STACK_6, /* call: 6', the top is a call token with address pc+1; as printed, some token is */
    /* After a step. */
    SAFETY_INV_1, /* inactive, δ =/= exit  =>  actToken */
    SAFETY_INV_2, /* some lane is active, or all have exited */
    SAFETY_INV_3, /* active  =>  in the mask of every token but diverge */
    SAFETY_INV_4, /* inactive, δ =/= exit  =>  in that of every token but diverge below its actToken */
    SAFETY_INV_5, /* active  =>  δ = enabled */
    SAFETY_INV_6, /* no empty mask */
    SAFETY_INV_7, /* in a diverge token's mask  =>  inactive, δ = enabled, and it is the actToken */
    SAFETY_ACT,   /* active  =>  the lane's pc is the warp's */
    SAFETY_INACT, /* inactive, δ =/= exit  =>  there is an actToken, and the lane's pc is its address */
    SAFETY_COR_1,   /* ⊥ at a step of a control-flow consistent program: Corollary 1 */
    SAFETY_PCS,     /* the pcs of thread-pc are those that CHK.branch gives */
    SAFETY_PRIVATE, /* chk_private: the tokens that a lane waits for are those of its private stack */
    SAFETY_KAPPA,   /* chk_kappa: as many frames as private call entries, and one */
    SAFETY_NEUTRAL, /* the stack behind a statement is that before it */
    SAFETY_RECONV,  /* ... and the active lanes are those before it that are enabled */
    SAFETY_PREDICATE_COUNT,
    SAFETY_NONE = SAFETY_PREDICATE_COUNT
};

typedef uint32_t safety_set; /* bits 1u << safety_predicate */

struct safety_info {
    const char *name;     /* "inv-1": the divergence class */
    const char *sentence; /* what holds */
};

extern const struct safety_info safety_table[SAFETY_PREDICATE_COUNT + 1];

/* The first of a set; SAFETY_NONE of the empty one. */
static inline enum safety_predicate safety_first(safety_set set)
{
    return set ? (enum safety_predicate)__builtin_ctz(set) : SAFETY_NONE;
}

/* Which of inv 1-7, act-cons, inact-cons fail: one pass over the tokens. */
safety_set safety_state(const struct crs_state *s, const struct crs_token *tokens, lane_mask W,
                        const uint32_t *pcs);

/* What lemmas 1 and 2 ask of a state to be unwound: all lanes inactive, not all exited, inv 1, 4, 6,
 * inact-cons. */
bool safety_unwinds(const struct crs_state *s, const struct crs_token *tokens, lane_mask W,
                    const uint32_t *pcs);

/* Stack consistency of a state at an instruction that the lanes X are about to execute: which clause
 * fails first. Read "if some active lane's guard is true" (ERR.31): none does where X is empty. printed:
 * clauses 4 and 6 as the report has them. */
enum safety_predicate safety_stack(const struct crs_state *s, const struct crs_token *tokens,
                                   enum ptx_exec exec, lane_mask X, bool printed);

#endif
