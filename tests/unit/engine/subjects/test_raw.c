/*
 * Golden digests of what is known of raw PTX before it runs, and of how threads without a stack run it: random programs
 * of branch-unit instructions, branches through registers and tables, functions, tokens and registers that are there at
 * the start. What the static check says of them is held to runs in test_ptx_static; here it is the exact answer: each
 * clause, with its line, what may be on top of the stack before each instruction, how many states were looked at. A
 * line of tests/golden/raw.txt is the number of the first of some programs, how many of them parse, and
 *
 *     checks    the static check, with the kernel's start, without, with little room
 *     flow      blocks, edges, dominators, loops of its functions
 *     policies  what each policy of warps without a stack does: where paths meet, which branch splits a warp
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_raw
 *
 * writes the file anew.
 */
#include "tests/unit/shared/digests.h"
#include "tests/unit/shared/golden_lines.h"

#include "engine/input/ptx_kernel.h"
#include "engine/schedule/stackless.h"
#include "engine/static/ptx_static.h"
#include "engine/subjects/forms.h"
#include "engine/to_ptx/ptx_flow.h"

enum { LINES = 100, TOGETHER = 20, BUDGET = 60, TOPS = 64 };

/* ---- random programs ---- */

struct text {
    struct pcg rng;
    char bytes[1 << 21];
    size_t length;
};

static uint32_t below(struct text *t, uint32_t bound)
{
    return pcg_below(&t->rng, bound);
}

/* Several, one after the other: the order in which arguments are evaluated is the compiler's affair. */
static void draw(struct text *t, uint32_t bound, uint32_t count, uint32_t *numbers)
{
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = below(t, bound);
}

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->bytes + t->length, sizeof t->bytes - t->length, format, args);
    va_end(args);
    assert_true(n >= 0 && t->length + (size_t)n < sizeof t->bytes);
    t->length += (size_t)n;
}

static void say_guard(struct text *t, uint32_t percent)
{
    uint32_t n[2];
    draw(t, 6, 2, n);
    if (below(t, 100) < percent)
        say(t, "@%sp%u ", n[0] % 2 ? "!" : "", n[1] % 3);
}

static void say_transfer(struct text *t, uint32_t next, uint32_t to, uint32_t functions)
{
    switch (below(t, 6)) {
    case 0:
        say_guard(t, 50);
        say(t, "bra q%u;\n", below(t, 3));
        return;
    case 1:
        say_guard(t, 40);
        say(t, "call q%u;\n", below(t, 3));
        return;
    case 2:
        say_guard(t, 40);
        say(t, "call B%u;\n", to);
        return;
    case 3:
        if (functions == 0)
            return;
        say_guard(t, 40);
        say(t, "call f%u;\n", below(t, functions));
        return;
    default:
        say_guard(t, 70);
        say(t, "bra B%u;\n", below(t, 3) ? next : to);
    }
}

static void say_value(struct text *t, uint32_t to, uint32_t other)
{
    static const char *const others[] = {"xor", "and", "or", "xor"};
    uint32_t n[3], kind = below(t, 7), what = below(t, 4);
    draw(t, 3, 3, n);
    switch (kind) {
    case 0:
    case 1:
        say_guard(t, 20);
        say(t, "mov.b32 q%u, B%u;\n", n[0], to);
        return;
    case 2:
        say_guard(t, 20);
        say(t, "mov.b32 q%u, q%u;\n", n[0], n[1]);
        return;
    case 3:
        say(t, "selp.b32 q%u, q%u, q%u, p0;\n", n[0], n[1], n[2]);
        return;
    case 4:
        say(t, "mov.b32 q0, B%u;\n", other);
        return;
    case 5:
        if (below(t, 3) == 0)
            say(t, "%s.b32 q%u, q%u, q%u;\n", others[what], n[0], n[1], n[2]);
        else if (what == 0)
            say(t, "ld.global.b32 q%u, [g];\n", n[0]);
        return;
    default:
        say(t, "not.pred p%u, p%u;\n", n[0], n[1]);
    }
}

static void say_token(struct text *t, uint32_t pc, uint32_t length, uint32_t next, uint32_t to)
{
    static const char *const leaves[] = {"sync", "sync", "break", "break", "ret", "exit"};
    uint32_t kind = below(t, 9);
    if (kind < 6) {
        say_guard(t, kind < 2 ? 15 : 60);
        say(t, "%s;\n", leaves[kind]);
        return;
    }
    say_guard(t, 15);
    if (kind == 8)
        say(t, "preRet B%u;\n", below(t, 4) && pc + 2 <= length ? pc + 2 : to);
    else
        say(t, "%s B%u;\n", kind == 6 ? "ssy" : "preBrk", next);
}

/* A branch that a sync takes together again, a loop that breaks leave, a call as it should be, a table: as they are
 * meant. */
static uint32_t say_construct(struct text *t, uint32_t pc, uint32_t length)
{
    uint32_t left = length - pc, kind = below(t, 5), p = below(t, 3), to[2];
    const char *sign = below(t, 2) ? "!" : "";
    draw(t, length, 2, to);
    switch (kind) {
    case 0:
        if (left < 5)
            return 0;
        say(t, "ssy B%u;\nB%u: @%sp%u bra B%u;\nB%u: not.pred p0, p1;\nB%u: sync;\n", pc + 4,
            pc + 1, sign, p, pc + 3, pc + 2, pc + 3);
        return 4;
    case 1:
        if (left < 5)
            return 0;
        say(t, "preBrk B%u;\nB%u: not.pred p2, p2;\nB%u: @p%u break;\nB%u: bra B%u;\n", pc + 4,
            pc + 1, pc + 2, p, pc + 3, pc + 1);
        return 4;
    case 2:
        if (left < 3)
            return 0;
        say_guard(t, 20);
        say(t, "preRet B%u;\nB%u: call B%u;\n", pc + 2, pc + 1, 1 + to[0]);
        return 2;
    case 3:
        say(t, "T%u: .branchtargets B%u, B%u;\n", pc, 1 + to[0], 1 + to[1]);
        say_guard(t, 30);
        say(t, "brx.idx m, T%u;\n", pc);
        return 1;
    default:
        return 0;
    }
}

static void say_body(struct text *t, uint32_t functions)
{
    uint32_t length = 3 + below(t, 12);
    uint32_t words = 2 + below(t, 4);
    say(t, "{\n.reg .pred p<3>;\n.reg .b32 q<3>;\n.reg .u32 m;\n");
    for (uint32_t pc = 1; pc < length;) {
        uint32_t to = 1 + below(t, length);
        uint32_t next = pc + 1 + below(t, length - pc);
        say(t, "B%u: ", pc);
        uint32_t taken = below(t, 3) == 0 ? say_construct(t, pc, length) : 0;
        if (taken == 0 && below(t, words) == 0)
            say_token(t, pc, length, next, to);
        else if (taken == 0 && below(t, 2))
            say_transfer(t, next, to, functions);
        else if (taken == 0)
            say_value(t, to, next);
        pc += taken ? taken : 1;
    }
    if (below(t, 5) == 0)
        say(t, "B%u: bra q%u;\n}\n", length, below(t, 3));
    else
        say(t, "B%u: %s;\n}\n", length, below(t, 4) ? "exit" : "ret");
}

static void say_program(struct text *t, uint64_t number)
{
    static const char *const tokens[] = {"brk", "sync", "call"};
    t->rng = pcg_derive(number, PCG_KERNEL, 7);
    t->length = 0;
    uint32_t functions = below(t, 3) == 0 ? 1 + below(t, 2) : 0, n[5];
    uint32_t start = below(t, 4);
    draw(t, 60, 5, n);
    say(t, "// simtfuzz: entry=k threads=%u warp=%u blocks=%u raw", 2 + n[0] % 5, 2u << n[1] % 3,
        1 + n[2] % 2);
    say(t, " reg:p0=01 reg:p1=0011 reg:m=0,1");
    if (start == 1)
        say(t, " reg:q1=%u,%u", 1 + n[3] % 6, 1 + n[4] % 6);
    if (start == 2)
        say(t, " stack=%s,11,%u", tokens[n[3] % 3], 1 + n[4] % 6);
    say(t, "\n.version 7.8\n.target sm_70\n.address_size 64\n.global .b32 g;\n");
    for (uint32_t f = functions; f-- > 0;) { /* calls go up, so that they end */
        say(t, ".func f%u()\n", f);
        say_body(t, 0);
    }
    say(t, ".visible .entry k()\n");
    say_body(t, functions);
}

/* ---- what is known ---- */

struct digests {
    uint32_t parsed;
    uint64_t checks, flow, policies;
};

static void digest_fault(uint64_t *digest, const struct ptx_static_fault *fault)
{
    digest_word(digest, (uint64_t)fault->clause << 32 | fault->line);
}

static void digest_check(uint64_t *digest, const struct ast_kernel *kernel,
                         const struct ptx_static_options *options)
{
    struct ptx_static s =
        ptx_static_check(&test_arena, kernel->ptx->module, kernel->ptx->entry, options);
    digest_word(digest, s.verdict);
    digest_fault(digest, &s.why);
    digest_fault(digest, &s.four);
    digest_fault(digest, &s.rule);
    digest_word(digest, (uint64_t)s.states << 32 | s.instructions);
    for (uint32_t i = 0; options->tops && i < options->top_count; i++)
        digest_word(digest, options->tops[i]);
}

static void check(uint64_t *digest, const struct ast_kernel *kernel)
{
    struct ptx_static_options options = {0};
    digest_check(digest, kernel, &options);
    options.most_states = 12;
    digest_check(digest, kernel, &options);
    options.most_states = 0;
    ptx_static_start(&test_arena, kernel->ptx, &options);
    options.tops = ARENA_ARRAY(&test_arena, uint8_t, TOPS);
    options.top_count = TOPS;
    digest_check(digest, kernel, &options);
    options.tops = ARENA_ARRAY(&test_arena, uint8_t, TOPS);
    options.top_count = 9;
    options.ends = true;
    digest_check(digest, kernel, &options);
}

static void digest_graph(uint64_t *digest, const struct ptx_graph *graph)
{
    digest_word(digest, (uint64_t)graph->reached << 32 | graph->edges);
    digest_words(digest, graph->next_first, graph->count + 1);
    digest_words(digest, graph->next, graph->edges);
    digest_words(digest, graph->order, graph->reached);
    digest_words(digest, graph->dominator, graph->count);
    digest_words(digest, graph->post_dominator, graph->count);
    digest_word(digest, graph->reducible);
}

static void look_at_flow(uint64_t *digest, const struct ast_kernel *kernel)
{
    for (const struct ptx_item *item = kernel->ptx->module->items; item; item = item->next) {
        const char *reason = NULL;
        if (item->kind != PTX_ITEM_FUNCTION || !item->u.function->body)
            continue;
        const struct ptx_flow *flow = ptx_flow_build(&test_arena, item->u.function, &reason);
        assert_non_null(flow);
        digest_word(digest, ptx_falls_through(item->u.function));
        digest_word(digest, flow->indirect ? flow->indirect->at.line : 0);
        for (uint32_t b = 0; b < flow->graph.count; b++) {
            digest_word(digest, (uint64_t)flow->blocks[b].first << 32 | flow->blocks[b].end);
            digest_word(digest, ptx_flow_line(flow, b));
        }
        digest_graph(digest, &flow->graph);
    }
}

static void run(uint64_t *digest, const struct ast_kernel *kernel, uint64_t seed)
{
    const struct subject_info *info = &subject_table[SUBJECT_BLOCK];
    const struct program *program =
        forms_get(forms_new(&test_arena, kernel), info->program)->program;
    digest_word(digest, program != NULL);
    if (!program || machine_refuses(&test_arena, info->vtable, program))
        return;
    struct machine *machine = machine_new(&test_arena, info->vtable, program, &info->options);
    for (uint32_t p = 0; p < STACKLESS_POLICY_COUNT; p++) {
        size_t mark = arena_mark(&test_arena);
        struct sched_spec spec = {
            .kind = SCHED_STACKLESS,
            .seed = seed,
            .index = p,
            .stackless = {.policy = (enum stackless_policy)p, .then_first = p % 3 == seed % 3}};
        struct scheduler scheduler;
        struct tape *record = tape_new(&test_arena, 4 * BUDGET);
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &test_arena);
        digest_word(digest, machine_run(machine, &scheduler.choices, BUDGET, record));
        for (uint32_t i = 0; i < record->count; i++)
            digest_word(digest, record->entries[i]);
        arena_release(&test_arena, mark);
    }
}

static void look_at(struct digests *d, uint64_t number)
{
    static struct text text;
    size_t mark = arena_mark(&test_arena);
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    say_program(&text, number);
    diag_init(diag, "raw", text.bytes, text.length);
    const struct ast_kernel *kernel =
        ptx_kernel_parse_with(&test_arena, text.bytes, text.length, NULL, diag);
    if (kernel) {
        d->parsed++;
        check(&d->checks, kernel);
        look_at_flow(&d->flow, kernel);
        run(&d->policies, kernel, number);
    } else if (getenv("SIMTFUZZ_SHOW")) {
        print_message("%s\n%s\n", diag->entries[0].text, text.bytes);
    }
    arena_release(&test_arena, mark);
}

/* ---- limits of the static check ---- */

/* A register that has come through so many moves; or that so many instructions write, for all that is known. */
static enum ptx_static_verdict through(struct text *t, uint32_t moves, uint32_t writers)
{
    size_t mark = arena_mark(&test_arena);
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    t->length = 0;
    say(t, "// simtfuzz: entry=k threads=2 warp=2 raw\n.version 7.8\n.target sm_70\n"
           ".address_size 64\n.visible .entry k()\n{\n.reg .b32 q<300>;\nmov.b32 q0, L;\n");
    for (uint32_t i = 0; i < moves; i++)
        say(t, "mov.b32 q%u,q%u;\n", i + 1, i);
    for (uint32_t i = 0; i < writers; i++)
        say(t, "mov.b32 q0,L;\n");
    say(t, "%sbra q%u;\nL: exit;\n}\n", writers ? "M:" : "", moves);
    diag_init(diag, "raw", t->bytes, t->length);
    const struct ast_kernel *kernel =
        ptx_kernel_parse_with(&test_arena, t->bytes, t->length, NULL, diag);
    assert_non_null(kernel);
    enum ptx_static_verdict verdict = ptx_static_kernel(&test_arena, kernel).verdict;
    arena_release(&test_arena, mark);
    return verdict;
}

static void registers_are_followed_so_far(void **state)
{
    (void)state;
    static struct text text;
    for (uint32_t moves = 0; moves < 208; moves += moves < 4 || moves > 190 ? 1 : 9)
        assert_int_equal(through(&text, moves, 0),
                         moves < 201 ? PTX_STATIC_CONSISTENT : PTX_STATIC_UNKNOWN);
    for (uint32_t writers = 1990; writers < 2005; writers++)
        assert_int_equal(through(&text, 0, writers),
                         writers < 1999 ? PTX_STATIC_CONSISTENT : PTX_STATIC_UNKNOWN);
}

/* ---- ends of functions, and how large they may be ---- */

static const struct ast_kernel *kernel_of(struct text *t)
{
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    diag_init(diag, "raw", t->bytes, t->length);
    const struct ast_kernel *kernel =
        ptx_kernel_parse_with(&test_arena, t->bytes, t->length, NULL, diag);
    if (!kernel)
        fail_msg("%s", diag->entries[0].text);
    return kernel;
}

static void say_head(struct text *t)
{
    t->length = 0;
    say(t, "// simtfuzz: entry=k threads=2 warp=2 raw\n.version 7.8\n.target sm_70\n"
           ".address_size 64\n.visible .entry k()\n{\n.reg .pred p<3>;\n.reg .b32 q;\n");
}

/* Whether control may leave a function at its last line. */
static void ends_of_functions(void **state)
{
    (void)state;
    static struct text text;
    static const struct {
        const char *end;
        bool falls_through;
    } rows[] = {{"exit;", false},
                {"ret;", false},
                {"trap;", false},
                {"bra B;", false},
                {"bra q;", false},
                {"brx.idx q, T;", false},
                {"@p0 exit;", true},
                {"@!p1 ret;", true},
                {"@p0 trap;", true},
                {"@p0 bra B;", true},
                {"@p0 brx.idx q, T;", true},
                {"sync;", true},
                {"break;", true},
                {"call B;", true},
                {"ssy B;", true},
                {"mov.b32 q, 1;", true},
                {"bar.sync 0;", true},
                {"exit; L:", true},
                {"{ exit; }", false},
                {"{ exit; L: }", true},
                {"{ { @p0 exit; } }", true},
                {"not.pred p0, p1; { exit; }", false},
                {"exit; { }", false},
                {"exit; { .reg .b32 other; }", false},
                {"exit; .pragma \"nounroll\";", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t mark = arena_mark(&test_arena);
        say_head(&text);
        say(&text, "B: not.pred p0, p0;\nT: .branchtargets B, B;\n%s\n}\n", rows[i].end);
        if (ptx_falls_through(kernel_of(&text)->ptx->entry) != rows[i].falls_through)
            fail_msg("%s", rows[i].end);
        arena_release(&test_arena, mark);
    }
}

/* So many blocks, and so many targets of branches: 2^17 and 2^21. One more is too large, and the check does not
 * know. */
static void large_functions(void **state)
{
    (void)state;
    static struct text text;
    for (uint32_t more = 0; more < 3; more++) {
        size_t mark = arena_mark(&test_arena);
        const char *reason = NULL;
        say_head(&text);
        for (uint32_t i = 0; i < (1u << 17) - 1 + more; i++)
            say(&text, "exit;\n");
        say(&text, "}\n");
        const struct ast_kernel *kernel = kernel_of(&text);
        const struct ptx_flow *flow = ptx_flow_build(&test_arena, kernel->ptx->entry, &reason);
        assert_int_equal(flow != NULL, more < 2);
        if (flow)
            assert_int_equal(flow->graph.count, (1u << 17) - 1 + more);
        else
            assert_int_equal(ptx_static_kernel(&test_arena, kernel).why.clause, PTX_STATIC_SIZE);
        arena_release(&test_arena, mark);
    }
    /* What is known of the others is known. */
    for (uint32_t breaks = 0; breaks < 2; breaks++) {
        size_t mark = arena_mark(&test_arena);
        text.length = 0;
        say(&text, "// simtfuzz: entry=k threads=2 warp=2 raw\n.version 7.8\n.target sm_70\n"
                   ".address_size 64\n.func f()\n{\n");
        for (uint32_t i = 0; i < (1u << 17) + 1; i++)
            say(&text, "exit;\n");
        say(&text, "}\n.visible .entry k()\n{\npreRet R;\ncall f;\nR: %sexit;\n}\n",
            breaks ? "break;\n" : "");
        const struct ptx_static s = ptx_static_kernel(&test_arena, kernel_of(&text));
        assert_int_equal(s.verdict, breaks ? PTX_STATIC_INCONSISTENT : PTX_STATIC_UNKNOWN);
        assert_int_equal(s.why.clause, breaks ? PTX_STATIC_SC1 : PTX_STATIC_SIZE);
        arena_release(&test_arena, mark);
    }
    for (uint32_t more = 0; more < 3; more++) {
        enum { TARGETS = 1023, BRANCHES = 2046 }; /* (2 + 1023) 2046 + 2 is 2^21 */
        size_t mark = arena_mark(&test_arena);
        const char *reason = NULL;
        say_head(&text);
        say(&text, "T: .branchtargets B");
        for (uint32_t i = 1; i < TARGETS; i++)
            say(&text, ",B");
        say(&text, ";\nB: ");
        for (uint32_t i = 0; i < BRANCHES; i++)
            say(&text, "brx.idx q,T;\n");
        for (uint32_t i = 1; i < more; i++)
            say(&text, "bra B;\n");
        say(&text, more ? "exit;\n}\n" : "}\n");
        const struct ptx_flow *flow =
            ptx_flow_build(&test_arena, kernel_of(&text)->ptx->entry, &reason);
        assert_int_equal(flow != NULL, more < 2);
        arena_release(&test_arena, mark);
    }
}

/* ---- the table ---- */

static uint32_t line_of(char line[GOLDEN_LINES_BYTES], uint64_t first)
{
    struct digests d = {0, 0, 0, 0};
    for (uint64_t n = first; n < first + TOGETHER; n++)
        look_at(&d, n);
    (void)snprintf(line, GOLDEN_LINES_BYTES, "%llu %u %016llx %016llx %016llx\n",
                   (unsigned long long)first, d.parsed, (unsigned long long)d.checks,
                   (unsigned long long)d.flow, (unsigned long long)d.policies);
    return d.parsed;
}

static void raw_programs_are_what_they_were(void **state)
{
    (void)state;
    static const struct golden_lines lines = {SIMTFUZZ_SOURCE_DIR "/tests/golden/raw.txt", LINES,
                                              TOGETHER, line_of};
    assert_true(golden_check_lines(&lines) > LINES * TOGETHER / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(registers_are_followed_so_far, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(ends_of_functions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(large_functions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(raw_programs_are_what_they_were, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
