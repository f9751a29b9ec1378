/*
 * bench.c - how fast simtfuzz is: medians of five on one core.
 */
#include "tests/bench/bench.h"

#include "fuzz/serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

uint64_t bench_allocations(void)
{
    return allocations;
}

/* ---- measuring ---- */

struct arena bench_arena;

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

double median(double *values)
{
    qsort(values, BENCH_RUNS, sizeof values[0], by_value);
    return values[BENCH_RUNS / 2];
}

double measure(workload *work, void *context)
{
    double rates[BENCH_RUNS];
    for (int i = 0; i < BENCH_RUNS; i++) {
        double start = cpu_seconds();
        uint64_t units = work(context);
        rates[i] = (double)units / (cpu_seconds() - start);
    }
    return median(rates);
}

void line(const char *what, double rate, const char *unit, double ceiling)
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

int main(int argc, char **argv)
{
    uint64_t memory_cases = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000;
    if (arena_init(&bench_arena, (size_t)1 << 36) != 0)
        return 3;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "ptx") == 0) {
        bench_ptx();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "outside") == 0) {
        if (argc > 2)
            return bench_outside_echo();
        bench_outside();
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "serve") == 0) /* what OpenCL platforms are run by */
        return serve(argv[2]);
    if (argc > 1 && strcmp(argv[1], "view") == 0) {
        bench_view();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "caches") == 0) {
        bench_caches();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "cases") == 0) {
        bench_cases();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "search") == 0) {
        if (argc > 2 && strcmp(argv[2], "tiny") == 0)
            bench_search_tiny();
        else if (argc > 3)
            bench_search_one((uint32_t)strtoul(argv[2], NULL, 0),
                             (uint32_t)strtoul(argv[3], NULL, 0),
                             argc > 4 ? strtoull(argv[4], NULL, 0) : 1024);
        else
            bench_search();
        return 0;
    }
    bench_canonical();
    bench_barriers();
    bench_lockstep();
    bench_ptx();
    bench_caches();
    bench_cases();
    bench_search();
    bench_memory(memory_cases);
    bench_workers();
    return 0;
}
