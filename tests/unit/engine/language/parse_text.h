/*
 * parse_text.h - texts parsed under the promises of parse.h: a kernel or errors, all of them in the
 * text, and memory within its bound.
 */
#ifndef TESTS_PARSE_TEXT_H
#define TESTS_PARSE_TEXT_H

#include "engine/language/parse.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct diag diag;

static inline struct ast_kernel *parse_bytes(const char *text, size_t length)
{
    size_t mark = arena_mark(&arena);
    diag_init(&diag, "text", text, length);
    struct ast_kernel *kernel = parse_kernel(&arena, text, length, &diag);
    assert_true(arena_mark(&arena) - mark < PARSE_ARENA_BYTES);
    assert_int_equal(kernel == NULL, diag.count > 0);
    uint32_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    for (uint32_t i = 0; i < diag.count && i < DIAG_MAX; i++)
        assert_true(diag.entries[i].at.line <= lines && diag.entries[i].text[0]);
    return kernel;
}

static inline struct ast_kernel *parse(const char *text)
{
    struct ast_kernel *kernel = parse_bytes(text, strlen(text));
    if (!kernel) {
        diag_print(&diag, stderr);
        fail_msg("does not parse: %s", text);
    }
    return kernel;
}

#endif
