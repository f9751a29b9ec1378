/* check_kernel as a whole: runs, verdicts, expectations, determinism. */
#include "tests/unit/shared/support.h"

#include "oracle/check/check.h"

static struct check_result *check(const char *text, const struct check_options *options)
{
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, support_parse(text), options, result);
    return result;
}

static void print_answers(const struct check_result *result)
{
    for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
        const struct answer *a = &result->answers[o];
        print_error("%s: %s (%s)\n", oracle_table[o].name, verdict_names[a->verdict],
                    a->reason ? a->reason : "");
        for (const struct divergence *d = a->divergence; d; d = d->next)
            print_error("  %s: %s\n  %s\n", divergence_signature(&test_arena, d), d->summary,
                        d->evidence);
    }
    for (uint32_t i = 0; i < result->claim_count; i++)
        if (!result->claims[i].met)
            print_error("%s: %s\n", ast_claim_names[result->claims[i].expect->claim],
                        result->claims[i].why);
}

static void expect_no_divergence(const struct check_result *result)
{
    if (check_divergences(result, true))
        print_answers(result);
    assert_int_equal(check_divergences(result, true), 0);
}

static void test_race_free_kernel(void **state)
{
    (void)state;
    struct check_result *r =
        check("launch(threads = 6, warp = 4); shared int x[6]; private int p;"
              "kernel k() { private int i; for (i = 0; i < tid; i++) x[tid] += i; p = x[tid]; }"
              "expect race_free, terminates, final x == {0, 0, 1, 3, 6, 10};",
              &CHECK_DEFAULTS);
    expect_no_divergence(r);
    static const enum verdict verdicts[] = {
        [ORACLE_SIMULATION] = VERDICT_AGREE,
        [ORACLE_LEMMAS] = VERDICT_AGREE,
        [ORACLE_RESULT] = VERDICT_AGREE,
        [ORACLE_RACE] = VERDICT_AGREE,
        [ORACLE_LIVENESS] = VERDICT_NOT_APPLICABLE,
        [ORACLE_DIRECTIONS] = VERDICT_NOT_APPLICABLE,
        [ORACLE_ORDER] = VERDICT_AGREE,
    };
    for (uint32_t o = 0; o < sizeof verdicts / sizeof *verdicts; o++)
        assert_int_equal(r->answers[o].verdict, verdicts[o]);
    assert_int_equal(r->runs[SUBJECT_THREADS].schedules, 16);
    assert_int_equal(r->runs[SUBJECT_THREADS].statuses[STATUS_TERMINATED], 16);
    assert_int_equal(r->runs[SUBJECT_SIMT].schedules, 2);
    assert_int_equal(r->runs[SUBJECT_SIMT].final_count, 1);
    assert_int_equal(r->claim_count, 3);
    for (uint32_t i = 0; i < r->claim_count; i++)
        assert_true(r->claims[i].met);
    assert_true(r->thread_steps > 0 && r->warp_steps > 0);
    assert_true(r->hits[RULE_SIMT_WHILE_CONT] > 0 && r->hits[RULE_THR_CONTEXT] > 0);
}

static void test_racy_kernel(void **state)
{
    (void)state;
    struct check_result *r = check("shared int x; kernel k() { x = x + 1; }"
                                   "expect race x, race, terminates; expect simt: final x == 1;",
                                   &CHECK_DEFAULTS);
    expect_no_divergence(r);
    assert_int_equal(r->answers[ORACLE_RESULT].verdict, VERDICT_NOT_APPLICABLE);
    assert_int_equal(r->answers[ORACLE_RACE].verdict, VERDICT_AGREE);
    assert_true(r->runs[SUBJECT_THREADS].final_count > 1);
    assert_int_equal(r->runs[SUBJECT_SIMT].schedules, 1); /* equal values: no winner to choose */
    for (uint32_t i = 0; i < r->claim_count; i++)
        assert_true(r->claims[i].met);
}

/* Winners of conflicting writes are choices: several schedules of one warp, several stores. */
static void test_conflicting_writes(void **state)
{
    (void)state;
    struct check_result *r =
        check("shared int x; kernel k() { x = tid; } expect race x;", &CHECK_DEFAULTS);
    assert_int_equal(check_divergences(r, true), 0);
    assert_int_equal(r->runs[SUBJECT_SIMT].schedules, 4);
    assert_true(r->runs[SUBJECT_SIMT].final_count > 1);
}

static const struct {
    const char *text;
    const char *why; /* of the first claim; NULL: met */
} claims[] = {
    {"shared int x; kernel k() { x = tid; } expect race_free;", "threads: thread 0 writes x"},
    {"shared int x; kernel k() { if (tid == 0) x = 1; } expect race;", "threads: no explored"},
    {"shared int x, y; kernel k() { x = tid; } expect race y;",
     "threads: no explored execution has a race on y (but thread 0 writes x"},
    {"kernel k() { while (1) ; } expect terminates;",
     "threads: an execution that starves nobody never ends"},
    {"kernel k() { while (1) ; } expect nonterminating;", NULL},
    {"kernel k() { } expect nonterminating;", "threads: no lasso"},
    {"kernel k() { assert(tid != 1); } expect assert_fails;", NULL},
    {"kernel k() { assert(tid != 1); } expect terminates;",
     "threads: executions ended so: 16 assert_fails"},
    {"kernel k() { } expect assert_fails;", "threads: executions ended so: 16 terminated"},
    {"shared int x[2]; kernel k() { x[tid] = 1; } expect simt: out_of_bounds;", NULL},
    {"void f() { f(); } kernel k() { f(); } expect call_depth;", NULL},
    {"kernel k() { } expect deadlock;", "threads: executions"},
    {"kernel k() { } expect stuck;", "threads: executions"},
    {"kernel k() { } expect unfair;", "no warp execution"},
    {"shared int x; kernel k() { if (tid == 0) x = 2; } expect final x == 3;",
     "threads: an execution ends with x == 2"},
    {"launch(threads = 2, blocks = 2); shared int x; kernel k() { if (tid == 0) x = bid; }"
     " expect final x == 0;",
     "threads: an execution ends with x of block 1 == 1"},
    {"launch(threads = 2, blocks = 2); shared int x; kernel k() { if (tid == 0) x = 7; }"
     " expect final x == 7;",
     NULL},
    {"shared int x; kernel k() { while (1) ; } expect final x == 0;",
     "threads: no explored execution terminates"},
    {"shared int x; kernel k() { } expect nosuch: race_free;", "there is no subject 'nosuch'"},
    {"kernel k() { sync(0, 4); } expect race_free;", NULL},
    {"kernel k() { sync(0, 4); assume(tid); } expect race_free;",
     "the kernel was refused: unsupported"},
    {"kernel k() { sync(0, 4); } expect simt: terminates;", "the kernel was refused: unsupported"},
    {"kernel k() { barrier(); } expect race_free, terminates;", NULL},
    {"kernel k() { if (tid) barrier(); } expect barrier_divergence;", NULL},
    {"kernel k() { assume(tid); } expect terminates;",
     "threads: executions ended so: 16 infeasible"},
};

/* The budget grows with the grid. */
static void test_large_grid(void **state)
{
    (void)state;
    struct check_result *r = check("launch(threads = 1024, warp = 64, blocks = 4);"
                                   "global int x[4096]; kernel k() { private int i;"
                                   " for (i = 0; i < 1; i++) x[bid * threads + tid] += i; }"
                                   "expect race_free, terminates;",
                                   &CHECK_DEFAULTS);
    assert_true(r->claims[0].met && r->claims[1].met);
}

static void test_claims(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct check_result *r = check(claims[i].text, &CHECK_DEFAULTS);
        const struct check_claim *claim = &r->claims[0];
        bool as_expected = claim->met == !claims[i].why &&
                           (claim->met || strstr(claim->why, claims[i].why) == claim->why);
        if (!as_expected)
            print_error("%s\n  %s\n", claims[i].text, claim->met ? "met" : claim->why);
        assert_true(as_expected);
        assert_int_equal(check_divergences(r, false), 0);
    }
}

static void test_refused(void **state)
{
    (void)state;
    struct check_result *r =
        check("kernel k() {\n  sync(0, 4);\n  assume(tid);\n}", &CHECK_DEFAULTS);
    assert_null(r->program);
    assert_string_equal(r->reason, "unsupported statement 'sync' at line 2");
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        bool ptx = subject_table[s].vtable && subject_table[s].vtable->form == FORM_PTX;
        assert_string_equal(r->runs[s].reason, !(SUBJECTS_DEFAULT & SUBJECT_BIT(s)) ? "not asked"
                                               : ptx ? "unsupported statement 'assume' at line 3"
                                                     : r->reason);
    }
    for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
        assert_int_equal(r->answers[o].verdict, VERDICT_NOT_APPLICABLE);
        if (ORACLES_DEFAULT >> o & 1)
            assert_ptr_equal(r->answers[o].reason, r->reason);
        else
            assert_string_equal(r->answers[o].reason, "not asked");
    }
}

/* Subjects refuse a kernel one by one, each with its reason. */
static void test_refused_by_some(void **state)
{
    (void)state;
    struct check_result *r = check("shared int x; kernel k() blocks { Start: x = 1; goto End; }"
                                   "expect race x, terminates; expect threads: terminates;",
                                   &CHECK_DEFAULTS);
    assert_non_null(r->program);
    assert_non_null(strstr(r->runs[SUBJECT_THREADS].reason, "block program"));
    assert_null(r->runs[SUBJECT_INTERLEAVE].reason);
    assert_null(r->runs[SUBJECT_PREDICATED].reason);
    assert_null(r->runs[SUBJECT_LOCKSTEP].reason);
    assert_true(r->claims[0].met && r->claims[1].met);
    assert_false(r->claims[2].met);
    assert_non_null(strstr(r->claims[2].why, "block program"));
    r = check("shared int x; kernel k() blocks { Start: goto A, B; A: assume(tid == 0); goto B;"
              " B: assume(tid != 0); goto A, C; C: assume(tid > 1); goto End; }",
              &CHECK_DEFAULTS);
    assert_null(r->program);
    assert_non_null(strstr(r->reason, "irreducible"));
    assert_non_null(strstr(r->runs[SUBJECT_LOCKSTEP].reason, "irreducible"));
}

/* A variant runs where an expectation names it, and is compared with nothing. */
static void test_named_variant(void **state)
{
    (void)state;
    static const char text[] = "launch(threads = 2); shared int x;"
                               "kernel k() { if (tid == 0) barrier(); x = 1; }%s";
    struct check_options options = CHECK_DEFAULTS;
    struct check_result *r =
        check(arena_printf(&test_arena, text, "expect interleave:f1: stuck;"), &options);
    assert_true(r->claims[0].met);
    assert_true(r->subjects & SUBJECT_BIT(SUBJECT_INTERLEAVE_F1));
    assert_true(r->runs[SUBJECT_INTERLEAVE].statuses[STATUS_BARRIER_DIVERGENCE] > 0);
    assert_int_equal(check_divergences(r, true), 0);
    r = check(arena_printf(&test_arena, text, ""), &options);
    assert_int_equal(r->runs[SUBJECT_INTERLEAVE_F1].schedules, 0);
    options.subjects = SUBJECT_BIT(SUBJECT_INTERLEAVE);
    r = check(arena_printf(&test_arena, text, "expect interleave:f1: stuck;"), &options);
    assert_false(r->claims[0].met);
}

/* An ill-formed kernel runs, but phi(P) is compared with nothing (CK1). */
static void test_ill_formed(void **state)
{
    (void)state;
    struct check_result *r =
        check("launch(threads = 2); shared int v; kernel k() blocks { Start: goto B1, B2;"
              " B1: assume(tid == 0); v = 4; assume(v == 5); goto End;"
              " B2: assume(tid != 0); v = 5; goto End; }"
              "expect interleave: race v; expect lockstep: infeasible, race_free;",
              &CHECK_DEFAULTS);
    for (uint32_t i = 0; i < r->claim_count; i++)
        assert_true(r->claims[i].met);
    assert_int_equal(check_divergences(r, true), 0);
}

static void test_selection(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    options.subjects = SUBJECT_BIT(SUBJECT_SIMT);
    options.oracles = 1u << ORACLE_LEMMAS;
    struct check_result *r = check("kernel k() { while (lane < 0) ; }", &options);
    assert_string_equal(r->runs[SUBJECT_THREADS].reason, "not asked");
    assert_int_equal(r->answers[ORACLE_LEMMAS].verdict, VERDICT_AGREE);
    assert_string_equal(r->answers[ORACLE_SIMULATION].reason, "not asked");
    options.subjects = SUBJECT_BIT(SUBJECT_THREADS);
    r = check("kernel k() { }", &options);
    assert_int_equal(r->answers[ORACLE_LEMMAS].verdict, VERDICT_NOT_APPLICABLE);
}

static void test_strict_is_known(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    options.modes = ORACLE_MODE_LEMMAS_STRICT;
    struct check_result *r =
        check("kernel k() { private int i = 0; while (i < tid) i++; }", &options);
    assert_int_equal(check_divergences(r, true), 1);
    assert_int_equal(check_divergences(r, false), 0);
    const struct divergence *d =
        check_find(&test_arena, r, "lemmas|lemma-5|simt.while_cont|thread steps", false);
    assert_non_null(d);
    assert_string_equal(d->known, "A-4");
    assert_ptr_equal(check_find(&test_arena, r, "lemmas|lemma-5", true), d);
    assert_null(check_find(&test_arena, r, "lemmas|lemma-4", true));
}

/* The same kernel and options give the same answers, and a tape steers the second execution. */
static void test_tape(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    size_t column;
    options.tape = tape_parse(&test_arena, "1 0 1 0", &column);
    options.tape_subject = SUBJECT_THREADS;
    struct check_result *r =
        check("launch(threads = 2); shared int x; kernel k() { x = tid; }", &options);
    assert_int_equal(r->runs[SUBJECT_THREADS].schedules, 2);
    assert_int_equal(r->runs[SUBJECT_THREADS].final_count, 2);
    assert_int_equal(r->runs[SUBJECT_THREADS].finals[0][0], 1); /* sequential */
    assert_int_equal(r->runs[SUBJECT_THREADS].finals[1][0], 0);
}

/* Memory does not grow with the number of schedules but for what is kept. */
static void test_arena_is_bounded(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    static const char text[] = "shared int x[8]; kernel k() { x[tid] = tid; x[tid + 4] = 1; }";
    size_t before = test_arena.used;
    check(text, &options);
    size_t few = test_arena.used - before;
    options.schedules = 400;
    before = test_arena.used;
    check(text, &options);
    assert_true(test_arena.used - before < few + 400 * 1024);
}

/* The rules of all subjects are counted, of each machine once. */
static void test_rules_are_counted(void **state)
{
    (void)state;
    static const struct {
        enum subject_id subject;
        enum rule rule;
    } cases[] = {
        {SUBJECT_SIMT, RULE_SIMT_ASSIGN},         {SUBJECT_THREADS, RULE_THR_ASSIGN_WR},
        {SUBJECT_INTERLEAVE, RULE_INTK_ASSIGN},   {SUBJECT_PREDICATED, RULE_INTK_ASSIGN},
        {SUBJECT_LOCKSTEP, RULE_LOCK_VEC_ASSIGN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct check_options options = CHECK_DEFAULTS;
        options.subjects = SUBJECT_BIT(cases[i].subject);
        struct check_result *r = check("launch(threads = 2); shared int x[2]; kernel k() { private "
                                       "int i; for (i = 0; i < 2; i++)"
                                       " x[tid] = i; }",
                                       &options);
        if (r->hits[cases[i].rule] == 0)
            fail_msg("%s", subject_table[cases[i].subject].name);
    }
}

/* No execution terminates, and a race lies between a write and a failure that few schedules part: neither what the
 * search sees nor what the detector does is wrong. */
static void test_race_without_an_end(void **state)
{
    (void)state;
    struct check_options options = CHECK_DEFAULTS;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    options.exhaustive = true;
    options.subjects = SUBJECT_BIT(SUBJECT_THREADS);
    check_kernel(&test_arena,
                 support_parse("launch(threads = 2, warp = 2); global int x;"
                               "kernel k() { private int i;"
                               " while (i < 3 + 9 * tid) { i = i + 1; } x = 1; assert(0); }"),
                 &options, result);
    const struct check_run *run = &result->runs[SUBJECT_THREADS];
    assert_true(run->search->complete && run->search->race);
    assert_false(run->race); /* or the test tests nothing */
    assert_int_equal(run->statuses[STATUS_TERMINATED], 0);
    assert_null(result->answers[ORACLE_RACE].divergence);
}

/* One for each oracle that diverges, known ones only if asked for; found by either key. */
static void test_count_divergences(void **state)
{
    (void)state;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    assert_int_equal(check_divergences(result, true), 0);
    for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
        struct divergence known = {.oracle = (enum oracle_id)o,
                                   .class_name = "a",
                                   .rule = RULE_NONE,
                                   .observable = "x",
                                   .known = "A-4"};
        struct divergence fresh = known;
        fresh.known = NULL;
        fresh.class_name = "b";
        result->answers[o].divergence = &known;
        assert_int_equal(check_divergences(result, false), 0);
        assert_int_equal(check_divergences(result, true), 1);
        known.next = &fresh;
        assert_int_equal(check_divergences(result, false), 1);
        assert_int_equal(check_divergences(result, true), 1);
        const char *key = divergence_key(&test_arena, &fresh);
        const char *signature = divergence_signature(&test_arena, &fresh);
        assert_ptr_equal(check_find(&test_arena, result, key, true), &fresh);
        assert_ptr_equal(check_find(&test_arena, result, signature, false), &fresh);
        assert_null(check_find(&test_arena, result, key, false));
        assert_null(check_find(&test_arena, result, signature, true));
        result->answers[o].divergence = NULL;
    }
    static struct divergence all[ORACLE_COUNT];
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        result->answers[o].divergence = &all[o];
    assert_int_equal(check_divergences(result, false), ORACLE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rules_are_counted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_race_free_kernel, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_racy_kernel, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_conflicting_writes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_large_grid, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_claims, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused_by_some, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_named_variant, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ill_formed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_selection, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_strict_is_known, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_tape, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_arena_is_bounded, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_race_without_an_end, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_count_divergences, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
