/*
 * The oracle `safety` on whole kernels: every switch of the branch unit that chapter 6 can see makes it speak, on the
 * catalogue's program for it and nowhere else; and the report's own rules never do.
 */
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"
#include "oracle/check/check.h"

static struct check_result *check_program(const char *name, subject_set subjects, uint32_t modes)
{
    static char text[1 << 16];
    struct check_options options = CHECK_DEFAULTS;
    struct diag diag;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/corpus/papers/crs/%s.ptx", SIMTFUZZ_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    diag_init(&diag, path, text, length);
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, length, &diag);
    assert_non_null(kernel);
    kernel->expects = NULL;
    options.subjects = subjects;
    options.oracles = 1u << ORACLE_SAFETY;
    options.modes = modes;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, kernel, &options, result);
    return result;
}

/* K1 of what is said under the switch; NULL: nothing. Each is known by the switch's number. */
static const struct {
    const char *program, *subject, *known, *key;
} switches[] = {
    {"mut-01", "crs:sync-flag", "MUT.01", "safety|stack-cons 4"},
    {"mut-02", "crs:uniform-return", "MUT.02", "safety|act-cons"},
    {"mut-03", "crs:uniform-break", "MUT.03", "safety|act-cons"},
    {"mut-04", "crs:uniform-exit", "MUT.04", "safety|corollary-1"},
    {"mut-05", "crs:call-push", "MUT.05", "safety|private"},
    {"mut-06", "crs:unwind-return", NULL, NULL}, /* the program is not consistent */
    {"mut-07", "crs:target-next", "MUT.07", "safety|inact-cons"},
    {"mut-08", "thread-pc:no-reset", "MUT.08", "safety|inact-cons"},
    {"mut-09", "crs:call-target-no-token", "MUT.09", "safety|inact-cons"},
    {"mut-10", "crs:enable-all", "MUT.10", "safety|inact-cons"},
    {"mut-11", "crs:enable-any", "MUT.11", "safety|act-cons"},
    {"mut-12", "crs:no-minus-sync", "MUT.12", "safety|inv-5"},
    {"mut-13", "crs:no-minus-call", "MUT.13", "safety|inv-5"},
    {"mut-14", "crs:unwind-once", "MUT.14", "safety|corollary-1"},
    {"mut-15", "crs:break-direct", "MUT.15", "safety|act-cons"},
    {"mut-16", "crs:sync-skip", "MUT.16", "safety|act-cons"},
    {"mut-17", "crs:not-taken-all", "MUT.17", "safety|inv-7"},
    {"mut-18", "crs:call-guard-all", "MUT.18", "safety|act-cons"},
    {"mut-19", "crs:call-guard-token", "MUT.19", "safety|private"},
    {"mut-20", "crs:push-executing", "MUT.20", "safety|inv-3"},
    {"mut-21", "crs:not-taken-first", NULL, NULL}, /* another order, as good */
    {"mut-22", "crs:kappa", "MUT.22", "safety|kappa"},
    {"mut-23", "crs:guard-pc", "MUT.23", "safety|inact-cons"},
    {"mut-25", "crs:uniform-push", "MUT.25", "safety|inv-6"},
    {"mut-17", "crs:unwind-keeps", NULL, NULL}, /* no difference */
};

static void every_switch_makes_it_speak(void **state)
{
    (void)state;
    bool good = true;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        enum subject_id subject;
        size_t mark = arena_mark(&test_arena);
        assert_true(subject_parse(switches[i].subject, strlen(switches[i].subject), &subject));
        struct check_result *right = check_program(
            switches[i].program, SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_THREAD_PC), 0);
        assert_null(right->answers[ORACLE_SAFETY].divergence);
        struct check_result *r = check_program(
            switches[i].program,
            SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_THREAD_PC) | SUBJECT_BIT(subject), 0);
        const struct divergence *d = r->answers[ORACLE_SAFETY].divergence;
        const char *key = d ? divergence_key(&test_arena, d) : NULL;
        bool same =
            !d == !switches[i].key && (!d || (strcmp(key, switches[i].key) == 0 && d->known &&
                                              strcmp(d->known, switches[i].known) == 0));
        if (!same)
            print_error("%s under %s: %s\n", switches[i].program, switches[i].subject,
                        d ? key : "nothing");
        good &= same;
        arena_release(&test_arena, mark);
    }
    assert_true(good);
}

static void theorem_1_as_printed(void **state)
{
    (void)state;
    const subject_set crs = SUBJECT_BIT(SUBJECT_CRS);
    const struct answer *answer =
        &check_program("err-30", crs, ORACLE_MODE_SAFETY_PRINTED)->answers[ORACLE_SAFETY];
    assert_int_equal(answer->verdict, VERDICT_DIVERGE);
    assert_string_equal(answer->divergence->known, "ERR.30");
    assert_string_equal(divergence_signature(&test_arena, answer->divergence),
                        "safety|inact-cons|crs.call_guard|Theorem 1");
    answer = &check_program("err-30", crs, 0)->answers[ORACLE_SAFETY];
    assert_int_equal(answer->verdict, VERDICT_NOT_APPLICABLE);
    assert_non_null(strstr(answer->reason, "stack-cons 6 at line 23"));
    answer = &check_program("err-31", crs, ORACLE_MODE_SAFETY_PRINTED)->answers[ORACLE_SAFETY];
    assert_int_equal(answer->verdict, VERDICT_AGREE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_switch_makes_it_speak, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(theorem_1_as_printed, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
