/*
 * simt.c - simt-correctness, Table 2: the rules of a warp.
 *
 * In the rules: W is the warp's stack, topmost entry last; Theta the active mask, Theta+ a non-empty
 * one; Delta the disable mask; mu the memory; A = act(Theta, e) the lanes whose guard holds. What a
 * rule does not mention is unchanged.
 */
#include "engine/machine/barrier.h"
#include "engine/warps/simt_memory.h"

/* ---- rules ---- */

/*  skip^w
 *      ; W, Theta+  ==>  W, Theta+
 */
STEP_INLINE void simt_skip(struct warp_step *x)
{
    advance(x);
}

/*  if^w
 *      if (e) S1 else S2 W, Theta+  ==>  S2 div_A S1 sync_Theta+ W, Theta+ \ A
 *
 *  Both tokens always, also when A is empty or everybody (erratum A-1).
 */
STEP_INLINE void simt_if(struct warp_step *x, lane_mask A)
{
    lane_mask theta = x->w->theta;
    advance(x);
    push(x, entry_make(ENTRY_SYNC, 0), theta);
    push(x, entry_make(ENTRY_STM, x->s->first), 0);
    push(x, entry_make(ENTRY_DIV, 0), A);
    push(x, entry_make(ENTRY_STM, x->s->second), 0);
    set_theta(x, theta & ~A);
}

/*  if_then^w [EXT, section 5.1: the if-path first]
 *      if (e) S1 else S2 W, Theta+  ==>  S1 div_(Theta+ \ A) S2 sync_Theta+ W, A
 */
STEP_INLINE void simt_if_then(struct warp_step *x, lane_mask A)
{
    lane_mask theta = x->w->theta;
    advance(x);
    push(x, entry_make(ENTRY_SYNC, 0), theta);
    push(x, entry_make(ENTRY_STM, x->s->second), 0);
    push(x, entry_make(ENTRY_DIV, 0), theta & ~A);
    push(x, entry_make(ENTRY_STM, x->s->first), 0);
    set_theta(x, A);
}

/*  while^w
 *      while (e) S W, Theta+  ==>  S while^o (e) S brk_Theta+ W, A
 */
STEP_INLINE void simt_while(struct warp_step *x, lane_mask A)
{
    advance(x);
    push(x, entry_make(ENTRY_BRK, 0), x->w->theta);
    push(x, entry_make(ENTRY_CONT, x->number), 0);
    push(x, entry_make(ENTRY_STM, x->s->first), 0);
    set_theta(x, A);
}

/*  while^o^w     the paper's underlined while: no new brk token
 *      while^o (e) S W, Theta+  ==>  S while^o (e) S W, A
 */
STEP_INLINE void simt_while_cont(struct warp_step *x, lane_mask A)
{
    uint32_t *trips = &x->beta[x->w->depth - 1];
    if (x->s->counts)
        put(x->m, trips, *trips + 1);
    push(x, entry_make(ENTRY_STM, x->s->first), 0);
    set_theta(x, A);
}

/*  break^w
 *      break; [S] tau W, Theta+, Delta  ==>  tau W, {}, Delta[Theta+ |-> b]
 */
STEP_INLINE void simt_break(struct warp_step *x)
{
    skip_to_token(x);
    put_mask(x->m, &x->w->delta_b, x->w->delta_b | x->w->theta);
    set_theta(x, 0);
}

/*  call^w
 *      f(); W, Theta+  ==>  phi(f) call_Theta+ W, Theta+          each lane of Theta+ with a fresh
 *                                                                 frame for f [EXT]
 */
STEP_INLINE void simt_call(struct warp_step *x)
{
    uint32_t caller = x->s->function, callee = x->s->first;
    lane_mask theta = x->w->theta;
    if (x->w->calls == LIMIT_CALL_DEPTH) {
        lane_fault(x, STATUS_CALL_DEPTH, lowest_lane(theta));
        return;
    }
    advance(x);
    push(x, entry_call(caller, callee), theta);
    if (x->s->counts)
        put(x->m, &x->beta[x->w->depth - 1], x->number + 1);
    put(x->m, &x->w->calls, x->w->calls + 1);
    push(x, entry_make(ENTRY_STM, x->m->program->functions[callee].body), 0);
    for (lane_mask rest = theta; rest; rest &= rest - 1)
        frame_push(x->m, x->w->first_thread + lowest_lane(rest), caller, callee);
}

/*  return^w
 *      return; [S] tau W, Theta+, Delta  ==>  tau W, {}, Delta[Theta+ |-> r]
 */
STEP_INLINE void simt_return(struct warp_step *x)
{
    skip_to_token(x);
    put_mask(x->m, &x->w->delta_r, x->w->delta_r | x->w->theta);
    set_theta(x, 0);
}

/* A popped call token drops the frames of the lanes in its mask. */
STEP_INLINE void drop_frames(struct warp_step *x, stack_entry call, lane_mask mask)
{
    put(x->m, &x->w->calls, x->w->calls - 1);
    if (x->w->calls == 0)
        return; /* the kernel's own */
    for (lane_mask rest = mask; rest; rest &= rest - 1)
        frame_pop(x->m, x->w->first_thread + lowest_lane(rest), entry_caller(call),
                  entry_callee(call));
}

/*  token^w       (Theta2, Delta2) = enable(Delta1, tau)
 *      tau W, Theta1, Delta1  ==>  W, Theta2, Delta2
 *
 *  enable(Delta1, t_Theta) = ({ theta in Theta | Delta2(theta) = 0 }, Delta2)
 *      where Delta2 = Delta1[{ theta in Theta | awaits(Delta1(theta), t) } |-> 0]
 */
STEP_INLINE void simt_token(struct warp_step *x)
{
    struct warp_head *w = x->w;
    stack_entry tau = x->stack[w->depth - 1];
    lane_mask theta = x->masks[w->depth - 1];
    pop(x);
    if (entry_kind(tau) == ENTRY_BRK)
        put_mask(x->m, &w->delta_b, w->delta_b & ~theta);
    if (entry_kind(tau) == ENTRY_CALL) {
        put_mask(x->m, &w->delta_r, w->delta_r & ~theta);
        drop_frames(x, tau, theta);
    }
    set_theta(x, theta & ~(w->delta_b | w->delta_r | w->delta_e));
}

/*  inact^w       S: all statements above the topmost token
 *      S tau W, {}  ==>  tau W, {}
 */
STEP_INLINE void simt_inact(struct warp_step *x)
{
    skip_to_token(x);
}

/*  exit^w [EXT]
 *      exit; [S] tau W, Theta+, Delta  ==>  tau W, {}, Delta[Theta+ |-> e]
 */
STEP_INLINE void simt_exit(struct warp_step *x)
{
    skip_to_token(x);
    put_mask(x->m, &x->w->delta_e, x->w->delta_e | x->w->theta);
    set_theta(x, 0);
}

/*  assert^w [EXT]    A = Theta+
 *      assert(e); W, Theta+  ==>  W, Theta+        otherwise the execution ends: assert_fails
 */
STEP_INLINE void simt_assert(struct warp_step *x, lane_mask A)
{
    if (A == x->w->theta)
        advance(x);
    else
        lane_fault(x, STATUS_ASSERT_FAILS, lowest_lane(x->w->theta & ~A));
}

/*  assume^w [EXT]    A = Theta+
 *      assume(e); W, Theta+  ==>  W, Theta+        otherwise the execution ends: infeasible
 */
STEP_INLINE void simt_assume(struct warp_step *x, lane_mask A)
{
    if (A == x->w->theta)
        advance(x);
    else
        lane_fault(x, STATUS_INFEASIBLE, lowest_lane(x->w->theta & ~A));
}

/*  barrier_reach^w [EXT]     Theta = Theta0, the lanes that the warp started with
 *      barrier W, Theta  ==>  barrier W, Theta     and the warp waits: no rule applies to it until its
 *                                                  block is released (barrier_S)
 */
STEP_INLINE enum rule simt_barrier_reach(struct warp_step *x, uint32_t warp)
{
    barrier_wait(x->m, warp);
    return RULE_SIMT_BARRIER_REACH;
}

/*  barrier_div^w [EXT, LOCK.barrier]     Theta != Theta0: a lane is elsewhere, or has ended
 *      barrier W, Theta+  ==>  E                   barrier_divergence
 */
STEP_INLINE enum rule simt_barrier_div(struct warp_step *x)
{
    lane_fault(x, STATUS_BARRIER_DIVERGENCE, lowest_lane(x->w->theta));
    return RULE_SIMT_BARRIER_DIV;
}

/* ---- which rule applies ---- */

STEP_INLINE enum rule step_statement(struct warp_step *x, struct step_event *event)
{
    switch (x->s->kind) {
    case CODE_SKIP:
        simt_skip(x);
        return RULE_SIMT_SKIP;
    case CODE_ASSIGN:
        simt_assign(x);
        return RULE_SIMT_ASSIGN;
    case CODE_IF:
        if (x->m->options.then_first) {
            if (act(x, &event->truth))
                simt_if_then(x, event->truth);
            return RULE_SIMT_IF_THEN;
        }
        if (act(x, &event->truth))
            simt_if(x, event->truth);
        return RULE_SIMT_IF;
    case CODE_WHILE:
        if (act(x, &event->truth))
            simt_while(x, event->truth);
        return RULE_SIMT_WHILE;
    case CODE_BREAK:
        simt_break(x);
        return RULE_SIMT_BREAK;
    case CODE_CALL:
        simt_call(x);
        return RULE_SIMT_CALL;
    case CODE_RETURN:
        simt_return(x);
        return RULE_SIMT_RETURN;
    case CODE_EXIT:
        simt_exit(x);
        return RULE_SIMT_EXIT;
    case CODE_ASSERT:
        if (act(x, &event->truth))
            simt_assert(x, event->truth);
        return RULE_SIMT_ASSERT;
    case CODE_ASSUME:
        if (act(x, &event->truth))
            simt_assume(x, event->truth);
        return RULE_SIMT_ASSUME;
    case CODE_HAVOC:
        simt_havoc(x);
        return RULE_SIMT_HAVOC;
    case CODE_ATOMIC:
        simt_atomic(x);
        return RULE_SIMT_ATOMIC;
    case CODE_VOTE:
        if (act(x, &event->truth))
            simt_vote(x, event->truth);
        return RULE_SIMT_VOTE;
    case CODE_BARRIER:
        return x->w->theta == all_lanes(x->w) ? simt_barrier_reach(x, event->actor)
                                              : simt_barrier_div(x);
    case CODE_GOTO:
    case CODE_END_CALL:
    case CODE_PICK:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    return RULE_NONE;
}

/* SIMT.det: a token on top fires token^w; a statement with nobody active inact^w; otherwise the
 * statement's rule. */
STEP_INLINE enum rule select_rule(struct warp_step *x, struct step_event *event)
{
    stack_entry top = x->stack[x->w->depth - 1];
    x->number = entry_number(top);
    switch (entry_kind(top)) {
    case ENTRY_DIV:
    case ENTRY_SYNC:
    case ENTRY_BRK:
    case ENTRY_CALL:
        simt_token(x);
        return RULE_SIMT_TOKEN;
    case ENTRY_STM:
    case ENTRY_CONT:
        break;
    }
    if (x->w->theta == 0) {
        simt_inact(x);
        return RULE_SIMT_INACT;
    }
    x->s = &x->m->program->stms[x->number];
    event->stm = x->number;
    if (entry_kind(top) == ENTRY_STM)
        return step_statement(x, event);
    if (act(x, &event->truth))
        simt_while_cont(x, event->truth);
    return RULE_SIMT_WHILE_CONT;
}

enum rule STEP_NAME(simt_step)(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct warp_step x = view(machine, warp);
    x.m = machine;
    x.choices = choices;
    struct step_event event = {.actor = warp, .stm = CODE_NONE, .active = x.w->theta};
    event.rule = select_rule(&x, &event);
    machine->hits[event.rule]++;
    machine->steps++;
    if (x.w->depth == 0)
        machine_retire(machine, warp);
    if (is_observed(machine))
        observe_step(machine, &event);
    if (x.w->depth == 0 || event.rule == RULE_SIMT_BARRIER_REACH)
        barrier_settle(machine, warp);
    return event.rule;
}
