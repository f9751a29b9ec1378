/*
 * The engine against a second, naive stepper: Tables 2 and 4 of simt-correctness executed literally
 * on lists of statements of the core tree - no slices, no code, no offsets, no bit masks - over random
 * kernels. Every step must fire the same rule and reach the same masks and the same memory. Barriers
 * too: here every loop counts its trips from where it was entered, and is never reset.
 */
#include "engine/forms/lower.h"
#include "engine/machine/choice.h"
#include "engine/machine/machine.h"
#include "engine/schedule/sched.h"
#include "engine/warps/simt.h"
#include "engine/warps/threads.h"
#include "fuzz/gen/gen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fuzz/gen/naive_memory.h"

enum { KERNELS = 400, STEPS = 3000 };

/* ---- stacks: cons lists of single statements, contexts and tokens ---- */

enum item_kind {
    ITEM_STM,
    ITEM_WHILE_CONT,
    ITEM_BRK,
    ITEM_CALL,
    ITEM_DIV,
    ITEM_SYNC,
    ITEM_EVALUATED
};

struct item {
    enum item_kind kind;
    const struct ast_stm *stm;
    bool mask[LIMIT_WARP]; /* tokens */
    int32_t *cell, value;  /* x := v */
    uint32_t trips;        /* ITEM_WHILE_CONT: since the loop was entered */
    const struct item *rest;
};

static const struct item *cons(struct naive *n, enum item_kind kind, const struct ast_stm *stm,
                               const bool *mask, const struct item *rest)
{
    struct item *item = ARENA_NEW(n->arena, struct item);
    item->kind = kind;
    item->stm = stm;
    if (mask)
        memcpy(item->mask, mask, sizeof item->mask);
    item->rest = rest;
    return item;
}

static const struct ast_stm SKIP = {.kind = STM_SKIP};

/* S W: every statement of the list an item; blocks are only parentheses; the empty list is `;`. */
static const struct item *cons_flat(struct naive *n, const struct ast_stm *list,
                                    const struct item *rest)
{
    if (!list)
        return rest;
    rest = cons_flat(n, list->next, rest);
    if (list->kind == STM_BLOCK)
        return cons_flat(n, list->body, rest);
    return cons(n, ITEM_STM, list, NULL, rest);
}

static const struct item *cons_list(struct naive *n, const struct ast_stm *list,
                                    const struct item *rest)
{
    const struct item *result = cons_flat(n, list, rest);
    return result == rest ? cons(n, ITEM_STM, &SKIP, NULL, rest) : result;
}

/* A body of if/while: one statement, not the list it may be in. */
static const struct item *cons_body(struct naive *n, const struct ast_stm *body,
                                    const struct item *rest)
{
    if (body && body->kind == STM_BLOCK)
        return cons_list(n, body->body, rest);
    return cons(n, ITEM_STM, body ? body : &SKIP, NULL, rest);
}

/* ---- Table 4 ---- */

static bool naive_write_target(struct naive *n, uint32_t thread, const struct ast_stm *s,
                               int32_t **cell)
{
    int32_t index = s->target.index ? naive_eval(n, thread, s->target.index) : 0;
    if (n->error)
        return false;
    if (index < 0 || (uint32_t)index >= s->target.var->length) {
        n->error = "out_of_bounds";
        return false;
    }
    *cell = naive_cell(n, thread, s->target.var, (uint32_t)index);
    return true;
}

/* ---- barriers ---- */

/* Who stands where in front of a barrier: the same statements, calls from the same places, loops in the
 * same trip. ITEM_CALL has the call as its statement. */
static bool same_place(const struct item *a, const struct item *b)
{
    for (; a && b; a = a->rest, b = b->rest)
        if (a->kind != b->kind || a->stm != b->stm || a->trips != b->trips)
            return false;
    return a == b;
}

/* The stacks of a block's actors, of which each waits or has ended: nobody can go on alone. */
static void settle(struct naive *n, const struct item **stacks, bool *waits, uint32_t count)
{
    bool waiting = false, together = true;
    for (uint32_t i = 0; i < count; i++) {
        if (stacks[i] && !waits[i])
            return;
        waiting |= waits[i];
        together &= waits[i] && same_place(stacks[i], stacks[0]);
    }
    if (!waiting)
        return;
    if (!together)
        n->error = "barrier_divergence";
    for (uint32_t i = 0; i < count && together; i++) {
        stacks[i] = stacks[i]->rest;
        waits[i] = false;
    }
}

/* ---- atomics, havoc ---- */

static int32_t *naive_place(struct naive *n, uint32_t thread, const struct ast_lvalue *place)
{
    int32_t index = place->index ? naive_eval(n, thread, place->index) : 0;
    if (!n->error && (index < 0 || (uint32_t)index >= place->var->length))
        n->error = "out_of_bounds";
    return n->error ? NULL : naive_cell(n, thread, place->var, (uint32_t)index);
}

struct naive_atomic {
    int32_t *cell, a, b;
};

static bool naive_operands(struct naive *n, uint32_t thread, const struct ast_stm *s,
                           struct naive_atomic *atomic)
{
    atomic->cell = naive_place(n, thread, &s->place);
    atomic->a = naive_eval(n, thread, s->arguments);
    atomic->b = s->arguments->next ? naive_eval(n, thread, s->arguments->next) : 0;
    return !n->error;
}

static void naive_apply(struct naive *n, uint32_t thread, const struct ast_stm *s,
                        const struct naive_atomic *x)
{
    int32_t old = *x->cell;
    const int32_t values[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = ast_eval_binary(BINARY_ADD, old, x->a),
        [ATOMIC_MIN] = old < x->a ? old : x->a,
        [ATOMIC_MAX] = old > x->a ? old : x->a,
        [ATOMIC_AND] = old & x->a,
        [ATOMIC_OR] = old | x->a,
        [ATOMIC_EXCH] = x->a,
        [ATOMIC_CAS] = old == x->a ? x->b : old,
    };
    *x->cell = values[s->atomic];
    if (s->target.var)
        *naive_cell(n, thread, s->target.var, 0) = old;
}

static int32_t naive_choice(struct naive *n, uint32_t thread)
{
    return choice_value(n->program->launch.seed, thread, n->choices[thread]++);
}

static uint32_t count_calls(const struct item *T)
{
    uint32_t count = 0;
    for (; T; T = T->rest)
        count += T->kind == ITEM_CALL;
    return count;
}

static void drop_frame(struct naive *n, uint32_t thread)
{
    if (n->frames[thread]->below)
        n->frames[thread] = n->frames[thread]->below;
}

static enum rule thread_statement(struct naive *n, uint32_t thread, const struct item **stack)
{
    const struct item *T = *stack;
    const struct ast_stm *s = T->stm;
    struct item *evaluated;
    int32_t v;
    if (s->kind == STM_SKIP || s->kind == STM_MEMBAR) {
        *stack = T->rest;
        return RULE_THR_SKIP;
    }
    switch ((int)s->kind) { /* the core's kinds; the default is for all others */
    case STM_ASSIGN:
        evaluated = ARENA_NEW(n->arena, struct item);
        evaluated->kind = ITEM_EVALUATED;
        if (!naive_write_target(n, thread, s, &evaluated->cell))
            return RULE_THR_ASSIGN_RD;
        evaluated->value = naive_eval(n, thread, s->value);
        evaluated->rest = T->rest;
        if (!n->error)
            *stack = evaluated;
        return RULE_THR_ASSIGN_RD;
    case STM_IF:
        v = naive_eval(n, thread, s->value);
        if (!n->error)
            *stack = cons_body(n, v ? s->body : s->other, T->rest);
        return v ? RULE_THR_IF_TT : RULE_THR_IF_FF;
    case STM_WHILE:
        v = naive_eval(n, thread, s->value);
        if (v && !n->error)
            *stack = cons_body(
                n, s->body,
                cons(n, ITEM_WHILE_CONT, s, NULL, cons(n, ITEM_BRK, NULL, NULL, T->rest)));
        else if (!n->error)
            *stack = T->rest;
        return v ? RULE_THR_WHILE_TT : RULE_THR_WHILE_FF;
    case STM_BREAK:
        while (T->kind != ITEM_BRK)
            T = T->rest;
        *stack = T->rest;
        return RULE_THR_BREAK;
    case STM_CALL:
        if (count_calls(T) == LIMIT_CALL_DEPTH) {
            n->error = "call_depth";
            return RULE_THR_CALL;
        }
        *stack = cons_list(n, s->function->body, cons(n, ITEM_CALL, s, NULL, T->rest));
        n->frames[thread] = frame_new(n, s->function, n->frames[thread]);
        return RULE_THR_CALL;
    case STM_RETURN:
        while (T->kind != ITEM_CALL)
            T = T->rest;
        *stack = T->rest;
        drop_frame(n, thread);
        return RULE_THR_RETURN;
    case STM_EXIT:
        *stack = NULL;
        return RULE_THR_EXIT;
    case STM_ASSERT:
        v = naive_eval(n, thread, s->value);
        if (!n->error && !v)
            n->error = "assert_fails";
        if (!n->error)
            *stack = T->rest;
        return RULE_THR_ASSERT;
    case STM_ASSUME:
        v = naive_eval(n, thread, s->value);
        if (!n->error && !v)
            n->error = "infeasible";
        if (!n->error)
            *stack = T->rest;
        return RULE_THR_ASSUME;
    case STM_HAVOC: {
        int32_t *cell = naive_place(n, thread, &s->place);
        if (cell) {
            *cell = naive_choice(n, thread);
            *stack = T->rest;
        }
        return RULE_THR_HAVOC;
    }
    case STM_ATOMIC: {
        struct naive_atomic atomic;
        if (naive_operands(n, thread, s, &atomic)) {
            naive_apply(n, thread, s, &atomic);
            *stack = T->rest;
        }
        return RULE_THR_ATOMIC;
    }
    case STM_BARRIER:
        return RULE_THR_BARRIER_REACH;
    default:
        fail_msg("statement kind %d is not core", (int)s->kind);
        return RULE_NONE;
    }
}

/* The continuing loop, one trip later. */
static const struct item *next_trip(struct naive *n, const struct item *loop)
{
    struct item *item = ARENA_NEW(n->arena, struct item);
    *item = *loop;
    item->trips++;
    return item;
}

static enum rule naive_thread_step(struct naive *n, uint32_t thread, const struct item **stack)
{
    const struct item *T = *stack;
    int32_t v;
    switch (T->kind) {
    case ITEM_STM:
        return thread_statement(n, thread, stack);
    case ITEM_EVALUATED:
        *T->cell = T->value;
        *stack = T->rest;
        return RULE_THR_ASSIGN_WR;
    case ITEM_WHILE_CONT:
        v = naive_eval(n, thread, T->stm->value);
        if (!n->error)
            *stack = v ? cons_body(n, T->stm->body, next_trip(n, T)) : T->rest;
        return v ? RULE_THR_WHILE_CONT_TT : RULE_THR_WHILE_CONT_FF;
    case ITEM_BRK:
    case ITEM_CALL:
        *stack = T->rest;
        if (T->kind == ITEM_CALL)
            drop_frame(n, thread);
        return RULE_THR_CONTEXT;
    case ITEM_DIV:
    case ITEM_SYNC:
        break;
    }
    fail_msg("no thread rule");
    return RULE_NONE;
}

/* ---- Table 2 ---- */

struct naive_warp {
    const struct item *W;
    bool theta[LIMIT_WARP];
    char delta[LIMIT_WARP];
    uint32_t first, lanes;
};

static bool any(const struct naive_warp *w)
{
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta[l])
            return true;
    return false;
}

static bool naive_awaits(char delta, enum item_kind t)
{
    if (delta == 'e')
        return false;
    return (delta != 'b' || t == ITEM_BRK) && (delta != 'r' || t == ITEM_CALL);
}

static void naive_enable(struct naive *n, struct naive_warp *w, const struct item *token)
{
    bool theta[LIMIT_WARP] = {false};
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (!token->mask[l])
            continue;
        if (naive_awaits(w->delta[l], token->kind))
            w->delta[l] = '0';
        theta[l] = w->delta[l] == '0';
        if (token->kind == ITEM_CALL)
            drop_frame(n, w->first + l);
    }
    memcpy(w->theta, theta, sizeof theta);
}

static void naive_act(struct naive *n, const struct naive_warp *w, const struct ast_expr *e,
                      bool *A, bool *not_A)
{
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        bool on = l < w->lanes && w->theta[l];
        A[l] = on && naive_eval(n, w->first + l, e) != 0;
        not_A[l] = on && !A[l];
    }
}

static const struct item *to_token(const struct item *W)
{
    while (W->kind == ITEM_STM || W->kind == ITEM_WHILE_CONT)
        W = W->rest;
    return W;
}

static void disable(struct naive_warp *w, char state)
{
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta[l])
            w->delta[l] = state;
    memset(w->theta, 0, sizeof w->theta);
    w->W = to_token(w->W);
}

/* `order`: the permutation that the engine took; it must be one of Theta. */
static void naive_assign(struct naive *n, struct naive_warp *w, const struct ast_stm *s,
                         const uint8_t *order, uint32_t count)
{
    int32_t *cell[LIMIT_WARP] = {NULL}, value[LIMIT_WARP];
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta[l] && naive_write_target(n, w->first + l, s, &cell[l]))
            value[l] = naive_eval(n, w->first + l, s->value);
    if (n->error)
        return;
    uint32_t written = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(w->theta[order[i]] && cell[order[i]]);
        *cell[order[i]] = value[order[i]];
        cell[order[i]] = NULL;
        written++;
    }
    for (uint32_t l = 0; l < w->lanes; l++)
        written -= w->theta[l];
    assert_int_equal(written, 0);
    w->W = w->W->rest;
}

/* Locations and operands of all, then one after another in the order that the engine took. */
static void naive_atomics(struct naive *n, struct naive_warp *w, const struct ast_stm *s,
                          const uint8_t *order, uint32_t count)
{
    struct naive_atomic atomics[LIMIT_WARP];
    bool left[LIMIT_WARP];
    memcpy(left, w->theta, sizeof left);
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta[l] && !naive_operands(n, w->first + l, s, &atomics[l]))
            return;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(left[order[i]]);
        left[order[i]] = false;
        naive_apply(n, w->first + order[i], s, &atomics[order[i]]);
    }
    for (uint32_t l = 0; l < w->lanes; l++)
        assert_false(left[l]);
    w->W = w->W->rest;
}

static void naive_havocs(struct naive *n, struct naive_warp *w, const struct ast_stm *s,
                         const uint8_t *order, uint32_t count)
{
    int32_t *cells[LIMIT_WARP];
    bool left[LIMIT_WARP];
    memcpy(left, w->theta, sizeof left);
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta[l]) {
            cells[l] = naive_place(n, w->first + l, &s->place);
            if (!cells[l])
                return;
        }
    for (uint32_t i = 0; i < count; i++) {
        assert_true(left[order[i]]);
        left[order[i]] = false;
        *cells[order[i]] = naive_choice(n, w->first + order[i]);
    }
    for (uint32_t l = 0; l < w->lanes; l++)
        assert_false(left[l]);
    w->W = w->W->rest;
}

static void naive_vote(struct naive *n, struct naive_warp *w, const struct ast_stm *s,
                       const bool *A, const bool *not_A)
{
    uint32_t yes = 0, no = 0, ballot = 0;
    for (uint32_t l = 0; l < w->lanes; l++) {
        yes += A[l];
        no += not_A[l];
        if (A[l] && l < 32)
            ballot += 1u << l;
    }
    const int32_t values[VOTE_COUNT] = {[VOTE_ALL] = no == 0,
                                        [VOTE_ANY] = yes > 0,
                                        [VOTE_UNI] = yes == 0 || no == 0,
                                        [VOTE_BALLOT] = (int32_t)ballot};
    for (uint32_t l = 0; l < w->lanes; l++)
        if (w->theta[l])
            *naive_cell(n, w->first + l, s->target.var, 0) = values[s->vote];
    w->W = w->W->rest;
}

static enum rule warp_statement(struct naive *n, struct naive_warp *w, bool then_first,
                                const uint8_t *order, uint32_t count)
{
    const struct item *W = w->W;
    const struct ast_stm *s = W->stm;
    bool A[LIMIT_WARP], not_A[LIMIT_WARP], theta[LIMIT_WARP];
    memcpy(theta, w->theta, sizeof theta);
    switch ((int)s->kind) { /* the core's kinds; the default is for all others */
    case STM_SKIP:
    case STM_MEMBAR:
        w->W = W->rest;
        return RULE_SIMT_SKIP;
    case STM_ASSIGN:
        naive_assign(n, w, s, order, count);
        return RULE_SIMT_ASSIGN;
    case STM_IF:
        naive_act(n, w, s->value, A, not_A);
        if (n->error)
            return then_first ? RULE_SIMT_IF_THEN : RULE_SIMT_IF;
        W = cons(n, ITEM_SYNC, NULL, theta, W->rest);
        if (then_first) {
            W = cons(n, ITEM_DIV, NULL, not_A, cons_body(n, s->other, W));
            w->W = cons_body(n, s->body, W);
            memcpy(w->theta, A, sizeof A);
            return RULE_SIMT_IF_THEN;
        }
        W = cons(n, ITEM_DIV, NULL, A, cons_body(n, s->body, W));
        w->W = cons_body(n, s->other, W);
        memcpy(w->theta, not_A, sizeof not_A);
        return RULE_SIMT_IF;
    case STM_WHILE:
        naive_act(n, w, s->value, A, not_A);
        if (n->error)
            return RULE_SIMT_WHILE;
        W = cons(n, ITEM_BRK, NULL, theta, W->rest);
        w->W = cons_body(n, s->body, cons(n, ITEM_WHILE_CONT, s, NULL, W));
        memcpy(w->theta, A, sizeof A);
        return RULE_SIMT_WHILE;
    case STM_BREAK:
        disable(w, 'b');
        return RULE_SIMT_BREAK;
    case STM_RETURN:
        disable(w, 'r');
        return RULE_SIMT_RETURN;
    case STM_EXIT:
        disable(w, 'e');
        return RULE_SIMT_EXIT;
    case STM_CALL:
        if (count_calls(W) == LIMIT_CALL_DEPTH) {
            n->error = "call_depth";
            return RULE_SIMT_CALL;
        }
        w->W = cons_list(n, s->function->body, cons(n, ITEM_CALL, s, theta, W->rest));
        for (uint32_t l = 0; l < w->lanes; l++)
            if (theta[l])
                n->frames[w->first + l] = frame_new(n, s->function, n->frames[w->first + l]);
        return RULE_SIMT_CALL;
    case STM_ASSERT:
        naive_act(n, w, s->value, A, not_A);
        if (!n->error && memcmp(A, w->theta, sizeof A) != 0)
            n->error = "assert_fails";
        if (!n->error)
            w->W = W->rest;
        return RULE_SIMT_ASSERT;
    case STM_ASSUME:
        naive_act(n, w, s->value, A, not_A);
        if (!n->error && memcmp(A, w->theta, sizeof A) != 0)
            n->error = "infeasible";
        if (!n->error)
            w->W = W->rest;
        return RULE_SIMT_ASSUME;
    case STM_HAVOC:
        naive_havocs(n, w, s, order, count);
        return RULE_SIMT_HAVOC;
    case STM_ATOMIC:
        naive_atomics(n, w, s, order, count);
        return RULE_SIMT_ATOMIC;
    case STM_VOTE:
        naive_act(n, w, s->value, A, not_A);
        if (!n->error)
            naive_vote(n, w, s, A, not_A);
        return RULE_SIMT_VOTE;
    case STM_BARRIER:
        for (uint32_t l = 0; l < w->lanes; l++)
            if (!w->theta[l])
                n->error = "barrier_divergence";
        return n->error ? RULE_SIMT_BARRIER_DIV : RULE_SIMT_BARRIER_REACH;
    default:
        fail_msg("statement kind %d is not core", (int)s->kind);
        return RULE_NONE;
    }
}

static enum rule naive_warp_step(struct naive *n, struct naive_warp *w, bool then_first,
                                 const uint8_t *order, uint32_t count)
{
    const struct item *W = w->W;
    if (W->kind != ITEM_STM && W->kind != ITEM_WHILE_CONT) {
        naive_enable(n, w, W);
        w->W = W->rest;
        return RULE_SIMT_TOKEN;
    }
    if (!any(w)) {
        w->W = to_token(W);
        return RULE_SIMT_INACT;
    }
    if (W->kind == ITEM_STM)
        return warp_statement(n, w, then_first, order, count);
    bool A[LIMIT_WARP], not_A[LIMIT_WARP];
    naive_act(n, w, W->stm->value, A, not_A);
    if (!n->error) {
        w->W = cons_body(n, W->stm->body, next_trip(n, W));
        memcpy(w->theta, A, sizeof A);
    }
    return RULE_SIMT_WHILE_CONT;
}

/* ---- the comparison ---- */

static struct naive *naive_new(struct arena *arena, const struct program *program)
{
    struct naive *n = ARENA_NEW(arena, struct naive);
    n->arena = arena;
    n->program = program;
    n->memory = ARENA_ARRAY(arena, int32_t, program->memory_words);
    program_init_memory(program, n->memory);
    n->choices = ARENA_ARRAY(arena, uint32_t, program->total_threads);
    n->frames = ARENA_ARRAY(arena, struct frame *, program->total_threads);
    for (uint32_t t = 0; t < program->total_threads; t++)
        n->frames[t] = frame_new(n, program->core->main, NULL);
    return n;
}

static void assert_same_memory(const struct naive *n, const struct machine *m)
{
    assert_memory_equal(n->memory, m->memory, n->program->frame_base * sizeof(int32_t));
}

static bool same_end(const struct naive *n, const struct machine *m)
{
    enum status status = machine_status(m);
    if (n->error) {
        assert_string_equal(n->error, status_names[status]);
        return true;
    }
    assert_true(status == STATUS_RUNNING || status == STATUS_TERMINATED);
    return status == STATUS_TERMINATED;
}

static bool is_live(const struct machine *m, uint32_t actor)
{
    bool live = false;
    for (uint32_t i = 0; i < m->head->live_count; i++)
        live |= m->head->live[i] == actor;
    return live;
}

static void count_hits(const struct machine *m, uint64_t *hits)
{
    for (uint32_t r = 0; r <= RULE_COUNT; r++)
        hits[r] += m->hits[r];
}

static uint64_t compare_threads(struct arena *arena, const struct program *program, uint64_t seed,
                                uint64_t *hits)
{
    struct naive *n = naive_new(arena, program);
    struct machine_options options = {0};
    struct machine *m = machine_new(arena, &semantics_threads, program, &options);
    const struct item **T = ARENA_ARRAY(arena, const struct item *, program->total_threads);
    for (uint32_t t = 0; t < program->total_threads; t++)
        T[t] = cons_list(n, program->core->main->body, cons(n, ITEM_CALL, NULL, NULL, NULL));
    bool *waits = ARENA_ARRAY(arena, bool, program->total_threads);
    struct pcg rng = pcg_derive(seed, PCG_SCHEDULE, 7);
    uint64_t steps = 0;
    while (steps < STEPS && machine_status(m) == STATUS_RUNNING) {
        uint32_t t = m->head->live[pcg_below(&rng, m->head->live_count)];
        enum rule rule = machine_step(m, t, NULL), naive_rule = naive_thread_step(n, t, &T[t]);
        uint32_t first = t / program->launch.threads * program->launch.threads;
        waits[t] = naive_rule == RULE_THR_BARRIER_REACH;
        if (!n->error)
            settle(n, T + first, waits + first, program->launch.threads);
        steps++;
        if (same_end(n, m) && n->error)
            break;
        assert_string_equal(rule_table[rule].name, rule_table[naive_rule].name);
        assert_int_equal(threads_state(m, t)->depth == 0, T[t] == NULL);
        assert_int_equal(is_live(m, t), T[t] && !waits[t]);
    }
    assert_same_memory(n, m);
    count_hits(m, hits);
    return steps;
}

static void assert_same_warp(const struct naive_warp *w, const struct machine *m, uint32_t warp)
{
    struct warp_state state = simt_state(m, warp);
    for (uint32_t l = 0; l < w->lanes; l++) {
        assert_int_equal((state.theta >> l) & 1, w->theta[l]);
        assert_int_equal(simt_disable_state(&state, l), w->delta[l]);
    }
    assert_int_equal(state.depth == 0, w->W == NULL);
}

/* After a step of one warp: all of its block. */
static void settle_warps(struct naive *n, struct naive_warp *warps, bool *waits, uint32_t warp)
{
    uint32_t count = n->program->warps_per_block, first = warp / count * count;
    const struct item **stacks = ARENA_ARRAY(n->arena, const struct item *, count);
    for (uint32_t i = 0; i < count; i++)
        stacks[i] = warps[first + i].W;
    settle(n, stacks, waits + first, count);
    for (uint32_t i = 0; i < count; i++)
        warps[first + i].W = stacks[i];
}

static uint64_t compare_simt(struct arena *arena, const struct program *program, uint64_t seed,
                             bool then_first, uint64_t *hits)
{
    struct naive *n = naive_new(arena, program);
    struct machine_options options = {.then_first = then_first};
    struct machine *m = machine_new(arena, &semantics_simt, program, &options);
    struct naive_warp *warps = ARENA_ARRAY(arena, struct naive_warp, program->warp_count);
    for (uint32_t i = 0; i < program->warp_count; i++) {
        struct warp_state state = simt_state(m, i);
        warps[i].first = i / program->warps_per_block * program->launch.threads +
                         i % program->warps_per_block * program->launch.warp;
        assert_int_equal(state.first_thread, warps[i].first);
        warps[i].lanes = state.lanes;
        memset(warps[i].delta, '0', sizeof warps[i].delta);
        memset(warps[i].theta, 1, state.lanes);
        warps[i].W =
            cons_list(n, program->core->main->body, cons(n, ITEM_CALL, NULL, warps[i].theta, NULL));
    }
    bool *waits = ARENA_ARRAY(arena, bool, program->warp_count);
    struct scheduler scheduler;
    struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = seed};
    sched_start(&scheduler, &spec, m, arena);
    uint64_t steps = 0;
    while (steps < STEPS && machine_status(m) == STATUS_RUNNING) {
        uint32_t i = m->head->live[scheduler.choices.pick(&scheduler.choices, m)];
        enum rule rule = machine_step(m, i, &scheduler.choices);
        uint8_t order[LIMIT_WARP];
        uint32_t count = simt_last_write_order(m, order);
        enum rule naive_rule = naive_warp_step(n, &warps[i], then_first, order, count);
        waits[i] = naive_rule == RULE_SIMT_BARRIER_REACH;
        if (!n->error)
            settle_warps(n, warps, waits, i);
        steps++;
        assert_string_equal(rule_table[rule].name, rule_table[naive_rule].name);
        if (same_end(n, m) && n->error)
            break;
        assert_same_warp(&warps[i], m, i);
        assert_int_equal(is_live(m, i), warps[i].W && !waits[i]);
    }
    assert_same_memory(n, m);
    count_hits(m, hits);
    return steps;
}

/* How many of the kernels compile: sync and arrive do not. */
static uint32_t compare_kernels(const struct gen_options *options, uint64_t *steps, uint64_t *hits)
{
    struct arena arena;
    assert_int_equal(arena_init(&arena, (size_t)1 << 30), 0);
    uint32_t compiled = 0;
    for (uint64_t number = 0; number < KERNELS; number++) {
        arena.used = 0;
        struct ast_kernel *kernel = gen_case(&arena, 0x5eed, number, options);
        const char *reason = NULL;
        if (kernel->form != FORM_STRUCTURED)
            continue;
        struct program *program = program_compile(&arena, lower_core(&arena, kernel), &reason);
        if (!program)
            continue;
        compiled++;
        if (!program->has_votes)
            *steps += compare_threads(&arena, program, number, hits);
        *steps += compare_simt(&arena, program, number, false, hits);
        *steps += compare_simt(&arena, program, number, true, hits);
    }
    arena_destroy(&arena);
    return compiled;
}

/* The language of the paper, with nothing beside it. */
static struct gen_options plain_options(void)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    assert_true(
        gen_parse_features("-barriers,-atomics,-votes,-choices,-graphs,-directions,-crs,-known",
                           &options.features, &error_at));
    return options;
}

static void engine_agrees_with_the_naive_stepper(void **state)
{
    (void)state;
    uint64_t steps = 0, hits[RULE_COUNT + 1] = {0};
    struct gen_options options = plain_options();
    assert_int_equal(compare_kernels(&options, &steps, hits), KERNELS);
    assert_true(steps > 100 * KERNELS);
}

static void with_barriers_atomics_votes_and_havoc(void **state)
{
    static const enum rule rules[] = {
        RULE_THR_BARRIER_REACH,  RULE_THR_BARRIER_S,  RULE_THR_BARRIER_F,  RULE_THR_ATOMIC,
        RULE_THR_HAVOC,          RULE_SIMT_ATOMIC,    RULE_SIMT_HAVOC,     RULE_SIMT_VOTE,
        RULE_SIMT_BARRIER_REACH, RULE_SIMT_BARRIER_S, RULE_SIMT_BARRIER_F, RULE_SIMT_BARRIER_DIV};
    static const uint32_t extra[] = {1u << FEATURE_BARRIERS, 1u << FEATURE_ATOMICS,
                                     1u << FEATURE_VOTES,
                                     1u << FEATURE_CHOICES | 1u << FEATURE_ASSUMES};
    uint64_t steps = 0, hits[RULE_COUNT + 1] = {0};
    uint32_t compiled = 0;
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        struct gen_options options = plain_options();
        for (uint32_t j = 0; j < 4; j++)
            options.features |= i == j || i == 4 ? extra[j] : 0;
        compiled += compare_kernels(&options, &steps, hits);
    }
    assert_true(compiled > KERNELS);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (hits[rules[i]] == 0)
            fail_msg("no kernel fires %s of %s", rule_table[rules[i]].name,
                     rule_table[rules[i]].semantics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_agrees_with_the_naive_stepper),
        cmocka_unit_test(with_barriers_atomics_votes_and_havoc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
