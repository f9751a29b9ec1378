/*
 * ref_splits.c - warps with convergence barriers (docs/semantics.md): Table 2 without its order of paths.
 *
 * Each lane has a stack W of its own, and stands with some lanes of its warp: its split, which steps together. Where
 * the lanes of a split part they all put the same barrier t_M on their stacks, M all of them; each barrier has a
 * number. A lane that pops a barrier has left it. A split acts through its lowest lane.
 *
 * In the rules: W is the stack of each lane of the split, Theta its lanes, A those for which the guard holds.
 */
#include "engine/reference/ref_internal.h"

void ref_splits_start(struct ref *r)
{
    uint32_t threads = r->kernel->launch.threads, width = r->kernel->launch.warp;
    for (uint32_t t = 0; t < r->thread_count; t++) {
        struct ref_actor *x = &r->actors[t];
        uint32_t in_block = t % threads / width * width;
        x->first_thread = t - t % threads + in_block;
        x->lanes = threads - in_block < width ? threads - in_block : width;
        x->together = x->first_thread;
        ref_enter(r, t, r->kernel->main, NULL);
        x->stack = ref_push(r, REF_CALL, NULL, NULL);
        for (uint32_t l = 0; l < x->lanes && !r->unknown; l++)
            x->stack->mask.has[l] = true;
        x->stack = ref_push_list(r, r->kernel->main->body, x->stack);
    }
    r->names_given = r->thread_count;
}

/* ---- splits ---- */

/* The split that the lane is in. */
static struct ref_group split_of(const struct ref *r, uint32_t thread)
{
    const struct ref_actor *x = &r->actors[thread];
    struct ref_group group = {.first = x->first_thread};
    for (uint32_t t = x->first_thread; t < x->first_thread + x->lanes; t++)
        if (r->actors[t].stack && r->actors[t].together == x->together)
            group.threads[group.count++] = t;
    return group;
}

struct ref_lanes ref_splits_lanes(const struct ref *r, uint32_t thread)
{
    const struct ref_group split = split_of(r, thread);
    struct ref_lanes theta = {{false}};
    for (uint32_t i = 0; i < split.count; i++)
        theta.has[split.threads[i] - split.first] = true;
    return theta;
}

uint32_t ref_splits_leader(const struct ref *r, uint32_t thread)
{
    return split_of(r, thread).threads[0];
}

static struct ref_item **stack_of(struct ref *r, const struct ref_group *split, uint32_t i)
{
    return &r->actors[split->threads[i]].stack;
}

static void pop_all(struct ref *r, const struct ref_group *split)
{
    for (uint32_t i = 0; i < split->count; i++)
        *stack_of(r, split, i) = ref_pop(r, *stack_of(r, split, i));
}

/* W becomes t_Theta W, the same barrier for each. */
static void enter_barrier(struct ref *r, const struct ref_group *split, enum ref_item_kind kind,
                          const struct ast_stm *call)
{
    struct ref_lanes theta = ref_splits_lanes(r, split->threads[0]);
    uint32_t name = r->names_given++;
    for (uint32_t i = 0; i < split->count && !r->unknown; i++) {
        struct ref_item **stack = stack_of(r, split, i);
        *stack = ref_push(r, kind, call, *stack);
        (*stack)->mask = theta;
        (*stack)->name = name;
    }
}

/* The lanes of A and the others go on as two splits. */
static void part(struct ref *r, const struct ref_group *split, const bool *A)
{
    uint32_t of_A = r->names_given++, others = r->names_given++;
    for (uint32_t i = 0; i < split->count; i++)
        r->actors[split->threads[i]].together = A[i] ? of_A : others;
}

/* ---- control ---- */

/* if (e) S1 else S2 W, Theta  ==>  S1 sync_Theta W, A   |   S2 sync_Theta W, Theta \ A */
static void branch(struct ref *r, const struct ref_group *split, const struct ast_stm *s)
{
    bool A[LIMIT_WARP];
    if (!ref_group_holds(r, split, s->value, A))
        return;
    pop_all(r, split);
    enter_barrier(r, split, REF_SYNC, NULL);
    for (uint32_t i = 0; i < split->count; i++)
        *stack_of(r, split, i) =
            ref_push_body(r, A[i] ? s->body : s->other, *stack_of(r, split, i));
    part(r, split, A);
}

/* while (e) S W, Theta  ==>  S while^o (e) S brk_Theta W, A   |   brk_Theta W, Theta \ A */
static void enter_loop(struct ref *r, const struct ref_group *split, const struct ast_stm *s)
{
    bool A[LIMIT_WARP];
    if (!ref_group_holds(r, split, s->value, A))
        return;
    pop_all(r, split);
    enter_barrier(r, split, REF_BRK, NULL);
    for (uint32_t i = 0; i < split->count; i++)
        if (A[i])
            *stack_of(r, split, i) =
                ref_push_body(r, s->body, ref_push(r, REF_CONT, s, *stack_of(r, split, i)));
    part(r, split, A);
}

/* while^o (e) S W, Theta  ==>  S while^o (e) S W, A   |   W, Theta \ A */
static void continue_loop(struct ref *r, const struct ref_group *split, const struct ast_stm *s)
{
    bool A[LIMIT_WARP];
    if (!ref_group_holds(r, split, s->value, A))
        return;
    for (uint32_t i = 0; i < split->count; i++) {
        struct ref_item **stack = stack_of(r, split, i);
        (*stack)->trips++;
        *stack = A[i] ? ref_push_body(r, s->body, *stack) : ref_pop(r, *stack);
    }
    part(r, split, A);
}

/* break; V brk_M W  ==>  brk_M W      return; V call_M W  ==>  call_M W */
static void leave_to(struct ref *r, const struct ref_group *split, enum ref_item_kind kind)
{
    for (uint32_t i = 0; i < split->count; i++)
        while ((*stack_of(r, split, i))->kind != kind)
            *stack_of(r, split, i) = ref_pop(r, *stack_of(r, split, i));
}

/* f(); W, Theta  ==>  phi(f) call_Theta W, Theta */
static void call(struct ref *r, const struct ref_group *split, const struct ast_stm *s)
{
    if (ref_calls_on(*stack_of(r, split, 0)) == LIMIT_CALL_DEPTH) {
        ref_fail(r, REF_CALL_DEPTH, split->threads[0]);
        return;
    }
    pop_all(r, split);
    enter_barrier(r, split, REF_CALL, s);
    for (uint32_t i = 0; i < split->count; i++) {
        *stack_of(r, split, i) = ref_push_list(r, s->function->body, *stack_of(r, split, i));
        ref_enter(r, split->threads[i], s->function, s);
    }
}

/* exit; W, Theta  ==>  eps      at the end of the kernel: call_M, Theta  ==>  eps */
static void end(struct ref *r, const struct ref_group *split)
{
    for (uint32_t i = 0; i < split->count; i++)
        while (*stack_of(r, split, i))
            *stack_of(r, split, i) = ref_pop(r, *stack_of(r, split, i));
}

/* assert(e); W, Theta  ==>  W, Theta if e holds for all of Theta; assume(e) likewise */
static void check(struct ref *r, const struct ref_group *split, const struct ast_stm *s,
                  enum ref_end otherwise)
{
    bool A[LIMIT_WARP];
    if (!ref_group_holds(r, split, s->value, A))
        return;
    for (uint32_t i = 0; i < split->count; i++)
        if (!A[i])
            ref_fail(r, otherwise, split->threads[i]);
    if (!ref_failed(r))
        pop_all(r, split);
}

/* ---- barriers ---- */

/* A barrier of the block wants the warp whole. */
static enum rule barrier(struct ref *r, const struct ref_group *split)
{
    if (split->count < r->actors[split->threads[0]].lanes) {
        ref_fail(r, REF_BARRIER_DIVERGENCE, split->threads[0]);
        return RULE_CONV_BARRIER_DIV;
    }
    for (uint32_t i = 0; i < split->count; i++)
        r->actors[split->threads[i]].waits = true;
    return RULE_CONV_BARRIER_REACH;
}

/* BSYNC: t_M W, Theta, and the split waits. */
static void arrive(struct ref *r, const struct ref_group *split)
{
    for (uint32_t i = 0; i < split->count; i++)
        r->actors[split->threads[i]].arrived = true;
}

/* The lane has entered the barrier, and has not left it. */
static bool is_under(const struct ref_actor *x, uint32_t name)
{
    const struct ref_item *item = x->stack;
    while (item && item->name != name)
        item = item->rest;
    return item;
}

/* Every lane of M waits at the barrier on top of the lane's stack, or has left it. */
static bool is_complete(const struct ref *r, uint32_t thread)
{
    const struct ref_item *barrier = r->actors[thread].stack;
    for (uint32_t l = 0; l < r->actors[thread].lanes; l++) {
        const struct ref_actor *x = &r->actors[r->actors[thread].first_thread + l];
        bool is_there = x->arrived && x->stack->name == barrier->name;
        if (barrier->mask.has[l] && is_under(x, barrier->name) && !is_there)
            return false;
    }
    return true;
}

bool ref_splits_complete(const struct ref *r, uint32_t thread)
{
    return r->actors[thread].arrived && is_complete(r, thread);
}

/* t_M W, Theta_1   |  ..  |   t_M W, Theta_n    ==>    W, Theta_1 + .. + Theta_n */
void ref_splits_join(struct ref *r, uint32_t thread)
{
    const struct ref_actor *one = &r->actors[thread];
    uint32_t barrier = one->stack->name, first = one->first_thread, lanes = one->lanes;
    uint32_t together = r->names_given++;
    r->access_count = 0;
    r->ways = 1;
    for (uint32_t t = first; t < first + lanes; t++) {
        struct ref_actor *x = &r->actors[t];
        if (!x->arrived || x->stack->name != barrier)
            continue;
        if (x->stack->kind == REF_CALL)
            ref_leave(r, t);
        x->stack = ref_pop(r, x->stack);
        x->arrived = false;
        x->together = together;
    }
}

/* ---- which rule applies ---- */

static enum rule statement(struct ref *r, const struct ref_group *split, const struct ast_stm *s,
                           const struct ref_told *told)
{
    switch ((int)s->kind) { /* the core's kinds; all others are not known here */
    case STM_SKIP:
    case STM_MEMBAR:
        pop_all(r, split);
        return RULE_CONV_SKIP;
    case STM_ASSIGN:
    case STM_HAVOC:
    case STM_ATOMIC:
    case STM_VOTE:
        if (ref_group_does(r, split, s, told))
            pop_all(r, split);
        return s->kind == STM_ASSIGN   ? RULE_CONV_ASSIGN
               : s->kind == STM_HAVOC  ? RULE_CONV_HAVOC
               : s->kind == STM_ATOMIC ? RULE_CONV_ATOMIC
                                       : RULE_CONV_VOTE;
    case STM_IF:
        branch(r, split, s);
        return RULE_CONV_IF;
    case STM_WHILE:
        enter_loop(r, split, s);
        return RULE_CONV_WHILE;
    case STM_BREAK:
        leave_to(r, split, REF_BRK);
        return RULE_CONV_BREAK;
    case STM_CALL:
        call(r, split, s);
        return RULE_CONV_CALL;
    case STM_RETURN:
        leave_to(r, split, REF_CALL);
        return RULE_CONV_RETURN;
    case STM_EXIT:
        end(r, split);
        return RULE_CONV_EXIT;
    case STM_ASSERT:
        check(r, split, s, REF_ASSERT_FAILS);
        return RULE_CONV_ASSERT;
    case STM_ASSUME:
        check(r, split, s, REF_INFEASIBLE);
        return RULE_CONV_ASSUME;
    case STM_BARRIER:
        return barrier(r, split);
    default:
        return ref_unknown(r, ast_stm_names[s->kind]);
    }
}

enum rule ref_splits_step(struct ref *r, uint32_t thread, const struct ref_told *told)
{
    const struct ref_group split = split_of(r, thread);
    const struct ref_item *top = r->actors[thread].stack;
    if (top->kind == REF_STM)
        return statement(r, &split, top->stm, told);
    if (top->kind == REF_CONT) {
        continue_loop(r, &split, top->stm);
        return RULE_CONV_WHILE_CONT;
    }
    if (!top->rest) {
        end(r, &split);
        return RULE_CONV_END;
    }
    arrive(r, &split);
    return RULE_CONV_ARRIVE;
}
