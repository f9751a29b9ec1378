/* pi(P) and phi(P) as texts: lockstep-cfg Tables 1 to 6 row by row, Fig. 5 and 7 with the register's
 * corrections, what is refused. */
#include "engine/input/input.h"
#include "tests/unit/shared/blocks.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The lines of the printed kernel from `from` on, up to `to`. */
static const char *between(const char *text, const char *from, const char *to)
{
    const char *start = strstr(text, from);
    assert_non_null(start);
    const char *end = strstr(start + strlen(from), to);
    assert_non_null(end);
    return arena_strndup(&test_arena, start, (size_t)(end - start));
}

static const char *transformed(const char *text, enum blocks_form form,
                               const struct predicate_options *options)
{
    return print_kernel(&test_arena, blocks_transform(support_parse(text), form, options));
}

/* ---- Tables 1 and 3a ---- */

struct row {
    const char *statement, *pi, *phi; /* pi(s), phi(s) in block number 1 */
};

static const struct row rows[] = {
    {"p = q + 1;", "p = v_active == 1 ? q + 1 : p;", "p = v_active == 1 ? q + 1 : p;"},
    {"x = q;", "x = v_active == 1 ? q : x;", "x = q if (v_active == 1);"},
    {"g = x;", "g = v_active == 1 ? x : g;", "g = x if (v_active == 1);"},
    {"x += 2;", "x = v_active == 1 ? x + 2 : x;", "x = x + 2 if (v_active == 1);"},
    {"a[q] = x;", "a[q] = x if (v_active == 1);", "a[q] = x if (v_active == 1);"},
    {"a[q] -= 1;", "a[q] = a[q] - 1 if (v_active == 1);", "a[q] = a[q] - 1 if (v_active == 1);"},
    {"b[tid] = p;", "b[tid] = p if (v_active == 1);", "b[tid] = p if (v_active == 1);"},
    {"havoc(p);", "havoc(v_havoc) if (v_active == 1); p = v_active == 1 ? v_havoc : p;",
     "havoc(v_havoc) if (v_active == 1); p = v_active == 1 ? v_havoc : p;"},
    {"havoc(x);", "havoc(v_havoc) if (v_active == 1); x = v_active == 1 ? v_havoc : x;",
     "havoc(v_havoc) if (v_active == 1); x = v_havoc if (v_active == 1);"},
    {"havoc(a[q]);", "havoc(v_havoc) if (v_active == 1); a[q] = v_havoc if (v_active == 1);",
     "havoc(v_havoc) if (v_active == 1); a[q] = v_havoc if (v_active == 1);"},
    {"assert(x > p);", "assert(v_active != 1 || x > p);", "assert(all(v_active != 1 || x > p));"},
    {"assume(p);", "assume(v_active != 1 || p);", "assume(all(v_active != 1 || p));"},
    {";", ";", ";"},
    {"membar();", "membar();", "membar();"},
    {"barrier();", "barrier() if (v_active == 1);",
     "sync(!any(v_active == 1) || all(v_active == 1));"},
    {"p = atomic_add(x, q);", "p = atomic_add(x, q) if (v_active == 1);",
     "p = atomic_add(x, q) if (v_active == 1);"},
    {"atomic_cas(a[0], 1, 2);", "atomic_cas(a[0], 1, 2) if (v_active == 1);",
     "atomic_cas(a[0], 1, 2) if (v_active == 1);"},
    /* of a program that has guards itself */
    {"p = 1 if (q);", "p = 1 if (v_active == 1 && q);", "p = 1 if (v_active == 1 && q);"},
    {"barrier() if (q);", "barrier() if (v_active == 1 && q);",
     "sync(!any(v_active == 1 && q) || all(v_active == 1 && q));"},
    {"havoc(p) if (q);",
     "havoc(v_havoc) if (v_active == 1 && q); p = v_havoc if (v_active == 1 && q);",
     "havoc(v_havoc) if (v_active == 1 && q); p = v_havoc if (v_active == 1 && q);"},
    {"pick(p, 3 : q, 4 : 1);", "pick(p, 3 : q, 4 : 1) if (v_active == 1);",
     "pick(p, 3 : q, 4 : 1) if (v_active == 1);"},
};

/* The statements of the block, one blank between them. */
static const char *one_line(const char *body)
{
    char *line = arena_alloc(&test_arena, strlen(body) + 1, 1);
    size_t n = 0;
    for (const char *c = body; *c; c++) {
        bool blank = *c == ' ' || *c == '\n';
        if (!blank)
            line[n++] = *c;
        else if (n > 0 && line[n - 1] != ' ')
            line[n++] = ' ';
    }
    while (n > 0 && line[n - 1] == ' ')
        n--;
    line[n] = '\0';
    return line;
}

static void statements(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *text =
            arena_printf(&test_arena,
                         "shared int x, a[4]; global int g; private int p, q, b[4];\n"
                         "kernel k() blocks { Start: %s goto End; }",
                         rows[i].statement);
        const char *pi = transformed(text, BLOCKS_PI, &BLOCKS_DEFAULTS);
        const char *phi = transformed(text, BLOCKS_PHI, &BLOCKS_DEFAULTS);
        assert_string_equal(one_line(between(pi, "Start1:\n", "pick(v_next")),
                            arena_printf(&test_arena, "Start1: %s", rows[i].pi));
        assert_string_equal(one_line(between(phi, "Start1:\n", "pick(v_next")),
                            arena_printf(&test_arena, "Start1: %s", rows[i].phi));
    }
}

/* ---- Tables 2 to 4, 6: blocks ---- */

static const char scan[] =
    "launch(threads = 4, warp = 4); global int sum[4] = {1, 2, 3, 4};\n" BLOCKS_SCAN;

/* Fig. 5, after B-22 to B-26. */
static void figure_5(void **state)
{
    (void)state;
    const char *text = transformed(scan, BLOCKS_PI, &BLOCKS_DEFAULTS);
    assert_string_equal(between(text, "    private int v_active", "    W:\n"),
                        "    private int v_active;\n"
                        "    private int v_next;\n"
                        "    Start:\n"
                        "        v_active = 1;\n"
                        "        goto Start1;\n"
                        "    Start1:\n"
                        "        assume(v_active != 1 || 1);\n"
                        "        offset = v_active == 1 ? 1 : offset;\n"
                        "        pick(v_next, 2 : offset < threads, 10 : offset >= threads) "
                        "if (v_active == 1);\n"
                        "        assume(v_active != 1 || (v_next != 2 || offset < threads) && "
                        "(v_next != 10 || offset >= threads));\n"
                        "        v_active = v_active == 1 ? v_next : v_active;\n"
                        "        goto W;\n");
    assert_string_equal(between(text, "    B2:\n", "    Exit:\n"),
                        "    B2:\n"
                        "        assume(v_active != 8 || 1);\n"
                        "        barrier() if (v_active == 8);\n"
                        "        pick(v_next, 9 : 1) if (v_active == 8);\n"
                        "        v_active = v_active == 8 ? v_next : v_active;\n"
                        "        goto Wlast;\n"
                        "    Wlast:\n"
                        "        assume(v_active != 9 || 1);\n"
                        "        offset = v_active == 9 ? 2 * offset : offset;\n"
                        "        pick(v_next, 2 : offset < threads, 10 : offset >= threads) "
                        "if (v_active == 9);\n"
                        "        assume(v_active != 9 || (v_next != 2 || offset < threads) && "
                        "(v_next != 10 || offset >= threads));\n"
                        "        v_active = v_active == 9 ? v_next : v_active;\n"
                        "        goto Wlast_back, Wlast_exit;\n"
                        "    Wlast_back:\n"
                        "        assume(v_active == 2);\n"
                        "        goto W;\n"
                        "    Wlast_exit:\n"
                        "        assume(v_active != 2);\n"
                        "        goto Wend;\n"
                        "    Wend:\n"
                        "        assume(v_active != 10 || offset >= threads);\n"
                        "        pick(v_next, 11 : 1) if (v_active == 10);\n"
                        "        v_active = v_active == 10 ? v_next : v_active;\n"
                        "        goto Exit;\n");
}

/* Fig. 7, after B-24, B-25 and B-27. */
static void figure_7(void **state)
{
    (void)state;
    const char *text = transformed(scan, BLOCKS_PHI, &BLOCKS_DEFAULTS);
    assert_string_equal(between(text, "    B2:\n", "    Wend:\n"),
                        "    B2:\n"
                        "        assume(all(v_active != 8 || 1));\n"
                        "        sync(!any(v_active == 8) || all(v_active == 8));\n"
                        "        pick(v_next, 9 : 1) if (v_active == 8);\n"
                        "        v_active = v_active == 8 ? v_next : v_active;\n"
                        "        goto Wlast;\n"
                        "    Wlast:\n"
                        "        assume(all(v_active != 9 || 1));\n"
                        "        offset = v_active == 9 ? 2 * offset : offset;\n"
                        "        pick(v_next, 2 : offset < threads, 10 : offset >= threads) "
                        "if (v_active == 9);\n"
                        "        assume(all(v_active != 9 || (v_next != 2 || offset < threads) && "
                        "(v_next != 10 || offset >= threads)));\n"
                        "        v_active = v_active == 9 ? v_next : v_active;\n"
                        "        goto Wlast_back, Wlast_exit;\n"
                        "    Wlast_back:\n"
                        "        assume(any(v_active == 2));\n"
                        "        goto W;\n"
                        "    Wlast_exit:\n"
                        "        assume(all(v_active != 2));\n"
                        "        goto Wend;\n");
}

/* A block that ends three loops (Tables 4 and 6a), and what B-10 to B-12 print. */
static const char nest[] =
    "private int p; kernel k() blocks { Start: goto H; H: goto I; I: goto J;\n"
    "J: assume(p); goto J, I, H, X; X: assume(!p); goto End; }";

static void several_loops(void **state)
{
    (void)state;
    const char *pi = transformed(nest, BLOCKS_PI, &BLOCKS_DEFAULTS);
    const char *phi = transformed(nest, BLOCKS_PHI, &BLOCKS_DEFAULTS);
    assert_string_equal(one_line(between(pi, "goto J_back", "    X:")),
                        "goto J_back, J_back1, J_back2, J_exit; "
                        "J_back: assume(v_active == 4); goto J; "
                        "J_back1: assume(v_active == 3); goto I; "
                        "J_back2: assume(v_active == 2); goto H; "
                        "J_exit: assume(v_active != 4 && v_active != 3 && v_active != 2); goto X;");
    assert_string_equal(
        one_line(between(phi, "goto J_back", "    X:")),
        "goto J_back, J_back1, J_back2, J_exit; "
        "J_back: assume(any(v_active == 4)); goto J; "
        "J_back1: assume(any(v_active == 3) && all(v_active != 4)); goto I; "
        "J_back2: assume(any(v_active == 2) && all(v_active != 4 && v_active != 3)); goto H; "
        "J_exit: assume(all(v_active != 4 && v_active != 3 && v_active != 2)); goto X;");
    assert_non_null(strstr(phi, "pick(v_next, 4 : p, 3 : 1, 2 : 1, 5 : !p) if (v_active == 4);"));
}

static void printed_versions(void **state)
{
    (void)state;
    const struct predicate_options no_early = {.no_early = true}, one_loop = {.one_loop = true},
                                   in_start = {.entry_in_start = true};
    const char *text = transformed(nest, BLOCKS_PHI, &no_early);
    assert_string_equal(one_line(between(text, "pick(v_next, 4 : 1, 3", "goto J_back")),
                        "pick(v_next, 4 : 1, 3 : 1, 2 : 1, 5 : 1) if (v_active == 4); "
                        "v_active = v_active == 4 ? v_next : v_active;");
    text = transformed(nest, BLOCKS_PHI, &one_loop);
    assert_string_equal(one_line(between(text, "goto J_back", "    X:")),
                        "goto J_back, J_exit; J_back: assume(any(v_active == 2)); goto H; "
                        "J_exit: assume(all(v_active != 2)); goto X;");
    text = transformed(nest, BLOCKS_PI, &in_start);
    assert_string_equal(one_line(between(text, "    Start:", "    H:")),
                        "Start: v_active = 1; pick(v_next, 2 : 1) if (v_active == 1); "
                        "v_active = v_active == 1 ? v_next : v_active; goto H;");
}

/* ---- Tables 5 and 6b: procedures ---- */

static const char procedure[] =
    "private int y; void p(int n, out int r) blocks { E: goto C; C: assume(n > 0); p(n - 1, r);\n"
    "  goto R; R: return; }\n"
    "kernel k() blocks { private int z; Start: goto C; C: p(tid, z); goto D; D: p(z, y); goto End; "
    "}";

static void procedures(void **state)
{
    (void)state;
    const char *pi = transformed(procedure, BLOCKS_PI, &BLOCKS_DEFAULTS);
    const char *phi = transformed(procedure, BLOCKS_PHI, &BLOCKS_DEFAULTS);
    assert_string_equal(one_line(between(pi, "void p", "kernel")),
                        "void p(int n, int v_active, out int r) blocks { private int v_next; "
                        "E: pick(v_next, 5 : n > 0) if (v_active == 4); "
                        "assume(v_active != 4 || (v_next != 5 || n > 0)); "
                        "v_active = v_active == 4 ? v_next : v_active; goto C; "
                        "C: assume(v_active != 5 || n > 0); goto C_call, C_nocall; "
                        "C_call: assume(v_active == 5); p(n - 1, 4, r); "
                        "pick(v_next, 6 : 1) if (v_active == 5); "
                        "v_active = v_active == 5 ? v_next : v_active; goto R; "
                        "C_nocall: assume(v_active != 5); goto R; R: return; }");
    assert_string_equal(one_line(between(phi, "    C:\n        goto", "    D:")),
                        "C: goto C_call, C_nocall; C_call: assume(any(v_active == 2)); "
                        "p(v_active == 2 ? tid : 0, v_active == 2 ? 4 : 0, v_out1); "
                        "z = v_active == 2 ? v_out1 : z; pick(v_next, 3 : 1) if (v_active == 2); "
                        "v_active = v_active == 2 ? v_next : v_active; goto D; "
                        "C_nocall: assume(all(v_active != 2)); goto D;");
}

/* v_active comes behind the last in-parameter, wherever the out-parameters stand. */
static void parameter_order(void **state)
{
    (void)state;
    const char *text =
        "private int y, z; void p(out int r, int n, out int s, int m, out int t) blocks {\n"
        "E: goto R; R: return; } void q(out int r) blocks { E: goto R; R: return; }\n"
        "kernel k() blocks { private int u; Start: goto C; C: p(y, 7, z, 8, u); goto D;\n"
        "D: q(y); goto End; }";
    const char *pi = transformed(text, BLOCKS_PI, &BLOCKS_DEFAULTS);
    assert_non_null(
        strstr(pi, "void p(out int r, int n, out int s, int m, int v_active, out int t)"));
    assert_non_null(strstr(pi, "p(y, 7, z, 8, 4, u);"));
    assert_non_null(strstr(pi, "void q(int v_active, out int r)"));
    assert_non_null(strstr(pi, "q(6, y);"));
}

/* ---- origins, names, orders ---- */

static uint32_t count_origin(const struct ast_kernel *kernel, uint32_t origin)
{
    uint32_t count = 0;
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next)
        for (const struct ast_stm *s = b->body; s; s = s->next)
            count += s->origin == origin;
    return count;
}

/* Every statement of P stands in its block, once; every other one is administrative. */
static void origins(void **state)
{
    (void)state;
    for (int form = BLOCKS_PI; form <= BLOCKS_PHI; form++) {
        const char *text = "shared int x; private int p; kernel k() blocks {\n"
                           "Start: havoc(p); x = 1; goto B; B: barrier(); havoc(x); goto B, End; }";
        struct ast_kernel *kernel = support_parse(text);
        const struct program *P = blocks_compile(kernel);
        const struct ast_kernel *result =
            blocks_transform(kernel, (enum blocks_form)form, &BLOCKS_DEFAULTS);
        for (uint32_t i = 0; i < P->stm_count; i++)
            assert_int_equal(count_origin(result, 1 + i), P->stms[i].kind == CODE_GOTO ? 0 : 1);
        for (const struct ast_block *b = result->main->blocks; b; b = b->next)
            for (const struct ast_stm *s = b->body; s; s = s->next)
                if (s->origin)
                    assert_int_equal(b->origin, 1 + P->stms[s->origin - 1].block);
    }
}

static void names_are_fresh(void **state)
{
    (void)state;
    const char *text = transformed("shared int v_active, v_next1; private int v_havoc;\n"
                                   "kernel Start1() blocks { private int v_next;\n"
                                   "Start: havoc(v_next); goto B_back; B_back: goto B, B_back;\n"
                                   "B: goto B_back, End; }",
                                   BLOCKS_PHI, &BLOCKS_DEFAULTS);
    assert_non_null(strstr(text, "private int v_active1;"));
    assert_non_null(strstr(text, "private int v_next2;"));
    assert_non_null(strstr(text, "private int v_havoc1;"));
    assert_non_null(strstr(text, "    Start2:\n"));
    assert_non_null(strstr(text, "    B_back1:\n"));
}

/* The blocks of P in the result, in its order. */
static void orders(void **state)
{
    (void)state;
    const char *text =
        "private int p; kernel k() blocks { Start: goto A, B, C; A: goto J; B: goto J;\n"
        "C: goto J; J: goto End; }";
    bool seen[4] = {false};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct predicate_options options = {.order_seed = seed};
        const struct ast_kernel *result =
            blocks_transform(support_parse(text), BLOCKS_PHI, &options);
        uint32_t order[8], n = 0;
        for (const struct ast_block *b = result->main->blocks; b; b = b->next)
            if (b->origin)
                order[n++] = b->origin;
        assert_int_equal(n, 5);
        assert_true(order[0] == 1 && order[4] == 5);
        assert_int_equal(order[1] + order[2] + order[3], 2 + 3 + 4);
        assert_true(seed != 0 || (order[1] == 2 && order[2] == 3));
        seen[order[1] - 1] = true;
    }
    assert_true(seen[1] && seen[2] && seen[3]);
}

/* ---- what is refused ---- */

static const struct {
    const char *text, *reason;
} refusals[] = {
    {"private int y; void p(out int r) blocks { E: r = 1; goto R; R: return; }\n"
     "kernel k() blocks { Start: p(y); y = 1; goto End; }",
     "block 'Start' goes on after its call (PROC.norm)"},
    {"void p() blocks { E: goto R; R: return; }\n"
     "kernel k() blocks { Start: goto B; B: p(); goto B, End; }",
     "block 'B' calls and ends a loop (PROC.norm)"},
    {"private int y; void p() blocks { E: y = 1; return; } kernel k() blocks { Start: goto End; }",
     "procedure 'p' needs one return block, empty (PROC.norm)"},
    {"void p() blocks { E: goto A, B; A: return; B: return; }\n"
     "kernel k() blocks { Start: goto End; }",
     "procedure 'p' needs one return block, empty (PROC.norm)"},
    {"void p(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int l, int m,\n"
     "int n, int o, int q, int r) blocks { E: goto R; R: return; }\n"
     "kernel k() blocks { Start: goto End; }",
     "procedure 'p' has no room for v_active: 16 parameters"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const char *reason = NULL;
        struct ast_kernel *kernel = support_parse(refusals[i].text);
        blocks_compile(kernel);
        assert_null(predicate(&test_arena, kernel, &BLOCKS_DEFAULTS, &reason));
        assert_string_equal(reason, refusals[i].reason);
        assert_null(lockstep_form(&test_arena, kernel, &BLOCKS_DEFAULTS, &reason));
        assert_string_equal(reason, refusals[i].reason);
    }
}

/* What a guard on shared variables says when its block is chosen, need not hold when it is reduced: it is in no early
 * assume. */
static void shared_guards_are_late(void **state)
{
    (void)state;
    static const char *const guards[] = {"p", "x", "a[0]"};
    uint32_t counts[COUNT(guards)] = {0};
    for (uint32_t i = 0; i < COUNT(guards); i++) {
        const char *guard = arena_printf(&test_arena, "%s == 7", guards[i]);
        const char *text = transformed(
            arena_printf(&test_arena,
                         "shared int x, a[2]; private int p; kernel k() blocks { Start: goto T, F;"
                         "T: assume(%s); goto End; F: assume(1); goto End; }",
                         guard),
            BLOCKS_PI, &BLOCKS_DEFAULTS);
        for (const char *at = text; (at = strstr(at, guard)); at++)
            counts[i]++;
    }
    assert_int_equal(counts[1], counts[0] - 1);
    assert_int_equal(counts[2], counts[0] - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(statements),      TEST(figure_5),         TEST(figure_7),
        TEST(several_loops),   TEST(printed_versions), TEST(procedures),
        TEST(parameter_order), TEST(origins),          TEST(names_are_fresh),
        TEST(orders),          TEST(refused),          TEST(shared_guards_are_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
