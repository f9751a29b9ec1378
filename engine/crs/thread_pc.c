/*
 * thread_pc.c - →Θpc and →Ωϑ of the report (6.3.1, 6.3.2): warps whose threads ϑ = (pc, θ) have a program
 * counter of their own, at which they execute. On a control-flow consistent program it is the warp's as
 * long as the lane is active (act-cons); oracle `safety` compares them.
 *
 * Active lanes at different addresses execute different instructions in one step: memory actions all
 * happen, one address after another; flow actions go to the branch unit if they are of one kind, as it
 * asks. Of everything else no rule speaks: stuck.
 */
#include "engine/crs/crs_warp.h"

/* Active lanes with the same pc. */
struct group {
    uint32_t pc;
    lane_mask lanes, X;
};

struct pc_step {
    struct crs_step x;
    struct group groups[64]; /* ascending by pc */
    uint32_t count;
    lane_mask X;  /* of all groups */
    uint32_t who; /* the first group with an action; count: none */
};

STEP_INLINE void set_pcs(struct crs_step *x, lane_mask lanes, uint32_t pc)
{
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        put(x->m, &x->v.pcs[__builtin_ctzll(rest)], pc);
}

static void find_groups(struct pc_step *p)
{
    const struct crs_view *v = &p->x.v;
    lane_mask rest = v->state->active;
    p->count = 0;
    if (rest == 0)
        p->groups[p->count++] = (struct group){.pc = v->state->pc};
    while (rest) {
        uint32_t pc = v->pcs[__builtin_ctzll(rest)], at = p->count++;
        lane_mask same = crs_taken(rest, v->pcs, pc);
        for (; at > 0 && p->groups[at - 1].pc > pc; at--)
            p->groups[at] = p->groups[at - 1];
        p->groups[at] = (struct group){.pc = pc, .lanes = same};
        rest &= ~same;
    }
}

/* Who executes: false: stuck. */
STEP_INLINE bool find_actions(struct pc_step *p)
{
    struct crs_step *x = &p->x;
    p->X = 0;
    p->who = p->count;
    for (uint32_t i = p->count; i-- > 0;) {
        struct group *g = &p->groups[i];
        if (!crs_instruction(x, g->pc))
            return false;
        g->X = ptx_guard(x->m, x->v.lanes, g->pc, g->lanes);
        if (!ptx_enter(x->m, x->v.lanes, g->pc, g->X))
            return false;
        if (g->X)
            p->who = i;
        p->X |= g->X;
    }
    x->event.stm = p->groups[0].pc;
    x->event.truth = p->X;
    return true;
}

static bool is_mem(enum ptx_exec exec)
{
    return exec <= PTX_EXEC_ATOM;
}

/* All groups with an action have one that a single rule of →Ωϑ takes together with `first`. */
static bool one_rule(const struct pc_step *p, const struct ptx_op *first)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct ptx_op *op = &p->x.code->ops[p->groups[i].pc];
        if (p->groups[i].X == 0 || op == first)
            continue;
        bool mem = is_mem((enum ptx_exec)op->exec) && is_mem((enum ptx_exec)first->exec);
        bool flow = op->exec == first->exec && ptx_is_flow((enum ptx_exec)op->exec);
        bool named = op->exec >= PTX_EXEC_SSY; /* by an address of the instruction */
        if (!mem && !(flow && (!named || op->target == first->target)))
            return false;
    }
    return true;
}

/*  branch_Θ(pc, τ, tact): where a lane that executes goes next, τ the warp's stack before the step
 *
 *      none, comm, mem, ssy, preRet, preBrk, sync    pc+1
 *      break                                         topmost(τ, break).pc
 *      return                                        topmost(τ, call).pc
 *      exit                                          ε
 *      bra wl pc', call wl pc'                       pc'
 */
STEP_INLINE bool branch(struct crs_step *x, const struct group *g)
{
    const struct ptx_op *op = &x->code->ops[g->pc];
    const struct crs_token *t;
    switch ((unsigned)op->exec) {
    case PTX_EXEC_BREAK:
    case PTX_EXEC_RET:
        t = crs_topmost(x->v.state, x->v.tokens, op->exec == PTX_EXEC_RET ? CRS_CALL : CRS_BREAK);
        if (!t)
            return false;
        set_pcs(x, g->X, t->pc);
        return true;
    case PTX_EXEC_EXIT:
        set_pcs(x, g->X, 0);
        return true;
    case PTX_EXEC_BRA:
    case PTX_EXEC_CALL:
        for (lane_mask rest = g->X; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctzll(rest);
            put(x->m, &x->v.pcs[lane], x->targets[lane]);
        }
        return true;
    default:
        set_pcs(x, g->X, g->pc + 1);
        return true;
    }
}

/*  exec_tt     α(wl) = active and the guard holds
 *      <pc, θ>  --tact-->  <branch_Θ(pc, τ, tact), θ'>      where θ --tact--> θ' by →Θ
 *
 *  exec_ff1    α(wl) = active and the guard does not hold
 *      <pc, θ>  ==>  <pc+1, θ>
 *
 *  exec_ff2    α(wl) ≠ active
 *      ϑ  ==>  ϑ
 */
STEP_INLINE bool chk_step(struct pc_step *p)
{
    struct crs_step *x = &p->x;
    lane_mask others = ptx_all(x->v.lanes) & ~x->v.state->active;
    x->m->hits[RULE_CHK_EXEC_TT] += p->X != 0;
    x->m->hits[RULE_CHK_EXEC_FF1] += (x->v.state->active & ~p->X) != 0;
    x->m->hits[RULE_CHK_EXEC_FF2] += others != 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct group *g = &p->groups[i];
        if (g->X && !branch(x, g)) {
            ptx_stuck(x->m, crs_thread(x, g->X), g->pc,
                      "a lane leaves a loop or a function, and there is no token of one");
            return false;
        }
        set_pcs(x, g->lanes & ~g->X, g->pc + 1);
    }
    return true;
}

/*  reset(ϑ, bra wl_1 pc_1 .. wl_n pc_n, pc, α, α')      pc_i ≠ pc_j for some i, j; the same for call
 *      ϑ_i' = ϑ_i ◁ pc     if α(wl) = active and α'(wl) = inactive        pc: the warp's, before the step
 *             ϑ_i          otherwise
 */
STEP_INLINE void chk_reset(struct crs_step *x, lane_mask X, uint32_t pc)
{
    if (crs_taken(X, x->targets, x->targets[__builtin_ctzll(X)]) == X)
        return;
    set_pcs(x, x->event.active & ~x->v.state->active, pc);
    x->m->hits[RULE_CHK_RESET]++;
}

/* Not with crs_switches.def's no-reset. */
static bool resets(const struct crs_step *x)
{
    return !(x->m->options.crs_switches >> CRS_SWITCH_NO_RESET & 1);
}

/* WRP.bra with reset. */
STEP_INLINE enum rule wrp_bra(struct pc_step *p, const struct ptx_op *op)
{
    struct crs_step *x = &p->x;
    struct crs_actions actions = {
        .kind = (enum ptx_exec)op->exec, .X = p->X, .address = op->target, .targets = x->targets};
    bool branches = op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_CALL;
    uint32_t pc = x->v.state->pc;
    x->m->hits[RULE_WRP_BRA]++;
    if (op->exec == PTX_EXEC_TRAP)
        return crs_trap(x, p->groups[p->who].pc, p->X);
    for (uint32_t i = 0; branches && i < p->count; i++)
        if (p->groups[i].X && !crs_find_targets(x, p->groups[i].pc, p->groups[i].X))
            return RULE_NONE;
    if (!chk_step(p))
        return RULE_NONE;
    if (op->exec == PTX_EXEC_RET)
        crs_drop_frames(x, p->X);
    enum rule rule = crs_branch(x, p->groups[p->who].pc, &actions);
    for (uint32_t i = 0; op->exec == PTX_EXEC_CALL && i < p->count; i++)
        crs_enter(x, p->groups[i].pc, p->groups[i].lanes, p->groups[i].X);
    if (branches && resets(x))
        chk_reset(x, p->X, pc);
    return rule;
}

STEP_INLINE enum rule select_rule(struct pc_step *p)
{
    struct crs_step *x = &p->x;
    find_groups(p);
    if (!find_actions(p))
        return RULE_NONE;
    if (p->who == p->count) {
        chk_step(p);
        put(x->m, &x->v.state->pc, x->v.state->pc + 1);
        x->m->hits[RULE_WRP_BRA]++;
        return RULE_CRS_NEXT;
    }
    const struct group *first = &p->groups[p->who];
    const struct ptx_op *op = &x->code->ops[first->pc];
    if (p->count > 1 && !one_rule(p, op)) {
        ptx_stuck(x->m, crs_thread(x, first->lanes), first->pc,
                  "active lanes are at instructions that no rule of the warp takes together");
        return RULE_NONE;
    }
    if (ptx_is_flow((enum ptx_exec)op->exec))
        return wrp_bra(p, op);
    chk_step(p);
    put(x->m, &x->v.state->pc, x->v.state->pc + 1);
    enum rule rule = RULE_NONE;
    for (uint32_t i = p->who; i < p->count && x->m->head->status == STATUS_RUNNING; i++)
        if (p->groups[i].X)
            rule = crs_other(x, p->groups[i].pc, p->groups[i].X);
    return rule;
}

enum rule STEP_NAME(thread_pc_step)(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct pc_step p;
    crs_begin(&p.x, machine, warp, choices, true);
    return crs_end(&p.x, select_rule(&p));
}
