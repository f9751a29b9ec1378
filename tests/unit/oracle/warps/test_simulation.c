/* The co-simulation: it agrees on every kernel, and speaks for every fault planted in either side. */
#include "tests/unit/shared/support.h"

#include "engine/warps/threads.h"
#include "oracle/warps/simulation.h"

static const char *const kernels[] = {
    "shared int x; kernel k() { x = x + 1; }",
    "shared int x[4]; kernel k() { if (tid < 2) x[tid] = tid; else x[tid] = x[0]; ; }",
    "shared int x; kernel k() { private int i = 0; while (i < tid) { i++; x = x + i; } }",
    "shared int x; kernel k() { private int i = 0;"
    " while (1) { if (i > tid) break; if (tid == 2) { x = i; i = i + 2; continue; } i++; } }",
    "shared int x; int f(int n) { private int r; if (n <= tid) return n; r = f(n - 2); return r; }"
    "kernel k() { private int r; r = f(5); x = r; }",
    "shared int x; void f() { if (tid & 1) return; else x = tid; }"
    "kernel k() { private int i; for (i = 0; i < 3; i++) { f(); if (i == tid) return; } x++; }",
    "shared int x; void f() { private int l[2]; l[1] = tid; if (tid == 1) exit; x = l[1]; }"
    "kernel k() { private int i = 3; f(); while (i) { i--; f(); if (tid == 3) exit; } x = i; }",
    "launch(threads = 6, warp = 4, blocks = 2); shared int x; global int g; private int p[3];"
    "kernel k() { switch (tid % 3) { case 0: p[1] = 2; case 1: x++; break; default: g += tid; }"
    " do { p[2]++; g = p[2]; } while (p[2] < lane); }",
    "launch(threads = 64, warp = 64); shared int x[8]; kernel k() { x[tid % 8] = tid; }",
    "shared int x; kernel k() { assert(tid != 2); x = 1; }",
    "shared int x[4]; kernel k() { if (tid > 1) x[tid + 1] = 1; else x[tid] = 2; }",
    "shared int x[4]; kernel k() { while (x[tid * 2] == 0) x[tid] = 1; }",
    "shared int x; int f(int n) { private int r; r = f(n + 1); return r; }"
    "kernel k() { private int r; if (tid == 3) r = f(0); x = r; }",
    "shared int x; kernel k() { if (tid == 0) x = 1; else while (x != 1) ; }",
    "shared int n; int f(int a) { private int l; l = a; ; return l; }"
    "kernel k() { private int r; r = f(tid); r = atomic_add(n, 1); ; }",
    "launch(threads = 8, warp = 4); shared int x; kernel k() { if (tid < 4) barrier(); x = 1; }",
};
enum { SPINS = 13, LOCALS, MISSING_WARP };

struct fixture {
    struct program *program;
    struct machine *warps, *threads;
    struct simulation *simulation;
    struct answer answer, lemmas;
    enum status status;
};

static void prepare(struct fixture *f, const char *text)
{
    *f = (struct fixture){.program = support_program(text)};
    f->warps = support_machine(f->program, SUBJECT_SIMT);
    f->threads = support_machine(f->program, SUBJECT_THREADS);
    f->simulation = simulation_new(&test_arena, f->warps, f->threads);
    f->simulation->answer = &f->answer;
    f->simulation->lemmas = &f->lemmas;
}

static void run(struct fixture *f, enum subject_id subject, uint64_t seed, uint64_t budget)
{
    struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = seed};
    struct scheduler scheduler;
    simulation_begin(f->simulation, subject);
    sched_start(&scheduler, &spec, f->warps, &test_arena);
    f->status = simulation_run(f->simulation, &scheduler.choices, budget);
}

static void print_divergence(const struct divergence *d)
{
    print_error("%s\n%s\n%s\n", divergence_signature(&test_arena, d), d->summary, d->evidence);
}

static void test_agrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct fixture f;
        prepare(&f, kernels[i]);
        for (uint32_t seed = 0; seed < 4; seed++)
            for (uint32_t order = SUBJECT_SIMT; order <= SUBJECT_SIMT_THEN; order++) {
                run(&f, (enum subject_id)order, seed, 4000);
                if (f.answer.divergence)
                    print_divergence(f.answer.divergence);
                if (f.lemmas.divergence)
                    print_divergence(f.lemmas.divergence);
                assert_null(f.answer.divergence);
                assert_null(f.lemmas.divergence);
            }
        assert_true(f.answer.checked > 0);
        assert_int_equal(f.answer.checked, f.lemmas.checked);
    }
}

/* The last three kernels of the list but one end with an error: the replay ended with the same. */
static void test_errors_are_matched(void **state)
{
    (void)state;
    static const struct {
        size_t kernel;
        enum status status;
        uint32_t thread;
    } errors[] = {{9, STATUS_ASSERT_FAILS, 2},
                  {10, STATUS_OUT_OF_BOUNDS, 3},
                  {11, STATUS_OUT_OF_BOUNDS, 2},
                  {12, STATUS_CALL_DEPTH, 3}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct fixture f;
        prepare(&f, kernels[errors[i].kernel]);
        run(&f, SUBJECT_SIMT, 0, 4000);
        assert_int_equal(f.status, errors[i].status);
        assert_int_equal(machine_status(f.threads), errors[i].status);
        assert_int_equal(f.threads->head->fault_thread, errors[i].thread);
        assert_null(f.answer.divergence);
    }
}

static void test_budget_resumes(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, kernels[SPINS]);
    run(&f, SUBJECT_SIMT, 0, 100);
    assert_int_equal(f.status, STATUS_STEP_LIMIT);
    uint64_t before = f.simulation->warp_steps;
    struct sched_spec spec = {.kind = SCHED_UNIFORM};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, f.warps, &test_arena);
    assert_int_equal(simulation_run(f.simulation, &scheduler.choices, 300), STATUS_STEP_LIMIT);
    assert_true(f.simulation->warp_steps > before);
    assert_int_equal(simulation_tape(f.simulation)->count, f.simulation->warp_steps);
}

/* ---- planted faults: the machines' step functions, tampered with ---- */

static enum rule (*honest_step)(struct machine *, uint32_t, struct choices *);

static lane_mask *warp_words(struct machine *machine)
{
    return (lane_mask *)machine->extra; /* of warp 0: theta, delta_b, delta_r, delta_e */
}

static enum rule forget_break(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_BREAK)
        warp_words(machine)[1] = 0;
    return rule;
}

static enum rule swap_paths(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct warp_state before = simt_state(machine, warp);
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_IF)
        warp_words(machine)[0] = before.theta & ~warp_words(machine)[0];
    return rule;
}

static enum rule write_wrong(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_ASSIGN)
        machine->memory[0] ^= 64;
    return rule;
}

static enum rule two_at_once(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_SKIP)
        honest_step(machine, warp, choices);
    return rule;
}

static enum rule blame_other(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (machine_status(machine) == STATUS_ASSERT_FAILS)
        machine->head->fault_thread ^= 1;
    return rule;
}

static enum rule blame_other_waiting(struct machine *machine, uint32_t warp,
                                     struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (machine_status(machine) == STATUS_BARRIER_DIVERGENCE)
        machine->head->fault_thread ^= 1;
    return rule;
}

/* What a statement gives to a local variable; its frame may be gone before all memory is compared. */
static enum rule spoil_local(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct warp_state before = simt_state(machine, warp);
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_ASSIGN && before.depth > 3) /* in f */
        machine->memory[machine->threads[1].base[SPACE_LOCAL] + 1] ^= 64;
    return rule;
}

static enum rule spoil_atomic(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_ATOMIC)
        machine->memory[machine->threads[1].base[SPACE_LOCAL]] ^= 64;
    return rule;
}

static enum rule ignore_assert(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (machine_status(machine) == STATUS_ASSERT_FAILS)
        machine->head->status = STATUS_RUNNING;
    return rule;
}

static enum rule end_early(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_ASSIGN) {
        machine->head->live_count = 0;
        machine->head->status = STATUS_TERMINATED;
    }
    return rule;
}

static enum rule wake_all(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_TOKEN)
        warp_words(machine)[0] = 15;
    return rule;
}

static enum rule lose_lane(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct warp_state before = simt_state(machine, warp);
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_WHILE) /* the brk token forgets the lanes that left at once */
        ((lane_mask *)(uintptr_t)before.masks)[1] = warp_words(machine)[0];
    return rule;
}

/* In the thread semantics: while_cont_ff takes the brk context along. */
static enum rule eager_exit(struct machine *machine, uint32_t thread, struct choices *choices)
{
    enum rule rule = honest_step(machine, thread, choices);
    if (rule == RULE_THR_WHILE_CONT_FF)
        honest_step(machine, thread, choices);
    return rule;
}

static enum rule wrong_value(struct machine *machine, uint32_t thread, struct choices *choices)
{
    enum rule rule = honest_step(machine, thread, choices);
    if (rule == RULE_THR_ASSIGN_RD && thread == 3) {
        struct thread_state *T = (struct thread_state *)(uintptr_t)threads_state(machine, thread);
        T->value++;
    }
    return rule;
}

static const struct {
    const char *name;
    enum rule (*step)(struct machine *, uint32_t, struct choices *);
    bool in_threads;
    size_t kernel;
    const char *simulation; /* signature expected */
    const char *lemmas;     /* or NULL: nothing for the lemmas to see */
} faults[] = {
    {"break forgets b", forget_break, false, 3,
     "simulation|stack|simt.break|stack of an active lane", NULL},
    {"paths swapped", swap_paths, false, 1, "simulation|rule|simt.if|rule of an active lane",
     "lemmas|lemma-1.4|simt.if|configuration"},
    {"wrong write", write_wrong, false, 0, "simulation|memory|simt.assign|shared memory", NULL},
    {"two statements", two_at_once, false, 1, "simulation|stack|simt.skip|stack of an active lane",
     NULL},
    {"wrong culprit", blame_other, false, 9, "simulation|status|simt.assert|assert_fails", NULL},
    {"assert ignored", ignore_assert, false, 9, "simulation|status|simt.assert|assert_fails", NULL},
    {"wrong culprit at a barrier", blame_other_waiting, false, MISSING_WARP,
     "simulation|status|simt.barrier_reach|barrier_divergence", NULL},
    {"wrong local", spoil_local, false, LOCALS, "simulation|memory|simt.assign|local memory", NULL},
    {"wrong result of an atomic", spoil_atomic, false, LOCALS,
     "simulation|memory|simt.atomic|local memory", NULL},
    {"ends early", end_early, false, 0, "simulation|termination|simt.assign|live threads", NULL},
    {"token wakes all", wake_all, false, 3, "simulation|stack|simt.token|stack of an active lane",
     "lemmas|enable|simt.token|configuration"},
    {"brk loses lanes", lose_lane, false, 2, "simulation|stack|simt.while|stack of an active lane",
     NULL},
    {"loop exit in one step", eager_exit, true, 2,
     "simulation|stack|simt.while_cont|stack of an active lane", NULL},
    {"wrong value read", wrong_value, true, 0, "simulation|memory|simt.assign|shared memory", NULL},
};

static void test_planted_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        prepare(&f, kernels[faults[i].kernel]);
        struct machine *victim = faults[i].in_threads ? f.threads : f.warps;
        honest_step = victim->step;
        victim->step = faults[i].step;
        run(&f, SUBJECT_SIMT, 0, 4000);
        if (!f.answer.divergence)
            print_error("%s: silent\n", faults[i].name);
        assert_int_equal(f.answer.verdict, VERDICT_DIVERGE);
        const struct divergence *d = f.answer.divergence;
        assert_string_equal(divergence_signature(&test_arena, d), faults[i].simulation);
        assert_null(d->known);
        assert_non_null(d->tape);
        assert_int_equal(d->evidence[0], '{');
        if (!faults[i].lemmas)
            continue;
        assert_int_equal(f.lemmas.verdict, VERDICT_DIVERGE);
        assert_string_equal(divergence_signature(&test_arena, f.lemmas.divergence),
                            faults[i].lemmas);
    }
}

/* Where the two begin with different memories, whichever is wrong: said before any step, of the warp as it is
 * then. */
static void test_initial_memories(void **state)
{
    (void)state;
    for (int in_threads = 0; in_threads < 2; in_threads++) {
        struct fixture f;
        prepare(&f, "launch(threads = 2); shared int x, y; kernel k() { x = y; }");
        struct machine *victim = in_threads ? f.threads : f.warps;
        machine_reset(victim);
        victim->memory[1]++;
        machine_save(victim, victim->initial);
        simulation_begin(f.simulation, SUBJECT_SIMT);
        assert_int_equal(f.answer.verdict, VERDICT_DIVERGE);
        const struct divergence *d = f.answer.divergence;
        assert_string_equal(divergence_signature(&test_arena, d),
                            "simulation|memory|none|shared memory");
        assert_non_null(strstr(d->evidence, "\"location\": \"y\""));
        assert_non_null(strstr(d->evidence, "\"stack\": [\"line 1\", \"call 11\"]"));
    }
}

/* Where a warp begins with other lanes than its threads do: said before any step, of no statement. */
static void test_initial_stacks(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, "launch(threads = 2); shared int x; kernel k() { x = 1; }");
    machine_reset(f.warps);
    warp_words(f.warps)[0] = warp_words(f.warps)[1] = 1; /* active, and waits for a break */
    machine_save(f.warps, f.warps->initial);
    simulation_begin(f.simulation, SUBJECT_SIMT);
    const struct divergence *d = f.answer.divergence, *lemma = f.lemmas.divergence;
    assert_true(d && !d->next && lemma);
    assert_string_equal(divergence_signature(&test_arena, d),
                        "simulation|stack|none|stack of an inactive lane");
    assert_non_null(strstr(d->summary, " step 0 (none) "));
    assert_int_equal(d->line, 0);
    assert_int_equal(lemma->line, 0);
}

static enum rule stay(struct machine *machine, uint32_t thread, struct choices *choices)
{
    const struct thread_state *T = threads_state(machine, thread);
    enum entry_kind top = entry_kind(T->stack[T->depth - 1]);
    bool at_barrier =
        top == ENTRY_STM &&
        machine->program->stms[entry_number(T->stack[T->depth - 1])].kind == CODE_BARRIER;
    return at_barrier ? RULE_NONE : honest_step(machine, thread, choices);
}

/* A thread that does not follow to the barrier at which its warp ends: that it took no rule is said, and nothing
 * else. */
static void test_divergence_that_nobody_follows(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, kernels[MISSING_WARP]);
    honest_step = f.threads->step;
    f.threads->step = stay;
    run(&f, SUBJECT_SIMT, 0, 4000);
    assert_true(f.answer.divergence && !f.answer.divergence->next);
    assert_string_equal(divergence_signature(&test_arena, f.answer.divergence),
                        "simulation|rule|simt.barrier_reach|rule of an active lane");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_agrees, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_errors_are_matched, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_budget_resumes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_initial_memories, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_initial_stacks, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_divergence_that_nobody_follows, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
