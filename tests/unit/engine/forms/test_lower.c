/* Lowering, construct by construct: what each becomes. */
#include "engine/forms/lower.h"
#include "engine/input/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    return arena_init(&arena, (size_t)1 << 28);
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static struct ast_kernel *parse(const char *text)
{
    struct diag diag;
    diag_init(&diag, "kernel", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        fail_msg("%s in\n%s", diag.entries[0].text, text);
    return kernel;
}

/* Both sides are bodies of a kernel with these declarations and functions; the lowered side may have
 * declarations of its own in front. */
struct row {
    const char *source, *lowered;
};

#define PRELUDE "shared int s, a[4]; private int i, j; "

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        struct ast_kernel *source =
            parse(arena_printf(&arena, PRELUDE "kernel k() { %s }", rows[n].source));
        const struct ast_kernel *expected =
            parse(arena_printf(&arena, PRELUDE "kernel k() { %s }", rows[n].lowered));
        struct ast_kernel *core = lower_core(&arena, source);
        assert_string_equal(print_kernel(&arena, core), print_kernel(&arena, expected));
        assert_string_equal(print_kernel(&arena, lower_core(&arena, core)),
                            print_kernel(&arena, expected));
    }
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

static void simple_statements(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", ";"},
        {"; ;", "; ;"},
        {"{ { } { i = 1; } } { }", "i = 1;"},
        {"i++; j--;", "i = i + 1; j = j - 1;"},
        {"s += 1; s -= 2; s *= 3; s ^= 4; s |= 5; s &= 6;",
         "s = s + 1; s = s - 2; s = s * 3; s = s ^ 4; s = s | 5; s = s & 6;"},
        {"a[i + 1] -= j - 2;", "a[i + 1] = a[i + 1] - (j - 2);"},
        {"exit; assert(i); return;", "exit; assert(i); return;"},
        {"barrier(); sync(1, 4); arrive(1, 4); i = atomic_add(s, 1); i = vote_any(j);"
         "assume(i); havoc(j); membar();",
         "barrier(); sync(1, 4); arrive(1, 4); i = atomic_add(s, 1); i = vote_any(j);"
         "assume(i); havoc(j); membar();"},
        {"if (i) s = 1;", "if (i) s = 1; else ;"},
        {"if (i) { } else { s = 1; { s = 2; } }", "if (i) ; else { s = 1; s = 2; }"},
        {"if (i) s = 1; else if (j) s = 2;", "if (i) s = 1; else if (j) s = 2; else ;"},
    };
    CHECK_ROWS(rows);
}

static void loops(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"while (i) { }", "while (i) ;"},
        {"while (i) { j = 1; break; }", "while (i) { j = 1; break; }"},
        {"do i--; while (i > 0);", "while (1) { i = i - 1; if (i > 0) ; else break; }"},
        {"for (i = 0; i < 4; i++) a[i] = i;", "i = 0; while (i < 4) { a[i] = i; i = i + 1; }"},
        {"for (;;) { if (s) break; }", "while (1) { if (s) break; else ; }"},
        {"for (; i;) ;", "while (i) ;"},
    };
    CHECK_ROWS(rows);
}

static void continues(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /* at the tail of the body nothing has to be skipped */
        {"while (i) { i--; continue; }", "while (i) { i = i - 1; ; }"},
        {"for (; i; i--) if (j) continue; else s = 1;",
         "while (i) { if (j) ; else s = 1; i = i - 1; }"},
        /* otherwise the body is a one-trip loop */
        {"while (i) { if (j) continue; i = 0; }",
         "while (i) while (1) { if (j) break; else ; i = 0; break; }"},
        {"do { if (j) continue; j = 1; } while (i);",
         "while (1) { while (1) { if (j) break; else ; j = 1; break; } if (i) ; else break; }"},
        /* a break then has two loops to leave */
        {"for (i = 0; i < 4; i++) { if (i == 1) continue; if (i == 2) break; s = i; }",
         "private int leave1; i = 0; leave1 = 0; while (i < 4) {"
         "  while (1) { if (i == 1) break; else ;"
         "    if (i == 2) { leave1 = 1; break; } else ; s = i; break; }"
         "  if (leave1) break; else ;"
         "  i = i + 1; }"},
        /* loops side by side share their flag, nested ones do not */
        {"while (i) { if (i) continue; if (j) break; s = 1; }"
         "while (i) { if (i) continue; while (j) { if (j) continue; if (s) break; s = 2; } break; "
         "}",
         "private int leave1, leave2;"
         "leave1 = 0; while (i) { while (1) { if (i) break; else ;"
         "    if (j) { leave1 = 1; break; } else ; s = 1; break; }"
         "  if (leave1) break; else ; }"
         "leave1 = 0; while (i) { while (1) { if (i) break; else ;"
         "    leave2 = 0; while (j) { while (1) { if (j) break; else ;"
         "        if (s) { leave2 = 1; break; } else ; s = 2; break; }"
         "      if (leave2) break; else ; }"
         "    leave1 = 1; break; }"
         "  if (leave1) break; else ; }"},
    };
    CHECK_ROWS(rows);
}

#define SWITCH1 "private int switch1, entry1; "

static void switches(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"switch (s) { }", SWITCH1 "switch1 = s; entry1 = 0;"},
        {"switch (s) { case 3: i = 1; case -4: i = 2; }",
         SWITCH1 "switch1 = s; entry1 = switch1 == 3 ? 0 : switch1 == -4 ? 1 : 2;"
                 "if (entry1 <= 0) i = 1; else ; if (entry1 <= 1) i = 2; else ;"},
        {"switch (s) { case 1: case 2: i = 1; break; case 3: default: i = 2; }",
         SWITCH1 "switch1 = s;"
                 "entry1 = switch1 == 1 ? 0 : switch1 == 2 ? 0 : switch1 == 3 ? 1 : 1;"
                 "while (1) { if (entry1 <= 0) { i = 1; break; } else ; i = 2; break; }"},
        /* at the tail of a loop body, leaving the switch is continue enough */
        {"while (i) switch (s) { case 1: continue; case 2: i = 2; }",
         SWITCH1 "while (i) { switch1 = s; entry1 = switch1 == 1 ? 0 : switch1 == 2 ? 1 : 2;"
                 "  while (1) { if (entry1 <= 0) break; else ; if (entry1 <= 1) i = 2; else ;"
                 "    break; } }"},
        /* a continue that crosses a switch that also breaks */
        {"while (i) { switch (s) { case 1: continue; case 2: break; } i = 2; }",
         SWITCH1 "private int leave1; while (i) { leave1 = 0; while (1) {"
                 "  switch1 = s; entry1 = switch1 == 1 ? 0 : switch1 == 2 ? 1 : 2;"
                 "  while (1) { if (entry1 <= 0) { leave1 = 1; break; } else ;"
                 "    if (entry1 <= 1) break; else ; break; }"
                 "  if (leave1) break; else ; i = 2; break; } }"},
        /* conditionals and blocks that jump nowhere */
        {"while (i) { switch (s) { case 1: if (j) i = 1; case 2: { j = 1; } } i = 2; }",
         SWITCH1 "while (i) { switch1 = s; entry1 = switch1 == 1 ? 0 : switch1 == 2 ? 1 : 2;"
                 "  if (entry1 <= 0) { if (j) i = 1; else ; } else ; if (entry1 <= 1) j = 1; else ;"
                 "  i = 2; }"},
        /* nested switches have selectors of their own */
        {"switch (i) { case 0: switch (j) { case 1: s = 1; } default: s = 2; }",
         SWITCH1 "private int switch2, entry2; switch1 = i; entry1 = switch1 == 0 ? 0 : 1;"
                 "if (entry1 <= 0) { switch2 = j; entry2 = switch2 == 1 ? 0 : 1;"
                 "  if (entry2 <= 0) s = 1; else ; } else ;"
                 "s = 2;"},
    };
    CHECK_ROWS(rows);
}

/* Whole kernels: source, lowered. */
static const struct row call_rows[] = {
    {"private int r[2]; int add(int a, int b) { if (a) return a + b; }"
     "void none() { } kernel k() { r[tid & 1] = add(tid, r[0]); add(1, 2); none(); }",
     "private int r[2]; private int arg1; private int arg2; private int result;"
     "void add() { private int a, b; a = arg1; b = arg2;"
     "  if (a) { result = a + b; return; } else ; result = 0; }"
     "void none() { ; }"
     "kernel k() { arg1 = tid; arg2 = r[0]; add(); r[tid & 1] = result;"
     "  arg1 = 1; arg2 = 2; add(); none(); }"},
    /* no end to fall off: both paths return */
    {"int f(int n) { private int t = 3; if (n < t) return 0; else { t = f(n - 1); return t; } }"
     "kernel k() { f(3); }",
     "private int arg1; private int result;"
     "void f() { private int n, t = 3; n = arg1; if (n < t) { result = 0; return; }"
     "  else { arg1 = n - 1; f(); t = result; result = t; return; } }"
     "kernel k() { arg1 = 3; f(); }"},
    /* names in use, and expectations follow the copied variables */
    {"shared int arg1, result_; int f(int leave7__) { return leave7__; }"
     "kernel k() { private int t; t = f(1); arg1 = t; } expect final arg1 == 1, terminates;",
     "shared int arg1; shared int result_; private int arg1___; private int result___;"
     "void f() { private int leave7__; leave7__ = arg1___; result___ = leave7__; return; }"
     "kernel k() { private int t; arg1___ = 1; f(); t = result___; arg1 = t; }"
     "expect final arg1 == 1, terminates;"},
};

static void calls(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof call_rows / sizeof call_rows[0]; n++) {
        const struct ast_kernel *source = parse(call_rows[n].source);
        char *before = print_kernel(&arena, source);
        const struct ast_kernel *core = lower_core(&arena, source);
        const char *expected = print_kernel(&arena, parse(call_rows[n].lowered));
        assert_string_equal(print_kernel(&arena, core), expected);
        assert_string_equal(print_kernel(&arena, source), before);
        for (const struct ast_expect *e = core->expects; e; e = e->next)
            assert_true(!e->var || e->var == core->vars);
    }
}

/* Numbers of file-level variables decide what `input` memory holds: new ones come last. */
static void file_level_variables_keep_their_numbers(void **state)
{
    (void)state;
    const struct ast_kernel *source =
        parse("shared input int a; global int b; int f(int n) { return n; } kernel k() { f(1); }");
    const struct ast_var *old = source->vars, *copy = lower_core(&arena, source)->vars;
    for (; old; old = old->next, copy = copy->next) {
        assert_string_equal(old->name, copy->name);
        assert_ptr_not_equal(old, copy);
        assert_int_equal(old->is_input, copy->is_input);
    }
    assert_string_equal(copy->name, "arg1");
}

static void check_lines(const struct ast_stm *list, uint32_t first, uint32_t last)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        assert_in_range(stm->at.line, first, last);
        check_lines(stm->body, first, last);
        check_lines(stm->other, first, last);
    }
}

static void statements_keep_their_lines(void **state)
{
    (void)state;
    const struct ast_kernel *core = lower_core(
        &arena, parse("private int i, j;\nkernel k() {\nfor (i = 0; i < 3; i++) {\nif (j)\n"
                      "continue;\nswitch (j) {\ncase 1: break;\n}\nj += 1;\n}\n}\n"));
    check_lines(core->main->body, 3, 9);
    assert_int_equal(core->main->body->at.line, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_statements),
        cmocka_unit_test(loops),
        cmocka_unit_test(continues),
        cmocka_unit_test(switches),
        cmocka_unit_test(calls),
        cmocka_unit_test(file_level_variables_keep_their_numbers),
        cmocka_unit_test(statements_keep_their_lines),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
