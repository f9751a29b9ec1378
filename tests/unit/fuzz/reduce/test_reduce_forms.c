/*
 * The reducer on forms that generated findings seldom have: lock-step programs, PTX as nvcc emits it. What a kernel
 * must keep is planted: a text in it.
 */
#include "engine/input/input.h"
#include "tests/unit/fuzz/reduce/planted_interest.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct ast_kernel *parse(const char *text)
{
    static struct diag diag;
    diag_init(&diag, "test", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    return kernel;
}

static bool keeps_text(struct arena *scratch, const struct ast_kernel *kernel, void *context)
{
    return strstr(print_kernel(scratch, kernel), context) != NULL;
}

/* What is left of `kernel` when `text` must stand in it. */
static char *reduced(struct ast_kernel *kernel, char *text, uint32_t *size)
{
    struct reduce_result result;
    planted_reduce(&arena, kernel, keeps_text, text, &result);
    assert_true(result.reproduced);
    assert_int_equal(result.ending, REDUCE_MINIMAL);
    *size = result.size_after;
    char *left = print_kernel(&arena, result.kernel);
    assert_non_null(strstr(left, text));
    parse(left);
    return left;
}

static void lock_step_programs(void **state)
{
    (void)state;
    uint32_t size;
    char keep[] = "sync(", text[] = "launch(threads = 4, warp = 4);\n"
                                    "shared int a[4]; private int x, y;\n"
                                    "kernel k() lockstep {\n"
                                    "    Start: x = tid; y = any(x > 2); goto A, B;\n"
                                    "    A: assume(all(y)); a[tid] = x if (x > 1); goto C;\n"
                                    "    B: assume(!all(y)); havoc(x); goto C;\n"
                                    "    C: sync(y || !any(y)); a[0] = 1; goto End;\n"
                                    "}\n";
    char *left = reduced(parse(text), keep, &size);
    if (size != 1 || strstr(left, "goto") != strrchr(left, 'g') || strstr(left, "shared"))
        fail_msg("%u statements:\n%s", size, left);
}

static char *read_corpus(const char *name)
{
    static char text[1 << 16];
    FILE *file = fopen(arena_printf(&arena, "%s/corpus/ptx/%s", SIMTFUZZ_SOURCE_DIR, name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Parameters with what is bound to them, arrays, registers, functions, threads: all go. */
static void ptx_of_compilers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        char keep[16];
    } table[] = {{"sum.nvcc.ptx", "bar.sync"},
                 {"sum.clang.ptx", "bar.sync"},
                 {"bins.nvcc.ptx", "atom."},
                 {"stencil.nvcc.ptx", "bar.sync"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint32_t size;
        char keep[16];
        memcpy(keep, table[i].keep, sizeof keep);
        char *left = reduced(parse(read_corpus(table[i].name)), keep, &size);
        if (size > 1 || strstr(left, ".param .u64 ") || strstr(left, "bind:") ||
            !strstr(left, "threads=1 "))
            fail_msg("%s, %u instructions:\n%s", table[i].name, size, left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock_step_programs),
        cmocka_unit_test(ptx_of_compilers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
