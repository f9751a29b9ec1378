/*
 * convergence_machine.c - semantics_convergence as a machine: how it starts, what schedulers and barriers ask. Its
 * rules are convergence.c.
 */
#include "engine/convergence/convergence_internal.h"

struct convergence_split convergence_split(const struct machine *machine, uint32_t thread)
{
    uint32_t leader = lane_of(machine, thread)->leader;
    const struct warp_head *w = head_of(machine, thread);
    const lane_mask *masks = (const lane_mask *)(w + 1);
    return (struct convergence_split){
        .leader = leader,
        .waits = lane_of(machine, leader)->waits,
        .theta = w->theta,
        .depth = w->depth,
        .calls = w->calls,
        .stack = (const stack_entry *)(masks + machine->program->stack_depth),
        .masks = masks,
        .first_thread = w->first_thread,
    };
}

static uint32_t extra_words(const struct program *program)
{
    return program->total_threads * split_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->total_threads;
}

/* Every warp starts as one split: P call_Theta, Theta. */
static void init_warp(struct machine *machine, uint32_t first, uint32_t lanes)
{
    const struct program *program = machine->program;
    struct warp_step x = led_by(machine, first);
    for (uint32_t t = first; t < first + lanes; t++) {
        struct warp_head *w = led_by(machine, t).w;
        w->first_thread = first;
        w->lanes = lanes;
        lane_of(machine, t)->leader = first;
    }
    x.w->theta = all_lanes(x.w);
    x.w->calls = 1;
    x.w->depth = 2;
    x.stack[0] = entry_call(0, 0);
    x.masks[0] = x.w->theta;
    x.stack[1] = entry_make(ENTRY_STM, program->functions[0].body);
}

/* The leaders, one a warp, are live, of all the actors that machine_new has put there. */
static void init(struct machine *machine)
{
    const struct program *program = machine->program;
    struct machine_head *head = machine->head;
    uint32_t threads = program->launch.threads, width = program->launch.warp;
    memset(head->live, 0, head->live_count * sizeof *head->live);
    head->live_count = 0;
    for (uint32_t i = 0; i < program->warp_count; i++) {
        uint32_t at = i % program->warps_per_block * width;
        uint32_t first = i / program->warps_per_block * threads + at;
        init_warp(machine, first, threads - at < width ? threads - at : width);
        head->live[head->live_count++] = first;
    }
    for (uint32_t g = 0; g < program->launch.blocks; g++)
        machine->groups[g].live = program->warps_per_block;
}

static uint32_t next_stm(const struct machine *machine, uint32_t thread)
{
    struct convergence_split split = convergence_split(machine, thread);
    if (split.depth == 0)
        return CODE_NONE;
    stack_entry top = split.stack[split.depth - 1];
    return entry_kind(top) <= ENTRY_CONT ? entry_number(top) : CODE_NONE;
}

static void footprint(const struct machine *machine, uint32_t thread, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t stm = next_stm(machine, thread);
    *reads = stm == CODE_NONE ? 0 : machine->program->stms[stm].reads;
    *writes = stm == CODE_NONE ? 0 : machine->program->stms[stm].writes;
}

/* Final, or at end^c, which is no step of the text. */
static bool past_text(const struct machine *machine, uint32_t thread)
{
    struct convergence_split split = convergence_split(machine, thread);
    return split.depth == 0 || (split.depth == 1 && entry_kind(split.stack[0]) == ENTRY_CALL);
}

/* CFG.bv, as for warps (simt_machine.c). */
static bool same_barrier(const struct machine *machine, uint32_t thread, uint32_t other)
{
    struct convergence_split a = convergence_split(machine, thread),
                             b = convergence_split(machine, other);
    size_t bytes = a.depth * sizeof *a.stack, beta = (machine->program->stack_depth + 1) & ~1u;
    return a.depth == b.depth && memcmp(a.stack, b.stack, bytes) == 0 &&
           memcmp(a.stack + beta, b.stack + beta, bytes) == 0;
}

static void pass_barrier(struct machine *machine, uint32_t thread)
{
    if (lane_of(machine, thread)->leader != thread)
        return; /* the leader takes it along */
    struct warp_step x = led_by(machine, thread);
    x.number = entry_number(x.stack[x.w->depth - 1]);
    x.s = &machine->program->stms[x.number];
    advance(&x);
    for (uint32_t i = 0; i < x.w->depth; i++)
        if (entry_kind(x.stack[i]) == ENTRY_CONT)
            put(machine, &x.beta[i], 0);
}

static struct actor_stack stack_of(const struct machine *machine, uint32_t thread)
{
    struct convergence_split split = convergence_split(machine, thread);
    return (struct actor_stack){split.depth, split.stack, split.masks,
                                head_of(machine, thread)->lanes};
}

/* An entry in a word, as "line 9", "while line 7", "sync 7": a token's lanes are hexadecimal. */
static const char *describe_entry(struct arena *arena, const struct machine *machine,
                                  const struct convergence_split *split, uint32_t i)
{
    static const char *const names[] = {
        [ENTRY_STM] = "line",  [ENTRY_CONT] = "while line", [ENTRY_BRK] = "brk",
        [ENTRY_CALL] = "call", [ENTRY_DIV] = "div",         [ENTRY_SYNC] = "sync"};
    enum entry_kind kind = entry_kind(split->stack[i]);
    if (kind > ENTRY_CONT)
        return arena_printf(arena, "%s %llx", names[kind], (unsigned long long)split->masks[i]);
    return arena_printf(arena, "%s %u", names[kind],
                        (unsigned)machine->program->stms[entry_number(split->stack[i])].line);
}

/* "lanes 3: line 9, sync 7, call 7": the top of the stack first. */
static const char *describe(struct arena *arena, const struct machine *machine, uint32_t thread)
{
    struct convergence_split split = convergence_split(machine, thread);
    const char *text = arena_printf(arena, "lanes %llx%s", (unsigned long long)split.theta,
                                    split.waits ? " wait" : "");
    if (split.depth == 0)
        return "eps";
    for (uint32_t i = split.depth; i-- > 0;)
        text = arena_printf(arena, "%s%s %s", text, i + 1 == split.depth ? ":" : ",",
                            describe_entry(arena, machine, &split, i));
    return text;
}

const struct semantics semantics_convergence = {
    .name = "convergence",
    .form = FORM_STRUCTURED,
    .actors = ACTORS_THREADS,
    .unseen_order = true,
    .kinds = CODE_KINDS_CORE | 1 << CODE_ASSUME | 1 << CODE_HAVOC | 1 << CODE_ATOMIC |
             1 << CODE_VOTE | 1 << CODE_BARRIER,
    .describe = describe,
    .stack_of = stack_of,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct assign_scratch),
    .init = init,
    .step = STEP_TABLE(convergence_step),
    .footprint = footprint,
    .next_stm = next_stm,
    .past_text = past_text,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_CONV_BARRIER_S,
    .divergence_rule = RULE_CONV_BARRIER_F,
};
