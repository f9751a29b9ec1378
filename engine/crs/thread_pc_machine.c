/*
 * thread_pc_machine.c - semantics_thread_pc as a machine: how a warp starts, what schedulers ask. Its rules are
 * thread_pc.c and crs_branch.c.
 */
#include "engine/crs/crs_internal.h"

/* Initially pc = entry; ε for dummies. */
static void init(struct machine *machine)
{
    crs_init(machine);
    for (uint32_t i = 0; i < machine->actor_count; i++) {
        struct crs_view v = crs_view(machine, i);
        for (uint32_t lane = 0; lane < v.lanes->count; lane++)
            v.pcs[lane] = v.state->pc;
    }
}

static uint32_t extra_words(const struct program *program)
{
    return crs_barrier_words(program) + program->warp_count * crs_warp_stride(program, true);
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    struct crs_view v = crs_view(machine, actor);
    lane_mask active = v.state->active;
    uint32_t pc = active ? v.pcs[__builtin_ctzll(active)] : 0;
    return pc - 1 < machine->program->ptx->count - 1 ? pc : CODE_NONE;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    struct crs_view v = crs_view(machine, actor);
    *reads = *writes = 0;
    for (lane_mask rest = v.state->active; rest;) {
        uint32_t pc = v.pcs[__builtin_ctzll(rest)];
        lane_mask same = crs_taken(rest, v.pcs, pc);
        uint64_t r, w;
        crs_footprint_at(machine, actor, pc, same, &r, &w);
        *reads |= r;
        *writes |= w;
        rest &= ~same;
    }
}

const struct semantics semantics_thread_pc = {
    .name = "thread-pc",
    .form = FORM_PTX,
    .actors = ACTORS_WARPS,
    .stack = STACK_CRS,
    .has_pcs = true,
    .kinds = 1u << CODE_PTX,
    .extra_words = extra_words,
    .actor_count = crs_actor_count,
    .scratch_bytes = sizeof(struct crs_scratch),
    .init = init,
    .step = STEP_TABLE(thread_pc_step),
    .footprint = footprint,
    .next_stm = next_stm,
    .barrier_rule = RULE_BLK_END_BAR,
};
