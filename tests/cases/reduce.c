/* Kernels made small: what a reduction leaves of them. */
#include "tests/cases/cases.h"

#include "engine/language/print.h"
#include "fuzz/keep/keep_signature.h"
#include "tests/unit/fuzz/reduce/planted_interest.h"
#include "tests/unit/shared/corpus_kernel.h"

enum { TESTS_MOST = 20000 };

static size_t begin_case(void)
{
    if (!test_arena.base)
        assert_int_equal(support_setup(NULL), 0);
    return arena_mark(&test_arena);
}

/* ---- reduce TEXT: an input, or the corpus file that it names, down to what must stand in it for TEXT to stand ---- */

static bool keeps_text(struct arena *scratch, const struct ast_kernel *kernel, void *context)
{
    const char *const *text = context;
    return strstr(print_kernel(scratch, kernel), *text) != NULL;
}

/* What is left is a kernel, and no pass finds anything more. */
static void keep_text(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    struct reduce_result result;
    planted_reduce(&test_arena,
                   strncmp(input, "corpus/", 7) == 0 ? corpus_kernel(input) : support_parse(input),
                   keeps_text, &options, &result);
    assert_true(result.reproduced);
    assert_int_equal(result.ending, REDUCE_MINIMAL);
    assert_non_null(strstr(print_kernel(&test_arena, result.kernel), options));
    support_parse(print_kernel(&test_arena, result.kernel));
    text_format(out, "%u left\n", result.size_after);
    text_put(out, print_kernel(&test_arena, result.kernel));
    arena_release(&test_arena, mark);
}

/* ---- reduce-finding [SIGNATURE]: what still shows the first divergence of the input, or the one that is given ---- */

static const char *signature_of(const struct ast_kernel *kernel, const struct check_options *check)
{
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    check_kernel(&test_arena, kernel, check, result);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (result->answers[i].verdict == VERDICT_DIVERGE)
            return divergence_signature(&test_arena, result->answers[i].divergence);
    return "no divergence";
}

/* One job and two leave the same, by the same number of candidates. */
static void keep_finding(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    struct signature_result result[2];
    struct reduce_options wanted = {.check = CHECK_DEFAULTS, .max_tests = TESTS_MOST};
    struct ast_kernel *kernel = support_parse(input);
    const char *signature = *options ? options : signature_of(kernel, &wanted.check);
    for (uint32_t i = 0; i < 2; i++) {
        wanted.jobs = i + 1;
        reduce_finding(&test_arena, kernel, signature, &wanted, &result[i]);
    }
    const struct reduce_result *r = &result[0].reduced;
    const char *text = print_kernel(&test_arena, r->kernel);
    assert_string_equal(print_kernel(&test_arena, result[1].reduced.kernel), text);
    assert_int_equal(result[1].reduced.tests, r->tests);
    assert_int_equal(result[0].divergence != NULL, r->reproduced);
    text_format(out, "%s%s\n", r->reproduced ? signature : "not reproduced",
                result[0].relaxed ? ", relaxed" : "");
    if (result[0].relaxed)
        text_format(out, "left with %s\n", signature_of(r->kernel, &wanted.check));
    text_format(out, "%u of %u left\n%s", r->size_after, r->size_before, text);
    arena_release(&test_arena, mark);
}

const struct cases_command cases_reduce[] = {
    {"reduce", keep_text}, {"reduce-finding", keep_finding}, {NULL, NULL}};
