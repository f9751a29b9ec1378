/*
 * bench_cases.c - whole cases: how many a second, where their time goes, memory, workers.
 */
#include "engine/subjects/forms.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/case/case.h"
#include "oracle/coverage/coverage.h"
#include "oracle/warps/simulation.h"
#include "tests/bench/bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- generated kernels ---- */

struct cases {
    uint64_t first, count;
    struct gen_options gen;
    struct check_options check;
    uint64_t thread_steps, warp_steps, features;
};

static uint64_t generate_work(void *context)
{
    const struct cases *cases = context;
    for (uint64_t i = 0; i < cases->count; i++) {
        bench_arena.used = 0;
        gen_case(&bench_arena, 1, cases->first + i, &cases->gen);
    }
    return cases->count;
}

static void one_case(struct cases *cases, uint64_t number)
{
    bench_arena.used = 0;
    struct fuzz_case c;
    case_of_campaign(&c, 1, number, &cases->gen, &cases->check);
    struct check_result *result = ARENA_NEW(&bench_arena, struct check_result);
    check_kernel(&bench_arena, gen_case(&bench_arena, c.seed, c.number, &c.gen), &c.check, result);
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

/* With the map of features: filled, listed and cleared each time. */
static uint64_t feature_work(void *context)
{
    static struct coverage coverage;
    static uint32_t list[COVERAGE_COUNT];
    struct cases *cases = context;
    cases->check.coverage = &coverage;
    cases->features = 0;
    for (uint64_t i = 0; i < cases->count; i++) {
        coverage_clear(&coverage);
        one_case(cases, cases->first + i);
        cases->features += coverage_list(&coverage, list, COVERAGE_COUNT);
    }
    cases->check.coverage = NULL;
    return cases->count;
}

/* All forms that the ordinary subjects run. */
static uint64_t form_work(void *context)
{
    const struct cases *cases = context;
    for (uint64_t i = 0; i < cases->count; i++) {
        bench_arena.used = 0;
        struct forms *forms =
            forms_new(&bench_arena, gen_case(&bench_arena, 1, cases->first + i, &cases->gen));
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
            if (SUBJECTS_DEFAULT & SUBJECT_BIT(s))
                forms_get(forms, subject_table[s].program);
    }
    return cases->count;
}

static void phase(const char *what, double microseconds, double all)
{
    printf("    %-50s %9.1f us   (%2.0f %%)\n", what, microseconds, 100 * microseconds / all);
}

/* Kernels of one form: cases a second, and the time of each phase as the difference that it makes. */
static void bench_form(const char *what, const struct gen_options *gen)
{
    struct cases full = {.count = 600, .gen = *gen, .check = CHECK_DEFAULTS};
    struct cases mute = full; /* executions, and the co-simulation beside those of warps */
    mute.check.oracles = 0;
    double rate = measure(case_work, &full), all = 1e6 / rate;
    double generate = 1e6 / measure(generate_work, &full);
    double forms = 1e6 / measure(form_work, &full);
    double explore = 1e6 / measure(case_work, &mute);
    line(arena_printf(&bench_arena, "full case, %s", what), rate, "cases/s", 0);
    phase("generate", generate, all);
    phase("forms: lower, normalise, transform, compile", forms - generate, all);
    phase("explore: executions of all subjects", explore - forms, all);
    phase("oracles", all - explore, all);
}

/* Off and on in turn, so that both meet the same machine. */
static void bench_features(struct cases *cases)
{
    double ratios[BENCH_RUNS];
    for (int i = 0; i < BENCH_RUNS; i++) {
        double off = measure(case_work, cases);
        ratios[i] = off / measure(feature_work, cases);
    }
    printf("  %-52s %9.3f   (%.0f features a case)\n",
           "time of a case with features to one without", median(ratios),
           (double)cases->features / (double)cases->count);
}

void bench_cases(void)
{
    struct gen_options structured = GEN_DEFAULTS, blocks = GEN_DEFAULTS;
    structured.features &= ~(1u << FEATURE_GRAPHS);
    blocks.blocks_only = true;
    struct cases generated = {.count = 5000, .gen = GEN_DEFAULTS};
    struct cases full = {.count = 1000, .gen = GEN_DEFAULTS, .check = CHECK_DEFAULTS};
    struct cases simulated = {.count = 1000, .gen = GEN_DEFAULTS, .check = CHECK_DEFAULTS};
    simulated.check.schedules = 1;
    simulated.check.oracles = 1u << ORACLE_SIMULATION;
    simulated.check.subjects = (SUBJECT_BIT(SUBJECT_THREADS)) | (SUBJECT_BIT(SUBJECT_SIMT));
    printf("generated kernels, default features\n");
    line("generate", measure(generate_work, &generated), "kernels/s", 0);
    line("full case: generate, all forms, all oracles", measure(case_work, &full), "cases/s", 0);
    printf("  %-52s %9.1f and %.1f\n", "  thread steps and warp steps a case",
           (double)full.thread_steps / 1000, (double)full.warp_steps / 1000);
    bench_features(&full);
    line("simt with co-simulation (else-first alone)", measure(warp_step_work, &simulated),
         "warp steps/s", 0);
    bench_form("structured kernels", &structured);
    bench_form("kernels in block form", &blocks);
}

/* ---- memory ---- */

void bench_memory(uint64_t count)
{
    struct cases cases = {.count = 0, .gen = GEN_DEFAULTS, .check = CHECK_DEFAULTS};
    struct rusage before, after;
    size_t high = 0;
    one_case(&cases, 0);
    getrusage(RUSAGE_SELF, &before);
    uint64_t allocated = bench_allocations();
    for (uint64_t i = 1; i <= count; i++) {
        one_case(&cases, i);
        high = bench_arena.used > high ? bench_arena.used : high;
    }
    allocated = bench_allocations() - allocated;
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
    bench_arena.used = 0;
    campaign_run(&bench_arena, &options, &summary, &message);
    clock_gettime(CLOCK_MONOTONIC, &end);
    unlink(path);
    return (double)summary.cases /
           ((double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
}

void bench_workers(void)
{
    double one[BENCH_RUNS], two[BENCH_RUNS];
    for (int i = 0; i < BENCH_RUNS; i++) {
        one[i] = campaign_rate(1, 2000);
        two[i] = campaign_rate(2, 2000);
    }
    double one_rate = median(one), two_rate = median(two);
    printf("campaign into a database (wall clock)\n");
    line("one worker", one_rate, "cases/s", 0);
    printf("  %-52s %9.1f cases/s   (%.2f times one)\n", "two workers", two_rate,
           two_rate / one_rate);
}
