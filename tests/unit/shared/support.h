/*
 * support.h - for most tests: an arena; kernels from text, machines of them, runs.
 */
#ifndef TESTS_UNIT_SUPPORT_H
#define TESTS_UNIT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"
#include "engine/subjects/subject.h"

#include <string.h>

static struct arena test_arena;

static inline int support_setup(void **state)
{
    (void)state;
    return arena_init(&test_arena, (size_t)1 << 30);
}

static inline int support_teardown(void **state)
{
    (void)state;
    arena_destroy(&test_arena);
    return 0;
}

static inline struct ast_kernel *support_parse(const char *text)
{
    struct diag diag;
    diag_init(&diag, "test.simt", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    return kernel;
}

static inline struct program *support_program(const char *text)
{
    const char *reason = NULL;
    struct ast_kernel *core = lower_core(&test_arena, support_parse(text));
    struct program *program = program_compile(&test_arena, core, &reason);
    if (!program)
        print_error("%s\n", reason);
    assert_non_null(program);
    return program;
}

static inline struct machine *support_machine(const struct program *program,
                                              enum subject_id subject)
{
    struct machine_options options = {.then_first = subject_table[subject].options.then_first};
    return machine_new(&test_arena, subject_table[subject].vtable, program, &options);
}

/* Address of the first element of a file-level variable (of block 0, thread 0). */
static inline uint32_t support_address(const struct program *program, const char *name)
{
    const uint32_t bases[] = {[SPACE_GLOBAL] = 0,
                              [SPACE_SHARED] = program->shared_base,
                              [SPACE_PRIVATE] = program->private_base};
    for (uint32_t i = 0; i < program->var_count; i++)
        if (strcmp(program->vars[i].ast->name, name) == 0)
            return bases[program->vars[i].ast->space] + program->vars[i].offset;
    fail_msg("no variable %s", name);
    return 0;
}

#endif
