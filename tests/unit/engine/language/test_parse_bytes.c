/* Any bytes as the text of a kernel: none crash the parser, keep it busy, or take more memory than
 * parse.h says; and what is a kernel prints to a text of the same kernel. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "tests/unit/engine/language/parse_text.h"
#include "tests/unit/engine/language/tree_equal.h"

#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define BODY "shared int x, a[9]; void f() { } kernel k() { "

static void survive(const char *text, size_t length)
{
    size_t mark = arena_mark(&arena);
    const struct ast_kernel *kernel = parse_bytes(text, length);
    if (kernel) {
        assert_true(ast_check(kernel, NULL));
        const char *printed = print_kernel(&arena, kernel);
        const struct ast_kernel *again = parse_bytes(printed, strlen(printed));
        if (!again || !kernel_equal(kernel, again))
            fail_msg("not the same kernel again: %s", printed);
        assert_string_equal(printed, print_kernel(&arena, again));
    }
    arena_release(&arena, mark);
}

static const char rich[] =
    "launch(threads=8, warp=4, blocks=2, seed=0x12);\n"
    "shared int x = -3, a[4] = {1, 2 * 3}; /* c */ global input int in[2]; private int p;\n"
    "int g(int i, int j) { private int v[2] = {1}; v[0] = i; return v[0] + j; }\n"
    "void f() { if (p) return; p = g(1, p); }\n"
    "kernel k() { private int n;\n"
    "  if (x == 1 && a[n] > 2 || !p) x = ~1; else if (p) { x ^= 2; } else ;\n"
    "  while (x) { x -= 1; if (x % 2) continue; break; }\n"
    "  do { n++; } while (n < 4 ? 1 : 0);\n"
    "  for (n = 0; n < 2; n++) barrier();\n"
    "  switch (n) { case 1: case -1: x = 1; break; default: exit; }\n"
    "  n = g(tid, lane); f(); sync(1, threads); arrive(0, 32); membar(); skip;\n"
    "  n = atomic_cas(a[1], 0, 1); atomic_add(x, 1); n = vote_all(x); // c\n"
    "  assert(x >= 0); assume(1); havoc(a[n]); { return; } }\n"
    "expect simt:then-first: race x, final a == {1, 2, 3, 4};\n"
    "expect terminates;\n";

static const char rich_blocks[] =
    "shared int x; private int p; void q(int a, out int r) blocks { private int i; E: r = a;\n"
    "q(a + 1, i); goto F, E; F: return; } kernel k() blocks { private int v[2] = {1}, w;\n"
    "Start: x = 1 if (p); assume(x); q(x, w); pick(w, 1 : x, -2 : p ? 1 : 0) if (w); goto A, B, "
    "End;\n"
    "A: ; skip; barrier() if (p); goto End; B: havoc(x) if (!p); goto Start; } expect race;";

static const char rich_lockstep[] =
    "shared int x; private int p; void q(int a, out int r) lockstep { E: r = any(a); return; }\n"
    "kernel k() lockstep { Start: p = all(p == 1) || p; sync(!any(p) || all(p)); q(1, p);\n"
    "x = p if (p > any(p)); goto r; r: p = atomic_add(x, 1) if (tid); goto r, End; } expect race;";

static void every_prefix(void **state)
{
    (void)state;
    const char *const texts[] = {rich, rich_blocks, rich_lockstep};
    for (size_t i = 0; i < COUNT(texts); i++) {
        parse(texts[i]);
        for (size_t length = 0; length <= strlen(texts[i]); length++) {
            char *exact = malloc(length + 1); /* its end is guarded under a sanitizer */
            memcpy(exact, texts[i], length);
            survive(exact, length);
            free(exact);
        }
    }
}

static void random_bytes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        struct pcg rng = pcg_derive(11, PCG_MUTATE, i);
        char text[400];
        size_t length = pcg_below(&rng, sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = (char)(i % 2 ? pcg_below(&rng, 256) : 32 + pcg_below(&rng, 95));
        survive(text, length);
    }
}

/* The kernel with a few bytes changed, taken out or doubled. */
static void changed_bytes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4000; i++) {
        struct pcg rng = pcg_derive(12, PCG_MUTATE, i);
        char text[2 * sizeof rich];
        const char *from = i % 4 > 1 ? rich : i % 4 ? rich_blocks : rich_lockstep;
        size_t length = strlen(from);
        memcpy(text, from, length);
        for (uint32_t n = 1 + pcg_below(&rng, 4); n > 0; n--) {
            size_t at = pcg_below(&rng, (uint32_t)length);
            size_t other = pcg_below(&rng, (uint32_t)length);
            size_t span = 1 + pcg_below(&rng, 12);
            span = at + span > length ? length - at : span;
            switch (pcg_below(&rng, 3)) {
            case 0:
                text[at] = text[other];
                break;
            case 1:
                memmove(text + at, text + at + span, length - at - span);
                length -= span;
                break;
            default:
                memmove(text + at + span, text + at, length - at);
                length += span;
            }
        }
        survive(text, length);
    }
}

static void token_soup(void **state)
{
    (void)state;
    static const char *const tokens[] = {
        "launch",    "threads",  "warp",     "blocks",  "shared",     "private",    "input",
        "int",       "void",     "kernel",   "expect",  "if",         "else",       "while",
        "do",        "for",      "switch",   "case",    "default",    "break",      "return",
        "goto",      "continue", "exit",     "barrier", "atomic_add", "havoc",      "x",
        "a",         "f",        "vote_all", "assert",  "1",          "0xffffffff", "(",
        ")",         "{",        "}",        "[",       "]",          ";",          ",",
        ":",         "?",        "=",        "+=",      "++",         "-",          "!",
        "==",        "<<",       "Start",    "End",     "final",      "race_free",  "k()",
        "lockstep",  "pick",     "out",      "all",     "any",        "sync",       "Start:",
        "goto End;",
    };
    for (uint32_t i = 0; i < 4000; i++) {
        struct pcg rng = pcg_derive(13, PCG_MUTATE, i);
        char text[2000] = BODY;
        size_t length = i % 2 ? strlen(text) : 0;
        for (uint32_t n = pcg_below(&rng, 120); n > 0; n--)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s ",
                                       tokens[pcg_below(&rng, COUNT(tokens))]);
        survive(text, length);
    }
}

/* Statements that are mostly right, so that many whole kernels get through. */
static void statement_soup(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "x = 1;",   "if (x) ",   "else ",     "while (a[x]) ", "{ ",        "} ",
        "f();",     ";",         "do ",       "while (1);",    "break;",    "return;",
        "x++; ",    "exit; ",    "continue;", "skip;",         "for (;;) ", "switch (x) { ",
        "case 1: ", "default: ", "havoc(x);", "x = y;",        "f(1);",
    };
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < 6000; i++) {
        struct pcg rng = pcg_derive(14, PCG_MUTATE, i);
        char text[2000] = BODY;
        size_t length = strlen(text);
        uint32_t count = 1 + pcg_below(&rng, 8);
        for (uint32_t n = 0; n < count; n++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                                       pieces[pcg_below(&rng, COUNT(pieces))]);
        length += (size_t)snprintf(text + length, sizeof text - length, "; }");
        survive(text, length);
        kernels += diag.count == 0;
    }
    assert_true(kernels > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_prefix, setup, teardown),
        cmocka_unit_test_setup_teardown(random_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(token_soup, setup, teardown),
        cmocka_unit_test_setup_teardown(statement_soup, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
