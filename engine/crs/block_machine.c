/*
 * block_machine.c - semantics_block as a machine: where the state of a thread lies, how it starts, what schedulers ask.
 * Its rules are block.c and cta_barrier.c.
 */
#include "engine/crs/cta_internal.h"
#include "engine/machine/symmetry.h"

#include <string.h>

/* What lanes of a warp do together. */
static bool is_of_warp(const struct ptx_op *op)
{
    return (op->exec >= PTX_EXEC_VOTE && op->exec <= PTX_EXEC_REDUX) ||
           op->exec == PTX_EXEC_BAR_WARP || op->matrix;
}

/* Blocks of a cluster are those of warps only (crs_cluster.h). */
static const char *refuses_clusters(struct arena *arena, const struct program *program)
{
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        if (program->ptx->ops[pc].exec == PTX_EXEC_CLUSTER)
            return arena_printf(arena, "unsupported instruction 'barrier.cluster' at %s",
                                ptx_op_line(arena, program->ptx, pc));
    return NULL;
}

/* A thread alone cannot. */
static const char *refuses(struct arena *arena, const struct program *program)
{
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        if (is_of_warp(op))
            return arena_printf(arena, "unsupported instruction '%s' of a whole warp at %s",
                                ptx_mnemonics[op->opcode], ptx_op_line(arena, program->ptx, pc));
    }
    return refuses_clusters(arena, program);
}

/* Before sm_70 lanes of a warp that executed an instruction did so together: who that is, nothing says any more. */
static const char *its_refuses(struct arena *arena, const struct program *program)
{
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        if (is_of_warp(op) && op->exec != PTX_EXEC_ACTIVEMASK && !op->matrix &&
            ptx_mask_of(op)->kind == PTX_PLACE_NONE)
            return arena_printf(arena, "unsupported instruction '%s' without .sync at %s",
                                ptx_mnemonics[op->opcode], ptx_op_line(arena, program->ptx, pc));
    }
    return refuses_clusters(arena, program);
}

uint32_t cta_next(const struct machine *machine, uint32_t actor)
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

/* Lanes that wait for each other depend on each other, and on who ends; activemask, on where the others are. */
static void its_footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                          uint64_t *writes)
{
    uint32_t pc = cta_next(machine, actor);
    footprint(machine, actor, reads, writes);
    if (pc == CODE_NONE || !ptx_guard(machine, cta_lanes_at(machine, actor), pc, 1))
        return;
    const struct ptx_op *op = &machine->program->ptx->ops[pc];
    if (is_of_warp(op) || op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_RET)
        *writes |= (uint64_t)1 << 63;
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
    .actors = ACTORS_THREADS,
    .kinds = 1u << CODE_PTX,
    .refuses = refuses,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct ptx_scratch),
    .init = init,
    .layout = layout,
    .step = STEP_TABLE(block_step),
    .footprint = footprint,
    .next_stm = cta_next,
    .control = cta_next,
    .same_pc = same_pc,
    .level = level,
    .barrier_rule = RULE_NB_RECYCLE,
    .divergence_rule = RULE_NB_DEADLOCK,
};

/* Threads of a warp are not alike: `layout` is not known. */
const struct semantics semantics_its = {
    .name = "its",
    .form = FORM_PTX,
    .actors = ACTORS_THREADS,
    .unseen_order = true,
    .kinds = 1u << CODE_PTX,
    .refuses = its_refuses,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct ptx_scratch),
    .init = init,
    .step = STEP_TABLE(block_step),
    .footprint = its_footprint,
    .next_stm = cta_next,
    .control = cta_next,
    .same_pc = same_pc,
    .level = level,
    .barrier_rule = RULE_NB_RECYCLE,
    .divergence_rule = RULE_NB_DEADLOCK,
};
