/* Parsing: what each construct becomes, what each mistake is called, and its limits. */
#include "engine/input/input.h"
#include "tests/unit/engine/language/parse_text.h"

#include <stdlib.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- what is right ---- */

static void names_are_resolved(void **state)
{
    (void)state;
    const struct ast_kernel *k = parse("shared int x; private int p;\n"
                                       "int even(int n) { p = odd(n - 1); return p; }\n"
                                       "int odd(int x) { private int p; p = even(x); return p; }\n"
                                       "kernel k() { private int r; r = even(x); }\n"
                                       "expect race x;");
    const struct ast_function *even = k->functions, *odd = even->next;
    assert_ptr_equal(even->body->function, odd);
    assert_ptr_equal(even->body->target.var, k->vars->next);
    assert_ptr_equal(odd->body->function, even);
    assert_ptr_equal(odd->body->target.var, odd->locals->next);
    assert_ptr_equal(odd->body->arguments->var, odd->locals);
    assert_true(odd->locals->is_parameter && !odd->locals->next->is_parameter);
    assert_int_equal(odd->locals->space, SPACE_LOCAL);
    assert_ptr_equal(k->main->body->function, even);
    assert_ptr_equal(k->main->body->arguments->var, k->vars);
    assert_ptr_equal(k->expects->var, k->vars);
    assert_string_equal(k->name, "k");
    assert_int_equal(k->main->body->at.line, 4);
    assert_int_equal(k->main->body->at.column, 29);
}

static void launch_and_declarations(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        parse("\xef\xbb\xbflaunch(warp=2, threads=6, seed=0xffffffffffffffff, blocks=3);\n"
              "global input int in[3]; // comment\n"
              "shared int a[4] = {1, 1 << 31, -(2 + 3) * 2 ? 0xfffffffe : 0}, x = 7 / 2;\n"
              "kernel /* comment * / **/ k() { }");
    assert_int_equal(k->launch.threads, 6);
    assert_int_equal(k->launch.warp, 2);
    assert_int_equal(k->launch.blocks, 3);
    assert_true(k->launch.seed == UINT64_MAX);
    assert_true(k->vars->is_input && k->vars->is_array);
    assert_int_equal(k->vars->length, 3);
    const struct ast_var *a = k->vars->next;
    static const int32_t values[] = {1, INT32_MIN, -2};
    assert_int_equal(a->init_count, 3);
    assert_memory_equal(a->init, values, sizeof values);
    assert_int_equal(a->next->init[0], 3);
    k = parse("kernel k() { }");
    assert_int_equal(k->launch.threads, 4);
    assert_int_equal(k->launch.warp, 4);
    assert_int_equal(k->launch.blocks, 1);
    assert_true(k->launch.seed == 0);
}

static void blocks_and_targets(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        parse("shared int x; kernel k() blocks { Start: x++; goto L, End, Start; L: goto End; }");
    const struct ast_block *start = k->main->blocks;
    assert_int_equal(start->target_count, 3);
    assert_ptr_equal(start->targets[0], start->next);
    assert_null(start->targets[1]);
    assert_ptr_equal(start->targets[2], start);
    assert_true(!start->next->returns && !start->returns);
    assert_int_equal(start->next->target_count, 1);
    assert_null(start->next->targets[0]);
    assert_int_equal(start->body->op, ASSIGN_ADD);
    assert_int_equal(start->body->value->value, 1);
}

static void expectations(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        parse("shared int x, a[2]; kernel k() { }\n"
              "expect race_free, race, race x, terminates, nonterminating, barrier_divergence,\n"
              "    assert_fails, out_of_bounds, deadlock, unfair, stuck, call_depth;\n"
              "expect simt : /* c */ then-first : final x == -3, final a == {1, 2};\n"
              "expect stackless:policy=min-pc:warp=4: terminates; expect two-thread: stuck;");
    static const struct {
        enum ast_claim claim;
        const char *subject;
        uint32_t group;
    } wanted[] = {
        {CLAIM_RACE_FREE, NULL, 0},
        {CLAIM_RACE, NULL, 0},
        {CLAIM_RACE, NULL, 0},
        {CLAIM_TERMINATES, NULL, 0},
        {CLAIM_NONTERMINATING, NULL, 0},
        {CLAIM_BARRIER_DIVERGENCE, NULL, 0},
        {CLAIM_ASSERT_FAILS, NULL, 0},
        {CLAIM_OUT_OF_BOUNDS, NULL, 0},
        {CLAIM_DEADLOCK, NULL, 0},
        {CLAIM_UNFAIR, NULL, 0},
        {CLAIM_STUCK, NULL, 0},
        {CLAIM_CALL_DEPTH, NULL, 0},
        {CLAIM_FINAL, "simt:then-first", 1},
        {CLAIM_FINAL, "simt:then-first", 1},
        {CLAIM_TERMINATES, "stackless:policy=min-pc:warp=4", 2},
        {CLAIM_STUCK, "two-thread", 3},
    };
    const struct ast_expect *e = k->expects;
    for (size_t i = 0; i < COUNT(wanted); i++, e = e->next) {
        assert_non_null(e);
        assert_int_equal(e->claim, wanted[i].claim);
        assert_int_equal(e->group, wanted[i].group);
        if (wanted[i].subject)
            assert_string_equal(e->subject, wanted[i].subject);
        else
            assert_null(e->subject);
    }
    assert_null(e);
    assert_null(k->expects->next->var);
    assert_ptr_equal(k->expects->next->next->var, k->vars);
}

/* ---- what is wrong: line:column: message, each on its line ---- */

static const struct {
    const char *text, *errors;
} mistakes[] = {
    {"", "1:1: expected a kernel, found the end of the text\n"},
    {"   // nothing", "1:14: expected a kernel, found the end of the text\n"},
    {"shared int x;", "1:14: expected a kernel after ';', found the end of the text\n"},
    {"kernel k() {", "1:13: expected '}' after '{', found the end of the text\n"},
    {"kernel k() { x = 1; x = 2; y++; }", "1:14: 'x' is not declared\n"
                                          "1:28: 'y' is not declared\n"},
    {"shared int x; kernel k() { x = 1\n x = 2; }", "1:33: expected ';' after '1', found 'x'\n"},
    {"shared int x; kernel k() { x = ; x = 1 +; x = (1; x = 2 3; }",
     "1:32: expected an expression after '=', found ';'\n"
     "1:41: expected an expression after '+', found ';'\n"
     "1:49: expected ')' after '1', found ';'\n"
     "1:56: expected ';' after '2', found '3'\n"},
    {"shared int x; kernel k() { x = 010; x = 0x; x = 5u; x = 4294967296; x = 0x1ffffffffffffffff; "
     "}",
     "1:32: a number does not start with 0: there is no octal\n"
     "1:41: malformed number\n"
     "1:49: malformed number\n"
     "1:57: number '4294967296' does not fit in 32 bits\n"
     "1:73: this number is too large\n"},
    {"shared int x; kernel k() { if (x y) x = 1; else x = 2; while x; do x = 1; while (x) }",
     "1:34: expected ')' after 'x', found 'y'\n"
     "1:62: expected '(' after 'while', found 'x'\n"
     "1:84: expected ';' after ')', found '}'\n"},
    {"shared int x; kernel k() { if ((x @)) { x = 1; } else { y = 2; } }",
     "1:35: unexpected character '@'\n"
     "1:57: 'y' is not declared\n"},
    {"kernel k() { /* open", "1:14: this comment is not closed\n"
                             "1:21: expected '}' after '{', found the end of the text\n"},
    {"kernel k() { \001\002\377 } $", "1:14: unexpected byte 0x01\n"
                                      "1:20: unexpected character '$'\n"},
    {"shared int x; kernel k() { x = 1 \200 2; }", "1:34: unexpected byte 0x80\n"},
    {"kernel k() { break; continue; while (1) { break; continue; } switch (1) { case 1: break; "
     "continue; } }",
     "1:14: 'break' outside of a loop or switch\n"
     "1:21: 'continue' outside of a loop\n"
     "1:90: 'continue' outside of a loop\n"},
    {"int f() { return; } void g() { return 1; } kernel k() { return 2; }",
     "1:11: function 'f' must return a value\n"
     "1:32: function 'g' returns no value\n"
     "1:57: a kernel returns no value\n"},
    {"int f(int a) { return a; } shared int s; kernel k() { private int p; p = f(); s = f(1); f(1, "
     "2); p = f(1); p = h(1); p = 1 + f(2); }",
     "1:70: function 'f' takes 1 argument, not 0\n"
     "1:79: the value of a call goes only into a private variable; 's' is shared\n"
     "1:89: function 'f' takes 1 argument, not 2\n"
     "1:112: function 'h' is not defined\n"
     "1:126: a call is a statement of its own, not part of an expression: x = f(...);\n"},
    {"void f() { } kernel k() { private int p; p = f(); p(); f = 1; }",
     "1:42: function 'f' returns no value\n"
     "1:51: 'p' is a variable, not a function\n"
     "1:56: 'f' is not declared\n"},
    {"shared int a[4], x; kernel k() { a = 1; x[0] = 1; x = a; x = x[1]; atomic_add(a, 1); }",
     "1:34: array 'a' is used without an index\n"
     "1:41: 'x' is not an array\n"
     "1:55: array 'a' is used without an index\n"
     "1:62: 'x' is not an array\n"
     "1:79: array 'a' is used without an index\n"},
    {"shared int a[0], b[65537], c[n], d[2] = {1, 2, 3}, e = {1, 2}; kernel k() { a[0] = b[0]; }",
     "1:14: an array has 1 to 65536 elements\n"
     "1:20: an array has 1 to 65536 elements\n"
     "1:30: expected a number of elements after '[', found 'n'\n"},
    {"shared int x, x; private int y; global int y; kernel k() { private int x, z, z; }",
     "1:15: 'x' is already declared in this scope\n"
     "1:44: 'y' is already declared in this scope\n"
     "1:78: 'z' is already declared in this scope\n"},
    {"shared int if; int while() { } kernel k() { private int tid; }",
     "1:12: expected the name of a variable, found the reserved word 'if'\n"
     "1:20: expected the name of a function, found the reserved word 'while'\n"
     "1:57: expected the name of a variable, found the reserved word 'tid'\n"},
    {"launch(threads=0); kernel k() { }", "1:16: 'threads' must be 1 to 1024\n"},
    {"launch(threads=1000000000); kernel k() { }", "1:16: 'threads' must be 1 to 1024\n"},
    {"launch(threads=1024, blocks=64); kernel k() { }",
     "1:1: 1024 threads in 64 blocks are more than 4096\n"},
    {"launch(threads=4, threads=5); kernel k() { }", "1:19: 'threads' is given twice\n"},
    {"launch(lanes=4); kernel k() { }",
     "1:8: expected 'threads', 'warp', 'blocks' or 'seed' after '(', found 'lanes'\n"},
    {"launch(threads); kernel k() { }", "1:15: expected '=' after 'threads', found ')'\n"},
    {"launch(threads=4) kernel k() { }", "1:18: expected ';' after ')', found 'kernel'\n"},
    {"launch(threads=1024, blocks=4); private int a[65536]; kernel k() { }",
     "1:1: variables and frames of all threads take 268435456 words, more than 4194304\n"},
    {"shared int x = y; kernel k() { switch (1) { case x: case tid: case 1: case 1: default: case "
     "2: } }",
     "1:16: 'y' is not a constant\n"
     "1:50: 'x' is not a constant\n"
     "1:58: 'tid' is not a constant\n"},
    {"kernel k() { int x = 3; private int y; goto A; else ; case 1: ; }",
     "1:14: variables of a body are declared at its start, as 'private int'\n"
     "1:25: variables are declared at the start of a body\n"
     "1:40: 'goto' stands only at the end of a block of a block-form kernel\n"
     "1:48: 'else' without 'if'\n"
     "1:55: 'case' outside of a switch\n"},
    {"kernel k() { shared int x; private input int y; ++x; }",
     "1:14: variables of a body are private, not shared\n"
     "1:46: 'y': input variables are declared outside functions\n"
     "1:49: '++' stands behind its variable\n"},
    {"shared input int x = 3; kernel k() { }", "1:18: input variable 'x' has an initial value\n"},
    {"kernel k() { barrier; barrier(1); sync(1); arrive(1, 2, 3); vote_all(1); havoc(3); assert(); "
     "}",
     "1:21: expected '(' after 'barrier', found ';'\n"
     "1:31: expected ')' after '(', found '1'\n"
     "1:35: 'sync(e)' stands only in a kernel in lock-step form; a named barrier is sync(b, n)\n"
     "1:55: expected ')' after '2', found ','\n"
     "1:61: the value of 'vote_all' must go into a variable\n"
     "1:80: expected a variable after '(', found '3'\n"
     "1:91: expected an expression after '(', found ')'\n"},
    {"shared int x; kernel k() { atomic_add(x); atomic_cas(x, 1); x = atomic_exch(x, 1, 2); "
     "atomic_add(1, 2); }",
     "1:28: atomic_add takes a location and 1 value, not 0\n"
     "1:43: atomic_cas takes a location and 2 values, not 1\n"
     "1:61: atomic_exch takes a location and 1 value, not 2\n"
     "1:98: expected a variable after '(', found '1'\n"},
    {"kernel k() blocks { A: goto A; }", "1:21: the first block must be named 'Start'\n"},
    {"kernel k() blocks { Start: goto B, End; }", "1:33: block 'B' is not defined\n"},
    {"kernel k() blocks { Start: ; }", "1:30: expected 'goto' or 'return' after ';', found '}'\n"},
    {"kernel k() blocks { }", "1:21: expected the name of a block after '{', found '}'\n"},
    {"kernel k() blocks { Start: if (1) ; goto End; Start: goto End; End: goto End; }",
     "1:28: 'if' cannot stand in a block of a block-form kernel\n"
     "1:47: block 'Start' is already defined\n"
     "1:64: 'End' names the end of a thread, not a block\n"},
    {"shared int x; kernel k() blocks { Start: x = 1 goto Start; }",
     "1:47: expected ';' after '1', found 'goto'\n"},
    {"kernel k() { } kernel j() { }", "1:16: a file has one kernel\n"},
    {"kernel k() { } shared int x;", "1:16: expected 'expect' after '}', found 'shared'\n"},
    {"kernel k() { } expect;", "1:22: expected a subject or a claim after 'expect', found ';'\n"},
    {"kernel k() { } expect foo;", "1:23: 'foo' is not a claim\n"},
    {"kernel k() { } expect simt: ;", "1:29: expected an option or a claim after ':', found ';'\n"},
    {"kernel k() { } expect simt:then-first, race;", "1:28: 'then-first' is not a claim\n"},
    {"shared int x, a[2]; private int p; kernel k() { } expect final x; expect final y == 1; "
     "expect final a == 1, final x == {1, 2}, race p;",
     "1:65: expected '==' after 'x', found ';'\n"
     "1:80: 'y' is not declared\n"
     "1:95: 'a' has 2 elements, not 1\n"
     "1:109: 'x' has 1 element, not 2\n"
     "1:128: 'p' is not a shared or global variable\n"},
    {"foo bar; shared int x kernel k() { x = 1; }",
     "1:1: expected a declaration, a function or a kernel, found 'foo'\n"
     "1:22: expected ';' after 'x', found 'kernel'\n"},
    {"void f( { } kernel k() { f(1); }", "1:9: expected 'int' after '(', found '{'\n"},
    {"void f(int a, int a) { } kernel k() { f(1, 2); }",
     "1:19: 'a' is already declared in this scope\n"},
    {"shared int x; void f() { if (x) { x = 1; kernel k() { x = 2; } expect terminates;",
     "1:42: expected '}' after ';', found 'kernel'\n"},
    {"shared int x; kernel k() { x = 1; } }", "1:37: expected 'expect' after '}', found '}'\n"},
    {"shared int x; kernel k() { for (x = 0; x < 3, x++) x = 1; for (x = 0; x < 3) { x = 2; } }",
     "1:45: expected ';' after '3', found ','\n"
     "1:76: expected ';' after '3', found ')'\n"},
    {"shared int x; kernel k() { x + 1; x == 2; 3; x = y = 2; }",
     "1:30: expected an assignment after 'x', found '+'\n"
     "1:37: expected an assignment after 'x', found '=='\n"
     "1:43: expected a statement after ';', found '3'\n"
     "1:50: 'y' is not declared\n"},
    {"kernel k() { switch (1) { barrier(); } }",
     "1:27: expected 'case', 'default' or '}' after '{', found 'barrier'\n"},
    {"shared int aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; kernel "
     "k() { }",
     "1:12: name is longer than 64 characters\n"},
    {"shared int x; kernel k() { do { x = 1; } }", "1:42: expected 'while' after '}', found '}'\n"},
    {"shared int x; kernel k() { while (1) { x = 1; if (x { x = 2; } }",
     "1:53: expected ')' after 'x', found '{'\n"
     "1:65: expected '}' after '}', found the end of the text\n"},
    {"kernel k() { private int a[n] = {1, 2}, b; private int c = {1, ; b = 1; }",
     "1:28: expected a number of elements after '[', found 'n'\n"
     "1:64: expected an expression after ',', found ';'\n"
     "1:66: 'b' is not declared\n"},
    {"int f(int a, int b { return a; } kernel k() { }",
     "1:20: expected ')' after 'b', found '{'\n"},
};

static void mistakes_have_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        parse_bytes(mistakes[i].text, strlen(mistakes[i].text));
        const char *errors = "";
        for (uint32_t k = 0; k < diag.count && k < DIAG_MAX; k++)
            errors = arena_printf(&arena, "%s%u:%u: %s\n", errors, diag.entries[k].at.line,
                                  diag.entries[k].at.column, diag.entries[k].text);
        if (strcmp(errors, mistakes[i].errors) != 0)
            fail_msg("%s\ngives:\n%s", mistakes[i].text, errors);
    }
}

static void reading_ends_when_no_more_errors_are_kept(void **state)
{
    (void)state;
    char text[1000] = "kernel k() { ";
    for (uint32_t i = 0; i < 40; i++)
        strcat(text, "x = ; ");
    assert_null(parse_bytes(text, strlen(text)));
    assert_int_equal(diag.count, DIAG_MAX);
}

/* ---- limits ---- */

/* head, `count` times unit, tail. */
static const char *repeated(const char *head, const char *unit, size_t count, const char *tail)
{
    size_t head_length = strlen(head), unit_length = strlen(unit), tail_length = strlen(tail);
    char *text = arena_alloc(&arena, head_length + count * unit_length + tail_length + 1, 1);
    memcpy(text, head, head_length);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head_length + i * unit_length, unit, unit_length);
    memcpy(text + head_length + count * unit_length, tail, tail_length);
    return text;
}

#define BODY "shared int x, a[9]; void f() { } kernel k() { "

/* Nesting of each kind: the last depth that is legal, one more, and far too much. */
static void depth_is_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *head, *unit, *tail;
        size_t legal; /* units */
        bool expression;
    } table[] = {
        {BODY, "if (x) ", "; }", LIMIT_DEPTH - 1, false},
        {BODY, "if (x) { if (x) ; else ", "; }", 0, false},
        {BODY, "if (x) ; else ", "; }", (LIMIT_DEPTH - 1) * LIMIT_CHAIN - (LIMIT_CHAIN - 1), false},
        {BODY, "while (x) ", "; }", LIMIT_DEPTH - 1, false},
        {BODY, "for (;;) ", "; }", LIMIT_DEPTH - 1, false},
        {BODY, "do ", "; while (x); }", 0, false},
        {BODY, "{ ", "; }", 0, false},
        {BODY, "switch (x) { case 1: ", "; }", 0, false},
        {BODY "x = ", "!", "x; }", LIMIT_DEPTH - 1, true},
        {BODY "x = ", "- ", "x; }", LIMIT_DEPTH - 1, true},
        {BODY "x = x", " + x", "; }", (LIMIT_DEPTH - 1) * LIMIT_CHAIN - (LIMIT_CHAIN - 1), true},
        {BODY "x = x", " && x | x * x", "; }", (LIMIT_DEPTH - 4) * LIMIT_CHAIN + 1, true},
        {BODY "x = ", "x ? x : ", "x; }", LIMIT_DEPTH - 1, true},
        {BODY "x = ", "x ? ", "x; }", 0, true},
        {BODY "x = ", "(", "x; }", 0, true},
        {BODY "x = ", "a[", "x; }", 0, true},
        {BODY "a[", "a[", "x; }", 0, true},
        {"shared int x = ", "(", "1; kernel k() { }", 0, true},
        {"shared int x = ", "- ", "1; kernel k() { }", LIMIT_DEPTH, true},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        const char *wanted = table[i].expression ? "expression is nested more than 200 deep"
                                                 : "statements are nested more than 200 deep";
        size_t counts[] = {table[i].legal + 1, 4000, 30000};
        if (table[i].legal)
            parse(repeated(table[i].head, table[i].unit, table[i].legal, table[i].tail));
        for (size_t k = table[i].legal ? 0 : 1; k < COUNT(counts); k++) {
            size_t mark = arena_mark(&arena);
            const char *text = repeated(table[i].head, table[i].unit, counts[k], table[i].tail);
            assert_null(parse_bytes(text, strlen(text)));
            assert_int_equal(diag.count, 1);
            if (strcmp(diag.entries[0].text, wanted) != 0)
                fail_msg("%zu of '%s': %s", counts[k], table[i].unit, diag.entries[0].text);
            arena_release(&arena, mark);
        }
    }
}

static void counts_are_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *head, *unit, *tail;
        size_t count;
        const char *error; /* the first; NULL: legal */
    } table[] = {
        {BODY, ";", "}", 60000, NULL},
        {BODY, ";", "}", 500000, "more than 65536 statements, expressions and declarations"},
        {BODY, "x=1;", "}", 200000, "more than 65536 statements, expressions and declarations"},
        {BODY, "f();", "}", 200000, "more than 65536 statements, expressions and declarations"},
        {BODY, "y();", "}", 19, "function 'y' is not defined"},
        {BODY "f(1", ",1", ");}", 400000,
         "more than 65536 statements, expressions and declarations"},
        {BODY "atomic_add(x", ",1", ");}", 100, "atomic_add takes a location and 1 value, not 100"},
        {"shared int a[65536] = {1", ",1", "}; kernel k() { }", 65535, NULL},
        {"shared int a[65536] = {1", ",1", "}; kernel k() { }", 65536,
         "too many initial values for 'a'"},
        {"shared int x = 1", "+1", "; kernel k() { }", 300000,
         "expression is nested more than 200 deep"},
        {"kernel k() { } expect race", ",race", ";", 100000,
         "more than 65536 statements, expressions and declarations"},
        {"kernel k() { } expect a:", "a:", "race;", 400000,
         "subject is longer than 200 characters"},
        {BODY "switch (x) { default: ", "case 1:", "} }", 2000,
         "more than 1024 cases in one switch"},
        {"kernel k() blocks { Start: goto End", ",End", "; }", 100000,
         "more than 65536 statements, expressions and declarations"},
        {BODY, "\n", "", 900000, "expected '}' after '{', found the end of the text"},
        {BODY, "\n", "", 1 << 20, "text is longer than 1048576 bytes"},
        {"", "/* ", "", 300000, "this comment is not closed"},
        {"", "//*\n", "kernel k() { }", 200000, NULL},
        {"", "f/**/", "", 200000, "expected a declaration, a function or a kernel, found 'f'"},
        {"", "}", "", 500000, "expected a declaration, a function or a kernel, found '}'"},
        {BODY, "x", " = 1; }", 500000,
         "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is not declared"},
        {BODY "x = ", "9", "; }", 500000, "this number is too large"},
        {BODY, "@", "", 500000, "unexpected character '@'"},
        {BODY, "@;", "", 500000, "unexpected character '@'"},
        {BODY, "case 1:", "", 100000, "'case' outside of a switch"},
        {BODY, "else ", "", 100000, "'else' without 'if'"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        size_t mark = arena_mark(&arena);
        const char *text = repeated(table[i].head, table[i].unit, table[i].count, table[i].tail);
        const struct ast_kernel *kernel = parse_bytes(text, strlen(text));
        if (table[i].error) {
            assert_null(kernel);
            assert_string_equal(diag.entries[0].text, table[i].error);
        } else {
            assert_non_null(kernel);
        }
        arena_release(&arena, mark);
    }
}

/* `count` declarations, each with its number for %zu, then a kernel. */
static struct ast_kernel *parse_numbered(const char *before, const char *after, size_t count,
                                         const char *head, const char *tail)
{
    char *text = arena_alloc(&arena, 1 << 20, 1);
    size_t length = (size_t)snprintf(text, 1 << 20, "%s", head);
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, (1 << 20) - length, "%s%zu%s", before, i, after);
    length += (size_t)snprintf(text + length, (1 << 20) - length, "%s", tail);
    return parse_bytes(text, length);
}

static void names_are_bounded(void **state)
{
    (void)state;
    const char *kernel = "kernel k() { }";
    assert_non_null(parse_numbered("shared int x", ";", LIMIT_VARIABLES, "", kernel));
    assert_null(parse_numbered("shared int x", ";", LIMIT_VARIABLES + 1, "", kernel));
    assert_string_equal(diag.entries[0].text, "more than 1024 variables in one scope");
    assert_non_null(parse_numbered("void f", "() { }", LIMIT_FUNCTIONS, "", kernel));
    assert_null(parse_numbered("void f", "() { }", LIMIT_FUNCTIONS + 1, "", kernel));
    assert_string_equal(diag.entries[0].text, "more than 256 functions");
    const char *start = "kernel k() blocks { Start: goto End; ";
    assert_non_null(parse_numbered("L", ": goto End; ", LIMIT_LABELS - 1, start, "}"));
    assert_null(parse_numbered("L", ": goto End; ", LIMIT_LABELS, start, "}"));
    assert_string_equal(diag.entries[0].text, "more than 1024 blocks");
    const char *cases = "kernel k() { switch (1) {";
    assert_non_null(parse_numbered("case ", ":", LIMIT_CASES, cases, "} }"));
    assert_null(parse_numbered("case ", ":", LIMIT_CASES + 1, cases, "} }"));
    assert_null(
        parse_numbered("int p", ",", LIMIT_PARAMETERS, "void f(", "int q) { } kernel k() { }"));
    assert_string_equal(diag.entries[0].text, "function 'f' has more than 16 parameters");
    char *name = arena_alloc(&arena, LIMIT_NAME + 1, 1);
    memset(name, 'n', LIMIT_NAME);
    parse(arena_printf(&arena, "shared int %s; kernel k() { }", name));
}

/* ---- files ---- */

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/simtfuzz-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    fwrite("kernel\0k", 1, 8, file);
    fclose(file);
    size_t length = 0, mark = arena_mark(&arena);
    const char *text = parse_read_file(&arena, path, &length, &diag);
    assert_non_null(text);
    assert_int_equal(length, 8);
    assert_memory_equal(text, "kernel\0k", 9);
    assert_true(arena_mark(&arena) - mark <= 32);
    assert_ptr_equal(diag.source, text);
    file = fopen(path, "wb");
    for (uint32_t i = 0; i <= LIMIT_SOURCE_BYTES; i++)
        fputc(';', file);
    fclose(file);
    assert_null(parse_read_file(&arena, path, &length, &diag));
    assert_string_equal(diag.entries[0].text, "file is larger than 1048576 bytes");
    assert_int_equal(truncate(path, LIMIT_SOURCE_BYTES), 0);
    assert_non_null(parse_read_file(&arena, path, &length, &diag));
    assert_int_equal(length, LIMIT_SOURCE_BYTES);
    unlink(path);
    assert_null(parse_read_file(&arena, path, &length, &diag));
    assert_string_equal(diag.entries[0].text, "cannot open: No such file or directory");
    assert_null(parse_read_file(&arena, "/tmp", &length, &diag));
    assert_string_equal(diag.entries[0].text, "cannot open: it is a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_resolved, setup, teardown),
        cmocka_unit_test_setup_teardown(launch_and_declarations, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_and_targets, setup, teardown),
        cmocka_unit_test_setup_teardown(expectations, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_have_names, setup, teardown),
        cmocka_unit_test_setup_teardown(reading_ends_when_no_more_errors_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(depth_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
