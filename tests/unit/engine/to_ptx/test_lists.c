/*
 * A list of statements may be spelled with blocks and empty statements: `s;`, `{ s; }`, `{ ; { s; } }`. What a
 * kernel is compiled to as PTX does not depend on it, nor does its block form, which keeps empty statements, on blocks.
 */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/forms/lower_cfg.h"
#include "engine/to_ptx/lower_ptx.h"

/* Spellings of the list with the one statement %s, and of the empty list. */
static const char *const full[] = {"%s",       "{ %s }",   "{ { %s } }",
                                   "{ ; %s }", "{ %s ; }", "{ { ; } ; { %s { ; ; } } }"};
static const char *const empty[] = {"{ }", "{ { } }", ";", "{ ; }", "{ { } ; { ; } }"};

enum { FULL = sizeof full / sizeof *full, EMPTY = sizeof empty / sizeof *empty };

/* A and B stand for lists; E for an empty one. */
static const char *const kernels[] = {
    "if (x) A",
    "if (x) A else B",
    "if (x) E else B",
    "if (x) A else E",
    "if (x) E",
    "if (x) E else E",
    "if (x == 1 && s[1]) A else if (x) B",
    "while (x) A",
    "while (x) E",
    "while (1) { A if (x) break; }",
    "do A while (x);",
    "for (x = 0; x < 3; x++) A",
    "for (x = 0; x < 3; x++) E",
    "switch (x) { case 1: A break; case 2: B default: E }",
    "switch (x) { case 1: E break; case 2: B }",
    "while (x) { if (x == 2) A else break; B }",
    "while (x) { if (x == 2) { A continue; } B }",
    "if (x) { f(); } else { g(); }",
    "if (x) { f(); } else E",
    "if (x) E else { g(); }",
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static const char *instead(const char *text, char letter, const char *piece)
{
    const char *result = "";
    for (; *text; text++)
        result = *text == letter && text[1] != 'x'
                     ? arena_printf(&test_arena, "%s%s", result, piece)
                     : arena_printf(&test_arena, "%s%c", result, *text);
    return result;
}

/* Piece by piece, so that no format is a variable. */
static const char *spelled(const char *spelling, const char *statement)
{
    const char *at = strstr(spelling, "%s");
    return arena_printf(&test_arena, "%.*s%s%s", (int)(at - spelling), spelling, statement, at + 2);
}

static const char *kernel_of(uint32_t kernel, uint32_t a, uint32_t b, uint32_t e)
{
    const char *body = instead(kernels[kernel], 'E', empty[e]);
    body = instead(body, 'A', spelled(full[a], "s[0] = 1;"));
    body = instead(body, 'B', spelled(full[b], "s[1] = 2;"));
    return arena_printf(
        &test_arena,
        "shared int s[2]; void f() { s[0] = 3; } void g() { s[0] = 4; } kernel k() { "
        "private int x; x = s[tid %% 2]; %s }",
        body);
}

static const char *as_ptx(const char *text)
{
    const char *reason = NULL;
    struct lowered_ptx lowered;
    if (!lower_ptx_module(&test_arena, support_parse(text), &lowered, &reason))
        fail_msg("%s: %s", text, reason);
    return ptx_print(&test_arena, lowered.module);
}

static const char *as_blocks(const char *text, bool anchored)
{
    const struct lower_cfg_options options = {.anchored = anchored, .logic_blocks = anchored};
    const char *reason = NULL;
    const struct ast_kernel *core = lower_core(&test_arena, support_parse(text));
    const struct ast_kernel *blocks = lower_cfg(&test_arena, core, &options, &reason);
    if (!blocks)
        fail_msg("%s: %s", text, reason);
    return print_kernel(&test_arena, blocks);
}

static void spellings_do_not_matter(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KERNELS; k++) {
        const char *first = kernel_of(k, 0, 0, 0), *ptx = as_ptx(first);
        const char *blocks = as_blocks(first, false), *anchored = as_blocks(first, true);
        for (uint32_t n = 1; n < FULL * EMPTY; n++) {
            size_t mark = arena_mark(&test_arena);
            const char *text = kernel_of(k, n % FULL, (n * 5 + 1) % FULL, n / FULL);
            const char *plain = kernel_of(k, n % 3, n / 3 % 3, n % 2);
            if (strcmp(as_ptx(text), ptx) != 0)
                fail_msg("%s\n%s\n%s", text, as_ptx(text), ptx);
            if (strcmp(as_blocks(plain, false), blocks) != 0)
                fail_msg("%s\n%s\n%s", plain, as_blocks(plain, false), blocks);
            if (strcmp(as_blocks(plain, true), anchored) != 0)
                fail_msg("%s\n%s\n%s", plain, as_blocks(plain, true), anchored);
            arena_release(&test_arena, mark);
        }
    }
}

/* Calls and jumps, which compile to less where they are all of a branch. */
static void single_statements(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"if (x) f(); else g();", "if (x) { f(); } else { { g(); } }"},
        {"if (x) f(); else f();", "if (x) { { f(); } } else f();"},
        {"if (!x) f(); else g();", "if (!x) { { f(); } } else { g(); }"},
        {"if (x) f();", "if (x) { { f(); } }"},
        {"if (x) f();", "if (x) f(); else { ; }"},
        {"if (x) ; else f();", "if (x) { } else { { f(); } }"},
        {"while (1) if (x) break;", "while (1) { if (x) { { break; } } }"},
        {"while (1) { if (x) ; else break; }", "while (1) { if (x) { ; } else { break; } }"},
        {"if (x) return;", "if (x) { { return; } } else ;"},
        {"if (x) exit;", "if (x) { { exit; } }"},
        {"while (x) if (s[0]) continue;", "while (x) { if (s[0]) { { continue; } } }"},
        {"switch (x) { case 0: f(); break; }", "switch (x) { case 0: { f(); } break; }"},
        {"for (;;) if (x) break;", "for (;;) { { if (x) { break; } } }"},
        {"do f(); while (x);", "do { { f(); } } while (x);"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *texts[2];
        for (int k = 0; k < 2; k++)
            texts[k] =
                as_ptx(arena_printf(&test_arena,
                                    "shared int s[2]; void f() { s[0] = 3; } void g() { s[0] "
                                    "= 4; } kernel k() { private int x; x = s[tid %% 2]; %s }",
                                    pairs[i][k]));
        if (strcmp(texts[0], texts[1]) != 0)
            fail_msg("%s\n%s\n%s", pairs[i][1], texts[0], texts[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(spellings_do_not_matter, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(single_statements, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
