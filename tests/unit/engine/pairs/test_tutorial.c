/* The tutorial's translation: its example kernels with all pairs, and what its modes owe each other. */
#include "tests/unit/shared/block_forms.h"
#include "tests/unit/shared/pair_kernels.h"
#include "tests/unit/shared/support.h"

#include "engine/machine/choice.h"
#include "engine/machine/rules.h"
#include "engine/pairs/tutorial.h"
#include "oracle/race/race.h"

/* ---- all ordered pairs of a kernel ---- */

enum { THREADS_MAX = 16, SEEDS = 20 };

struct pairs {
    uint32_t threads;
    struct tutorial_result results[THREADS_MAX][THREADS_MAX];
};

static const struct tutorial_options FULL = {.shared = TUTORIAL_BAR, .budget_steps = 10000};

static struct pairs run_pairs(const struct program *program, const struct tutorial_options *options)
{
    struct pairs pairs = {.threads = program->launch.threads};
    const char *reason = "";
    if (!tutorial_applies(&test_arena, program, &reason))
        fail_msg("does not apply: %s", reason);
    for (uint32_t s = 0; s < pairs.threads; s++)
        for (uint32_t t = 0; t < pairs.threads; t++)
            if (s != t)
                pairs.results[s][t] = tutorial_run(&test_arena, program, s, t, options, NULL);
    return pairs;
}

/* "01 12 23": the ordered pairs that end so. */
static const char *pairs_with(const struct pairs *pairs, enum tutorial_verdict verdict)
{
    char *text = arena_printf(&test_arena, "%s", "");
    for (uint32_t s = 0; s < pairs->threads; s++)
        for (uint32_t t = 0; t < pairs->threads; t++)
            if (s != t && pairs->results[s][t].verdict == verdict)
                text = arena_printf(&test_arena, "%s%s%x%x", text, *text ? " " : "", s, t);
    return text;
}

static const char *pairs_of(const char *text, enum tutorial_shared shared,
                            enum tutorial_verdict verdict)
{
    struct tutorial_options options = FULL;
    options.shared = shared;
    struct pairs pairs = run_pairs(support_program(text), &options);
    return pairs_with(&pairs, verdict);
}

/* Each pair is clean, or ends with the verdict. */
static void expect_pairs(const char *text, enum tutorial_verdict verdict, const char *expected)
{
    for (uint32_t shared = TUTORIAL_KEEP; shared <= TUTORIAL_BAR; shared++) {
        struct tutorial_options options = FULL;
        options.shared = (enum tutorial_shared)shared;
        struct pairs pairs = run_pairs(support_program(text), &options);
        assert_string_equal(pairs_with(&pairs, verdict), expected);
        for (uint32_t v = TUTORIAL_CLEAN + 1; v < TUTORIAL_VERDICT_COUNT; v++)
            if (v != verdict)
                assert_string_equal(pairs_with(&pairs, (enum tutorial_verdict)v), "");
    }
}

/* ---- section 5 ---- */

static const char *add_nbor(int offset)
{
    return arena_printf(
        &test_arena,
        "shared int A[32]; kernel k() { A[tid + 8] = A[tid + 8] + A[tid + 8 + (%d)]; }", offset);
}

static void test_k1_add_nbor(void **state)
{
    (void)state;
    expect_pairs(add_nbor(1), TUTORIAL_RACE, "01 12 23");
    expect_pairs(add_nbor(2), TUTORIAL_RACE, "02 13");
    for (int offset = -8; offset <= 8; offset++) {
        bool race = *pairs_of(add_nbor(offset), TUTORIAL_BAR, TUTORIAL_RACE) != '\0';
        assert_int_equal(race, offset != 0 && offset >= -3 && offset <= 3);
    }
}

static void test_k2_add_nbor_barrier(void **state)
{
    (void)state;
    for (int offset = -8; offset <= 8; offset++)
        expect_pairs(arena_printf(&test_arena,
                                  "shared int A[32]; kernel k() { private int tmp; tmp = A[tid + 8 "
                                  "+ (%d)]; barrier(); A[tid + 8] = A[tid + 8] + tmp; }",
                                  offset),
                     TUTORIAL_RACE, "");
}

static void test_k3_diverge1(void **state)
{
    (void)state;
    expect_pairs("kernel k() { if (tid == 0) barrier(); else barrier(); }", TUTORIAL_DIVERGENCE,
                 "01 02 03 10 20 30");
    const char *reason = NULL;
    const struct program *one = support_program(
        "launch(threads = 1); kernel k() { if (tid == 0) barrier(); else barrier(); }");
    assert_false(tutorial_applies(&test_arena, one, &reason));
    assert_string_equal(reason, "a block has no two threads");
}

static void test_k4_diverge2(void **state)
{
    (void)state;
    expect_pairs("kernel k() { private int x, y, i, j; x = tid == 0 ? 4 : 1; y = tid == 0 ? 1 : 4;"
                 "  for (i = 0; i < x; i++) for (j = 0; j < y; j++) barrier(); }",
                 TUTORIAL_DIVERGENCE, "01 02 03 10 20 30");
}

static const char *stride(int size)
{
    return arena_printf(&test_arena,
                        "shared int A[13]; kernel k() { private int i;"
                        "  for (i = tid; i < 13; i += %d) A[i] = 7; }",
                        size);
}

static void test_k5_stride(void **state)
{
    (void)state;
    expect_pairs(stride(3), TUTORIAL_RACE, "30");
    for (int size = 4; size < 8; size++)
        expect_pairs(stride(size), TUTORIAL_RACE, "");
    for (int size = 1; size < 4; size++)
        assert_true(*pairs_of(stride(size), TUTORIAL_BAR, TUTORIAL_RACE));
}

static void test_k6_slice(void **state)
{
    (void)state;
    for (int m = 0; m < 5; m++)
        expect_pairs(arena_printf(&test_arena,
                                  "shared int A[16]; kernel k() { private int i;"
                                  "  for (i = 0; i < %d; i++) A[tid * %d + i] = 7; }",
                                  m, m),
                     TUTORIAL_RACE, "");
}

static void test_k7_scan(void **state)
{
    (void)state;
    expect_pairs("shared int sum[4] = {1, 2, 3, 4}; kernel k() { private int offset, temp;"
                 "  for (offset = 1; offset < threads; offset *= 2) {"
                 "    if (tid >= offset) temp = sum[tid - offset]; barrier();"
                 "    if (tid >= offset) sum[tid] = sum[tid] + temp; barrier(); } }",
                 TUTORIAL_RACE, "");
}

static void test_k8_scan_divergent(void **state)
{
    (void)state;
    expect_pairs("shared int sum[4] = {1, 2, 3, 4}; kernel k() { private int offset = 1, temp;"
                 "  while (offset <= tid) { temp = sum[tid - offset]; barrier();"
                 "    sum[tid] = sum[tid] + temp; barrier(); offset *= 2; } }",
                 TUTORIAL_DIVERGENCE, "01 02 03 10 12 13 20 21 30 31");
}

/* How many of some seeds make the pair (0, 1) race in one of its orders. */
static uint32_t races_01(const char *text, enum tutorial_shared shared)
{
    const struct program *program = support_program(text);
    uint32_t races = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct tutorial_options options = FULL;
        options.shared = shared;
        options.seed = seed;
        bool race = false;
        for (uint32_t s = 0; s < 2; s++) {
            struct tutorial_result r = tutorial_run(&test_arena, program, s, 1 - s, &options, NULL);
            race |= r.verdict == TUTORIAL_RACE;
        }
        races += race;
    }
    return races;
}

/* ORA.TT.keep: the store of a pair that ran alone misses what the third thread did. */
static void test_k9_third_thread(void **state)
{
    (void)state;
    const char *text = "shared int F[1], A[1]; kernel k() { private int f; if (tid == 2) F[0] = 1;"
                       "  barrier(); f = F[0]; barrier(); if (f && tid < 2) A[0] = tid; }";
    assert_int_equal(races_01(text, TUTORIAL_KEEP), 0);
    assert_int_not_equal(races_01(text, TUTORIAL_BAR), 0);
    assert_int_not_equal(races_01(text, TUTORIAL_ADV), 0);
}

static void test_k10_indirect(void **state)
{
    (void)state;
    const char *text = "shared int I[4] = {0, 1, 2, 3}, A[4]; kernel k() { private int k;"
                       "  k = I[tid]; A[k] = tid; }";
    const char *behind = "shared int I[4] = {0, 1, 2, 3}, A[4]; kernel k() { private int k;"
                         "  barrier(); k = I[tid]; A[k] = tid; }";
    assert_int_equal(races_01(text, TUTORIAL_KEEP), 0);
    assert_int_equal(races_01(text, TUTORIAL_BAR), 0);
    assert_int_not_equal(races_01(text, TUTORIAL_ADV), 0);
    assert_int_equal(races_01(behind, TUTORIAL_KEEP), 0);
    assert_int_not_equal(races_01(behind, TUTORIAL_BAR), 0); /* CK13: a false alarm */
}

/* Section 4: the instrumented `foo`. */
static void test_foo(void **state)
{
    (void)state;
    for (int idx = -6; idx <= 6; idx++) {
        const struct program *program = support_program(
            arena_printf(&test_arena,
                         "shared int A[32]; kernel k() { private int x, y; x = A[tid + 8 + (%d)];\n"
                         "y = A[tid + 8];\nA[tid + 8] = x + y; }",
                         idx));
        struct pairs pairs = run_pairs(program, &FULL);
        for (uint32_t s = 0; s < 4; s++)
            for (uint32_t t = 0; t < 4; t++) {
                const struct tutorial_result *r = &pairs.results[s][t];
                bool race = s != t && (int)t == (int)s + idx;
                if (s == t)
                    continue;
                assert_int_equal(r->verdict, race ? TUTORIAL_RACE : TUTORIAL_CLEAN);
                if (!race)
                    continue;
                /* the write check against the read logged at tid$1 + idx$1 */
                assert_true(r->second_write && !r->first_write);
                assert_int_equal(program->stms[r->first_stm].line, 1);
                assert_int_equal(program->stms[r->second_stm].line, 3);
                assert_int_equal(r->address, support_address(program, "A") + t + 8);
            }
    }
}

/* ---- lazy, bounds, assertions, what does not apply ---- */

static void test_lazy(void **state)
{
    (void)state;
    expect_pairs("shared int A[4]; kernel k() { private int x; if (tid < 4) x = A[tid]; else x = "
                 "A[99]; x = tid < 4 || A[99]; }",
                 TUTORIAL_BOUNDS, "");
    expect_pairs("shared int A[4]; kernel k() { private int x; if (tid == 2) x = A[99]; }",
                 TUTORIAL_BOUNDS, "02 12 20 21 23 32");
    expect_pairs("kernel k() { if (tid < 2) assert(tid != 1); }", TUTORIAL_ASSERT,
                 "01 10 12 13 21 31");
    expect_pairs("kernel k() { while (tid == 0) ; }", TUTORIAL_BUDGET, "01 02 03 10 20 30");
    /* an operand that is not evaluated is neither logged nor checked */
    expect_pairs("shared int x; kernel k() { private int y; if (tid == 0) x = 1;"
                 "  y = tid != 0 || x; }",
                 TUTORIAL_RACE, "");
}

/* TT.havoc: each thread that takes part draws, and nobody else. */
static void test_havoc(void **state)
{
    (void)state;
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        int32_t drawn[4];
        for (uint32_t t = 0; t < 4; t++)
            drawn[t] = choice_value(5, t, 0) ^ (wrong == t);
        const char *text =
            arena_printf(&test_arena,
                         "launch(threads = 4, seed = 5); kernel k() { private int v;"
                         " if (tid %% 2) havoc(v); else v = %d; if (tid == 2) havoc(v);"
                         " assert(v == (tid == 1 ? %d : tid == 2 ? %d : tid == 3 ? %d : v)); }",
                         drawn[0], drawn[1], drawn[2], drawn[3]);
        static const char *const pairs[] = {"", "01 10 12 13 21 31", "02 12 20 21 23 32",
                                            "03 13 23 30 31 32"};
        expect_pairs(text, TUTORIAL_ASSERT, pairs[wrong]);
    }
}

static void test_applies(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"kernel k() {\n while (1) {\n break; } }", "break at line 3"},
        {"void f() { ; }\nkernel k() {\n f(); }", "call at line 3"},
        {"kernel k() { exit; }", "exit at line 1"},
        {"shared int x; kernel k() {\n atomic_add(x, 1); }", "atomic at line 2"},
        {"kernel k() { assume(tid); }", "assume at line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *reason = "";
        assert_false(tutorial_applies(&test_arena, support_program(cases[i].text), &reason));
        assert_string_equal(reason, cases[i].reason);
    }
}

/* ---- section 7, on random kernels ---- */

enum { ROUNDS = 1500 };

typedef void property(const struct program *program, uint64_t number, uint32_t s, uint32_t t);

static void for_random_kernels(property *holds)
{
    for (uint64_t number = 0; number < ROUNDS; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = pair_kernel(number, "", true);
        const struct program *program = support_program(text);
        uint32_t s = (uint32_t)(number % 4), t = (s + 1 + (uint32_t)(number / 4 % 3)) % 4;
        holds(program, number, s, t);
        arena_release(&test_arena, mark);
    }
}

static uint32_t seen[2]; /* how often a property's two outcomes came up */

static bool is(const struct tutorial_result *r, enum tutorial_verdict verdict)
{
    return r->verdict == verdict;
}

static struct tutorial_options options_of(uint64_t number)
{
    struct tutorial_options options = FULL;
    options.shared = (enum tutorial_shared)(number % 3);
    options.seed = number;
    return options;
}

/* ORA.TT.log: what a coin or the reservoir finds, the full log finds. */
static void full_log_finds_more(const struct program *program, uint64_t number, uint32_t s,
                                uint32_t t)
{
    struct tutorial_options options = options_of(number);
    options.order = number / 3 % 2 ? TUTORIAL_ROUND_ROBIN : TUTORIAL_SEQUENTIAL;
    struct tutorial_result full = tutorial_run(&test_arena, program, s, t, &options, NULL);
    for (uint32_t log = TUTORIAL_COIN; log <= TUTORIAL_RESERVOIR; log++) {
        options.log = (enum tutorial_log)log;
        struct tutorial_result some = tutorial_run(&test_arena, program, s, t, &options, NULL);
        if (is(&some, TUTORIAL_RACE))
            assert_true(is(&full, TUTORIAL_RACE));
        seen[is(&some, TUTORIAL_RACE)] += is(&full, TUTORIAL_RACE);
    }
}

static void test_log(void **state)
{
    (void)state;
    seen[0] = seen[1] = 0;
    for_random_kernels(full_log_finds_more);
    assert_true(seen[0] > 50 && seen[1] > 50);
}

/* ORA.TT.sym: round robin over both orders is clean exactly when the sequential order is. */
static void both_orders_are_one_sequence(const struct program *program, uint64_t number, uint32_t s,
                                         uint32_t t)
{
    struct tutorial_options options = options_of(number);
    struct tutorial_result st = tutorial_run(&test_arena, program, s, t, &options, NULL);
    struct tutorial_result ts = tutorial_run(&test_arena, program, t, s, &options, NULL);
    options.order = TUTORIAL_SEQUENTIAL;
    struct tutorial_result seq = tutorial_run(&test_arena, program, s, t, &options, NULL);
    if (is(&st, TUTORIAL_BUDGET) || is(&ts, TUTORIAL_BUDGET) || is(&seq, TUTORIAL_BUDGET))
        return;
    bool clean = is(&st, TUTORIAL_CLEAN) && is(&ts, TUTORIAL_CLEAN);
    if (clean != is(&seq, TUTORIAL_CLEAN))
        fail_msg("%s: %u, %u: %s, %s, %s", pair_kernel(number, "", true), s, t,
                 tutorial_verdict_names[st.verdict], tutorial_verdict_names[ts.verdict],
                 tutorial_verdict_names[seq.verdict]);
    seen[clean]++;
}

static void test_sym(void **state)
{
    (void)state;
    seen[0] = seen[1] = 0;
    for_random_kernels(both_orders_are_one_sequence);
    assert_true(seen[0] > 100 && seen[1] > 100);
}

/* ORA.TT.div: a barrier divides (s, t) as it divides (t, s), unless a race, which one order sees
 * later or never, comes first. */
static void divergence_is_symmetric(const struct program *program, uint64_t number, uint32_t s,
                                    uint32_t t)
{
    struct tutorial_options options = options_of(number);
    struct tutorial_result st = tutorial_run(&test_arena, program, s, t, &options, NULL);
    struct tutorial_result ts = tutorial_run(&test_arena, program, t, s, &options, NULL);
    if (is(&st, TUTORIAL_RACE) || is(&ts, TUTORIAL_RACE))
        return;
    assert_int_equal(st.verdict, ts.verdict);
    seen[is(&st, TUTORIAL_DIVERGENCE)]++;
    if (!is(&st, TUTORIAL_DIVERGENCE))
        return;
    assert_int_equal(st.first_stm, ts.second_stm);
    assert_int_equal(st.second_stm, ts.first_stm);
}

static void test_div(void **state)
{
    (void)state;
    seen[0] = seen[1] = 0;
    for_random_kernels(divergence_is_symmetric);
    assert_true(seen[0] > 100 && seen[1] > 100);
}

/* ---- the other detector ---- */

/* Whether an execution of all threads races; false in *ends: it proves nothing. */
static bool detector_finds(const struct program *program, uint64_t seed, bool *ends)
{
    struct machine *machine = support_machine(program, SUBJECT_THREADS);
    struct race_detector *detector = race_new(&test_arena, program);
    struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = seed};
    struct scheduler scheduler;
    race_begin(detector);
    machine_observe(machine, &detector->observer);
    sched_start(&scheduler, &spec, machine, &test_arena);
    *ends = machine_run(machine, &scheduler.choices, 10000, NULL) == STATUS_TERMINATED;
    return detector->found;
}

/* Without a barrier nothing is havocked: the kernel races exactly when a pair of its threads does,
 * run alone. (One execution that ends and has no race stands for all: docs/oracles.md.) */
static void detectors_agree(const char *launch)
{
    seen[0] = seen[1] = 0;
    for (uint64_t number = 0; number < ROUNDS; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = pair_kernel(number, launch, false);
        const struct program *program = support_program(text);
        bool ends, found = detector_finds(program, number, &ends), race = false;
        for (uint32_t shared = TUTORIAL_KEEP; shared <= TUTORIAL_BAR; shared++)
            for (uint32_t order = TUTORIAL_ROUND_ROBIN; order <= TUTORIAL_SEQUENTIAL; order++) {
                struct tutorial_options options = {.shared = (enum tutorial_shared)shared,
                                                   .order = (enum tutorial_order)order,
                                                   .budget_steps = 10000};
                struct pairs pairs = run_pairs(program, &options);
                race = *pairs_with(&pairs, TUTORIAL_RACE);
                if (ends && race != found)
                    fail_msg("%s: detector %d, pairs %d", text, found, race);
            }
        seen[found] += ends;
        arena_release(&test_arena, mark);
    }
    assert_true(seen[0] > 100 && seen[1] > 100);
}

static void test_detectors_agree(void **state)
{
    (void)state;
    detectors_agree("launch(threads = 2); ");
    detectors_agree("launch(threads = 4); ");
}

/* ---- ORA.TT.phi: the translation against phi(P_{s,t}), with the same havocs at barriers ---- */

enum { STORES = 64 };

struct stores {
    const int32_t *list[STORES];
    uint32_t next;
};

static void draw_stores(struct stores *stores, const struct program *program, uint64_t seed)
{
    struct pcg rng;
    pcg_seed(&rng, pcg_splitmix(seed), 5);
    stores->next = 0;
    for (uint32_t i = 0; i < STORES; i++) {
        int32_t *store = ARENA_ARRAY(&test_arena, int32_t, program->private_base);
        for (uint32_t k = 0; k < program->private_base; k++)
            store[k] = (int32_t)pcg_below(&rng, 4);
        stores->list[i] = store;
    }
}

static void havoc_stores(void *context, struct machine *machine, uint32_t block)
{
    struct stores *stores = context;
    (void)block;
    const int32_t *store = stores->list[stores->next++ % STORES];
    for (uint32_t i = 0; i < machine->program->private_base; i++)
        machine_poke(machine, i, store[i]);
}

/* Whether phi(P_{s,t}) is clean; false in *ends: its budget was spent, or too many barriers passed. */
static bool lockstep_is_clean(const struct program *phi, uint32_t s, uint32_t t,
                              struct stores *stores, bool *ends)
{
    const struct barrier_havoc havoc = {havoc_stores, stores};
    const struct machine_options options = {
        .pair_count = 2, .pair = {s < t ? s : t, s < t ? t : s}, .barrier_havoc = &havoc};
    struct machine *machine = machine_new(&test_arena, &semantics_lockstep, phi, &options);
    struct race_detector *detector = race_new(&test_arena, phi);
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    race_begin(detector);
    machine_observe(machine, &detector->observer);
    sched_start(&scheduler, &spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, 100000, NULL);
    *ends = status != STATUS_STEP_LIMIT && stores->next <= STORES;
    return status == STATUS_TERMINATED && !detector->found;
}

static void translation_is_lockstep(const struct program *core, uint64_t number, uint32_t s,
                                    uint32_t t)
{
    struct stores stores;
    struct tutorial_options options = FULL;
    bool ends;
    draw_stores(&stores, core, number);
    options.stores = stores.list;
    options.store_count = STORES;
    struct tutorial_result st = tutorial_run(&test_arena, core, s, t, &options, NULL);
    struct tutorial_result ts = tutorial_run(&test_arena, core, t, s, &options, NULL);
    struct block_forms forms = block_forms(core, number);
    bool clean = lockstep_is_clean(forms.lockstep, s, t, &stores, &ends);
    if (!ends || is(&st, TUTORIAL_BUDGET) || is(&ts, TUTORIAL_BUDGET))
        return;
    if (clean != (is(&st, TUTORIAL_CLEAN) && is(&ts, TUTORIAL_CLEAN)))
        fail_msg("%s: %u, %u: lock-step %s, %s, %s", pair_kernel(number, "", true), s, t,
                 clean ? "clean" : "not", tutorial_verdict_names[st.verdict],
                 tutorial_verdict_names[ts.verdict]);
    seen[clean]++;
}

static void test_phi(void **state)
{
    (void)state;
    seen[0] = seen[1] = 0;
    for_random_kernels(translation_is_lockstep);
    assert_true(seen[0] > 100 && seen[1] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_k1_add_nbor, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k2_add_nbor_barrier, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k3_diverge1, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k4_diverge2, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k5_stride, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k6_slice, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k7_scan, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k8_scan_divergent, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k9_third_thread, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_k10_indirect, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_foo, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_lazy, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_havoc, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_applies, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_log, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sym, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_div, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_detectors_agree, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_phi, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
