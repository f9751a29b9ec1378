/*
 * caches_show.c - what is under way, for those who show a state: whom an actor waits for, and what an operation does
 * next.
 */
#include "engine/caches/caches_internal.h"

/* Of a machine that is only looked at. */
static struct machine *unchanged(const struct machine *machine)
{
    return (struct machine *)(uintptr_t)machine;
}

static bool is_among(const uint32_t *actors, uint32_t count, uint32_t actor)
{
    for (uint32_t i = 0; i < count; i++)
        if (actors[i] == actor)
            return true;
    return false;
}

enum caches_hold caches_hold(const struct machine *machine, uint32_t actor)
{
    const struct caches *c = caches_of(machine);
    bool live = c->inside ? is_among(machine->head->live, machine->head->live_count, actor)
                          : is_among(&c->live[1], c->live[0], actor);
    if (!live)
        return CACHES_HELD;
    return caches_is_ready(unchanged(machine), actor) ? CACHES_GOES : CACHES_WAITS;
}

bool caches_under_way(const struct machine *machine, uint32_t actor, uint32_t pc)
{
    const struct caches *c = caches_of(machine);
    for (uint32_t i = 0; i < c->in_flight[actor]; i++)
        if (caches_slot(c, actor, i)->pc == pc)
            return true;
    return false;
}

static const char *next_of(enum memory_code code)
{
    switch (code) {
    case CODE_READ_MEM:
        return "memory is read next";
    case CODE_WRITE_MEM:
        return "memory is written next";
    case CODE_ATOM_OP:
        return "it computes next";
    case CODE_TO_REGS:
    case CODE_RELEASE:
        return "the registers get their values next";
    case CODE_LOCK:
        return "its banks are locked next";
    case CODE_UNLOCK:
        return "its banks are unlocked next";
    case CODE_READ_L1:
        return "L1 is read next";
    case CODE_WRITE_L1:
        return "L1 is written next";
    case CODE_RESERVE_L1:
        return "L1 makes room for the line next";
    case CODE_UPDATE_L1:
        return "the line comes into L1 next";
    case CODE_EVICT_L1:
    case CODE_DISCARD_L1:
        return "L1 drops the line next, if it has it";
    case CODE_READ_L2:
        return "L2 is read next";
    case CODE_WRITE_L2:
        return "L2 is written next";
    case CODE_RESERVE_L2:
        return "L2 makes room for the line next";
    case CODE_UPDATE_L2:
        return "the line comes into L2 next";
    case CODE_FIRST_L1:
    case CODE_NORMAL_L1:
    case CODE_FIRST_L2:
    case CODE_NORMAL_L2:
        return "the line is marked next";
    case CODE_END:
    case CODE_YIELD:
    case CODE_UNLESS_L1:
    case CODE_UNLESS_L2:
    case CODE_ELSE:
        break;
    }
    return "it ends next";
}

const char *caches_next_of(const struct machine *machine, uint32_t actor, uint32_t place)
{
    struct operation x = caches_operation(unchanged(machine), actor, place, NULL);
    const uint8_t *code = memory_programs[x.slot->program].code;
    if (!caches_may_step(&x))
        return "it waits for others' operations or lines";
    return next_of((enum memory_code)code[caches_ahead(&x)]);
}
