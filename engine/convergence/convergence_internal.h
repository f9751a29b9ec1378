/*
 * convergence_internal.h - where the splits of a warp lie. Each lane has room for one; that of the leader is used.
 * A split has a warp's head and stack, so that expressions and memory are those of engine/warps.
 */
#ifndef ENGINE_CONVERGENCE_INTERNAL_H
#define ENGINE_CONVERGENCE_INTERNAL_H

#include "engine/convergence/convergence.h"
#include "engine/warps/simt_memory.h"

/* Of a lane: which split it is in. Of a leader also: whether its split waits. The split's head and stack follow. */
struct split_lane {
    uint32_t leader; /* thread's number in the grid */
    uint32_t waits;
};

enum { SPLIT_LANE_WORDS = sizeof(struct split_lane) / 4 };

static inline uint32_t split_stride(const struct program *program)
{
    return SPLIT_LANE_WORDS + warp_stride(program);
}

STEP_INLINE struct split_lane *lane_of(const struct machine *machine, uint32_t thread)
{
    return (struct split_lane *)((uint32_t *)machine->extra +
                                 (size_t)thread * split_stride(machine->program));
}

/* The room for a split that this thread leads. */
STEP_INLINE struct warp_step led_by(struct machine *machine, uint32_t thread)
{
    const struct program *program = machine->program;
    uint32_t *words = (uint32_t *)(lane_of(machine, thread) + 1);
    struct warp_step x = {.m = machine, .w = (struct warp_head *)words};
    x.masks = (lane_mask *)(words + sizeof(struct warp_head) / 4);
    x.stack = (stack_entry *)(x.masks + program->stack_depth);
    x.beta = x.stack + ((program->stack_depth + 1) & ~1u);
    return x;
}

STEP_INLINE const struct warp_head *head_of(const struct machine *machine, uint32_t thread)
{
    return (const struct warp_head *)(lane_of(machine, lane_of(machine, thread)->leader) + 1);
}

STEP_INLINE uint32_t leader_of(const struct warp_step *x)
{
    return x->w->first_thread + lowest_lane(x->w->theta);
}

STEP_DECLARE(convergence_step);

#endif
