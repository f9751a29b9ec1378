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
    assert_int_equal(w->first.kind, ACCESS_WRITE);
    assert_int_equal(w->second.thread, 1);
    assert_int_equal(o.program->stms[w->second.stm].line, 6);
    assert_int_equal(w->second.kind, ACCESS_READ);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_verdicts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_witness, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_epochs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_epochs_renewed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random_streams, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_log_overflow, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
