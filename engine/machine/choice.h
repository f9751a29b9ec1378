/*
 * choice.h - the choices of a thread: havoc, and a goto with several feasible targets (ORA.choice,
 * docs/kernel-language.md).
 *
 * A choice's value is a function of the case's seed, the thread and how many choices that thread has
 * made before, and of nothing else: so every semantics that runs the same case sees the same choices
 * as long as the thread's own history is the same. In literal mode they are the scheduler's instead.
 */
#ifndef ENGINE_CHOICE_H
#define ENGINE_CHOICE_H

#include "engine/base/pcg.h"

static inline uint32_t choice_draw(uint64_t seed, uint32_t thread, uint32_t made)
{
    uint64_t stream = pcg_splitmix(seed ^ pcg_splitmix(((uint64_t)PCG_CHOICE << 32) | thread));
    return (uint32_t)(pcg_splitmix(stream + made) >> 32);
}

/* One of n >= 1. */
static inline uint32_t choice_index(uint64_t seed, uint32_t thread, uint32_t made, uint32_t n)
{
    return (uint32_t)((uint64_t)choice_draw(seed, thread, made) * n >> 32);
}

/* What havoc gives: small values, where indices and guards live, mostly; one in eight anywhere. */
static inline int32_t choice_value(uint64_t seed, uint32_t thread, uint32_t made)
{
    uint32_t draw = choice_draw(seed, thread, made);
    return draw % 8 == 0 ? (int32_t)(draw * 2654435769u) : (int32_t)(draw / 8 % 9) - 2;
}

#endif
