/*
 * bench_threads.c - scheduled steps of `threads`, `interleave` and `simt` beside minimal hand-written
 * loops that do the same.
 */
#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"
#include "oracle/race/race.h"
#include "tests/bench/bench.h"
#include "tests/bench/ceiling.h"

#include <stdio.h>
#include <string.h>

/* ---- the canonical kernel ---- */

/* Its statements as one list, or as the blocks Start, which holds them, and End. */
static struct program *canonical_program(enum ast_form form)
{
    struct ast_kernel *kernel = ARENA_NEW(&bench_arena, struct ast_kernel);
    struct ast_var *vars[CANONICAL_VARIABLES];
    struct location at = {1, 1};
    const char *reason;
    kernel->name = "canonical";
    kernel->launch = AST_DEFAULT_LAUNCH;
    kernel->launch.threads = CANONICAL_THREADS;
    kernel->main = ARENA_NEW(&bench_arena, struct ast_function);
    kernel->main->name = kernel->name;
    for (int i = 0; i < CANONICAL_VARIABLES; i++) {
        vars[i] =
            ast_var(&bench_arena, arena_printf(&bench_arena, "x%d", i), SPACE_SHARED, 1, false);
        ast_var_append(&kernel->vars, vars[i]);
    }
    for (int i = 0; i < CANONICAL_STATEMENTS; i++) {
        struct ast_var *x = vars[i % CANONICAL_VARIABLES];
        struct ast_expr *sum = ast_binary(&bench_arena, BINARY_ADD, ast_var_ref(&bench_arena, x),
                                          ast_int(&bench_arena, 1));
        ast_stm_append(&kernel->main->body, ast_assign(&bench_arena, x, NULL, sum, at));
    }
    if (form == FORM_STRUCTURED)
        return program_compile(&bench_arena, lower_core(&bench_arena, kernel), &reason);
    struct ast_block *start = ARENA_NEW(&bench_arena, struct ast_block);
    start->name = "Start";
    start->body = kernel->main->body;
    start->target_count = 1;
    start->targets = ARENA_ARRAY(&bench_arena, struct ast_block *, 1);
    kernel->form = form;
    kernel->main->blocks = start;
    kernel->main->body = NULL;
    return program_compile(&bench_arena, kernel, &reason);
}

struct walk {
    struct machine *machine;
    struct race_detector *race; /* NULL: none */
    struct sched_spec spec;
    uint64_t executions;
    bool count_executions; /* else steps */
};

static uint64_t ceiling_work(void *context)
{
    struct pcg rng = pcg_derive(1, PCG_SCHEDULE, 0);
    int32_t memory[CANONICAL_VARIABLES];
    return ceiling_run(*(const uint64_t *)context, &rng, memory);
}

static uint64_t walk_work(void *context)
{
    struct walk *walk = context;
    size_t mark = arena_mark(&bench_arena);
    uint64_t steps = 0;
    for (uint64_t i = 0; i < walk->executions; i++) {
        struct scheduler scheduler;
        walk->spec.index = i;
        machine_reset(walk->machine);
        if (walk->race)
            race_begin(walk->race);
        sched_start(&scheduler, &walk->spec, walk->machine, &bench_arena);
        machine_run(walk->machine, &scheduler.choices, 1 << 20, NULL);
        steps += walk->machine->steps;
        arena_release(&bench_arena, mark);
    }
    return walk->count_executions ? walk->executions : steps;
}

static double walk_rate(const struct semantics *semantics, const struct program *program,
                        const char *schedule, bool race, bool track)
{
    struct machine_options options = {.track = track};
    struct walk walk = {.executions = 40000};
    sched_parse(schedule, &walk.spec);
    walk.spec.length_estimate = 2 * CANONICAL_STATEMENTS * CANONICAL_THREADS;
    walk.race = race ? race_new(&bench_arena, program) : NULL;
    walk.machine = machine_new(&bench_arena, semantics, program, &options);
    machine_observe(walk.machine, race ? &walk.race->observer : NULL);
    return measure(walk_work, &walk);
}

void bench_canonical(void)
{
    uint64_t executions = 200000;
    double ceiling = measure(ceiling_work, &executions);
    const struct program *program = canonical_program(FORM_STRUCTURED);
    const struct program *blocks = canonical_program(FORM_BLOCKS);
    printf("canonical kernel: %d threads, %d shared assignments each\n", CANONICAL_THREADS,
           CANONICAL_STATEMENTS);
    line("ceiling: minimal hand-written loop, uniform walk", ceiling, "steps/s", 0);
    line("threads, uniform walk", walk_rate(&semantics_threads, program, "uniform", false, false),
         "steps/s", ceiling);
    line("threads, uniform walk, race detection",
         walk_rate(&semantics_threads, program, "uniform", true, false), "steps/s", ceiling);
    line("threads, uniform walk, state hash",
         walk_rate(&semantics_threads, program, "uniform", false, true), "steps/s", ceiling);
    static const char *const others[] = {"sequential", "rr", "pct:3", "pos"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        line(arena_printf(&bench_arena, "threads, %s", others[i]),
             walk_rate(&semantics_threads, program, others[i], false, false), "steps/s", ceiling);
    line("interleave, uniform walk",
         walk_rate(&semantics_interleave, blocks, "uniform", false, false), "steps/s", ceiling);
    line("interleave, uniform walk, race detection",
         walk_rate(&semantics_interleave, blocks, "uniform", true, false), "steps/s", ceiling);
    line("interleave, uniform walk, state hash",
         walk_rate(&semantics_interleave, blocks, "uniform", false, true), "steps/s", ceiling);
    line("simt, one warp of 4", walk_rate(&semantics_simt, program, "uniform", false, false),
         "warp steps/s", 0);
    line("simt, one warp of 4, race detection",
         walk_rate(&semantics_simt, program, "uniform", true, false), "warp steps/s", 0);
}

/* ---- the kernel of docs/measured.md, with barriers ---- */

static uint64_t barrier_ceiling_work(void *context)
{
    struct pcg rng = pcg_derive(1, PCG_SCHEDULE, 0);
    return barrier_ceiling_run(context, &rng);
}

static void barrier_rates(const struct semantics *semantics, const struct program *program,
                          bool race, double ceiling)
{
    struct machine_options options = {.track = false};
    struct walk walk = {.executions = 20000, .count_executions = true};
    sched_parse("uniform", &walk.spec);
    walk.race = race ? race_new(&bench_arena, program) : NULL;
    walk.machine = machine_new(&bench_arena, semantics, program, &options);
    machine_observe(walk.machine, race ? &walk.race->observer : NULL);
    double rate = measure(walk_work, &walk);
    line(arena_printf(&bench_arena, "%s, uniform walk%s", semantics->name,
                      race ? ", race detection" : ""),
         rate, "executions/s", ceiling);
    printf("  %-52s %9.1f M steps/s (%llu an execution)\n", "",
           rate * (double)walk.machine->steps / 1e6, (unsigned long long)walk.machine->steps);
}

void bench_barriers(void)
{
    struct diag diag;
    const char *reason, *text = BARRIER_CEILING_KERNEL, *blocks = BARRIER_CEILING_BLOCKS;
    struct barrier_ceiling plain = {.executions = 50000, .race = false};
    struct barrier_ceiling races = {.executions = 50000, .race = true};
    double ceiling = measure(barrier_ceiling_work, &plain);
    double race_ceiling = measure(barrier_ceiling_work, &races);
    diag_init(&diag, "bench", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&bench_arena, text, strlen(text), &diag);
    const struct program *core =
        program_compile(&bench_arena, lower_core(&bench_arena, kernel), &reason);
    diag_init(&diag, "bench", blocks, strlen(blocks));
    kernel = parse_kernel(&bench_arena, blocks, strlen(blocks), &diag);
    const struct program *graph = program_compile(&bench_arena, kernel, &reason);
    printf("kernel of docs/measured.md: 4 threads, 20 shared accesses each, 2 barriers, a racy "
           "write a "
           "phase\n");
    line("ceiling: minimal loop, uniform walk", ceiling, "executions/s", 0);
    printf("  %-52s %9.1f M steps/s (%d an execution)\n", "", ceiling * BARRIER_CEILING_STEPS / 1e6,
           BARRIER_CEILING_STEPS);
    line("ceiling: the same with a race word a location", race_ceiling, "executions/s", 0);
    for (int race = 0; race < 2; race++) {
        double most = race ? race_ceiling : ceiling;
        barrier_rates(&semantics_threads, core, race, most);
        barrier_rates(&semantics_interleave, graph, race, most);
    }
}
