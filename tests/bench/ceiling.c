#include "tests/bench/ceiling.h"

#include <string.h>

static uint64_t run_once(struct pcg *rng, int32_t *memory)
{
    uint32_t pc[CANONICAL_THREADS] = {0}, live[CANONICAL_THREADS], count = CANONICAL_THREADS;
    int32_t value[CANONICAL_THREADS] = {0};
    uint64_t steps = 0;
    for (uint32_t i = 0; i < count; i++)
        live[i] = i;
    while (count > 0) {
        uint32_t i = pcg_below(rng, count), t = live[i], at = pc[t]++;
        uint32_t variable = at / 2 % CANONICAL_VARIABLES;
        if (at & 1)
            memory[variable] = value[t];
        else
            value[t] = memory[variable] + 1;
        if (pc[t] == 2 * CANONICAL_STATEMENTS)
            live[i] = live[--count];
        steps++;
    }
    return steps;
}

uint64_t ceiling_run(uint64_t executions, struct pcg *rng, int32_t *memory)
{
    uint64_t steps = 0;
    for (uint64_t i = 0; i < executions; i++) {
        memset(memory, 0, CANONICAL_VARIABLES * sizeof *memory);
        steps += run_once(rng, memory);
    }
    return steps;
}
