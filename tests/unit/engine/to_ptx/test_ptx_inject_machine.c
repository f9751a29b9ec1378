/* Injected code on the machine: a warp's final memory under `crs` is that of threads under `block`. */
#include "tests/unit/shared/support.h"

#include "engine/crs/crs.h"
#include "engine/input/input.h"
#include "engine/program/ptx_code.h"
#include "engine/to_ptx/ptx_inject.h"
#include "tests/unit/engine/to_ptx/ptx_graphs.h"

#include <glob.h>

/* NULL: it holds something that is not laid out. */
static const struct program *compile(const struct ast_kernel *kernel,
                                     const struct ptx_module *module)
{
    const char *reason = NULL;
    return ptx_compile(&test_arena, kernel, module, NULL, &reason);
}

static struct machine *run(const struct semantics *semantics, const struct program *program,
                           enum status *status)
{
    const struct machine_options options = {.track = false};
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct machine *machine = machine_new(&test_arena, semantics, program, &options);
    struct scheduler scheduler;
    machine_reset(machine);
    sched_start(&scheduler, &spec, machine, &test_arena);
    *status = machine_run(machine, &scheduler.choices, 1000000, NULL);
    return machine;
}

/* Addresses of functions differ, and so do the initial values that have them. False: there is nothing to compare, or
 * one of them did not end. */
static bool same_result(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    enum status before, after;
    const struct ptx_module *injected = ptx_inject(&test_arena, kernel->ptx->module, &reason);
    if (!injected)
        fail_msg("%s", reason);
    const struct program *program = compile(kernel, kernel->ptx->module);
    const struct program *with_tokens = compile(kernel, injected);
    assert_int_equal(!program, !with_tokens);
    if (!program || machine_refuses(&test_arena, &semantics_block, program))
        return false;
    const struct machine *block = run(&semantics_block, program, &before);
    const struct machine *crs = run(&semantics_crs, with_tokens, &after);
    if (before != STATUS_TERMINATED || after != STATUS_TERMINATED)
        return false;
    const int32_t *first = program->ptx->initial, *other = with_tokens->ptx->initial;
    for (uint32_t word = 0; word < program->private_base; word++)
        if (block->memory[word] - first[word] != crs->memory[word] - other[word])
            fail_msg("word %u is %d, not %d in %s", (unsigned)word, (int)crs->memory[word],
                     (int)block->memory[word], ptx_print(&test_arena, injected));
    return true;
}

static void corpus(void **state)
{
    (void)state;
    glob_t files;
    uint32_t ended = 0;
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/*.ptx", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t length, mark = arena_mark(&test_arena);
        struct diag diag;
        diag_init(&diag, files.gl_pathv[i], "", 0);
        const char *bytes = parse_read_file(&test_arena, files.gl_pathv[i], &length, &diag);
        assert_non_null(bytes);
        if (strstr(bytes, "expect: race_free") || strstr(bytes, "expect block: race_free"))
            ended += same_result(support_parse(bytes));
        arena_release(&test_arena, mark);
    }
    globfree(&files);
    print_message("%u kernels end the same\n", (unsigned)ended);
    assert_true(ended >= 20);
}

static void random_programs(make_shape *make, uint32_t count, uint32_t functions)
{
    uint32_t ended = 0;
    for (uint32_t n = 0; n < count; n++) {
        size_t mark = arena_mark(&test_arena);
        say_module(make, below(functions + 1), true, true);
        ended += same_result(support_parse(graph_text));
        arena_release(&test_arena, mark);
    }
    assert_int_equal(ended, count);
}

static void programs(void **state)
{
    (void)state;
    pcg_seed(&rng, 11, 1);
    random_programs(structured, 300, 0);
    random_programs(plain, 100, 0);
    random_programs(reducible, 300, 0);
    random_programs(structured, 200, 3);
    random_programs(reducible, 200, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corpus),
        cmocka_unit_test(programs),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
