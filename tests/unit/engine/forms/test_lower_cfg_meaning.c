/*
 * Lowering to blocks preserves meaning, by the semantics themselves: `threads` on a structured kernel
 * and `interleave` on its block forms. Thread after thread the final stores are the same, racy or not
 * (assignments are not interrupted); of kernels without races under every schedule.
 */
#include "tests/unit/shared/support.h"

#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"
#include "fuzz/generate/generate.h"

#include <stdlib.h>

enum { STEPS_MAX = 100000, ACCESSES_MAX = 4096, OPTIONS = 16 };

/* ---- runs ---- */

/* What a thread read and wrote in shared and global memory, in any order. */
struct access_log {
    uint32_t count;
    uint64_t accesses[ACCESSES_MAX]; /* thread, address, write */
};

static void log_access(struct access_log *log, uint32_t thread, uint32_t address, uint32_t write)
{
    if (log->count < ACCESSES_MAX)
        log->accesses[log->count] = (uint64_t)thread << 40 | (uint64_t)address << 8 | write;
    log->count++;
}

static void note_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)stm;
    log_access(context, thread, address, 0);
}

static void note_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    (void)value, (void)stm;
    log_access(context, thread, address, 1);
}

static int compare_accesses(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static bool same_accesses(struct access_log *a, struct access_log *b)
{
    if (a->count != b->count)
        return false;
    if (a->count > ACCESSES_MAX)
        return true; /* too many to say more */
    qsort(a->accesses, a->count, sizeof *a->accesses, compare_accesses);
    qsort(b->accesses, b->count, sizeof *b->accesses, compare_accesses);
    return memcmp(a->accesses, b->accesses, a->count * sizeof *a->accesses) == 0;
}

struct result {
    enum status status;
    uint64_t store;
    const struct machine *machine;
};

static struct result run(const struct semantics *semantics, struct ast_kernel *kernel,
                         enum sched_kind schedule, uint64_t index, struct access_log *log)
{
    const char *reason = NULL;
    struct program *program = program_compile(&test_arena, kernel, &reason);
    if (!program)
        fail_msg("%s\n%s", reason, print_kernel(&test_arena, kernel));
    struct observer observer = {.context = log, .read = note_read, .write = note_write};
    struct machine_options options = {.observers = log ? &observer : NULL};
    struct machine *machine = machine_new(&test_arena, semantics, program, &options);
    struct scheduler scheduler;
    struct sched_spec spec = {.kind = schedule, .seed = 11, .index = index};
    sched_start(&scheduler, &spec, machine, &test_arena);
    while (machine_status(machine) == STATUS_RUNNING && machine->steps < STEPS_MAX)
        machine_step(machine,
                     machine->head->live[scheduler.choices.pick(&scheduler.choices, machine)],
                     &scheduler.choices);
    return (struct result){machine_status(machine), machine_store_hash(machine), machine};
}

/* ---- comparisons ---- */

static struct lower_cfg_options options_of(uint32_t bits)
{
    return (struct lower_cfg_options){.anchored = bits & 1,
                                      .then_first = bits & 2,
                                      .logic_blocks = bits & 4,
                                      .keep_calls = bits & 8};
}

static bool exits_in_procedure(const char *reason)
{
    return strstr(reason, "exit in a procedure at line") != NULL;
}

static void check_same(const struct result *found, const struct result *wanted,
                       const struct ast_kernel *lowered, const struct ast_kernel *core)
{
    bool same = found->status == wanted->status && found->store == wanted->store;
    if (!same)
        fail_msg("%s, expected %s\n%s\nof\n%s", status_names[found->status],
                 status_names[wanted->status], print_kernel(&test_arena, lowered),
                 print_kernel(&test_arena, core));
}

/* Inlined functions have no frame, steps are others, and which threads may meet at a barrier each
 * semantics says in its own way: such runs say nothing. */
static bool says_nothing(const struct result *result)
{
    return result->status == STATUS_RUNNING || result->status == STATUS_CALL_DEPTH ||
           result->status == STATUS_BARRIER_DIVERGENCE;
}

/* All option combinations of one kernel; the number compared. */
static uint32_t compare(const struct ast_kernel *kernel, enum sched_kind schedule,
                        uint32_t *refused)
{
    const char *reason = NULL;
    uint32_t compared = 0;
    struct ast_kernel *core = lower_core(&test_arena, kernel);
    struct result wanted = run(&semantics_threads, core, schedule, 0, NULL);
    if (says_nothing(&wanted))
        return 0;
    for (uint32_t bits = 0; bits < OPTIONS; bits++) {
        struct lower_cfg_options options = options_of(bits);
        struct ast_kernel *lowered = lower_cfg(&test_arena, core, &options, &reason);
        if (!lowered) {
            assert_true(exits_in_procedure(reason) || !strcmp(reason, "more than 1024 blocks"));
            ++*refused;
            continue;
        }
        struct result found = run(&semantics_interleave, lowered, schedule, bits + 1, NULL);
        if (says_nothing(&found))
            continue;
        check_same(&found, &wanted, lowered, core);
        compared++;
    }
    return compared;
}

static const uint32_t STRUCTURED = ~(1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS |
                                     1u << FEATURE_CRS | 1u << FEATURE_KNOWN | 1u << FEATURE_NAMED);

static struct gen_options structured_options(void)
{
    struct gen_options options = GEN_DEFAULTS;
    options.features &= STRUCTURED;
    return options;
}

static void compare_many(const char *features, enum sched_kind schedule, uint32_t kernels)
{
    struct gen_options options = structured_options();
    const char *at;
    uint32_t compared = 0, refused = 0;
    assert_true(gen_parse_features(features, &options.features, &at));
    options.features &= STRUCTURED;
    for (uint64_t number = 0; number < kernels; number++) {
        size_t mark = arena_mark(&test_arena);
        compared += compare(gen_case(&test_arena, 23, number, &options), schedule, &refused);
        arena_release(&test_arena, mark);
    }
    print_message("%u compared, %u refused\n", compared, refused);
    assert_true(compared > kernels * OPTIONS / 2);
}

static void test_sequential(void **state)
{
    (void)state;
    compare_many("oob,-barriers,-atomics,-votes,-choices", SCHED_SEQUENTIAL, 250);
}

static void test_race_free(void **state)
{
    (void)state;
    compare_many("-racy,-asserts,-assumes,-barriers,-atomics,-votes,-choices", SCHED_UNIFORM, 150);
}

/* Barriers, atomics and the choices of each thread in the same order. */
static void test_synchronised(void **state)
{
    (void)state;
    compare_many("barriers,atomics,choices,-votes", SCHED_SEQUENTIAL, 200);
}

/* Normalising: the same but for the barrier before End. */
static void test_normalised(void **state)
{
    (void)state;
    struct gen_options options = structured_options();
    uint32_t compared = 0;
    for (uint64_t number = 0; number < 150; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *reason = NULL;
        struct lower_cfg_options lower = options_of((uint32_t)number);
        struct ast_kernel *core =
            lower_core(&test_arena, gen_case(&test_arena, 29, number, &options));
        struct ast_kernel *lowered = lower_cfg(&test_arena, core, &lower, &reason);
        struct ast_kernel *normal =
            lowered ? normalise(&test_arena, lowered, NORMALISE_ALL, &reason) : NULL;
        if (normal) {
            struct result wanted = run(&semantics_interleave, lowered, SCHED_SEQUENTIAL, 0, NULL);
            struct result found = run(&semantics_interleave, normal, SCHED_SEQUENTIAL, 0, NULL);
            if (!says_nothing(&wanted) && !says_nothing(&found)) {
                check_same(&found, &wanted, normal, lowered);
                compared++;
            }
        }
        arena_release(&test_arena, mark);
    }
    assert_true(compared > 100);
}

/* && || ?: as blocks: every thread reads and writes the same, as often. */
static void test_accesses(void **state)
{
    (void)state;
    struct gen_options options = structured_options();
    uint32_t compared = 0, differ = 0;
    for (uint64_t number = 0; number < 300; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *reason = NULL;
        struct ast_kernel *core =
            lower_core(&test_arena, gen_case(&test_arena, 31, number, &options));
        struct access_log *logs = ARENA_ARRAY(&test_arena, struct access_log, 2);
        struct ast_kernel *kernels[2];
        struct result results[2];
        for (uint32_t logic = 0; logic < 2; logic++) {
            struct lower_cfg_options lower = {.logic_blocks = logic};
            kernels[logic] = lower_cfg(&test_arena, core, &lower, &reason);
            if (kernels[logic])
                results[logic] =
                    run(&semantics_interleave, kernels[logic], SCHED_SEQUENTIAL, 0, &logs[logic]);
        }
        if (kernels[0] && kernels[1] && results[0].status == STATUS_TERMINATED) {
            check_same(&results[1], &results[0], kernels[1], core);
            if (!same_accesses(&logs[0], &logs[1]))
                fail_msg("other accesses\n%s\nof\n%s", print_kernel(&test_arena, kernels[1]),
                         print_kernel(&test_arena, core));
            compared++;
            differ += strcmp(print_kernel(&test_arena, kernels[0]),
                             print_kernel(&test_arena, kernels[1])) != 0;
        }
        arena_release(&test_arena, mark);
    }
    assert_true(compared > 200 && differ > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequential),   cmocka_unit_test(test_race_free),
        cmocka_unit_test(test_synchronised), cmocka_unit_test(test_normalised),
        cmocka_unit_test(test_accesses),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
