/*
 * blocks.h - for tests of block programs: the kernels of lockstep-cfg, what they become, runs of them.
 */
#ifndef TESTS_UNIT_BLOCKS_H
#define TESTS_UNIT_BLOCKS_H

#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/forms/predicate.h"

/* Fig. 3 with B-22's index, a leading assume in every block (Def. 5.1) and the final barrier
 * (CFG.final). The declarations of sum and the launch come before it. */
#define BLOCKS_SCAN                                                                                \
    "kernel scan() blocks {\n"                                                                     \
    "  private int offset; private int temp;\n"                                                    \
    "  Start: assume(1); offset = 1; goto W, Wend;\n"                                              \
    "  W: assume(offset < threads); goto I1, J1;\n"                                                \
    "  I1: assume(tid >= offset); temp = sum[tid - offset]; goto B1;\n"                            \
    "  J1: assume(tid < offset); goto B1;\n"                                                       \
    "  B1: assume(1); barrier(); goto I2, J2;\n"                                                   \
    "  I2: assume(tid >= offset); sum[tid] = sum[tid] + temp; goto B2;\n"                          \
    "  J2: assume(tid < offset); goto B2;\n"                                                       \
    "  B2: assume(1); barrier(); goto Wlast;\n"                                                    \
    "  Wlast: assume(1); offset = 2 * offset; goto W, Wend;\n"                                     \
    "  Wend: assume(offset >= threads); goto Exit;\n"                                              \
    "  Exit: assume(1); barrier(); goto End; }\n"

static const struct predicate_options BLOCKS_DEFAULTS;

/* Compiles, which numbers the tree. */
static inline struct program *blocks_compile(struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct program *program = program_compile(&test_arena, kernel, &reason);
    if (!program)
        print_error("%s\n%s\n", reason, print_kernel(&test_arena, kernel));
    assert_non_null(program);
    return program;
}

enum blocks_form { BLOCKS_P, BLOCKS_PI, BLOCKS_PHI };

/* P, pi(P) or phi(P) of a kernel in block form; what is printed parses to the same text. */
static inline struct ast_kernel *blocks_transform(struct ast_kernel *kernel, enum blocks_form form,
                                                  const struct predicate_options *options)
{
    const char *reason = NULL;
    blocks_compile(kernel);
    if (form == BLOCKS_P)
        return kernel;
    struct ast_kernel *result = form == BLOCKS_PI
                                    ? predicate(&test_arena, kernel, options, &reason)
                                    : lockstep_form(&test_arena, kernel, options, &reason);
    if (!result)
        print_error("%s\n", reason);
    assert_non_null(result);
    const char *text = print_kernel(&test_arena, result);
    assert_string_equal(print_kernel(&test_arena, support_parse(text)), text);
    return result;
}

static inline struct program *blocks_program(const char *text, enum blocks_form form,
                                             const struct predicate_options *options)
{
    return blocks_compile(blocks_transform(support_parse(text), form, options));
}

static inline struct machine *blocks_machine(const struct program *program,
                                             const struct machine_options *options)
{
    const struct semantics *semantics =
        program->form == FORM_LOCKSTEP ? &semantics_lockstep : &semantics_interleave;
    assert_null(machine_refuses(&test_arena, semantics, program));
    return machine_new(&test_arena, semantics, program, options);
}

/* Runs actors round robin (seed 0) or at random, at most `budget` steps. */
static inline enum status blocks_run(struct machine *machine, uint64_t seed, uint64_t budget)
{
    struct pcg rng = pcg_derive(seed, PCG_SCHEDULE, 0);
    for (uint64_t n = 0; n < budget; n++) {
        if (machine_status(machine) != STATUS_RUNNING)
            return machine_status(machine);
        uint32_t count = machine->head->live_count;
        uint32_t i = seed ? pcg_below(&rng, count) : (uint32_t)(n % count);
        machine_step(machine, machine->head->live[i], NULL);
    }
    return machine_status(machine) == STATUS_RUNNING ? STATUS_STEP_LIMIT : machine_status(machine);
}

#endif
