/*
 * live.h - the actors that can step: machine->head->live, ascending.
 */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#include "engine/machine.h"

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

/* Neither final nor waiting at a barrier. */
static inline bool is_live(const struct machine *machine, uint32_t actor)
{
    return live_at(machine, live_from(machine, actor), actor);
}

#endif
