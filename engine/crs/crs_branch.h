/*
 * crs_branch.h - the branch unit, →CRS (cuda-crs 5.4.1; catalogue 7.1, 7.2): what the control-flow actions
 * of a warp's lanes do to its execution state ς = <pc, α, δ, τ>.
 *
 * Functions on ς and the token stack, and on nothing else: no registers, no memory, no frames. They write
 * through `put`, so a tracked machine hashes and logs them.
 */
#ifndef ENGINE_CRS_BRANCH_H
#define ENGINE_CRS_BRANCH_H

#include "engine/crs/crs.h"

struct crs_unit {
    struct machine *machine;  /* that ς lies in, or crs_no_machine */
    struct crs_state *s;      /* ς without τ */
    struct crs_token *tokens; /* τ, bottom first */
    uint32_t capacity;        /* of tokens */
    uint32_t switches;        /* 1u << CRS_SWITCH_... */
    lane_mask W;              /* all lanes of the warp, dummies too */
    /* Why there is no next state; NULL, false: there is one. */
    const char *bottom; /* ⊥: the premise that is missing */
    bool overflow;      /* more tokens than fit */
};

/* The flow actions of a step, all of one kind. */
struct crs_actions {
    enum ptx_exec kind;      /* PTX_EXEC_BRA .. PTX_EXEC_BREAK */
    lane_mask X;             /* the executing lanes: not empty, within α */
    uint32_t address;        /* ssy, preBrk, preRet: a; bra, call without targets: all pc_i */
    const uint32_t *targets; /* bra, call: pc_i by lane, or NULL */
};

/* One rule of →CRS: the one whose premises hold. choices: the k of bra_target and call_target, among the
 * distinct targets in ascending order (NULL: the least). state->completed is set when the warp completes. */
enum rule crs_flow(struct crs_unit *u, const struct crs_actions *actions, struct choices *choices);

/* The machine of a ς that is in none: nobody observes it, and it keeps no log. */
extern struct machine crs_no_machine;

/* CHK.topmost: the topmost token of a type; NULL = ⊥. */
const struct crs_token *crs_topmost(const struct crs_state *s, const struct crs_token *tokens,
                                    enum crs_token_type type);

/* ---- functions on masks, 7.1 ---- */

static inline lane_mask crs_disabled(const struct crs_state *s) /* { wl | δ(wl) != enabled } */
{
    return s->broken | s->returned | s->exited;
}

/*  uni(α, wl_1..wl_n)  <=>  every active lane is among wl_1..wl_n */
static inline bool crs_uni(lane_mask alpha, lane_mask X)
{
    return (alpha & ~X) == 0;
}

/*  taken(wl_1 pc_1 .. wl_n pc_n, pc) = { wl_i | pc_i = pc } */
static inline lane_mask crs_taken(lane_mask X, const uint32_t *targets, uint32_t pc)
{
    lane_mask taken = 0;
    for (lane_mask rest = X; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        taken |= (lane_mask)(targets[lane] == pc) << lane;
    }
    return taken;
}

/*  notTaken(α, wl_1 pc_1 .. wl_n pc_n, pc) = α \ taken(..): lanes whose guard is false stay in */
static inline lane_mask crs_not_taken(lane_mask alpha, lane_mask taken)
{
    return alpha & ~taken;
}

/*  uni2(α, wl_1..wl_n, pc_1..pc_n)  <=>  uni(α, wl_1..wl_n) and all pc_i are equal */
static inline bool crs_uni2(lane_mask alpha, lane_mask X, const uint32_t *targets)
{
    return crs_uni(alpha, X) && crs_taken(X, targets, targets[__builtin_ctzll(X)]) == X;
}

#endif
