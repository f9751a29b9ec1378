/*
 * planted.h - a fault planted into a machine's steps: plant() puts a step function of the test in the place
 * of all four variants of the semantics; what it does not spoil it leaves to honest_step.
 */
#ifndef TESTS_UNIT_PLANTED_H
#define TESTS_UNIT_PLANTED_H

#include "tests/unit/shared/support.h"

typedef enum rule step_function(struct machine *, uint32_t, struct choices *);

/* The steps of the semantics that was planted into last. */
static step_function *honest[4];

static inline enum rule honest_step(struct machine *machine, uint32_t actor,
                                    struct choices *choices)
{
    bool observed = machine->options.observers != NULL;
    return honest[observed ? MACHINE_OBSERVED : 0](machine, actor, choices);
}

static inline void plant(struct machine *machine, step_function *step)
{
    static struct semantics faulty;
    struct semantics planted = *machine->semantics;
    memcpy(honest, planted.step, sizeof honest);
    for (uint32_t i = 0; i < 4; i++)
        planted.step[i] = step;
    faulty = planted;
    machine->semantics = &faulty;
}

/* The first word is one too large when the execution ends. */
static inline enum rule add_one(struct machine *machine, uint32_t actor, struct choices *choices)
{
    enum rule rule = honest_step(machine, actor, choices);
    if (machine_status(machine) == STATUS_TERMINATED)
        machine->memory[0]++;
    return rule;
}

/* Reports a write of two threads when the execution starts. */
static inline enum rule invent_race(struct machine *machine, uint32_t actor,
                                    struct choices *choices)
{
    const struct observer *o = machine->options.observers;
    if (machine->steps == 0 && o) {
        o->write(o->context, 0, 0, 0, 0);
        o->write(o->context, 1, 0, 0, 0);
    }
    return honest_step(machine, actor, choices);
}

#endif
