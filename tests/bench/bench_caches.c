/*
 * bench_caches.c - `crs` with caches: steps a second when warps, operations and lines take turns, states a second in a
 * search, the table of litmus tests, and what a check of a real kernel takes beside one without caches.
 */
#include "engine/axiom/axiom.h"
#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/litmus/litmus.h"
#include "engine/litmus/litmus_kernel.h"
#include "engine/program/ptx_code.h"
#include "engine/schedule/sched.h"
#include "engine/search/search.h"
#include "engine/subjects/subject.h"
#include "engine/to_ptx/ptx_inject.h"
#include "oracle/check/check.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct ast_kernel *kernel_of(const char *text)
{
    struct diag diag;
    diag_init(&diag, "bench", text, strlen(text));
    const struct ast_kernel *kernel = parse_kernel(&bench_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    INVARIANT(kernel);
    return kernel;
}

static const char *file(const char *path)
{
    struct diag diag;
    size_t length;
    diag_init(&diag, path, "", 0);
    const char *text = parse_read_file(
        &bench_arena, arena_printf(&bench_arena, SIMTFUZZ_SOURCE_DIR "/%s", path), &length, &diag);
    INVARIANT(text);
    return text;
}

/* ---- executions ---- */

static const char COPY[] =
    "// simtfuzz: entry=k threads=16 warp=4 blocks=2 bind:a=buffer:4096:iota bind:b=buffer:4096\n"
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
    "shl.b32 %r1, %r1, 4; add.u32 %r0, %r0, %r1; mul.wide.u32 %d2, %r0, 4; mov.u32 %r2, 30;\n"
    "add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;\n"
    "L: ld.global.u32 %r3, [%d0]; add.u32 %r3, %r3, %r2; st.global.u32 [%d1], %r3;\n"
    "add.u64 %d0, %d0, 128; add.u64 %d1, %d1, 128;\n"
    "sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;\nexit;\n}\n";

struct execution_bench {
    struct machine *machine;
    uint64_t seed;
};

static uint64_t execute(void *context)
{
    struct execution_bench *b = context;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = b->seed++};
        struct scheduler scheduler;
        size_t mark = arena_mark(&bench_arena);
        machine_reset(b->machine);
        sched_start(&scheduler, &spec, b->machine, &bench_arena);
        (void)machine_run(b->machine, &scheduler.choices, UINT64_MAX, NULL);
        steps += b->machine->steps;
        arena_release(&bench_arena, mark);
    }
    return steps;
}

static void execution_lines(void)
{
    static const enum subject_id subjects[] = {SUBJECT_CRS, SUBJECT_CRS_CACHES_PRINTED,
                                               SUBJECT_CRS_CACHES_COHERENT};
    const struct ast_kernel *kernel = kernel_of(COPY);
    const char *reason = NULL;
    const struct ptx_module *module = ptx_inject(&bench_arena, kernel->ptx->module, &reason);
    const struct program *program = ptx_compile(&bench_arena, kernel, module, NULL, &reason);
    INVARIANT(program);
    printf("caches: eight warps of four lanes copy, any order of steps\n");
    for (uint32_t i = 0; i < 3; i++) {
        const struct subject_info *info = &subject_table[subjects[i]];
        struct execution_bench b = {
            machine_new(&bench_arena, info->vtable, program, &info->options), 1};
        double rate = measure(execute, &b);
        line(arena_printf(&bench_arena, "  %s", info->name), rate,
             i ? "steps/s, micro steps among them" : "steps/s", 0);
        printf("    %.1f steps a step of the program, %u bytes of state\n",
               (double)b.machine->steps / (double)(8 * (10 + 8 * 30 + 1)),
               (unsigned)(4 * b.machine->block_words));
    }
}

/* ---- litmus tests ---- */

struct table {
    struct litmus_test *tests;
    uint32_t count;
    enum litmus_model first, last;
};

static uint64_t table_work(void *context)
{
    const struct table *t = context;
    struct litmus_result result;
    size_t mark = arena_mark(&bench_arena);
    for (uint32_t i = 0; i < t->count; i++)
        for (enum litmus_model m = t->first; m <= t->last; m++) {
            if (m <= LITMUS_COHERENT)
                (void)litmus_run(&bench_arena, &t->tests[i], m, 1 << 17, &result);
            else
                (void)axiom_run(&bench_arena, &t->tests[i],
                                (enum axiom_model)(AXIOM_ASPLOS15 + (m - LITMUS_ASPLOS15)), 1 << 24,
                                &result, NULL);
            arena_release(&bench_arena, mark);
        }
    return 1;
}

static void litmus_lines(struct table *t)
{
    const char *text = file("corpus/litmus/caches.litmus");
    struct litmus_reader reader = {text, 1};
    struct diag diag;
    diag_init(&diag, "caches.litmus", text, strlen(text));
    t->tests = ARENA_ARRAY(&bench_arena, struct litmus_test, 256);
    while (litmus_next(&bench_arena, &reader, &t->tests[t->count], &diag))
        t->count++;
    printf("litmus: %u tests of corpus/litmus/caches.litmus\n", (unsigned)t->count);
    t->first = LITMUS_SC;
    t->last = LITMUS_COHERENT;
    printf("  sc, printed, llh, coherent: %.3f s\n", 1 / measure(table_work, t));
    t->first = LITMUS_ASPLOS15;
    t->last = LITMUS_PTX75;
    printf("  the three axiomatic models: %.3f s\n", 1 / measure(table_work, t));
}

/* ---- searches ---- */

struct search_bench {
    struct machine *machine;
    struct search_result *result;
    enum search_method method;
    uint64_t bytes, states, steps; /* bytes: a state */
};

static uint64_t search_work(void *context)
{
    struct search_bench *b = context;
    size_t mark = arena_mark(&bench_arena);
    struct search_options options = SEARCH_DEFAULTS;
    options.method = b->method;
    options.no_races = options.no_lasso = true;
    b->result = search_run(&bench_arena, b->machine, &options);
    b->states = b->result->states;
    b->steps = b->result->steps;
    b->bytes = b->result->bytes / (b->states ? b->states : 1);
    arena_release(&bench_arena, mark);
    return b->steps;
}

static void search_lines(const struct table *t, const char *name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(t->tests[i].name, name) != 0)
            continue;
        const char *reason = NULL;
        const struct ast_kernel *kernel = kernel_of(litmus_kernel(&bench_arena, &t->tests[i]));
        const struct program *program =
            ptx_compile(&bench_arena, kernel, kernel->ptx->module, NULL, &reason);
        struct machine_options options = {.memory = {.profile = MEMORY_PRINTED,
                                                     .words = 1,
                                                     .lines = 8,
                                                     .sms = 4,
                                                     .slots = 4,
                                                     .eager = true}};
        for (enum search_method method = SEARCH_STATES; method <= SEARCH_SLEEP; method += 2) {
            struct search_bench b = {
                .method = method,
                .machine = search_machine_with(&bench_arena,
                                               subject_table[SUBJECT_CRS_CACHES_PRINTED].vtable,
                                               program, &options)};
            double rate = measure(search_work, &b);
            line(arena_printf(&bench_arena, "  all executions of %s, R1 to R%u", name,
                              method == SEARCH_STATES ? 3U : 4U),
                 rate, "steps/s", 0);
            printf("    %.0f states/s, %llu bytes a state; %llu states, %llu steps\n",
                   rate * (double)b.states / (double)b.steps, (unsigned long long)b.bytes,
                   (unsigned long long)b.states, (unsigned long long)b.steps);
        }
    }
}

/* ---- a check ---- */

static double seconds_of_check(const struct ast_kernel *kernel, subject_set subjects)
{
    struct check_options options = CHECK_DEFAULTS;
    struct check_result *result = ARENA_NEW(&bench_arena, struct check_result);
    struct timespec from, to;
    size_t mark = arena_mark(&bench_arena);
    options.subjects = subjects;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    check_kernel(&bench_arena, kernel, &options, result);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    arena_release(&bench_arena, mark);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static void check_lines(void)
{
    static const char *const paths[] = {"corpus/ptx/bitonic.ptx", "corpus/ptx/bins.nvcc.ptx",
                                        "corpus/ptx/backwards.ptx"};
    printf("check: crs, and crs:caches:coherent beside it\n");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct ast_kernel *kernel = kernel_of(file(paths[i]));
        double sc = seconds_of_check(kernel, SUBJECT_BIT(SUBJECT_CRS));
        double both = seconds_of_check(kernel, SUBJECT_BIT(SUBJECT_CRS_CACHES_COHERENT));
        printf("  %-26s %.3f s, %.3f s with caches: they take %.1f times as long\n", paths[i], sc,
               both, (both - sc) / sc);
    }
}

void bench_caches(void)
{
    struct table table = {.count = 0};
    execution_lines();
    litmus_lines(&table);
    search_lines(&table, "IRIW.cg");
    search_lines(&table, "WRC.cg");
    check_lines();
}
