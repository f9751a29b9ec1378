/*
 * The oracles `fences` and `reductions` on small kernels that race: what they compare is there to be lost. Planted
 * faults of the rules that they rest on: tests/mutation/faults/reductions.txt.
 */
#include "tests/unit/shared/checking.h"

#include "oracle/memory/outcome_sets.h"

/* Store buffering; a reader of a word, of another, and of the first again; a message in shared memory. */
static const char BUFFERING[] =
    "launch(threads = 2, warp = 1); global int x, y, r[2];"
    " kernel k() { if (tid == 0) { x = 1; r[0] = y; } else { y = 1; r[1] = x; } }";
static const char READING[] = /* x, y and r lie in different lines */
    "launch(threads = 1, warp = 1, blocks = 2, sms = 2, lines = 4);"
    " global int x[8], y[8], r[8];"
    " kernel k() { if (bid == 0) { x[0] = 1; y[0] = 1; }"
    " else { r[0] = x[0]; r[1] = y[0]; r[2] = x[0]; } }";
static const char MESSAGE[] =
    "launch(threads = 2, warp = 1); shared int s[2]; global int r[2];"
    " kernel k() { if (tid == 0) { s[0] = 1; s[1] = 1; } else { r[0] = s[1]; r[1] = s[0]; } }";
static const char MEETING[] = "launch(threads = 2, warp = 1); global int x, r[2];"
                              " kernel k() { if (tid == 0) { x = 1; } barrier(); r[tid] = x; }";
/* An access of a warp is two operations, with caches: threads may do so, a warp does not. */
static const char WIDE[] =
    "launch(threads = 3, warp = 2, lines = 2, words = 1); global int x[2], r[2];"
    " kernel k() { if (tid < 2) { x[tid] = 1; }"
    " else { r[0] = x[0]; r[1] = x[1]; } }";
static const char COUNTING[] = "launch(threads = 2, warp = 1); shared int s; global int r[2];"
                               " kernel k() { r[tid] = atomic_add(s, 1); }";

static const struct answer *ask(const char *text, enum oracle_id oracle)
{
    static struct check_options options;
    static struct check_result result;
    options = CHECK_DEFAULTS;
    options.subjects =
        SUBJECT_BIT(SUBJECT_BLOCK) | SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_THREAD_PC);
    options.oracles = 1u << oracle;
    memset(&result, 0, sizeof result);
    check_kernel(&test_arena, support_parse(text), &options, &result);
    if (result.answers[oracle].divergence)
        print_error("%s\n", result.answers[oracle].divergence->summary);
    return &result.answers[oracle];
}

static void agrees(const char *text, uint32_t theorems)
{
    const struct answer *answer = ask(text, ORACLE_FENCES);
    assert_int_equal(answer->verdict, VERDICT_AGREE);
    assert_int_equal(answer->checked, theorems);
}

static void test_fences(void **state)
{
    (void)state;
    agrees(BUFFERING, 6);
    agrees(READING, 6);
    agrees(MESSAGE, 6);
    agrees(WIDE, 6);
    agrees(MEETING, 3); /* barriers do not wait for volatile accesses */
    const struct answer *answer = ask(COUNTING, ORACLE_FENCES);
    assert_int_equal(answer->verdict, VERDICT_NOT_APPLICABLE);
    assert_non_null(strstr(answer->reason, "shared memory"));
}

static uint32_t outcomes(const char *text, struct memory_options memory)
{
    static struct check_options options;
    static struct check_result result;
    options = CHECK_DEFAULTS;
    options.subjects = SUBJECT_BIT(SUBJECT_BLOCK);
    memset(&result, 0, sizeof result);
    struct checking c = checking_of(text, &options, &result);
    static const enum subject_id block = SUBJECT_BLOCK;
    const char *why;
    explore_prepare(&c);
    const struct outcome_base *base = outcome_base(&c, &block, 1, &why);
    assert_non_null(base);
    const struct search_result *found = outcome_search(
        &c, memory.profile ? base->cached : base->plain, base->program, &memory, SEARCH_SLEEP);
    assert_true(found->complete);
    return found->outcome_count;
}

/* The theorems are about something: without fences there are more outcomes. */
static void test_without(void **state)
{
    (void)state;
    const struct memory_options plain = {.profile = MEMORY_SC};
    struct memory_options cached = {.profile = MEMORY_PRINTED, .words = 8, .eager = true};
    assert_int_equal(outcomes(BUFFERING, plain), 3);
    assert_int_equal(outcomes(BUFFERING, cached), 4);
    assert_int_equal(outcomes(MESSAGE, plain), 3);
    assert_int_equal(outcomes(MESSAGE, cached), 4);
    cached.access = ACCESS_FENCED;
    assert_int_equal(outcomes(BUFFERING, cached), 3);
    cached.access = ACCESS_VOLATILE;
    assert_int_equal(outcomes(MESSAGE, cached), 3);
}

static void test_reductions(void **state)
{
    (void)state;
    static const char *const texts[] = {BUFFERING, READING, MESSAGE, MEETING, COUNTING};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct answer *answer = ask(texts[i], ORACLE_REDUCTIONS);
        assert_int_equal(answer->verdict, VERDICT_AGREE);
        assert_true(answer->checked > 20);
    }
    /* Some of the sets are small enough to be compared. */
    assert_non_null(strstr(ask(COUNTING, ORACLE_REDUCTIONS)->reason, "compared: 4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fences, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_without, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_reductions, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
