/*
 * ptx_machine.h - a plain machine for tests of ptx_exec.h: warps that run straight on, their lanes
 * together. Guards choose lanes; branches, calls and returns are taken by all lanes that execute them, and
 * the others wait for nothing: where lanes part, the test says who steps (only).
 */
#ifndef TESTS_UNIT_PTX_MACHINE_H
#define TESTS_UNIT_PTX_MACHINE_H

#include "tests/unit/shared/support.h"

#include "engine/lanes/ptx_exec.h"

#include <stdio.h>

struct test_warp {
    uint32_t pc, padding;
    lane_mask active; /* lanes that have not ended */
    lane_mask only;   /* of these only those step, if there are any */
    lane_mask spare;
};

static struct test_warp *test_warp(const struct machine *machine, uint32_t warp)
{
    uint32_t words = (uint32_t)sizeof(struct test_warp) / 4 +
                     ptx_lanes_words(machine->program, machine->program->launch.warp);
    return (struct test_warp *)((uint32_t *)machine->extra + (size_t)warp * words);
}

static struct ptx_lanes *test_lanes(const struct machine *machine, uint32_t warp)
{
    return (struct ptx_lanes *)(test_warp(machine, warp) + 1);
}

static uint32_t test_extra_words(const struct program *program)
{
    return program->warp_count * ((uint32_t)sizeof(struct test_warp) / 4 +
                                  ptx_lanes_words(program, program->launch.warp));
}

static uint32_t test_actors(const struct program *program)
{
    return program->warp_count;
}

static void test_init(struct machine *machine)
{
    const struct program *program = machine->program;
    for (uint32_t w = 0; w < program->warp_count; w++) {
        uint32_t tid = w % program->warps_per_block * program->launch.warp;
        uint32_t first = w / program->warps_per_block * program->launch.threads + tid;
        uint32_t left = program->launch.threads - tid;
        ptx_lanes_init(machine, test_lanes(machine, w), first,
                       left < program->launch.warp ? left : program->launch.warp);
        *test_warp(machine, w) =
            (struct test_warp){.pc = 1, .active = ptx_all(test_lanes(machine, w))};
    }
}

static void test_flow(struct machine *machine, uint32_t warp, lane_mask X)
{
    struct test_warp *w = test_warp(machine, warp);
    struct ptx_lanes *lanes = test_lanes(machine, warp);
    uint32_t targets[64], next = w->pc + 1;
    lane_mask some = X & (~X + 1);
    uint32_t lane = X ? (uint32_t)__builtin_ctzll(some) : 0;
    const uint32_t exec = machine->program->ptx->ops[w->pc].exec;
    const bool goes = exec == PTX_EXEC_BRA || exec == PTX_EXEC_CALL;
    if (X && goes && ptx_targets(machine, lanes, w->pc, X, targets)) {
        if (exec == PTX_EXEC_BRA || ptx_call(machine, lanes, w->pc, X, targets[lane]))
            next = targets[lane];
    } else if (X && exec == PTX_EXEC_RET && ptx_return(machine, lanes, X, targets)) {
        next = targets[lane] + 1;
    } else if (exec == PTX_EXEC_RET || exec == PTX_EXEC_EXIT) {
        put_mask(machine, &w->active, w->active & ~X);
    }
    put(machine, &w->pc, next);
    if (w->active == 0)
        machine_retire(machine, warp);
}

static enum rule test_step(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct test_warp *w = test_warp(machine, warp);
    struct ptx_lanes *lanes = test_lanes(machine, warp);
    lane_mask active = w->only ? w->only & w->active : w->active;
    lane_mask X = ptx_guard(machine, lanes, w->pc, active);
    enum rule rule = RULE_NONE;
    if (!ptx_enter(machine, lanes, w->pc, X))
        return RULE_NONE;
    if (ptx_is_flow((enum ptx_exec)machine->program->ptx->ops[w->pc].exec)) {
        test_flow(machine, warp, X);
    } else {
        if (X)
            rule = ptx_execute(machine, lanes, w->pc, X, ptx_all(lanes) & ~w->active, choices);
        put(machine, &w->pc, w->pc + 1);
    }
    machine->hits[rule]++;
    machine->steps++;
    return rule;
}

static const struct semantics test_semantics = {
    .name = "test",
    .form = FORM_PTX,
    .kinds = 1u << CODE_PTX,
    .extra_words = test_extra_words,
    .actor_count = test_actors,
    .scratch_bytes = sizeof(struct ptx_scratch),
    .init = test_init,
    .step = {test_step, test_step, test_step, test_step},
};

static inline struct program *test_compile_with(const char *text, const char *settings)
{
    const char *reason = NULL;
    struct ast_kernel *kernel = support_parse(text);
    struct diag diag;
    diag_init(&diag, "settings", "", 0);
    if (settings)
        assert_true(ptx_kernel_set(&test_arena, kernel, settings, &diag));
    struct program *program = ptx_compile(&test_arena, kernel, kernel->ptx->module, NULL, &reason);
    if (!program)
        print_error("%s\n", reason);
    assert_non_null(program);
    return program;
}

static inline struct program *test_compile(const char *text)
{
    return test_compile_with(text, NULL);
}

static struct machine *test_machine(const struct program *program, bool track)
{
    struct machine_options options = {.track = track, .undo_entries = track ? 1 << 16 : 0};
    return machine_new(&test_arena, &test_semantics, program, &options);
}

/* Steps warps one after the other until all have ended. */
static inline enum status test_run(struct machine *machine, struct choices *choices)
{
    for (uint32_t steps = 0; machine->head->status == STATUS_RUNNING; steps++) {
        assert_true(steps < 100000);
        machine_step(machine, machine->head->live[0], choices);
    }
    return machine_status(machine);
}

/* The words of a variable in global memory. */
static inline const uint32_t *test_words(const struct machine *machine, const char *name)
{
    return (const uint32_t *)machine->memory + support_address(machine->program, name);
}

#endif
