/*
 * ptx_programs.h - for the tests of the machines that run PTX: programs and machines from text, and the set of
 * outcomes that an exhaustive search finds.
 */
#ifndef TESTS_UNIT_PTX_PROGRAMS_H
#define TESTS_UNIT_PTX_PROGRAMS_H

#include "tests/unit/shared/support.h"

#include "engine/crs/crs.h"
#include "engine/input/ptx_kernel.h"
#include "engine/search/search.h"

/* One entry `k` with this body, behind the settings. */
static inline const char *ptx_text_of(const char *settings, const char *declarations,
                                      const char *body)
{
    return arena_printf(&test_arena,
                        "// simtfuzz: %s\n"
                        ".version 8.0\n.target sm_80\n.address_size 64\n%s"
                        ".visible .entry k() {\n"
                        "  .reg .pred %%p, %%q;\n  .reg .b32 %%r, %%s, %%t;\n  .reg .b64 %%a;\n"
                        "%s}\n",
                        settings, declarations, body);
}

/* The end of a body: out[tid] = %r. */
#define PTX_STORE                                                                                  \
    "  mov.u32 %s, %tid.x;\n  shl.b32 %s, %s, 2;\n  mov.u32 %t, out;\n  add.u32 %t, %t, %s;\n"     \
    "  st.shared.u32 [%t], %r;\n  exit;\n"

static inline const struct program *ptx_program_of(const char *text)
{
    struct diag diag;
    const char *reason = NULL;
    diag_init(&diag, "test.ptx", text, strlen(text));
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    const struct ptx_code_options options = {.initial = NULL};
    struct program *program =
        ptx_compile(&test_arena, kernel, kernel->ptx->module, &options, &reason);
    if (!program)
        print_error("%s\n%s\n", reason, text);
    assert_non_null(program);
    return program;
}

/* One execution in turns, to its end. */
static inline struct machine *ptx_play(const struct semantics *semantics,
                                       const struct program *program,
                                       const struct observer *observers)
{
    const struct machine_options options = {.observers = observers};
    struct machine *machine = machine_new(&test_arena, semantics, program, &options);
    struct scheduler scheduler;
    const struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN};
    sched_start(&scheduler, &spec, machine, &test_arena);
    machine_run(machine, &scheduler.choices, 100000, NULL);
    return machine;
}

/* Each step is done, undone and done again: equal states have equal bytes, and the hash is that of the state. The steps
 * until it has terminated. */
static inline uint32_t ptx_play_undoing(const struct semantics *semantics,
                                        const struct program *program)
{
    struct machine *machine = search_machine(&test_arena, semantics, program, false);
    uint32_t *before = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    uint32_t steps = 0;
    for (; machine_status(machine) == STATUS_RUNNING; steps++) {
        uint32_t actor = machine->head->live[steps % machine->head->live_count];
        uint64_t hash = machine->track.hash;
        machine->track.log_count = 0;
        machine_save(machine, before);
        machine_step(machine, actor, NULL);
        uint64_t after = machine->track.hash;
        machine_undo(machine, 0);
        assert_true(machine_equals(machine, before));
        assert_true(machine->track.hash == hash);
        machine_step(machine, actor, NULL);
        assert_true(machine->track.hash == after);
    }
    assert_int_equal(machine_status(machine), STATUS_TERMINATED);
    return steps;
}

/* Bits 1u << enum status of all executions. */
static inline uint32_t ptx_outcomes(const struct semantics *semantics,
                                    const struct program *program, uint32_t block_options)
{
    size_t mark = arena_mark(&test_arena);
    const struct machine_options options = {.block_options = block_options};
    struct machine *machine = search_machine_with(&test_arena, semantics, program, &options);
    struct search_options search = SEARCH_DEFAULTS;
    search.method = SEARCH_STATES;
    const struct search_result *result = search_run(&test_arena, machine, &search);
    uint32_t statuses = 0;
    assert_true(result->complete);
    for (uint32_t i = 0; i < result->outcome_count; i++)
        statuses |= 1u << result->outcomes[i].status;
    arena_release(&test_arena, mark);
    return statuses;
}

static inline void assert_statuses(const char *what, uint32_t found, uint32_t expected)
{
    if (found == expected)
        return;
    print_error("%s:", what);
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if ((found | expected) >> s & 1)
            print_error(" %s%s", status_names[s],
                        !(found >> s & 1)      ? " (missing)"
                        : !(expected >> s & 1) ? " (not expected)"
                                               : "");
    print_error("\n");
    fail();
}

#endif
