/*
 * Kernels at the limits of the language, lowered, normalised, predicated: what is made is within the limits, and
 * what is refused would not have been. Where the limit is met first is known by counting.
 */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"

enum stage { STAGE_PARSED, STAGE_CFG, STAGE_NORMALISED, STAGE_PREDICATED, STAGE_LOCKSTEP, STAGES };

static bool within(const struct ast_kernel *kernel)
{
    struct diag diag;
    diag_init(&diag, "", NULL, 0);
    return ast_check(kernel, &diag);
}

static void says_why(const char *reason, const char *says)
{
    assert_non_null(reason);
    if (!strstr(reason, says))
        fail_msg("%s, not %s", reason, says);
}

/* The first stage that refuses; STAGES: none does. */
static enum stage refused_at(const char *text, const struct lower_cfg_options *options,
                             const char *says)
{
    struct diag diag;
    struct predicate_options plain = {.order_seed = 0};
    const char *reason = NULL;
    diag_init(&diag, "kernel", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!kernel) {
        says_why(diag.entries[0].text, says);
        return STAGE_PARSED;
    }
    if (kernel->form == FORM_STRUCTURED)
        kernel = lower_cfg(&test_arena, lower_core(&test_arena, kernel), options, &reason);
    if (!kernel) {
        says_why(reason, says);
        return STAGE_CFG;
    }
    assert_true(within(kernel));
    kernel = normalise(&test_arena, kernel, NORMALISE_ALL, &reason);
    if (!kernel) {
        says_why(reason, says);
        return STAGE_NORMALISED;
    }
    assert_true(within(kernel));
    assert_non_null(program_compile(&test_arena, kernel, &reason));
    struct ast_kernel *made = predicate(&test_arena, kernel, &plain, &reason);
    if (!made) {
        says_why(reason, says);
        return STAGE_PREDICATED;
    }
    assert_true(within(made));
    made = lockstep_form(&test_arena, kernel, &plain, &reason);
    if (!made) {
        says_why(reason, says);
        return STAGE_LOCKSTEP;
    }
    assert_true(within(made));
    return STAGES;
}

/* ---- memory ---- */

/* A kernel with an array of n words, all copies of which take times * n, and what lowering adds. */
struct words {
    const char *before, *after; /* n stands between */
    uint32_t threads, blocks;
    uint32_t times;       /* copies of n's words */
    uint32_t copies;      /* of what is added */
    uint32_t added;       /* by lowering */
    uint32_t other_words; /* all others, all copies */
};

static const struct words memories[] = {
    {"shared int g[", "], x; kernel k() { if (x) ; }", 2, 64, 64, 128, 1, 64},
    {"private int p[", "]; shared int x; kernel k() { if (x) ; }", 256, 3, 768, 768, 1, 3},
    {"shared int x; kernel k() { private int l[", "]; l[0] = 1; if (x) ; }", 128, 4, 512, 512, 1,
     4},
    {"shared int x; void f() { private int l[", "]; if (x) f(); } kernel k() { f(); }", 16, 4,
     64 * 32, 64 * 32, 1, 4},
    {"shared int x; void g() { private int o; o = x; } void f() { private int l[",
     "]; g(); if (x) f(); } kernel k() { f(); }", 16, 4, 64 * 32, 64 * 32, 2, 4},
    {"shared int x; kernel k() { private int l[", "]; l[0] = 1; x = 1; }", 128, 4, 512, 512, 0, 4},
};

/* The largest n with which all of it fits, and where it is refused beyond. */
static void memory_is_counted(void **state)
{
    static const struct lower_cfg_options none = {.anchored = false};
    (void)state;
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
        const struct words *m = &memories[i];
        uint64_t room = LIMIT_MEMORY_WORDS - m->other_words;
        uint32_t fits = (uint32_t)((room - (uint64_t)m->copies * m->added) / m->times);
        uint32_t given = (uint32_t)(room / m->times);
        bool whole = given <= LIMIT_ARRAY; /* of the array alone */
        for (uint32_t step = 0; step < 6 && whole; step++) {
            const uint32_t numbers[] = {fits - 1, fits, fits + 1, given, given + 1, fits - 100};
            uint32_t n = numbers[step];
            size_t mark = arena_mark(&test_arena);
            const char *text =
                arena_printf(&test_arena, "launch(threads = %u, blocks = %u);\n%s%u%s", m->threads,
                             m->blocks, m->before, n, m->after);
            struct diag diag;
            diag_init(&diag, "kernel", text, strlen(text));
            struct ast_kernel *kernel = parse_kernel(&test_arena, text, strlen(text), &diag);
            assert_int_equal(kernel != NULL, n <= given);
            const char *reason = NULL;
            if (kernel) {
                kernel = lower_cfg(&test_arena, lower_core(&test_arena, kernel), &none, &reason);
                if ((kernel != NULL) != (n <= fits))
                    fail_msg("%s: %s", text, reason ? reason : "taken");
            }
            arena_release(&test_arena, mark);
        }
    }
}

/* ---- everything else ---- */

static const char *repeated(const char *piece, uint32_t n)
{
    char *text = ARENA_ARRAY(&test_arena, char, strlen(piece) * n + 1);
    for (uint32_t i = 0; i < n; i++)
        memcpy(text + i * strlen(piece), piece, strlen(piece));
    return text;
}

static const char *numbered(const char *piece, uint32_t n)
{
    const char *text = "";
    for (uint32_t i = 0; i < n; i++)
        text = arena_printf(&test_arena, "%s%s%s%u", text, i ? ", " : "", piece, i);
    return text;
}

static const char *locals(uint32_t n)
{
    return arena_printf(&test_arena,
                        "shared int x; kernel k() { private int %s; if (x) ; if (!x) ; }",
                        numbered("v", n));
}

static const char *globals(uint32_t n)
{
    return arena_printf(&test_arena, "private int %s; shared int x; kernel k() { if (x) ; }",
                        numbered("v", n));
}

static const char *branches(uint32_t n)
{
    return arena_printf(&test_arena, "shared int x; kernel k() { %s }", repeated("if (x) ; ", n));
}

static const char *loops(uint32_t n)
{
    return arena_printf(&test_arena, "shared int x; kernel k() { %s }",
                        repeated("while (x) ; ", n));
}

static const char *statements(uint32_t n)
{
    return arena_printf(&test_arena, "shared int x; kernel k() { %s }", repeated("x = 1;", n));
}

static const char *blocks(uint32_t n)
{
    const char *text = "";
    for (uint32_t i = 0; i < n; i++)
        text = arena_printf(&test_arena, "%sB%u: assume(1); x = 1; goto %s;\n", text, i,
                            i + 1 < n ? arena_printf(&test_arena, "B%u", i + 1) : "End");
    return arena_printf(&test_arena, "shared int x; kernel k() blocks { Start: goto B0;\n%s}",
                        text);
}

static const char *parameters(uint32_t n)
{
    return arena_printf(
        &test_arena,
        "shared int x; void f(%s) blocks { E: goto A, B; A: assume(p0 > 0); goto C; "
        "C: f(%s); goto R; B: assume(p0 <= 0); goto R; R: return; }\n"
        "kernel k() blocks { Start: goto C; C: f(%s); goto D; D: x = 1; goto End; }",
        numbered("int p", n), numbered("0 * ", n), numbered("1 * ", n));
}

static const char *deep_condition(uint32_t n)
{
    return arena_printf(&test_arena, "shared int x; kernel k() {\n if (%sx) ; }", repeated("~", n));
}

static const char *deep_negation(uint32_t n)
{
    return arena_printf(&test_arena, "shared int x; kernel k() {\n if (!%sx) ; }",
                        repeated("~", n));
}

static const char *deep_statements(uint32_t n)
{
    return arena_printf(&test_arena, "shared int x; kernel k() { %s x = 1; %s }",
                        repeated("while (x) {", n), repeated("}", n));
}

static const struct {
    const char *(*text)(uint32_t n);
    uint32_t first, last;  /* n's */
    uint32_t from[STAGES]; /* the first n that each stage refuses; 0: none */
    const char *says;
} families[] = {
    {locals, 1000, 1030, {1025, 1024, 1024, 1022, 1022}, "variables"},
    {globals, 1000, 1030, {1024, 1024, 1024, 1024, 1024}, "variables"},
    {branches, 20, 400, {0, 342, 341, 341, 341}, ""},
    {loops, 20, 400, {0, 342, 341, 205, 205}, ""},
    {blocks, 900, 1026, {1024, 1024, 1023, 1022, 1022}, ""},
    {parameters, 1, 17, {17, 17, 17, 16, 16}, "parameters"},
    {deep_condition, 100, 203, {200, 199, 199, 198, 198}, "nested"},
    {deep_negation, 100, 203, {199, 199, 199, 198, 198}, "nested"},
    {deep_statements, 100, 203, {200, 200, 200, 200, 200}, "nested"},
};

static uint32_t first_refused(size_t family, enum stage stage)
{
    static const struct lower_cfg_options none = {.anchored = false};
    uint32_t low = families[family].first - 1, high = families[family].last + 1;
    while (low + 1 < high) {
        size_t mark = arena_mark(&test_arena);
        uint32_t middle = low + (high - low) / 2;
        const char *text = families[family].text(middle);
        bool refused = refused_at(text, &none, families[family].says) <= stage;
        *(refused ? &high : &low) = middle;
        arena_release(&test_arena, mark);
    }
    return high > families[family].last ? 0 : high;
}

/* A statement and an expression each; the kernel's own, x, and what lowering adds. */
static void nodes_are_counted(void **state)
{
    static const struct lower_cfg_options none = {.anchored = false};
    (void)state;
    assert_int_equal(refused_at(statements(32768), &none, "65536"), STAGE_PARSED);
    assert_int_equal(refused_at(statements(32767), &none, "more than 65536"), STAGE_CFG);
    assert_int_equal(refused_at(statements(32766), &none, ""), STAGES);
}

/* Up to a stage: what is too much for one is too much for all that follow. */
static void others_are_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (uint32_t stage = 0; stage < STAGES; stage++) {
            uint32_t found = first_refused(i, (enum stage)stage);
            if (found != families[i].from[stage])
                fail_msg("family %zu: stage %u refuses %u, not %u", i, stage, found,
                         families[i].from[stage]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_counted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(nodes_are_counted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(others_are_counted, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
