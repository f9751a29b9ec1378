/*
 * simt.c - simt-correctness, Table 2: the rules of a warp.
 *
 * In the rules: W is the warp's stack, topmost entry last; Theta the active mask, Theta+ a non-empty
 * one; Delta the disable mask; mu the memory; A = act(Theta, e) the lanes whose guard holds. What a
 * rule does not mention is unchanged.
 */
#include "engine/warps/simt.h"

#include "engine/machine/barrier.h"
#include "engine/warps/simt_memory.h"

struct warp_state simt_state(const struct machine *machine, uint32_t warp)
{
    struct warp_step x = view(machine, warp);
    return (struct warp_state){
        .theta = x.w->theta,
        .delta_b = x.w->delta_b,
        .delta_r = x.w->delta_r,
        .delta_e = x.w->delta_e,
        .depth = x.w->depth,
        .calls = x.w->calls,
        .stack = x.stack,
        .masks = x.masks,
        .first_thread = x.w->first_thread,
        .lanes = x.w->lanes,
    };
}

uint32_t simt_last_write_order(const struct machine *machine, uint8_t *lanes)
{
    const struct assign_scratch *scratch = machine->scratch;
    memcpy(lanes, scratch->order, scratch->order_count);
    return scratch->order_count;
}

char simt_disable_state(const struct warp_state *warp, uint32_t lane)
{
    lane_mask bit = (lane_mask)1 << lane;
    return (warp->delta_b & bit)   ? 'b'
           : (warp->delta_r & bit) ? 'r'
           : (warp->delta_e & bit) ? 'e'
                                   : '0';
}

/* awaits(delta, t)  <=>  (delta = b -> t = brk) and (delta = r -> t = call);  never for e [EXT] */
bool simt_awaits(char delta, enum entry_kind token)
{
    switch (delta) {
    case '0':
        return true;
    case 'b':
        return token == ENTRY_BRK;
    case 'r':
        return token == ENTRY_CALL;
    default:
        return false;
    }
}

/* ---- rules ---- */

/*  skip^w
 *      ; W, Theta+  ==>  W, Theta+
 */
STEP_INLINE void simt_skip(struct warp_step *x, const unsigned mode)
{
    advance(x, mode);
}

/*  if^w
 *      if (e) S1 else S2 W, Theta+  ==>  S2 div_A S1 sync_Theta+ W, Theta+ \ A
 *
 *  Both tokens always, also when A is empty or everybody (catalogue A-1).
 */
STEP_INLINE void simt_if(struct warp_step *x, lane_mask A, const unsigned mode)
{
    lane_mask theta = x->w->theta;
    advance(x, mode);
    push(x, entry_make(ENTRY_SYNC, 0), theta, mode);
    push(x, entry_make(ENTRY_STM, x->s->first), 0, mode);
    push(x, entry_make(ENTRY_DIV, 0), A, mode);
    push(x, entry_make(ENTRY_STM, x->s->second), 0, mode);
    set_theta(x, theta & ~A, mode);
}

/*  if_then^w [EXT, section 5.1: the if-path first]
 *      if (e) S1 else S2 W, Theta+  ==>  S1 div_(Theta+ \ A) S2 sync_Theta+ W, A
 */
STEP_INLINE void simt_if_then(struct warp_step *x, lane_mask A, const unsigned mode)
{
    lane_mask theta = x->w->theta;
    advance(x, mode);
    push(x, entry_make(ENTRY_SYNC, 0), theta, mode);
    push(x, entry_make(ENTRY_STM, x->s->second), 0, mode);
    push(x, entry_make(ENTRY_DIV, 0), theta & ~A, mode);
    push(x, entry_make(ENTRY_STM, x->s->first), 0, mode);
    set_theta(x, A, mode);
}

/*  while^w
 *      while (e) S W, Theta+  ==>  S while^o (e) S brk_Theta+ W, A
 */
STEP_INLINE void simt_while(struct warp_step *x, lane_mask A, const unsigned mode)
{
    advance(x, mode);
    push(x, entry_make(ENTRY_BRK, 0), x->w->theta, mode);
    push(x, entry_make(ENTRY_CONT, x->number), 0, mode);
    push(x, entry_make(ENTRY_STM, x->s->first), 0, mode);
    set_theta(x, A, mode);
}

/*  while^o^w     the paper's underlined while: no new brk token
 *      while^o (e) S W, Theta+  ==>  S while^o (e) S W, A
 */
STEP_INLINE void simt_while_cont(struct warp_step *x, lane_mask A, const unsigned mode)
{
    uint32_t *trips = &x->beta[x->w->depth - 1];
    if (x->s->counts)
        put(x->m, trips, *trips + 1, mode);
    push(x, entry_make(ENTRY_STM, x->s->first), 0, mode);
    set_theta(x, A, mode);
}

/*  break^w
 *      break; [S] tau W, Theta+, Delta  ==>  tau W, {}, Delta[Theta+ |-> b]
 */
STEP_INLINE void simt_break(struct warp_step *x, const unsigned mode)
{
    skip_to_token(x, mode);
    put_mask(x->m, &x->w->delta_b, x->w->delta_b | x->w->theta, mode);
    set_theta(x, 0, mode);
}

/*  call^w
 *      f(); W, Theta+  ==>  phi(f) call_Theta+ W, Theta+          each lane of Theta+ with a fresh
 *                                                                 frame for f [EXT]
 */
STEP_INLINE void simt_call(struct warp_step *x, const unsigned mode)
{
    uint32_t caller = x->s->function, callee = x->s->first;
    lane_mask theta = x->w->theta;
    if (x->w->calls == LIMIT_CALL_DEPTH) {
        lane_fault(x, STATUS_CALL_DEPTH, lowest_lane(theta), mode);
        return;
    }
    advance(x, mode);
    push(x, entry_call(caller, callee), theta, mode);
    if (x->s->counts)
        put(x->m, &x->beta[x->w->depth - 1], x->number + 1, mode);
    put(x->m, &x->w->calls, x->w->calls + 1, mode);
    push(x, entry_make(ENTRY_STM, x->m->program->functions[callee].body), 0, mode);
    for (lane_mask rest = theta; rest; rest &= rest - 1)
        frame_push(x->m, x->w->first_thread + lowest_lane(rest), caller, callee, mode);
}

/*  return^w
 *      return; [S] tau W, Theta+, Delta  ==>  tau W, {}, Delta[Theta+ |-> r]
 */
STEP_INLINE void simt_return(struct warp_step *x, const unsigned mode)
{
    skip_to_token(x, mode);
    put_mask(x->m, &x->w->delta_r, x->w->delta_r | x->w->theta, mode);
    set_theta(x, 0, mode);
}

/* A popped call token drops the frames of the lanes in its mask. */
STEP_INLINE void drop_frames(struct warp_step *x, stack_entry call, lane_mask mask,
                             const unsigned mode)
{
    put(x->m, &x->w->calls, x->w->calls - 1, mode);
    if (x->w->calls == 0)
        return; /* the kernel's own */
    for (lane_mask rest = mask; rest; rest &= rest - 1)
        frame_pop(x->m, x->w->first_thread + lowest_lane(rest), entry_caller(call),
                  entry_callee(call), mode);
}

/*  token^w       (Theta2, Delta2) = enable(Delta1, tau)
 *      tau W, Theta1, Delta1  ==>  W, Theta2, Delta2
 *
 *  enable(Delta1, t_Theta) = ({ theta in Theta | Delta2(theta) = 0 }, Delta2)
 *      where Delta2 = Delta1[{ theta in Theta | awaits(Delta1(theta), t) } |-> 0]
 */
STEP_INLINE void simt_token(struct warp_step *x, const unsigned mode)
{
    struct warp_head *w = x->w;
    stack_entry tau = x->stack[w->depth - 1];
    lane_mask theta = x->masks[w->depth - 1];
    pop(x, mode);
    if (entry_kind(tau) == ENTRY_BRK)
        put_mask(x->m, &w->delta_b, w->delta_b & ~theta, mode);
    if (entry_kind(tau) == ENTRY_CALL) {
        put_mask(x->m, &w->delta_r, w->delta_r & ~theta, mode);
        drop_frames(x, tau, theta, mode);
    }
    set_theta(x, theta & ~(w->delta_b | w->delta_r | w->delta_e), mode);
}

/*  inact^w       S: all statements above the topmost token
 *      S tau W, {}  ==>  tau W, {}
 */
STEP_INLINE void simt_inact(struct warp_step *x, const unsigned mode)
{
    skip_to_token(x, mode);
}

/*  exit^w [EXT]
 *      exit; [S] tau W, Theta+, Delta  ==>  tau W, {}, Delta[Theta+ |-> e]
 */
STEP_INLINE void simt_exit(struct warp_step *x, const unsigned mode)
{
    skip_to_token(x, mode);
    put_mask(x->m, &x->w->delta_e, x->w->delta_e | x->w->theta, mode);
    set_theta(x, 0, mode);
}

/*  assert^w [EXT]    A = Theta+
 *      assert(e); W, Theta+  ==>  W, Theta+        otherwise the execution ends: assert_fails
 */
STEP_INLINE void simt_assert(struct warp_step *x, lane_mask A, const unsigned mode)
{
    if (A == x->w->theta)
        advance(x, mode);
    else
        lane_fault(x, STATUS_ASSERT_FAILS, lowest_lane(x->w->theta & ~A), mode);
}

/*  assume^w [EXT]    A = Theta+
 *      assume(e); W, Theta+  ==>  W, Theta+        otherwise the execution ends: infeasible
 */
STEP_INLINE void simt_assume(struct warp_step *x, lane_mask A, const unsigned mode)
{
    if (A == x->w->theta)
        advance(x, mode);
    else
        lane_fault(x, STATUS_INFEASIBLE, lowest_lane(x->w->theta & ~A), mode);
}

/*  barrier_reach^w [EXT]     Theta = Theta0, the lanes that the warp started with
 *      barrier W, Theta  ==>  barrier W, Theta     and the warp waits: no rule applies to it until its
 *                                                  block is released (barrier_S)
 */
STEP_INLINE enum rule simt_barrier_reach(struct warp_step *x, uint32_t warp, const unsigned mode)
{
    barrier_wait(x->m, warp, mode);
    return RULE_SIMT_BARRIER_REACH;
}

/*  barrier_div^w [EXT, LOCK.barrier]     Theta != Theta0: a lane is elsewhere, or has ended
 *      barrier W, Theta+  ==>  E                   barrier_divergence
 */
STEP_INLINE enum rule simt_barrier_div(struct warp_step *x, const unsigned mode)
{
    lane_fault(x, STATUS_BARRIER_DIVERGENCE, lowest_lane(x->w->theta), mode);
    return RULE_SIMT_BARRIER_DIV;
}

/* ---- which rule applies ---- */

STEP_INLINE enum rule step_statement(struct warp_step *x, struct step_event *event,
                                     const unsigned mode)
{
    switch (x->s->kind) {
    case CODE_SKIP:
        simt_skip(x, mode);
        return RULE_SIMT_SKIP;
    case CODE_ASSIGN:
        simt_assign(x, mode);
        return RULE_SIMT_ASSIGN;
    case CODE_IF:
        if (x->m->options.then_first) {
            if (act(x, &event->truth, mode))
                simt_if_then(x, event->truth, mode);
            return RULE_SIMT_IF_THEN;
        }
        if (act(x, &event->truth, mode))
            simt_if(x, event->truth, mode);
        return RULE_SIMT_IF;
    case CODE_WHILE:
        if (act(x, &event->truth, mode))
            simt_while(x, event->truth, mode);
        return RULE_SIMT_WHILE;
    case CODE_BREAK:
        simt_break(x, mode);
        return RULE_SIMT_BREAK;
    case CODE_CALL:
        simt_call(x, mode);
        return RULE_SIMT_CALL;
    case CODE_RETURN:
        simt_return(x, mode);
        return RULE_SIMT_RETURN;
    case CODE_EXIT:
        simt_exit(x, mode);
        return RULE_SIMT_EXIT;
    case CODE_ASSERT:
        if (act(x, &event->truth, mode))
            simt_assert(x, event->truth, mode);
        return RULE_SIMT_ASSERT;
    case CODE_ASSUME:
        if (act(x, &event->truth, mode))
            simt_assume(x, event->truth, mode);
        return RULE_SIMT_ASSUME;
    case CODE_HAVOC:
        simt_havoc(x, mode);
        return RULE_SIMT_HAVOC;
    case CODE_ATOMIC:
        simt_atomic(x, mode);
        return RULE_SIMT_ATOMIC;
    case CODE_VOTE:
        if (act(x, &event->truth, mode))
            simt_vote(x, event->truth, mode);
        return RULE_SIMT_VOTE;
    case CODE_BARRIER:
        return x->w->theta == all_lanes(x->w) ? simt_barrier_reach(x, event->actor, mode)
                                              : simt_barrier_div(x, mode);
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
STEP_INLINE enum rule select_rule(struct warp_step *x, struct step_event *event,
                                  const unsigned mode)
{
    stack_entry top = x->stack[x->w->depth - 1];
    x->number = entry_number(top);
    switch (entry_kind(top)) {
    case ENTRY_DIV:
    case ENTRY_SYNC:
    case ENTRY_BRK:
    case ENTRY_CALL:
        simt_token(x, mode);
        return RULE_SIMT_TOKEN;
    case ENTRY_STM:
    case ENTRY_CONT:
        break;
    }
    if (x->w->theta == 0) {
        simt_inact(x, mode);
        return RULE_SIMT_INACT;
    }
    x->s = &x->m->program->stms[x->number];
    event->stm = x->number;
    if (entry_kind(top) == ENTRY_STM)
        return step_statement(x, event, mode);
    if (act(x, &event->truth, mode))
        simt_while_cont(x, event->truth, mode);
    return RULE_SIMT_WHILE_CONT;
}

STEP_INLINE enum rule step_mode(struct machine *machine, uint32_t warp, struct choices *choices,
                                const unsigned mode)
{
    struct warp_step x = view(machine, warp);
    x.m = machine;
    x.choices = choices;
    struct step_event event = {.actor = warp, .stm = CODE_NONE, .active = x.w->theta};
    event.rule = select_rule(&x, &event, mode);
    machine->hits[event.rule]++;
    machine->steps++;
    if (x.w->depth == 0)
        machine_retire(machine, warp, mode & MACHINE_TRACKED);
    if (mode & MACHINE_OBSERVED)
        observe_step(machine, &event);
    if (x.w->depth == 0 || event.rule == RULE_SIMT_BARRIER_REACH)
        barrier_settle(machine, warp, mode);
    return event.rule;
}

STEP_VARIANTS(step_mode)

static uint32_t extra_words(const struct program *program)
{
    return program->warp_count * warp_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->warp_count;
}

/* Section 3.2: every warp starts with P call_Theta, Theta, { Theta |-> 0 }. The last warp of a block
 * may have fewer lanes than the others. */
static void init(struct machine *machine)
{
    const struct program *program = machine->program;
    uint32_t threads = program->launch.threads, width = program->launch.warp;
    for (uint32_t i = 0; i < program->warp_count; i++) {
        struct warp_step x = view(machine, i);
        uint32_t block = i / program->warps_per_block;
        uint32_t first = i % program->warps_per_block * width;
        uint32_t lanes = threads - first < width ? threads - first : width;
        x.w->first_thread = block * threads + first;
        x.w->lanes = lanes;
        x.w->theta = all_lanes(x.w);
        x.w->calls = 1;
        x.w->depth = 2;
        x.stack[0] = entry_call(0, 0);
        x.masks[0] = x.w->theta;
        x.stack[1] = entry_make(ENTRY_STM, program->functions[0].body);
    }
}

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    for (uint32_t warp = 0; warp < machine->actor_count; warp++) {
        struct warp_step x = view(machine, warp);
        const lane_mask *const sets[] = {&x.w->theta, &x.w->delta_b, &x.w->delta_r, &x.w->delta_e};
        struct lane_bits bits = {.first = x.w->first_thread, .threads = x.w->lanes};
        for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
            bits.word = layout_place(machine, sets[i]);
            layout_bits(layout, &bits);
        }
        for (uint32_t i = 0; i < machine->program->stack_depth; i++) {
            bits.word = layout_place(machine, &x.masks[i]);
            layout_bits(layout, &bits);
        }
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    struct warp_step x = view(machine, actor);
    if (x.w->depth == 0 || x.w->theta == 0)
        return CODE_NONE;
    stack_entry top = x.stack[x.w->depth - 1];
    return entry_kind(top) <= ENTRY_CONT ? entry_number(top) : CODE_NONE;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t stm = next_stm(machine, actor);
    *reads = stm == CODE_NONE ? 0 : machine->program->stms[stm].reads;
    *writes = stm == CODE_NONE ? 0 : machine->program->stms[stm].writes;
}

/* CFG.bv for warps: equal stacks, equal trips of the loops on them, equal sites of the calls. The masks
 * say nothing more: every lane is active. */
static bool same_barrier(const struct machine *machine, uint32_t actor, uint32_t other)
{
    struct warp_step x = view(machine, actor), y = view(machine, other);
    size_t bytes = x.w->depth * sizeof *x.stack;
    return x.w->depth == y.w->depth && memcmp(x.stack, y.stack, bytes) == 0 &&
           memcmp(x.beta, y.beta, bytes) == 0;
}

static void pass_barrier(struct machine *machine, uint32_t actor, unsigned mode)
{
    struct warp_step x = view(machine, actor);
    x.m = machine;
    x.number = entry_number(x.stack[x.w->depth - 1]);
    x.s = &machine->program->stms[x.number];
    advance(&x, mode);
    for (uint32_t i = 0; i < x.w->depth; i++)
        if (entry_kind(x.stack[i]) == ENTRY_CONT)
            put(machine, &x.beta[i], 0, mode);
}

const struct semantics semantics_simt = {
    .name = "simt",
    .form = FORM_STRUCTURED,
    .kinds = CODE_KINDS_CORE | 1 << CODE_ASSUME | 1 << CODE_HAVOC | 1 << CODE_ATOMIC |
             1 << CODE_VOTE | 1 << CODE_BARRIER,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct assign_scratch),
    .init = init,
    .layout = layout,
    .step = {step_plain, step_observed, step_tracked, step_both},
    .footprint = footprint,
    .next_stm = next_stm,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_SIMT_BARRIER_S,
    .divergence_rule = RULE_SIMT_BARRIER_F,
};
