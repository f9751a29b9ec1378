/*
 * live.h - the actors that can step: machine->head->live, ascending.
 */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#include "engine/machine/machine.h"

/* Index of the first live actor >= `actor`; live_count when there is none. */
static inline uint32_t live_from(const struct machine *machine, uint32_t actor)
{
    const struct machine_head *head = machine->head;
    uint32_t low = 0, high = head->live_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (head->live[middle] < actor)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the actor is the one at this index. */
static inline bool live_at(const struct machine *machine, uint32_t index, uint32_t actor)
{
    return index < machine->head->live_count && machine->head->live[index] == actor;
}

/* The actor that the thread is, or its warp or block. */
static inline uint32_t actor_of(const struct machine *machine, uint32_t thread)
{
    const struct program *program = machine->program;
    const struct ast_launch *launch = &program->launch;
    if (machine->actor_count == program->total_threads)
        return thread;
    if (machine->actor_count == launch->blocks)
        return thread / launch->threads;
    return thread / launch->threads * program->warps_per_block +
           thread % launch->threads / launch->warp;
}

/* Neither final nor waiting at a barrier. */
static inline bool is_live(const struct machine *machine, uint32_t actor)
{
    return live_at(machine, live_from(machine, actor), actor);
}

/* Has nothing left to do that its text says: final, or on its way through steps that are not in it. Only such a unit is
 * out of what a progress model must let run, in every form of a kernel. */
static inline bool is_finished(const struct machine *machine, uint32_t actor)
{
    const struct semantics *semantics = machine->semantics;
    if (semantics->past_text)
        return semantics->past_text(machine, actor);
    return !is_live(machine, actor) && semantics->next_stm(machine, actor) == CODE_NONE;
}

#endif
