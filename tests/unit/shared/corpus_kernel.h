/*
 * corpus_kernel.h - for tests: kernels of the corpus by their names below the sources.
 */
#ifndef TESTS_UNIT_CORPUS_KERNEL_H
#define TESTS_UNIT_CORPUS_KERNEL_H

#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"

#include <stdio.h>

/* "corpus/regress/spin-lock.simt", parsed, in test_arena. What cannot be read fails the test. */
static inline struct ast_kernel *corpus_kernel(const char *name)
{
    size_t length, name_length = strlen(name);
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    bool ptx = name_length > 4 && strcmp(name + name_length - 4, ".ptx") == 0;
    const char *path = arena_printf(&test_arena, SIMTFUZZ_SOURCE_DIR "/%s", name);
    diag_init(diag, name, NULL, 0);
    char *text = ptx ? parse_read_bytes(&test_arena, path, PTX_LIMIT_SOURCE_BYTES, &length, diag)
                     : parse_read_file(&test_arena, path, &length, diag);
    assert_non_null(text);
    diag_init(diag, name, text, length);
    struct ast_kernel *kernel = ptx_is_ptx(text, length)
                                    ? ptx_kernel_parse_with(&test_arena, text, length, NULL, diag)
                                    : parse_kernel(&test_arena, text, length, diag);
    if (!kernel)
        diag_print(diag, stderr);
    assert_non_null(kernel);
    return kernel;
}

#endif
