/*
 * crs_machine.c - semantics_crs as a machine: where the state of a warp lies, how it starts, what schedulers ask. Its
 * rules are crs.c and crs_branch.c.
 */
#include "engine/crs/crs_warp.h"
#include "engine/machine/symmetry.h"

struct machine crs_no_machine;

enum rule crs_flow(struct crs_unit *u, const struct crs_actions *actions, struct choices *choices)
{
    static enum rule (*const variants[])(struct crs_unit *, const struct crs_actions *,
                                         struct choices *) = STEP_TABLE(crs_flow);
    return variants[step_variant(u->machine)](u, actions, choices);
}

const struct crs_token *crs_topmost(const struct crs_state *s, const struct crs_token *tokens,
                                    enum crs_token_type type)
{
    for (uint32_t i = s->depth; i-- > 0;)
        if (tokens[i].type == type)
            return &tokens[i];
    return NULL;
}

/* Lanes of the warp that are threads; the others are dummies (DOM.dummy): inactive, δ = exit. */
static uint32_t thread_count(const struct program *program, uint32_t warp)
{
    uint32_t width = program->launch.warp, first = warp % program->warps_per_block * width;
    return program->launch.threads - first < width ? program->launch.threads - first : width;
}

static void init_warp(struct machine *machine, uint32_t warp)
{
    const struct program *program = machine->program;
    const struct ptx_kernel *kernel = program->ptx->kernel;
    struct crs_view v = crs_view(machine, warp);
    uint32_t count = thread_count(program, warp);
    uint32_t first = warp / program->warps_per_block * program->launch.threads +
                     warp % program->warps_per_block * program->launch.warp;
    ptx_lanes_init(machine, v.lanes, first, count);
    lane_mask threads = ptx_all(v.lanes);
    v.state->pc = program->ptx->functions[0].entry;
    v.state->active = threads;
    v.state->exited = crs_all_lanes(program) & ~threads;
    for (uint32_t i = 0; i < kernel->token_count; i++)
        v.tokens[kernel->token_count - 1 - i] =
            (struct crs_token){.type = kernel->tokens[i].type,
                               .pc = kernel->tokens[i].pc,
                               .mask = kernel->tokens[i].mask & threads};
    v.state->depth = kernel->token_count;
}

void crs_init(struct machine *machine)
{
    struct crs_scratch *scratch = machine->scratch;
    bool has_pcs = machine->semantics->has_pcs;
    scratch->first = crs_barrier_words(machine->program);
    scratch->stride = crs_warp_stride(machine->program, has_pcs);
    for (uint32_t i = 0; i < machine->actor_count; i++)
        init_warp(machine, i);
}

static uint32_t extra_words(const struct program *program)
{
    return crs_barrier_words(program) + program->warp_count * crs_warp_stride(program, false);
}

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    for (uint32_t warp = 0; warp < machine->actor_count; warp++) {
        const struct crs_view v = crs_view(machine, warp);
        const lane_mask *const sets[] = {&v.state->active, &v.state->broken, &v.state->returned,
                                         &v.state->exited};
        struct lane_bits bits = {.first = v.lanes->first_thread, .threads = v.lanes->count};
        for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
            bits.word = layout_place(machine, sets[i]);
            layout_bits(layout, &bits);
        }
        for (uint32_t i = 0; i < machine->program->ptx->token_capacity; i++) {
            bits.word = layout_place(machine, &v.tokens[i].mask);
            layout_bits(layout, &bits);
        }
        ptx_lanes_layout(machine, v.lanes, layout);
    }
}

uint32_t crs_actor_count(const struct program *program)
{
    return program->warp_count;
}

/* ---- what schedulers see ---- */

/* Steps at barriers, and the end of a warp, depend on each other through the block's barriers: they write
 * the last of the variables, so to speak. */
#define CRS_BARRIER_FOOTPRINT ((uint64_t)1 << 63)

void crs_footprint_at(const struct machine *machine, uint32_t warp, uint32_t pc, lane_mask active,
                      uint64_t *reads, uint64_t *writes)
{
    const struct ptx_code *code = machine->program->ptx;
    struct crs_view v = crs_view(machine, warp);
    *reads = *writes = 0;
    if (pc - 1 >= code->count - 1)
        return;
    const struct ptx_op *op = &code->ops[pc];
    lane_mask X = ptx_guard(machine, v.lanes, pc, active);
    if (X == 0)
        return;
    switch ((unsigned)op->exec) {
    case PTX_EXEC_EXIT:
    case PTX_EXEC_BAR_SYNC:
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
    case PTX_EXEC_CLUSTER:
        *writes = code->barriers ? CRS_BARRIER_FOOTPRINT : 0;
        break;
    default:
        if (!ptx_is_flow((enum ptx_exec)op->exec))
            ptx_footprint(machine, v.lanes, pc, X, reads, writes);
        break;
    }
    if (code->barriers && machine->options.block_options & BLOCK_LATE)
        *writes |= CRS_BARRIER_FOOTPRINT;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    const struct crs_state *s = crs_view(machine, actor).state;
    crs_footprint_at(machine, actor, s->pc, s->active, reads, writes);
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    const struct crs_state *s = crs_view(machine, actor).state;
    bool within = s->pc - 1 < machine->program->ptx->count - 1;
    return s->active && within ? s->pc : CODE_NONE; /* no lane is active: it has ended */
}

struct crs_warp crs_warp(const struct machine *machine, uint32_t warp)
{
    struct crs_view v = crs_view(machine, warp);
    return (struct crs_warp){v.state, v.tokens, v.lanes, v.pcs};
}

/* ---- blocks as slots of a device ----
 *
 * What belongs to one block lies in runs of the machine's words: its shared memory, its threads' local memory, its
 * barriers, its warps. A slot that is empty holds what it held at the start, so that equal states have equal bytes.
 */

static void restore(struct machine *machine, const void *place, size_t words)
{
    size_t at = (size_t)((const uint32_t *)place - machine->block);
    memcpy(machine->block + at, machine->initial + at, 4 * words);
}

static void restore_slot(struct machine *machine, uint32_t slot)
{
    const struct program *program = machine->program;
    const struct crs_scratch *at = machine->scratch;
    const uint32_t *words = program->words;
    uint32_t threads = program->launch.threads, first = slot * threads;
    uint32_t barriers = crs_barrier_words(program) / program->launch.blocks;
    const uint32_t *extra = machine->extra;
    restore(machine, machine->memory + program->shared_base + (size_t)slot * words[SPACE_SHARED],
            words[SPACE_SHARED]);
    restore(machine, machine->memory + program->private_base + (size_t)first * words[SPACE_PRIVATE],
            (size_t)threads * words[SPACE_PRIVATE]);
    restore(machine, machine->memory + program->frame_base + (size_t)first * words[SPACE_LOCAL],
            (size_t)threads * words[SPACE_LOCAL]);
    restore(machine, extra + (size_t)slot * barriers, barriers);
    restore(machine, extra + at->first + (size_t)slot * program->warps_per_block * at->stride,
            (size_t)program->warps_per_block * at->stride);
}

void crs_slot_empty(struct machine *machine, uint32_t slot)
{
    struct machine_head *head = machine->head;
    struct machine_group *group = &machine->groups[slot];
    for (uint32_t i = head->live_count; i-- > 0;)
        if (head->live[i] >= group->first && head->live[i] < group->first + group->count)
            machine_unlive(machine, head->live[i]);
    head->unfinished -= group->count - group->finished;
    group->waiting = 0;
    group->finished = group->count;
    restore_slot(machine, slot);
}

void crs_slot_start(struct machine *machine, uint32_t slot)
{
    struct machine_group *group = &machine->groups[slot];
    INVARIANT(group->finished == group->count);
    restore_slot(machine, slot);
    group->finished = 0;
    machine->head->unfinished += group->count;
    for (uint32_t i = 0; i < group->count; i++)
        machine_relive(machine, group->first + i);
    if (machine->head->status == STATUS_TERMINATED)
        machine->head->status = STATUS_RUNNING;
}

bool crs_slot_done(const struct machine *machine, uint32_t slot)
{
    return machine->groups[slot].finished == machine->groups[slot].count;
}

void crs_slot_numbers(struct machine *machine, const uint32_t *numbers)
{
    struct ptx_scratch *scratch = machine->scratch;
    scratch->numbers = numbers;
}

const struct semantics semantics_crs = {
    .name = "crs",
    .form = FORM_PTX,
    .actors = ACTORS_WARPS,
    .stack = STACK_CRS,
    .kinds = 1u << CODE_PTX,
    .extra_words = extra_words,
    .actor_count = crs_actor_count,
    .scratch_bytes = sizeof(struct crs_scratch),
    .init = crs_init,
    .layout = layout,
    .step = STEP_TABLE(crs_step),
    .footprint = footprint,
    .next_stm = next_stm,
    .barrier_rule = RULE_BLK_END_BAR,
};
