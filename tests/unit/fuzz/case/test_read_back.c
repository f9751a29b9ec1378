/*
 * What a campaign writes down, read again (read_back.h, trace_back.h): nothing differs on kernels of each form, under
 * each subject and schedule; and it speaks where a tape is not read as it was written (tape_parse is wrapped).
 */
#include "fuzz/case/read_back.h"
#include "fuzz/trace/trace.h"
#include "fuzz/trace/trace_back.h"
#include "tests/unit/shared/corpus_kernel.h"

static bool drops_a_choice, refuses;

struct tape *__real_tape_parse(struct arena *arena, const char *text, size_t *error_column);
struct tape *__wrap_tape_parse(struct arena *arena, const char *text, size_t *error_column);

struct tape *__wrap_tape_parse(struct arena *arena, const char *text, size_t *error_column)
{
    struct tape *tape = __real_tape_parse(arena, text, error_column);
    if (drops_a_choice && tape->count > 0)
        tape->count--;
    if (refuses)
        return NULL;
    return tape;
}

static const char *const kernels[] = {
    "corpus/papers/program1.simt", "corpus/papers/lockstep-ck5.simt",
    "corpus/regress/spin-lock.simt", "corpus/progress/finished-text.simt",
    "corpus/papers/crs/gt-62.ptx"};

enum { KERNELS = sizeof kernels / sizeof kernels[0], SEEDS = 64 };

static uint32_t differing(const char *what)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < KERNELS; k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            size_t mark = arena_mark(&test_arena);
            const char *said = read_back(&test_arena, corpus_kernel(kernels[k]), seed);
            if (said)
                assert_string_equal(said, what);
            count += said != NULL;
            arena_release(&test_arena, mark);
        }
    return count;
}

static void everything_reads_back(void **state)
{
    (void)state;
    assert_int_equal(differing("nothing"), 0);
}

static void a_tape_that_does_not_is_named(void **state)
{
    (void)state;
    drops_a_choice = true;
    assert_true(differing("tape text") > KERNELS * SEEDS / 2);
    drops_a_choice = false;
    refuses = true;
    assert_int_equal(differing("tape text"), KERNELS * SEEDS);
    refuses = false;
}

/* ---- traces (trace_back.h) ---- */

static bool tells_nonsense;

enum status __real_trace_run(struct arena *arena, const struct program *program,
                             const struct trace_options *options, FILE *out);
enum status __wrap_trace_run(struct arena *arena, const struct program *program,
                             const struct trace_options *options, FILE *out);

/* One line that is of no step, after the others. */
enum status __wrap_trace_run(struct arena *arena, const struct program *program,
                             const struct trace_options *options, FILE *out)
{
    enum status status = __real_trace_run(arena, program, options, out);
    if (tells_nonsense)
        fputs("{}\n", out);
    return status;
}

static uint32_t differing_traces(const char *what)
{
    struct trace_back back = {.out = NULL};
    uint32_t count = 0;
    assert_true(trace_back_open(&back));
    for (uint32_t k = 0; k < KERNELS; k++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            size_t mark = arena_mark(&test_arena);
            const char *said = trace_back(&back, &test_arena, corpus_kernel(kernels[k]), seed);
            if (said)
                assert_string_equal(said, what);
            count += said != NULL;
            arena_release(&test_arena, mark);
        }
    assert_true(back.kept > 0);
    trace_back_close(&back);
    return count;
}

static void every_trace_reads_back(void **state)
{
    (void)state;
    assert_int_equal(differing_traces("nothing"), 0);
}

static void a_trace_that_does_not_is_named(void **state)
{
    (void)state;
    drops_a_choice = true; /* the last one: what is chosen instead is often the same */
    assert_true(differing_traces("trace") > 0);
    drops_a_choice = false;
    refuses = true;
    assert_true(differing_traces("trace") > KERNELS * SEEDS / 2);
    refuses = false;
    tells_nonsense = true;
    assert_true(differing_traces("trace text") > KERNELS * SEEDS / 2);
    tells_nonsense = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_reads_back, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(every_trace_reads_back, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(a_trace_that_does_not_is_named, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(a_tape_that_does_not_is_named, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
