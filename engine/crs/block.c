/*
 * block.c - semantics_block: the threads of a block step one by one, each at a pc of its own (CTA semantics of
 * named-barriers; control flow of a thread as in CHK.branch of the report, 6.3.1, with the private stack
 * of CHK.oracle).
 *
 * In the rules: P is the thread's commands, c what follows the one at hand, p its private stack, topmost
 * entry first.
 */
#include "engine/crs/cta_internal.h"

static void go_to(struct cta_step *x, uint32_t pc)
{
    put(x->m, &x->P->pc, pc);
}

/* ---- the private stack ---- */

static struct cta_entry *topmost(const struct cta_step *x, enum cta_entry_type type)
{
    for (uint32_t i = x->P->entry_count; i-- > 0;)
        if (x->P->entries[i].type == (uint32_t)type)
            return &x->P->entries[i];
    return NULL;
}

static void drop_to(struct cta_step *x, uint32_t count)
{
    struct cta_state *P = x->P;
    if (is_tracked(x->m))
        for (uint32_t i = count; i < P->entry_count; i++) {
            put(x->m, &P->entries[i].pc, 0);
            put(x->m, &P->entries[i].type, 0);
            put(x->m, &P->entries[i].depth, 0);
        }
    put(x->m, &P->entry_count, count);
}

/*  push              command preBrk L or preRet L
 *      p  becomes  (break | call, L) :: p
 */
static enum rule nb_push(struct cta_step *x)
{
    struct cta_state *P = x->P;
    if (P->entry_count == x->m->program->ptx->token_capacity) {
        x->m->fault_text = "more open loops and calls than the limit";
        machine_fault(x->m, STATUS_CALL_DEPTH, x->id, x->pc);
        return RULE_NB_PUSH;
    }
    struct cta_entry *entry = &P->entries[P->entry_count];
    put(x->m, &entry->pc, x->op->target);
    put(x->m, &entry->type, x->op->exec == PTX_EXEC_PREBRK ? CTA_BREAK : CTA_CALL);
    put(x->m, &entry->depth, x->lanes->lane[0].depth);
    put(x->m, &P->entry_count, P->entry_count + 1);
    go_to(x, x->pc + 1);
    return RULE_NB_PUSH;
}

/*  break             (break, L) the topmost break entry of p
 *      pc becomes L, p what lies below the entry
 */
static enum rule nb_break(struct cta_step *x)
{
    const struct cta_entry *entry = topmost(x, CTA_BREAK);
    if (!entry) {
        ptx_stuck(x->m, x->id, x->pc, "break without a preBrk that is open");
        return RULE_NB_BREAK;
    }
    go_to(x, entry->pc);
    drop_to(x, (uint32_t)(entry - x->P->entries));
    return RULE_NB_BREAK;
}

/* ---- control flow ---- */

/*  exit [return of the paper]
 *      P  becomes  return                           done, with the last thread of the block
 */
static enum rule nb_exit(struct cta_step *x)
{
    const struct machine_group *group = machine_group_of(x->m, x->id);
    if (x->m->program->ptx->has_async)
        ptx_async_touch(x->m, x->lanes, 1);
    go_to(x, 0);
    drop_to(x, 0);
    machine_retire(x->m, x->id);
    if (group->finished == group->count)
        x->m->hits[RULE_NB_DONE]++;
    return RULE_NB_EXIT;
}

/*  bra               command bra L (or one of a table), L_id the thread's target
 *      pc becomes L_id
 */
static enum rule nb_bra(struct cta_step *x)
{
    uint32_t targets[64];
    if (ptx_targets(x->m, x->lanes, x->pc, 1, targets))
        go_to(x, targets[0]);
    return RULE_NB_BRA;
}

/*  call              command call L
 *      pc becomes L, a frame is pushed; p stays
 */
static enum rule nb_call(struct cta_step *x)
{
    uint32_t targets[64];
    if (ptx_targets(x->m, x->lanes, x->pc, 1, targets) &&
        ptx_call(x->m, x->lanes, x->pc, 1, targets[0]))
        go_to(x, targets[0]);
    return RULE_NB_CALL;
}

/*  ret               (call, L) the topmost call entry of p, pushed by the caller
 *      pc becomes L, p what lies below the entry; the frame is dropped
 *
 *  A caller without preRet: the address behind its call, without the entries of the frame. A ret of the
 *  entry's frame is an exit, but in raw kernels, where p alone decides.
 */
static enum rule nb_ret(struct cta_step *x)
{
    bool raw = x->m->program->ptx->kernel->raw;
    uint32_t depth = x->lanes->lane[0].depth, sites[64];
    const struct cta_entry *entry = topmost(x, CTA_CALL);
    if (depth == 0 && !raw)
        return nb_exit(x);
    if (depth == 0 && !entry) {
        ptx_stuck(x->m, x->id, x->pc, "ret without a call");
        return RULE_NB_RET;
    }
    if (depth > 0 && !ptx_return(x->m, x->lanes, 1, sites))
        return RULE_NB_RET;
    if (entry && (raw || entry->depth + 1 == depth)) {
        go_to(x, entry->pc);
        drop_to(x, (uint32_t)(entry - x->P->entries));
        return RULE_NB_RET;
    }
    uint32_t count = x->P->entry_count;
    while (count > 0 && x->P->entries[count - 1].depth >= depth)
        count--;
    go_to(x, sites[0] + 1);
    drop_to(x, count);
    return RULE_NB_RET;
}

/*  next              command ssy, sync; or any whose guard is false
 *      pc becomes pc + 1
 */
static enum rule nb_next(struct cta_step *x)
{
    go_to(x, x->pc + 1);
    return RULE_NB_NEXT;
}

static enum rule nb_trap(struct cta_step *x)
{
    ptx_assert_text(x->m, x->lanes, x->pc, 1);
    machine_fault(x->m, STATUS_ASSERT_FAILS, x->id, x->pc);
    return RULE_NB_TRAP;
}

/* ---- everything else ---- */

/*  read, write       c' any command but sync, arrive and control flow
 *      E, B, id, c'; c  ~>  E, B, id, c
 *
 *  What it computes, reads and writes is the thread rule's matter (ptx_exec.h).
 */
static enum rule nb_command(struct cta_step *x)
{
    enum rule rule = ptx_execute(x->m, x->lanes, x->pc, 1, 0, x->choices);
    x->m->hits[RULE_NB_READ] += x->op->exec == PTX_EXEC_LD || x->op->exec == PTX_EXEC_ATOM;
    x->m->hits[RULE_NB_WRITE] += x->op->exec == PTX_EXEC_ST || x->op->exec == PTX_EXEC_ATOM;
    if (machine_status(x->m) == STATUS_RUNNING)
        go_to(x, x->pc + 1);
    return rule;
}

/* ---- which rule applies ---- */

static enum rule execute(struct cta_step *x)
{
    switch ((enum ptx_exec)x->op->exec) {
    case PTX_EXEC_NOP:
    case PTX_EXEC_ROWS:
    case PTX_EXEC_LD:
    case PTX_EXEC_ST:
    case PTX_EXEC_ATOM:
    case PTX_EXEC_MEMBAR:
    case PTX_EXEC_CLOCK:
    case PTX_EXEC_COPY:
    case PTX_EXEC_COPY_COMMIT:
    case PTX_EXEC_COPY_WAIT:
    case PTX_EXEC_COPY_BULK:
    case PTX_EXEC_COPY_ARRIVE:
    case PTX_EXEC_MBARRIER:
    case PTX_EXEC_TEXTURE:
    case PTX_EXEC_SUST:
        return nb_command(x);
    case PTX_EXEC_VOTE: /* semantics_block refuses all of these: machine_refuses */
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_BAR_WARP:
    case PTX_EXEC_MMA:
    case PTX_EXEC_MATRIX_LD:
    case PTX_EXEC_MATRIX_ST:
    case PTX_EXEC_CLUSTER:
        return its_wait(x);
    case PTX_EXEC_ACTIVEMASK:
        return its_activemask(x);
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
        return cta_barrier_step(x);
    case PTX_EXEC_BRA:
        return nb_bra(x);
    case PTX_EXEC_CALL:
        return nb_call(x);
    case PTX_EXEC_RET:
        return nb_ret(x);
    case PTX_EXEC_EXIT:
        return nb_exit(x);
    case PTX_EXEC_SSY:
    case PTX_EXEC_SYNC:
        return nb_next(x);
    case PTX_EXEC_PREBRK:
    case PTX_EXEC_PRERET:
        return nb_push(x);
    case PTX_EXEC_BREAK:
        return nb_break(x);
    case PTX_EXEC_TRAP:
        return nb_trap(x);
    }
    invariant_fail("an instruction is of a known kind", __FILE__, __LINE__);
}

/*  deadlock          neither done nor err, no full barrier, every thread at return or blocked, one blocked */
static void nb_deadlock(struct cta_step *x)
{
    uint32_t thread = 0;
    while (cta_state_at(x->m, thread)->barrier == 0)
        thread++;
    uint32_t stm = cta_state_at(x->m, thread)->pc;
    machine_fault(x->m, STATUS_DEADLOCK, thread, stm);
    x->m->hits[RULE_NB_DEADLOCK]++;
    if (is_observed(x->m)) {
        struct step_event event = {.rule = RULE_NB_DEADLOCK, .actor = thread, .stm = stm};
        observe_step(x->m, &event);
    }
}

/*  cta_step          no barrier is full      E, B, i, P_i  ~>  E', B', i, P'_i
 *      E, B, P_1 || .. || P_i || .. || P_N  ~>  E', B', P_1 || .. || P'_i || .. || P_N
 */
enum rule STEP_NAME(block_step)(struct machine *machine, uint32_t actor, struct choices *choices)
{
    struct cta_step x = cta_step_of(machine, actor, choices);
    enum rule rule = RULE_NB_NEXT;
    uint32_t stm = cta_next(machine, actor);
    lane_mask truth = 0;
    machine->steps++;
    machine->hits[RULE_NB_CTA_STEP]++;
    if (stm == CODE_NONE) {
        ptx_stuck(machine, actor, stm, "there is no instruction at the thread's address");
    } else {
        truth = ptx_guard(machine, x.lanes, x.pc, 1);
        if (ptx_enter(machine, x.lanes, x.pc, truth))
            rule = truth ? execute(&x) : nb_next(&x);
    }
    machine->hits[rule]++;
    if (is_observed(machine)) {
        struct step_event event = {.rule = rule, .actor = actor, .stm = stm, .truth = truth};
        observe_step(machine, &event);
    }
    if (x.B && machine_status(machine) == STATUS_RUNNING)
        cta_barrier_settle(&x);
    if ((x.waits_in_warp || x.P->pc == 0) && machine_status(machine) == STATUS_RUNNING)
        its_settle(&x);
    if (machine->head->live_count == 0 && machine_status(machine) == STATUS_RUNNING)
        nb_deadlock(&x);
    return rule;
}
