/* What a complete search adds to `result`: sampled executions are among those found, and a goto may choose
 * before its guards or be ended by them. Planted faults: a machine that ends otherwise than its search's,
 * one that starts otherwise when gotos are raw. */
#include "tests/unit/shared/checking.h"

#include "engine/blocks/interleave.h"
#include "oracle/results/exhaust.h"

static const char CHOOSING[] =
    "launch(threads = 2); shared int a[2]; private int x; kernel k() blocks {"
    " Start: x = tid; goto A, B, C; A: assume(x == 0); a[tid] = 1; goto End;"
    " B: assume(x < 2); a[tid] = 2; goto End; C: assume(x >= 2); a[tid] = 3; goto End; }";
static const char RACING[] = "launch(threads = 2); shared int a; kernel k() { a = a + 1 + tid; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

static void start(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects = SUBJECT_BIT(SUBJECT_INTERLEAVE);
    f->options.exhaustive = true;
    f->c = checking_of(text, &f->options, &f->result);
    explore_prepare(&f->c);
    assert_true(explore_runs(&f->c, SUBJECT_INTERLEAVE));
}

static const struct answer *judge(struct fixture *f, const char *text,
                                  const struct semantics *semantics)
{
    start(f, text);
    f->c.subjects[SUBJECT_INTERLEAVE].machine->semantics = semantics;
    machine_observe(f->c.subjects[SUBJECT_INTERLEAVE].machine, NULL);
    explore_subject(&f->c, SUBJECT_INTERLEAVE);
    exhaust_search(&f->c);
    assert_true(f->result.runs[SUBJECT_INTERLEAVE].search->complete);
    exhaust_judge(&f->c);
    return &f->result.answers[ORACLE_RESULT];
}

static void test_honest(void **state)
{
    (void)state;
    struct fixture f;
    const struct answer *answer = judge(&f, CHOOSING, &semantics_interleave);
    assert_null(answer->divergence);
    assert_true(answer->checked > 4); /* each execution, and the choices */
    answer = judge(&f, RACING, &semantics_interleave);
    assert_null(answer->divergence);
    assert_int_equal(answer->checked, 5); /* each execution, and the two methods of the search */
}

/* Who waits for all subjects is told of each as soon as its search ends, before the next one begins. */
struct told {
    const struct check_result *result;
    uint32_t count;
};

static void see_searched(void *context, const struct check_run *run)
{
    struct told *told = context;
    uint32_t searched = 0;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        searched += told->result->runs[i].search != NULL;
    assert_int_equal(searched, ++told->count);
    assert_non_null(run->search);
}

static void test_told_of_each_search(void **state)
{
    (void)state;
    struct check_result result;
    struct told told = {.result = &result};
    struct check_options options = CHECK_DEFAULTS;
    memset(&result, 0, sizeof result);
    options.exhaustive = true;
    options.searched = see_searched;
    options.searched_context = &told;
    options.subjects =
        SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT) | SUBJECT_BIT(SUBJECT_INTERLEAVE);
    check_kernel(&test_arena, support_parse(RACING), &options, &result);
    assert_int_equal(told.count, 3);
}

/* The one schedule is cut where it waits, before the race; what the search found was not watched. */
static void test_race_behind_the_cut(void **state)
{
    (void)state;
    static const char waiting[] = "launch(threads = 2); shared int a[2];"
                                  " kernel k() { a[tid] = 1; while (a[1] == 0) { } }";
    struct check_result result;
    struct check_options options = CHECK_DEFAULTS;
    memset(&result, 0, sizeof result);
    options.schedules = 1;
    options.exhaustive = true;
    options.subjects = SUBJECT_BIT(SUBJECT_THREADS);
    options.oracles = 1u << ORACLE_RACE;
    check_kernel(&test_arena, support_parse(waiting), &options, &result);
    assert_true(result.runs[SUBJECT_THREADS].search->race);
    assert_false(result.runs[SUBJECT_THREADS].race);
    assert_int_equal(check_divergences(&result, true), 0);
}

static enum rule (*honest[4])(struct machine *, uint32_t, struct choices *);

/* The first word is 40 too large when the execution ends. */
static enum rule add_at_end(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool observed = machine->options.observers != NULL;
    enum rule rule = honest[observed ? MACHINE_OBSERVED : 0](machine, actor, choices);
    if (machine_status(machine) == STATUS_TERMINATED)
        machine->memory[0] += 40;
    return rule;
}

static void test_sampled_end_that_is_none(void **state)
{
    (void)state;
    struct fixture f;
    struct semantics faulty = semantics_interleave;
    memcpy(honest, faulty.step, sizeof honest);
    faulty.step[0] = faulty.step[MACHINE_OBSERVED] = add_at_end;
    const struct answer *answer = judge(&f, RACING, &faulty);
    assert_non_null(answer->divergence);
    assert_string_equal(answer->divergence->class_name, "sampled-set");
    assert_string_equal(answer->divergence->observable, "store");
    assert_int_equal(answer->divergence->subject, SUBJECT_INTERLEAVE);
}

static void raw_starts_otherwise(struct machine *machine)
{
    semantics_interleave.init(machine);
    if (machine->options.raw_goto)
        machine->threads[1].builtin[BUILTIN_TID] = 5;
}

static void test_raw_goto_that_ends_otherwise(void **state)
{
    (void)state;
    struct fixture f;
    struct semantics faulty = semantics_interleave;
    faulty.init = raw_starts_otherwise;
    const struct answer *answer = judge(&f, CHOOSING, &faulty);
    assert_non_null(answer->divergence);
    assert_string_equal(answer->divergence->class_name, "goto-set");
    assert_string_equal(answer->divergence->observable, "out_of_bounds");
}

/* A guard of shared memory may change between the choice and the guard: nothing is claimed. */
static void test_ill_formed_is_left_out(void **state)
{
    (void)state;
    struct fixture f;
    struct semantics faulty = semantics_interleave;
    faulty.init = raw_starts_otherwise;
    const char *text = "launch(threads = 2); shared int a[8], s; kernel k() blocks {"
                       " Start: goto A, B; A: assume(s == 0); s = 1; goto End;"
                       " B: assume(s >= 0); a[tid] = 2; goto End; }";
    assert_null(judge(&f, text, &faulty)->divergence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_told_of_each_search, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_race_behind_the_cut, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sampled_end_that_is_none, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_raw_goto_that_ends_otherwise, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_ill_formed_is_left_out, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
