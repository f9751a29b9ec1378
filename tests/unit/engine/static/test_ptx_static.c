/* What ptx_static says about random programs of branch-unit instructions, against many runs of each. Single programs:
 * tests/cases/engine/static. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/static/ptx_static.h"
#include "engine/to_ptx/lower_ptx.h"
#include "fuzz/generate/generate.h"
#include "tests/unit/shared/ptx_mini.h"
#include "tests/unit/shared/ptx_text.h"

#include <glob.h>

static struct pcg rng;
static char text[1 << 14];
static size_t text_length;

static uint32_t below(uint32_t bound)
{
    return pcg_below(&rng, bound);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + text_length, sizeof text - text_length, format, args);
    va_end(args);
    assert_true(n >= 0 && text_length + (size_t)n < sizeof text);
    text_length += (size_t)n;
}

#define OK PTX_STATIC_CONSISTENT
#define BAD PTX_STATIC_INCONSISTENT
#define OPEN PTX_STATIC_UNKNOWN

static const char head[] = ".version 8.0\n.target sm_80\n.address_size 32\n";

static const struct ptx_function *entry_of(const struct ptx_module *module)
{
    const struct ptx_item *item = module->items;
    while (item->kind != PTX_ITEM_FUNCTION || !item->u.function->is_entry)
        item = item->next;
    return item->u.function;
}

/* ---- random ones ---- */

enum { PREDICATES = 3 };

static void say_guard(uint32_t percent)
{
    if (below(100) < percent)
        say("@%s%%p%u ", below(2) ? "!" : "", below(PREDICATES));
}

static void random_instruction(uint32_t length, uint32_t pc)
{
    uint32_t to = 1 + below(length), next = pc + 1 + below(length - pc + 1);
    next = next > length ? length : next;
    switch (below(12)) {
    case 0:
        say_guard(10);
        say("ssy B%u;\n", next);
        return;
    case 1:
        say_guard(10);
        say("preBrk B%u;\n", next);
        return;
    case 2:
        say_guard(50);
        say("preRet B%u;\n", below(4) && pc + 2 <= length ? pc + 2 : to);
        return;
    case 3:
        say_guard(50);
        say("call B%u;\n", to);
        return;
    case 4:
    case 5:
        say_guard(10);
        say("sync;\n");
        return;
    case 6:
        say_guard(50);
        say("break;\n");
        return;
    case 7:
        say_guard(50);
        say("%s;\n", below(2) ? "ret" : "exit");
        return;
    case 8:
    case 9:
        say_guard(80);
        say("bra B%u;\n", below(3) ? next : to);
        return;
    default:
        say("mov.u32 %%m, %u;\n", below(PREDICATES));
    }
}

static const struct ptx_module *random_program(void)
{
    uint32_t length = 3 + below(10);
    text_length = 0;
    say("%s.entry k ()\n{\n.reg .pred %%p<4>;\n.reg .b32 %%m;\n", head);
    for (uint32_t pc = 1; pc < length; pc++) {
        say("B%u: ", pc);
        if (pc + 1 < length && below(12) == 0) { /* a call as it should be */
            say("preRet B%u;\nB%u: call B%u;\n", pc + 2, pc + 1, 1 + below(length));
            pc++;
        } else {
            random_instruction(length, pc);
        }
    }
    say("B%u: exit;\n}\n", length);
    return parse(text);
}

static struct mini_program program;
static struct mini_lane lanes[MINI_LANES];
static struct mini_warp warp;

/* A run of at most so many steps. */
static void run_once(uint64_t seed, uint32_t count)
{
    for (uint32_t l = 0; l < count; l++) {
        memset(&lanes[l], 0, sizeof lanes[l]);
        lanes[l].lane = l;
        lanes[l].seed = seed;
        for (uint32_t k = 0; k < PREDICATES; k++)
            mini_marker(&lanes[l], k);
    }
    mini_warp_init(&warp, &program, lanes, count, seed);
    warp.four_weak = true;
    for (uint32_t steps = 0; steps < 150 && !warp.completed && !warp.wrong[0]; steps++) {
        mini_step(&warp);
        if (warp.pc >= program.count)
            return;
    }
}

struct seen {
    uint32_t verdicts[3], refuted, bare, deep;
};

static void check_program(const struct ptx_module *module, uint32_t number, struct seen *seen)
{
    static const struct ptx_static_options options;
    struct ptx_static s = ptx_static_check(&arena, module, entry_of(module), &options);
    bool refuted = false, deep = false;
    mini_assemble(&program, module);
    for (uint32_t run = 0; run < 40 && !refuted; run++) {
        run_once(mini_mix(number * 64 + run), 1 + run % 5);
        refuted = warp.wrong[0] && strncmp(warp.wrong, "token", 5) != 0;
        deep |= warp.deepest > 2;
        if (s.verdict == OK && !s.rule.clause && !refuted && warp.own_wrong[0])
            fail_msg("%s although all rules are kept: %s", warp.own_wrong, text);
    }
    if (refuted && s.verdict == OK)
        fail_msg("%s although it is consistent: %s", warp.wrong, text);
    seen->verdicts[s.verdict]++;
    seen->refuted += refuted && s.verdict == BAD;
    seen->bare += s.verdict == OK && !s.rule.clause;
    seen->deep += s.verdict == OK && deep;
}

static void random_programs(void **state)
{
    (void)state;
    struct seen seen = {{0}, 0, 0, 0};
    pcg_seed(&rng, 1, 1);
    for (uint32_t n = 0; n < 8000; n++) {
        size_t mark = arena_mark(&arena);
        check_program(random_program(), n, &seen);
        arena_release(&arena, mark);
    }
    print_message(
        "%u consistent (%u with all rules, %u with deep stacks), %u not (%u in a run), %u "
        "unknown\n",
        seen.verdicts[OK], seen.bare, seen.deep, seen.verdicts[BAD], seen.refuted,
        seen.verdicts[OPEN]);
    assert_true(seen.verdicts[OK] > 300 && seen.deep > 50);
    assert_true(seen.refuted > seen.verdicts[BAD] / 2);
}

/* ---- the report's programs ---- */

/* Programs of sections 7.5, 8, 9 and 13: all but these are consistent; of these the first fault. */
static const struct {
    const char *name;
    enum ptx_static_verdict verdict;
    enum ptx_static_clause why, rule;
} exceptions[] = {
    {"crs-c6", BAD, PTX_STATIC_SC1, PTX_STATIC_A},
    {"crs-c7", BAD, PTX_STATIC_SC2, 0},
    {"crs-c8", BAD, PTX_STATIC_SC3, PTX_STATIC_B},
    {"mut-02-shortest", OK, 0, PTX_STATIC_A},
    {"mut-06", BAD, PTX_STATIC_SC2, 0},
    {"mut-10-shortest", OK, 0, PTX_STATIC_A},
    {"mut-11-shortest", OK, 0, PTX_STATIC_A},
    {"mut-12-shortest", OK, 0, PTX_STATIC_C},
    {"mut-14", OK, 0, PTX_STATIC_C},
    {"mut-24", OK, 0, PTX_STATIC_A},
    {"err-30", BAD, PTX_STATIC_SC6, PTX_STATIC_A},
};

static void check_file(const char *path)
{
    size_t length, e = 0, count = sizeof exceptions / sizeof exceptions[0];
    char *bytes = parse_read_bytes(&arena, path, PTX_LIMIT_SOURCE_BYTES, &length, &diag);
    assert_non_null(bytes);
    const struct ast_kernel *kernel = parse_kernel(&arena, bytes, length, &diag);
    assert_non_null(kernel);
    struct ptx_static s = ptx_static_kernel(&arena, kernel);
    const char *name = strrchr(path, '/') + 1;
    while (e < count && (strncmp(name, exceptions[e].name, strlen(exceptions[e].name)) != 0 ||
                         name[strlen(exceptions[e].name)] != '.'))
        e++;
    bool good = e < count
                    ? s.verdict == exceptions[e].verdict && s.why.clause == exceptions[e].why &&
                          s.rule.clause == exceptions[e].rule
                    : s.verdict == OK && !s.rule.clause;
    if (!good || s.four.clause)
        fail_msg("%s: %d: %s, line %u; %s, line %u", name, s.verdict, ptx_static_text(s.why.clause),
                 s.why.line, ptx_static_text(s.rule.clause), s.rule.line);
}

static void corpus(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/papers/crs/*.ptx", 0, NULL, &files), 0);
    assert_true(files.gl_pathc > 50);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        static const char *const kinds[] = {"gt-", "crs-c", "bar", "mut-", "err-30"};
        size_t mark = arena_mark(&arena);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (strncmp(strrchr(files.gl_pathv[i], '/') + 1, kinds[k], strlen(kinds[k])) == 0)
                check_file(files.gl_pathv[i]);
        arena_release(&arena, mark);
    }
    globfree(&files);
}

/* ---- what a kernel starts with ---- */

/* Registers and tokens of the head; most_states 0: the usual bound. */
static const struct {
    const char *settings, *registers, *code;
    uint32_t most_states;
    enum ptx_static_verdict verdict;
    enum ptx_static_clause why;
} starts[] = {
    {"", ".reg .b32 pc;", "bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"reg:pc=2", ".reg .b32 pc;", "bra pc;\nexit;", 0, OK, 0},
    {"reg:pc=2", ".reg .b32 pc;", "bra pc;\nbreak;", 0, BAD, PTX_STATIC_SC1},
    {"reg:pc=2,3", ".reg .b32 pc;", "bra pc;\nexit;\nbreak;", 0, BAD, PTX_STATIC_SC1},
    {"reg:pc=2,2", ".reg .b32 pc;", "bra pc;\nexit;\nbreak;", 0, OK, 0},
    {"reg:pc=9", ".reg .b32 pc;", "bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"reg:pc=2,3", ".reg .b32 pc;", "bra pc;\nexit;", 0, BAD, PTX_STATIC_ADDR},
    {"reg:pc=1,2,3", ".reg .b32 pc;", "bra pc;\nexit;", 0, BAD, PTX_STATIC_ADDR},
    {"reg:pc=2,4", ".reg .b32 pc;", "bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"", ".reg .b32 pc;", "mov.b32 pc, L;\nbra pc;\nexit; L:", 0, BAD, PTX_STATIC_ADDR},
    {"", "", "bra L;\nexit; L:", 0, BAD, PTX_STATIC_ADDR},
    {"reg:pc=2,9", ".reg .b32 pc;", "bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"reg:pc=2,9", ".reg .b32 pc;", "bra L;\nL: bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"reg:pc=2,0x100000002", ".reg .b64 pc;", "bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"reg:pc=9", ".reg .b32 pc;", "mov.b32 pc, L;\nbra pc;\nL: exit;", 0, OK, 0},
    {"reg:pd=2", ".reg .b32 pc, pd;", "bra pc;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"reg:pc=2 reg:pd=3", ".reg .b32 pc, pd;", "bra pc;\nexit;\nbreak;", 0, OK, 0},
    {"reg:p=01 reg:pc=3", ".reg .pred p; .reg .b32 pc;", "@p bra pc;\nexit;\nbreak;", 0, BAD,
     PTX_STATIC_SC1},
    /* a predicate whose name is the beginning of another register's */
    {"reg:pc=2", ".reg .pred p; .reg .b32 pc;", "bra pc;\nexit;", 0, OK, 0},
    {"reg:pc=2", ".reg .pred p<2>; .reg .b32 pc;", "bra pc;\nexit;", 0, OK, 0},
    {"reg:p7=2", ".reg .pred p<2>; .reg .b32 p7;", "bra p7;\nexit;", 0, OK, 0},
    {"reg:pc=2", ".reg .b32 %pc;", "bra %pc;\nexit;", 0, OK, 0},
    {"reg:%pc=3", ".reg .b32 %pc;", "bra %pc;\nexit;\nbreak;", 0, BAD, PTX_STATIC_SC1},
    {"reg:r7=2", ".reg .b32 %r<9>;", "bra %r7;\nexit;", 0, OK, 0},
    {"reg:nobody=2 reg:pc=2", ".reg .b32 pc;", "bra pc;\nexit;", 0, OK, 0},
    {"reg:r7=2", ".reg .b32 %r<9>;", "bra %r6;\nexit;", 0, OPEN, PTX_STATIC_TARGET},
    {"stack=brk,11,2", "", "break;\nexit;", 0, OK, 0},
    {"stack=brk,11,2", "", "sync;\nexit;", 0, BAD, PTX_STATIC_SC3},
    {"stack=sync,11,2", "", "sync;\nexit;", 0, OK, 0},
    {"stack=sync,11,1", "", "sync;\nexit;", 0, BAD, PTX_STATIC_SC5},
    {"stack=call,11,2", "", "ret;\nexit;", 0, OK, 0},
    {"stack=brk,11,2+call,11,3", "", "break;\nret;\nexit;", 0, OK, 0},
    {"stack=call,11,3+brk,11,2", "", "break;\nret;\nexit;", 0, BAD, PTX_STATIC_SC2},
    {"stack=sync,11,2+sync,11,3", "", "sync;\nsync;\nexit;", 0, OK, 0},
    {"stack=sync,11,3+sync,11,2", "", "sync;\nsync;\nexit;", 0, BAD, PTX_STATIC_SC5},
    {"", "", "nop;\nnop;\nnop;\nexit;", 2, OPEN, PTX_STATIC_SIZE},
    {"", "", "nop;\nnop;\nnop;\nexit;", 3, OPEN, PTX_STATIC_SIZE},
    {"", "", "nop;\nnop;\nnop;\nexit;", 4, OK, 0},
};

static void what_a_kernel_starts_with(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t mark = arena_mark(&arena);
        const char *source = arena_printf(
            &arena,
            "// simtfuzz: entry=k threads=2 warp=2 raw %s\n.version 7.0\n.target sm_70\n"
            ".address_size 64\n.visible .entry k()\n{\n%s\n%s\n}\n",
            starts[i].settings, starts[i].registers, starts[i].code);
        diag_init(&diag, "kernel", source, strlen(source));
        const struct ast_kernel *kernel = parse_kernel(&arena, source, strlen(source), &diag);
        if (!kernel)
            fail_msg("%s: %s", starts[i].code, diag.entries[0].text);
        struct ptx_static s = ptx_static_kernel(&arena, kernel);
        if (starts[i].most_states > 0) {
            const struct ptx_static_options options = {.most_states = starts[i].most_states};
            s = ptx_static_check(&arena, kernel->ptx->module, kernel->ptx->entry, &options);
        }
        if (s.verdict != starts[i].verdict || s.why.clause != starts[i].why)
            fail_msg("%s %s: %d, %s", starts[i].settings, starts[i].code, s.verdict,
                     ptx_static_text(s.why.clause));
        arena_release(&arena, mark);
    }
}

/* ---- compiled kernels ---- */

/* Structured kernels keep all rules (14.3), and (4) as printed. */
static void compiled(void **state)
{
    (void)state;
    static const struct ptx_static_options options;
    struct gen_options gen = GEN_DEFAULTS;
    uint32_t modules = 0;
    for (uint64_t n = 0; n < 600; n++) {
        size_t mark = arena_mark(&arena);
        const char *reason;
        struct lowered_ptx lowered;
        const struct ast_kernel *kernel = gen_case(&arena, 7, n, &gen);
        if (kernel->form == FORM_STRUCTURED &&
            lower_ptx_module(&arena, kernel, &lowered, &reason)) {
            struct ptx_static s =
                ptx_static_check(&arena, lowered.module, entry_of(lowered.module), &options);
            if (s.verdict != OK || s.four.clause || s.rule.clause)
                fail_msg("%s, line %u; %s; %s in %s", ptx_static_text(s.why.clause), s.why.line,
                         ptx_static_text(s.four.clause), ptx_static_text(s.rule.clause),
                         ptx_print(&arena, lowered.module));
            modules++;
        }
        arena_release(&arena, mark);
    }
    assert_true(modules > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(corpus),
        cmocka_unit_test(what_a_kernel_starts_with),
        cmocka_unit_test(compiled),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
