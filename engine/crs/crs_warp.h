/*
 * crs_warp.h - what a step of a warp is made of, whether its lanes have pcs of their own or not. For
 * crs.c and thread_pc.c.
 */
#ifndef ENGINE_CRS_WARP_H
#define ENGINE_CRS_WARP_H

#include "engine/crs/crs_cluster.h"

#define CRS_FLOW(variant)                                                                          \
    enum rule crs_flow_##variant(struct crs_unit *u, const struct crs_actions *actions,            \
                                 struct choices *choices)
CRS_FLOW(0);
CRS_FLOW(1);
CRS_FLOW(2);
CRS_FLOW(3);

struct crs_step {
    struct machine *m;
    uint32_t warp;
    struct crs_view v;
    const struct ptx_code *code;
    struct choices *choices;
    struct step_event event;
    bool at_barrier;      /* a barrier instruction was executed */
    uint32_t targets[64]; /* of the lanes that branch or call */
};

STEP_INLINE uint32_t crs_thread(const struct crs_step *x, lane_mask lanes)
{
    return x->v.lanes->first_thread + (lanes ? (uint32_t)__builtin_ctzll(lanes) : 0);
}

/* InstrEnv(pc) ≠ ⊥; otherwise the execution is stuck. */
STEP_INLINE bool crs_instruction(struct crs_step *x, uint32_t pc)
{
    if (__builtin_expect(pc - 1 < x->code->count - 1, 1))
        return true;
    x->event.stm = CODE_NONE;
    ptx_stuck(x->m, crs_thread(x, x->v.state->active), CODE_NONE,
              "the program counter is at no instruction");
    return false;
}

/* pc_i of a bra or call. False: fault. x->event.targets: for observers of steps; of a fault, not all lanes
 * have one. */
STEP_INLINE bool crs_find_targets(struct crs_step *x, uint32_t pc, lane_mask X)
{
    bool found = ptx_targets(x->m, x->v.lanes, pc, X, x->targets);
    x->event.targets = found ? x->targets : NULL;
    return found;
}

/* The branch unit takes the actions; ⊥ ends the execution. */
STEP_INLINE enum rule crs_branch(struct crs_step *x, uint32_t pc, const struct crs_actions *actions)
{
    const struct program *program = x->m->program;
    struct crs_unit u = {.machine = x->m,
                         .s = x->v.state,
                         .tokens = x->v.tokens,
                         .capacity = x->code->token_capacity,
                         .switches = x->m->options.crs_switches,
                         .W = crs_all_lanes(program)};
    enum rule rule = STEP_NAME(crs_flow)(&u, actions, x->choices);
    if (u.bottom)
        ptx_stuck(x->m, crs_thread(x, actions->X), pc, u.bottom);
    if (u.overflow) {
        x->m->fault_text = "more tokens on the stack of a warp than are kept";
        machine_fault(x->m, STATUS_CALL_DEPTH, crs_thread(x, actions->X), pc);
    }
    return rule;
}

/*  CRS.kappa   (ERR.33) the lanes that call_target does not choose keep θ: they call again. So a frame
 *  is pushed for those that enter the callee, all with the target pc' of the warp.
 *
 *  `caller`: those whose call stands at pc. With the switch KAPPA, as printed, THR.call pushes one for
 *  every lane that executes the call, each with its own target.
 */
STEP_INLINE void crs_enter(struct crs_step *x, uint32_t pc, lane_mask caller, lane_mask X)
{
    struct crs_state *s = x->v.state;
    lane_mask enter = caller & s->active, again = X & ~s->active;
    if (x->m->head->status != STATUS_RUNNING)
        return;
    bool ok = !enter || ptx_call(x->m, x->v.lanes, pc, enter, s->pc);
    if (__builtin_expect(x->m->options.crs_switches >> CRS_SWITCH_KAPPA & 1, 0))
        while (ok && again) {
            uint32_t target = x->targets[__builtin_ctzll(again)];
            lane_mask set = crs_taken(again, x->targets, target);
            ok = ptx_call(x->m, x->v.lanes, pc, set, target);
            again &= ~set;
        }
}

/*  THR.ret     κ = ν :: κ'  becomes κ'. The last frame, the kernel's, stays: nothing looks at it before
 *  the lane waits for a call token that was there at the start, or for ever (CRS.c7).
 */
STEP_INLINE void crs_drop_frames(struct crs_step *x, lane_mask X)
{
    lane_mask has = 0;
    for (lane_mask rest = X; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        has |= (lane_mask)(x->v.lanes->lane[lane].depth > 0) << lane;
    }
    if (has)
        ptx_return(x->m, x->v.lanes, has, NULL);
}

/* WRP.mem: what computes, or accesses memory. */
STEP_INLINE enum rule wrp_mem(struct crs_step *x, uint32_t pc, lane_mask X)
{
    x->m->hits[RULE_WRP_MEM]++;
    return ptx_execute(x->m, x->v.lanes, pc, X, x->v.state->exited, x->choices);
}

/* WRP.comm: votes, shuffles and their like; barriers. */
STEP_INLINE enum rule wrp_comm(struct crs_step *x, uint32_t pc, lane_mask X)
{
    enum ptx_exec exec = (enum ptx_exec)x->code->ops[pc].exec;
    x->m->hits[RULE_WRP_COMM]++;
    if (exec != PTX_EXEC_CLUSTER && (exec < PTX_EXEC_BAR_SYNC || exec > PTX_EXEC_BAR_RED))
        return ptx_execute(x->m, x->v.lanes, pc, X, x->v.state->exited, x->choices);
    x->at_barrier = true;
    if (x->code->has_async)
        ptx_async_touch(x->m, x->v.lanes, X);
    return exec == PTX_EXEC_CLUSTER ? crs_cluster_step(x->m, x->warp, pc, X)
                                    : crs_barrier_step(x->m, x->warp, pc, X);
}

/* Whatever does not go to the branch unit, of `X` at pc. */
STEP_INLINE enum rule crs_other(struct crs_step *x, uint32_t pc, lane_mask X)
{
    switch ((unsigned)x->code->ops[pc].exec) {
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
    case PTX_EXEC_VOTE:
    case PTX_EXEC_ACTIVEMASK:
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_BAR_WARP:
    case PTX_EXEC_CLUSTER:
    case PTX_EXEC_MMA:
        return wrp_comm(x, pc, X);
    case PTX_EXEC_NOP:
    case PTX_EXEC_MEMBAR: /* no action */
        x->m->hits[RULE_WRP_BRA]++;
        return ptx_execute(x->m, x->v.lanes, pc, X, x->v.state->exited, x->choices);
    default:
        return wrp_mem(x, pc, X);
    }
}

/* trap [EXT]: the execution ends with assert_fails. */
STEP_INLINE enum rule crs_trap(struct crs_step *x, uint32_t pc, lane_mask X)
{
    ptx_assert_text(x->m, x->v.lanes, pc, X);
    machine_fault(x->m, STATUS_ASSERT_FAILS, crs_thread(x, X), pc);
    return RULE_CRS_TRAP;
}

/* Makes *x; its targets are left as they are. */
STEP_INLINE void crs_begin(struct crs_step *x, struct machine *machine, uint32_t warp,
                           struct choices *choices, bool has_pcs)
{
    x->m = machine;
    x->warp = warp;
    x->v = crs_view_at(machine, warp, has_pcs);
    x->code = machine->program->ptx;
    x->choices = choices;
    x->at_barrier = false;
    x->event = (struct step_event){.actor = warp, .active = x->v.state->active};
}

/* The end of every step: counts, reports, retires a completed warp, lets barriers end. */
STEP_INLINE enum rule crs_end(struct crs_step *x, enum rule rule)
{
    struct machine *machine = x->m;
    bool completed = x->v.state->completed;
    x->event.rule = rule;
    if (x->code->has_async && x->event.stm != CODE_NONE &&
        x->code->ops[x->event.stm].exec == PTX_EXEC_EXIT)
        ptx_async_touch(machine, x->v.lanes, x->event.truth);
    machine->hits[rule]++;
    machine->steps++;
    if (__builtin_expect(completed, 0)) {
        machine_retire(machine, x->warp);
        if (x->code->barriers)
            crs_barrier_retire(machine, x->warp);
    }
    if (is_observed(x->m))
        observe_step(machine, &x->event);
    if (x->code->barriers &&
        (completed || x->at_barrier || machine->options.block_options & BLOCK_LATE))
        crs_barrier_settle(machine, x->warp, x->choices);
    return rule;
}

#endif
