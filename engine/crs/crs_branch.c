/*
 * crs_branch.c - →CRS of the report, 5.4.1.
 *
 * In the rules: ς = <pc, α, δ, τ> is the warp's execution state, τ's top on the left; X the lanes that
 * execute the instruction, with their targets pc_i; a the address that the instruction names. What a
 * conclusion does not mention is unchanged, and the warp's state is active if it does not say otherwise.
 * What the rules are not - the switches of crs_switches.def - is crs_otherwise.h.
 */
#include "engine/crs/crs_warp.h"

enum delta { DELTA_BREAK, DELTA_RETURN, DELTA_EXIT };

#define UNWIND_BOTTOM "lanes wait for a break or a return and the token stack is empty"

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
STEP_INLINE struct waiting enable(lane_mask alpha, struct waiting d, enum delta why)
{
    if (why == DELTA_BREAK)
        d.broken &= ~alpha;
    if (why == DELTA_RETURN)
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
    switch ((enum crs_token_type)t->type) {
    case CRS_CALL:
        d = enable(t->mask, d, DELTA_RETURN);
        break;
    case CRS_BREAK:
        d = enable(t->mask, d, DELTA_BREAK);
        break;
    case CRS_SYNC:
    case CRS_DIVERGE:
        break;
    }
    return (struct popped){minus(t->mask, d, s->exited), d, t->pc};
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
        if (next.alpha == 0)
            continue;
        put_mask(u->machine, &s->broken, next.delta.broken);
        put_mask(u->machine, &s->returned, next.delta.returned);
        set_alpha(u, next.alpha);
        set_pc(u, next.pc);
        return;
    }
    if (s->exited == u->W)
        put(u->machine, &s->completed, 1);
    else
        u->bottom = UNWIND_BOTTOM;
}

/* ---- rules ---- */

/*  ssy
 *      ssy a .. ssy a
 *      ----------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc+1, (sync, α, a) :: τ          a: behind the matching sync
 */
STEP_INLINE void crs_ssy(struct crs_unit *u, uint32_t a)
{
    push(u, CRS_SYNC, u->s->active, a);
    set_pc(u, u->s->pc + 1);
}

/*  preBrk
 *      preBrk a .. preBrk a
 *      -----------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc+1, (break, α, a) :: τ         a: behind the loop
 */
STEP_INLINE void crs_pre_brk(struct crs_unit *u, uint32_t a)
{
    push(u, CRS_BREAK, u->s->active, a);
    set_pc(u, u->s->pc + 1);
}

/*  preRet
 *      preRet a .. preRet a
 *      ----------------------------------------------
 *      ς ▷ pc, α, τ  ==>  ς ◁ pc+1, (call, α, a) :: τ          a: behind the call
 */
STEP_INLINE void crs_pre_ret(struct crs_unit *u, uint32_t a)
{
    push(u, CRS_CALL, u->s->active, a);
    set_pc(u, u->s->pc + 1);
}

/*  sync
 *      sync .. sync
 *      ------------------
 *      ς  ==>  unwind(ς)              whoever executes it: one lane does it for all (ERR.69)
 */
STEP_INLINE void crs_sync(struct crs_unit *u)
{
    unwind(u);
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
STEP_INLINE void leave_uni(struct crs_unit *u, lane_mask X, enum delta why)
{
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
    leave_uni(u, X, DELTA_BREAK);
}

STEP_INLINE void crs_ret_uni(struct crs_unit *u, lane_mask X)
{
    leave_uni(u, X, DELTA_RETURN);
}

STEP_INLINE void crs_exit_uni(struct crs_unit *u, lane_mask X)
{
    leave_uni(u, X, DELTA_EXIT);
}

/*  bra_uni
 *      bra wl pc' .. bra wl pc'      uni2(α, X, pc_i)
 *      ----------------------------------------------
 *      ς ▷ pc  ==>  ς ◁ pc'
 */
STEP_INLINE void crs_bra_uni(struct crs_unit *u, uint32_t target)
{
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
    push(u, CRS_DIVERGE, crs_not_taken(u->s->active, X), pc + 1);
    set_alpha(u, X);
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
    push(u, CRS_DIVERGE, crs_not_taken(u->s->active, taken), pc);
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
    set_pc(u, target);
}

/*  call_guard
 *      call wl pc' .. call wl pc'      not uni(α, X)
 *      ---------------------------------------------
 *      ς ▷ pc, α  ==>  ς ◁ pc', taken(.., pc')                 the others sleep: no diverge token
 */
STEP_INLINE void crs_call_guard(struct crs_unit *u, lane_mask X, uint32_t target)
{
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
    push(u, CRS_DIVERGE, crs_not_taken(u->s->active, taken), pc);
    set_alpha(u, taken);
    set_pc(u, pc_k);
}

/* ---- which rule applies ---- */

/* A rule whose premises hold, and what its conclusion needs. */
struct firing {
    enum rule rule;
    lane_mask X;
    uint32_t pc;             /* a; pc'; pc_k */
    const uint32_t *targets; /* pc_i, where they differ */
    struct crs_state was;    /* crs_otherwise.h: ς before */
};

STEP_INLINE void fire(struct crs_unit *u, const struct firing *f)
{
    switch ((unsigned)f->rule) {
#define FIRE(id, call)                                                                             \
    case RULE_CRS_##id:                                                                            \
        call;                                                                                      \
        break;
        FIRE(SSY, crs_ssy(u, f->pc))
        FIRE(PRE_BRK, crs_pre_brk(u, f->pc))
        FIRE(PRE_RET, crs_pre_ret(u, f->pc))
        FIRE(SYNC, crs_sync(u))
        FIRE(BRK_DIV, crs_brk_div(u, f->X))
        FIRE(RET_DIV, crs_ret_div(u, f->X))
        FIRE(EXIT_DIV, crs_exit_div(u, f->X))
        FIRE(BRK_UNI, crs_brk_uni(u, f->X))
        FIRE(RET_UNI, crs_ret_uni(u, f->X))
        FIRE(EXIT_UNI, crs_exit_uni(u, f->X))
        FIRE(BRA_UNI, crs_bra_uni(u, f->pc))
        FIRE(BRA_GUARD, crs_bra_guard(u, f->X, f->pc))
        FIRE(BRA_TARGET, crs_bra_target(u, f->X, f->targets, f->pc))
        FIRE(CALL_UNI, crs_call_uni(u, f->pc))
        FIRE(CALL_GUARD, crs_call_guard(u, f->X, f->pc))
        FIRE(CALL_TARGET, crs_call_target(u, f->X, f->targets, f->pc))
#undef FIRE
    }
}

#include "engine/crs/crs_otherwise.h"

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

/* One of three rules, of bra or of call: by whether all pc_i are equal, and everybody is there. */
STEP_INLINE void select_target(struct firing *f, const struct crs_actions *actions, bool uni,
                               const enum rule *of, struct choices *choices)
{
    const uint32_t *targets = actions->targets;
    f->pc = targets ? targets[__builtin_ctzll(f->X)] : actions->address;
    f->rule = uni ? of[0] : of[1];
    if (targets && crs_taken(f->X, targets, f->pc) != f->X) {
        f->rule = of[2];
        f->targets = targets;
        f->pc = choose_target(f->X, targets, choices);
    }
}

static const enum rule bra_rules[] = {RULE_CRS_BRA_UNI, RULE_CRS_BRA_GUARD, RULE_CRS_BRA_TARGET};
static const enum rule call_rules[] = {RULE_CRS_CALL_UNI, RULE_CRS_CALL_GUARD,
                                       RULE_CRS_CALL_TARGET};

STEP_INLINE void select_rule(struct firing *f, const struct crs_actions *actions, bool uni,
                             struct choices *choices)
{
    switch ((unsigned)actions->kind) {
    case PTX_EXEC_SSY:
        f->rule = RULE_CRS_SSY;
        break;
    case PTX_EXEC_PREBRK:
        f->rule = RULE_CRS_PRE_BRK;
        break;
    case PTX_EXEC_PRERET:
        f->rule = RULE_CRS_PRE_RET;
        break;
    case PTX_EXEC_SYNC:
        f->rule = RULE_CRS_SYNC;
        break;
    case PTX_EXEC_BREAK:
        f->rule = uni ? RULE_CRS_BRK_UNI : RULE_CRS_BRK_DIV;
        break;
    case PTX_EXEC_RET:
        f->rule = uni ? RULE_CRS_RET_UNI : RULE_CRS_RET_DIV;
        break;
    case PTX_EXEC_EXIT:
        f->rule = uni ? RULE_CRS_EXIT_UNI : RULE_CRS_EXIT_DIV;
        break;
    case PTX_EXEC_BRA:
        select_target(f, actions, uni, bra_rules, choices);
        break;
    case PTX_EXEC_CALL:
        select_target(f, actions, uni, call_rules, choices);
        break;
    default: /* no flow action */
        invariant_fail("the branch unit gets flow actions", __FILE__, __LINE__);
    }
}

enum rule STEP_NAME(crs_flow)(struct crs_unit *u, const struct crs_actions *actions,
                              struct choices *choices)
{
    struct firing f = {.X = actions->X, .pc = actions->address};
    select_rule(&f, actions, crs_uni(u->s->active, f.X), choices);
    if (__builtin_expect(u->switches != 0, 0))
        fire_otherwise(u, &f);
    else
        fire(u, &f);
    return f.rule;
}
