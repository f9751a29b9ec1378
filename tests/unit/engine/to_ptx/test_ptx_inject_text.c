/* What injection writes for each kind of control flow, how it renames, and what it refuses. */
#include "engine/to_ptx/ptx_inject.h"
#include "tests/unit/shared/ptx_text.h"

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 32\n"
    ".func f ()\n{ret;}\n.func halt ()\n.noreturn\n{trap;} .func outside ();\n";

static const struct {
    const char *before; /* body of an entry */
    const char *after;  /* its body, in one line; or why it is refused */
} rows[] = {
    /* LOAD.T5 */
    {"ret;", "exit;"},
    {"@%p1 ret;\nexit;", "@%p1 exit; exit;"},
    {"mov.u32 %r1, 1;", "mov.u32 %r1, 1; exit;"},
    {"@%p1 bra L;\nmov.u32 %r1, 1;\nL:", "ssy $behind_flow2; @%p1 bra $meet_flow1; mov.u32 %r1, 1; "
                                         "$meet_flow1: sync; $behind_flow2: L: exit;"},
    {"mov.u32 %r1, 1;\n@%p1 bra S;\nret;\nS: mov.u32 %r1, 2;\nL: @%p1 bra L;",
     "mov.u32 %r1, 1; @!%p1 exit; S: mov.u32 %r1, 2; preBrk $exit_flow1; L: @!%p1 break; bra L; "
     "$exit_flow1: exit;"},
    {"bra.uni E;\nmov.u32 %r1, 1;\nE: exit;", "E: exit;"},
    /* CMP.if, if1; a side that leaves */
    {"@%p1 bra J;\nmov.u32 %r1, 1;\nJ: ret;", "ssy $behind_flow2; @%p1 bra $meet_flow1; mov.u32 "
                                              "%r1, 1; $meet_flow1: sync; $behind_flow2: J: exit;"},
    {"@%p1 bra T;\nmov.u32 %r1, 1;\nbra J;\nT: mov.u32 %r1, 2;\nJ: ret;",
     "ssy $behind_flow2; @%p1 bra $taken_flow3; mov.u32 %r1, 1; bra $meet_flow1; $taken_flow3: T: "
     "mov.u32 %r1, 2; $meet_flow1: sync; $behind_flow2: J: exit;"},
    {"@!%p1 bra T;\nbra.uni J;\nT: mov.u32 %r1, 2;\nJ: ret;",
     "ssy $behind_flow2; @%p1 bra $meet_flow1; T: mov.u32 %r1, 2; $meet_flow1: sync; "
     "$behind_flow2: J: exit;"},
    {"@%p1 bra T;\nmov.u32 %r1, 1;\nexit;\nT: mov.u32 %r1, 2;\nret;",
     "@%p1 bra $aside_flow1; mov.u32 %r1, 1; exit; $aside_flow1: T: mov.u32 %r1, 2; exit;"},
    {"@%p1 bra T;\nmov.u32 %r1, 1;\ntrap;\nT: mov.u32 %r1, 2;\nret;",
     "@%p1 bra $aside_flow1; mov.u32 %r1, 1; trap; $aside_flow1: T: mov.u32 %r1, 2; exit;"},
    /* a && b, a || b: sides that share a block */
    {"@%p1 bra F;\n@%p2 bra F;\nmov.u32 %r1, 1;\nbra J;\nF: mov.u32 %r1, 2;\nJ: ret;",
     "preBrk $region_flow1; ssy $behind_flow3; @%p1 bra $meet_flow2; @!%p2 bra $aside_flow4; "
     "$meet_flow2: sync; $behind_flow3: F: mov.u32 %r1, 2; break; $aside_flow4: mov.u32 %r1, 1; "
     "break; $region_flow1: J: exit;"},
    /* CMP.while, do, cont; two exits; out of two loops */
    {"H: @%p1 bra E;\nmov.u32 %r1, 1;\nbra H;\nE: ret;",
     "preBrk $exit_flow1; H: @%p1 break; mov.u32 %r1, 1; bra H; $exit_flow1: E: exit;"},
    {"H: mov.u32 %r1, 1;\n@%p1 bra H;\nret;",
     "preBrk $exit_flow1; H: mov.u32 %r1, 1; @!%p1 break; bra H; $exit_flow1: exit;"},
    {"H: @%p1 bra E;\n@%p2 bra H;\nmov.u32 %r1, 1;\n@%p3 bra H;\nmov.u32 %r1, 2;\nbra H;\nE: ret;",
     "preBrk $exit_flow1; H: @%p1 break; ssy $behind_flow3; @%p2 bra $meet_flow2; mov.u32 %r1, 1; "
     "ssy $behind_flow5; @%p3 bra $meet_flow4; mov.u32 %r1, 2; $meet_flow4: sync; $behind_flow5: "
     "$meet_flow2: sync; $behind_flow3: bra H; $exit_flow1: E: exit;"},
    {"H: @%p1 bra E;\n@%p2 bra F;\nbra H;\nE: mov.u32 %r1, 1;\nbra J;\nF: mov.u32 %r1, 2;\nJ: ret;",
     ".reg .b32 %exit_flow4; .reg .pred %leave_flow5; preBrk $region_flow1; preBrk $region_flow2; "
     "preBrk $exit_flow3; H: @%p1 mov.u32 %exit_flow4, 2; @%p1 break; @%p2 mov.u32 %exit_flow4, 4; "
     "@%p2 break; bra H; $exit_flow3: setp.ne.u32 %leave_flow5, %exit_flow4, 4; @%leave_flow5 "
     "break; F: mov.u32 %r1, 2; mov.u32 %exit_flow4, 1; break; $region_flow2: setp.ne.u32 "
     "%leave_flow5, %exit_flow4, 2; @%leave_flow5 break; E: mov.u32 %r1, 1; break; $region_flow1: "
     "J: exit;"},
    {"H: @%p1 bra E;\nI: @%p2 bra H;\n@%p3 bra E;\n@%p1 ret;\nbra I;\nE: ret;",
     ".reg .b32 %exit_flow3; .reg .pred %leave_flow4; preBrk $exit_flow1; H: @%p1 break; preBrk "
     "$exit_flow2; I: @%p2 mov.u32 %exit_flow3, 4; @%p2 break; @%p3 mov.u32 %exit_flow3, 2; @%p3 "
     "break; @%p1 exit; bra I; $exit_flow2: setp.ne.u32 %leave_flow4, %exit_flow3, 4; "
     "@%leave_flow4 break; bra H; $exit_flow1: E: exit;"},
    /* do { do .. while (p1); .. } while (p2): one header for two loops */
    {"H: mov.u32 %r1, 1;\n@%p1 bra H;\nmov.u32 %r1, 2;\n@%p2 bra H;\nret;",
     "preBrk $exit_flow1; $loop_flow2: preBrk $exit_flow3; H: mov.u32 %r1, 1; @!%p1 break; bra H; "
     "$exit_flow3: mov.u32 %r1, 2; @!%p2 break; bra $loop_flow2; $exit_flow1: exit;"},
    /* no end */
    {"H: bra.uni H;", "H: bra H;"},
    /* CMP.switch1, cases that fall through; a guard */
    {"T: .branchtargets A, B, C, A;\nbrx.idx %r1, T;\nA: mov.u32 %r1, 1;\nB: mov.u32 %r1, 2;\nC: "
     "ret;",
     "preBrk $region_flow1; ssy $behind_flow3; $targets_flow6: .branchtargets $case_flow4, "
     "$meet_flow2, $case_flow5, $case_flow4; brx.idx %r1, $targets_flow6; $case_flow4: A: mov.u32 "
     "%r1, 1; bra $meet_flow2; $case_flow5: break; $meet_flow2: sync; $behind_flow3: B: mov.u32 "
     "%r1, 2; break; $region_flow1: C: exit;"},
    {"T: .branchtargets A, B;\n@%p1 brx.idx %r1, T;\nA: mov.u32 %r1, 1;\nret;\nB: exit;",
     "$targets_flow5: .branchtargets $case_flow3, $case_flow4; @%p1 brx.idx %r1, $targets_flow5; "
     "$case_flow3: A: mov.u32 %r1, 1; exit; $case_flow4: B: exit;"},
    /* CMP.call, callg, calli; a function that does not return */
    {"mov.u32 %r1, 1;\ncall.uni f;\nret;",
     "mov.u32 %r1, 1; preRet $return_flow1; call.uni f; $return_flow1: exit;"},
    {"@!%p1 call f;\nret;", "@!%p1 preRet $return_flow1; @!%p1 call f; $return_flow1: exit;"},
    {"@%p1 call outside;\nret;", "@%p1 call outside; exit;"}, /* it has no body */
    {"call %r1;\nret;", "preRet $return_flow1; call %r1; $return_flow1: exit;"},
    {"@%p1 bra L;\ncall halt;\nL: ret;",
     "@%p1 exit; preRet $return_flow1; call halt; $return_flow1: trap;"},
    /* LOAD.T7: the report's listing 5.4; ranges; the same name in two blocks */
    {".reg .b32 r;\nBLOCK:\n{\nadd.s32 r, r, r;\nbra.uni SKIP;\n.reg .b64 r;\nSKIP:\nadd.u64 r, r, "
     "r;\n@!%p1 bra BLOCK;\n@%p1 bra CONTINUE;\nBLOCK:\n}\nCONTINUE:",
     ".reg .b32 r; .reg .b64 r_flow1; BLOCK: add.s32 r, r, r; SKIP: add.u64 r_flow1, r_flow1, "
     "r_flow1; BLOCK_flow2: CONTINUE: exit;"},
    {"{\n.reg .b32 %t<3>, %r2;\nmov.u32 %t2, %r1;\nmov.u32 %r2, %t2;\n}\n{\n.reg .b64 "
     "%t<2>;\nmov.u64 %t1, 5;\n}\nmov.u32 %r2, 3;",
     ".reg .b32 %t_flow1_<3>; .reg .b32 %r2_flow2; .reg .b64 %t_flow3_<2>; mov.u32 %t_flow1_2, "
     "%r1; mov.u32 %r2_flow2, %t_flow1_2; mov.u64 %t_flow3_1, 5; mov.u32 %r2, 3; exit;"},
    {"mov.u32 %r1, f;\n.reg .b32 f;\nmov.u32 f, %r1;",
     ".reg .b32 f_flow1; mov.u32 %r1, f; mov.u32 f_flow1, %r1; exit;"},
    {"mov.u32 %r1, %tid.x;\n{\n.reg .b32 %tid;\nmov.u32 %tid, %r1;\n}",
     ".reg .b32 %tid_flow1; mov.u32 %r1, %tid.x; mov.u32 %tid_flow1, %r1; exit;"},
    /* refused */
    {"A: @%p1 bra C;\nB: mov.u32 %r1, 1;\nbra C;\nC: @%p2 bra B;\nret;",
     "irreducible loop at line 16: entered from line 14"},
    {"bra %r1;\nret;", "indirect branch at line 13"},
    {"mov.u32 %r1, L;\nL: ret;", "the address of a label is used at line 13"},
    {"call L;\nexit;\nL: ret;", "the address of a label is used at line 13"},
};

/* The body of the one function that has one: its lines behind the declarations of the entry's own registers,
 * joined by blanks. */
static const char *body_of(const struct ptx_module *module)
{
    static const char own[] = "\n{\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<4>;\n";
    const char *start = strstr(ptx_print(&arena, module), own);
    assert_non_null(start);
    start += sizeof own - 1;
    char *line = arena_strndup(&arena, start, strcspn(start, "}")), *to = line;
    for (const char *c = line; *c; c++)
        if (*c == '\n')
            *to++ = ' ';
        else if (*c != '\t')
            *to++ = *c;
    to[-1] = 0; /* behind the last line */
    return line;
}

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t mark = arena_mark(&arena);
        const char *reason = NULL;
        const struct ptx_module *module = parse(
            arena_printf(&arena, "%s.entry k ()\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<4>;\n%s\n}\n",
                         head, rows[i].before));
        const struct ptx_module *injected = ptx_inject(&arena, module, &reason);
        assert_string_equal(injected ? body_of(injected) : reason, rows[i].after);
        if (injected)
            round_trip(injected);
        round_trip(module); /* is as it was */
        arena_release(&arena, mark);
    }
}

/* Functions: ret stays, and so does what has branch-unit instructions. */
static void functions(void **state)
{
    (void)state;
    const char *reason = NULL;
    static const char code[] =
        ".func f ()\n{\n.reg .pred %p;\n@%p ret;\n}\n"
        ".func g ()\n{\n{\n.reg .b32 %a;\npreRet L;\ncall f;\nL: ret;\n}\n}\n"
        ".entry k ()\n{\nret;\n}\n";
    const struct ptx_module *module =
        parse(arena_printf(&arena, ".version 8.0\n.target sm_80\n%s", code));
    const struct ptx_module *injected = ptx_inject(&arena, module, &reason);
    assert_non_null(injected);
    const char *printed = round_trip(injected);
    assert_non_null(strstr(printed, "\t@%p ret;\n\tret;\n"));
    assert_non_null(strstr(printed, "\tpreRet L;\n"));
    assert_non_null(strstr(printed, "{\n\texit;\n}"));
    assert_string_equal(ptx_print(&arena, ptx_inject(&arena, injected, &reason)), printed);
}

/* Deep nesting is refused, long sequences are not. */
static void sizes(void **state)
{
    (void)state;
    for (int nested = 0; nested < 2; nested++) {
        enum { COUNT = 3000 };
        size_t mark = arena_mark(&arena);
        char *code = ARENA_ARRAY(&arena, char, COUNT * 64), *to = code;
        const char *reason = NULL;
        to += sprintf(to, "%s.entry k ()\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<4>;\n", head);
        for (int i = 0; i < COUNT; i++)
            to += nested ? sprintf(to, "@%%p1 bra L%d;\nmov.u32 %%r1, %d;\n", i, i)
                         : sprintf(to, "@%%p1 bra L%d;\nmov.u32 %%r1, %d;\nL%d:\n", i, i, i);
        for (int i = COUNT; nested && i-- > 0;)
            to += sprintf(to, "L%d: mov.u32 %%r1, %d;\n", i, i);
        sprintf(to, "}\n");
        const struct ptx_module *injected = ptx_inject(&arena, parse(code), &reason);
        if (nested)
            assert_string_equal(reason,
                                "control flow nested deeper than 2000 in the function at line 9");
        else
            assert_non_null(injected);
        arena_release(&arena, mark);
    }
}

/* Tables that many branches use make more edges than text. */
static void large_tables(void **state)
{
    (void)state;
    enum { LABELS = 2000, BRANCHES = 2000 };
    size_t mark = arena_mark(&arena);
    char *code = ARENA_ARRAY(&arena, char, LABELS * 64 + BRANCHES * 32), *to = code;
    const char *reason = NULL;
    to += sprintf(to, "%s.entry k ()\n{\n.reg .b32 %%r1;\nT: .branchtargets L0", head);
    for (int i = 1; i < LABELS; i++)
        to += sprintf(to, ", L%d", i);
    to += sprintf(to, ";\n");
    for (int i = 0; i < BRANCHES; i++)
        to += sprintf(to, "L%d: brx.idx %%r1, T;\n", i);
    sprintf(to, "}\n");
    assert_null(ptx_inject(&arena, parse(code), &reason));
    assert_string_equal(reason, "more than 131072 blocks, or 2097152 branch targets, in the "
                                "function at line 9");
    arena_release(&arena, mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(functions),
        cmocka_unit_test(sizes),
        cmocka_unit_test(large_tables),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
