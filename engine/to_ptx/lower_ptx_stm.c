/*
 * lower_ptx_stm.c - statements: the schemes CMP.* of catalogue cuda-crs, section 14.1, one function each.
 */
#include "engine/base/invariant.h"
#include "engine/input/annotate.h"
#include "engine/to_ptx/lower_ptx_internal.h"

static void statement(struct ptx_lowering *l, const struct ast_stm *stm);

/* ---- instructions of the branch unit ---- */

static void flow(struct ptx_lowering *l, enum ptx_form form)
{
    (void)lp_emit(l, form, PTX_W_NONE);
}

static void flow_to(struct ptx_lowering *l, enum ptx_form form, const struct ptx_statement *label)
{
    flow(l, form);
    lp_arg_label(l, label);
}

static void guarded(struct ptx_lowering *l, enum ptx_form form, struct predicate guard)
{
    lp_guard(l, lp_emit(l, form, PTX_W_NONE), guard);
}

static void guarded_to(struct ptx_lowering *l, enum ptx_form form, struct predicate guard,
                       const struct ptx_statement *label)
{
    guarded(l, form, guard);
    lp_arg_label(l, label);
}

static struct predicate opposite(struct predicate p)
{
    return (struct predicate){p.number, !p.negated};
}

/* A compound statement, from here to end_span. */
struct span {
    uint32_t number;
    struct ptx_statement *end;
};

static struct span begin_span(struct ptx_lowering *l)
{
    uint32_t number = l->labels++;
    lp_place_label(l, lp_new_label(l, 'S', number));
    return (struct span){number, lp_new_label(l, 'E', number)};
}

static void end_span(struct ptx_lowering *l, struct span span)
{
    lp_place_label(l, span.end);
}

/* ---- what a statement is ---- */

static bool is_jump(const struct ast_stm *stm)
{
    return stm->kind == STM_BREAK || stm->kind == STM_RETURN || stm->kind == STM_EXIT;
}

/* The only statement of a branch; NULL: there are several, or none. */
static const struct ast_stm *only(const struct ast_stm *stm)
{
    while (stm && stm->kind == STM_BLOCK && stm->body && !stm->body->next)
        stm = stm->body;
    return stm && stm->kind != STM_BLOCK && stm->kind != STM_SKIP ? stm : NULL;
}

static bool is_empty(const struct ast_stm *stm)
{
    if (!stm || stm->kind == STM_SKIP)
        return true;
    if (stm->kind != STM_BLOCK)
        return false;
    for (const struct ast_stm *s = stm->body; s; s = s->next)
        if (!is_empty(s))
            return false;
    return true;
}

/* Whether control cannot get behind it. */
static bool never_ends(const struct ast_stm *stm)
{
    if (is_jump(stm))
        return true;
    if (stm->kind == STM_BLOCK)
        for (const struct ast_stm *s = stm->body; s; s = s->next)
            if (never_ends(s))
                return true;
    return stm->kind == STM_IF && stm->other && never_ends(stm->body) && never_ends(stm->other);
}

/* ---- jumps ---- */

/* break: CMP.break; return: CMP.ret, of the kernel itself an exit (LOAD.T5); exit: CMP.exit. */
static enum ptx_form jump_form(const struct ptx_lowering *l, const struct ast_stm *stm)
{
    if (stm->kind == STM_BREAK)
        return PTX_FORM_BREAK_ANY;
    return stm->kind == STM_RETURN && !l->is_entry ? PTX_FORM_RET_ANY : PTX_FORM_EXIT_ANY;
}

/* ---- calls ---- */

/*  CMP.call        preRet R;  call f;  R:        indirect (CMP.calli):  r := f;  preRet R;  call r;  R: */
static void call(struct ptx_lowering *l, const struct ast_function *f, bool indirect)
{
    struct span span = begin_span(l);
    struct value target = indirect ? lp_temporary(l) : lp_int(0);
    if (indirect) {
        (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
        lp_arg(l, target);
        lp_arg_function(l, f);
    }
    flow_to(l, PTX_FORM_PRERET_ANY, span.end);
    flow(l, PTX_FORM_CALL_ANY);
    if (indirect)
        lp_arg(l, target);
    else
        lp_arg_function(l, f);
    end_span(l, span);
}

/*  CMP.callg A     if (c) f();
 *      p := c;  @p preRet R;  @p call f;  R:
 */
static void guarded_call(struct ptx_lowering *l, struct predicate p, const struct ast_function *f)
{
    struct span span = begin_span(l);
    guarded_to(l, PTX_FORM_PRERET_ANY, p, span.end);
    guarded(l, PTX_FORM_CALL_ANY, p);
    lp_arg_function(l, f);
    end_span(l, span);
}

/*  CMP.calli       if (c) f(); else g();         the target of each lane in a register
 *      p := c;  a := f;  b := g;  a := p ? a : b;  preRet R;  call a;  R:
 *
 *  The call is executed again for the lanes whose target was not chosen: nothing else writes a and b.
 */
static void call_either(struct ptx_lowering *l, struct predicate p, const struct ast_function *f,
                        const struct ast_function *g)
{
    struct span span = begin_span(l);
    const struct ast_function *of[2] = {p.negated ? g : f, p.negated ? f : g};
    struct value target[2] = {lp_temporary(l), lp_temporary(l)};
    for (int i = 0; i < 2; i++) {
        (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
        lp_arg(l, target[i]);
        lp_arg_function(l, of[i]);
    }
    lp_three(l, PTX_FORM_SELP_ANY, PTX_W_B32, target[0], target[0], target[1]);
    lp_arg_predicate(l, (struct predicate){p.number, false});
    flow_to(l, PTX_FORM_PRERET_ANY, span.end);
    flow(l, PTX_FORM_CALL_ANY);
    lp_arg(l, target[0]);
    end_span(l, span);
}

/* ---- if ---- */

/*  CMP.if1         p := c;  ssy E;  @!p bra J;  C(S)  J: sync;  E:             only: where c holds */
static void if_one(struct ptx_lowering *l, struct span span, struct predicate p,
                   const struct ast_stm *body)
{
    struct ptx_statement *join = lp_new_label(l, 'J', span.number);
    flow_to(l, PTX_FORM_SSY_ANY, span.end);
    guarded_to(l, PTX_FORM_BRA_ANY, opposite(p), join);
    statement(l, body);
    lp_place_label(l, join);
    flow(l, PTX_FORM_SYNC_ANY);
}

/*  CMP.if          p := c;  ssy E;  @p bra T;  C(S2)  bra J;  T: C(S1)  J: sync;  E: */
static void if_both(struct ptx_lowering *l, struct span span, struct predicate p,
                    const struct ast_stm *then, const struct ast_stm *other)
{
    struct ptx_statement *join = lp_new_label(l, 'J', span.number),
                         *taken = lp_new_label(l, 'T', span.number);
    flow_to(l, PTX_FORM_SSY_ANY, span.end);
    guarded_to(l, PTX_FORM_BRA_ANY, p, taken);
    statement(l, other);
    if (!never_ends(other))
        flow_to(l, PTX_FORM_BRA_ANY, join);
    lp_place_label(l, taken);
    statement(l, then);
    lp_place_label(l, join);
    flow(l, PTX_FORM_SYNC_ANY);
}

/* One branch is empty: a guarded jump or call where the other is just that. */
static void if_short(struct ptx_lowering *l, struct span span, struct predicate p,
                     const struct ast_stm *body)
{
    const struct ast_stm *inner = only(body);
    if (inner && is_jump(inner) && !(inner->kind == STM_BREAK && l->in_switch1))
        guarded(l, jump_form(l, inner), p);
    else if (inner && inner->kind == STM_CALL && l->conditional_calls++ % 2 == 0)
        guarded_call(l, p, inner->function);
    else
        if_one(l, span, p, body);
}

static void if_statement(struct ptx_lowering *l, const struct ast_stm *stm)
{
    struct span span = begin_span(l);
    struct predicate p = lp_condition(l, stm->value);
    const struct ast_stm *then = only(stm->body), *other = only(stm->other);
    bool calls = then && other && then->kind == STM_CALL && other->kind == STM_CALL;
    if (calls && then->function != other->function)
        call_either(l, p, then->function, other->function);
    else if (is_empty(stm->other))
        if_short(l, span, p, stm->body);
    else if (is_empty(stm->body))
        if_short(l, span, opposite(p), stm->other);
    else
        if_both(l, span, p, stm->body, stm->other);
    end_span(l, span);
}

/* ---- loops ---- */

/*  CMP.while       preBrk E;  H: p := c;  @!p break;  C(S)  bra H;  E:
 *
 *  Without the test where c is a constant that holds; without the jump back behind a body that never
 *  gets there (CMP.cont's inner scope).
 */
static void while_statement(struct ptx_lowering *l, const struct ast_stm *stm)
{
    struct span span = begin_span(l);
    struct ptx_statement *head = lp_new_label(l, 'H', span.number);
    bool in_switch1 = l->in_switch1;
    flow_to(l, PTX_FORM_PREBRK_ANY, span.end);
    lp_place_label(l, head);
    if (stm->value->kind != EXPR_INT || stm->value->value == 0)
        guarded(l, PTX_FORM_BREAK_ANY, opposite(lp_condition(l, stm->value)));
    l->in_switch1 = false;
    statement(l, stm->body);
    l->in_switch1 = in_switch1;
    if (!never_ends(stm->body))
        flow_to(l, PTX_FORM_BRA_ANY, head);
    end_span(l, span);
}

/* ---- switch ---- */

/* A break of the switch around the list that is not the end of a case: no jump to the end stands for
 * it. */
static bool breaks_inside(const struct ast_stm *list, bool top)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (stm->kind == STM_BREAK && !top)
            return true;
        if (stm->kind == STM_IF &&
            (breaks_inside(stm->body, false) || breaks_inside(stm->other, false)))
            return true;
        if (stm->kind == STM_BLOCK && breaks_inside(stm->body, false))
            return true;
    }
    return false;
}

static void move_label(struct ptx_lowering *l, struct value d, const struct ptx_statement *label)
{
    (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
    lp_arg(l, d);
    lp_arg_label(l, label);
}

/* The address of the lane's case, in a register that lasts: the branch is executed again for the lanes
 * whose target was not chosen. */
static struct value select_case(struct ptx_lowering *l, const struct ast_stm *stm,
                                struct ptx_statement *const *labels,
                                const struct ptx_statement *otherwise)
{
    struct value v = lp_eval(l, stm->value), target = lp_held(l), one = lp_temporary(l);
    uint32_t index = 0, p = lp_predicate(l);
    for (const struct ast_case *c = stm->cases; c; c = c->next, index++)
        if (c->is_default)
            otherwise = labels[index];
    move_label(l, target, otherwise);
    index = 0;
    for (const struct ast_case *c = stm->cases; c; c = c->next, index++) {
        if (c->is_default)
            continue;
        move_label(l, one, labels[index]);
        lp_emit(l, PTX_FORM_SETP_INT, PTX_W_S32)->words[PTX_SLOT_CMP] = PTX_W_EQ;
        lp_arg_predicate(l, (struct predicate){p, false});
        lp_arg(l, v);
        lp_arg(l, lp_int(c->value));
        lp_three(l, PTX_FORM_SELP_ANY, PTX_W_B32, target, one, target);
        lp_arg_predicate(l, (struct predicate){p, false});
    }
    return target;
}

static struct ptx_statement **case_labels(struct ptx_lowering *l, const struct ast_stm *stm,
                                          uint32_t number)
{
    uint32_t count = 0;
    for (const struct ast_case *c = stm->cases; c; c = c->next)
        count++;
    struct ptx_statement **labels = ARENA_ARRAY(l->arena, struct ptx_statement *, count);
    for (uint32_t i = 0; i < count; i++)
        labels[i] = lp_new_case_label(l, number, i);
    return labels;
}

/*  CMP.switch1     r := address of the lane's case;  ssy E;  bra r;  C1: C(S1) ..  J: sync;  E:
 *                  break at the end of a case: bra J
 *  CMP.switch2     r := ..;  preBrk E;  bra r;  C1: C(S1) ..  D: break;  E:
 */
static void switch_statement(struct ptx_lowering *l, const struct ast_stm *stm)
{
    struct span span = begin_span(l);
    uint32_t index = 0;
    bool one = true, in_switch1 = l->in_switch1;
    for (const struct ast_case *c = stm->cases; c; c = c->next)
        one = one && !breaks_inside(c->body, true);
    struct ptx_statement *last = lp_new_label(l, one ? 'J' : 'D', span.number);
    struct ptx_statement **labels = case_labels(l, stm, span.number);
    struct value target = select_case(l, stm, labels, last);
    flow_to(l, one ? PTX_FORM_SSY_ANY : PTX_FORM_PREBRK_ANY, span.end);
    flow(l, PTX_FORM_BRA_ANY);
    lp_arg(l, target);
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        const struct ast_stm *s = c->body;
        lp_place_label(l, labels[index++]);
        l->in_switch1 = one;
        for (; s && !is_jump(s); s = s->next)
            statement(l, s);
        if (s && s->kind == STM_BREAK && one)
            flow_to(l, PTX_FORM_BRA_ANY, last);
        else if (s)
            statement(l, s);
    }
    l->in_switch1 = in_switch1;
    lp_place_label(l, last);
    flow(l, one ? PTX_FORM_SYNC_ANY : PTX_FORM_BREAK_ANY);
    end_span(l, span);
}

/* ---- the others ---- */

static void assign(struct ptx_lowering *l, const struct ast_stm *stm)
{
    const struct ast_var *var = stm->target.var;
    const struct ast_expr *value =
        stm->op == ASSIGN_SET ? stm->value : ast_assigned_value(l->arena, stm);
    if (l->homes[var->mark].kind == HOME_REGISTER) {
        lp_eval_into(l, value, lp_reg(lp_home(l, var)->reg));
        return;
    }
    struct place place = lp_place(l, &stm->target);
    lp_store(l, &place, lp_eval(l, value));
}

/*  assert(e)       p := e;  @!p trap; */
static void assertion(struct ptx_lowering *l, const struct ast_stm *stm)
{
    guarded(l, PTX_FORM_TRAP_ANY, opposite(lp_condition(l, stm->value)));
}

static void unsupported(struct ptx_lowering *l, const struct ast_stm *stm)
{
    if (!l->reason)
        l->reason = arena_printf(l->arena, "unsupported statement '%s' at line %u",
                                 ast_stm_names[stm->kind], (unsigned)stm->at.line);
}

static void set_line(struct ptx_lowering *l, const struct ast_stm *stm)
{
    if (stm->at.line == 0 || stm->kind == STM_BLOCK || stm->kind == STM_SKIP)
        return;
    bool same = l->at.line == stm->at.line;
    l->at = stm->at;
    if (same)
        return;
    struct ptx_loc *loc = &lp_statement(l, PTX_LOC)->u.loc;
    loc->file = 1;
    loc->line = stm->at.line;
    loc->column = stm->at.column;
}

static void statement(struct ptx_lowering *l, const struct ast_stm *stm)
{
    set_line(l, stm);
    l->registers = l->local_registers;
    l->predicates = 0;
    switch (stm->kind) {
    case STM_SKIP:
        return;
    case STM_ASSIGN:
        assign(l, stm);
        return;
    case STM_CALL:
        if (l->plain)
            lp_block_call(l, stm);
        else
            call(l, stm->function, l->plain_calls++ % 3 == 2);
        return;
    case STM_BLOCK:
        lp_statements(l, stm->body);
        return;
    case STM_IF:
        if_statement(l, stm);
        return;
    case STM_WHILE:
        while_statement(l, stm);
        return;
    case STM_SWITCH:
        switch_statement(l, stm);
        return;
    case STM_BREAK:
    case STM_RETURN:
    case STM_EXIT:
        flow(l, jump_form(l, stm));
        return;
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_MEMBAR:
        lp_barrier(l, stm);
        return;
    case STM_ATOMIC:
        lp_atomic(l, stm);
        return;
    case STM_VOTE:
        lp_vote(l, stm);
        return;
    case STM_ASSERT:
        assertion(l, stm);
        return;
    case STM_ASSUME:
        if (!annotate_is_met(l->kernel, stm))
            unsupported(l, stm);
        return;
    case STM_HAVOC:
    case STM_PICK:
    case STM_LOCKSYNC:
        unsupported(l, stm);
        return;
    case STM_DO:
    case STM_FOR:
    case STM_CONTINUE:
    case STM_KIND_COUNT:
        break;
    }
    invariant_fail("a statement of the core form", __FILE__, __LINE__);
}

/*  CMP.seq         C(S1)  C(S2)                  nothing behind a jump */
void lp_statements(struct ptx_lowering *l, const struct ast_stm *list)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        statement(l, stm);
        if (never_ends(stm))
            return;
    }
}
