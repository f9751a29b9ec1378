/* How verdicts of a termination matrix differ, and what is read off a row: each against its definition (matrix.h), for
 * every pair of rows and for drawn matrices. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "oracle/matrix/matrix.h"

enum { ROWS_MAX = 4, DRAWN = 20000 };

static const char *const models[] = {"unfair", "hsa",  "obe", "hsa-obe",  "lobe",
                                     "fair",   "simt", "tbc", "lockstep", "stackless:oldest",
                                     "fairly", "fai",  "",    "stackless"};
enum { MODELS = sizeof models / sizeof *models, FAIR = 5, PROGRESS_MODELS = 6, POLICY = 9 };

enum { VERDICTS = PROGRESS_HANGS + 1 };

static struct matrix_row row_of(uint32_t model, uint32_t unit, uint32_t verdict)
{
    return (struct matrix_row){.model = models[model],
                               .unit = (enum matrix_unit)unit,
                               .verdict = (enum progress_verdict)verdict};
}

static bool is_model(const struct matrix_row *row, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (strcmp(models[i], row->model) == 0)
            return true;
    return false;
}

static bool may_hang(const struct matrix_row *row)
{
    return row->verdict == PROGRESS_MAY_HANG || row->verdict == PROGRESS_HANGS;
}

/* By the sentences of MATRIX_CLASSES, two rows at a time. */
static unsigned classes_by_definition(const struct matrix_row *rows, uint32_t count)
{
    unsigned classes = 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++) {
            if (rows[a].verdict != PROGRESS_ENDS || !may_hang(&rows[b]))
                continue;
            if (is_model(&rows[a], 0, PROGRESS_MODELS) && is_model(&rows[b], 0, PROGRESS_MODELS) &&
                rows[a].unit == rows[b].unit)
                classes |= 1u << MATRIX_CLASS_MODEL_DEPENDENT;
            if (!is_model(&rows[a], FAIR, FAIR + 1) || rows[a].unit != MATRIX_THREADS ||
                is_model(&rows[b], 0, PROGRESS_MODELS))
                continue;
            classes |= is_model(&rows[b], POLICY, POLICY + 1) ? 1u << MATRIX_CLASS_POLICY_UNFAIR
                                                              : 1u << MATRIX_CLASS_STACK_UNFAIR;
        }
    return classes;
}

static void expect_classes(struct matrix_row *rows, uint32_t count)
{
    const struct matrix matrix = {.rows = rows, .count = count};
    unsigned seen = matrix_classes(&matrix), meant = classes_by_definition(rows, count);
    if (seen == meant)
        return;
    for (uint32_t i = 0; i < count; i++)
        print_error("    %s %s: %s\n", matrix_unit_names[rows[i].unit], rows[i].model,
                    progress_verdict_names[rows[i].verdict]);
    fail_msg("classes %x instead of %x", seen, meant);
}

static void test_pairs(void **state)
{
    enum { ALL = MODELS * MATRIX_UNITS * VERDICTS };
    (void)state;
    expect_classes(NULL, 0);
    for (uint32_t a = 0; a < ALL; a++)
        for (uint32_t b = 0; b < ALL; b++) {
            struct matrix_row rows[] = {
                row_of(a % MODELS, a / MODELS % MATRIX_UNITS, a / MODELS / MATRIX_UNITS),
                row_of(b % MODELS, b / MODELS % MATRIX_UNITS, b / MODELS / MATRIX_UNITS)};
            expect_classes(rows, 2);
        }
}

static void test_drawn(void **state)
{
    struct pcg rng;
    (void)state;
    pcg_seed(&rng, 5, 1);
    for (uint32_t i = 0; i < DRAWN; i++) {
        struct matrix_row rows[ROWS_MAX];
        uint32_t count = 1 + pcg_below(&rng, ROWS_MAX);
        for (uint32_t k = 0; k < count; k++)
            rows[k] = row_of(pcg_below(&rng, MODELS), pcg_below(&rng, MATRIX_UNITS),
                             pcg_below(&rng, VERDICTS));
        expect_classes(rows, count);
    }
}

static void test_policies(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MODELS; i++) {
        const struct matrix_row row = row_of(i, 0, 0);
        assert_int_equal(matrix_is_policy(&row), i == POLICY);
    }
    const struct matrix_row none = {.model = "stackless:"};
    assert_true(matrix_is_policy(&none));
}

static void test_find(void **state)
{
    (void)state;
    struct matrix_row rows[] = {row_of(0, MATRIX_WARPS, 1), row_of(FAIR, MATRIX_THREADS, 1),
                                row_of(0, MATRIX_THREADS, 2), row_of(0, MATRIX_THREADS, 3)};
    const struct matrix matrix = {.rows = rows, .count = 4};
    assert_ptr_equal(matrix_find(&matrix, "unfair", MATRIX_WARPS), &rows[0]);
    assert_ptr_equal(matrix_find(&matrix, "fair", MATRIX_THREADS), &rows[1]);
    assert_ptr_equal(matrix_find(&matrix, "unfair", MATRIX_THREADS), &rows[2]);
    assert_null(matrix_find(&matrix, "fair", MATRIX_WARPS));
    assert_null(matrix_find(&matrix, "unfair", MATRIX_BLOCKS));
    assert_null(matrix_find(&matrix, "unfai", MATRIX_THREADS));
}

/* What a row is called, and how it is expected in a text. */
static void test_words(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 4 * 8; bits++) {
        bool has_strong = bits >> 2 & 1, strong = bits >> 3 & 1, surely = bits >> 4 & 1;
        const struct matrix_row row = {.verdict = (enum progress_verdict)(bits & 3),
                                       .has_strong = has_strong,
                                       .strong = strong,
                                       .almost_surely = surely};
        static const enum matrix_ending endings[] = {
            [PROGRESS_UNKNOWN] = ENDING_UNKNOWN,
            [PROGRESS_ENDS] = ENDING_ENDS,
            [PROGRESS_MAY_HANG] = ENDING_MAY_HANG,
            [PROGRESS_HANGS] = ENDING_HANGS,
        };
        static const char *const verdicts[] = {
            [PROGRESS_UNKNOWN] = "unknown at bound",
            [PROGRESS_ENDS] = "ends always",
            [PROGRESS_MAY_HANG] = "may hang",
            [PROGRESS_HANGS] = "hangs always",
        };
        bool strongly = row.verdict == PROGRESS_MAY_HANG && has_strong && strong;
        assert_int_equal(matrix_ending_of(&row),
                         strongly ? ENDING_ENDS_STRONGLY : endings[row.verdict]);
        assert_string_equal(matrix_verdict(&row), surely && row.verdict == PROGRESS_ENDS
                                                      ? "ends with probability 1"
                                                      : verdicts[row.verdict]);
    }
}

/* Of each form of kernels, who its threads are. */
static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(matrix_thread_subject(FORM_STRUCTURED), SUBJECT_THREADS);
    assert_int_equal(matrix_thread_subject(FORM_BLOCKS), SUBJECT_INTERLEAVE);
    assert_int_equal(matrix_thread_subject(FORM_LOCKSTEP), SUBJECT_INTERLEAVE);
    assert_int_equal(matrix_thread_subject(FORM_PTX), SUBJECT_BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pairs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_drawn, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_policies, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_find, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_words, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("matrix_classes", tests, NULL, NULL);
}
