/*
 * ptx_text.h - PTX texts parsed under the promises of ptx.h: a module or errors, all of them in the
 * text, and memory within its bound; what is read prints to an equal tree.
 */
#ifndef TESTS_PTX_TEXT_H
#define TESTS_PTX_TEXT_H

#include "engine/input/input.h"
#include "engine/ptx/ptx.h"
#include "tests/unit/shared/arena_fixture.h"
#include "tests/unit/shared/ptx_equal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct diag diag;

static inline struct ptx_module *parse_bytes(const char *text, size_t length)
{
    size_t mark = arena_mark(&arena);
    diag_init(&diag, "text", text, length);
    struct ptx_module *module = ptx_parse(&arena, text, length, &diag);
    assert_true(arena_mark(&arena) - mark < PTX_ARENA_BYTES);
    assert_int_equal(module == NULL, diag.count > 0);
    uint32_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    for (uint32_t i = 0; i < diag.count && i < DIAG_MAX; i++)
        assert_true(diag.entries[i].at.line <= lines && diag.entries[i].text[0]);
    return module;
}

static inline struct ptx_module *parse(const char *text)
{
    struct ptx_module *module = parse_bytes(text, strlen(text));
    if (!module) {
        diag_print(&diag, stderr);
        fail_msg("does not parse: %s", text);
    }
    return module;
}

/* The printed text; it is read as an equal tree, and printed the same again. */
static inline const char *round_trip(const struct ptx_module *module)
{
    const char *printed = ptx_print(&arena, module);
    const struct ptx_module *again = parse(printed);
    if (!ptx_module_equal(module, again))
        fail_msg("not the same module again: %s", printed);
    assert_string_equal(printed, ptx_print(&arena, again));
    return printed;
}

#endif
