/*
 * ref_warps.c - simt-correctness Table 2: the rules of a warp.
 *
 * W is the warp's stack, topmost first; Theta the lanes that are active; Delta what each lane waits for: nothing (0),
 * the end of a loop (b), of a function (r), or it has ended (e). A lane is a thread: first_thread + lane.
 */
#include "engine/reference/ref_internal.h"

void ref_warps_start(struct ref *r)
{
    uint32_t threads = r->kernel->launch.threads, width = r->kernel->launch.warp;
    for (uint32_t i = 0; i < r->actor_count; i++) {
        struct ref_actor *w = &r->actors[i];
        uint32_t in_block = i % r->warps_a_block * width;
        w->first_thread = i / r->warps_a_block * threads + in_block;
        w->lanes = threads - in_block < width ? threads - in_block : width;
        for (uint32_t l = 0; l < w->lanes; l++) {
            w->theta.has[l] = true;
            w->delta[l] = '0';
            ref_enter(r, w->first_thread + l, r->kernel->main, NULL);
        }
        w->stack = ref_push(r, REF_CALL, NULL, NULL);
        if (!w->stack)
            return;
        w->stack->mask = w->theta;
        w->stack = ref_push_list(r, r->kernel->main->body, w->stack);
    }
}

/* ---- sets of lanes ---- */

static bool is_empty(const struct ref_lanes *set)
{
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        if (set->has[l])
            return false;
    return true;
}

static struct ref_lanes minus(const struct ref_lanes *a, const struct ref_lanes *b)
{
    struct ref_lanes result = {{false}};
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        result.has[l] = a->has[l] && !b->has[l];
    return result;
}

/* The lanes of the set as threads, ascending. */
static uint32_t threads_of(const struct ref_actor *w, const struct ref_lanes *set,
                           uint32_t *threads)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < w->lanes; l++)
        if (set->has[l])
            threads[count++] = w->first_thread + l;
    return count;
}

/* act(Theta, e): the active lanes for which e holds. */
static struct ref_lanes act(struct ref *r, const struct ref_actor *w, const struct ast_expr *e)
{
    struct ref_lanes A = {{false}};
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta.has[l])
            A.has[l] = ref_value(r, w->first_thread + l, e) != 0;
    return A;
}

static void push_token(struct ref *r, struct ref_actor *w, enum ref_item_kind kind,
                       const struct ast_stm *stm, const struct ref_lanes *mask)
{
    w->stack = ref_push(r, kind, stm, w->stack);
    if (!r->unknown)
        w->stack->mask = *mask;
}

static void pop(struct ref *r, struct ref_actor *w)
{
    w->stack = ref_pop(r, w->stack);
}

/* ---- control ---- */

/* if^w    S2 div_A S1 sync_Theta W, Theta \ A;    if_then^w    S1 div_(Theta \ A) S2 sync_Theta W, A */
static void branch(struct ref *r, struct ref_actor *w, const struct ast_stm *s)
{
    struct ref_lanes A = act(r, w, s->value), others = minus(&w->theta, &A);
    bool then_first = r->options.then_first;
    if (ref_failed(r))
        return;
    pop(r, w);
    push_token(r, w, REF_SYNC, NULL, &w->theta);
    w->stack = ref_push_body(r, then_first ? s->other : s->body, w->stack);
    push_token(r, w, REF_DIV, NULL, then_first ? &others : &A);
    w->stack = ref_push_body(r, then_first ? s->body : s->other, w->stack);
    w->theta = then_first ? A : others;
}

/* while (e) S W, Theta  ==>  S while^o (e) S brk_Theta W, A */
static void enter_loop(struct ref *r, struct ref_actor *w, const struct ast_stm *s)
{
    struct ref_lanes A = act(r, w, s->value);
    if (ref_failed(r))
        return;
    pop(r, w);
    push_token(r, w, REF_BRK, NULL, &w->theta);
    w->stack = ref_push(r, REF_CONT, s, w->stack);
    w->stack = ref_push_body(r, s->body, w->stack);
    w->theta = A;
}

/* while^o (e) S W, Theta  ==>  S while^o (e) S W, A */
static void continue_loop(struct ref *r, struct ref_actor *w, const struct ast_stm *s)
{
    struct ref_lanes A = act(r, w, s->value);
    if (ref_failed(r))
        return;
    w->stack->trips++;
    w->stack = ref_push_body(r, s->body, w->stack);
    w->theta = A;
}

/* S tau W becomes tau W. */
static void to_token(struct ref *r, struct ref_actor *w)
{
    while (w->stack->kind == REF_STM || w->stack->kind == REF_CONT)
        pop(r, w);
}

/* break^w, return^w, exit^w: [S] tau W, Theta, Delta  ==>  tau W, {}, Delta[Theta |-> state] */
static void disable(struct ref *r, struct ref_actor *w, char state)
{
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta.has[l])
            w->delta[l] = state;
    memset(&w->theta, 0, sizeof w->theta);
    to_token(r, w);
}

/* awaits(delta, t): delta = b -> t = brk, delta = r -> t = call, never for e */
static bool awaits(char delta, enum ref_item_kind t)
{
    if (delta == 'e')
        return false;
    return (delta != 'b' || t == REF_BRK) && (delta != 'r' || t == REF_CALL);
}

/* token^w: the lanes of the token that awaited it go on; of those in it, who awaits nothing is active */
static void token(struct ref *r, struct ref_actor *w)
{
    const struct ref_item *tau = w->stack;
    struct ref_lanes theta = {{false}};
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (!tau->mask.has[l])
            continue;
        if (awaits(w->delta[l], tau->kind))
            w->delta[l] = '0';
        theta.has[l] = w->delta[l] == '0';
        if (tau->kind == REF_CALL)
            ref_leave(r, w->first_thread + l);
    }
    w->theta = theta;
    pop(r, w);
}

/* f(); W, Theta  ==>  phi(f) call_Theta W, Theta */
static void call(struct ref *r, struct ref_actor *w, const struct ast_stm *s)
{
    uint32_t threads[LIMIT_WARP], count = threads_of(w, &w->theta, threads);
    if (ref_calls_on(w->stack) == LIMIT_CALL_DEPTH) {
        ref_fail(r, REF_CALL_DEPTH, threads[0]);
        return;
    }
    pop(r, w);
    push_token(r, w, REF_CALL, s, &w->theta);
    w->stack = ref_push_list(r, s->function->body, w->stack);
    for (uint32_t i = 0; i < count; i++)
        ref_enter(r, threads[i], s->function, s);
}

/* assert(e); W, Theta  ==>  W, Theta if e holds for all of Theta; assume(e) likewise */
static void check(struct ref *r, struct ref_actor *w, const struct ast_stm *s,
                  enum ref_end otherwise)
{
    struct ref_lanes A = act(r, w, s->value), others = minus(&w->theta, &A);
    uint32_t threads[LIMIT_WARP];
    if (ref_failed(r))
        return;
    if (threads_of(w, &others, threads) > 0)
        ref_fail(r, otherwise, threads[0]);
    else
        pop(r, w);
}

/* ---- memory, votes (ref_group.c) ---- */

static struct ref_group active(const struct ref_actor *w)
{
    struct ref_group group = {.first = w->first_thread};
    group.count = threads_of(w, &w->theta, group.threads);
    return group;
}

static void together(struct ref *r, struct ref_actor *w, const struct ast_stm *s,
                     const struct ref_told *told)
{
    const struct ref_group group = active(w);
    if (ref_group_does(r, &group, s, told))
        pop(r, w);
}

/* ---- barriers ---- */

/* The warp waits; a lane that is elsewhere, or has ended, is barrier divergence. */
static enum rule barrier(struct ref *r, struct ref_actor *w)
{
    uint32_t threads[LIMIT_WARP], count = threads_of(w, &w->theta, threads);
    if (count < w->lanes) {
        ref_fail(r, REF_BARRIER_DIVERGENCE, threads[0]);
        return RULE_SIMT_BARRIER_DIV;
    }
    w->waits = true;
    return RULE_SIMT_BARRIER_REACH;
}

/* ---- which rule applies ---- */

static enum rule statement(struct ref *r, struct ref_actor *w, const struct ast_stm *s,
                           const struct ref_told *told)
{
    switch ((int)s->kind) { /* the core's kinds; all others are not known here */
    case STM_SKIP:
    case STM_MEMBAR:
        pop(r, w);
        return RULE_SIMT_SKIP;
    case STM_ASSIGN:
        together(r, w, s, told);
        return RULE_SIMT_ASSIGN;
    case STM_IF:
        branch(r, w, s);
        return r->options.then_first ? RULE_SIMT_IF_THEN : RULE_SIMT_IF;
    case STM_WHILE:
        enter_loop(r, w, s);
        return RULE_SIMT_WHILE;
    case STM_BREAK:
        disable(r, w, 'b');
        return RULE_SIMT_BREAK;
    case STM_CALL:
        call(r, w, s);
        return RULE_SIMT_CALL;
    case STM_RETURN:
        disable(r, w, 'r');
        return RULE_SIMT_RETURN;
    case STM_EXIT:
        disable(r, w, 'e');
        return RULE_SIMT_EXIT;
    case STM_ASSERT:
        check(r, w, s, REF_ASSERT_FAILS);
        return RULE_SIMT_ASSERT;
    case STM_ASSUME:
        check(r, w, s, REF_INFEASIBLE);
        return RULE_SIMT_ASSUME;
    case STM_HAVOC:
        together(r, w, s, told);
        return RULE_SIMT_HAVOC;
    case STM_ATOMIC:
        together(r, w, s, told);
        return RULE_SIMT_ATOMIC;
    case STM_VOTE:
        together(r, w, s, told);
        return RULE_SIMT_VOTE;
    case STM_BARRIER:
        return barrier(r, w);
    default:
        return ref_unknown(r, ast_stm_names[s->kind]);
    }
}

/* A token on top: token^w. A statement and nobody active: inact^w. Otherwise the statement's rule. */
enum rule ref_warps_step(struct ref *r, uint32_t warp, const struct ref_told *told)
{
    struct ref_actor *w = &r->actors[warp];
    if (w->stack->kind != REF_STM && w->stack->kind != REF_CONT) {
        token(r, w);
        return RULE_SIMT_TOKEN;
    }
    if (is_empty(&w->theta)) {
        to_token(r, w);
        return RULE_SIMT_INACT;
    }
    if (w->stack->kind == REF_STM)
        return statement(r, w, w->stack->stm, told);
    continue_loop(r, w, w->stack->stm);
    return RULE_SIMT_WHILE_CONT;
}
