/*
 * Random graphs: what is computed of them is as it is defined; and what is changed by hand is told.
 */
#include "oracle/graphs/graphs.h"

#include "tests/unit/shared/support.h"

enum { GRAPHS = 400 };

static void graphs_are_as_defined(void **state)
{
    struct pcg rng = pcg_derive(7, PCG_KERNEL, 0);
    uint32_t irreducible = 0, loops = 0;
    (void)state;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        test_arena.used = 0;
        const struct ptx_graph *g = graphs_drawn(&test_arena, &rng);
        const char *differs = graphs_of_ptx(&test_arena, g);
        if (differs)
            fail_msg("graph %u: %s", i, differs);
        irreducible += !g->reducible;
        loops += g->loop_count;
    }
    assert_true(irreducible > 10 && loops > 50);
}

static void functions_are_in_normal_form(void **state)
{
    uint32_t count = 0;
    (void)state;
    for (uint64_t number = 0; number < GRAPHS; number++) {
        bool taken;
        test_arena.used = 0;
        const char *text = graphs_text(&test_arena, number);
        const char *differs = graphs_normalised(&test_arena, text, &taken);
        if (differs)
            fail_msg("%s: %s", text, differs);
        count += taken;
    }
    assert_true(4 * count > GRAPHS);
}

/* What is given is in none, one clause after the other. */
static void other_functions_are_not(void **state)
{
    static const char *const texts[][2] = {
        {"Start: assume(1); goto Start, B; B: assume(1); barrier(); goto End;",
         "normal form, entry"},
        {"Start: assume(1); goto B; B: p(); x = 1; goto C; C: assume(1); barrier(); goto End;",
         "normal form, calls"},
        {"Start: assume(1); goto A; A: assume(1); goto B; B: p(); goto A, C; C: assume(1); "
         "barrier(); "
         "goto End;",
         "normal form, last in a loop"},
        {"Start: assume(1); goto B, C; B: assume(1); barrier(); goto End; C: assume(1); x = 1; "
         "goto End;",
         "normal form, final barrier"},
        {"Start: assume(1); goto B; B: x = 1; goto C; C: barrier(); goto End;",
         "normal form, assumes"}};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        test_arena.used = 0;
        const struct ast_kernel *kernel = support_parse(arena_printf(
            &test_arena, "shared int x; void p() blocks { A: return; } kernel k() blocks { %s }",
            texts[i][0]));
        const char *differs = graphs_normal_form(&test_arena, kernel->main, true);
        assert_non_null(differs);
        assert_string_equal(differs, texts[i][1]);
    }
    test_arena.used = 0;
    const struct ast_kernel *kernel = support_parse(
        "shared int x; void p() blocks { A: assume(1); x = 1; return; } "
        "kernel k() blocks { Start: assume(1); goto B; B: assume(1); barrier(); goto End; }");
    assert_null(graphs_normal_form(&test_arena, kernel->main, true));
    const char *differs = graphs_normal_form(&test_arena, kernel->functions, false);
    assert_non_null(differs);
    assert_string_equal(differs, "normal form, return");
}

/* 0 -> 1 -> 2 -> 1, 2 -> 3 -> 4. */
static void what_is_wrong_is_told(void **state)
{
    uint32_t first[] = {0, 1, 2, 4, 5, 5}, next[] = {1, 2, 1, 3, 4};
    struct ptx_graph g = {.count = 5, .edges = 5, .next_first = first, .next = next};
    (void)state;
    test_arena.used = 0;
    ptx_graph_analyse(&test_arena, &g);
    assert_null(graphs_of_ptx(&test_arena, &g));
    g.dominator[3] = 1;
    assert_string_equal(graphs_of_ptx(&test_arena, &g), "dominator");
    g.dominator[3] = 2;
    g.post_dominator[1] = 3;
    assert_string_equal(graphs_of_ptx(&test_arena, &g), "post-dominator");
    g.post_dominator[1] = 2;
    g.loop[2] = PTX_GRAPH_NONE;
    assert_string_equal(graphs_of_ptx(&test_arena, &g), "loop");
    g.reducible = false;
    assert_string_equal(graphs_of_ptx(&test_arena, &g), "reducible");
}

/* ---- forms that are refused ---- */

/* The kernel's form is taken away; what is said of it. */
static const char *refused(const char *text, enum program_id program, const char *reason)
{
    test_arena.used = 0;
    struct forms *forms = forms_new(&test_arena, support_parse(text));
    for (uint32_t i = 0; i < PROGRAM_COUNT; i++)
        (void)forms_get(forms, (enum program_id)i);
    assert_null(graphs_refused(&test_arena, forms));
    forms->items[program].program = NULL;
    forms->items[program].reason = reason;
    return graphs_refused(&test_arena, forms);
}

static void what_is_refused_stands_in_the_text(void **state)
{
    (void)state;
    static const char head[] = "launch(threads=4, warp=4, blocks=1); shared int x; private int i;",
                      plain[] = "kernel k() { i = tid; x = i; }",
                      named[] = "kernel k() { sync(0, 4); }",
                      voted[] = "kernel k() { i = vote_all(tid); }",
                      drawn[] = "kernel k() { havoc(i); x = i; }",
                      leaves[] = "void f() { exit; } kernel k() { f(); }",
                      goes[] = "kernel k() blocks { Start: assume(1); i = tid; goto A, B;"
                               "A: assume(i); goto End; B: assume(!i); x = 1; goto End; }";
    static const struct {
        const char *text;
        enum program_id program;
        bool told;
    } rows[] = {{plain, PROGRAM_CORE, true},   {plain, PROGRAM_LOCKSTEP, true},
                {plain, PROGRAM_CRS, true},    {named, PROGRAM_CORE, false},
                {named, PROGRAM_CRS, true},    {voted, PROGRAM_BLOCKS, false},
                {voted, PROGRAM_CORE, true},   {drawn, PROGRAM_PTX, false},
                {drawn, PROGRAM_BLOCKS, true}, {leaves, PROGRAM_PREDICATED, false},
                {leaves, PROGRAM_CRS, true},   {goes, PROGRAM_PTX, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", head, rows[i].text);
        const char *said = refused(text, rows[i].program, "unsupported statement 'skip' at line 3");
        if ((said != NULL) != rows[i].told)
            fail_msg("row %zu: %s", i, said ? said : "nothing");
        assert_true(!said || strcmp(said, "refused: unsupported statement 'skip'") == 0);
        assert_null(refused(text, rows[i].program, "needs 9 words of memory, limit 8"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_as_defined), cmocka_unit_test(functions_are_in_normal_form),
        cmocka_unit_test(other_functions_are_not), cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(what_is_refused_stands_in_the_text)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
