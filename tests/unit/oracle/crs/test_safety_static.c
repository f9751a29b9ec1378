/* The oracle `safety` about all paths: it speaks where what was seen and what the static check says do not go
 * together, and where code that simtfuzz would have made is wrong. */
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"
#include "engine/static/ptx_static.h"
#include "engine/subjects/forms.h"
#include "oracle/check/check.h"
#include "oracle/crs/safety.h"
#include "oracle/crs/safety_paths.h"
#include "oracle/crs/safety_walks.h"

#include <stdlib.h>

static struct checking checking;
static struct check_result result;

/* What is asked about a kernel of two lanes, before anything has run. */
static struct safety *start(const char *settings, const char *code)
{
    static struct check_options options;
    struct diag diag;
    const char *source =
        arena_printf(&test_arena,
                     "// simtfuzz: threads=2 warp=2 %s\n.version 7.0\n.target sm_70\n"
                     ".address_size 64\n.visible .entry k()\n{\n.reg .pred p;\n%s\n}\n",
                     settings, code);
    diag_init(&diag, "kernel", source, strlen(source));
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, source, strlen(source), &diag);
    assert_non_null(kernel);
    options = CHECK_DEFAULTS;
    memset(&result, 0, sizeof result);
    checking = (struct checking){
        .arena = &test_arena, .kernel = kernel, .result = &result, .options = &options};
    checking.forms = forms_new(&test_arena, kernel);
    const struct form *form = forms_get(checking.forms, PROGRAM_CRS);
    assert_non_null(form->program);
    checking.own[ORACLE_SAFETY] = safety_new(&test_arena, form->program, false);
    return safety_of(&checking);
}

/* The observable of what is said first. */
static const char *said(void)
{
    safety_static_judge(&checking);
    const struct divergence *d = result.answers[ORACLE_SAFETY].divergence;
    if (!d)
        return "";
    assert_string_equal(d->class_name, "static");
    assert_true(d->evidence && d->summary && !d->known);
    return d->observable;
}

/* As if the kernel had been compiled. */
static const char *said_of_own(const char *code)
{
    struct ast_kernel *other = ARENA_NEW(&test_arena, struct ast_kernel);
    (void)start("raw", code);
    *other = *checking.kernel;
    other->form = FORM_STRUCTURED;
    checking.kernel = other;
    return said();
}

static const char region[] = "ssy L;\n@p bra M;\nM: sync;\nL: exit;";

static void code_made_here(void **state)
{
    (void)state;
    assert_string_equal(said_of_own(region), "");
    assert_int_equal(result.answers[ORACLE_SAFETY].verdict, VERDICT_AGREE);
    assert_string_equal(said_of_own("ssy L;\n@p bra L;\nsync;\nL: sync;\nexit;"),
                        "code made by simtfuzz");
    assert_int_equal(result.answers[ORACLE_SAFETY].divergence->line, 11);
    assert_string_equal(said_of_own("break;"), "code made by simtfuzz");
    assert_string_equal(said_of_own("@p ssy L;\n@!p exit;\nsync;\nL: exit;"),
                        "code made by simtfuzz");
    assert_string_equal(said_of_own("@p exit;\npreBrk L;\nbra L;\nL: exit;"), "CHK.static");
    assert_string_equal(said_of_own("ssy L;\n@p bra N;\nbra M;\nN: @!p bra M;\nM: sync;\nL: exit;"),
                        "clause 4 as printed");
}

static void what_is_given(void **state)
{
    (void)state;
    (void)start("raw", "break;");
    assert_string_equal(said(), "");
    (void)start("raw", region);
    assert_string_equal(said(), "");
    (void)start("", "@p bra L;\nL: exit;"); /* injected */
    assert_string_equal(said(), "");
}

static void an_execution_shows_it_wrong(void **state)
{
    (void)state;
    start("raw", region)->inconsistent = "not consistent";
    safety_of(&checking)->inconsistent_line = 3;
    assert_string_equal(said(), "an execution");
    start("raw", region)->inconsistent = "the stack given";
    assert_string_equal(said(), "");
    start("raw", region)->inconsistent_line = 3; /* a call of what is no function */
    safety_of(&checking)->goes_anywhere = true;
    assert_string_equal(said(), "");
    start("raw", "break;")->inconsistent_line = 3;
    assert_string_equal(said(), "");
}

/* 1 ssy, 2 bra, 3 sync, 4 exit */
static const struct {
    uint32_t pc, type;
    bool good;
} tops[] = {
    {1, PTX_STATIC_EMPTY, true},  {1, CRS_SYNC, false}, {2, CRS_SYNC, true},
    {2, PTX_STATIC_EMPTY, false}, {3, CRS_SYNC, true},  {3, CRS_DIVERGE, true},
    {3, CRS_BREAK, false},        {4, CRS_SYNC, false}, {4, PTX_STATIC_EMPTY, true},
    {4, CRS_DIVERGE, false},
};

static void a_token_on_top_that_cannot_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        size_t mark = arena_mark(&test_arena);
        start("raw", region)->tops[tops[i].pc] = (uint8_t)PTX_STATIC_TOP(tops[i].type);
        const char *text = said();
        if (strcmp(text, tops[i].good ? "" : "top of the stack") != 0)
            fail_msg("address %u, token %u: %s", tops[i].pc, tops[i].type, text);
        arena_release(&test_arena, mark);
    }
}

/* ---- runs whose guards are drawn ---- */

/* Programs as they stand; what runs show where every token may be on top, and whether one shows something where no
 * break token may be. */
static const struct {
    const char *code, *shows;
    bool has_break;
} walked[] = {
    {"ssy L;\n@p bra M;\nM: sync;\nL: exit;", NULL, false},
    {"preBrk L;\nM: @p break;\nbra M;\nL: exit;", NULL, true},
    {"preRet L;\ncall F;\nL: exit;\nF: ret;", NULL, false},
    {"@p preRet L;\n@p call F;\nL: exit;\nF: @p ret;\nret;", NULL, false},
    {"@p exit;\n@p break;\nexit;", "a break without a break token", false},
    {"@p ret;\nexit;", "a ret without a call token", false},
    {"@p call F;\nF: exit;", "a call without its call token on top", false},
    {"preRet L;\n@p call F;\nL: exit;\nF: ret;", NULL, false},
    {"ssy L;\n@p sync;\nsync;\nL: exit;", "a sync without its sync token", false},
    {"preRet L;\ncall F;\nL: exit;\nF: preBrk M;\n@p break;\nret;\nM: ret;", NULL, true},
};

static void runs_with_drawn_guards(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof walked / sizeof *walked; i++) {
        const struct program *program = start("raw", walked[i].code)->program;
        uint8_t *may = ARENA_ARRAY(&test_arena, uint8_t, program->ptx->count);
        const char *why;
        memset(may, 0xff, program->ptx->count);
        (void)safety_walk(&test_arena, program, may, i, &why);
        if (walked[i].shows ? !why || strcmp(why, walked[i].shows) != 0 : why != NULL)
            fail_msg("program %zu: %s", i, why ? why : "nothing");
        if (walked[i].shows)
            continue;
        memset(may, 0xff ^ PTX_STATIC_TOP(CRS_BREAK), program->ptx->count);
        (void)safety_walk(&test_arena, program, may, i, &why);
        assert_int_equal(why != NULL, walked[i].has_break);
    }
}

/* The code has an instruction that the static check does not see: nothing else is said then, of a token that cannot be
 * either. */
static void other_code(void **state)
{
    (void)state;
    struct safety *safety = start("raw", region);
    struct program *program = ARENA_NEW(&test_arena, struct program);
    struct ptx_code *code = ARENA_NEW(&test_arena, struct ptx_code);
    *program = *safety->program;
    *code = *program->ptx;
    code->ops = ARENA_ARRAY(&test_arena, struct ptx_op, code->count + 1);
    memcpy(code->ops, program->ptx->ops, code->count * sizeof *code->ops);
    safety->tops = ARENA_ARRAY(&test_arena, uint8_t, code->count + 1);
    safety->tops[1] = (uint8_t)PTX_STATIC_TOP(CRS_SYNC);
    code->count++;
    program->ptx = code;
    safety->program = program;
    assert_string_equal(said(), "instructions");
    assert_null(result.answers[ORACLE_SAFETY].divergence->next);
}

static void two_readings_of_the_rules(void **state)
{
    (void)state;
    start("raw", region)->rules_broken = "a guarded ssy";
    assert_string_equal(said(), "CHK.static (a), (b)");
    start("raw", "@p ssy L;\nL: exit;")->rules_broken = "a guarded ssy";
    assert_string_equal(said(), "");
}

/* ---- CHK.static (a), (b), of instructions alone ---- */

enum {
    S = PTX_EXEC_SSY,
    B = PTX_EXEC_PREBRK,
    Y = PTX_EXEC_SYNC,
    P = PTX_EXEC_PRERET,
    C = PTX_EXEC_CALL,
    G = PTX_EXEC_BRA
};
#define P3 PTX_PLACE_REGISTER, 3
#define P4 PTX_PLACE_REGISTER, 4

/* Instructions at 1, 2, ..: what, guard, whether it is negated, target. */
static const struct {
    struct {
        uint8_t exec, kind;
        uint32_t offset;
        bool negated;
        uint32_t target;
    } ops[4];
    uint32_t bad; /* the place that is spoken of; 0: none */
} codes[] = {
    {{{S, 0, 0, false, 3}, {B, 0, 0, false, 3}, {Y, 0, 0, false, 0}}, 0},
    {{{S, P3, false, 2}}, 1},
    {{{G, P3, false, 2}, {B, P3, true, 3}}, 2},
    {{{Y, P4, false, 0}}, 1},
    {{{G, P3, false, 2}, {G, P3, true, 1}}, 0},
    {{{P, 0, 0, false, 3}, {C, 0, 0, false, 1}, {G, 0, 0, false, 1}}, 0},
    {{{P, P3, true, 3}, {C, P3, true, 1}, {G, 0, 0, false, 1}}, 0},
    {{{P, P3, false, 3}, {C, P3, true, 1}}, 1},
    {{{P, P3, true, 3}, {C, P3, false, 1}}, 1},
    {{{P, P3, false, 3}, {C, P4, false, 1}}, 1},
    {{{P, P4, false, 3}, {C, P3, false, 1}}, 1},
    {{{P, 0, 0, false, 3}, {C, P3, false, 1}}, 1},
    {{{P, P3, false, 3}, {C, 0, 0, false, 1}}, 1},
    {{{P, 0, 3, false, 3}, {C, P3, false, 1}}, 1},
    {{{P, 0, 0, false, 2}, {C, 0, 0, false, 1}}, 1},
    {{{P, 0, 0, false, 4}, {C, 0, 0, false, 1}}, 1},
    {{{P, 0, 0, false, 3}, {G, 0, 0, false, 1}}, 1},
    {{{G, 0, 0, false, 1}, {P, 0, 0, false, 4}}, 2},
    {{{C, 0, 0, false, 1}}, 1},
    {{{P, 0, 0, false, 3}, {C, 0, 0, false, 1}, {C, 0, 0, false, 1}}, 3},
    {{{P, 0, 0, false, 3}, {C, 0, 0, false, 1}, {P, 0, 0, false, 5}, {C, 0, 0, false, 1}}, 0},
};

static void rules_of_instructions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct ptx_code code = {.count = 1};
        for (uint32_t k = 0; k < 4 && codes[i].ops[k].exec; k++)
            code.count++;
        code.ops = ARENA_ARRAY(&test_arena, struct ptx_op, code.count);
        for (uint32_t pc = 1; pc < code.count; pc++) {
            struct ptx_op *op = &code.ops[pc];
            op->exec = codes[i].ops[pc - 1].exec;
            op->guard.kind = codes[i].ops[pc - 1].kind;
            op->guard.offset = codes[i].ops[pc - 1].offset;
            op->guard_not = codes[i].ops[pc - 1].negated;
            op->target = codes[i].ops[pc - 1].target;
            op->line = pc;
        }
        const char *why = safety_static(&test_arena, &code);
        const char *at = why ? strstr(why, "line ") : NULL;
        uint32_t bad = at ? (uint32_t)strtoul(at + 5, NULL, 10) : 0;
        if (bad != codes[i].bad || (why == NULL) != (codes[i].bad == 0))
            fail_msg("row %u: %s", i, why ? why : "nothing is said");
    }
}

/* What is drawn, asked of both accounts of all paths. */
static void drawn_programs_and_tokens(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        size_t mark = arena_mark(&test_arena);
        struct paths_fault program = safety_paths(&test_arena, seed),
                           tokens = safety_stacks(&test_arena, seed);
        if (program.part || tokens.part)
            fail_msg("seed %u: %s", (unsigned)seed, program.part ? program.why : tokens.why);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(code_made_here, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(what_is_given, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(an_execution_shows_it_wrong, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(a_token_on_top_that_cannot_be, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(runs_with_drawn_guards, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(other_code, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(two_readings_of_the_rules, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(rules_of_instructions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(drawn_programs_and_tokens, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
