/*
 * block.c - semantics_block: the threads of a block step one by one, each at a pc of its own (CTA semantics of
 * named-barriers; control flow of a thread as in CHK.branch of the report, 6.3.1, with the private stack
 * of CHK.oracle).
 *
 * In the rules: P is the thread's commands, c what follows the one at hand, p its private stack, topmost
 * entry first.
 */
#include "engine/crs/cta_internal.h"
#include "engine/machine/symmetry.h"

#include <string.h>

static void go_to(struct cta_step *x, uint32_t pc, const unsigned mode)
{
    put(x->m, &x->P->pc, pc, mode);
}

/* ---- the private stack ---- */

static struct cta_entry *topmost(const struct cta_step *x, enum cta_entry_type type)
{
    for (uint32_t i = x->P->entry_count; i-- > 0;)
        if (x->P->entries[i].type == (uint32_t)type)
            return &x->P->entries[i];
    return NULL;
}

static void drop_to(struct cta_step *x, uint32_t count, const unsigned mode)
{
    struct cta_state *P = x->P;
    if (mode & MACHINE_TRACKED)
        for (uint32_t i = count; i < P->entry_count; i++) {
            put(x->m, &P->entries[i].pc, 0, mode);
            put(x->m, &P->entries[i].type, 0, mode);
            put(x->m, &P->entries[i].depth, 0, mode);
        }
    put(x->m, &P->entry_count, count, mode);
}

/*  push              command preBrk L or preRet L
 *      p  becomes  (break | call, L) :: p
 */
static enum rule nb_push(struct cta_step *x, const unsigned mode)
{
    struct cta_state *P = x->P;
    if (P->entry_count == x->m->program->ptx->token_capacity) {
        x->m->fault_text = "more open loops and calls than the limit";
        machine_fault(x->m, STATUS_CALL_DEPTH, x->id, x->pc, mode);
        return RULE_NB_PUSH;
    }
    struct cta_entry *entry = &P->entries[P->entry_count];
    put(x->m, &entry->pc, x->op->target, mode);
    put(x->m, &entry->type, x->op->exec == PTX_EXEC_PREBRK ? CTA_BREAK : CTA_CALL, mode);
    put(x->m, &entry->depth, x->lanes->lane[0].depth, mode);
    put(x->m, &P->entry_count, P->entry_count + 1, mode);
    go_to(x, x->pc + 1, mode);
    return RULE_NB_PUSH;
}

/*  break             (break, L) the topmost break entry of p
 *      pc becomes L, p what lies below the entry
 */
static enum rule nb_break(struct cta_step *x, const unsigned mode)
{
    const struct cta_entry *entry = topmost(x, CTA_BREAK);
    if (!entry) {
        ptx_stuck(x->m, x->id, x->pc, "break without a preBrk that is open", mode);
        return RULE_NB_BREAK;
    }
    go_to(x, entry->pc, mode);
    drop_to(x, (uint32_t)(entry - x->P->entries), mode);
    return RULE_NB_BREAK;
}

/* ---- control flow ---- */

/*  exit [return of the paper]
 *      P  becomes  return                           done, with the last thread of the block
 */
static enum rule nb_exit(struct cta_step *x, const unsigned mode)
{
    const struct machine_group *group = machine_group_of(x->m, x->id);
    go_to(x, 0, mode);
    drop_to(x, 0, mode);
    machine_retire(x->m, x->id, mode & MACHINE_TRACKED);
    if (group->finished == group->count)
        x->m->hits[RULE_NB_DONE]++;
    return RULE_NB_EXIT;
}

/*  bra               command bra L (or one of a table), L_id the thread's target
 *      pc becomes L_id
 */
static enum rule nb_bra(struct cta_step *x, const unsigned mode)
{
    uint32_t targets[64];
    if (ptx_targets(x->m, x->lanes, x->pc, 1, targets, mode))
        go_to(x, targets[0], mode);
    return RULE_NB_BRA;
}

/*  call              command call L
 *      pc becomes L, a frame is pushed; p stays
 */
static enum rule nb_call(struct cta_step *x, const unsigned mode)
{
    uint32_t targets[64];
    if (ptx_targets(x->m, x->lanes, x->pc, 1, targets, mode) &&
        ptx_call(x->m, x->lanes, x->pc, 1, targets[0], mode))
        go_to(x, targets[0], mode);
    return RULE_NB_CALL;
}

/*  ret               (call, L) the topmost call entry of p, pushed by the caller
 *      pc becomes L, p what lies below the entry; the frame is dropped
 *
 *  A caller without preRet: the address behind its call, without the entries of the frame. A ret of the
 *  entry's frame is an exit, but in raw kernels, where p alone decides.
 */
static enum rule nb_ret(struct cta_step *x, const unsigned mode)
{
    bool raw = x->m->program->ptx->kernel->raw;
    uint32_t depth = x->lanes->lane[0].depth, sites[64];
    const struct cta_entry *entry = topmost(x, CTA_CALL);
    if (depth == 0 && !raw)
        return nb_exit(x, mode);
    if (depth == 0 && !entry) {
        ptx_stuck(x->m, x->id, x->pc, "ret without a call", mode);
        return RULE_NB_RET;
    }
    if (depth > 0 && !ptx_return(x->m, x->lanes, 1, sites, mode))
        return RULE_NB_RET;
    if (entry && (raw || entry->depth + 1 == depth)) {
        go_to(x, entry->pc, mode);
        drop_to(x, (uint32_t)(entry - x->P->entries), mode);
        return RULE_NB_RET;
    }
    uint32_t count = x->P->entry_count;
    while (count > 0 && x->P->entries[count - 1].depth >= depth)
        count--;
    go_to(x, sites[0] + 1, mode);
    drop_to(x, count, mode);
    return RULE_NB_RET;
}

/*  next              command ssy, sync; or any whose guard is false
 *      pc becomes pc + 1
 */
static enum rule nb_next(struct cta_step *x, const unsigned mode)
{
    go_to(x, x->pc + 1, mode);
    return RULE_NB_NEXT;
}

static enum rule nb_trap(struct cta_step *x, const unsigned mode)
{
    machine_fault(x->m, STATUS_ASSERT_FAILS, x->id, x->pc, mode);
    return RULE_NB_TRAP;
}

/* ---- everything else ---- */

/*  read, write       c' any command but sync, arrive and control flow
 *      E, B, id, c'; c  ~>  E, B, id, c
 *
 *  What it computes, reads and writes is the thread rule's matter (ptx_exec.h).
 */
static enum rule nb_command(struct cta_step *x, const unsigned mode)
{
    enum rule rule = ptx_execute(x->m, x->lanes, x->pc, 1, 0, x->choices, mode);
    x->m->hits[RULE_NB_READ] += x->op->exec == PTX_EXEC_LD || x->op->exec == PTX_EXEC_ATOM;
    x->m->hits[RULE_NB_WRITE] += x->op->exec == PTX_EXEC_ST || x->op->exec == PTX_EXEC_ATOM;
    if (machine_status(x->m) == STATUS_RUNNING)
        go_to(x, x->pc + 1, mode);
    return rule;
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    uint32_t pc = cta_state_at(machine, actor)->pc;
    return pc > 0 && pc < machine->program->ptx->count ? pc : CODE_NONE;
}

/* The pc, the calls that led there, and the private stack. */
static bool same_pc(const struct machine *machine, uint32_t actor, uint32_t other, bool literal)
{
    const struct cta_state *a = cta_state_at(machine, actor), *b = cta_state_at(machine, other);
    (void)literal; /* an instruction is one step */
    return a->pc == b->pc && a->entry_count == b->entry_count &&
           memcmp(a->entries, b->entries, a->entry_count * sizeof *a->entries) == 0 &&
           ptx_same_calls(cta_lanes_at(machine, actor), cta_lanes_at(machine, other));
}

/* ---- which rule applies ---- */

static enum rule execute(struct cta_step *x, const unsigned mode)
{
    switch ((enum ptx_exec)x->op->exec) {
    case PTX_EXEC_NOP:
    case PTX_EXEC_ROWS:
    case PTX_EXEC_LD:
    case PTX_EXEC_ST:
    case PTX_EXEC_ATOM:
    case PTX_EXEC_VOTE: /* not in single threads: machine_refuses */
    case PTX_EXEC_ACTIVEMASK:
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_MEMBAR:
    case PTX_EXEC_BAR_WARP:
        return nb_command(x, mode);
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
        return cta_barrier_step(x, mode);
    case PTX_EXEC_BRA:
        return nb_bra(x, mode);
    case PTX_EXEC_CALL:
        return nb_call(x, mode);
    case PTX_EXEC_RET:
        return nb_ret(x, mode);
    case PTX_EXEC_EXIT:
        return nb_exit(x, mode);
    case PTX_EXEC_SSY:
    case PTX_EXEC_SYNC:
        return nb_next(x, mode);
    case PTX_EXEC_PREBRK:
    case PTX_EXEC_PRERET:
        return nb_push(x, mode);
    case PTX_EXEC_BREAK:
        return nb_break(x, mode);
    case PTX_EXEC_TRAP:
        return nb_trap(x, mode);
    }
    invariant_fail("an instruction is of a known kind", __FILE__, __LINE__);
}

/*  deadlock          neither done nor err, no full barrier, every thread at return or blocked, one blocked */
static void nb_deadlock(struct cta_step *x, const unsigned mode)
{
    uint32_t thread = 0;
    while (cta_state_at(x->m, thread)->barrier == 0)
        thread++;
    uint32_t stm = cta_state_at(x->m, thread)->pc;
    machine_fault(x->m, STATUS_DEADLOCK, thread, stm, mode);
    x->m->hits[RULE_NB_DEADLOCK]++;
    if (mode & MACHINE_OBSERVED) {
        struct step_event event = {.rule = RULE_NB_DEADLOCK, .actor = thread, .stm = stm};
        observe_step(x->m, &event);
    }
}

/*  cta_step          no barrier is full      E, B, i, P_i  ~>  E', B', i, P'_i
 *      E, B, P_1 || .. || P_i || .. || P_N  ~>  E', B', P_1 || .. || P'_i || .. || P_N
 */
static enum rule step_mode(struct machine *machine, uint32_t actor, struct choices *choices,
                           const unsigned mode)
{
    struct cta_step x = cta_step_of(machine, actor, choices);
    enum rule rule = RULE_NB_NEXT;
    uint32_t stm = next_stm(machine, actor);
    lane_mask truth = 0;
    machine->steps++;
    machine->hits[RULE_NB_CTA_STEP]++;
    if (stm == CODE_NONE) {
        ptx_stuck(machine, actor, stm, "there is no instruction at the thread's address", mode);
    } else {
        truth = ptx_guard(machine, x.lanes, x.pc, 1);
        if (ptx_enter(machine, x.lanes, x.pc, truth, mode))
            rule = truth ? execute(&x, mode) : nb_next(&x, mode);
    }
    machine->hits[rule]++;
    if (mode & MACHINE_OBSERVED) {
        struct step_event event = {.rule = rule, .actor = actor, .stm = stm, .truth = truth};
        observe_step(machine, &event);
    }
    if (x.B && machine_status(machine) == STATUS_RUNNING)
        cta_barrier_settle(&x, mode);
    if (machine->head->live_count == 0 && machine_status(machine) == STATUS_RUNNING)
        nb_deadlock(&x, mode);
    return rule;
}

STEP_VARIANTS(step_mode)

/* ---- the machine ---- */

static uint32_t extra_words(const struct program *program)
{
    return cta_barrier_words(program) + program->total_threads * cta_thread_stride(program);
}

/* A thread's state lies together; what its group says of itself, who it is, is no state. */
static void layout(const struct machine *machine, struct lane_layout *layout)
{
    const struct ptx_lanes *lanes = cta_lanes_at(machine, 0);
    struct lane_words words = {.threads = machine->program->total_threads,
                               .word = layout_place(machine, cta_state_at(machine, 0)),
                               .stride = cta_thread_stride(machine->program)};
    uint32_t end = words.word + words.stride;
    words.words = layout_place(machine, lanes) - words.word;
    layout_words(layout, &words);
    words.word = layout_place(machine, lanes->lane);
    words.words = end - words.word;
    layout_words(layout, &words);
}

static uint32_t actor_count(const struct program *program)
{
    return program->total_threads;
}

/* A raw kernel's initial tokens: those that hold the lane. */
static void init_entries(struct machine *machine, uint32_t thread)
{
    const struct ptx_kernel *kernel = machine->program->ptx->kernel;
    const struct ast_launch *launch = &machine->program->launch;
    struct cta_state *P = cta_state_at(machine, thread);
    uint32_t lane = thread % launch->threads % launch->warp;
    for (uint32_t i = kernel->token_count; i-- > 0;) {
        const struct ptx_token_init *token = &kernel->tokens[i];
        if ((token->type == CRS_BREAK || token->type == CRS_CALL) && token->mask >> lane & 1)
            P->entries[P->entry_count++] = (struct cta_entry){
                .pc = token->pc, .type = token->type == CRS_BREAK ? CTA_BREAK : CTA_CALL};
    }
}

static void init(struct machine *machine)
{
    for (uint32_t thread = 0; thread < machine->program->total_threads; thread++) {
        ptx_lanes_init(machine, cta_lanes_at(machine, thread), thread, 1);
        cta_state_at(machine, thread)->pc = 1;
        init_entries(machine, thread);
    }
}

/* Barriers of one block depend on each other: as if they wrote one more variable. */
static uint32_t level(const struct machine *machine, uint32_t actor)
{
    return cta_lanes_at(machine, actor)->lane[0].depth + 1;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t pc = cta_state_at(machine, actor)->pc;
    const struct ptx_lanes *lanes = cta_lanes_at(machine, actor);
    *reads = *writes = 0;
    if (pc == 0 || pc >= machine->program->ptx->count)
        return;
    lane_mask truth = ptx_guard(machine, lanes, pc, 1);
    if (truth && cta_is_barrier(&machine->program->ptx->ops[pc]))
        *writes = (uint64_t)1 << 63;
    else if (truth)
        ptx_footprint(machine, lanes, pc, truth, reads, writes);
}

struct cta_thread cta_thread(const struct machine *machine, uint32_t thread)
{
    const struct cta_state *P = cta_state_at(machine, thread);
    return (struct cta_thread){
        .pc = P->pc, .barrier = (int32_t)P->barrier - 1, .lanes = cta_lanes_at(machine, thread)};
}

struct cta_barrier cta_barrier(const struct machine *machine, uint32_t block, uint32_t number)
{
    struct cta_barriers B = cta_barriers_at(machine, block);
    if (!(B.ids >> number & 1))
        return (struct cta_barrier){.count = 0};
    const struct cta_barrier_state *b = cta_barrier_at(&B, number);
    return (struct cta_barrier){.count = b->n, .synced = b->synced, .arrived = b->arrived};
}

uint32_t cta_dangling(const struct machine *machine, uint32_t block)
{
    uint32_t set = 0;
    for (uint32_t b = 0; b < CTA_BARRIERS; b++)
        if (cta_barrier(machine, block, b).count > 0)
            set |= 1u << b;
    return set;
}

const struct semantics semantics_block = {
    .name = "block",
    .form = FORM_PTX,
    .kinds = 1u << CODE_PTX,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct ptx_scratch),
    .init = init,
    .layout = layout,
    .step = {step_plain, step_observed, step_tracked, step_both},
    .footprint = footprint,
    .next_stm = next_stm,
    .control = next_stm,
    .same_pc = same_pc,
    .level = level,
    .barrier_rule = RULE_NB_RECYCLE,
    .divergence_rule = RULE_NB_DEADLOCK,
};
