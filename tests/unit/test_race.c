/* The race detector against the definition, and against faults planted into it. */
#include "tests/unit/support.h"

#include "oracle/race.h"

struct observed {
    struct program *program;
    struct race_detector *detector;
    struct race_log *log;
    struct race_log_result expected;
    enum status status;
};

static struct observed run(const char *text, enum subject_id subject, enum sched_kind kind,
                           uint64_t seed)
{
    struct observed o = {.program = support_program(text)};
    struct machine *machine = support_machine(o.program, subject);
    o.detector = race_new(&test_arena, o.program);
    o.log = race_log_new(&test_arena, 4096);
    o.detector->observer.next = &o.log->observer;
    machine_observe(machine, &o.detector->observer);
    race_begin(o.detector);
    race_log_begin(o.log);
    struct sched_spec spec = {.kind = kind, .seed = seed, .quantum = 1};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    o.status = machine_run(machine, &scheduler.choices, 10000, NULL);
    o.expected = race_log_search(o.log);
    return o;
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
        for (uint32_t subject = 0; subject < SUBJECT_COUNT; subject++)
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
    assert_true(w->first.write);
    assert_int_equal(w->second.thread, 1);
    assert_int_equal(o.program->stms[w->second.stm].line, 6);
    assert_false(w->second.write);
    assert_true(o.detector->racy_stms[w->first.stm] && o.detector->racy_stms[w->second.stm]);
    assert_false(o.detector->racy_vars[0]);
    assert_true(o.detector->racy_vars[1]);
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

/* Random accesses, not even an execution: detector and definition find the same. */
static void test_random_logs(void **state)
{
    (void)state;
    struct program *program = support_program("shared int x[8]; kernel k() { x[tid] = 1; ; ; }");
    struct race_detector *d = race_new(&test_arena, program);
    struct race_log *log = race_log_new(&test_arena, 64);
    struct pcg rng;
    pcg_seed(&rng, 3, 5);
    uint32_t racy = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        race_begin(d);
        race_log_begin(log);
        uint32_t count = pcg_below(&rng, 24), threads = 1 + pcg_below(&rng, 4);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t thread = pcg_below(&rng, threads), stm = pcg_below(&rng, program->stm_count);
            uint32_t address = pcg_below(&rng, 1 + pcg_below(&rng, 8));
            bool write = pcg_below(&rng, 4) == 0;
            const struct observer *both[] = {&d->observer, &log->observer};
            for (uint32_t k = 0; k < 2; k++)
                if (write)
                    both[k]->write(both[k]->context, thread, address, 0, stm);
                else
                    both[k]->read(both[k]->context, thread, address, stm);
        }
        const char *what = "";
        struct race_log_result expected = race_log_search(log);
        racy += expected.found;
        assert_true(expected.complete);
        assert_true(race_log_agrees(log, &expected, d, &what));
    }
    assert_true(racy > 2000 && racy < 18000);
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
    o.detector->witness.second.write = !o.detector->witness.second.write;
    assert_false(race_log_agrees(o.log, &o.expected, o.detector, &what));
    assert_string_equal(what, "witness");
}

static void test_log_overflow(void **state)
{
    (void)state;
    struct race_log *log = race_log_new(&test_arena, 2);
    for (uint32_t i = 0; i < 3; i++)
        log->observer.write(log, i, 0, 0, 0);
    assert_false(race_log_search(log).complete);
    race_log_begin(log);
    assert_true(race_log_search(log).complete);
    assert_false(race_log_search(log).found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_verdicts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_witness, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_epochs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random_logs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_log_overflow, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
