/* The oracles over whole executions - race, result, exhaustive search - on sound semantics and with
 * faults planted into one subject's step function. */
#include "tests/unit/shared/planted.h"

#include "engine/warps/threads.h"
#include "oracle/results/exhaust.h"
#include "oracle/results/result.h"

static struct check_result *check(const char *text, const struct check_options *options)
{
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, support_parse(text), options, result);
    return result;
}

static const char INCREMENT[] = "launch(threads = 3); shared int x; kernel k() { x = x + 1; }";

/* INT.incr: the interleavings end with every value from 1 to n, the warp with 1 (section 6). */
static void test_increment_outcomes(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    options.exhaustive = true;
    struct check_result *r = check(INCREMENT, &options);
    const struct check_run *threads = &r->runs[SUBJECT_THREADS];
    assert_true(threads->search->complete);
    assert_int_equal(threads->final_count, 3);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 3; i++)
        seen |= 1u << threads->finals[i][0];
    assert_int_equal(seen, 2 | 4 | 8);
    assert_int_equal(r->runs[SUBJECT_SIMT].final_count, 1);
    assert_int_equal(r->runs[SUBJECT_SIMT].finals[0][0], 1);
    assert_int_equal(check_divergences(r, true), 0);
    assert_int_equal(r->answers[ORACLE_RESULT].verdict, VERDICT_AGREE); /* SIM.mem, racy or not */
}

/* A search that was cut off concludes nothing about a racy kernel, and says which bound it was. */
static void test_search_cut_off(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    options.exhaustive = true;
    options.search = SEARCH_DEFAULTS;
    options.search.max_states = 10;
    options.search.max_steps = 100;
    struct check_result *r = check(INCREMENT, &options);
    const struct answer *answer = &r->answers[ORACLE_RESULT];
    assert_false(r->runs[SUBJECT_THREADS].search->complete);
    assert_non_null(r->runs[SUBJECT_THREADS].search->cut);
    assert_int_equal(answer->verdict, VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(answer->reason, "the search of all interleavings was cut off"));
}

static void test_search_settles_liveness(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    options.exhaustive = true;
    struct check_result *r =
        check("launch(threads = 2); shared int lock;"
              "kernel k() { if (tid == 0) lock = 1; else while (lock != 1) ; }",
              &options);
    const struct divergence *d = r->answers[ORACLE_LIVENESS].divergence;
    assert_string_equal(d->known, "UNF");
    assert_non_null(strstr(d->evidence, "every fair schedule of the threads (exhaustive search)"));
    assert_int_equal(check_divergences(r, false), 0);
}

/* A lasso that only some winner of a conflicting write leads into is found by the search alone. */
static void test_search_finds_lasso(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    options.exhaustive = true;
    struct check_result *r =
        check("launch(threads = 2); shared int x; kernel k() { x = tid; while (x == 1) ; }"
              "expect nonterminating;",
              &options);
    assert_true(r->claims[0].met);
    assert_int_equal(r->answers[ORACLE_LIVENESS].verdict, VERDICT_AGREE);
}

/* ---- planted faults ---- */

static uint64_t step_count;

/* A write that is lost when another thread has stepped since the read: stale memory. */
static enum rule lose_write(struct machine *machine, uint32_t thread, struct choices *choices)
{
    static uint32_t last;
    const struct thread_state *T = threads_state(machine, thread);
    bool stale = T->pending && last != thread;
    uint32_t address = T->address;
    int32_t before = machine->memory[address];
    last = thread;
    enum rule rule = honest_step(machine, thread, choices);
    if (stale && rule == RULE_THR_ASSIGN_WR && address < machine->program->private_base)
        machine->memory[address] = before;
    return rule;
}

/* A private guard that depends on the schedule: an if every so often goes the other way. */
static enum rule stumble(struct machine *machine, uint32_t thread, struct choices *choices)
{
    struct thread_state *T = (struct thread_state *)(uintptr_t)threads_state(machine, thread);
    uint32_t top = T->depth - 1;
    enum rule rule = honest_step(machine, thread, choices);
    step_count++;
    if (rule == RULE_THR_IF_TT && machine->head->live_count == 4 && step_count % 3 == 0)
        T->stack[top + (T->depth > top + 1)]++; /* skips a statement of the path */
    return rule;
}

/* Threads never finish when others still run. */
static enum rule linger(struct machine *machine, uint32_t thread, struct choices *choices)
{
    struct thread_state *T = (struct thread_state *)(uintptr_t)threads_state(machine, thread);
    if (T->depth == 1 && thread == 0 && machine->head->live_count > 1) {
        machine->hits[RULE_THR_CONTEXT]++;
        machine->steps++;
        return RULE_THR_CONTEXT;
    }
    return honest_step(machine, thread, choices);
}

/* Reads of thread 1 are not reported. */
static enum rule hide_read(struct machine *machine, uint32_t thread, struct choices *choices)
{
    const struct observer *o = machine->options.observers;
    if (thread == 1 && !threads_state(machine, thread)->pending)
        machine->options.observers = NULL;
    enum rule rule =
        honest[machine->options.observers ? MACHINE_OBSERVED : 0](machine, thread, choices);
    machine->options.observers = o;
    return rule;
}

/* Every other execution reports what no thread has written. */
static enum rule invent_write(struct machine *machine, uint32_t thread, struct choices *choices)
{
    const struct observer *o = machine->options.observers;
    if (machine->steps == 0 && o && step_count++ % 2)
        o->write(o->context, 3 - thread, 0, 0, 0);
    return honest_step(machine, thread, choices);
}

/* The second execution reports it, and no other does, so that looking again shows no difference. */
static enum rule invent_write_once(struct machine *machine, uint32_t thread,
                                   struct choices *choices)
{
    const struct observer *o = machine->options.observers;
    if (machine->steps == 0 && o && step_count++ == 1)
        o->write(o->context, thread ^ 1, thread, 0, 0);
    return honest_step(machine, thread, choices);
}

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

/* Explores with the faulty thread semantics: `step` stands for all four variants. */
static void explore(struct fixture *f, const char *text, step_function *step)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.budget_steps = 4000;
    step_count = 0;
    f->c = (struct checking){.arena = &test_arena,
                             .options = &f->options,
                             .kernel = support_parse(text),
                             .result = &f->result};
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        f->result.answers[o].verdict = VERDICT_NOT_APPLICABLE;
    f->c.forms = forms_new(&test_arena, f->c.kernel);
    explore_prepare(&f->c);
    plant(f->c.threads, step);
    explore_subject(&f->c, SUBJECT_THREADS);
    race_judge(&f->c);
    result_judge(&f->c);
}

static void expect_signature(const struct answer *answer, const char *signature)
{
    assert_int_equal(answer->verdict, VERDICT_DIVERGE);
    assert_string_equal(divergence_signature(&test_arena, answer->divergence), signature);
    assert_non_null(answer->divergence->summary);
    assert_int_equal(answer->divergence->evidence[0], '{');
}

static const char OWNED[] = "shared int x[4]; kernel k() { private int i;"
                            " for (i = 0; i < 3; i++) { if (i >= 0) { x[tid] += i + 1; ; } } }";

static void test_honest_threads_agree(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, OWNED, honest_step);
    assert_int_equal(f.result.answers[ORACLE_RACE].verdict, VERDICT_AGREE);
    assert_int_equal(f.result.answers[ORACLE_RESULT].verdict, VERDICT_AGREE);
}

static void test_store_fault(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, OWNED, lose_write);
    assert_int_equal(f.result.answers[ORACLE_RACE].verdict, VERDICT_AGREE);
    expect_signature(&f.result.answers[ORACLE_RESULT],
                     "result|store|threads.assign_wr|shared memory");
}

static void test_steps_fault(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f,
            "shared int x[4]; kernel k() { private int i; i = tid; if (i >= 0) { ; x[tid] = i; } }",
            stumble);
    const struct answer *answer = &f.result.answers[ORACLE_RESULT];
    assert_int_equal(answer->verdict, VERDICT_DIVERGE);
    assert_string_equal(answer->divergence->class_name, "steps");
}

static void test_termination_fault(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, OWNED, linger);
    /* sequential: thread 0 is waited for in vain; other orders end. */
    const struct answer *answer = &f.result.answers[ORACLE_RESULT];
    assert_int_equal(answer->verdict, VERDICT_DIVERGE);
    bool found = false;
    for (const struct divergence *d = answer->divergence; d; d = d->next)
        found |= strcmp(d->class_name, "termination") == 0;
    assert_true(found);
}

static void test_race_verdict_fault(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, OWNED, invent_write);
    const struct answer *answer = &f.result.answers[ORACLE_RACE];
    assert_int_equal(answer->verdict, VERDICT_DIVERGE);
    assert_string_equal(answer->divergence->class_name, "race-verdict");
    assert_int_equal(f.result.answers[ORACLE_RESULT].verdict, VERDICT_NOT_APPLICABLE);
}

/* Without a first difference the finding is about the later access of the race. */
static void test_race_without_a_difference(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, "launch(threads = 4);\nshared int x[4];\nkernel k() {\nx[tid] = 1;\n}",
            invent_write_once);
    const struct answer *answer = &f.result.answers[ORACLE_RACE];
    expect_signature(answer, "race|race-verdict|none|shared memory");
    assert_int_equal(answer->divergence->line, 4);
}

/* The log sees what the detector sees, so a semantics that hides accesses shows in the search, which
 * does not ask observers. */
static void test_hidden_reads_show_in_search(void **state)
{
    (void)state;
    struct fixture f;
    static const char text[] = "launch(threads = 2); shared int x; private int y;"
                               "kernel k() { if (tid == 0) x = 1; else y = x; }";
    explore(&f, text, hide_read);
    assert_int_equal(f.result.answers[ORACLE_RACE].verdict, VERDICT_AGREE);
    f.options.subjects = SUBJECT_BIT(SUBJECT_THREADS);
    exhaust_search(&f.c);
    exhaust_judge(&f.c);
    expect_signature(&f.result.answers[ORACLE_RACE], "race|race-search|none|race missed");
}

/* SIM.mem: a warp that ends with what no interleaving ends with. */
static enum rule add_ten(struct machine *machine, uint32_t warp, struct choices *choices)
{
    enum rule rule = honest_step(machine, warp, choices);
    if (rule == RULE_SIMT_ASSIGN)
        machine->memory[0] += 10;
    return rule;
}

static void test_outcome_outside_the_set(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, INCREMENT, honest_step);
    f.c.threads->semantics = &semantics_threads;
    machine_observe(f.c.threads, NULL);
    plant(f.c.warps, add_ten);
    explore_subject(&f.c, SUBJECT_SIMT);
    expect_signature(&f.result.answers[ORACLE_SIMULATION],
                     "simulation|memory|simt.assign|shared memory");
    f.options.subjects = SUBJECT_BIT(SUBJECT_THREADS);
    exhaust_search(&f.c);
    exhaust_judge(&f.c);
    expect_signature(&f.result.answers[ORACLE_RESULT], "result|outcome-set|none|store");
}

/* What an oracle looks at again for its evidence is nothing that the co-simulation has checked anew. */
static void test_evidence_is_quiet(void **state)
{
    (void)state;
    struct fixture f;
    explore(&f, OWNED, honest_step);
    f.c.threads->semantics = &semantics_threads;
    machine_observe(f.c.threads, NULL);
    plant(f.c.warps, add_ten);
    explore_subject(&f.c, SUBJECT_SIMT);
    const struct answer *simulation = &f.result.answers[ORACLE_SIMULATION];
    const struct answer *lemmas = &f.result.answers[ORACLE_LEMMAS];
    uint64_t checked = simulation->checked, steps = lemmas->checked;
    result_judge(&f.c);
    assert_int_equal(f.result.answers[ORACLE_RESULT].verdict, VERDICT_DIVERGE);
    assert_int_equal(simulation->checked, checked);
    assert_int_equal(lemmas->checked, steps);
}

/* Atomics order only what is given as PTX: for structured kernels `block` has the detector of all others. */
static void test_atomics_sync_is_for_ptx(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "shared int x; kernel k() { private int r; r = atomic_add(x, 1); }",
        "// simtfuzz: threads=4 warp=4\n.version 8.0\n.target sm_80\n.address_size 64\n"
        ".global .align 4 .u32 out;\n.entry k()\n{\n.reg .u32 t;\n"
        "atom.global.add.u32 t, [out], 1;\nret;\n}\n"};
    for (uint32_t i = 0; i < 2; i++) {
        struct fixture f;
        memset(&f, 0, sizeof f);
        f.options = CHECK_DEFAULTS;
        f.options.atomics_sync = true;
        f.c = (struct checking){.arena = &test_arena,
                                .options = &f.options,
                                .kernel = support_parse(texts[i]),
                                .result = &f.result};
        f.c.forms = forms_new(&test_arena, f.c.kernel);
        explore_prepare(&f.c);
        assert_true(explore_runs(&f.c, SUBJECT_BLOCK));
        assert_int_equal(f.c.subjects[SUBJECT_BLOCK].hb != NULL, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_increment_outcomes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_search_cut_off, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_search_settles_liveness, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_search_finds_lasso, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_honest_threads_agree, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_store_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_steps_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_termination_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_race_verdict_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_race_without_a_difference, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_evidence_is_quiet, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_atomics_sync_is_for_ptx, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_hidden_reads_show_in_search, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_outcome_outside_the_set, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
