/*
 * ref_threads.c - simt-correctness Table 4: the rules of a thread.
 *
 * T is the thread's stack, topmost first. Every rule takes s or c off its top, and says what T becomes.
 */
#include "engine/reference/ref_internal.h"

/* `;` for an empty list: which one it is. */
static struct ref_item *named(struct ref_item *stack, const void *list)
{
    if (stack->stm == &ref_skip)
        stack->empty = list;
    return stack;
}

void ref_threads_start(struct ref *r)
{
    for (uint32_t t = 0; t < r->thread_count; t++) {
        ref_enter(r, t, r->kernel->main, NULL);
        r->actors[t].stack =
            named(ref_push_list(r, r->kernel->main->body, ref_push(r, REF_CALL, NULL, NULL)),
                  &r->kernel->main->body);
    }
}

/* x = e; T  ==>  (x := v) T */
static enum rule assign_rd(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    int32_t value;
    struct ref_cell cell = ref_assigned(r, t, s, &value);
    if (!cell.word)
        return RULE_THR_ASSIGN_RD;
    x->stack = ref_push(r, REF_EVALUATED, s, ref_pop(r, x->stack));
    x->stack->cell = cell;
    x->stack->value = value;
    return RULE_THR_ASSIGN_RD;
}

/* (x := v) T  ==>  T */
static enum rule assign_wr(struct ref *r, uint32_t t)
{
    struct ref_actor *x = &r->actors[t];
    ref_write(r, t, &x->stack->cell, x->stack->value);
    x->stack = ref_pop(r, x->stack);
    return RULE_THR_ASSIGN_WR;
}

/* if (e) S1 else S2 T  ==>  S1 T, or S2 T */
static enum rule if_then_else(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    bool v = ref_value(r, t, s->value) != 0;
    if (!ref_failed(r))
        x->stack = named(ref_push_body(r, v ? s->body : s->other, ref_pop(r, x->stack)),
                         v ? &s->body : &s->other);
    return v ? RULE_THR_IF_TT : RULE_THR_IF_FF;
}

/* while (e) S T  ==>  S while^o (e) S brk T, or T */
static enum rule enter_loop(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    bool v = ref_value(r, t, s->value) != 0;
    if (ref_failed(r))
        return RULE_THR_WHILE_FF;
    x->stack = ref_pop(r, x->stack);
    if (!v)
        return RULE_THR_WHILE_FF;
    x->stack = ref_push(r, REF_BRK, NULL, x->stack);
    x->stack = ref_push(r, REF_CONT, s, x->stack);
    x->stack = named(ref_push_body(r, s->body, x->stack), &s->body);
    return RULE_THR_WHILE_TT;
}

/* while^o (e) S T  ==>  S while^o (e) S T, or T: brk stays for context^t */
static enum rule continue_loop(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    bool v = ref_value(r, t, s->value) != 0;
    if (ref_failed(r))
        return RULE_THR_WHILE_CONT_FF;
    if (!v) {
        x->stack = ref_pop(r, x->stack);
        return RULE_THR_WHILE_CONT_FF;
    }
    x->stack->trips++;
    x->stack = named(ref_push_body(r, s->body, x->stack), &s->body);
    return RULE_THR_WHILE_CONT_TT;
}

/* break; [S] brk T  ==>  T      return; U call T  ==>  T */
static void leave_to(struct ref *r, uint32_t t, enum ref_item_kind context)
{
    struct ref_actor *x = &r->actors[t];
    while (x->stack->kind != context)
        x->stack = ref_pop(r, x->stack);
    x->stack = ref_pop(r, x->stack);
    if (context == REF_CALL)
        ref_leave(r, t);
}

/* f(); T  ==>  phi(f) call T */
static enum rule call(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    if (ref_calls_on(x->stack) == LIMIT_CALL_DEPTH) {
        ref_fail(r, REF_CALL_DEPTH, t);
        return RULE_THR_CALL;
    }
    x->stack = ref_push(r, REF_CALL, s, ref_pop(r, x->stack));
    x->stack = named(ref_push_list(r, s->function->body, x->stack), &s->function->body);
    ref_enter(r, t, s->function, s);
    return RULE_THR_CALL;
}

/* exit; T  ==>  eps */
static enum rule leave_all(struct ref *r, uint32_t t)
{
    while (r->actors[t].stack) {
        if (r->actors[t].stack->kind == REF_CALL)
            ref_leave(r, t);
        r->actors[t].stack = ref_pop(r, r->actors[t].stack);
    }
    return RULE_THR_EXIT;
}

/* assert(e); T  ==>  T, or the execution ends; assume(e) likewise */
static void check(struct ref *r, uint32_t t, const struct ast_stm *s, enum ref_end otherwise)
{
    bool v = ref_value(r, t, s->value) != 0;
    if (!v)
        ref_fail(r, otherwise, t);
    else if (!ref_failed(r))
        r->actors[t].stack = ref_pop(r, r->actors[t].stack);
}

static enum rule havoc(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_cell cell = ref_place(r, t, &s->place);
    if (!cell.word)
        return RULE_THR_HAVOC;
    ref_write(r, t, &cell, ref_choice_value(r, t));
    r->actors[t].stack = ref_pop(r, r->actors[t].stack);
    return RULE_THR_HAVOC;
}

/* x = op(y, e); T  ==>  T: nobody comes between the read and the write */
static enum rule atomic(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_operands operands;
    if (!ref_operands(r, t, s, &operands))
        return RULE_THR_ATOMIC;
    ref_atomic(r, t, s, &operands);
    r->actors[t].stack = ref_pop(r, r->actors[t].stack);
    return RULE_THR_ATOMIC;
}

static enum rule statement(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    switch ((int)s->kind) { /* the core's kinds; all others are not known here */
    case STM_SKIP:
    case STM_MEMBAR:
        r->actors[t].stack = ref_pop(r, r->actors[t].stack);
        return RULE_THR_SKIP;
    case STM_ASSIGN:
        return assign_rd(r, t, s);
    case STM_IF:
        return if_then_else(r, t, s);
    case STM_WHILE:
        return enter_loop(r, t, s);
    case STM_BREAK:
        leave_to(r, t, REF_BRK);
        return RULE_THR_BREAK;
    case STM_CALL:
        return call(r, t, s);
    case STM_RETURN:
        leave_to(r, t, REF_CALL);
        return RULE_THR_RETURN;
    case STM_EXIT:
        return leave_all(r, t);
    case STM_ASSERT:
        check(r, t, s, REF_ASSERT_FAILS);
        return RULE_THR_ASSERT;
    case STM_ASSUME:
        check(r, t, s, REF_INFEASIBLE);
        return RULE_THR_ASSUME;
    case STM_HAVOC:
        return havoc(r, t, s);
    case STM_ATOMIC:
        return atomic(r, t, s);
    case STM_BARRIER:
        r->actors[t].waits = true;
        return RULE_THR_BARRIER_REACH;
    default:
        return ref_unknown(r, ast_stm_names[s->kind]);
    }
}

/* c T  ==>  T */
static enum rule context(struct ref *r, uint32_t t)
{
    struct ref_actor *x = &r->actors[t];
    if (x->stack->kind == REF_CALL)
        ref_leave(r, t);
    x->stack = ref_pop(r, x->stack);
    return RULE_THR_CONTEXT;
}

enum rule ref_threads_step(struct ref *r, uint32_t t)
{
    const struct ref_item *top = r->actors[t].stack;
    switch (top->kind) {
    case REF_STM:
        return statement(r, t, top->stm);
    case REF_EVALUATED:
        return assign_wr(r, t);
    case REF_CONT:
        return continue_loop(r, t, top->stm);
    case REF_BRK:
    case REF_CALL:
        return context(r, t);
    case REF_DIV:
    case REF_SYNC:
        break;
    }
    return ref_unknown(r, "a token on a thread's stack");
}
