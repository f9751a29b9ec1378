/*
 * follow_ptx_apart.c - `thread-pc`: a step of a warp whose active lanes are at several instructions (cuda-crs 6.3.2).
 * The lanes at one of them are a part of the step. Memory actions all happen, one instruction after another; actions of
 * the branch unit are one action where they are of one kind; of everything else there is no rule.
 */
#include "oracle/steps/follow_ptx.h"

#include <string.h>

struct parts {
    struct follow_step *step; /* of the warp */
    uint32_t count;
    uint32_t pc[LIMIT_WARP]; /* ascending */
    uint32_t of[LIMIT_WARP]; /* by active lane: its instruction */
};

static void find_parts(struct parts *p)
{
    const struct follow_group *g = p->step->g;
    uint32_t below = 0, least;
    do {
        least = UINT32_MAX;
        for (uint32_t l = 0; l < g->unit->lanes; l++)
            if (g->unit->active.has[l] && g->pcs[l] >= below && g->pcs[l] < least)
                least = g->pcs[l];
        if (least != UINT32_MAX)
            p->pc[p->count++] = least;
        below = least + 1;
    } while (least != UINT32_MAX);
    memcpy(p->of, g->pcs, sizeof p->of);
}

/* The step of part i: who executes there. False: nobody does. */
static bool part(const struct parts *p, uint32_t i, struct follow_step *step)
{
    bool any = false;
    *step = *p->step;
    step->op = &step->x->code->ops[p->pc[i]];
    step->is_part = true;
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        step->executes[l] =
            step->x->before.active.has[l] && p->of[l] == p->pc[i] && follow_ptx_guard(step, l);
        any = any || step->executes[l];
    }
    return any;
}

/* Whether the lanes are in the functions that their instructions are of, and these exist. */
static bool is_known(const struct parts *p)
{
    const struct follow_step *s = p->step;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->pc[i] == 0 || p->pc[i] >= s->x->code->count)
            return false;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if (s->g->unit->active.has[l] &&
            s->g->registers->lane[l].function != s->x->code->ops[p->of[l]].function)
            return false;
    return true;
}

/* A rule of the warp takes both. */
static bool together(const struct ptx_op *a, const struct ptx_op *b)
{
    enum ptx_exec exec = (enum ptx_exec)a->exec;
    bool memory = exec <= PTX_EXEC_ATOM && b->exec <= PTX_EXEC_ATOM;
    bool address = exec == PTX_EXEC_SSY || exec == PTX_EXEC_PREBRK || exec == PTX_EXEC_PRERET;
    return memory ||
           (a->exec == b->exec && ptx_is_flow(exec) && (!address || a->target == b->target));
}

static uint32_t first_of(const bool *lanes)
{
    uint32_t lane = 0;
    while (lane + 1 < LIMIT_WARP && !lanes[lane])
        lane++;
    return lane;
}

/* ---- the branch unit ---- */

/* Where the lanes of a part go. False: a fault. */
static bool find_targets(struct follow_step *step, struct ref_action *a)
{
    bool branches = step->op->exec == PTX_EXEC_BRA || step->op->exec == PTX_EXEC_CALL;
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        if (!step->executes[l])
            continue;
        a->executing.has[l] = true;
        if (branches && !follow_ptx_target(step, l, &a->target[l]))
            return false;
    }
    return true;
}

static enum rule flow(const struct parts *p, uint32_t first)
{
    struct follow_step *s = p->step, step;
    struct ref_unit *u = s->g->unit;
    struct ref_action a = follow_ptx_action(s);
    if (s->op->exec == PTX_EXEC_TRAP) {
        follow_ptx_fault(s, STATUS_ASSERT_FAILS, first_of(s->executes));
        return RULE_CRS_TRAP;
    }
    for (uint32_t i = first; i < p->count; i++)
        if (part(p, i, &step) && !find_targets(&step, &a))
            return RULE_NONE;
    enum rule rule = ref_branch(u, &a, s->x->otherwise);
    if (!ref_thread_pcs(&s->x->before, u, &a, s->x->otherwise, s->g->pcs)) {
        (void)part(p, first, &step);
        follow_ptx_fault(s, STATUS_STUCK, first_of(step.executes));
        return RULE_NONE;
    }
    follow_ptx_leave(s);
    if (u->bottom)
        follow_ptx_fault(s, STATUS_STUCK, first_of(s->executes));
    if (u->overflow)
        follow_ptx_fault(s, STATUS_CALL_DEPTH, first_of(s->executes));
    for (uint32_t l = 0; l < u->lanes && s->op->exec == PTX_EXEC_CALL; l++) {
        step = *s;
        step.op = &s->x->code->ops[p->of[l]];
        if (s->x->end == STATUS_RUNNING && s->x->before.active.has[l] && u->active.has[l])
            follow_ptx_enter(&step, l, u->pc);
    }
    follow_ptx_framed(s);
    return rule;
}

/* ---- which rule ---- */

/* Who executes at all; the first part that does. p->count: nobody. */
static uint32_t who_executes(const struct parts *p)
{
    struct follow_step step;
    uint32_t first = p->count;
    memset(p->step->executes, 0, sizeof p->step->executes);
    for (uint32_t i = p->count; i-- > 0;) {
        if (!part(p, i, &step))
            continue;
        first = i;
        for (uint32_t l = 0; l < LIMIT_WARP; l++)
            p->step->executes[l] = p->step->executes[l] || step.executes[l];
    }
    return first;
}

static bool one_rule(const struct parts *p, uint32_t first)
{
    struct follow_step step;
    for (uint32_t i = first + 1; i < p->count; i++)
        if (part(p, i, &step) && !together(step.op, p->step->op))
            return false;
    return true;
}

enum rule follow_ptx_apart(struct follow_step *s)
{
    struct parts p = {.step = s};
    struct follow_step step;
    enum rule rule = RULE_NONE;
    ref_unit_copy(&s->x->before, s->g->unit);
    find_parts(&p);
    s->pc = p.pc[0];
    if (!is_known(&p)) {
        follow_ptx_lost(s->f, "active lanes at several instructions, in functions that differ");
        return RULE_NONE;
    }
    uint32_t first = who_executes(&p);
    s->op = &s->x->code->ops[p.pc[first < p.count ? first : 0]];
    if (first < p.count && !one_rule(&p, first)) {
        uint32_t lane = 0;
        while (!s->x->before.active.has[lane] || p.of[lane] != p.pc[first])
            lane++;
        follow_ptx_fault(s, STATUS_STUCK, lane);
        return RULE_NONE;
    }
    if (first < p.count && ptx_is_flow((enum ptx_exec)s->op->exec))
        return flow(&p, first);
    follow_ptx_pass(s);
    for (uint32_t i = first; i < p.count && s->x->end == STATUS_RUNNING; i++)
        if (part(&p, i, &step) && s->f->state == FOLLOW_ALONG)
            rule = follow_ptx_other(&step);
    if (s->x->end == STATUS_RUNNING && s->f->state == FOLLOW_ALONG)
        follow_ptx_compare_all_heard(s);
    return first < p.count ? rule : RULE_CRS_NEXT;
}
