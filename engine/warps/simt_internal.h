/*
 * simt_internal.h - what the rules of a warp work on: its state, its stack, expressions over its lanes.
 * For simt.c and simt_memory.h only.
 */
#ifndef ENGINE_SIMT_INTERNAL_H
#define ENGINE_SIMT_INTERNAL_H

#include "engine/base/invariant.h"
#include "engine/machine/semantics.h"
#include "engine/warps/simt.h"

/* Start of a warp's state; its token masks follow, then its stack. */
struct warp_head {
    lane_mask theta, delta_b, delta_r, delta_e;
    uint32_t depth, calls;
    uint32_t first_thread, lanes; /* constant */
};

enum { CONFLICT_SLOTS = 128 };

/* What an assign step needs beside the state. */
struct assign_scratch {
    uint32_t address[LIMIT_WARP];
    int32_t value[LIMIT_WARP];
    int32_t second[LIMIT_WARP]; /* operand of cas */
    uint8_t order[LIMIT_WARP];  /* in which the lanes of the last assign, havoc or atomic wrote */
    uint32_t order_count;
    uint8_t next[LIMIT_WARP];     /* lane + 1 of the next lane with the same address, 0 = none */
    uint8_t slot[CONFLICT_SLOTS]; /* lane + 1 of the first lane with an address, 0 = free */
};

/* What a rule works on. */
struct warp_step {
    struct machine *m;
    struct warp_head *w;
    lane_mask *masks; /* of tokens; masks[i] belongs to stack[i] */
    stack_entry *stack;
    uint32_t *beta; /* as of threads.h, beta[i] belongs to stack[i]; programs with barriers only */
    const struct code_stm *s; /* statement on top, if any */
    uint32_t number;          /* its number */
    struct choices *choices;
};

static inline uint32_t warp_stride(const struct program *program)
{
    uint32_t stack_words = (program->stack_depth + 1) & ~1u;
    uint32_t beta_words = program->barrier_count > 0 ? stack_words : 0;
    return (uint32_t)sizeof(struct warp_head) / 4 + 2 * program->stack_depth + stack_words +
           beta_words;
}

STEP_INLINE struct warp_step view(const struct machine *machine, uint32_t warp)
{
    const struct program *program = machine->program;
    uint32_t *words = (uint32_t *)machine->extra + (size_t)warp * warp_stride(program);
    struct warp_step x = {.w = (struct warp_head *)words};
    x.masks = (lane_mask *)(words + sizeof(struct warp_head) / 4);
    x.stack = (stack_entry *)(x.masks + program->stack_depth);
    x.beta = x.stack + ((program->stack_depth + 1) & ~1u);
    return x;
}

/* ---- the stack ---- */

STEP_INLINE void push(struct warp_step *x, stack_entry entry, lane_mask mask)
{
    uint32_t depth = x->w->depth;
    INVARIANT(depth < x->m->program->stack_depth);
    put(x->m, &x->stack[depth], entry);
    put_mask(x->m, &x->masks[depth], mask);
    put(x->m, &x->w->depth, depth + 1);
    if (x->m->program->barrier_count > 0)
        put(x->m, &x->beta[depth], 0);
}

STEP_INLINE void pop(struct warp_step *x)
{
    uint32_t top = x->w->depth - 1;
    if (is_tracked(x->m)) {
        put(x->m, &x->stack[top], 0);
        put_mask(x->m, &x->masks[top], 0);
        if (x->m->program->barrier_count > 0)
            put(x->m, &x->beta[top], 0);
    }
    put(x->m, &x->w->depth, top);
}

/* s W becomes W: the slice on top loses its first statement. */
STEP_INLINE void advance(struct warp_step *x)
{
    if (x->s->last)
        pop(x);
    else
        put(x->m, &x->stack[x->w->depth - 1], entry_make(ENTRY_STM, x->number + 1));
}

/* [S] tau W becomes tau W. A token is always found: the call at the bottom (SIMT.progress). */
STEP_INLINE void skip_to_token(struct warp_step *x)
{
    while (entry_kind(x->stack[x->w->depth - 1]) <= ENTRY_CONT) {
        pop(x);
        INVARIANT(x->w->depth > 0);
    }
}

STEP_INLINE void set_theta(struct warp_step *x, lane_mask theta)
{
    put_mask(x->m, &x->w->theta, theta);
}

STEP_INLINE uint32_t lowest_lane(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

static inline lane_mask all_lanes(const struct warp_head *w)
{
    return w->lanes == 64 ? ~(lane_mask)0 : ((lane_mask)1 << w->lanes) - 1;
}

/* ---- expressions over a warp ---- */

STEP_INLINE void lane_fault(struct warp_step *x, enum status status, uint32_t lane)
{
    machine_fault(x->m, status, x->w->first_thread + lane, x->number);
}

/* act(Theta, e, eta, mu) = { theta in Theta | E[[e]] eta(theta) mu != 0 }, all in the same mu.
 * False: an index of the lowest such lane lies outside its array. */
STEP_INLINE bool act(struct warp_step *x, lane_mask *truth)
{
    lane_mask A = 0;
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        int32_t v;
        if (!eval(x->m, x->w->first_thread + lane, x->s->value, x->number, &v)) {
            lane_fault(x, STATUS_OUT_OF_BOUNDS, lane);
            return false;
        }
        A |= (lane_mask)(v != 0) << lane;
    }
    *truth = A;
    return true;
}

STEP_DECLARE(simt_step);

#endif
