/*
 * The findings of tests/reduce/findings that no fault has to be planted for: each ends at its size or below,
 * shows its signature when its text is read again, the same for any number of jobs, and interrupted
 * anywhere it still shows the signature.
 */
#include "engine/input/input.h"
#include "fuzz/case/example.h"
#include "tests/unit/shared/arena_fixture.h"
#include "tests/unit/shared/many.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FINDINGS SIMTFUZZ_SOURCE_DIR "/tests/reduce/findings"

enum {
    FINDINGS_LEAST = 30,
    FINDINGS_MAX = 200,
    RUNS_MOST = 400,
    HURRIED_MORE = 4,
    TEXT_MAX = 1 << 16
};

struct finding {
    const char *name, *signature;
    struct ast_kernel *kernel;
    struct check_options check;
    uint32_t size;
    uint64_t number; /* of those that are tested */
};

static struct ast_kernel *parse(const char *name, const char *text)
{
    static struct diag diag;
    diag_init(&diag, name, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    return kernel;
}

/* What stands behind "// key: " in a line of its own; NULL: there is none. */
static const char *head_line(const char *text, const char *key)
{
    const char *line = strstr(text, arena_printf(&arena, "// %s: ", key));
    if (!line)
        return NULL;
    line += strlen(key) + 5;
    return arena_strndup(&arena, line, strcspn(line, "\n"));
}

/* What stands behind a word of the options, up to the next blank; NULL: there is none. */
static const char *option(const char *options, const char *word)
{
    const char *at = strstr(options, word);
    return at ? arena_strndup(&arena, at + strlen(word), strcspn(at + strlen(word), " ")) : NULL;
}

/* "--subjects a,b --oracles c" */
static struct check_options read_options(const char *text)
{
    struct check_options check = CHECK_DEFAULTS;
    const char *at, *subjects = option(text, "--subjects "), *oracles = option(text, "--oracles ");
    assert_true(!subjects || subject_parse_list(subjects, &check.subjects, &at));
    assert_true(!oracles || oracle_parse_list(oracles, &check.oracles, &check.modes, &at));
    assert_true(subjects || oracles);
    return check;
}

/* False: a fault has to be planted. */
static bool read_finding(const char *name, struct finding *finding)
{
    static char text[TEXT_MAX];
    FILE *file = fopen(arena_printf(&arena, "%s/%s", FINDINGS, name), "r");
    assert_non_null(file);
    text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
    fclose(file);
    if (head_line(text, "fault"))
        return false;
    finding->name = name;
    finding->signature = head_line(text, "signature");
    finding->check = read_options(head_line(text, "check"));
    finding->size = (uint32_t)strtoul(head_line(text, "size"), NULL, 10);
    finding->kernel = parse(name, text);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t list_findings(const char *names[FINDINGS_MAX])
{
    uint32_t count = 0;
    DIR *folder = opendir(FINDINGS);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".simt") && count < FINDINGS_MAX)
            names[count++] = arena_strndup(&arena, entry->d_name, strlen(entry->d_name));
    closedir(folder);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

typedef void test_finding(const struct finding *finding);

static bool all_of_them(uint64_t number)
{
    (void)number;
    return true;
}

static void each_finding(test_finding *test, bool (*asked)(uint64_t number))
{
    const char *names[FINDINGS_MAX];
    uint32_t tested = 0, count = list_findings(names);
    for (uint32_t i = 0; i < count; i++) {
        size_t mark = arena_mark(&arena);
        struct finding finding;
        if (read_finding(names[i], &finding)) {
            finding.number = tested;
            if (asked(tested))
                test(&finding);
            tested++;
        }
        arena_release(&arena, mark);
    }
    assert_true(tested >= FINDINGS_LEAST);
}

static struct signature_result reduce(const struct finding *finding, struct reduce_options options)
{
    struct signature_result result;
    options.check = finding->check;
    reduce_finding(&arena, finding->kernel, finding->signature, &options, &result);
    if (!result.reduced.reproduced)
        fail_msg("%s does not show %s", finding->name, finding->signature);
    return result;
}

/* Read again from its text, it shows the very signature under the options that it was given with. */
static void expect_shown(const struct finding *finding, const struct ast_kernel *kernel)
{
    const char *text = print_kernel(&arena, kernel);
    struct check_result *result = ARENA_NEW(&arena, struct check_result);
    check_kernel(&arena, parse(finding->name, text), &finding->check, result);
    if (!check_find(&arena, result, finding->signature, false))
        fail_msg("%s: %s has slipped:\n%s", finding->name, finding->signature, text);
}

static void ends_small(const struct finding *finding)
{
    struct signature_result one = reduce(finding, (struct reduce_options){.max_tests = 20000});
    assert_false(one.relaxed);
    assert_int_equal(one.reduced.ending, REDUCE_MINIMAL);
    expect_shown(finding, one.reduced.kernel);
    if (one.reduced.size_after > finding->size || one.reduced.runs > RUNS_MOST)
        fail_msg("%s ends at %u statements, not %u, after %u runs:\n%s", finding->name,
                 one.reduced.size_after, finding->size, one.reduced.runs,
                 print_kernel(&arena, one.reduced.kernel));
    if (!many_has(finding->number))
        return;
    struct signature_result three =
        reduce(finding, (struct reduce_options){.max_tests = 20000, .jobs = 3});
    assert_string_equal(print_kernel(&arena, one.reduced.kernel),
                        print_kernel(&arena, three.reduced.kernel));
    assert_int_equal(one.reduced.tests, three.reduced.tests);
    assert_int_equal(one.reduced.runs, three.reduced.runs);
}

static void findings_end_small(void **state)
{
    (void)state;
    each_finding(ends_small, all_of_them);
}

/* Asked in the cheapest way first, with everything only at the end. */
static void ends_hurried(const struct finding *finding)
{
    struct signature_result result =
        reduce(finding, (struct reduce_options){.max_tests = 20000, .hurried = true});
    expect_shown(finding, result.reduced.kernel);
    assert_non_null(result.divergence);
    if (result.reduced.size_after > finding->size + HURRIED_MORE)
        fail_msg("%s ends at %u statements, not %u, when there is little time:\n%s", finding->name,
                 result.reduced.size_after, finding->size,
                 print_kernel(&arena, result.reduced.kernel));
}

static void hurried_reductions_keep_the_signature(void **state)
{
    (void)state;
    each_finding(ends_hurried, many_has);
}

/* For so many questions it may go on. */
static bool go_on_for(void *context, const struct reduce_so_far *so_far)
{
    uint32_t *left = context;
    (void)so_far;
    return *left > 0 && (*left)-- > 0;
}

static void keeps_its_signature_when_stopped(const struct finding *finding)
{
    uint32_t size = ast_kernel_size(finding->kernel);
    for (uint32_t questions = 0; questions <= 32; questions = questions * 2 + 1) {
        uint32_t left = questions;
        struct signature_result result =
            reduce(finding, (struct reduce_options){
                                .max_tests = 20000, .go_on = go_on_for, .go_on_context = &left});
        assert_true(result.reduced.ending == REDUCE_STOPPED || left > 0);
        assert_true(result.reduced.size_after <= size);
        size = result.reduced.size_after;
        expect_shown(finding, result.reduced.kernel);
        assert_non_null(result.divergence);
    }
}

static void stopped_reductions_keep_the_signature(void **state)
{
    (void)state;
    each_finding(keeps_its_signature_when_stopped, many_has);
}

/* A case of a campaign that shows erratum A-4; its signature. */
static const char *shown_case(struct fuzz_case *c)
{
    struct check_options check = CHECK_DEFAULTS;
    struct gen_options gen = GEN_DEFAULTS;
    check.oracles = 1u << ORACLE_LEMMAS;
    check.modes = ORACLE_MODE_LEMMAS_STRICT;
    for (uint64_t number = 0; number < 200; number++) {
        const char *text;
        case_of_campaign(c, 0xa4, number, &gen, &check);
        struct check_result *result = ARENA_NEW(&arena, struct check_result);
        check_kernel(&arena, example_kernel(&arena, c, &text), &c->check, result);
        if (result->answers[ORACLE_LEMMAS].verdict == VERDICT_DIVERGE)
            return divergence_signature(&arena, result->answers[ORACLE_LEMMAS].divergence);
    }
    fail_msg("no case shows it");
    return NULL;
}

/* What a campaign stores of a finding whose minimisation is ended at once, soon, not at all. */
static void a_campaign_that_ends_keeps_its_findings(void **state)
{
    (void)state;
    struct arena scratch;
    struct fuzz_case c;
    const char *signature = shown_case(&c);
    assert_int_equal(arena_init(&scratch, (size_t)4 << 30), 0);
    static const uint32_t questions[] = {0, 3, UINT32_MAX};
    uint32_t size[3];
    for (int i = 0; i < 3; i++) {
        uint32_t left = questions[i];
        struct reduce_options options = {
            .max_tests = EXAMPLE_REDUCE_TESTS, .go_on = go_on_for, .go_on_context = &left};
        struct example example;
        example_make(&arena, &scratch, &c, NULL, signature, &options, &example);
        assert_true(example.replayed);
        assert_string_equal(example.raw.signature, signature);
        assert_int_equal(example.minimised, i > 0);
        size[i] = example.minimised ? example.small_statements : example.statements;
        if (example.minimised) {
            assert_string_equal(example.small.signature, signature);
            assert_int_equal(example.ending, i == 2 ? REDUCE_MINIMAL : REDUCE_STOPPED);
        }
    }
    assert_true(size[2] < size[1] && size[1] <= size[0]);
    arena_destroy(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_end_small),
        cmocka_unit_test(hurried_reductions_keep_the_signature),
        cmocka_unit_test(stopped_reductions_keep_the_signature),
        cmocka_unit_test(a_campaign_that_ends_keeps_its_findings),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
