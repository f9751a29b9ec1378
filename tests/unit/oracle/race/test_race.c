/* The race detector against the definition, and against faults planted into it. */
#include "tests/unit/shared/block_forms.h"
#include "tests/unit/shared/pair_kernels.h"
#include "tests/unit/shared/support.h"

#include "oracle/race/race.h"

struct observed {
    const struct program *program;
    struct race_detector *detector;
    struct race_log *log;
    struct race_log_result expected;
    enum status status;
};

static struct observed observe(const struct program *program, const struct semantics *semantics,
                               const struct machine_options *options, enum sched_kind kind,
                               uint64_t seed)
{
    struct observed o = {.program = program};
    struct machine *machine = machine_new(&test_arena, semantics, program, options);
    o.detector = race_new(&test_arena, o.program);
    o.log = race_log_new(&test_arena, o.program, 4096);
    o.detector->observer.next = &o.log->observer;
    machine_observe(machine, &o.detector->observer);
    race_begin(o.detector);
    race_watch(o.detector, machine);
    race_log_begin(o.log);
    struct sched_spec spec = {.kind = kind, .seed = seed, .quantum = 1};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    o.status = machine_run(machine, &scheduler.choices, 10000, NULL);
    o.expected = race_log_search(o.log);
    return o;
}

static struct observed run(const char *text, enum subject_id subject, enum sched_kind kind,
                           uint64_t seed)
{
    return observe(support_program(text), subject_table[subject].vtable,
                   &subject_table[subject].options, kind, seed);
}

static void expect_agreement(const struct observed *o)
{
    const char *what = "";
    bool agrees = race_log_agrees(o->log, &o->expected, o->detector, &what);
    assert_true(o->expected.complete);
    if (!agrees)
        print_error("%s\n", what);
    assert_true(agrees);
}

static const struct {
    const char *text;
    bool race;
} verdicts[] = {
    {"shared int x; kernel k() { x = x + 1; }", true},
    {"shared int x; kernel k() { private int y; y = x; }", false},
    {"shared int x[4]; kernel k() { x[tid] = tid; }", false},
    {"shared int x[4]; kernel k() { x[tid] = x[(tid + 1) % 4]; }", true},
    {"shared int x[4]; kernel k() { x[tid / 2] = 1; }", true}, /* equal values race as well */
    {"shared int x; kernel k() { if (tid == 0) x = 1; }", false},
    {"shared int x; private int y; kernel k() { if (tid == 0) x = 1; if (tid == 3) y = x; }", true},
    {"private int x; kernel k() { x = tid; }", false},
    {"launch(threads = 2, blocks = 2); shared int x; kernel k() { if (tid == 0) x = bid; }", false},
    {"launch(threads = 2, blocks = 2); global int x; kernel k() { if (tid == 0) x = bid; }", true},
    /* an operand that is not evaluated is not read */
    {"shared int x; kernel k() { private int y; if (tid == 0) x = 1; y = tid != 0 || x; }", false},
    {"shared int x; kernel k() { private int y; if (tid == 0) x = 1; y = tid == 0 || x; }", true},
    /* the reader that is asked for may be any of several */
    {"shared int x; kernel k() { private int y; y = x; y = x; if (tid == 0) x = 1; }", true},
};

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        for (uint32_t subject = 0; subject <= SUBJECT_SIMT_THEN; subject++)
            for (uint32_t kind = SCHED_SEQUENTIAL; kind <= SCHED_UNIFORM; kind++) {
                struct observed o =
                    run(verdicts[i].text, (enum subject_id)subject, (enum sched_kind)kind, i);
                assert_int_equal(o.status, STATUS_TERMINATED);
                if (o.detector->found != verdicts[i].race)
                    print_error("%s under %s\n", verdicts[i].text, subject_table[subject].name);
                assert_int_equal(o.detector->found, verdicts[i].race);
                expect_agreement(&o);
            }
}

static void test_witness(void **state)
{
    (void)state;
    struct observed o = run("shared int y, x[4];\n"
                            "kernel k() {\n"
                            "  if (tid == 0)\n"
                            "    x[2] = 1;\n"
                            "  if (tid == 1)\n"
                            "    y = x[2];\n"
                            "}",
                            SUBJECT_THREADS, SCHED_SEQUENTIAL, 0);
    const struct race_witness *w = &o.detector->witness;
    assert_true(o.detector->found);
    assert_string_equal(program_location_name(&test_arena, o.program, w->address), "x[2]");
    assert_int_equal(w->first.thread, 0);
    assert_int_equal(o.program->stms[w->first.stm].line, 4);
    assert_int_equal(w->first.kind, ACCESS_WRITE);
    assert_int_equal(w->second.thread, 1);
    assert_int_equal(o.program->stms[w->second.stm].line, 6);
    assert_int_equal(w->second.kind, ACCESS_READ);
    assert_true(o.detector->racy_stms[w->first.stm] && o.detector->racy_stms[w->second.stm]);
    assert_false(o.detector->racy_vars[0]);
    assert_true(o.detector->racy_vars[1]);
}

/* A witness of which one part is not the log's is no witness. */
static void test_wrong_witness(void **state)
{
    (void)state;
    struct observed o = run("shared int x; kernel k() { if (tid != 2) x = 1; }", SUBJECT_THREADS,
                            SCHED_SEQUENTIAL, 0);
    struct race_witness *w = &o.detector->witness, right = *w;
    const char *what = "";
    expect_agreement(&o);
    w->first.thread = 2;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    assert_string_equal(what, "witness");
    *w = right;
    w->first.kind = ACCESS_READ;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    *w = right;
    w->second.stm++;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    *w = right;
    w->same_value = !w->same_value;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    *w = right;
    expect_agreement(&o);
}

/* An epoch separates executions: what one did does not race with the next. */
static void test_epochs(void **state)
{
    (void)state;
    struct program *program = support_program("shared int x; kernel k() { x = 1; }");
    struct race_detector *d = race_new(&test_arena, program);
    for (uint32_t thread = 0; thread < 4; thread++) {
        race_begin(d);
        d->observer.write(d, thread, 0, 1, 0);
        assert_false(d->found);
    }
    d->observer.write(d, 1, 0, 1, 0);
    assert_true(d->found);
    race_begin(d);
    assert_false(d->found);
}

/* ---- random events, not even an execution: detector and definition find the same ---- */

struct stream {
    struct pcg rng;
    struct race_detector *detector;
    struct race_log *log;
    uint64_t steps;
    uint32_t threads, locations;
};

/* What both are shown. */
static void show_access(struct stream *s)
{
    const struct program *program = s->log->program;
    uint32_t thread = pcg_below(&s->rng, s->threads), stm = pcg_below(&s->rng, program->stm_count);
    uint32_t address = pcg_below(&s->rng, 1 + pcg_below(&s->rng, s->locations));
    uint32_t roll = pcg_below(&s->rng, 8);
    int32_t value = (int32_t)pcg_below(&s->rng, 2);
    /* shared memory is a block's own */
    if (address >= program->shared_base)
        address = program->shared_base + thread / program->launch.threads;
    const struct observer *both[] = {&s->detector->observer, &s->log->observer};
    for (uint32_t k = 0; k < 2; k++)
        if (roll < 2)
            both[k]->write(both[k]->context, thread, address, value, stm);
        else if (roll < 4)
            both[k]->atomic(both[k]->context, thread, address, value, stm);
        else
            both[k]->read(both[k]->context, thread, address, stm);
}

static void show_other(struct stream *s)
{
    const struct observer *both[] = {&s->detector->observer, &s->log->observer};
    struct step_event step = {.stm = CODE_NONE};
    struct barrier_event barrier = {.block = pcg_below(&s->rng, s->log->program->launch.blocks),
                                    .all = pcg_below(&s->rng, 4) != 0};
    bool is_step = pcg_below(&s->rng, 2) == 0;
    s->steps += is_step;
    for (uint32_t k = 0; k < 2; k++)
        if (!is_step)
            both[k]->barrier(both[k]->context, NULL, &barrier);
        else if (both[k]->step)
            both[k]->step(both[k]->context, NULL, &step);
}

static void show_stream(struct stream *s)
{
    const struct program *program = s->log->program;
    race_begin(s->detector);
    race_log_begin(s->log);
    s->threads = 1 + pcg_below(&s->rng, program->total_threads);
    s->locations = 1 + pcg_below(&s->rng, program->shared_base + 1);
    uint32_t count = pcg_below(&s->rng, 32), others = pcg_below(&s->rng, 4);
    for (uint32_t i = 0; i < count; i++)
        if (pcg_below(&s->rng, 8) < others)
            show_other(s);
        else
            show_access(s);
}

static void random_streams(const char *launch, bool benign_same_value)
{
    struct program *program = support_program(arena_printf(
        &test_arena, "%s global int x[6]; shared int y; kernel k() { x[tid] = 1; ; ; }", launch));
    struct stream s = {.detector = race_new(&test_arena, program),
                       .log = race_log_new(&test_arena, program, 64)};
    uint32_t racy = 0, benign = 0;
    pcg_seed(&s.rng, 3, program->total_threads + benign_same_value);
    s.detector->steps = &s.steps;
    s.detector->benign_same_value = s.log->benign_same_value = benign_same_value;
    for (uint32_t round = 0; round < 20000; round++) {
        show_stream(&s);
        const char *what = "";
        struct race_log_result expected = race_log_search(s.log);
        racy += expected.found;
        benign += expected.found && s.detector->witness.same_value;
        assert_true(expected.complete);
        if (!race_log_agrees(s.log, &expected, s.detector, &what))
            fail_msg("%s in round %u: %s", launch, round, what);
    }
    assert_true(racy > 2000 && racy < 18000);
    assert_int_equal(benign == 0, benign_same_value);
}

static void test_random_streams(void **state)
{
    (void)state;
    static const char *const launches[] = {
        "launch(threads = 4, blocks = 1);", "launch(threads = 2, blocks = 2);",
        "launch(threads = 1, blocks = 4);", "launch(threads = 3, blocks = 3);"};
    for (uint32_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        random_streams(launches[i], false);
        random_streams(launches[i], true);
    }
}

/* Epochs that run out start again, and nothing of before is seen. */
static void test_epochs_renewed(void **state)
{
    (void)state;
    struct program *program = support_program("shared int x; kernel k() { x = 1; }");
    struct race_detector *d = race_new(&test_arena, program);
    race_begin(d);
    d->observer.write(d, 0, 0, 1, 0);
    d->epoch = UINT32_MAX / 2;
    race_begin(d);
    assert_true(d->epoch < 4);
    d->observer.write(d, 1, 0, 1, 0);
    assert_false(d->found);
    d->observer.read(d, 0, 0, 0);
    assert_true(d->found);
}

/* Faults of a detector, each of which the comparison with the log must name. */
static void test_planted_faults(void **state)
{
    (void)state;
    struct observed o = run("shared int x[4], y; kernel k() { x[tid / 2] = tid; y = x[0]; }",
                            SUBJECT_THREADS, SCHED_UNIFORM, 1);
    const char *what = "";
    struct race_detector good = *o.detector;
    expect_agreement(&o);
    o.detector->found = false;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    assert_string_equal(what, "verdict");
    *o.detector = good;
    o.detector->racy_locations--;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    assert_string_equal(what, "locations");
    *o.detector = good;
    o.detector->witness.first.thread = o.detector->witness.second.thread;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    assert_string_equal(what, "witness");
    *o.detector = good;
    o.detector->witness.second.kind = ACCESS_ATOMIC;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    assert_string_equal(what, "witness");
}

static void test_log_overflow(void **state)
{
    (void)state;
    struct program *program = support_program("shared int x; kernel k() { x = 1; }");
    struct race_log *log = race_log_new(&test_arena, program, 2);
    for (uint32_t i = 0; i < 3; i++)
        log->observer.write(log, i, 0, 0, 0);
    assert_false(race_log_search(log).complete);
    race_log_begin(log);
    assert_true(race_log_search(log).complete);
    assert_false(race_log_search(log).found);
}

/* ---- every machine ---- */

enum { MACHINES = 4 };

/* One execution of each of `threads`, `simt`, `interleave` and `lockstep`. */
static void observe_all(const char *text, enum sched_kind kind, uint64_t seed,
                        struct observed o[MACHINES])
{
    static const struct machine_options plain = {0};
    const struct program *core = support_program(text);
    struct block_forms forms = block_forms(core, seed);
    o[0] = observe(core, &semantics_threads, &plain, kind, seed);
    o[1] = observe(core, &semantics_simt, &plain, kind, seed);
    o[2] = observe(forms.blocks, &semantics_interleave, &plain, kind, seed);
    o[3] = observe(forms.lockstep, &semantics_lockstep, &plain, kind, seed);
}

/* Detector and definition agree in each; and so do the verdicts of those that end, as they must:
 * one execution that ends without a race stands for all (ORA.inv, ORA.52). */
static void test_random_kernels(void **state)
{
    (void)state;
    static const char *const launches[] = {"launch(threads = 4); ",
                                           "launch(threads = 4, warp = 2); ",
                                           "launch(threads = 4, blocks = 2); "};
    uint32_t racy = 0, clean = 0, simultaneous = 0;
    for (uint64_t number = 0; number < 1500; number++) {
        size_t mark = arena_mark(&test_arena);
        char *text =
            arena_printf(&test_arena, "%s", pair_kernel(number, launches[number % 3], true));
        if (number % 2)
            memcpy(strstr(text, "shared"), "global", 6);
        struct observed o[MACHINES];
        observe_all(text, (enum sched_kind)(number / 3 % SCHED_PCT), number, o);
        for (uint32_t i = 0; i < MACHINES; i++) {
            expect_agreement(&o[i]);
            simultaneous += o[i].detector->witness.simultaneous;
            if (o[i].status != STATUS_TERMINATED || o[i].detector->found)
                continue;
            for (uint32_t k = 0; k < MACHINES; k++)
                if (o[k].detector->found || o[k].status != STATUS_TERMINATED)
                    fail_msg("%s: machine %u is clean, %u is not", text, i, k);
        }
        racy += o[0].detector->found;
        clean += !o[0].detector->found;
        arena_release(&test_arena, mark);
    }
    assert_true(racy > 100 && clean > 100 && simultaneous > 20);
}

static void expect_everywhere(const char *text, bool race)
{
    struct observed o[MACHINES];
    observe_all(text, SCHED_ROUND_ROBIN, 1, o);
    for (uint32_t i = 0; i < MACHINES; i++) {
        if (o[i].detector->found != race)
            fail_msg("%s: machine %u", text, i);
        expect_agreement(&o[i]);
    }
}

static const char *scan(int threads, int dropped)
{
    return arena_printf(&test_arena,
                        "launch(threads = %d); shared int sum[%d]; kernel k() {"
                        "  private int offset, temp;"
                        "  for (offset = 1; offset < threads; offset *= 2) {"
                        "    if (tid >= offset) temp = sum[tid - offset]; %s"
                        "    if (tid >= offset) sum[tid] = sum[tid] + temp; %s } }",
                        threads, threads, dropped == 1 ? ";" : "barrier();",
                        dropped == 2 ? ";" : "barrier();");
}

/* Fig. 1a with its two barriers, without the one, without the other: CK8's note, B-40. */
static void test_scan_barriers(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 8; threads *= 2)
        for (int dropped = 0; dropped <= 2; dropped++)
            expect_everywhere(scan(threads, dropped), dropped != 0 && threads >= 4);
    static const bool racy[][4] = {[1] = {false, true, true, false}, [2] = {false, true}};
    for (int dropped = 1; dropped <= 2; dropped++) {
        struct observed o[MACHINES];
        observe_all(scan(4, dropped), SCHED_UNIFORM, 1, o);
        for (uint32_t i = 0; i < MACHINES; i++)
            for (uint32_t element = 0; element < 4; element++)
                assert_int_equal(race_is_racy(o[i].detector, element), racy[dropped][element]);
    }
}

static void test_barriers(void **state)
{
    (void)state;
    /* TT.K9: the flag that a third thread sets */
    expect_everywhere("shared int F[1], A[1]; kernel k() { private int f; if (tid == 2) F[0] = 1;"
                      "  barrier(); f = F[0]; barrier(); if (f && tid < 2) A[0] = tid; }",
                      true);
    expect_everywhere("shared int F[1], A[1]; kernel k() { private int f; if (tid == 2) F[0] = 1;"
                      "  barrier(); f = F[0]; barrier(); if (f && tid == 1) A[0] = tid; }",
                      false);
    /* a block's barrier says nothing to another block */
    expect_everywhere(
        "launch(threads = 2, blocks = 2); global int x; kernel k() {"
        "  if (bid == 0 && tid == 0) x = 1; barrier(); if (bid == 1 && tid == 0) x = 2; }",
        true);
    expect_everywhere("launch(threads = 2, blocks = 2); shared int x; kernel k() {"
                      "  if (tid == 0) x = 1; barrier(); if (tid == 1) x = 2; }",
                      false);
    /* atomics order nothing, and race with plain accesses only */
    expect_everywhere("global int x; kernel k() { atomic_add(x, 1); }", false);
    expect_everywhere("global int x; kernel k() { atomic_add(x, 1); if (tid == 1) x = 2; }", true);
    expect_everywhere("global int x, y; kernel k() { if (tid == 1) y = 1; atomic_add(x, 1);"
                      "  if (tid == 2) y = 2; }",
                      true);
    expect_everywhere("global int x; kernel k() { private int y; atomic_add(x, 1); barrier();"
                      "  y = x; }",
                      false);
}

/* CK5, B-13: a sync that nobody takes part in separates nothing. */
static void test_vacuous_sync(void **state)
{
    (void)state;
    const char *text = "launch(threads = 2); shared int v, x; kernel k() { if (tid == 1) v = 7;"
                       "  if (0) barrier(); if (tid != 1) x = v; }";
    expect_everywhere(text, true);
    struct block_forms forms = block_forms(support_program(text), 0);
    const struct machine_options literal = {.vacuous_sync = true};
    struct observed o = observe(forms.lockstep, &semantics_lockstep, &literal, SCHED_SEQUENTIAL, 0);
    expect_agreement(&o);
    assert_false(o.detector->found);
}

/* Two lanes of one statement write at once; two threads never do. */
static void test_simultaneous(void **state)
{
    (void)state;
    struct observed o[MACHINES];
    observe_all("shared int x[2]; kernel k() { x[tid / 2] = tid / 4; }", SCHED_ROUND_ROBIN, 1, o);
    for (uint32_t i = 0; i < MACHINES; i++) {
        assert_int_equal(o[i].detector->witness.simultaneous, i % 2);
        assert_true(o[i].detector->witness.same_value);
    }
    observe_all("shared int x; kernel k() { if (tid & 1) x = 1; else x = 2; }", SCHED_ROUND_ROBIN,
                1, o);
    for (uint32_t i = 0; i < MACHINES; i++)
        expect_agreement(&o[i]);
    o[1] = run("launch(threads = 2); shared int x; kernel k() { if (tid & 1) x = 1; else x = 2; }",
               SUBJECT_SIMT, SCHED_SEQUENTIAL, 0);
    assert_true(o[1].detector->found);
    assert_false(o[1].detector->witness.simultaneous || o[1].detector->witness.same_value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_verdicts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_witness, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong_witness, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_epochs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_epochs_renewed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random_streams, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random_kernels, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_scan_barriers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_barriers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_vacuous_sync, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_simultaneous, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_log_overflow, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
