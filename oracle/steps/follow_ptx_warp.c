/*
 * follow_ptx_warp.c - a step of a warp, `crs` and `thread-pc`: who executes, the branch unit, barriers; and how it is
 * compared.
 */
#include "oracle/steps/follow_ptx.h"

#include <string.h>

/* ---- warps: barriers ---- */

/* BLOCK_ALIGNED: a lane that has not exited and is elsewhere; LIMIT_WARP: none. */
static uint32_t missing_lane(const struct follow_step *s)
{
    const struct ptx_instruction *instruction = &s->op->statement->u.instruction;
    bool aligned = ptx_forms[instruction->form].opcode == PTX_OP_BAR ||
                   instruction->words[PTX_SLOT_ALIGNED] != PTX_W_NONE;
    for (uint32_t l = 0; l < s->g->registers->count; l++)
        if ((s->x->options & BLOCK_ALIGNED) && aligned && !s->executes[l] &&
            s->g->unit->disabled[l] != 'e')
            return l;
    return LIMIT_WARP;
}

static enum rule warp_barrier(struct follow_step *s)
{
    const struct ref_bar_action a = follow_ptx_bar_action(s);
    uint32_t lane = missing_lane(s), block = s->group / s->x->groups_a_block;
    bool completed[LIMIT_THREADS];
    enum rule rule = a.kind == REF_BAR_SYNC     ? RULE_BLK_BAR_SYNC
                     : a.kind == REF_BAR_ARRIVE ? RULE_BLK_BAR_ARRIVE
                                                : RULE_BLK_BAR_RED;
    if (lane < LIMIT_WARP) {
        follow_ptx_fault(s, STATUS_BARRIER_DIVERGENCE, lane);
        return rule;
    }
    s->g->bar_pc = s->pc;
    for (uint32_t w = 0; w < s->x->groups_a_block; w++)
        completed[w] = s->x->groups[block * s->x->groups_a_block + w].ended;
    if (ref_warp_bars(&s->x->bars[block], &a, completed, s->g->waits, &lane))
        follow_ptx_fault(s, STATUS_STUCK, lane);
    return rule;
}

static enum rule cluster_barrier(struct follow_step *s)
{
    const uint32_t lane = missing_lane(s);
    if (lane == LIMIT_WARP)
        return follow_ptx_cluster(s);
    follow_ptx_fault(s, STATUS_BARRIER_DIVERGENCE, lane);
    return s->op->mode == PTX_W_ARRIVE ? RULE_CLUSTER_ARRIVE : RULE_CLUSTER_WAIT;
}

/* ---- warps: flow ---- */

static enum ref_action_kind kind_of(enum ptx_exec exec)
{
    switch ((int)exec) {
    case PTX_EXEC_BRA:
        return REF_DO_BRA;
    case PTX_EXEC_CALL:
        return REF_DO_CALL;
    case PTX_EXEC_RET:
        return REF_DO_RET;
    case PTX_EXEC_EXIT:
        return REF_DO_EXIT;
    case PTX_EXEC_SSY:
        return REF_DO_SSY;
    case PTX_EXEC_PREBRK:
        return REF_DO_PRE_BRK;
    case PTX_EXEC_PRERET:
        return REF_DO_PRE_RET;
    case PTX_EXEC_SYNC:
        return REF_DO_SYNC;
    default:
        return REF_DO_BREAK;
    }
}

/* Where a lane goes: the address that is named, a register's, one of a table. False: there are not so many. */
bool follow_ptx_target(struct follow_step *s, uint32_t lane, uint32_t *target)
{
    const struct ptx_op *op = s->op;
    *target = op->target;
    if (op->target)
        return true;
    uint64_t value = follow_ptx_source(s, 0, lane);
    if (op->opcode != PTX_OP_BRX) {
        *target = value < s->x->code->count ? (uint32_t)value : 0;
        return true;
    }
    if ((uint32_t)value >= op->table_count) {
        follow_ptx_fault(s, STATUS_STUCK, lane);
        return false;
    }
    *target = s->x->code->table[op->table + (uint32_t)value];
    return true;
}

/* One more frame of a lane: of the function that starts there; in raw kernels, a place that starts none shares the
 * caller's. */
void follow_ptx_enter(struct follow_step *s, uint32_t lane, uint32_t target)
{
    const struct ptx_code *code = s->x->code;
    const struct ptx_lane *top = &s->g->registers->lane[lane];
    const struct ptx_code_function *caller = &code->functions[top->function], *callee = NULL;
    for (uint32_t i = 0; i < code->function_count; i++)
        if (code->functions[i].entry == target)
            callee = &code->functions[i];
    if (!callee && !(code->kernel->raw && target > 0 && target < code->count)) {
        follow_ptx_fault(s, STATUS_STUCK, lane);
        return;
    }
    if (callee && s->op->signature && s->op->signature != callee->signature)
        follow_ptx_fault(s, STATUS_STUCK, lane);
    bool fits = ++s->g->depth[lane] < code->depth;
    if (callee && fits)
        fits = top->rows.narrow + caller->rows.narrow + callee->rows.narrow <= code->rows.narrow &&
               top->rows.wide + caller->rows.wide + callee->rows.wide <= code->rows.wide &&
               top->byte - code->frame_local_base + caller->frame_bytes + callee->frame_bytes <=
                   code->frame_bytes;
    if (!fits)
        follow_ptx_fault(s, STATUS_CALL_DEPTH, lane);
    if (s->x->end == STATUS_RUNNING)
        follow_ptx_push(s, lane, target);
}

/* Lanes that return drop a frame, but for the last one. */
void follow_ptx_leave(struct follow_step *s)
{
    for (uint32_t l = 0; l < s->g->unit->lanes && s->op->exec == PTX_EXEC_RET; l++) {
        if (!s->executes[l] || s->g->depth[l] == 0)
            continue;
        s->g->depth[l]--;
        follow_ptx_pop(s, l);
    }
}

/* Frames of the lanes that enter: those that were active, and are. */
static void enter(struct follow_step *s)
{
    const struct ref_unit *u = s->g->unit;
    for (uint32_t l = 0; l < u->lanes && s->x->end == STATUS_RUNNING; l++)
        if (s->x->before.active.has[l] && u->active.has[l])
            follow_ptx_enter(s, l, u->pc);
}

static uint32_t first_executing(const struct follow_step *s)
{
    uint32_t lane = 0;
    while (lane + 1 < LIMIT_WARP && !s->executes[lane])
        lane++;
    return lane;
}

struct ref_action follow_ptx_action(const struct follow_step *s)
{
    return (struct ref_action){.kind = kind_of((enum ptx_exec)s->op->exec),
                               .address = s->op->target,
                               .chosen = crs_warp(s->f->machine, s->group).state->pc};
}

static enum rule flow(struct follow_step *s)
{
    struct ref_unit *u = s->g->unit;
    enum ptx_exec exec = (enum ptx_exec)s->op->exec;
    struct ref_action a = follow_ptx_action(s);
    bool targets = exec == PTX_EXEC_BRA || exec == PTX_EXEC_CALL;
    memcpy(a.executing.has, s->executes, sizeof s->executes);
    if (exec == PTX_EXEC_TRAP) {
        follow_ptx_fault(s, STATUS_ASSERT_FAILS, first_executing(s));
        return RULE_CRS_TRAP;
    }
    for (uint32_t l = 0; l < u->lanes && targets; l++)
        if (s->executes[l] && !follow_ptx_target(s, l, &a.target[l]))
            return RULE_NONE;
    if (targets)
        s->f->ways *= ref_targets(&a);
    follow_ptx_leave(s);
    if (s->x->has_pcs)
        u->pc = s->x->before.pc;
    enum rule rule = ref_branch(u, &a, s->x->otherwise);
    if (u->bottom)
        follow_ptx_fault(s, STATUS_STUCK, first_executing(s));
    if (u->overflow)
        follow_ptx_fault(s, STATUS_CALL_DEPTH, first_executing(s));
    if (exec == PTX_EXEC_CALL)
        enter(s);
    if (s->x->has_pcs && !ref_thread_pcs(&s->x->before, u, &a, s->x->otherwise, s->g->pcs)) {
        follow_ptx_fault(s, STATUS_STUCK, first_executing(s));
        rule = RULE_NONE;
    }
    follow_ptx_framed(s);
    return rule;
}

/* Nobody executes, or what is executed is no flow: the next instruction. */
void follow_ptx_pass(struct follow_step *s)
{
    s->g->unit->pc = s->x->before.pc + 1;
    if (s->x->has_pcs)
        (void)ref_thread_pcs(&s->x->before, s->g->unit, NULL, s->x->otherwise, s->g->pcs);
}

/* Where the active lanes are. False: at several instructions. */
bool follow_ptx_common_pc(const struct follow_step *s, uint32_t *pc)
{
    bool found = false;
    *pc = s->g->unit->pc;
    for (uint32_t l = 0; l < s->g->unit->lanes && s->x->has_pcs; l++) {
        if (!s->g->unit->active.has[l])
            continue;
        if (found && s->g->pcs[l] != *pc)
            return false;
        *pc = s->g->pcs[l];
        found = true;
    }
    return true;
}

enum rule follow_ptx_other(struct follow_step *s)
{
    if (s->op->exec >= PTX_EXEC_BAR_SYNC && s->op->exec <= PTX_EXEC_BAR_RED)
        return warp_barrier(s);
    if (s->op->exec == PTX_EXEC_CLUSTER)
        return cluster_barrier(s);
    return follow_ptx_execute(s);
}

enum rule follow_ptx_warp(struct follow_step *s)
{
    struct ref_unit *u = s->g->unit;
    bool any = false;
    ref_unit_copy(&s->x->before, u);
    for (uint32_t l = 0; l < u->lanes; l++) {
        s->executes[l] = u->active.has[l] && follow_ptx_guard(s, l);
        any = any || s->executes[l];
    }
    if (!any) {
        follow_ptx_pass(s);
        return RULE_CRS_NEXT;
    }
    if (ptx_is_flow((enum ptx_exec)s->op->exec))
        return flow(s);
    follow_ptx_pass(s);
    return follow_ptx_other(s);
}

/* ---- comparing a warp ---- */

void follow_ptx_part_mask(struct follower *f, const char *observable, lane_mask engine,
                          const bool *reference, uint32_t lanes)
{
    char a[LIMIT_WARP + 1] = {0}, b[LIMIT_WARP + 1] = {0};
    for (uint32_t l = 0; l < lanes; l++) {
        a[l] = engine >> l & 1 ? '1' : '0';
        b[l] = reference[l] ? '1' : '0';
    }
    if (memcmp(a, b, sizeof a) != 0)
        follow_part(f, observable, a, b);
}

static void compare_disabled(struct follower *f, const struct crs_state *state,
                             const struct ref_unit *u)
{
    char engine[LIMIT_WARP + 1] = {0}, reference[LIMIT_WARP + 1] = {0};
    for (uint32_t l = 0; l < u->lanes; l++) {
        engine[l] = state->broken >> l & 1     ? 'b'
                    : state->returned >> l & 1 ? 'r'
                    : state->exited >> l & 1   ? 'e'
                                               : '0';
        reference[l] = u->disabled[l];
    }
    if (memcmp(engine, reference, sizeof engine) != 0)
        follow_part(f, "disable mask", engine, reference);
}

static void compare_tokens(struct follower *f, const struct crs_warp *w, const struct ref_unit *u)
{
    if (w->state->depth != u->count)
        follow_part_numbers(f, "depth of the stack", w->state->depth, u->count);
    for (uint32_t i = 0; i < u->count && f->state == FOLLOW_ALONG; i++) {
        const struct crs_token *a = &w->tokens[i];
        const struct ref_token *b = &u->tokens[i];
        if (a->type != (uint32_t)b->type || a->pc != b->pc)
            follow_part_numbers(f, "token", a->pc, b->pc);
        else
            follow_ptx_part_mask(f, "mask of a token", a->mask, b->mask.has, u->lanes);
    }
}

void follow_ptx_compare_warp(struct follow_step *s)
{
    struct follower *f = s->f;
    const struct crs_warp w = crs_warp(f->machine, s->group);
    const struct ref_unit *u = s->g->unit;
    if (w.state->pc != u->pc)
        follow_part_numbers(f, "pc", w.state->pc, u->pc);
    if (f->state == FOLLOW_ALONG)
        follow_ptx_part_mask(f, "active mask", w.state->active, u->active.has, u->lanes);
    if (f->state == FOLLOW_ALONG)
        compare_disabled(f, w.state, u);
    if (f->state == FOLLOW_ALONG)
        compare_tokens(f, &w, u);
    for (uint32_t b = 0; b < REF_BARRIERS && f->state == FOLLOW_ALONG; b++)
        if ((w.state->waiting >> b & 1) != s->g->waits[b])
            follow_part_numbers(f, "waiting", w.state->waiting, b);
    for (uint32_t l = 0; l < w.lanes->count && f->state == FOLLOW_ALONG; l++) {
        if (w.lanes->lane[l].depth != s->g->depth[l])
            follow_part_numbers(f, "frames", w.lanes->lane[l].depth, s->g->depth[l]);
        else if (s->x->has_pcs && w.pcs[l] != s->g->pcs[l])
            follow_part_numbers(f, "pc of a thread", w.pcs[l], s->g->pcs[l]);
    }
}
