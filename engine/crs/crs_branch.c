/*
 * crs_branch.c - →CRS of the report, 5.4.1.
 *
 * In the rules: ς = <pc, α, δ, τ> is the warp's execution state, τ's top on the left; X the lanes that
 * execute the instruction, with their targets pc_i; a the address that the instruction names. What a
 * conclusion does not mention is unchanged, and the warp's state is active if it does not say otherwise.
 * An `OTHERWISE(ID)` is a switch of crs_switches.def: what the rule is not.
 */
#include "engine/crs/crs_warp.h"

#define OTHERWISE(u, ID) __builtin_expect((u)->switches >> CRS_SWITCH_##ID & 1, 0)

enum delta { DELTA_BREAK, DELTA_RETURN, DELTA_EXIT };

/* ---- ς ---- */

STEP_INLINE void set_pc(struct crs_unit *u, uint32_t pc)
{
    put(u->machine, &u->s->pc, pc);
}

STEP_INLINE void set_alpha(struct crs_unit *u, lane_mask alpha)
{
    put_mask(u->machine, &u->s->active, alpha);
}

/* δ[X ↦ why] */
STEP_INLINE void set_delta(struct crs_unit *u, lane_mask X, enum delta why)
{
    struct crs_state *s = u->s;
    put_mask(u->machine, &s->broken, (s->broken & ~X) | (why == DELTA_BREAK ? X : 0));
    put_mask(u->machine, &s->returned, (s->returned & ~X) | (why == DELTA_RETURN ? X : 0));
    put_mask(u->machine, &s->exited, (s->exited & ~X) | (why == DELTA_EXIT ? X : 0));
}

STEP_INLINE void push(struct crs_unit *u, enum crs_token_type type, lane_mask mask, uint32_t pc)
{
    uint32_t depth = u->s->depth;
    if (depth == u->capacity) {
        u->overflow = true;
        return;
    }
    put(u->machine, &u->tokens[depth].type, type);
    put(u->machine, &u->tokens[depth].pc, pc);
    put_mask(u->machine, &u->tokens[depth].mask, mask);
    put(u->machine, &u->s->depth, depth + 1);
}

/* Drops the top; a tracked machine clears it, so that equal states have equal bytes. */
STEP_INLINE void drop(struct crs_unit *u)
{
    uint32_t top = u->s->depth - 1;
    if (is_tracked(u->machine)) {
        put(u->machine, &u->tokens[top].type, 0);
        put(u->machine, &u->tokens[top].pc, 0);
        put_mask(u->machine, &u->tokens[top].mask, 0);
    }
    put(u->machine, &u->s->depth, top);
}

/* ---- unwinding ---- */

/* δ, in which a token may enable lanes: none that exited. */
struct waiting {
    lane_mask broken, returned;
};

/*  enable(α, δ, why)(wl) = enabled    if α(wl) = active and δ(wl) = why
 *                          δ(wl)      otherwise
 */
STEP_INLINE struct waiting enable(const struct crs_unit *u, lane_mask alpha, struct waiting d,
                                  enum delta why)
{
    if (OTHERWISE(u, ENABLE_ALL))
        alpha = ~(lane_mask)0;
    if (why == DELTA_BREAK || OTHERWISE(u, ENABLE_ANY))
        d.broken &= ~alpha;
    if (why == DELTA_RETURN || OTHERWISE(u, ENABLE_ANY))
        d.returned &= ~alpha;
    return d;
}

/*  minus: (α \ δ)(wl) = active  <=>  α(wl) = active and δ(wl) = enabled */
STEP_INLINE lane_mask minus(lane_mask alpha, struct waiting d, lane_mask exited)
{
    return alpha & ~(d.broken | d.returned | exited);
}

/* ς without τ, as popping a token makes it. */
struct popped {
    lane_mask alpha;
    struct waiting delta;
    uint32_t pc;
};

/*  updExecState(ς ▷ δ, (type, α_τ, pc_τ) :: τ) = ς ◁ pc_τ, α_τ \ δ', δ', τ
 *      where δ' = enable(α_τ, δ, return)    if type = call
 *                 enable(α_τ, δ, break)     if type = break
 *                 δ                         otherwise
 *  updExecState(ς ▷ ε) = ⊥
 */
STEP_INLINE struct popped upd_exec_state(const struct crs_unit *u)
{
    const struct crs_state *s = u->s;
    const struct crs_token *t = &u->tokens[s->depth - 1];
    struct waiting d = {s->broken, s->returned};
    bool plain = false; /* MUT.12, MUT.13: without \ δ' */
    switch ((enum crs_token_type)t->type) {
    case CRS_CALL:
        d = enable(u, t->mask, d, DELTA_RETURN);
        plain = OTHERWISE(u, NO_MINUS_CALL);
        break;
    case CRS_BREAK:
        d = enable(u, t->mask, d, DELTA_BREAK);
        plain = OTHERWISE(u, NO_MINUS_CALL);
        break;
    case CRS_SYNC:
    case CRS_DIVERGE:
        plain = OTHERWISE(u, NO_MINUS_SYNC);
        break;
    }
    return (struct popped){plain ? t->mask : minus(t->mask, d, s->exited), d, t->pc};
}

/*  unwind(ς ▷ δ, ε)    = <completed, ς>     if all lanes are δ = exit
 *                        ⊥                  otherwise: some wait for a break or a return
 *  unwind(ς ▷ τ :: τ') = <active, ς'>       if some lane is active in ς' = updExecState(ς)
 *                        unwind(ς ◁ τ')     otherwise: the token wakes nobody; δ is that of ς
 */
STEP_INLINE void unwind(struct crs_unit *u)
{
    struct crs_state *s = u->s;
    while (s->depth > 0) {
        struct popped next = upd_exec_state(u);
        drop(u);
        bool wakes = next.alpha != 0 || OTHERWISE(u, UNWIND_ONCE);
        if (wakes || OTHERWISE(u, UNWIND_KEEPS)) {
            put_mask(u->machine, &s->broken, next.delta.broken);
            put_mask(u->machine, &s->returned, next.delta.returned);
        }
        if (!wakes)
            continue;
        set_alpha(u, next.alpha);
        set_pc(u, next.pc);
        return;
    }
    if (s->exited == u->W || (OTHERWISE(u, UNWIND_RETURN) && s->broken == 0))
        put(u->machine, &s->completed, 1);
    else
        u->bottom = "lanes wait for a break or a return and the token stack is empty";
}

/* ---- rules ---- */

/*  ssy
 *      ssy a .. ssy a
 *      ----------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc+1, (sync, α, a) :: τ          a: behind the matching sync
 */
STEP_INLINE void crs_ssy(struct crs_unit *u, lane_mask X, uint32_t a)
{
    lane_mask mask = OTHERWISE(u, PUSH_EXECUTING) ? X : u->s->active;
    push(u, CRS_SYNC, mask, OTHERWISE(u, SYNC_FLAG) ? a - 1 : a);
    set_pc(u, u->s->pc + 1);
}

/*  preBrk
 *      preBrk a .. preBrk a
 *      -----------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc+1, (break, α, a) :: τ         a: behind the loop
 */
STEP_INLINE void crs_pre_brk(struct crs_unit *u, lane_mask X, uint32_t a)
{
    push(u, CRS_BREAK, OTHERWISE(u, PUSH_EXECUTING) ? X : u->s->active, a);
    set_pc(u, u->s->pc + 1);
}

/*  preRet
 *      preRet a .. preRet a
 *      ----------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc+1, (call, α, a) :: τ          a: behind the call
 */
STEP_INLINE void crs_pre_ret(struct crs_unit *u, lane_mask X, uint32_t a)
{
    push(u, CRS_CALL, OTHERWISE(u, PUSH_EXECUTING) ? X : u->s->active, a);
    set_pc(u, u->s->pc + 1);
}

/*  sync
 *      sync .. sync
 *      ------------------
 *      ς  ==>  unwind(ς)              whoever executes it: one lane does it for all (ERR.69)
 */
STEP_INLINE void crs_sync(struct crs_unit *u)
{
    uint32_t pc = u->s->pc;
    if (OTHERWISE(u, SYNC_SKIP))
        while (u->s->depth > 0 && u->tokens[u->s->depth - 1].type == CRS_DIVERGE)
            drop(u);
    unwind(u);
    /* The flagged instruction that popped its own token is not executed again. */
    if (OTHERWISE(u, SYNC_FLAG) && u->s->pc == pc && !u->bottom && !u->s->completed)
        set_pc(u, pc + 1);
}

/*  brk_div, ret_div, exit_div
 *      why wl .. why wl      not uni(α, X)
 *      -----------------------------------------
 *      ς ▷ pc, α, δ  ==>  ς ◁ pc+1, α \ X, δ[X ↦ why]
 */
STEP_INLINE void leave_div(struct crs_unit *u, lane_mask X, enum delta why)
{
    set_delta(u, X, why);
    set_alpha(u, u->s->active & ~X);
    set_pc(u, u->s->pc + 1);
}

/*  brk_uni, ret_uni, exit_uni
 *      why wl .. why wl      uni(α, X)
 *      -----------------------------------------
 *      ς ▷ α, δ  ==>  unwind(ς ◁ α \ X, δ[X ↦ why])
 */
STEP_INLINE void leave_uni(struct crs_unit *u, lane_mask X, enum delta why, enum crs_switch keeps)
{
    if (!(u->switches >> keeps & 1))
        set_delta(u, X, why);
    set_alpha(u, u->s->active & ~X);
    unwind(u);
}

STEP_INLINE void crs_brk_div(struct crs_unit *u, lane_mask X)
{
    leave_div(u, X, DELTA_BREAK);
}

STEP_INLINE void crs_ret_div(struct crs_unit *u, lane_mask X)
{
    leave_div(u, X, DELTA_RETURN);
}

STEP_INLINE void crs_exit_div(struct crs_unit *u, lane_mask X)
{
    leave_div(u, X, DELTA_EXIT);
}

STEP_INLINE void crs_brk_uni(struct crs_unit *u, lane_mask X)
{
    if (OTHERWISE(u, BREAK_DIRECT))
        while (u->s->depth > 0 && u->tokens[u->s->depth - 1].type != CRS_BREAK)
            drop(u);
    leave_uni(u, X, DELTA_BREAK, CRS_SWITCH_UNIFORM_BREAK);
}

STEP_INLINE void crs_ret_uni(struct crs_unit *u, lane_mask X)
{
    leave_uni(u, X, DELTA_RETURN, CRS_SWITCH_UNIFORM_RETURN);
}

STEP_INLINE void crs_exit_uni(struct crs_unit *u, lane_mask X)
{
    leave_uni(u, X, DELTA_EXIT, CRS_SWITCH_UNIFORM_EXIT);
}

/*  bra_uni
 *      bra wl pc' .. bra wl pc'      uni2(α, X, pc_i)
 *      ----------------------------------------------
 *      ς ▷ pc  ==>  ς ◁ pc'
 */
STEP_INLINE void crs_bra_uni(struct crs_unit *u, uint32_t target)
{
    if (OTHERWISE(u, UNIFORM_PUSH))
        push(u, CRS_DIVERGE, 0, u->s->pc + 1);
    set_pc(u, target);
}

/*  bra_guard
 *      bra wl pc' .. bra wl pc'      not uni(α, X)      t = taken(.., pc')
 *      ----------------------------------------------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc', t, (diverge, notTaken(α, .., pc'), pc+1) :: τ
 */
STEP_INLINE void crs_bra_guard(struct crs_unit *u, lane_mask X, uint32_t target)
{
    uint32_t pc = u->s->pc;
    lane_mask taken = X;
    lane_mask rest = crs_not_taken(OTHERWISE(u, NOT_TAKEN_ALL) ? u->W : u->s->active, taken);
    if (OTHERWISE(u, NOT_TAKEN_FIRST)) {
        push(u, CRS_DIVERGE, taken, target);
        set_alpha(u, rest);
        set_pc(u, pc + 1);
        return;
    }
    push(u, CRS_DIVERGE, rest, OTHERWISE(u, GUARD_PC) ? pc : pc + 1);
    set_alpha(u, taken);
    set_pc(u, target);
}

/*  bra_target
 *      bra wl_1 pc_1 .. bra wl_n pc_n      pc_i != pc_j for some i, j      some k
 *      ----------------------------------------------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc_k, taken(.., pc_k), (diverge, notTaken(α, .., pc_k), pc) :: τ
 *
 *  The others execute the instruction again.
 */
STEP_INLINE void crs_bra_target(struct crs_unit *u, lane_mask X, const uint32_t *targets,
                                uint32_t pc_k)
{
    uint32_t pc = u->s->pc;
    lane_mask taken = crs_taken(X, targets, pc_k);
    lane_mask rest = crs_not_taken(OTHERWISE(u, NOT_TAKEN_ALL) ? u->W : u->s->active, taken);
    push(u, CRS_DIVERGE, rest, OTHERWISE(u, TARGET_NEXT) ? pc + 1 : pc);
    set_alpha(u, taken);
    set_pc(u, pc_k);
}

/*  call_uni
 *      call wl pc' .. call wl pc'      uni2(α, X, pc_i)
 *      ------------------------------------------------
 *      ς ▷ pc  ==>  ς ◁ pc'                                    preRet has pushed the call token
 */
STEP_INLINE void crs_call_uni(struct crs_unit *u, uint32_t target)
{
    if (OTHERWISE(u, CALL_PUSH))
        push(u, CRS_CALL, u->s->active, u->s->pc + 1);
    set_pc(u, target);
}

/*  call_guard
 *      call wl pc' .. call wl pc'      not uni(α, X)
 *      ---------------------------------------------
 *      ς ▷ pc, α  ==>  ς ◁ pc', taken(.., pc')                 the others sleep: no diverge token
 */
STEP_INLINE void crs_call_guard(struct crs_unit *u, lane_mask X, uint32_t target)
{
    uint32_t pc = u->s->pc;
    if (OTHERWISE(u, CALL_PUSH))
        push(u, CRS_CALL, u->s->active, pc + 1);
    if (OTHERWISE(u, CALL_GUARD_TOKEN))
        push(u, CRS_DIVERGE, crs_not_taken(u->s->active, X), pc + 1);
    if (!OTHERWISE(u, CALL_GUARD_ALL))
        set_alpha(u, X);
    set_pc(u, target);
}

/*  call_target
 *      call wl_1 pc_1 .. call wl_n pc_n      pc_i != pc_j for some i, j      some k
 *      ----------------------------------------------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc_k, taken(.., pc_k), (diverge, notTaken(α, .., pc_k), pc) :: τ
 */
STEP_INLINE void crs_call_target(struct crs_unit *u, lane_mask X, const uint32_t *targets,
                                 uint32_t pc_k)
{
    uint32_t pc = u->s->pc;
    lane_mask taken = crs_taken(X, targets, pc_k);
    lane_mask rest = crs_not_taken(OTHERWISE(u, NOT_TAKEN_ALL) ? u->W : u->s->active, taken);
    if (OTHERWISE(u, CALL_PUSH))
        push(u, CRS_CALL, u->s->active, pc + 1);
    if (!OTHERWISE(u, CALL_TARGET_NO_TOKEN))
        push(u, CRS_DIVERGE, rest, pc);
    set_alpha(u, taken);
    set_pc(u, pc_k);
}

/* ---- which rule applies ---- */

/* The distinct targets in ascending order; how many. */
static uint32_t distinct_targets(lane_mask X, const uint32_t *targets, uint32_t distinct[64])
{
    uint32_t count = 0;
    for (lane_mask rest = X; rest; rest &= rest - 1) {
        uint32_t target = targets[__builtin_ctzll(rest)], at = 0;
        while (at < count && distinct[at] < target)
            at++;
        if (at < count && distinct[at] == target)
            continue;
        memmove(&distinct[at + 1], &distinct[at], (count - at) * sizeof *distinct);
        distinct[at] = target;
        count++;
    }
    return count;
}

/* Some pc_k; without choices the least. */
static uint32_t choose_target(lane_mask X, const uint32_t *targets, struct choices *choices)
{
    uint32_t distinct[64];
    uint32_t count = distinct_targets(X, targets, distinct);
    return distinct[choices ? choices->choose(choices, count) : 0];
}

/* Whether all pc_i are equal: *target. */
STEP_INLINE bool one_target(const struct crs_actions *actions, uint32_t *target)
{
    lane_mask X = actions->X;
    *target = actions->address;
    if (!actions->targets)
        return true;
    *target = actions->targets[__builtin_ctzll(X)];
    return crs_taken(X, actions->targets, *target) == X;
}

STEP_INLINE enum rule select_bra(struct crs_unit *u, const struct crs_actions *actions,
                                 struct choices *choices)
{
    lane_mask X = actions->X;
    uint32_t target;
    if (!one_target(actions, &target)) {
        uint32_t pc_k = choose_target(X, actions->targets, choices);
        crs_bra_target(u, X, actions->targets, pc_k);
        return RULE_CRS_BRA_TARGET;
    }
    if (crs_uni(u->s->active, X)) {
        crs_bra_uni(u, target);
        return RULE_CRS_BRA_UNI;
    }
    crs_bra_guard(u, X, target);
    return RULE_CRS_BRA_GUARD;
}

STEP_INLINE enum rule select_call(struct crs_unit *u, const struct crs_actions *actions,
                                  struct choices *choices)
{
    lane_mask X = actions->X;
    uint32_t target;
    if (!one_target(actions, &target)) {
        uint32_t pc_k = choose_target(X, actions->targets, choices);
        crs_call_target(u, X, actions->targets, pc_k);
        return RULE_CRS_CALL_TARGET;
    }
    if (crs_uni(u->s->active, X)) {
        crs_call_uni(u, target);
        return RULE_CRS_CALL_UNI;
    }
    crs_call_guard(u, X, target);
    return RULE_CRS_CALL_GUARD;
}

enum rule STEP_NAME(crs_flow)(struct crs_unit *u, const struct crs_actions *actions,
                              struct choices *choices)
{
    lane_mask X = actions->X;
    bool uni = crs_uni(u->s->active, X);
    switch ((unsigned)actions->kind) {
    case PTX_EXEC_SSY:
        crs_ssy(u, X, actions->address);
        return RULE_CRS_SSY;
    case PTX_EXEC_PREBRK:
        crs_pre_brk(u, X, actions->address);
        return RULE_CRS_PRE_BRK;
    case PTX_EXEC_PRERET:
        crs_pre_ret(u, X, actions->address);
        return RULE_CRS_PRE_RET;
    case PTX_EXEC_SYNC:
        crs_sync(u);
        return RULE_CRS_SYNC;
    case PTX_EXEC_BREAK:
        if (uni)
            crs_brk_uni(u, X);
        else
            crs_brk_div(u, X);
        return uni ? RULE_CRS_BRK_UNI : RULE_CRS_BRK_DIV;
    case PTX_EXEC_RET:
        if (uni)
            crs_ret_uni(u, X);
        else
            crs_ret_div(u, X);
        return uni ? RULE_CRS_RET_UNI : RULE_CRS_RET_DIV;
    case PTX_EXEC_EXIT:
        if (uni)
            crs_exit_uni(u, X);
        else
            crs_exit_div(u, X);
        return uni ? RULE_CRS_EXIT_UNI : RULE_CRS_EXIT_DIV;
    case PTX_EXEC_BRA:
        return select_bra(u, actions, choices);
    case PTX_EXEC_CALL:
        return select_call(u, actions, choices);
    default: /* no flow action */
        invariant_fail("the branch unit gets flow actions", __FILE__, __LINE__);
    }
}
