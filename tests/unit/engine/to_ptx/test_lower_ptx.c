/*
 * Structured kernels compiled to PTX: random ones and those of the corpus. The names are resolved as the
 * checker resolves them, the text is read again as the same module, and variables start and lie as in
 * the core program.
 */
#include "engine/input/input.h"
#include "engine/program/program.h"
#include "engine/to_ptx/lower_ptx.h"
#include "fuzz/case/case.h"
#include "tests/unit/shared/ptx_equal.h"
#include "tests/unit/shared/support.h"

enum { KERNELS = 400, OPERANDS = 1 << 17 };

/* ---- targets ---- */

struct target {
    enum ptx_target_kind kind;
    uint32_t index;
    const void *node;
};

struct targets {
    uint32_t count;
    struct target items[OPERANDS];
};

static void collect_operand(struct targets *t, const struct ptx_operand *o)
{
    if (!o)
        return;
    const void *node = o->target_kind == PTX_TARGET_VARIABLE    ? (const void *)o->target.variable
                       : o->target_kind == PTX_TARGET_FUNCTION  ? (const void *)o->target.function
                       : o->target_kind == PTX_TARGET_STATEMENT ? (const void *)o->target.statement
                                                                : NULL;
    bool is_range = o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->is_range;
    assert_true(t->count < OPERANDS);
    t->items[t->count++] = (struct target){o->target_kind, is_range ? o->index : 0, node};
    for (const struct ptx_operand *item = o->items; item; item = item->next)
        collect_operand(t, item);
}

static void collect(struct targets *t, const struct ptx_module *module)
{
    t->count = 0;
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION)
            continue;
        for (const struct ptx_statement *s = item->u.function->body; s; s = s->next) {
            if (s->kind != PTX_INSTRUCTION)
                continue;
            collect_operand(t, s->u.instruction.guard);
            for (const struct ptx_operand *o = s->u.instruction.operands; o; o = o->next)
                collect_operand(t, o);
        }
    }
}

static void compare_with_the_checker(struct lowered_ptx *lowered)
{
    static struct targets ours, theirs;
    struct diag diag;
    diag_init(&diag, "lowered", NULL, 0);
    collect(&ours, lowered->module);
    bool good = ptx_check(&test_arena, (struct ptx_module *)(uintptr_t)lowered->module, &diag);
    if (!good) {
        print_error("%s", ptx_print(&test_arena, lowered->module));
        diag_print(&diag, stderr);
    }
    assert_true(good);
    collect(&theirs, lowered->module);
    assert_int_equal(ours.count, theirs.count);
    for (uint32_t i = 0; i < ours.count; i++) {
        assert_int_equal(ours.items[i].kind, theirs.items[i].kind);
        assert_int_equal(ours.items[i].index, theirs.items[i].index);
        assert_ptr_equal(ours.items[i].node, theirs.items[i].node);
    }
}

static void compare_with_the_text(const struct lowered_ptx *lowered)
{
    struct diag diag;
    const char *text = ptx_print(&test_arena, lowered->module);
    diag_init(&diag, "lowered.ptx", text, strlen(text));
    struct ptx_module *again = ptx_parse(&test_arena, text, strlen(text), &diag);
    if (!again)
        diag_print(&diag, stderr);
    assert_non_null(again);
    assert_true(ptx_module_equal(lowered->module, again));
}

/* ---- memory ---- */

static void compare_with_the_core(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct ast_kernel *core = kernel->form == FORM_BLOCKS ? ast_kernel_copy(&test_arena, kernel)
                                                          : lower_core(&test_arena, kernel);
    struct program *program = program_compile(&test_arena, core, &reason);
    struct ast_kernel *ptx = lower_ptx(&test_arena, kernel, &reason);
    assert_non_null(ptx);
    if (!program)
        return;
    int32_t *memory = ARENA_ARRAY(&test_arena, int32_t, program->memory_words);
    const int32_t *initial = lower_ptx_initial(&test_arena, kernel);
    program_init_memory(program, memory);
    assert_memory_equal(memory, initial, program->private_base * sizeof *memory);
    const struct ast_var *var = ptx->vars;
    for (int space = SPACE_GLOBAL; space <= SPACE_SHARED; space++)
        for (uint32_t i = 0; i < program->var_count; i++) {
            if ((int)program->vars[i].ast->space != space)
                continue;
            assert_non_null(var);
            assert_string_equal(var->name, program->vars[i].ast->name);
            assert_int_equal(var->length, program->vars[i].ast->length);
            var = var->next;
        }
    assert_null(var);
    assert_int_equal(ptx->launch.threads, kernel->launch.threads);
    assert_int_equal(ptx->launch.blocks, kernel->launch.blocks);
    assert_int_equal(ptx->launch.warp, kernel->launch.warp);
    assert_true(ptx->launch.seed == kernel->launch.seed);
}

static void lower_and_compare(const struct ast_kernel *kernel)
{
    struct lowered_ptx lowered;
    const char *reason = NULL;
    if (!lower_ptx_module(&test_arena, kernel, &lowered, &reason)) {
        assert_true(strstr(reason, "unsupported statement") ||
                    (kernel->form == FORM_BLOCKS && strncmp(reason, "a g", 3) == 0));
        return;
    }
    compare_with_the_checker(&lowered);
    compare_with_the_text(&lowered);
    compare_with_the_core(kernel);
}

static void random_kernels(void **state)
{
    (void)state;
    const struct gen_options gen = GEN_DEFAULTS;
    for (uint64_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct fuzz_case c;
        case_of_campaign(&c, 20, i, &gen, &CHECK_DEFAULTS);
        const struct ast_kernel *kernel = gen_case(&test_arena, 20, i, &c.gen);
        if (kernel->form == FORM_STRUCTURED || kernel->form == FORM_BLOCKS)
            lower_and_compare(kernel);
        arena_release(&test_arena, mark);
    }
}

/* ---- what it does ---- */

struct tally {
    uint32_t kernels, compared[SUBJECT_COUNT];
};

/* All subjects; where one execution terminates without a race, all end with its store. */
static void check_and_compare(const struct ast_kernel *kernel, uint64_t seed, struct tally *tally)
{
    static struct check_result result;
    struct check_options options = CHECK_DEFAULTS;
    options.seed = seed;
    options.subjects = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT) |
                       SUBJECT_BIT(SUBJECT_INTERLEAVE) | SUBJECT_BIT(SUBJECT_CRS) |
                       SUBJECT_BIT(SUBJECT_THREAD_PC) | SUBJECT_BIT(SUBJECT_BLOCK);
    options.oracles =
        1u << ORACLE_RACE | 1u << ORACLE_RESULT | 1u << ORACLE_SAFETY | 1u << ORACLE_DIRECTIONS;
    check_kernel(&test_arena, kernel, &options, &result);
    if (check_divergences(&result, true) > 0) {
        print_error("%s", print_kernel(&test_arena, kernel));
        for (uint32_t o = 0; o < ORACLE_COUNT; o++)
            for (const struct divergence *d = result.answers[o].divergence; d; d = d->next)
                print_error("%s\n%s\n", d->summary, d->evidence);
    }
    assert_int_equal(check_divergences(&result, true), 0);
    tally->kernels++;
    if (result.answers[ORACLE_RESULT].verdict == VERDICT_AGREE)
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
            tally->compared[s] += result.runs[s].statuses[STATUS_TERMINATED] > 0;
}

static void agree(uint64_t seed, bool blocks_only)
{
    struct tally tally = {0};
    for (uint64_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct gen_options gen = GEN_DEFAULTS;
        struct fuzz_case c;
        gen.blocks_only = blocks_only;
        case_of_campaign(&c, seed, i, &gen, &CHECK_DEFAULTS);
        const struct ast_kernel *kernel = gen_case(&test_arena, seed, i, &c.gen);
        if (kernel->form == (blocks_only ? FORM_BLOCKS : FORM_STRUCTURED))
            check_and_compare(kernel, i, &tally);
        arena_release(&test_arena, mark);
    }
    print_message(
        "%u kernels; compared: threads %u, interleave %u, crs %u, thread-pc %u, block %u\n",
        tally.kernels, tally.compared[SUBJECT_THREADS], tally.compared[SUBJECT_INTERLEAVE],
        tally.compared[SUBJECT_CRS], tally.compared[SUBJECT_THREAD_PC],
        tally.compared[SUBJECT_BLOCK]);
    assert_true(tally.compared[SUBJECT_CRS] > KERNELS / 8);
    assert_true(tally.compared[SUBJECT_THREAD_PC] > KERNELS / 8);
    assert_true(tally.compared[SUBJECT_BLOCK] > KERNELS / 8);
}

static void results_agree(void **state)
{
    (void)state;
    agree(21, false);
}

/* In block form, the branch unit's instructions injected. */
static void results_of_blocks_agree(void **state)
{
    (void)state;
    agree(22, true);
}

/* Initial values of all kinds: tables of inputs, long and short lists, arrays of functions. */
static void initial_values(void **state)
{
    (void)state;
    lower_and_compare(support_parse(
        "launch(threads = 5, warp = 2, blocks = 3, seed = 7);\n"
        "global int unused, g[3] = {1, -2}; shared input int s[2]; global input int t;\n"
        "private input int p, q[20]; private int r[30] = {1, 2, 3}, v = -2147483647;\n"
        "int f(int n) { private int a[40] = {4, 5}; private int b[3]; a[n] = v; b[0]++;\n"
        "    return a[1] + b[0]; }\n"
        "kernel k() { private int x; x = f(p); g[0] = x + q[1] + r[2] + s[0]; }\n"));
    lower_and_compare(support_parse(
        "private input int p; private int v = 3; global int y;\n"
        "kernel k() { private int a[20] = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2};\n"
        "    y = p + v + a[tid] + a[99] + warp_size; }\n"));
}

/* Blocks: the guards of targets become branches, parameters registers. */
static void blocks(void **state)
{
    (void)state;
    const char *reason = NULL;
    struct lowered_ptx lowered;
    const struct ast_kernel *kernel = support_parse(
        "global int x; private int a;\n"
        "void f(int p, out int q) blocks { In: q = p + 1; return; }\n"
        "kernel k() blocks { Start: goto A, B, C; A: assume(tid == 0); f(7, a); x = a; goto End;\n"
        "B: assume(tid == 1); goto End; C: assume(!(tid == 0 || tid == 1)); goto B2;\n"
        "B2: x = x && x; goto End; }");
    assert_true(lower_ptx_module(&test_arena, kernel, &lowered, &reason));
    const char *text = ptx_print(&test_arena, lowered.module);
    static const char *const parts[] = {
        ".func (.reg .b32 %o0) f(\n\t.reg .b32 %i0\n)\n{",
        "mov.b32 %r0, %i0;",
        "mov.b32 %o0, %r1;\n\tret;",
        "@%p0 bra $B1;\n\tsetp.eq.s32 %p0, %b0, 1;\n\t@%p0 bra $B2;\n\tbra $B3;",
        "call (%r0), f, (7);\n\tst.local.b32 [a], %r0;",
        "@!%p0 bra $J0;\n\tld.global.b32 %r2, [x];\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!strstr(text, parts[i]))
            print_error("no\n%s\nin\n%s", parts[i], text);
        assert_non_null(strstr(text, parts[i]));
    }
    lower_and_compare(kernel);
}

/* Every scheme, with what must stand in the text. */
static void schemes(void **state)
{
    (void)state;
    static const struct {
        const char *body, *text;
    } rows[] = {
        {"if (tid) x = 1; else x = 2;", "ssy $E0;\n\t@%p0 bra $T0;\n\t"},
        {"if (tid) { x = 1; x = 2; }", "ssy $E0;\n\t@!%p0 bra $J0;\n\t"},
        {"while (x < 3) x = x + 1;", "preBrk $E0;\n$H0:\n\t"},
        {"while (1) { x = 1; if (tid) break; }", "@%p0 break;\n$E1:\n\tbra $H0;\n$E0:\n"},
        {"do x = 1; while (tid == 1);", "@!%p0 break;\n$E1:\n\tbra $H0;\n$E0:\n"},
        {"if (tid) f();", "@%p0 preRet $E1;\n\t@%p0 call f;\n$E1:\n"},
        {"if (tid) ; else f();", "@!%p0 preRet $E1;\n\t@!%p0 call f;\n$E1:\n"},
        {"if (tid) f(); if (tid) f();",
         "ssy $E2;\n\t@!%p0 bra $J2;\n$S3:\n\tpreRet $E3;\n\tcall f;\n"},
        {"if (tid) f(); else g();", "preRet $E1;\n\tcall %r0;\n$E1:\n"},
        {"f(); f(); f();", "mov.b32 %r0, f;\n\tpreRet $E2;\n\tcall %r0;\n$E2:\n"},
        {"switch (tid) { case 1: x = 1; break; default: x = 2; }",
         "ssy $E0;\n\tbra %b1;\n$C0_0:\n"},
        {"switch (tid) { case 1: if (x) break; default: x = 2; }",
         "preBrk $E0;\n\tbra %b1;\n$C0_0:\n"},
        {"switch (tid) { case 1: if (x) break; }", "$D0:\n\tbreak;\n$E0:\n"},
        {"if (tid) return; x = 1;", "@%p0 exit;\n"},
        {"if (tid) exit; x = 1;", "@%p0 exit;\n"},
        {"if (tid && x) y = 1;", "ssy $E1;\n\t@!%p0 bra $J1;\n"},
        {"if (tid || x) y = 1;", "ssy $E1;\n\t@%p0 bra $J1;\n"},
        {"if (tid && lane) y = 1;", "and.pred %p2, %p0, %p1;\n"},
        {"barrier();", "bar.sync 0;\n"},
        {"sync(1, 4); arrive(tid, 4);", "bar.sync 1, 4;\n\tbar.arrive %b0, 4;\n"},
        {"membar();", "membar.gl;\n"},
        {"assert(tid < 3);", "@!%p0 trap;\n"},
        {"sync(15, 32);", "bar.sync 15, 32;\n"},
        {"sync(16, 32);", "mov.b32 %r0, 16;\n\tbar.sync %r0, 32;\n"},
        {"arrive(-1, 64);", "mov.b32 %r0, -1;\n\tbar.arrive %r0, 64;\n"},
        {"atomic_add(x, tid);", "atom.global.add.s32 _, [x], %b0;\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *source = arena_printf(&test_arena,
                                          "global int x, y;\nvoid f() { if (tid) return; y = 1; }\n"
                                          "void g() { y = 2; }\nkernel k() { %s }\n",
                                          rows[i].body);
        const char *reason = NULL;
        struct lowered_ptx lowered;
        const struct ast_kernel *kernel = support_parse(source);
        assert_true(lower_ptx_module(&test_arena, kernel, &lowered, &reason));
        const char *text = ptx_print(&test_arena, lowered.module);
        /* Lines of .loc aside. */
        char *bare = arena_strndup(&test_arena, text, strlen(text)), *to = bare;
        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
            size_t length = (size_t)(strchr(line, '\n') + 1 - line);
            if (strncmp(line, "\t.loc", 5) == 0)
                continue;
            memcpy(to, line, length);
            to += length;
        }
        *to = '\0';
        if (!strstr(bare, rows[i].text))
            print_error("%s:\n%s", rows[i].body, bare);
        assert_non_null(strstr(bare, rows[i].text));
        lower_and_compare(kernel);
    }
}

static void refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"kernel k() blocks {\nStart:\n goto A, B;\nA:\n assume(tid < 2);\n goto End;\n"
         "B:\n assume(tid > 0);\n goto End; }",
         "a goto that chooses among its targets, or has none at line 2"},
        {"kernel k() blocks {\nStart:\n goto A;\nA:\n assume(tid < 2);\n goto End; }",
         "a goto that chooses among its targets, or has none at line 2"},
        {"global int x;\nkernel k() {\n havoc(x); }", "unsupported statement 'havoc' at line 3"},
        {"kernel k() {\n assume(tid); }", "unsupported statement 'assume' at line 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = NULL;
        assert_null(lower_ptx(&test_arena, support_parse(rows[i][0]), &reason));
        assert_string_equal(reason, rows[i][1]);
    }
}

/* ---- expectations ---- */

/* Which claims are carried over, and whose they are then: "subject:claim variable" of each. */
static void claims_are_carried_over(void **state)
{
    (void)state;
    static const struct {
        const char *claims, *carried;
    } cases[] = {
        {"expect race_free, terminates;", " *:race_free *:terminates"},
        {"expect crs: deadlock;", " crs:deadlock"},
        {"expect thread-pc: terminates;", " thread-pc:terminates"},
        {"expect block: terminates;", " block:terminates"},
        {"expect crs:patent: terminates;", " crs:patent:terminates"},
        {"expect block:eager: terminates;", " block:eager:terminates"},
        {"expect simt: terminates;", ""},
        {"expect threads: terminates;", ""},
        {"expect interleave:raw: terminates;", ""},
        {"expect lockstep: race_free;", ""},
        {"expect final s == 1;", " *:final s"},
        {"expect final g == {1, 2};", " *:final g"},
        {"expect barrier_divergence;", ""},
        {"expect race;", " block:race"},
        {"expect crs: race;", " crs:race"},
        {"expect simt: race;", ""},
        {"expect race, terminates; expect crs: race_free;",
         " *:terminates crs:race_free block:race"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lowered_ptx lowered;
        const char *reason = NULL, *found = "";
        const char *text = arena_printf(&test_arena,
                                        "shared int s; global int g[2]; private int p; kernel k() "
                                        "{ s = 1; p = s; } %s",
                                        cases[i].claims);
        assert_true(lower_ptx_module(&test_arena, support_parse(text), &lowered, &reason));
        for (const struct ast_expect *e = lowered.expects; e; e = e->next)
            found = arena_printf(&test_arena, "%s %s:%s%s%s", found, e->subject ? e->subject : "*",
                                 ast_claim_names[e->claim], e->var ? " " : "",
                                 e->var ? e->var->name : "");
        assert_string_equal(found, cases[i].carried);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels), cmocka_unit_test(initial_values),
        cmocka_unit_test(schemes),        cmocka_unit_test(blocks),
        cmocka_unit_test(refused),        cmocka_unit_test(claims_are_carried_over),
        cmocka_unit_test(results_agree),  cmocka_unit_test(results_of_blocks_agree),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
