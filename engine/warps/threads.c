/*
 * threads.c - simt-correctness, Table 4: one thread's rules; the interleaving rule is machine_step.
 *
 * In the rules: T is the thread's stack, topmost entry last; s T has a statement slice on top, c T a
 * context; nu and mu are the thread's variables and the memory; v = E[[e]] nu mu.
 */
#include "engine/machine/barrier.h"
#include "engine/warps/threads_internal.h"

/*  skip^t
 *      ; T  ==>  T
 */
STEP_INLINE enum rule thr_skip(struct thread_step *x)
{
    advance(x);
    return RULE_THR_SKIP;
}

/*  assign_rd^t
 *      x = e; T, mu  ==>  (x := v) T, mu
 *
 *  The evaluated form is a constructor of its own (erratum A-2), the address frozen with the value
 *  (SIMT.ext.idx).
 */
STEP_INLINE enum rule thr_assign_rd(struct thread_step *x)
{
    uint32_t address;
    int32_t v;
    if (!eval_place(x->m, x->theta, x->s, x->number, &address) ||
        !eval(x->m, x->theta, x->s->value, x->number, &v)) {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number);
        return RULE_THR_ASSIGN_RD;
    }
    put(x->m, &x->T->pending, 1);
    put(x->m, &x->T->address, address);
    put(x->m, &x->T->value, (uint32_t)v);
    return RULE_THR_ASSIGN_RD;
}

/*  assign_wr^t
 *      (x := v) T, mu  ==>  T, mu[nu(x) |-> v]
 */
STEP_INLINE enum rule thr_assign_wr(struct thread_step *x)
{
    struct thread_state *T = x->T;
    uint32_t address = T->address;
    int32_t v = (int32_t)T->value;
    put_memory(x->m, address, v);
    if (is_observed(x->m) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->theta, address, v, x->number);
    put(x->m, &T->pending, 0);
    put(x->m, &T->address, 0);
    put(x->m, &T->value, 0);
    advance(x);
    return RULE_THR_ASSIGN_WR;
}

/*  if_tt^t       v != 0                              if_ff^t       v = 0
 *      if (e) S1 else S2 T  ==>  S1 T                    if (e) S1 else S2 T  ==>  S2 T
 */
STEP_INLINE enum rule thr_if_tt(struct thread_step *x)
{
    advance(x);
    push(x, entry_make(ENTRY_STM, x->s->first));
    return RULE_THR_IF_TT;
}

STEP_INLINE enum rule thr_if_ff(struct thread_step *x)
{
    advance(x);
    push(x, entry_make(ENTRY_STM, x->s->second));
    return RULE_THR_IF_FF;
}

/*  while_tt^t    v != 0                              while_ff^t    v = 0
 *      while (e) S T  ==>  S while^o (e) S brk T         while (e) S T  ==>  T
 *
 *  while^o is the paper's underlined while, the continuing loop (underline lost in print, A-3).
 */
STEP_INLINE enum rule thr_while_tt(struct thread_step *x)
{
    advance(x);
    push(x, entry_make(ENTRY_BRK, 0));
    push(x, entry_make(ENTRY_CONT, x->number));
    push(x, entry_make(ENTRY_STM, x->s->first));
    return RULE_THR_WHILE_TT;
}

STEP_INLINE enum rule thr_while_ff(struct thread_step *x)
{
    advance(x);
    return RULE_THR_WHILE_FF;
}

/*  while^o_tt^t  v != 0                              while^o_ff^t  v = 0
 *      while^o (e) S T  ==>  S while^o (e) S T           while^o (e) S T  ==>  T
 *
 *  The brk context stays below T's top for context^t: two steps to leave a loop (erratum A-4). One
 *  trip more in beta (CFG.bv.loop).
 */
STEP_INLINE enum rule thr_while_cont_tt(struct thread_step *x)
{
    if (x->s->counts)
        put(x->m, beta_of_top(x), *beta_of_top(x) + 1);
    push(x, entry_make(ENTRY_STM, x->s->first));
    return RULE_THR_WHILE_CONT_TT;
}

STEP_INLINE enum rule thr_while_cont_ff(struct thread_step *x)
{
    pop(x);
    return RULE_THR_WHILE_CONT_FF;
}

/*  break^t       [S] are statements, those above the first brk
 *      break; [S] brk T  ==>  T
 */
STEP_INLINE enum rule thr_break(struct thread_step *x)
{
    enum entry_kind top;
    do {
        top = entry_kind(x->T->stack[x->T->depth - 1]);
        INVARIANT(top != ENTRY_CALL); /* SIMT.syn.prog: break stands in a loop of its function */
        pop(x);
    } while (top != ENTRY_BRK);
    return RULE_THR_BREAK;
}

/*  call^t
 *      f(); T  ==>  phi(f) call T          with a fresh frame for f [EXT]
 */
STEP_INLINE enum rule thr_call(struct thread_step *x)
{
    uint32_t caller = x->s->function, callee = x->s->first;
    if (x->T->calls == LIMIT_CALL_DEPTH) {
        machine_fault(x->m, STATUS_CALL_DEPTH, x->theta, x->number);
        return RULE_THR_CALL;
    }
    advance(x);
    push(x, entry_call(caller, callee));
    if (x->s->counts)
        put(x->m, beta_of_top(x), x->number + 1);
    put(x->m, &x->T->calls, x->T->calls + 1);
    push(x, entry_make(ENTRY_STM, x->m->program->functions[callee].body));
    frame_push(x->m, x->theta, caller, callee);
    return RULE_THR_CALL;
}

/*  return^t      U contains no call
 *      return; U call T  ==>  T
 */
STEP_INLINE enum rule thr_return(struct thread_step *x)
{
    enum entry_kind top;
    do {
        top = entry_kind(x->T->stack[x->T->depth - 1]);
        pop(x);
    } while (top != ENTRY_CALL);
    return RULE_THR_RETURN;
}

/*  context^t
 *      c T  ==>  T
 */
STEP_INLINE enum rule thr_context(struct thread_step *x)
{
    pop(x);
    return RULE_THR_CONTEXT;
}

/*  exit^t [EXT]
 *      exit; T  ==>  eps
 */
STEP_INLINE enum rule thr_exit(struct thread_step *x)
{
    while (x->T->depth > 0)
        pop(x);
    return RULE_THR_EXIT;
}

/*  assert^t [EXT]    v != 0
 *      assert(e); T  ==>  T                otherwise the execution ends: assert_fails
 */
STEP_INLINE enum rule thr_assert(struct thread_step *x, int32_t v)
{
    if (v != 0)
        advance(x);
    else
        machine_fault(x->m, STATUS_ASSERT_FAILS, x->theta, x->number);
    return RULE_THR_ASSERT;
}

/*  assume^t [EXT]    v != 0
 *      assume(e); T  ==>  T                otherwise the execution ends: infeasible
 */
STEP_INLINE enum rule thr_assume(struct thread_step *x, int32_t v)
{
    if (v != 0)
        advance(x);
    else
        machine_fault(x->m, STATUS_INFEASIBLE, x->theta, x->number);
    return RULE_THR_ASSUME;
}

/*  havoc^t [EXT]     v the thread's next choice (ORA.choice)
 *      havoc(x); T, mu  ==>  T, mu[nu(x) |-> v]
 */
STEP_INLINE enum rule thr_havoc(struct thread_step *x)
{
    uint32_t address;
    if (!eval_place(x->m, x->theta, x->s, x->number, &address)) {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number);
        return RULE_THR_HAVOC;
    }
    int32_t v = next_havoc(x->m, x->theta, x->choices);
    put_memory(x->m, address, v);
    if (is_observed(x->m) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->theta, address, v, x->number);
    advance(x);
    return RULE_THR_HAVOC;
}

/*  atomic^t [EXT]    v = E[[e]] nu mu,  old = mu(nu(y))
 *      x = op(y, e); T, mu  ==>  T, mu[nu(y) |-> op(old, v)][nu(x) |-> old]
 *
 *  One step: nobody comes between the read and the write. x is private.
 */
STEP_INLINE enum rule thr_atomic(struct thread_step *x)
{
    struct atomic_operands operands;
    if (eval_atomic_operands(x->m, x->theta, x->s, x->number, &operands)) {
        apply_atomic(x->m, x->theta, x->s, x->number, &operands);
        advance(x);
    } else {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number);
    }
    return RULE_THR_ATOMIC;
}

/*  barrier_reach^t [EXT, CFG.bv.bar]
 *      barrier T  ==>  barrier T           and the thread waits: no rule applies to it until its block
 *                                          is released (barrier_S)
 */
STEP_INLINE enum rule thr_barrier_reach(struct thread_step *x)
{
    barrier_wait(x->m, x->theta);
    return RULE_THR_BARRIER_REACH;
}

/* A rule with the guard's value as premise; an index outside its array ends the execution. */
STEP_INLINE enum rule step_guarded(struct thread_step *x, enum rule if_fault,
                                   struct step_event *event)
{
    int32_t v;
    if (!eval(x->m, x->theta, x->s->value, x->number, &v)) {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number);
        return if_fault;
    }
    event->truth = v != 0;
    if (if_fault == RULE_THR_WHILE_CONT_FF)
        return v ? thr_while_cont_tt(x) : thr_while_cont_ff(x);
    if (if_fault == RULE_THR_IF_FF)
        return v ? thr_if_tt(x) : thr_if_ff(x);
    if (if_fault == RULE_THR_WHILE_FF)
        return v ? thr_while_tt(x) : thr_while_ff(x);
    if (if_fault == RULE_THR_ASSUME)
        return thr_assume(x, v);
    return thr_assert(x, v);
}

STEP_INLINE enum rule step_statement(struct thread_step *x, struct step_event *event)
{
    switch (x->s->kind) {
    case CODE_SKIP:
        return thr_skip(x);
    case CODE_ASSIGN:
        return thr_assign_rd(x);
    case CODE_IF:
        return step_guarded(x, RULE_THR_IF_FF, event);
    case CODE_WHILE:
        return step_guarded(x, RULE_THR_WHILE_FF, event);
    case CODE_BREAK:
        return thr_break(x);
    case CODE_CALL:
        return thr_call(x);
    case CODE_RETURN:
        return thr_return(x);
    case CODE_EXIT:
        return thr_exit(x);
    case CODE_ASSERT:
        return step_guarded(x, RULE_THR_ASSERT, event);
    case CODE_ASSUME:
        return step_guarded(x, RULE_THR_ASSUME, event);
    case CODE_HAVOC:
        return thr_havoc(x);
    case CODE_ATOMIC:
        return thr_atomic(x);
    case CODE_BARRIER:
        return thr_barrier_reach(x);
    case CODE_VOTE: /* of the lanes of a warp: a thread has none (machine_refuses) */
    case CODE_GOTO:
    case CODE_END_CALL:
    case CODE_PICK:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    return RULE_NONE;
}

/* Which rule applies is decided here, by the topmost entry alone (a thread is deterministic). */
STEP_INLINE enum rule select_rule(struct thread_step *x, struct step_event *event)
{
    stack_entry top = x->T->stack[x->T->depth - 1];
    x->number = entry_number(top);
    x->s = &x->m->program->stms[x->number];
    switch (entry_kind(top)) {
    case ENTRY_STM:
        event->stm = x->number;
        return x->T->pending ? thr_assign_wr(x) : step_statement(x, event);
    case ENTRY_CONT:
        event->stm = x->number;
        return step_guarded(x, RULE_THR_WHILE_CONT_FF, event);
    case ENTRY_BRK:
    case ENTRY_CALL:
        return thr_context(x);
    case ENTRY_DIV:
    case ENTRY_SYNC:
        break;
    }
    return RULE_NONE;
}

enum rule STEP_NAME(threads_step)(struct machine *machine, uint32_t thread, struct choices *choices)
{
    struct step_event event = {.actor = thread, .stm = CODE_NONE};
    struct thread_step x = {
        .m = machine, .T = state_of(machine, thread), .theta = thread, .choices = choices};
    event.rule = select_rule(&x, &event);
    machine->hits[event.rule]++;
    machine->steps++;
    if (x.T->depth == 0)
        machine_retire(machine, thread);
    if (is_observed(machine))
        observe_step(machine, &event);
    if (x.T->depth == 0 || event.rule == RULE_THR_BARRIER_REACH)
        barrier_settle(machine, thread);
    return event.rule;
}
