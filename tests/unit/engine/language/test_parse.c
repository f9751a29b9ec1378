/* Parsing: what each construct becomes, and its limits. What mistakes are called: oracle/refusals. */
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
        cmocka_unit_test_setup_teardown(reading_ends_when_no_more_errors_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(depth_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
