/*
 * litmus_machine.h - a litmus test as a kernel that warps run over caches (engine/caches): a second account of the
 * outcomes that engine/litmus finds in `printed`, `llh` and `coherent`.
 */
#ifndef FUZZ_LITMUS_MACHINE_H
#define FUZZ_LITMUS_MACHINE_H

#include "engine/litmus/litmus.h"
#include "engine/machine/machine.h"
#include "engine/program/ptx_code.h"

struct litmus_machine {
    const struct litmus_test *test;
    struct machine *machine; /* tracked */
    /* Where what is observed lies: a register's place, its warp and its lane; or a word of memory. */
    struct ptx_place places[LITMUS_OBSERVED];
    uint32_t actors[LITMUS_OBSERVED], lanes[LITMUS_OBSERVED], words[LITMUS_OBSERVED];
};

/* The memory of the model, and what the test has for options. */
struct memory_options litmus_memory(const struct litmus_test *test, enum litmus_model model);

/* The test's kernel; what is warm in the test is added to the memory. NULL: there is no such kernel, or it accesses no
 * global word, and yet one is warm or observed. */
struct program *litmus_program(struct arena *arena, const struct litmus_test *test,
                               struct memory_options *memory);

/* False: no such kernel. */
bool litmus_machine_make(struct arena *arena, const struct litmus_test *test,
                         const struct memory_options *memory, struct litmus_machine *x);

/* What the test observes, in the machine's state. False: it has not ended well. */
bool litmus_machine_values(const struct litmus_machine *x, int16_t values[LITMUS_OBSERVED]);

/* All outcomes, and how many states are stuck. False: more than `limit` states, or no such kernel. */
bool litmus_machine_run(struct arena *arena, const struct litmus_test *test,
                        enum litmus_model model, uint32_t limit, struct litmus_result *result);

#endif
