/*
 * bench.c - how fast simtfuzz is: medians of five on one core. Figures to read, not a test: machines
 * are noisy, ratios within one run are what holds.
 */
#include "engine/lower.h"
#include "engine/parse.h"
#include "engine/vector.h"
#include "fuzz/campaign.h"
#include "fuzz/case.h"
#include "oracle/simulation.h"
#include "tests/bench/ceiling.h"
#include "tests/bench/vector_ceiling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5 };

/* ---- allocations, counted through the linker's --wrap ---- */

static uint64_t allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

/* ---- measuring ---- */

static struct arena arena;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A workload: does some work, returns how many units. */
typedef uint64_t workload(void *context);

/* Units a CPU second, the median of RUNS. */
static double measure(workload *work, void *context)
{
    double rates[RUNS];
    for (int i = 0; i < RUNS; i++) {
        double start = cpu_seconds();
        uint64_t units = work(context);
        rates[i] = (double)units / (cpu_seconds() - start);
    }
    qsort(rates, RUNS, sizeof rates[0], by_value);
    return rates[RUNS / 2];
}

static void line(const char *what, double rate, const char *unit, double ceiling)
{
    const char *scale = "";
    double shown = rate;
    if (rate >= 1e6) {
        shown = rate / 1e6;
        scale = " M";
    }
    printf("  %-52s %9.1f%s %s", what, shown, scale, unit);
    if (ceiling > 0)
        printf("   (%.2f of the ceiling)", rate / ceiling);
    printf("\n");
}

/* ---- the canonical kernel ---- */

/* Its statements as one list, or as the blocks Start, which holds them, and End. */
static struct program *canonical_program(enum ast_form form)
{
    struct ast_kernel *kernel = ARENA_NEW(&arena, struct ast_kernel);
    struct ast_var *vars[CANONICAL_VARIABLES];
    struct location at = {1, 1};
    const char *reason;
    kernel->name = "canonical";
    kernel->launch = AST_DEFAULT_LAUNCH;
    kernel->launch.threads = CANONICAL_THREADS;
    kernel->main = ARENA_NEW(&arena, struct ast_function);
    kernel->main->name = kernel->name;
    for (int i = 0; i < CANONICAL_VARIABLES; i++) {
        vars[i] = ast_var(&arena, arena_printf(&arena, "x%d", i), SPACE_SHARED, 1, false);
        ast_var_append(&kernel->vars, vars[i]);
    }
    for (int i = 0; i < CANONICAL_STATEMENTS; i++) {
        struct ast_var *x = vars[i % CANONICAL_VARIABLES];
        struct ast_expr *sum =
            ast_binary(&arena, BINARY_ADD, ast_var_ref(&arena, x), ast_int(&arena, 1));
        ast_stm_append(&kernel->main->body, ast_assign(&arena, x, NULL, sum, at));
    }
    if (form == FORM_STRUCTURED)
        return program_compile(&arena, lower_core(&arena, kernel), &reason);
    struct ast_block *start = ARENA_NEW(&arena, struct ast_block);
    start->name = "Start";
    start->body = kernel->main->body;
    start->target_count = 1;
    start->targets = ARENA_ARRAY(&arena, struct ast_block *, 1);
    kernel->form = form;
    kernel->main->blocks = start;
    kernel->main->body = NULL;
    return program_compile(&arena, kernel, &reason);
}

struct walk {
    struct machine *machine;
    struct race_detector *race; /* NULL: none */
    struct sched_spec spec;
    uint64_t executions;
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
    size_t mark = arena_mark(&arena);
    uint64_t steps = 0;
    for (uint64_t i = 0; i < walk->executions; i++) {
        struct scheduler scheduler;
        walk->spec.index = i;
        machine_reset(walk->machine);
        if (walk->race)
            race_begin(walk->race);
        sched_start(&scheduler, &walk->spec, walk->machine, &arena);
        machine_run(walk->machine, &scheduler.choices, 1 << 20, NULL);
        steps += walk->machine->steps;
        arena_release(&arena, mark);
    }
    return steps;
}

static double walk_rate(const struct semantics *semantics, const struct program *program,
                        const char *schedule, bool race, bool track)
{
    struct machine_options options = {.track = track};
    struct walk walk = {.executions = 40000};
    sched_parse(schedule, &walk.spec);
    walk.spec.length_estimate = 2 * CANONICAL_STATEMENTS * CANONICAL_THREADS;
    walk.race = race ? race_new(&arena, program) : NULL;
    walk.machine = machine_new(&arena, semantics, program, &options);
    machine_observe(walk.machine, race ? &walk.race->observer : NULL);
    return measure(walk_work, &walk);
}

static void bench_canonical(void)
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
        line(arena_printf(&arena, "threads, %s", others[i]),
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

/* ---- lock-step ---- */

static uint64_t vector_ceiling_work(void *context)
{
    int32_t a[VECTOR_CEILING_LANES];
    return vector_ceiling_run(*(const uint64_t *)context, a);
}

struct vectors {
    struct vector_run *run;
    uint64_t executions;
};

static uint64_t vector_work(void *context)
{
    const struct vectors *vectors = context;
    uint64_t steps = 0;
    for (uint64_t i = 0; i < vectors->executions; i++)
        steps += vector_execute(vectors->run, UINT64_MAX).lane_steps;
    return steps;
}

static void bench_lockstep(void)
{
    struct diag diag;
    const char *reason, *text = VECTOR_CEILING_KERNEL;
    uint64_t executions = 20000;
    diag_init(&diag, "bench", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    const struct program *program = program_compile(&arena, kernel, &reason);
    double ceiling = measure(vector_ceiling_work, &executions);
    printf("lock-step: %d lanes, a branch, a shared array and a barrier in a loop\n",
           VECTOR_CEILING_LANES);
    line("ceiling: the kernel by hand, vectorised", ceiling, "lane steps/s", 0);
    for (uint32_t isa = 0; isa <= vector_best_isa(); isa++) {
        for (int races = 0; races < 2; races++) {
            struct vector_options options = {.isa = (enum vector_isa)isa, .races = races};
            struct vectors vectors = {.run = vector_new(&arena, program, &options, &reason),
                                      .executions = 4000};
            line(arena_printf(&arena, "fast executor, %s%s", vector_isa_names[isa],
                              races ? ", race detection" : ""),
                 measure(vector_work, &vectors), "lane steps/s", ceiling);
        }
    }
}

/* ---- generated kernels ---- */

struct cases {
    uint64_t first, count;
    struct check_options check;
    uint64_t thread_steps, warp_steps;
};

static uint64_t generate_work(void *context)
{
    const struct cases *cases = context;
    for (uint64_t i = 0; i < cases->count; i++) {
        arena.used = 0;
        gen_case(&arena, 1, cases->first + i, &GEN_DEFAULTS);
    }
    return cases->count;
}

static void one_case(struct cases *cases, uint64_t number)
{
    arena.used = 0;
    struct fuzz_case c;
    case_of_campaign(&c, 1, number, &GEN_DEFAULTS, &cases->check);
    struct check_result *result = ARENA_NEW(&arena, struct check_result);
    check_kernel(&arena, gen_case(&arena, c.seed, c.number, &c.gen), &c.check, result);
    cases->thread_steps += result->thread_steps;
    cases->warp_steps += result->warp_steps;
}

static uint64_t case_work(void *context)
{
    struct cases *cases = context;
    cases->thread_steps = cases->warp_steps = 0;
    for (uint64_t i = 0; i < cases->count; i++)
        one_case(cases, cases->first + i);
    return cases->count;
}

static uint64_t warp_step_work(void *context)
{
    case_work(context);
    return ((struct cases *)context)->warp_steps;
}

static void bench_cases(void)
{
    struct cases generated = {.count = 5000};
    struct cases full = {.count = 1000, .check = CHECK_DEFAULTS};
    struct cases simulated = {.count = 1000, .check = CHECK_DEFAULTS};
    simulated.check.schedules = 1;
    simulated.check.oracles = 1u << ORACLE_SIMULATION;
    simulated.check.subjects = (1u << SUBJECT_THREADS) | (1u << SUBJECT_SIMT);
    printf("generated kernels, default features\n");
    line("generate", measure(generate_work, &generated), "kernels/s", 0);
    line("full case: generate, lower, 16 schedules, all oracles", measure(case_work, &full),
         "cases/s", 0);
    printf("  %-52s %9.1f and %.1f\n", "  thread steps and warp steps a case",
           (double)full.thread_steps / 1000, (double)full.warp_steps / 1000);
    line("simt with co-simulation (else-first alone)", measure(warp_step_work, &simulated),
         "warp steps/s", 0);
}

/* ---- memory ---- */

static void bench_memory(uint64_t count)
{
    struct cases cases = {.count = 0, .check = CHECK_DEFAULTS};
    struct rusage before, after;
    size_t high = 0;
    one_case(&cases, 0);
    getrusage(RUSAGE_SELF, &before);
    uint64_t allocated = allocations;
    for (uint64_t i = 1; i <= count; i++) {
        one_case(&cases, i);
        high = arena.used > high ? arena.used : high;
    }
    allocated = allocations - allocated;
    getrusage(RUSAGE_SELF, &after);
    printf("memory over %" PRIu64 " cases\n", count);
    printf("  %-52s %9" PRIu64 "\n", "calls of malloc, calloc, realloc in the case loop",
           allocated);
    printf("  %-52s %9.1f KiB\n", "most that a case left in its arena", (double)high / 1024);
    printf("  %-52s %9ld KiB\n", "growth of the resident set", after.ru_maxrss - before.ru_maxrss);
}

/* ---- workers ---- */

static double campaign_rate(uint32_t jobs, uint64_t count)
{
    struct campaign_summary summary;
    struct db_message message;
    char path[] = "/tmp/simtfuzz-bench-XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        return 0;
    close(file);
    struct campaign_options options = {.seed = 1,
                                       .cases = count,
                                       .jobs = jobs,
                                       .shard_count = 1,
                                       .gen = GEN_DEFAULTS,
                                       .check = CHECK_DEFAULTS,
                                       .db_path = path,
                                       .log = stderr};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    arena.used = 0;
    campaign_run(&arena, &options, &summary, &message);
    clock_gettime(CLOCK_MONOTONIC, &end);
    unlink(path);
    return (double)summary.cases /
           ((double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
}

static void bench_workers(void)
{
    double one[RUNS], two[RUNS];
    for (int i = 0; i < RUNS; i++) {
        one[i] = campaign_rate(1, 2000);
        two[i] = campaign_rate(2, 2000);
    }
    qsort(one, RUNS, sizeof one[0], by_value);
    qsort(two, RUNS, sizeof two[0], by_value);
    printf("campaign into a database (wall clock)\n");
    line("one worker", one[RUNS / 2], "cases/s", 0);
    printf("  %-52s %9.1f cases/s   (%.2f times one)\n", "two workers", two[RUNS / 2],
           two[RUNS / 2] / one[RUNS / 2]);
}

int main(int argc, char **argv)
{
    uint64_t memory_cases = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000;
    if (arena_init(&arena, (size_t)1 << 32) != 0)
        return 3;
    bench_canonical();
    bench_lockstep();
    bench_cases();
    bench_memory(memory_cases);
    bench_workers();
    return 0;
}
