/* The oracle `pairs` in a check: it asks about an explored execution of P, clean or not, fires the rules of
 * the tutorial, and speaks when pairs step otherwise than all threads do. */
#include "tests/unit/shared/checking.h"
#include "tests/unit/shared/planted.h"

#include "engine/blocks/interleave.h"
#include "oracle/pairs/pairs_judge.h"

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
};

static void start(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->c = checking_of(text, &f->options, &f->result);
    f->result.answers[ORACLE_PAIRS].verdict = VERDICT_NOT_APPLICABLE;
    explore_prepare(&f->c);
}

/* Pairs start with other thread numbers: 0, 2, 4 ... */
static void faulty_init(struct machine *machine)
{
    semantics_interleave.init(machine);
    if (machine->options.pair_count)
        for (uint32_t t = 0; t < machine->program->total_threads; t++)
            machine->threads[t].builtin[BUILTIN_TID] = (int32_t)(2 * t);
}

static const struct answer *judge(struct fixture *f, const char *text, bool faulty)
{
    static struct semantics planted;
    start(f, text);
    planted = semantics_interleave;
    planted.init = faulty_init;
    assert_true(explore_runs(&f->c, SUBJECT_INTERLEAVE));
    if (faulty)
        f->c.subjects[SUBJECT_INTERLEAVE].machine->semantics = &planted;
    explore_subject(&f->c, SUBJECT_INTERLEAVE);
    pairs_judge(&f->c);
    return &f->result.answers[ORACLE_PAIRS];
}

static const struct {
    const char *text, *end;
} kernels[] = {
    {"shared int x[8]; kernel k() { x[tid / 2] = 1; }", "writes"},
    {"kernel k() { assert(tid != 1); }", "assert_fails"},
    {"kernel k() { if (tid == 1) barrier(); }", "barrier_divergence"},
    {"private int y; kernel k() { y = tid; }", "terminates without a race"},
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static uint64_t tutorial_hits(const struct check_result *result)
{
    uint64_t hits = 0;
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        if (strcmp(rule_table[r].semantics, "tutorial") == 0)
            hits += result->hits[r];
    return hits;
}

static void test_honest(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KERNELS; i++) {
        struct fixture f;
        const struct answer *answer = judge(&f, kernels[i].text, false);
        assert_int_equal(answer->verdict, VERDICT_AGREE);
        assert_int_equal(answer->checked, 5);
        assert_non_null(strstr(answer->reason, kernels[i].end));
        assert_true(tutorial_hits(&f.result) > 0);
    }
}

static void test_planted_fault(void **state)
{
    (void)state;
    static const char *const observables[KERNELS] = {"race", "rule", "rule", "private memory"};
    for (uint32_t i = 0; i < KERNELS; i++) {
        struct fixture f;
        const struct answer *answer = judge(&f, kernels[i].text, true);
        assert_int_equal(answer->verdict, VERDICT_DIVERGE);
        assert_string_equal(answer->divergence->class_name, "C.2");
        assert_string_equal(answer->divergence->observable, observables[i]);
        assert_int_equal(answer->divergence->subject, SUBJECT_INTERLEAVE);
    }
}

/* ---- a pair's race that differs from P's in one part only ---- */

enum part {
    NOTHING,
    ADDRESS,
    FIRST_READS,
    SECOND_READS,
    SECOND_IS_ATOMIC,
    SECOND_STATEMENT,
    PARTS
};
static enum part differs;

/* Of a pair, what the two threads write is told otherwise. */
static enum rule tell_otherwise(struct machine *machine, uint32_t actor, struct choices *choices)
{
    static uint32_t writes;
    const struct observer *o = machine->options.observers;
    writes = machine->steps == 0 ? 0 : writes;
    if (machine->options.pair_count == 0 || !o)
        return honest_step(machine, actor, choices);
    uint32_t stm = interleave_state(machine, actor)->pc;
    machine->options.observers = NULL; /* what observers are told is told below */
    enum rule rule = honest[0](machine, actor, choices);
    machine->options.observers = o;
    if (rule != RULE_INTK_ASSIGN)
        return rule;
    bool first = writes++ == 0;
    uint32_t address = machine->program->shared_base + (differs == ADDRESS);
    stm += !first && differs == SECOND_STATEMENT;
    if (differs == (first ? FIRST_READS : SECOND_READS))
        o->read(o->context, actor, address, stm);
    else if (!first && differs == SECOND_IS_ATOMIC)
        o->atomic(o->context, actor, address, 1, stm);
    else
        o->write(o->context, actor, address, 1, stm);
    return rule;
}

static void test_other_races(void **state)
{
    (void)state;
    for (differs = NOTHING; differs < PARTS; differs++) {
        struct fixture f;
        start(&f, "launch(threads = 2); shared int x[2]; kernel k() { x[0] = 1; ; }");
        assert_true(explore_runs(&f.c, SUBJECT_INTERLEAVE));
        explore_subject(&f.c, SUBJECT_INTERLEAVE);
        plant(f.c.subjects[SUBJECT_INTERLEAVE].machine, tell_otherwise);
        pairs_judge(&f.c);
        const struct answer *answer = &f.result.answers[ORACLE_PAIRS];
        assert_int_equal(answer->verdict, differs == NOTHING ? VERDICT_AGREE : VERDICT_DIVERGE);
        if (differs == NOTHING)
            continue;
        assert_string_equal(divergence_signature(&test_arena, answer->divergence),
                            "pairs|C.2|none|race");
        assert_null(strstr(answer->divergence->summary, "it has no race"));
    }
}

static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum verdict verdict;
        const char *reason;
    } cases[] = {
        {"kernel k() { while (1) ; }", VERDICT_NOT_APPLICABLE,
         "no execution ends well or with a defect"},
        {"launch(blocks = 2); global int x; kernel k() { x = 1; }", VERDICT_NOT_APPLICABLE,
         "several blocks: the theorem is about the threads of one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        const struct answer *answer = judge(&f, cases[i].text, false);
        assert_int_equal(answer->verdict, cases[i].verdict);
        assert_string_equal(answer->reason, cases[i].reason);
    }
}

/* Of several executions the defective ones are asked about. */
static void test_prefers_defects(void **state)
{
    (void)state;
    const char *text = "launch(threads = 2); shared int x, y; kernel k() {"
                       " if (tid == 0) x = 1; else if (x == 1) y = 1; }";
    struct fixture f;
    const struct answer *answer = judge(&f, text, false);
    assert_int_equal(answer->verdict, VERDICT_AGREE);
    assert_non_null(strstr(answer->reason, "x"));
}

static void test_check_asks(void **state)
{
    (void)state;
    struct check_result result;
    struct check_options options = CHECK_DEFAULTS;
    const struct ast_kernel *kernel = support_parse(kernels[0].text);
    check_kernel(&test_arena, kernel, &options, &result);
    assert_int_equal(result.answers[ORACLE_PAIRS].verdict, VERDICT_AGREE);
    options.oracles &= ~(1u << ORACLE_PAIRS);
    check_kernel(&test_arena, kernel, &options, &result);
    assert_string_equal(result.answers[ORACLE_PAIRS].reason, "not asked");
}

static void test_tiny_kernels(void **state)
{
    size_t mark = arena_mark(&test_arena);
    (void)state;
    for (uint64_t number = 0; number < 1000; number++) {
        const char *text = pairs_tiny_text(&test_arena, number);
        const char *why = pairs_tiny_differ(&test_arena, text, number);
        if (why)
            fail_msg("number %llu: %s\n%s", (unsigned long long)number, why, text);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_planted_fault, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_other_races, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_reasons, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_prefers_defects, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_check_asks, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_tiny_kernels, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
