/* The pairs of threads that Thm. C.2 names for a defect have it too; and the oracle speaks if not. */
#include "oracle/pairs/pairs.h"

#include "oracle/pairs/pairs_account.h"
#include "tests/unit/shared/block_forms.h"
#include "tests/unit/shared/pair_kernels.h"
#include "tests/unit/shared/support.h"

static struct pairs_case case_of(const struct program *program, enum sched_kind kind, uint64_t seed)
{
    return (struct pairs_case){.program = program,
                               .semantics = &semantics_threads,
                               .core = program,
                               .schedule = {.kind = kind, .seed = seed, .quantum = 1},
                               .budget_steps = 20000,
                               .seed = seed};
}

static struct answer ask(const char *text, enum sched_kind kind)
{
    struct pairs_case c = case_of(support_program(text), kind, 1);
    return pairs_guided(&test_arena, &c, ORACLE_RACE, SUBJECT_THREADS);
}

static void expect_verdict(const struct answer *answer, enum verdict verdict)
{
    if (answer->divergence)
        print_error("%s\n", answer->divergence->summary);
    else if (answer->verdict != verdict)
        print_error("%s\n", answer->reason);
    assert_int_equal(answer->verdict, verdict);
}

static void test_not_applicable(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"shared int x; kernel k() { atomic_add(x, 1); }",
         "atomics: their order decides values without a race"},
        {"launch(threads = 1); shared int x; kernel k() { assert(x); }",
         "one thread: there is no pair (the theorem needs TS >= 2)"},
        {"launch(blocks = 2); global int x; kernel k() { x = 1; }",
         "several blocks: the theorem is about the threads of one"},
        {"kernel k() { while (1) ; }", "the execution spent its budget"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer answer = ask(cases[i].text, SCHED_ROUND_ROBIN);
        expect_verdict(&answer, VERDICT_NOT_APPLICABLE);
        assert_string_equal(answer.reason, cases[i].reason);
    }
}

static void test_defects(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "shared int x; kernel k() { x = x + 1; }",
        "shared int x[4]; kernel k() { x[tid] = x[(tid + 2) % 4]; }",
        "shared int x; kernel k() { if (tid == 3) x = 1; else if (tid == 1) x = x; }",
        "kernel k() { assert(tid != 2); }",
        "shared int x[3]; kernel k() { x[tid] = 1; }",
        "void f() { f(); } kernel k() { if (tid == 3) f(); }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint32_t kind = SCHED_SEQUENTIAL; kind <= SCHED_UNIFORM; kind++) {
            struct answer answer = ask(texts[i], (enum sched_kind)kind);
            expect_verdict(&answer, VERDICT_AGREE);
            assert_true(answer.checked >= 1);
        }
}

static void test_clean(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "shared int x[4]; kernel k() { x[tid] = 1; }",
        "shared int x[4]; private int y; kernel k() { x[tid] = tid; barrier(); y = x[3 - tid]; "
        "assert(y == 3 - tid); barrier(); x[tid] = y; barrier(); assert(x[tid] == 3 - tid); }",
        "shared int x, y[4]; kernel k() { private int i; if (tid == 2) x = 2; barrier();"
        " for (i = 0; i < x; i++) { y[tid] += i; barrier(); } }",
        "private int y; kernel k() { havoc(y); while (y & 3) y++; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            struct pairs_case c =
                case_of(support_program(texts[i]), (enum sched_kind)(seed % SCHED_PCT), seed);
            c.seed = seed;
            struct answer answer = pairs_guided(&test_arena, &c, ORACLE_RACE, SUBJECT_THREADS);
            expect_verdict(&answer, VERDICT_AGREE);
            assert_int_equal(answer.checked, 1 + PAIRS_RUNS);
        }
}

/* ---- random kernels ---- */

struct counts {
    uint32_t verdicts[VERDICT_COUNT];
    uint32_t races;    /* of the defects */
    uint32_t barriers; /* of the defects: divergence */
    uint32_t clean;
};

static void count_case(struct counts *counts, const struct pairs_case *c, const char *text,
                       uint32_t runs)
{
    struct answer answer = pairs_guided(&test_arena, c, ORACLE_RACE, SUBJECT_THREADS);
    if (answer.verdict == VERDICT_DIVERGE)
        fail_msg("%s: %s", text, answer.divergence->summary);
    if (answer.verdict == VERDICT_AGREE) {
        assert_int_equal(answer.checked, runs);
        counts->races += strstr(answer.reason, "writes") != NULL;
        counts->barriers += strstr(answer.reason, "barrier_divergence") != NULL;
        counts->clean += strstr(answer.reason, "terminates") != NULL;
    }
    counts->verdicts[answer.verdict]++;
}

static void expect_counts(const struct counts *counts)
{
    assert_int_equal(counts->verdicts[VERDICT_INCONCLUSIVE], 0);
    assert_true(counts->verdicts[VERDICT_AGREE] > 1900);
    assert_true(counts->races > 100 && counts->barriers > 100 && counts->clean > 100);
}

static void test_random_structured(void **state)
{
    (void)state;
    struct counts counts = {0};
    for (uint64_t number = 0; number < 2000; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = pair_kernel(number, "launch(threads = 4); ", true);
        struct pairs_case c =
            case_of(support_program(text), (enum sched_kind)(number % SCHED_PCT), number);
        count_case(&counts, &c, text, 1 + PAIRS_RUNS);
        arena_release(&test_arena, mark);
    }
    expect_counts(&counts);
}

/* A structured kernel with its block form and its lock-step form. */
static struct pairs_case block_case(const char *text, enum sched_kind kind, uint64_t seed)
{
    struct pairs_case c = case_of(support_program(text), kind, seed);
    struct block_forms forms = block_forms(c.core, seed);
    c.program = forms.blocks;
    c.semantics = &semantics_interleave;
    c.lockstep = forms.lockstep;
    c.lockstep_semantics = &semantics_lockstep;
    return c;
}

static void test_random_blocks(void **state)
{
    (void)state;
    struct counts counts = {0};
    for (uint64_t number = 0; number < 2000; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = pair_kernel(number, "launch(threads = 4); ", true);
        struct pairs_case c = block_case(text, (enum sched_kind)(number % SCHED_PCT), number);
        count_case(&counts, &c, text, 2 + PAIRS_RUNS);
        arena_release(&test_arena, mark);
    }
    expect_counts(&counts);
}

/* ---- planted faults ---- */

static void expect_divergence(const struct pairs_case *c, const char *class_name,
                              const char *observable)
{
    struct answer answer = pairs_guided(&test_arena, c, ORACLE_RACE, SUBJECT_THREADS);
    assert_int_equal(answer.verdict, VERDICT_DIVERGE);
    assert_string_equal(answer.divergence->class_name, class_name);
    assert_string_equal(answer.divergence->observable, observable);
    assert_non_null(answer.divergence->tape);
}

/* Threads whose private memory is not their own when they run as a pair. */
static void faulty_init(struct machine *machine)
{
    semantics_threads.init(machine);
    if (machine->options.pair_count)
        for (uint32_t t = 0; t < machine->program->total_threads; t++)
            machine->threads[t].builtin[BUILTIN_TID] = (int32_t)(2 * t);
}

static void test_planted_faults(void **state)
{
    (void)state;
    struct semantics faulty = semantics_threads;
    faulty.init = faulty_init;
    struct pairs_case c = case_of(
        support_program("shared int x[8]; kernel k() { x[tid / 2] = 1; }"), SCHED_ROUND_ROBIN, 1);
    c.semantics = &faulty;
    expect_divergence(&c, "C.2", "race");
    c.program = support_program("kernel k() { assert(tid != 1); }");
    c.core = NULL;
    expect_divergence(&c, "C.2", "status");
    c.program = support_program("shared int x; kernel k() { if (tid == 1) x = 1; x = 2; }");
    expect_divergence(&c, "C.2", "rule");

    const char *racy = "shared int x; kernel k() { x = tid; }";
    const char *clean = "shared int x; kernel k() { private int y; y = tid; }";
    c = case_of(support_program(racy), SCHED_ROUND_ROBIN, 1);
    c.core = support_program(clean);
    expect_divergence(&c, "tutorial", "status");
    c.core = NULL;
    c.lockstep = support_program(clean);
    c.lockstep_semantics = &semantics_threads;
    expect_divergence(&c, "C.3", "status");
    c.lockstep = c.program;
    struct answer answer = pairs_guided(&test_arena, &c, ORACLE_RACE, SUBJECT_THREADS);
    expect_verdict(&answer, VERDICT_AGREE);
    assert_int_equal(answer.checked, 2);
}

/* That draws these two of so many threads. */
static uint64_t seed_of_pair(uint32_t threads, uint32_t s, uint32_t t)
{
    const char *text = arena_printf(&test_arena, "launch(threads = %u); kernel k() { }", threads);
    const char *pair = arena_printf(&test_arena, "(%u, %u)", s, t);
    for (uint64_t seed = 0;; seed++) {
        struct pairs_case c = case_of(support_program(text), SCHED_SEQUENTIAL, seed);
        struct answer answer = pairs_guided(&test_arena, &c, ORACLE_RACE, SUBJECT_THREADS);
        if (strstr(answer.reason, pair))
            return seed;
    }
}

/* The same faults where P is clean: the pair, or another program than P's, is not. */
static void test_planted_faults_clean(void **state)
{
    (void)state;
    struct semantics faulty = semantics_threads;
    faulty.init = faulty_init;
    const char *clean = "shared int x[8]; kernel k() { x[tid] = tid; }";
    const char *racy = "shared int x[8]; kernel k() { x[0] = tid; }";
    struct pairs_case c = case_of(
        support_program("shared int x[8]; kernel k() { x[tid & 3] = 1; }"), SCHED_ROUND_ROBIN, 1);
    c.semantics = &faulty;
    c.core = NULL;
    c.seed = seed_of_pair(4, 0, 2);
    expect_divergence(&c, "C.2", "race");
    c.program = support_program("private int y; kernel k() { y = tid; }");
    expect_divergence(&c, "C.2", "private memory");
    c.program = support_program("kernel k() { while (tid > 3) ; }");
    expect_divergence(&c, "C.2", "rule");

    c = case_of(support_program(clean), SCHED_ROUND_ROBIN, 1);
    c.core = support_program(racy);
    expect_divergence(&c, "tutorial", "race");
    c.core = NULL;
    c.lockstep = support_program(racy);
    c.lockstep_semantics = &semantics_threads;
    expect_divergence(&c, "C.3", "race");
}

/* The translation of `text` beside the second account of `other`: what is said of the pair (0, 1). */
static const char *account_of(const char *text, const char *other, struct tutorial_result *results)
{
    struct program *core = support_program(text);
    core->core = support_program(other)->core;
    const struct pairs_account account = {.core = core, .s = 0, .t = 1, .budget_steps = 20000};
    return pairs_account(&test_arena, &account, results);
}

/* A translation that runs another kernel is told; what it finds of its own is not. */
static void test_account(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "private int x; kernel k() { x = 1; barrier(); x = tid; }",
        "private int x; kernel k() { x = 1; barrier(); x = 7; }",
        "private int x; kernel k() { x = 1; barrier(); x = tid; barrier(); }",
        "private int x, i; kernel k() { while (i < 2) { if (tid == i) barrier(); i++; } x = 1; }",
        "shared int y; private int x; kernel k() { if (tid) y = 1; else x = y; barrier(); }",
        "shared int y; private int x; kernel k() { x = y; barrier(); y = tid; }",
        "private int x; kernel k() { barrier(); assert(tid); }",
        "shared int y[2]; private int x; kernel k() { barrier(); y[tid * 2] = 1; }",
    };
    static const enum tutorial_verdict last[] = {
        TUTORIAL_CLEAN, TUTORIAL_CLEAN, TUTORIAL_CLEAN,  TUTORIAL_DIVERGENCE,
        TUTORIAL_RACE,  TUTORIAL_RACE,  TUTORIAL_ASSERT, TUTORIAL_BOUNDS};
    struct tutorial_result results[PAIRS_RUNS];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            const char *difference = account_of(texts[i], texts[k], results);
            if (i == k && difference)
                print_error("%s: %s\n", texts[i], difference);
            assert_int_equal(results[2].verdict, last[i]);
            assert_true(i == k                        ? difference == NULL
                        : i < 3 || last[i] != last[k] ? difference != NULL
                                                      : true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_not_applicable, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_defects, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_clean, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random_structured, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random_blocks, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_faults_clean, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_account, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
