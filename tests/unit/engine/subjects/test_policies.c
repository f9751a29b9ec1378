/*
 * Golden digests of who steps when in launches that kernels of the corpus do not come with: warps smaller and larger
 * than a block, blocks of several warps, of which the last is not full, several blocks, more than 32 threads. A line of
 * tests/golden/policies.txt is a kernel, launched anew; a column
 *
 *     schedules  the exact choices of all schedulers, with many seeds, quanta, depths, victims
 *     stackless  those of all policies of warps without a stack
 *     loops      the lassos of deterministic policies, and of random walks
 *     fair       fair lassos by samples: of units of one, two, three actors, models one at a time, small budgets
 *
 * What a schedule is, is a function of kernel and seed, with every compiler. If a change is meant,
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_policies
 *
 * writes the file anew.
 */
#include "tests/unit/shared/golden_table.h"
#include "tests/unit/shared/search_digests.h"

#include "engine/progress/fair_lasso.h"
#include "engine/schedule/stackless.h"
#include "engine/subjects/forms.h"

enum { BUDGET = 150, SAMPLED = 1500 };

static const struct ast_launch launches[] = {
    {.threads = 8, .warp = 4, .blocks = 2},   {.threads = 6, .warp = 4, .blocks = 1},
    {.threads = 5, .warp = 8, .blocks = 1},   {.threads = 3, .warp = 2, .blocks = 3},
    {.threads = 16, .warp = 16, .blocks = 1}, {.threads = 12, .warp = 4, .blocks = 1},
    {.threads = 37, .warp = 32, .blocks = 1},
};

enum { LAUNCHES = sizeof launches / sizeof *launches };

/* ---- schedules ---- */

/* What PCT and SURW are told. */
static void tell(const struct machine *machine, struct sched_spec *spec)
{
    const struct program *program = machine->program;
    uint8_t *selected = ARENA_ARRAY(&test_arena, uint8_t, program->stm_count + 1);
    uint32_t *counts = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    spec->length_estimate = spec->index % 5 == 4 ? 0 : 3 * spec->index * spec->index;
    for (uint32_t i = 0; i < program->stm_count; i++)
        selected[i] = program->stms && (program->stms[i].writes | program->stms[i].reads) != 0;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        counts[i] = (uint32_t)(spec->index + i) % 4;
    spec->selected = selected;
    spec->selected_counts = counts;
}

static void digest_run(uint64_t *digest, struct machine *machine, const struct sched_spec *spec)
{
    size_t mark = arena_mark(&test_arena);
    struct scheduler scheduler;
    struct tape *record = tape_new(&test_arena, 4 * BUDGET);
    machine_reset(machine);
    sched_start(&scheduler, spec, machine, &test_arena);
    digest_word(digest, machine_run(machine, &scheduler.choices, BUDGET, record));
    digest_word(digest, machine_store_hash(machine));
    digest_entries(digest, record);
    arena_release(&test_arena, mark);
}

static uint64_t schedules(struct machine *machine, uint64_t seed)
{
    uint64_t digest = 0;
    for (uint32_t kind = 0; kind < SCHED_STACKLESS; kind++)
        for (uint32_t index = 0; index < 5; index++) {
            struct sched_spec spec = {.kind = (enum sched_kind)kind,
                                      .seed = seed,
                                      .index = index,
                                      .depth = 1 + index,
                                      .quantum = 2 * index,
                                      .victim = index * 3 % machine->actor_count,
                                      .prefix = 7 * index};
            if (index > 0 && (kind == SCHED_SEQUENTIAL || kind == SCHED_REVERSE))
                continue;
            tell(machine, &spec);
            digest_run(&digest, machine, &spec);
        }
    return digest;
}

static void digest_policy(uint64_t *digest, struct machine *machine, const struct sched_spec *spec,
                          uint64_t budget)
{
    size_t mark = arena_mark(&test_arena);
    struct lasso lasso = lasso_run(&test_arena, machine, spec, budget);
    if (lasso.loop > 0)
        lasso_tapes(&test_arena, machine, spec, &lasso);
    digest_lasso(digest, machine, &lasso);
    arena_release(&test_arena, mark);
}

static uint64_t without_stack(struct machine *machine, uint64_t seed)
{
    uint64_t digest = 0;
    for (uint32_t p = 0; p < STACKLESS_POLICY_COUNT; p++)
        for (uint32_t how = 0; how < 3; how++) {
            struct sched_spec spec = {.kind = SCHED_STACKLESS,
                                      .seed = seed,
                                      .index = how,
                                      .stackless = {.policy = (enum stackless_policy)p,
                                                    .literal = how == 1,
                                                    .then_first = how == 2}};
            digest_run(&digest, machine, &spec);
            if (lasso_policy(&spec) && how != 1)
                digest_policy(&digest, machine, &spec, 3 * BUDGET);
        }
    return digest;
}

/* ---- loops ---- */

static uint64_t loops(struct machine *machine, uint64_t seed)
{
    static const enum sched_kind kinds[] = {SCHED_SEQUENTIAL, SCHED_REVERSE, SCHED_ROUND_ROBIN,
                                            SCHED_STARVE};
    uint64_t digest = 0;
    for (uint32_t i = 0; i < 10; i++) {
        struct sched_spec spec = {
            .kind = kinds[i % 4], .index = i, .quantum = i / 3, .victim = i % machine->actor_count};
        digest_policy(&digest, machine, &spec, i == 9 ? 20 : 2 * BUDGET);
    }
    for (uint32_t index = 0; index < 4; index++) {
        size_t mark = arena_mark(&test_arena);
        struct sched_spec spec = {.kind = index % 2 ? SCHED_UNIFORM : SCHED_UNFAIR_FAIR,
                                  .seed = seed,
                                  .index = index,
                                  .prefix = 30};
        struct scheduler scheduler;
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &test_arena);
        struct lasso lasso =
            lasso_random(&test_arena, machine, &scheduler.choices, (1 + index) * BUDGET);
        digest_lasso(&digest, machine, &lasso);
        arena_release(&test_arena, mark);
    }
    return digest;
}

static uint64_t fair(struct machine *machine, uint64_t seed)
{
    uint64_t digest = 0;
    uint32_t *unit_of = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    for (uint32_t how = 0; how < 5; how++) {
        size_t mark = arena_mark(&test_arena);
        uint32_t in_unit = 1 + how % 3, count = (machine->actor_count - 1) / in_unit + 1;
        for (uint32_t i = 0; i < machine->actor_count; i++)
            unit_of[i] = how > 2 ? i % count : i / in_unit;
        struct fair_units units = {unit_of, count};
        struct fair_options options = FAIR_DEFAULTS;
        options.seed = seed + how;
        options.budget_steps = how == 4 ? 60 : (how + 1) * (uint64_t)SAMPLED;
        uint32_t models = how == 0 ? (1u << PROGRESS_MODEL_COUNT) - 1 : 1u << (how + seed) % 6;
        struct fair_result result =
            fair_lasso_search(&test_arena, machine, &units, models, &options);
        digest_word(&digest, result.samples);
        digest_word(&digest, result.steps);
        for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
            const struct fair_answer *a = &result.answers[m];
            digest_word(&digest, (uint64_t)a->found << 32 | a->sample);
            digest_entries(&digest, a->stem);
            digest_entries(&digest, a->loop);
            for (uint32_t other = 0; a->found && other < PROGRESS_MODEL_COUNT; other++)
                digest_word(&digest, fair_lasso_is(&test_arena, machine, &units,
                                                   (enum progress_model)other, a->stem, a->loop));
        }
        arena_release(&test_arena, mark);
    }
    return digest;
}

/* ---- a kernel ---- */

static void launched(struct golden_columns *columns, const struct ast_kernel *kernel,
                     const struct ast_launch *launch, uint64_t seed)
{
    static const enum subject_id threads[] = {[FORM_STRUCTURED] = SUBJECT_THREADS,
                                              [FORM_BLOCKS] = SUBJECT_INTERLEAVE,
                                              [FORM_PTX] = SUBJECT_BLOCK};
    const struct subject_info *info = &subject_table[threads[kernel->form]];
    struct ast_kernel *again = ARENA_NEW(&test_arena, struct ast_kernel);
    char title[40];
    *again = *kernel;
    again->launch.threads = launch->threads;
    again->launch.warp = launch->warp;
    again->launch.blocks = launch->blocks;
    const struct program *program =
        forms_get(forms_new(&test_arena, again), info->program)->program;
    if (!program || machine_refuses(&test_arena, info->vtable, program))
        return;
    struct machine_options options = info->options;
    options.track = true;
    struct machine *machine = machine_new(&test_arena, info->vtable, program, &options);
    uint64_t digests[] = {schedules(machine, seed),
                          stackless_refuses(info->vtable) ? 0 : without_stack(machine, seed),
                          loops(machine, seed), fair(machine, seed)};
    static const char *const names[] = {"schedules", "stackless", "loops", "fair"};
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) {
        snprintf(title, sizeof title, "%u,%u,%u:%s", launch->threads, launch->warp, launch->blocks,
                 names[i]);
        golden_put(columns, title, digests[i]);
    }
}

static bool make_columns(struct golden_columns *columns, const char *path)
{
    uint64_t seed = 0;
    const struct ast_kernel *kernel = golden_kernel(path);
    if (kernel->form == FORM_LOCKSTEP)
        return false;
    digest_text(&seed, path + sizeof GOLDEN_CORPUS - 1); /* another launch for each */
    launched(columns, kernel, &launches[seed % LAUNCHES], seed >> 32);
    return columns->count > 0;
}

static void policies_are_what_they_were(void **state)
{
    (void)state;
    static const struct golden_table table = {SIMTFUZZ_SOURCE_DIR "/tests/golden/policies.txt",
                                              GOLDEN_WRITTEN, make_columns};
    golden_check(&table, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(policies_are_what_they_were, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests_name("policies", tests, NULL, NULL);
}
