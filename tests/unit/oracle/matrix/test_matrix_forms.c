/* One kernel, one matrix: the rows of progress models of kernels about waiting - generated, enumerated, of the corpus -
 * are the same in all forms that a kernel has: structured, blocks, PTX. */
#include "tests/unit/shared/support.h"

#include "engine/forms/lower_cfg.h"
#include "engine/input/input.h"
#include "fuzz/generate/generate.h"
#include "oracle/matrix/matrix.h"
#include "tests/unit/shared/corpus_kernel.h"

#include <stdio.h>
#include <stdlib.h>

static const struct matrix_options bounds = {.max_states = 1 << 12,
                                             .max_bytes = (uint64_t)32 << 20,
                                             .budget_steps = 1 << 12,
                                             .steps_a_state = 64};

static struct {
    uint32_t kernels, pairs, rows, unknown, differ, may_differ, do_differ;
} seen;

static bool same(const struct matrix_row *a, const struct matrix_row *b)
{
    return a->verdict == b->verdict && a->has_strong == b->has_strong &&
           (!a->has_strong || a->strong == b->strong);
}

static uint32_t compare(const char *what, const struct matrix *a, const struct matrix *b,
                        bool must_agree)
{
    uint32_t differ = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct matrix_row *x = &a->rows[i], *y = matrix_find(b, x->model, x->unit);
        if (!y || matrix_is_policy(x))
            continue;
        if (x->verdict == PROGRESS_UNKNOWN || y->verdict == PROGRESS_UNKNOWN) {
            seen.unknown++;
            continue;
        }
        seen.rows++;
        if (same(x, y))
            continue;
        differ++;
        if (must_agree || getenv("SIMTFUZZ_FORMS"))
            print_error("%s: %s %s: %s: %s%s; %s: %s%s\n", what, matrix_unit_names[x->unit],
                        x->model, subject_table[x->subject].name, matrix_verdict(x),
                        x->strong ? ", strongly" : "", subject_table[y->subject].name,
                        matrix_verdict(y), y->strong ? ", strongly" : "");
    }
    return differ;
}

/* The kernel as a text in blocks; NULL: it has none. */
static const struct ast_kernel *in_blocks(struct forms *forms)
{
    const struct lower_cfg_options options = {.link = false};
    const struct form *core = forms_get(forms, PROGRAM_CORE);
    const char *reason;
    return core->program ? lower_cfg(&test_arena, core->kernel, &options, &reason) : NULL;
}

static void compare_pair(const char *what, const struct matrix *a, const struct matrix *b,
                         bool must)
{
    if (a->count == 0 || b->count == 0)
        return;
    uint32_t differ = compare(what, a, b, must);
    seen.pairs += must;
    seen.differ += must ? differ : 0;
    seen.may_differ += !must;
    seen.do_differ += !must && differ > 0;
}

/* All its forms, and those of the text in blocks. */
static void compare_forms(const char *what, const struct ast_kernel *kernel)
{
    struct forms *forms = forms_new(&test_arena, kernel);
    const struct ast_kernel *blocks = in_blocks(forms);
    struct forms *others = blocks ? forms_new(&test_arena, blocks) : NULL;
    struct matrix matrices[2 * MATRIX_FORMS];
    uint32_t count = others ? 2 * MATRIX_FORMS : MATRIX_FORMS;
    seen.kernels++;
    for (uint32_t i = 0; i < count; i++)
        matrices[i] = matrix_of_form(i < MATRIX_FORMS ? forms : others,
                                     matrix_thread_subjects[i % MATRIX_FORMS], &bounds);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            compare_pair(what, &matrices[i], &matrices[k],
                         matrix_forms_agree(forms, matrix_thread_subjects[i % MATRIX_FORMS],
                                            matrix_thread_subjects[k % MATRIX_FORMS]));
}

static void report(const char *what)
{
    print_message(
        "%s: %u kernels, %u rows compared, %u unknown; of %u pairs of forms that must agree "
        "%u rows do not; of %u that need not agree %u do not\n",
        what, seen.kernels, seen.rows, seen.unknown, seen.pairs, seen.differ, seen.may_differ,
        seen.do_differ);
    assert_int_equal(seen.differ, 0);
    memset(&seen, 0, sizeof seen);
}

static uint32_t times(void)
{
    const char *text = getenv("SIMTFUZZ_FORMS_CASES");
    return text ? (uint32_t)atoi(text) : 1;
}

/* Of the enumeration every so many; with so many threads, or as drawn. */
static void generated(struct gen_options options, uint64_t seed, uint32_t cases, uint32_t apart,
                      uint32_t threads)
{
    for (uint32_t number = 0; number < cases * times(); number++) {
        size_t mark = arena_mark(&test_arena);
        uint64_t which = (uint64_t)number * apart;
        struct ast_kernel *kernel = gen_case(&test_arena, seed, which, &options);
        if (threads)
            kernel->launch.threads = threads;
        compare_forms(
            arena_printf(&test_arena, "case %u of seed %u", (uint32_t)which, (uint32_t)seed),
            kernel);
        arena_release(&test_arena, mark);
    }
}

static void test_about_waiting(void **state)
{
    struct gen_options options = GEN_DEFAULTS;
    (void)state;
    options.spin = true;
    generated(options, 19, 75, 1, 0);
    report("about waiting");
    options.small = true;
    generated(options, 20, 150, 1, 0);
    report("small, about waiting");
}

static void test_enumerated(void **state)
{
    struct gen_options options = GEN_DEFAULTS;
    (void)state;
    options.small = options.spin = options.enumerate = true;
    generated(options, 0, 100, 11, 0);
    report("enumerated");
    generated(options, 0, 100, 13, 3);
    report("enumerated, three threads");
}

static void test_ordinary(void **state)
{
    struct gen_options options = GEN_DEFAULTS;
    (void)state;
    options.small = true;
    generated(options, 21, 100, 1, 0);
    report("ordinary, small");
    options.blocks_only = true;
    generated(options, 22, 100, 1, 0);
    report("blocks, small");
}

static void test_corpus(void **state)
{
    char path[1024];
    FILE *list = popen("cd " SIMTFUZZ_SOURCE_DIR
                       " && ls corpus/progress/*.simt corpus/regress/*.simt corpus/papers/*.simt",
                       "r");
    (void)state;
    assert_non_null(list);
    while (fgets(path, sizeof path, list)) {
        size_t mark = arena_mark(&test_arena);
        path[strcspn(path, "\n")] = 0;
        compare_forms(path, corpus_kernel(path));
        arena_release(&test_arena, mark);
    }
    pclose(list);
    report("corpus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_about_waiting, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_enumerated, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ordinary, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_corpus, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
