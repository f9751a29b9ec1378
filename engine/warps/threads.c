/*
 * threads.c - simt-correctness, Table 4: one thread's rules; the interleaving rule is machine_step.
 *
 * In the rules: T is the thread's stack, topmost entry last; s T has a statement slice on top, c T a
 * context; nu and mu are the thread's variables and the memory; v = E[[e]] nu mu.
 */
#include "engine/warps/threads.h"

#include "engine/base/invariant.h"
#include "engine/machine/barrier.h"
#include "engine/machine/semantics.h"
#include "engine/machine/symmetry.h"

#include <stddef.h>

enum { THREAD_HEAD_WORDS = sizeof(struct thread_state) / 4 };

static uint32_t thread_stride(const struct program *program)
{
    uint32_t words_an_entry = program->barrier_count > 0 ? 2 : 1;
    return THREAD_HEAD_WORDS + words_an_entry * program->stack_depth;
}

/* What a rule works on. */
struct thread_step {
    struct machine *m;
    struct thread_state *T;
    uint32_t theta;           /* the thread's number */
    const struct code_stm *s; /* statement on top, if any */
    uint32_t number;          /* its number */
    struct choices *choices;
};

STEP_INLINE struct thread_state *state_of(const struct machine *machine, uint32_t thread)
{
    return (struct thread_state *)((uint32_t *)machine->extra +
                                   (size_t)thread * thread_stride(machine->program));
}

const struct thread_state *threads_state(const struct machine *machine, uint32_t thread)
{
    return state_of(machine, thread);
}

/* beta of the topmost entry (threads.h); in programs with barriers only. */
STEP_INLINE uint32_t *beta_of_top(const struct thread_step *x)
{
    return &x->T->stack[x->m->program->stack_depth + x->T->depth - 1];
}

STEP_INLINE void push(struct thread_step *x, stack_entry entry, const unsigned mode)
{
    INVARIANT(x->T->depth < x->m->program->stack_depth);
    put(x->m, &x->T->stack[x->T->depth], entry, mode);
    put(x->m, &x->T->depth, x->T->depth + 1, mode);
    if (x->m->program->barrier_count > 0)
        put(x->m, beta_of_top(x), 0, mode);
}

/* Pops the topmost entry; a call context takes its frame along. */
STEP_INLINE void pop(struct thread_step *x, const unsigned mode)
{
    struct thread_state *T = x->T;
    stack_entry entry = T->stack[T->depth - 1];
    if (mode & MACHINE_TRACKED) {
        put(x->m, &T->stack[T->depth - 1], 0, mode);
        if (x->m->program->barrier_count > 0)
            put(x->m, beta_of_top(x), 0, mode);
    }
    put(x->m, &T->depth, T->depth - 1, mode);
    if (entry_kind(entry) == ENTRY_CALL) {
        put(x->m, &T->calls, T->calls - 1, mode);
        if (T->calls > 0)
            frame_pop(x->m, x->theta, entry_caller(entry), entry_callee(entry), mode);
    }
}

/* s T becomes T: the slice on top loses its first statement. */
STEP_INLINE void advance(struct thread_step *x, const unsigned mode)
{
    if (x->s->last)
        pop(x, mode);
    else
        put(x->m, &x->T->stack[x->T->depth - 1], entry_make(ENTRY_STM, x->number + 1), mode);
}

/*  skip^t
 *      ; T  ==>  T
 */
STEP_INLINE enum rule thr_skip(struct thread_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_THR_SKIP;
}

/*  assign_rd^t
 *      x = e; T, mu  ==>  (x := v) T, mu
 *
 *  The evaluated form is a constructor of its own (catalogue A-2), the address frozen with the value
 *  (SIMT.ext.idx).
 */
STEP_INLINE enum rule thr_assign_rd(struct thread_step *x, const unsigned mode)
{
    uint32_t address;
    int32_t v;
    if (!eval_place(x->m, x->theta, x->s, x->number, &address, mode) ||
        !eval(x->m, x->theta, x->s->value, x->number, &v, mode)) {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number, mode);
        return RULE_THR_ASSIGN_RD;
    }
    put(x->m, &x->T->pending, 1, mode);
    put(x->m, &x->T->address, address, mode);
    put(x->m, &x->T->value, (uint32_t)v, mode);
    return RULE_THR_ASSIGN_RD;
}

/*  assign_wr^t
 *      (x := v) T, mu  ==>  T, mu[nu(x) |-> v]
 */
STEP_INLINE enum rule thr_assign_wr(struct thread_step *x, const unsigned mode)
{
    struct thread_state *T = x->T;
    uint32_t address = T->address;
    int32_t v = (int32_t)T->value;
    put_memory(x->m, address, v, mode);
    if ((mode & MACHINE_OBSERVED) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->theta, address, v, x->number);
    put(x->m, &T->pending, 0, mode);
    put(x->m, &T->address, 0, mode);
    put(x->m, &T->value, 0, mode);
    advance(x, mode);
    return RULE_THR_ASSIGN_WR;
}

/*  if_tt^t       v != 0                              if_ff^t       v = 0
 *      if (e) S1 else S2 T  ==>  S1 T                    if (e) S1 else S2 T  ==>  S2 T
 */
STEP_INLINE enum rule thr_if_tt(struct thread_step *x, const unsigned mode)
{
    advance(x, mode);
    push(x, entry_make(ENTRY_STM, x->s->first), mode);
    return RULE_THR_IF_TT;
}

STEP_INLINE enum rule thr_if_ff(struct thread_step *x, const unsigned mode)
{
    advance(x, mode);
    push(x, entry_make(ENTRY_STM, x->s->second), mode);
    return RULE_THR_IF_FF;
}

/*  while_tt^t    v != 0                              while_ff^t    v = 0
 *      while (e) S T  ==>  S while^o (e) S brk T         while (e) S T  ==>  T
 *
 *  while^o is the paper's underlined while, the continuing loop (underline lost in print, A-3).
 */
STEP_INLINE enum rule thr_while_tt(struct thread_step *x, const unsigned mode)
{
    advance(x, mode);
    push(x, entry_make(ENTRY_BRK, 0), mode);
    push(x, entry_make(ENTRY_CONT, x->number), mode);
    push(x, entry_make(ENTRY_STM, x->s->first), mode);
    return RULE_THR_WHILE_TT;
}

STEP_INLINE enum rule thr_while_ff(struct thread_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_THR_WHILE_FF;
}

/*  while^o_tt^t  v != 0                              while^o_ff^t  v = 0
 *      while^o (e) S T  ==>  S while^o (e) S T           while^o (e) S T  ==>  T
 *
 *  The brk context stays below T's top for context^t: two steps to leave a loop (erratum A-4). One
 *  trip more in beta (CFG.bv.loop).
 */
STEP_INLINE enum rule thr_while_cont_tt(struct thread_step *x, const unsigned mode)
{
    if (x->s->counts)
        put(x->m, beta_of_top(x), *beta_of_top(x) + 1, mode);
    push(x, entry_make(ENTRY_STM, x->s->first), mode);
    return RULE_THR_WHILE_CONT_TT;
}

STEP_INLINE enum rule thr_while_cont_ff(struct thread_step *x, const unsigned mode)
{
    pop(x, mode);
    return RULE_THR_WHILE_CONT_FF;
}

/*  break^t       [S] are statements, those above the first brk
 *      break; [S] brk T  ==>  T
 */
STEP_INLINE enum rule thr_break(struct thread_step *x, const unsigned mode)
{
    enum entry_kind top;
    do {
        top = entry_kind(x->T->stack[x->T->depth - 1]);
        INVARIANT(top != ENTRY_CALL); /* SIMT.syn.prog: break stands in a loop of its function */
        pop(x, mode);
    } while (top != ENTRY_BRK);
    return RULE_THR_BREAK;
}

/*  call^t
 *      f(); T  ==>  phi(f) call T          with a fresh frame for f [EXT]
 */
STEP_INLINE enum rule thr_call(struct thread_step *x, const unsigned mode)
{
    uint32_t caller = x->s->function, callee = x->s->first;
    if (x->T->calls == LIMIT_CALL_DEPTH) {
        machine_fault(x->m, STATUS_CALL_DEPTH, x->theta, x->number, mode);
        return RULE_THR_CALL;
    }
    advance(x, mode);
    push(x, entry_call(caller, callee), mode);
    if (x->s->counts)
        put(x->m, beta_of_top(x), x->number + 1, mode);
    put(x->m, &x->T->calls, x->T->calls + 1, mode);
    push(x, entry_make(ENTRY_STM, x->m->program->functions[callee].body), mode);
    frame_push(x->m, x->theta, caller, callee, mode);
    return RULE_THR_CALL;
}

/*  return^t      U contains no call
 *      return; U call T  ==>  T
 */
STEP_INLINE enum rule thr_return(struct thread_step *x, const unsigned mode)
{
    enum entry_kind top;
    do {
        top = entry_kind(x->T->stack[x->T->depth - 1]);
        pop(x, mode);
    } while (top != ENTRY_CALL);
    return RULE_THR_RETURN;
}

/*  context^t
 *      c T  ==>  T
 */
STEP_INLINE enum rule thr_context(struct thread_step *x, const unsigned mode)
{
    pop(x, mode);
    return RULE_THR_CONTEXT;
}

/*  exit^t [EXT]
 *      exit; T  ==>  eps
 */
STEP_INLINE enum rule thr_exit(struct thread_step *x, const unsigned mode)
{
    while (x->T->depth > 0)
        pop(x, mode);
    return RULE_THR_EXIT;
}

/*  assert^t [EXT]    v != 0
 *      assert(e); T  ==>  T                otherwise the execution ends: assert_fails
 */
STEP_INLINE enum rule thr_assert(struct thread_step *x, int32_t v, const unsigned mode)
{
    if (v != 0)
        advance(x, mode);
    else
        machine_fault(x->m, STATUS_ASSERT_FAILS, x->theta, x->number, mode);
    return RULE_THR_ASSERT;
}

/*  assume^t [EXT]    v != 0
 *      assume(e); T  ==>  T                otherwise the execution ends: infeasible
 */
STEP_INLINE enum rule thr_assume(struct thread_step *x, int32_t v, const unsigned mode)
{
    if (v != 0)
        advance(x, mode);
    else
        machine_fault(x->m, STATUS_INFEASIBLE, x->theta, x->number, mode);
    return RULE_THR_ASSUME;
}

/*  havoc^t [EXT]     v the thread's next choice (ORA.choice)
 *      havoc(x); T, mu  ==>  T, mu[nu(x) |-> v]
 */
STEP_INLINE enum rule thr_havoc(struct thread_step *x, const unsigned mode)
{
    uint32_t address;
    if (!eval_place(x->m, x->theta, x->s, x->number, &address, mode)) {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number, mode);
        return RULE_THR_HAVOC;
    }
    int32_t v = next_havoc(x->m, x->theta, x->choices, mode);
    put_memory(x->m, address, v, mode);
    if ((mode & MACHINE_OBSERVED) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->theta, address, v, x->number);
    advance(x, mode);
    return RULE_THR_HAVOC;
}

/*  atomic^t [EXT]    v = E[[e]] nu mu,  old = mu(nu(y))
 *      x = op(y, e); T, mu  ==>  T, mu[nu(y) |-> op(old, v)][nu(x) |-> old]
 *
 *  One step: nobody comes between the read and the write. x is private.
 */
STEP_INLINE enum rule thr_atomic(struct thread_step *x, const unsigned mode)
{
    struct atomic_operands operands;
    if (eval_atomic_operands(x->m, x->theta, x->s, x->number, &operands, mode)) {
        apply_atomic(x->m, x->theta, x->s, x->number, &operands, mode);
        advance(x, mode);
    } else {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number, mode);
    }
    return RULE_THR_ATOMIC;
}

/*  barrier_reach^t [EXT, CFG.bv.bar]
 *      barrier T  ==>  barrier T           and the thread waits: no rule applies to it until its block
 *                                          is released (barrier_S)
 */
STEP_INLINE enum rule thr_barrier_reach(struct thread_step *x, const unsigned mode)
{
    barrier_wait(x->m, x->theta, mode);
    return RULE_THR_BARRIER_REACH;
}

/* A rule with the guard's value as premise; an index outside its array ends the execution. */
STEP_INLINE enum rule step_guarded(struct thread_step *x, enum rule if_fault,
                                   struct step_event *event, const unsigned mode)
{
    int32_t v;
    if (!eval(x->m, x->theta, x->s->value, x->number, &v, mode)) {
        machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->theta, x->number, mode);
        return if_fault;
    }
    event->truth = v != 0;
    if (if_fault == RULE_THR_WHILE_CONT_FF)
        return v ? thr_while_cont_tt(x, mode) : thr_while_cont_ff(x, mode);
    if (if_fault == RULE_THR_IF_FF)
        return v ? thr_if_tt(x, mode) : thr_if_ff(x, mode);
    if (if_fault == RULE_THR_WHILE_FF)
        return v ? thr_while_tt(x, mode) : thr_while_ff(x, mode);
    if (if_fault == RULE_THR_ASSUME)
        return thr_assume(x, v, mode);
    return thr_assert(x, v, mode);
}

STEP_INLINE enum rule step_statement(struct thread_step *x, struct step_event *event,
                                     const unsigned mode)
{
    switch (x->s->kind) {
    case CODE_SKIP:
        return thr_skip(x, mode);
    case CODE_ASSIGN:
        return thr_assign_rd(x, mode);
    case CODE_IF:
        return step_guarded(x, RULE_THR_IF_FF, event, mode);
    case CODE_WHILE:
        return step_guarded(x, RULE_THR_WHILE_FF, event, mode);
    case CODE_BREAK:
        return thr_break(x, mode);
    case CODE_CALL:
        return thr_call(x, mode);
    case CODE_RETURN:
        return thr_return(x, mode);
    case CODE_EXIT:
        return thr_exit(x, mode);
    case CODE_ASSERT:
        return step_guarded(x, RULE_THR_ASSERT, event, mode);
    case CODE_ASSUME:
        return step_guarded(x, RULE_THR_ASSUME, event, mode);
    case CODE_HAVOC:
        return thr_havoc(x, mode);
    case CODE_ATOMIC:
        return thr_atomic(x, mode);
    case CODE_BARRIER:
        return thr_barrier_reach(x, mode);
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
STEP_INLINE enum rule select_rule(struct thread_step *x, struct step_event *event,
                                  const unsigned mode)
{
    stack_entry top = x->T->stack[x->T->depth - 1];
    x->number = entry_number(top);
    x->s = &x->m->program->stms[x->number];
    switch (entry_kind(top)) {
    case ENTRY_STM:
        event->stm = x->number;
        return x->T->pending ? thr_assign_wr(x, mode) : step_statement(x, event, mode);
    case ENTRY_CONT:
        event->stm = x->number;
        return step_guarded(x, RULE_THR_WHILE_CONT_FF, event, mode);
    case ENTRY_BRK:
    case ENTRY_CALL:
        return thr_context(x, mode);
    case ENTRY_DIV:
    case ENTRY_SYNC:
        break;
    }
    return RULE_NONE;
}

STEP_INLINE enum rule step_mode(struct machine *machine, uint32_t thread, struct choices *choices,
                                const unsigned mode)
{
    struct step_event event = {.actor = thread, .stm = CODE_NONE};
    struct thread_step x = {
        .m = machine, .T = state_of(machine, thread), .theta = thread, .choices = choices};
    event.rule = select_rule(&x, &event, mode);
    machine->hits[event.rule]++;
    machine->steps++;
    if (x.T->depth == 0)
        machine_retire(machine, thread, mode & MACHINE_TRACKED);
    if (mode & MACHINE_OBSERVED)
        observe_step(machine, &event);
    if (x.T->depth == 0 || event.rule == RULE_THR_BARRIER_REACH)
        barrier_settle(machine, thread, mode);
    return event.rule;
}

STEP_VARIANTS(step_mode)

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    const struct program *program = machine->program;
    struct lane_words words = {.threads = program->total_threads,
                               .word = layout_place(machine, machine->extra),
                               .stride = thread_stride(program)};
    const uint32_t head = offsetof(struct thread_state, address) / 4;
    words.words = head;
    layout_words(layout, &words);
    words.words = words.stride - head - 1;
    words.word += head + 1;
    layout_words(layout, &words);
    words.word--;
    words.words = 1;
    words.kind = LANE_ADDRESS;
    layout_words(layout, &words);
}

static uint32_t extra_words(const struct program *program)
{
    return program->total_threads * thread_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->total_threads;
}

/* INT.init: every thread starts with P call. */
static void init(struct machine *machine)
{
    for (uint32_t t = 0; t < machine->program->total_threads; t++) {
        struct thread_state *T = state_of(machine, t);
        T->calls = 1;
        T->depth = 2;
        T->stack[0] = entry_call(0, 0);
        T->stack[1] = entry_make(ENTRY_STM, machine->program->functions[0].body);
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    const struct thread_state *T = state_of(machine, actor);
    if (T->depth == 0)
        return CODE_NONE;
    stack_entry top = T->stack[T->depth - 1];
    return entry_kind(top) <= ENTRY_CONT ? entry_number(top) : CODE_NONE;
}

static uint32_t control(const struct machine *machine, uint32_t actor)
{
    const struct thread_state *T = state_of(machine, actor);
    uint32_t at = T->depth;
    while (at > 0 && entry_kind(T->stack[at - 1]) > ENTRY_CONT)
        at--;
    return at > 0 ? entry_number(T->stack[at - 1]) : CODE_NONE;
}

/* ς(θ) = ς(θ'): the stacks, with the evaluated form on top, or not. */
static bool same_pc(const struct machine *machine, uint32_t actor, uint32_t other, bool literal)
{
    const struct thread_state *T = state_of(machine, actor), *U = state_of(machine, other);
    if (T->depth != U->depth || T->pending != U->pending ||
        memcmp(T->stack, U->stack, T->depth * sizeof *T->stack) != 0)
        return false;
    return !literal || (T->address == U->address && T->value == U->value);
}

static uint32_t level(const struct machine *machine, uint32_t actor)
{
    return state_of(machine, actor)->depth;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t number = next_stm(machine, actor);
    *reads = *writes = 0;
    if (number == CODE_NONE)
        return;
    const struct code_stm *stm = &machine->program->stms[number];
    bool pending = state_of(machine, actor)->pending;
    if (!pending)
        *reads = stm->reads;
    if (pending || stm->kind != CODE_ASSIGN) /* an assignment's read is a step of its own */
        *writes = stm->writes;
}

/* CFG.bv: equal stacks (the barrier on top, the same nesting and calls below), equal trips of the
 * loops on them, equal sites of the calls. */
static bool same_barrier(const struct machine *machine, uint32_t actor, uint32_t other)
{
    const struct thread_state *T = state_of(machine, actor), *U = state_of(machine, other);
    uint32_t beta = machine->program->stack_depth;
    return T->depth == U->depth && memcmp(T->stack, U->stack, T->depth * sizeof *T->stack) == 0 &&
           memcmp(T->stack + beta, U->stack + beta, T->depth * sizeof *T->stack) == 0;
}

static void pass_barrier(struct machine *machine, uint32_t actor, unsigned mode)
{
    struct thread_step x = {.m = machine, .T = state_of(machine, actor), .theta = actor};
    x.number = entry_number(x.T->stack[x.T->depth - 1]);
    x.s = &machine->program->stms[x.number];
    advance(&x, mode);
    for (uint32_t i = 0; i < x.T->depth; i++)
        if (entry_kind(x.T->stack[i]) == ENTRY_CONT)
            put(machine, &x.T->stack[machine->program->stack_depth + i], 0, mode);
}

const struct semantics semantics_threads = {
    .name = "threads",
    .form = FORM_STRUCTURED,
    .kinds =
        CODE_KINDS_CORE | 1 << CODE_ASSUME | 1 << CODE_HAVOC | 1 << CODE_ATOMIC | 1 << CODE_BARRIER,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .init = init,
    .layout = layout,
    .step = {step_plain, step_observed, step_tracked, step_both},
    .footprint = footprint,
    .next_stm = next_stm,
    .control = control,
    .same_pc = same_pc,
    .level = level,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_THR_BARRIER_S,
    .divergence_rule = RULE_THR_BARRIER_F,
};
