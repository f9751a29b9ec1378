/*
 * follow_ptx_thread.c - a thread of `block` or `its`: control flow with the private stack of CHK.oracle, named barriers
 * (named-barriers 2).
 */
#include "oracle/steps/follow_ptx.h"

enum { FOLLOW_MEETS = 16 }; /* cta_thread.barrier of a thread that waits in its warp */

static uint32_t topmost(const struct follow_group *g, bool is_call)
{
    uint32_t i = g->entry_count;
    while (i > 0 && g->entries[i - 1].is_call != is_call)
        i--;
    return i; /* number + 1 */
}

static enum rule push(struct follow_step *s)
{
    struct follow_group *g = s->g;
    if (g->entry_count == s->x->code->token_capacity) {
        follow_ptx_fault(s, STATUS_CALL_DEPTH, 0);
        return RULE_NB_PUSH;
    }
    g->entries[g->entry_count++] = (struct follow_entry){
        .is_call = s->op->exec == PTX_EXEC_PRERET, .pc = s->op->target, .depth = g->depth[0]};
    g->pcs[0]++;
    return RULE_NB_PUSH;
}

static enum rule leave_loop(struct follow_step *s)
{
    uint32_t found = topmost(s->g, false);
    if (found == 0) {
        follow_ptx_fault(s, STATUS_STUCK, 0);
        return RULE_NB_BREAK;
    }
    s->g->pcs[0] = s->g->entries[found - 1].pc;
    s->g->entry_count = found - 1;
    return RULE_NB_BREAK;
}

static enum rule end(struct follow_step *s)
{
    s->g->pcs[0] = 0;
    s->g->entry_count = 0;
    s->g->ended = true;
    return RULE_NB_EXIT;
}

static enum rule call(struct follow_step *s)
{
    uint32_t target;
    if (!follow_ptx_target(s, 0, &target))
        return RULE_NB_CALL;
    follow_ptx_enter(s, 0, target);
    if (s->x->end == STATUS_RUNNING) {
        s->g->sites[s->g->depth[0]] = s->pc;
        s->g->pcs[0] = target;
    }
    return RULE_NB_CALL;
}

/* To where the caller's preRet says; without one, behind the call, and what the frame had opened is gone. */
static enum rule leave(struct follow_step *s)
{
    struct follow_group *g = s->g;
    bool raw = s->x->code->kernel->raw;
    uint32_t found = topmost(g, true), depth = g->depth[0];
    if (depth == 0 && !raw)
        return end(s);
    if (depth == 0 && found == 0) {
        follow_ptx_fault(s, STATUS_STUCK, 0);
        return RULE_NB_RET;
    }
    g->depth[0] -= depth > 0;
    if (found > 0 && (raw || g->entries[found - 1].depth + 1 == depth)) {
        g->pcs[0] = g->entries[found - 1].pc;
        g->entry_count = found - 1;
    } else {
        while (g->entry_count > 0 && g->entries[g->entry_count - 1].depth >= depth)
            g->entry_count--;
        g->pcs[0] = g->sites[depth] + 1;
    }
    follow_ptx_pop(s, 0);
    return RULE_NB_RET;
}

static enum rule branch(struct follow_step *s)
{
    uint32_t target;
    if (follow_ptx_target(s, 0, &target))
        s->g->pcs[0] = target;
    return RULE_NB_BRA;
}

static enum rule barrier(struct follow_step *s)
{
    const struct ref_bar_action a = follow_ptx_bar_action(s);
    const char *why = NULL;
    bool stuck;
    enum rule rule = ref_thread_bar(&s->x->bars[s->group / s->x->groups_a_block], &a, &why, &stuck);
    if (why) {
        follow_ptx_fault(s, stuck ? STATUS_STUCK : STATUS_BARRIER_ERROR, 0);
    } else if (a.kind == REF_BAR_ARRIVE) {
        s->g->pcs[0]++;
    } else {
        s->g->waits[a.number[0]] = true;
        s->g->bar_pc = s->pc;
    }
    return rule;
}

static enum rule next(struct follow_step *s)
{
    s->g->pcs[0]++;
    return RULE_NB_NEXT;
}

enum rule follow_ptx_thread(struct follow_step *s)
{
    s->executes[0] = follow_ptx_guard(s, 0);
    if (!s->executes[0])
        return next(s);
    switch ((int)s->op->exec) {
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
        return barrier(s);
    case PTX_EXEC_VOTE:
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_BAR_WARP:
    case PTX_EXEC_MMA:
    case PTX_EXEC_MATRIX_LD:
    case PTX_EXEC_MATRIX_ST:
        return follow_ptx_meets(s);
    case PTX_EXEC_BRA:
        return branch(s);
    case PTX_EXEC_CALL:
        return call(s);
    case PTX_EXEC_RET:
        return leave(s);
    case PTX_EXEC_EXIT:
        return end(s);
    case PTX_EXEC_SSY:
    case PTX_EXEC_SYNC:
        return next(s);
    case PTX_EXEC_PREBRK:
    case PTX_EXEC_PRERET:
        return push(s);
    case PTX_EXEC_BREAK:
        return leave_loop(s);
    case PTX_EXEC_TRAP:
        follow_ptx_fault(s, STATUS_ASSERT_FAILS, 0);
        return RULE_NB_TRAP;
    default:
        break;
    }
    enum rule rule = follow_ptx_execute(s);
    s->g->pcs[0]++;
    return rule;
}

void follow_ptx_compare_thread(struct follow_step *s)
{
    const struct cta_thread t = cta_thread(s->f->machine, s->group);
    int32_t waits_at = s->g->meets ? FOLLOW_MEETS : -1;
    for (uint32_t b = 0; b < REF_BARRIERS; b++)
        if (s->g->waits[b])
            waits_at = (int32_t)b;
    if (t.pc != s->g->pcs[0])
        follow_part_numbers(s->f, "pc", t.pc, s->g->pcs[0]);
    else if (t.barrier != waits_at)
        follow_part_numbers(s->f, "waiting", t.barrier, waits_at);
    else if (t.lanes->lane[0].depth != s->g->depth[0])
        follow_part_numbers(s->f, "frames", t.lanes->lane[0].depth, s->g->depth[0]);
}
