/*
 * convergence.c - the rules of a split of a warp, with convergence barriers (convergence.h).
 *
 * In the rules: W is the split's stack, topmost entry last; Theta its lanes, never empty; A = act(Theta, e) the lanes
 * whose guard holds; t_M a convergence barrier that the lanes of M have entered together. A rule rewrites one split
 * into one, two or none; the other splits of the warp are unchanged. A split without lanes does not exist. Statements
 * without control flow are those of Table 2 (engine/warps/simt_memory.h), for the lanes of the split.
 */
#include "engine/convergence/convergence_internal.h"
#include "engine/machine/barrier.h"

/* ---- splits ---- */

/* The split of these lanes, which leave `x`, with a stack equal to that of `x`. The leader of `x` is not among them.
 * Trips of loops (beta) are not needed: at a barrier of the block all lanes are in the split of lane 0, which is never
 * new. */
STEP_INLINE struct warp_step split_off(struct warp_step *x, lane_mask lanes)
{
    uint32_t leader = x->w->first_thread + lowest_lane(lanes);
    struct warp_step y = led_by(x->m, leader);
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        put(x->m, &lane_of(x->m, x->w->first_thread + lowest_lane(rest))->leader, leader);
    for (uint32_t i = 0; i < x->w->depth; i++)
        push(&y, x->stack[i], x->masks[i]);
    put(x->m, &y.w->calls, x->w->calls);
    set_theta(&y, lanes);
    set_theta(x, x->w->theta & ~lanes);
    machine_relive(x->m, leader);
    return y;
}

/* The lanes of A and the others go different ways: `yes` and `no` are the splits of each, NULL where there are none. */
struct parting_ways {
    struct warp_step other;
    struct warp_step *yes, *no;
};

STEP_INLINE void part(struct warp_step *x, lane_mask A, struct parting_ways *ways)
{
    lane_mask theta = x->w->theta;
    bool leader_in = A >> lowest_lane(theta) & 1;
    ways->yes = leader_in ? x : NULL;
    ways->no = leader_in ? NULL : x;
    if (A == 0 || A == theta)
        return;
    ways->other = split_off(x, leader_in ? theta & ~A : A);
    *(leader_in ? &ways->no : &ways->yes) = &ways->other;
}

/* [S] W becomes W, down to the first entry of this kind: barriers above it are left (BREAK). */
STEP_INLINE void leave_to(struct warp_step *x, enum entry_kind kind)
{
    while (entry_kind(x->stack[x->w->depth - 1]) != kind) {
        pop(x);
        INVARIANT(x->w->depth > 0);
    }
}

/* The lanes of the split are final. */
STEP_INLINE void finish(struct warp_step *x)
{
    uint32_t leader = leader_of(x);
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t thread = x->w->first_thread + lowest_lane(rest);
        if (thread != leader)
            machine_relive(x->m, thread);
        machine_retire(x->m, thread);
    }
}

/* ---- rules ---- */

/*  skip^c
 *      ; W, Theta  ==>  W, Theta
 */
STEP_INLINE enum rule conv_skip(struct warp_step *x)
{
    advance(x);
    return RULE_CONV_SKIP;
}

/*  if^c          BSSY; the paths are splits, and none of them is first
 *      if (e) S1 else S2 W, Theta  ==>  S1 sync_Theta W, A   |   S2 sync_Theta W, Theta \ A
 */
STEP_INLINE enum rule conv_if(struct warp_step *x, lane_mask A)
{
    struct parting_ways ways;
    advance(x);
    push(x, entry_make(ENTRY_SYNC, 0), x->w->theta);
    part(x, A, &ways);
    if (ways.yes)
        push(ways.yes, entry_make(ENTRY_STM, x->s->first), 0);
    if (ways.no)
        push(ways.no, entry_make(ENTRY_STM, x->s->second), 0);
    return RULE_CONV_IF;
}

/*  while^c       BSSY; who does not enter goes to the barrier
 *      while (e) S W, Theta  ==>  S while^o (e) S brk_Theta W, A   |   brk_Theta W, Theta \ A
 */
STEP_INLINE enum rule conv_while(struct warp_step *x, lane_mask A)
{
    struct parting_ways ways;
    advance(x);
    push(x, entry_make(ENTRY_BRK, 0), x->w->theta);
    part(x, A, &ways);
    if (ways.yes) {
        push(ways.yes, entry_make(ENTRY_CONT, x->number), 0);
        push(ways.yes, entry_make(ENTRY_STM, x->s->first), 0);
    }
    return RULE_CONV_WHILE;
}

/*  while^o^c     the paper's underlined while: no new barrier
 *      while^o (e) S W, Theta  ==>  S while^o (e) S W, A   |   W, Theta \ A
 */
STEP_INLINE enum rule conv_while_cont(struct warp_step *x, lane_mask A)
{
    struct parting_ways ways;
    if (x->s->counts)
        put(x->m, &x->beta[x->w->depth - 1], x->beta[x->w->depth - 1] + 1);
    part(x, A, &ways);
    if (ways.yes)
        push(ways.yes, entry_make(ENTRY_STM, x->s->first), 0);
    if (ways.no)
        pop(ways.no);
    return RULE_CONV_WHILE_CONT;
}

/*  break^c       V: statements and syncs, no brk. The lanes leave the barriers of V (BREAK)
 *      break; V brk_M W, Theta  ==>  brk_M W, Theta
 */
STEP_INLINE enum rule conv_break(struct warp_step *x)
{
    leave_to(x, ENTRY_BRK);
    return RULE_CONV_BREAK;
}

/*  call^c
 *      f(); W, Theta  ==>  phi(f) call_Theta W, Theta             each lane with a fresh frame for f [EXT]
 */
STEP_INLINE enum rule conv_call(struct warp_step *x)
{
    uint32_t caller = x->s->function, callee = x->s->first;
    if (x->w->calls == LIMIT_CALL_DEPTH) {
        lane_fault(x, STATUS_CALL_DEPTH, lowest_lane(x->w->theta));
        return RULE_CONV_CALL;
    }
    advance(x);
    push(x, entry_call(caller, callee), x->w->theta);
    if (x->s->counts)
        put(x->m, &x->beta[x->w->depth - 1], x->number + 1);
    put(x->m, &x->w->calls, x->w->calls + 1);
    push(x, entry_make(ENTRY_STM, x->m->program->functions[callee].body), 0);
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1)
        frame_push(x->m, x->w->first_thread + lowest_lane(rest), caller, callee);
    return RULE_CONV_CALL;
}

/*  return^c      V contains no call. The lanes leave the barriers of V
 *      return; V call_M W, Theta  ==>  call_M W, Theta
 */
STEP_INLINE enum rule conv_return(struct warp_step *x)
{
    leave_to(x, ENTRY_CALL);
    return RULE_CONV_RETURN;
}

/*  arrive^c      W not empty                                      BSYNC
 *      t_M W, Theta  ==>  t_M W, Theta     and the split waits: no rule applies to it but join^c
 */
STEP_INLINE enum rule conv_arrive(struct warp_step *x)
{
    put(x->m, &lane_of(x->m, leader_of(x))->waits, 1);
    machine_unlive(x->m, leader_of(x));
    return RULE_CONV_ARRIVE;
}

/*  end^c         the end of the kernel is no place to meet: a lane that is there has finished its text
 *      call_M, Theta  ==>  eps
 */
STEP_INLINE enum rule conv_end(struct warp_step *x)
{
    pop(x);
    finish(x);
    return RULE_CONV_END;
}

/*  exit^c [EXT]  the lanes leave all barriers
 *      exit; W, Theta  ==>  eps
 */
STEP_INLINE enum rule conv_exit(struct warp_step *x)
{
    while (x->w->depth > 0)
        pop(x);
    finish(x);
    return RULE_CONV_EXIT;
}

/*  assert^c [EXT]    A = Theta
 *      assert(e); W, Theta  ==>  W, Theta          otherwise the execution ends: assert_fails
 */
STEP_INLINE enum rule conv_assert(struct warp_step *x, lane_mask A)
{
    if (A == x->w->theta)
        advance(x);
    else
        lane_fault(x, STATUS_ASSERT_FAILS, lowest_lane(x->w->theta & ~A));
    return RULE_CONV_ASSERT;
}

/*  assume^c [EXT]    A = Theta
 *      assume(e); W, Theta  ==>  W, Theta          otherwise the execution ends: infeasible
 */
STEP_INLINE enum rule conv_assume(struct warp_step *x, lane_mask A)
{
    if (A == x->w->theta)
        advance(x);
    else
        lane_fault(x, STATUS_INFEASIBLE, lowest_lane(x->w->theta & ~A));
    return RULE_CONV_ASSUME;
}

/*  barrier_reach^c [EXT]     Theta: all lanes of the warp
 *      barrier W, Theta  ==>  barrier W, Theta     and they wait until their block is released (barrier_S)
 */
STEP_INLINE enum rule conv_barrier_reach(struct warp_step *x)
{
    uint32_t leader = leader_of(x);
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t thread = x->w->first_thread + lowest_lane(rest);
        if (thread != leader)
            machine_relive(x->m, thread);
        barrier_wait(x->m, thread);
    }
    return RULE_CONV_BARRIER_REACH;
}

/*  barrier_div^c [EXT]       Theta: not all lanes of the warp
 *      barrier W, Theta  ==>  E                    barrier_divergence
 */
STEP_INLINE enum rule conv_barrier_div(struct warp_step *x)
{
    lane_fault(x, STATUS_BARRIER_DIVERGENCE, lowest_lane(x->w->theta));
    return RULE_CONV_BARRIER_DIV;
}

/* ---- the convergence barrier ---- */

/* Whether each lane that entered the barrier, the one on top of `x`, waits at it or has left it: is below it, or
 * final. */
STEP_INLINE bool is_complete(const struct warp_step *x)
{
    for (lane_mask rest = x->masks[x->w->depth - 1]; rest; rest &= rest - 1) {
        uint32_t thread = x->w->first_thread + lowest_lane(rest), depth;
        depth = head_of(x->m, thread)->depth;
        if (depth > x->w->depth)
            return false;
        if (depth == x->w->depth && !lane_of(x->m, lane_of(x->m, thread)->leader)->waits)
            return false;
    }
    return true;
}

/* A split ends: its lanes are in that of `leader`. */
STEP_INLINE void merge_into(struct machine *m, uint32_t thread, uint32_t leader)
{
    struct warp_step y = led_by(m, thread);
    while (y.w->depth > 0)
        pop(&y);
    put(m, &y.w->calls, 0);
    set_theta(&y, 0);
    put(m, &lane_of(m, thread)->waits, 0);
    put(m, &lane_of(m, thread)->leader, leader);
}

/* The splits that wait at the barrier on top of `x` become one, that of their lowest lane, which `x` is. */
STEP_INLINE void gather(struct warp_step *x)
{
    lane_mask together = 0;
    uint32_t leader = leader_of(x), depth = x->w->depth;
    for (lane_mask rest = x->masks[depth - 1]; rest; rest &= rest - 1) {
        uint32_t thread = x->w->first_thread + lowest_lane(rest);
        if (head_of(x->m, thread)->depth == depth)
            together |= (lane_mask)1 << lowest_lane(rest);
    }
    for (lane_mask rest = together; rest; rest &= rest - 1) {
        uint32_t thread = x->w->first_thread + lowest_lane(rest);
        if (thread != leader && lane_of(x->m, thread)->leader == thread)
            merge_into(x->m, thread, leader);
        else
            put(x->m, &lane_of(x->m, thread)->leader, leader);
    }
    set_theta(x, together);
}

/*  join^c        every lane of M is in a Theta_i, or has left t_M by break, return or exit
 *      t_M W, Theta_1   |  ..  |   t_M W, Theta_n    ==>    W, Theta_1 + .. + Theta_n
 */
STEP_INLINE void conv_join(struct warp_step *x)
{
    gather(x);
    uint32_t leader = leader_of(x);
    stack_entry barrier = x->stack[x->w->depth - 1];
    put(x->m, &lane_of(x->m, leader)->waits, 0);
    pop(x);
    if (entry_kind(barrier) == ENTRY_CALL) {
        put(x->m, &x->w->calls, x->w->calls - 1);
        for (lane_mask rest = x->w->theta; rest; rest &= rest - 1)
            frame_pop(x->m, x->w->first_thread + lowest_lane(rest), entry_caller(barrier),
                      entry_callee(barrier));
    }
    machine_relive(x->m, leader);
}

/* After a split has arrived at a barrier, or left some: the barriers of its warp that now have everybody. */
STEP_INLINE void settle(struct machine *m, uint32_t first, uint32_t lanes)
{
    for (uint32_t thread = first; thread < first + lanes; thread++) {
        struct warp_step x = led_by(m, thread);
        if (lane_of(m, thread)->leader != thread || !lane_of(m, thread)->waits || !is_complete(&x))
            continue;
        conv_join(&x);
        m->hits[RULE_CONV_JOIN]++;
        struct step_event event = {.rule = RULE_CONV_JOIN, .actor = thread, .stm = CODE_NONE};
        event.active = x.w->theta;
        if (is_observed(m))
            observe_step(m, &event);
    }
}

/* ---- which rule applies ---- */

STEP_INLINE enum rule step_guarded(struct warp_step *x, enum rule if_fault,
                                   struct step_event *event)
{
    if (!act(x, &event->truth))
        return if_fault;
    if (if_fault == RULE_CONV_IF)
        return conv_if(x, event->truth);
    if (if_fault == RULE_CONV_WHILE)
        return conv_while(x, event->truth);
    if (if_fault == RULE_CONV_WHILE_CONT)
        return conv_while_cont(x, event->truth);
    if (if_fault == RULE_CONV_ASSERT)
        return conv_assert(x, event->truth);
    if (if_fault == RULE_CONV_ASSUME)
        return conv_assume(x, event->truth);
    simt_vote(x, event->truth);
    return RULE_CONV_VOTE;
}

STEP_INLINE enum rule step_memory(struct warp_step *x)
{
    if (x->s->kind == CODE_ASSIGN) {
        simt_assign(x);
        return RULE_CONV_ASSIGN;
    }
    if (x->s->kind == CODE_HAVOC) {
        simt_havoc(x);
        return RULE_CONV_HAVOC;
    }
    simt_atomic(x);
    return RULE_CONV_ATOMIC;
}

STEP_INLINE enum rule step_statement(struct warp_step *x, struct step_event *event)
{
    switch (x->s->kind) {
    case CODE_SKIP:
        return conv_skip(x);
    case CODE_ASSIGN:
    case CODE_HAVOC:
    case CODE_ATOMIC:
        return step_memory(x);
    case CODE_IF:
        return step_guarded(x, RULE_CONV_IF, event);
    case CODE_WHILE:
        return step_guarded(x, RULE_CONV_WHILE, event);
    case CODE_BREAK:
        return conv_break(x);
    case CODE_CALL:
        return conv_call(x);
    case CODE_RETURN:
        return conv_return(x);
    case CODE_EXIT:
        return conv_exit(x);
    case CODE_ASSERT:
        return step_guarded(x, RULE_CONV_ASSERT, event);
    case CODE_ASSUME:
        return step_guarded(x, RULE_CONV_ASSUME, event);
    case CODE_VOTE:
        return step_guarded(x, RULE_CONV_VOTE, event);
    case CODE_BARRIER:
        return x->w->theta == all_lanes(x->w) ? conv_barrier_reach(x) : conv_barrier_div(x);
    case CODE_GOTO:
    case CODE_END_CALL:
    case CODE_PICK:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    return RULE_NONE;
}

STEP_INLINE enum rule select_rule(struct warp_step *x, struct step_event *event)
{
    stack_entry top = x->stack[x->w->depth - 1];
    if (entry_kind(top) > ENTRY_CONT)
        return x->w->depth == 1 ? conv_end(x) : conv_arrive(x);
    x->number = event->stm = entry_number(top);
    x->s = &x->m->program->stms[x->number];
    return entry_kind(top) == ENTRY_STM ? step_statement(x, event)
                                        : step_guarded(x, RULE_CONV_WHILE_CONT, event);
}

/* Released lanes are all live (barrier.h): of each split the leader is to be. */
static void quiet_followers(struct machine *m, const struct machine_group *group)
{
    if (m->head->status != STATUS_RUNNING || group->live < group->count)
        return;
    for (uint32_t thread = group->first; thread < group->first + group->count; thread++)
        if (lane_of(m, thread)->leader != thread)
            machine_unlive(m, thread);
}

enum rule STEP_NAME(convergence_step)(struct machine *machine, uint32_t thread,
                                      struct choices *choices)
{
    struct warp_step x = led_by(machine, thread);
    x.choices = choices;
    struct step_event event = {.actor = thread, .stm = CODE_NONE, .active = x.w->theta};
    event.rule = select_rule(&x, &event);
    machine->hits[event.rule]++;
    machine->steps++;
    if (is_observed(machine))
        observe_step(machine, &event);
    if (event.rule == RULE_CONV_ARRIVE || event.rule == RULE_CONV_BREAK ||
        event.rule == RULE_CONV_RETURN || event.rule == RULE_CONV_EXIT)
        settle(machine, x.w->first_thread, x.w->lanes);
    if (event.rule == RULE_CONV_ARRIVE || event.rule == RULE_CONV_BARRIER_REACH || x.w->depth == 0)
        barrier_settle(machine, thread);
    if (event.rule == RULE_CONV_BARRIER_REACH)
        quiet_followers(machine, machine_group_of(machine, thread));
    return event.rule;
}
