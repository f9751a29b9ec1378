/*
 * crs.c - →Ω of the report (5.4.3): a warp executes one instruction for its active lanes.
 *
 * Every lane performs →Θe with (pc, α): the executing ones, X, are the active ones whose guard holds.
 * All lanes produce the same kind of action, so exactly one of the rules applies:
 *
 *  bra     <θ_i | pc, α> --tact_flow,i--> θ_i'      ς --⋃ tact_flow,i--> CRS <state', ς'>
 *          -----------------------------------------------------------------------------
 *          <ω ▷ ς, θ_i>  ==>  <ω ◁ state', ς', θ_i'>         also when nobody has an action
 *
 *  comm    <θ_i | pc, α> --tact_comm,i--> θ_i'      (barids, wact) = comm(InstrEnv(pc), ⋃ tact_comm,i)
 *          -----------------------------------------------------------------------------------------
 *          <ω ▷ ς, θ_i>  --wact-->  <ω ◁ ς ◁ pc+1, barids, θ_i'>
 *
 *  mem     <θ_i | pc, α> --tact_mem,i--> θ_i'       some tact_mem,i
 *          --------------------------------------------------------
 *          <ω ▷ ς, θ_i>  --⋃ tact_mem,i-->  <ω ◁ ς ◁ pc+1, θ_i'>
 *
 * They are counted beside the rule that names what happened (of →CRS, →Θ, →B).
 */
#include "engine/crs/crs_warp.h"

/*  next
 *      no actions
 *      -----------------------------
 *      ς ▷ pc  ==>  active, ς ◁ pc+1
 */
STEP_INLINE enum rule crs_next(struct crs_step *x)
{
    put(x->m, &x->v.state->pc, x->v.state->pc + 1);
    x->m->hits[RULE_WRP_BRA]++;
    return RULE_CRS_NEXT;
}

STEP_INLINE enum rule wrp_bra(struct crs_step *x, uint32_t pc, lane_mask X)
{
    const struct ptx_op *op = &x->code->ops[pc];
    struct crs_actions actions = {.kind = (enum ptx_exec)op->exec, .X = X, .address = op->target};
    x->m->hits[RULE_WRP_BRA]++;
    if (op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_CALL) {
        bool seen = is_observed(x->m) && x->m->sees_steps;
        if ((op->target == 0 || seen) && !crs_find_targets(x, pc, X))
            return RULE_NONE;
        actions.targets = op->target == 0 ? x->targets : NULL;
    }
    if (op->exec == PTX_EXEC_TRAP)
        return crs_trap(x, pc, X);
    if (op->exec == PTX_EXEC_RET)
        crs_drop_frames(x, X);
    enum rule rule = crs_branch(x, pc, &actions);
    if (op->exec == PTX_EXEC_CALL)
        crs_enter(x, pc, x->event.active, X);
    return rule;
}

STEP_INLINE enum rule select_rule(struct crs_step *x)
{
    struct crs_state *s = x->v.state;
    uint32_t pc = s->pc;
    x->event.stm = pc;
    if (!crs_instruction(x, pc))
        return RULE_NONE;
    const struct ptx_op *op = &x->code->ops[pc];
    lane_mask X = s->active;
    if (op->guard.kind != PTX_PLACE_NONE)
        X = ptx_guard(x->m, x->v.lanes, pc, X);
    x->event.truth = X;
    if (!ptx_enter(x->m, x->v.lanes, pc, X))
        return RULE_NONE;
    if (X == 0)
        return crs_next(x);
    if (ptx_is_flow((enum ptx_exec)op->exec))
        return wrp_bra(x, pc, X);
    put(x->m, &s->pc, pc + 1);
    return crs_other(x, pc, X);
}

enum rule STEP_NAME(crs_step)(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct crs_step x;
    crs_begin(&x, machine, warp, choices, false);
    return crs_end(&x, select_rule(&x));
}
