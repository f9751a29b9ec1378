/* Lemma 6 (SIM.L6): the bound against executions, the refuter against the proof, and each clause of the hypothesis
 * from both sides. */
#include "tests/unit/shared/checking.h"

#include "fuzz/generate/generate.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/liveness.h"
#include "oracle/lemma6/lemma6.h"

enum { STEPS = 100000 };

static struct lemma6 holds(const char *text)
{
    return lemma6_holds(&test_arena, support_program(text), STEPS);
}

static struct lemma6_refutation refute(const char *text)
{
    return lemma6_refute(&test_arena, support_program(text), 0, 1 << 16);
}

/* ---- both sides of each clause ---- */

#define K(launch, body) "launch(" launch "); shared int x; global int g; kernel k() { " body " }"

static const struct {
    const char *clause, *text;
    char verdict; /* h holds, c holds with constants, r refuted, ? neither */
    bool exact;   /* the bounds are the steps of every execution */
} clauses[] = {
    {"no loop", K("threads = 1, warp = 1", ";"), 'h', true},
    {"an assignment", K("threads = 2", "x = 1;"), 'h', true},
    {"a branch on what is shared", K("threads = 2", "if (x) x = 1; else ; x = 2;"), 'h', false},
    {"a private counter", K("threads = 2", "private int i; for (i = 2; i > 0; i--) ;"), 'h', true},
    {"a counter that nobody counts", K("threads = 2", "private int i; i = 2; while (i > 0) ;"), 'r',
     false},
    {"a guard that reads what is shared", K("threads = 2", "while (x) ; x = 1;"), 'r', false},
    {"the same, global", K("threads = 1, warp = 1, blocks = 2", "while (g) ; g = 1;"), 'r', false},
    {"a shared variable of one thread",
     K("threads = 1, warp = 1, blocks = 2", "x = 2; while (x) x = x - 1;"), 'h', true},
    {"a global variable of one thread", K("threads = 1, warp = 1", "g = 2; while (g) g = g - 1;"),
     'h', true},
    {"the same of two", K("threads = 2", "x = 2; while (x) x = x - 1;"), 'r', false},
    {"a counter that comes from what is shared",
     K("threads = 2", "private int i; i = x; while (i > 0) i = i - 1; x = 1;"), '?', false},
    {"the same, within bounds",
     K("threads = 2", "private int i; i = 0; while (x != 1 && i < 3) i = i + 1; x = 0;"), 'h',
     false},
    {"both ways of a branch on what is shared end",
     K("threads = 2", "private int i; if (x) i = 3; else i = 1; while (i > 0) i = i - 1; x = 1;"),
     '?', false},
    {"loops within the ways",
     K("threads = 2", "private int i; if (x) for (i = 3; i > 0; i--) ; else ; x = 1;"), 'h', false},
    {"a variable that nobody writes",
     "launch(threads = 2); shared int n = 2; kernel k() { private int i; i = 0;"
     " while (i < n) i = i + 1; }",
     'c', true},
    {"somebody writes it",
     "launch(threads = 2); shared int n = 2; kernel k() { private int i; i = 0;"
     " while (i < n) i = i + 1; n = 2; }",
     '?', false},
    {"a loop that is left by jumps", K("threads = 2", "while (1) { if (tid) break; else return; }"),
     'h', true},
    {"who exits", K("threads = 2", "while (1) exit;"), 'h', true},
    {"a call that returns",
     "launch(threads = 3); void f() { if (tid) return; ; } kernel k() { f(); ; }", 'h', true},
    {"recursion that ends",
     "launch(threads = 2); private int i; void f() { i = i + 1; if (i < 2) f(); }"
     " kernel k() { f(); }",
     'h', true},
    {"recursion that does not", "launch(threads = 2); void f() { f(); } kernel k() { f(); }", '?',
     false},
    {"a barrier is passed", K("threads = 2", "barrier(); x = 1; barrier();"), 'h', true},
    {"behind a barrier", K("threads = 2", "barrier(); while (x) ; x = 1;"), 'r', false},
    {"an atomic gives anything",
     K("threads = 2", "private int o; o = 1; while (o) o = atomic_exch(x, 1);"), 'r', false},
    {"an array of one's own",
     K("threads = 2", "private int a[2]; a[tid] = 1; while (a[tid]) a[tid] = 0;"), 'h', true},
    {"its index is not known",
     K("threads = 2", "private int a[2]; a[x & 1] = 1; while (a[tid]) a[tid] = 0; x = 1;"), 'h',
     false},
    {"what does not decide", K("threads = 2", "while (x || 0) ; x = 1;"), 'r', false},
    {"nor here", K("threads = 2", "while (x && 1) ; x = 1;"), 'r', false},
    {"what decides", K("threads = 2", "while (x && 0) ; x = 1;"), 'h', true},
    {"counts in what is shared", K("threads = 2", "while (x) g = g + 1; x = 1;"), 'r', false},
    {"a lane that goes on longer", K("threads = 2", "private int i; i = tid; while (i < 3) i++;"),
     'h', true},
    {"loops in loops",
     K("threads = 3",
       "private int i, j; for (i = tid; i < 3; i++) { for (j = 0; j < i; j++) if (j == 1) break;"
       " if (i == 1) continue; ; }"),
     'h', true},
    {"a conditional expression",
     K("threads = 2", "private int i; i = x ? 2 : 2; while (i) i = (x || 1) ? i - 1 : i; x = 1;"),
     'h', true},
};

static uint64_t run(const struct program *program, enum subject_id subject, enum sched_kind kind,
                    uint64_t index)
{
    struct machine *machine = support_machine(program, subject);
    const struct sched_spec spec = {.kind = kind, .index = index, .depth = 2};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, STEPS, NULL);
    assert_int_not_equal(status, STATUS_STEP_LIMIT);
    return machine->steps;
}

/* Executions keep to the bounds, and those that depend on nothing shared are as long as they say. */
static void check_bounds(const char *text, const struct lemma6 *lemma, bool exact)
{
    static const enum subject_id subjects[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_THREADS};
    static const enum sched_kind kinds[] = {SCHED_SEQUENTIAL, SCHED_ROUND_ROBIN, SCHED_UNIFORM};
    const struct program *program = support_program(text);
    for (uint32_t s = 0; s < 3; s++)
        for (uint32_t k = 0; k < 3; k++) {
            uint64_t steps = run(program, subjects[s], kinds[k], k);
            uint64_t bound =
                subjects[s] == SUBJECT_THREADS ? lemma->all_thread_steps : lemma->all_warp_steps;
            if (exact)
                assert_int_equal(steps, bound);
            assert_true(steps <= bound);
        }
}

static void test_clauses(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof clauses / sizeof *clauses; i++) {
        struct lemma6 lemma = holds(clauses[i].text);
        struct lemma6_refutation refutation = refute(clauses[i].text);
        char got = lemma.holds ? lemma.constants ? 'c' : 'h' : refutation.found ? 'r' : '?';
        if (got != clauses[i].verdict)
            print_error("%s: %c (%s)\n", clauses[i].clause, got,
                        lemma.why_not ? lemma.why_not : "");
        assert_int_equal(got, clauses[i].verdict);
        if (got == 'h')
            assert_false(refutation.found);
        assert_true(lemma.holds || lemma.why_not);
        if (lemma.holds)
            check_bounds(clauses[i].text, &lemma, clauses[i].exact);
    }
}

/* Why it is not known to hold is said in a text of its own, which lies in no memory that was given back: where the
 * steps end behind a loop, a branch or a call, and what comes next is written there. */
static void test_why_not(void **state)
{
    (void)state;
    static const char *const texts[] = {
        K("threads = 2", "private int i; while (i < 3) i++; x = 1;"),
        K("threads = 2", "if (tid) x = 1; else x = 2; x = 3;"),
        "launch(threads = 2); shared int x; void f() { x = 1; } kernel k() { f(); f(); }",
    };
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint32_t steps = 1; true; steps++) {
            struct lemma6 lemma = lemma6_holds(&test_arena, support_program(texts[i]), steps);
            memset(arena_alloc(&test_arena, 4096, 1), 'x', 4096);
            if (lemma.holds)
                break;
            assert_string_equal(lemma.why_not,
                                arena_printf(&test_arena, "more than %u steps", steps));
        }
    assert_string_equal(holds(K("threads = 2", "\nwhile (x) ; x = 1;")).why_not,
                        "the loop of line 2 may go on for ever");
    assert_string_equal(holds("launch(threads = 2); shared int x;\nvoid f() {\n f(); }"
                              " kernel k() { f(); }")
                            .why_not,
                        "the call of line 3 recurs");
}

/* ---- what a refutation sets ---- */

/* Variables from the 63rd on share the last bit of a footprint. Wrong versions set none of them, or what the step does
 * not read, or what lies behind them. */
static void test_what_is_set(void **state)
{
    enum { VARS = 67 };
    static const uint32_t waited[] = {0, 1, 61, 62, 63, 64, VARS - 1};
    (void)state;
    for (uint32_t i = 0; i < sizeof waited / sizeof *waited; i++) {
        char text[1024] = "launch(threads = 2, blocks = 2); shared int v0";
        for (uint32_t v = 1; v < VARS; v++)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", v%u", v);
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; kernel k() { if (bid == 1) while (v%u) ; }", waited[i]);
        struct lemma6_refutation refutation = refute(text);
        assert_true(refutation.found && refutation.thread >= 2);
        const struct program *program = support_program(text);
        uint32_t first = program->shared_base + program->words[SPACE_SHARED];
        for (uint32_t k = 0; k < refutation.set_count; k++) /* of the second block */
            assert_in_range(refutation.sets[k].address, first + (waited[i] < 63 ? waited[i] : 63),
                            first + (waited[i] < 63 ? waited[i] : VARS - 1));
        assert_true(refutation.set_count > 0);
        assert_string_equal(refutation.location,
                            arena_printf(&test_arena, "v%u of block 1", waited[i]));
        assert_null(lemma6_replay(&test_arena, program, &refutation));
    }
}

/* Of an array the first 64 elements are set. */
static void test_elements_that_are_set(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool found;
    } kernels[] = {
        {"launch(threads = 2); shared int a[70]; kernel k() { while (a[0]) ; }", true},
        {"launch(threads = 2); shared int a[70]; kernel k() { while (a[63]) ; }", true},
        {"launch(threads = 2); shared int a[70]; kernel k() { while (a[64]) ; }", false},
        {"launch(threads = 2); shared int a[3], b; kernel k() { while (a[2]) ; }", true},
    };
    for (uint32_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        assert_int_equal(refute(kernels[i].text).found, kernels[i].found);
}

/* ---- random kernels ---- */

/* The core of a random structured kernel, or NULL. */
static const struct program *random_program(uint64_t seed, uint64_t number, bool spin)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *reason = NULL;
    options.small = number % 2 == 0 || spin;
    options.spin = spin;
    struct ast_kernel *kernel = gen_case(&test_arena, seed, number, &options);
    if (kernel->form != FORM_STRUCTURED)
        return NULL;
    struct program *program =
        program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
    return program && !machine_refuses(&test_arena, &semantics_simt, program) ? program : NULL;
}

static void check_random_bounds(const struct program *program, const struct lemma6 *lemma,
                                uint32_t *reached)
{
    static const enum subject_id subjects[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_THREADS};
    for (uint64_t i = 0; i < 9; i++) {
        enum subject_id subject = subjects[i % 3];
        if (subject == SUBJECT_THREADS && !lemma->has_threads)
            continue;
        struct machine *machine = support_machine(program, subject);
        const struct sched_spec spec = sched_portfolio(1, i, machine->actor_count, false);
        struct scheduler scheduler;
        uint64_t bound =
            subject == SUBJECT_THREADS ? lemma->all_thread_steps : lemma->all_warp_steps;
        sched_start(&scheduler, &spec, machine, &test_arena);
        enum status status = machine_run(machine, &scheduler.choices, bound + 1, NULL);
        assert_int_not_equal(status, STATUS_STEP_LIMIT);
        assert_true(machine->steps <= bound);
        *reached += machine->steps == bound;
    }
}

static void test_random(void **state)
{
    uint32_t asked = 0, proven = 0, with_constants = 0, refuted = 0, reached = 0;
    (void)state;
    for (uint64_t number = 0; number < 3000; number++) {
        size_t mark = arena_mark(&test_arena);
        const struct program *program = random_program(4, number, number % 4 == 3);
        if (program) {
            struct lemma6 lemma = lemma6_holds(&test_arena, program, 4096);
            struct lemma6_refutation refutation = lemma6_refute(&test_arena, program, number, 2000);
            asked++;
            proven += lemma.holds;
            with_constants += lemma.holds && lemma.constants;
            refuted += refutation.found;
            assert_false(lemma.holds && !lemma.constants && refutation.found);
            if (lemma.holds)
                check_random_bounds(program, &lemma, &reached);
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u kernels: %u proven, %u of them with constants; %u refuted; the bound was"
                  " reached by %u executions\n",
                  asked, proven, with_constants, refuted, reached);
    assert_true(asked > 1200 && proven > 800 && refuted > 200 && reached > 4000);
}

/* ---- the oracle ---- */

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
    struct answer answer;
};

static const char *judged(struct fixture *f, const char *text, enum subject_id subject,
                          uint64_t steps, bool lasso)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects = SUBJECT_BIT(SUBJECT_SIMT) | SUBJECT_BIT(SUBJECT_THREADS);
    f->c = checking_of(text, &f->options, &f->result);
    explore_prepare(&f->c);
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct execution *execution = explore_add(&f->c, subject, &spec);
    execution->steps = steps;
    if (lasso) {
        f->c.probes[subject] = ARENA_NEW(&test_arena, struct lasso_probe);
        f->c.probes[subject]->proven = true;
    }
    lemma6_judge(&f->c, &f->answer);
    if (f->answer.verdict != VERDICT_DIVERGE)
        return "";
    return divergence_signature(&test_arena, f->answer.divergence);
}

/* 4 warp steps, 2 * 5 thread steps. */
static const char TWO[] = "launch(threads = 2, warp = 2); shared int x;"
                          " kernel k() { x = 1; x = 2; ; }";
static const char SPINS[] = "launch(threads = 2, warp = 2); shared int x;"
                            " kernel k() { while (x != tid) ; x = x + 1; }";

static void test_judge(void **state)
{
    struct fixture f;
    (void)state;
    assert_string_equal(judged(&f, TWO, SUBJECT_SIMT, 4, false), "");
    assert_string_equal(judged(&f, TWO, SUBJECT_SIMT, 5, false), "liveness|lemma-6|none|steps");
    assert_string_equal(judged(&f, TWO, SUBJECT_THREADS, 12, false), "");
    assert_string_equal(judged(&f, TWO, SUBJECT_THREADS, 13, false), "liveness|lemma-6|none|steps");
    assert_string_equal(judged(&f, TWO, SUBJECT_SIMT, 4, true), "liveness|lemma-6|none|lasso");
    assert_string_equal(judged(&f, SPINS, SUBJECT_SIMT, 4000, true), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_clauses, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_why_not, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_set, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_elements_that_are_set, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_random, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_judge, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
