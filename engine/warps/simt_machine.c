/*
 * simt_machine.c - semantics_simt as a machine: where the state of a warp lies, how it starts, what schedulers and
 * barriers ask. Its rules are simt.c.
 */
#include "engine/machine/symmetry.h"
#include "engine/warps/simt_internal.h"

struct warp_state simt_state(const struct machine *machine, uint32_t warp)
{
    struct warp_step x = view(machine, warp);
    return (struct warp_state){
        .theta = x.w->theta,
        .delta_b = x.w->delta_b,
        .delta_r = x.w->delta_r,
        .delta_e = x.w->delta_e,
        .depth = x.w->depth,
        .calls = x.w->calls,
        .stack = x.stack,
        .masks = x.masks,
        .first_thread = x.w->first_thread,
        .lanes = x.w->lanes,
    };
}

uint32_t simt_last_write_order(const struct machine *machine, uint8_t *lanes)
{
    const struct assign_scratch *scratch = machine->scratch;
    memcpy(lanes, scratch->order, scratch->order_count);
    return scratch->order_count;
}

char simt_disable_state(const struct warp_state *warp, uint32_t lane)
{
    lane_mask bit = (lane_mask)1 << lane;
    return (warp->delta_b & bit)   ? 'b'
           : (warp->delta_r & bit) ? 'r'
           : (warp->delta_e & bit) ? 'e'
                                   : '0';
}

/* awaits(delta, t)  <=>  (delta = b -> t = brk) and (delta = r -> t = call);  never for e [EXT] */
bool simt_awaits(char delta, enum entry_kind token)
{
    switch (delta) {
    case '0':
        return true;
    case 'b':
        return token == ENTRY_BRK;
    case 'r':
        return token == ENTRY_CALL;
    default:
        return false;
    }
}

static uint32_t extra_words(const struct program *program)
{
    return program->warp_count * warp_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->warp_count;
}

/* Section 3.2: every warp starts with P call_Theta, Theta, { Theta |-> 0 }. The last warp of a block
 * may have fewer lanes than the others. */
static void init(struct machine *machine)
{
    const struct program *program = machine->program;
    uint32_t threads = program->launch.threads, width = program->launch.warp;
    for (uint32_t i = 0; i < program->warp_count; i++) {
        struct warp_step x = view(machine, i);
        uint32_t block = i / program->warps_per_block;
        uint32_t first = i % program->warps_per_block * width;
        uint32_t lanes = threads - first < width ? threads - first : width;
        x.w->first_thread = block * threads + first;
        x.w->lanes = lanes;
        x.w->theta = all_lanes(x.w);
        x.w->calls = 1;
        x.w->depth = 2;
        x.stack[0] = entry_call(0, 0);
        x.masks[0] = x.w->theta;
        x.stack[1] = entry_make(ENTRY_STM, program->functions[0].body);
    }
}

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    for (uint32_t warp = 0; warp < machine->actor_count; warp++) {
        struct warp_step x = view(machine, warp);
        const lane_mask *const sets[] = {&x.w->theta, &x.w->delta_b, &x.w->delta_r, &x.w->delta_e};
        struct lane_bits bits = {.first = x.w->first_thread, .threads = x.w->lanes};
        for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
            bits.word = layout_place(machine, sets[i]);
            layout_bits(layout, &bits);
        }
        for (uint32_t i = 0; i < machine->program->stack_depth; i++) {
            bits.word = layout_place(machine, &x.masks[i]);
            layout_bits(layout, &bits);
        }
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    struct warp_step x = view(machine, actor);
    if (x.w->depth == 0 || x.w->theta == 0)
        return CODE_NONE;
    stack_entry top = x.stack[x.w->depth - 1];
    return entry_kind(top) <= ENTRY_CONT ? entry_number(top) : CODE_NONE;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t stm = next_stm(machine, actor);
    *reads = stm == CODE_NONE ? 0 : machine->program->stms[stm].reads;
    *writes = stm == CODE_NONE ? 0 : machine->program->stms[stm].writes;
}

/* CFG.bv for warps: equal stacks, equal trips of the loops on them, equal sites of the calls. The masks
 * say nothing more: every lane is active. */
static bool same_barrier(const struct machine *machine, uint32_t actor, uint32_t other)
{
    struct warp_step x = view(machine, actor), y = view(machine, other);
    size_t bytes = x.w->depth * sizeof *x.stack;
    return x.w->depth == y.w->depth && memcmp(x.stack, y.stack, bytes) == 0 &&
           memcmp(x.beta, y.beta, bytes) == 0;
}

static void pass_barrier(struct machine *machine, uint32_t actor)
{
    struct warp_step x = view(machine, actor);
    x.m = machine;
    x.number = entry_number(x.stack[x.w->depth - 1]);
    x.s = &machine->program->stms[x.number];
    advance(&x);
    for (uint32_t i = 0; i < x.w->depth; i++)
        if (entry_kind(x.stack[i]) == ENTRY_CONT)
            put(machine, &x.beta[i], 0);
}

const struct semantics semantics_simt = {
    .name = "simt",
    .form = FORM_STRUCTURED,
    .actors = ACTORS_WARPS,
    .stack = STACK_SIMT,
    .kinds = CODE_KINDS_CORE | 1 << CODE_ASSUME | 1 << CODE_HAVOC | 1 << CODE_ATOMIC |
             1 << CODE_VOTE | 1 << CODE_BARRIER,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct assign_scratch),
    .init = init,
    .layout = layout,
    .step = STEP_TABLE(simt_step),
    .footprint = footprint,
    .next_stm = next_stm,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_SIMT_BARRIER_S,
    .divergence_rule = RULE_SIMT_BARRIER_F,
};
