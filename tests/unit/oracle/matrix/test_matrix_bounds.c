/* The termination matrix under bounds: whatever they are, a row says "unknown" or what it says without them; "ends"
 * needs all states, an execution that ended, or a proof. */
#include "tests/unit/shared/support.h"

#include "fuzz/generate/generate.h"
#include "oracle/matrix/matrix.h"

static const struct {
    uint64_t states, bytes, budget, samples;
} bounds[] = {
    {1, 64 << 20, 1 << 14, 0},
    {2, 64 << 20, 1, 2000},
    {10, 64 << 20, 1 << 14, 5000},
    {40, 64 << 20, 20, 0},
    {1 << 14, 1, 1 << 14, 2000},
    {1 << 14, 4096, 3, 0},
    {1 << 14, 1 << 17, 1 << 14, 0},
    {1, 1, 1, 1},
    {1, 1, 1, 0},
};

static struct matrix matrix_within(struct ast_kernel *kernel, uint32_t i)
{
    struct matrix_options options = MATRIX_DEFAULTS;
    options.max_states = bounds[i].states;
    options.max_bytes = bounds[i].bytes;
    options.budget_steps = bounds[i].budget;
    options.sample_steps = bounds[i].samples;
    options.seed = i;
    return matrix_of(forms_new(&test_arena, kernel), &options);
}

static bool has_proof(const struct matrix_row *row)
{
    return strstr(row->why, "Lemma 6") || strstr(row->why, "no loop") || strstr(row->why, "all ") ||
           strstr(row->why, "one execution") || strstr(row->why, "probability 1");
}

struct figures {
    uint32_t rows, unknown, sampled;
};

static void compare(const struct matrix *bounded, const struct matrix *full,
                    struct figures *figures)
{
    assert_int_equal(bounded->count, full->count);
    assert_null(bounded->broken);
    for (uint32_t i = 0; i < full->count; i++) {
        const struct matrix_row *row = &bounded->rows[i], *whole = &full->rows[i];
        bool hangs = row->verdict >= PROGRESS_MAY_HANG;
        assert_string_equal(row->model, whole->model);
        figures->rows++;
        figures->unknown += row->verdict == PROGRESS_UNKNOWN;
        figures->sampled += row->sampled;
        assert_non_null(row->why);
        assert_true(!row->sampled || row->verdict == PROGRESS_MAY_HANG);
        assert_true(hangs == (row->loop != NULL));
        if (row->verdict == PROGRESS_ENDS)
            assert_true(has_proof(row));
        if (row->verdict == PROGRESS_UNKNOWN || whole->verdict == PROGRESS_UNKNOWN)
            continue;
        assert_int_equal(hangs, whole->verdict >= PROGRESS_MAY_HANG);
        assert_true(row->sampled || row->verdict == whole->verdict);
    }
}

static void test_bounds(void **state)
{
    struct figures figures = {0};
    struct gen_options spin = GEN_DEFAULTS;
    (void)state;
    spin.small = spin.spin = true;
    for (uint64_t number = 0; number < 40; number++) {
        size_t mark = arena_mark(&test_arena);
        struct matrix_options most = MATRIX_DEFAULTS;
        struct ast_kernel *kernel = gen_case(&test_arena, 6, number, &spin);
        most.max_states = 1 << 12;
        most.sample_steps = 0;
        struct matrix full = matrix_of(forms_new(&test_arena, kernel), &most);
        assert_null(full.broken);
        for (uint32_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
            struct matrix bounded = matrix_within(kernel, i);
            compare(&bounded, &full, &figures);
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u rows: %u unknown, %u refuted by samples\n", figures.rows, figures.unknown,
                  figures.sampled);
    assert_true(figures.unknown > 1000 && figures.sampled > 100);
}

/* Every step of the warp has as many successors as its lanes have orders: few of them differ. */
static void test_many_choices(void **state)
{
    const char *text =
        "launch(threads = 32, warp = 32); shared int x, y; kernel k()"
        " { private int o; o = atomic_exch(x, tid); y = o; if (y == 77) while (1) ; }";
    struct matrix_options options = MATRIX_DEFAULTS;
    (void)state;
    options.max_states = 500;
    options.sample_steps = 2000;
    struct matrix matrix = matrix_of(forms_new(&test_arena, support_parse(text)), &options);
    for (uint32_t i = 0; i < matrix.count; i++)
        if (strcmp(matrix.rows[i].model, "simt") == 0)
            assert_int_equal(matrix.rows[i].verdict, PROGRESS_UNKNOWN);
    options.max_states = 1 << 20;
    options.max_bytes = 1 << 20;
    matrix = matrix_of(forms_new(&test_arena, support_parse(text)), &options);
    for (uint32_t i = 0; i < matrix.count; i++)
        if (strcmp(matrix.rows[i].model, "simt") == 0)
            assert_int_equal(matrix.rows[i].verdict, PROGRESS_UNKNOWN);
}

/* What has been found stands, the rest is not known. */
static void test_interrupted(void **state)
{
    const char *text = "launch(threads = 3, warp = 3); shared int x; kernel k()"
                       " { while (x != tid) ; x = x + 1; }";
    struct matrix_options options = MATRIX_DEFAULTS;
    volatile sig_atomic_t stop = 1;
    (void)state;
    options.stop = &stop;
    struct matrix matrix = matrix_of(forms_new(&test_arena, support_parse(text)), &options);
    for (uint32_t i = 0; i < matrix.count; i++)
        if (strncmp(matrix.rows[i].model, "stackless:", 10) != 0) {
            assert_int_equal(matrix.rows[i].verdict, PROGRESS_UNKNOWN);
            assert_non_null(strstr(matrix.rows[i].why, "interrupted"));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bounds, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_many_choices, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_interrupted, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
