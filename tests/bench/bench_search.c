/*
 * bench_search.c - exhaustive exploration: transitions and states a second, bytes a state, for the graph of all
 * states alone and with all progress models; and how long a tiny kernel takes from its program to all verdicts.
 */
#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "engine/progress/progress.h"
#include "engine/search/search.h"
#include "engine/subjects/forms.h"
#include "fuzz/generate/generate.h"
#include "oracle/matrix/matrix.h"
#include "tests/bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- families of kernels, by the number of threads ---- */

struct family {
    const char *name;
    const char *text; /* printf, of the number of threads, where it may stand twice */
    enum subject_id subject;
    uint32_t threads;
};

#define SPIN_LOCK                                                                                  \
    "launch(threads = %u, warp = 1);\n"                                                            \
    "shared int lock, x;\n"                                                                        \
    "kernel spin_lock() {\n"                                                                       \
    "    private int busy = 1;\n"                                                                  \
    "    while (busy)\n"                                                                           \
    "        busy = atomic_exch(lock, 1);\n"                                                       \
    "    x = x + 1;\n"                                                                             \
    "    atomic_exch(lock, 0);\n"                                                                  \
    "}\n"
#define TICKET_LOCK                                                                                \
    "launch(threads = %u, warp = 1);\n"                                                            \
    "shared int next, serving, x;\n"                                                               \
    "kernel ticket_lock() {\n"                                                                     \
    "    private int mine, now;\n"                                                                 \
    "    mine = atomic_add(next, 1);\n"                                                            \
    "    now = atomic_add(serving, 0);\n"                                                          \
    "    while (now != mine)\n"                                                                    \
    "        now = atomic_add(serving, 0);\n"                                                      \
    "    x = x + 1;\n"                                                                             \
    "    atomic_add(serving, 1);\n"                                                                \
    "}\n"
#define BARRIER                                                                                    \
    "launch(threads = %u, warp = 1);\n"                                                            \
    "shared int arrived;\n"                                                                        \
    "kernel barrier_by_hand() {\n"                                                                 \
    "    private int seen;\n"                                                                      \
    "    atomic_add(arrived, 1);\n"                                                                \
    "    while (seen != %u)\n"                                                                     \
    "        seen = atomic_add(arrived, 0);\n"                                                     \
    "}\n"
#define INDEPENDENT                                                                                \
    "launch(threads = %u, warp = 1);\n"                                                            \
    "shared int x[%u];\n"                                                                          \
    "kernel independent() {\n"                                                                     \
    "    private int i;\n"                                                                         \
    "    while (i < 3) {\n"                                                                        \
    "        x[tid] = x[tid] + 1;\n"                                                               \
    "        i = i + 1;\n"                                                                         \
    "    }\n"                                                                                      \
    "}\n"

static const struct family families[] = {
    {"spin lock", SPIN_LOCK, SUBJECT_THREADS, 5},
    {"ticket lock", TICKET_LOCK, SUBJECT_THREADS, 4},
    {"barrier by hand", BARRIER, SUBJECT_THREADS, 5},
    {"independent increments", INDEPENDENT, SUBJECT_THREADS, 4},
    {"spin lock, blocks", SPIN_LOCK, SUBJECT_INTERLEAVE, 4},
    {"spin lock, ptx", SPIN_LOCK, SUBJECT_BLOCK, 4},
};

enum { FAMILIES = sizeof families / sizeof *families };

static const struct ast_kernel *kernel_of(const char *text, uint32_t threads)
{
    struct diag diag;
    char source[1024];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int length = snprintf(source, sizeof source, text, threads, threads);
#pragma GCC diagnostic pop
    const char *copy = arena_strndup(&bench_arena, source, (size_t)length);
    diag_init(&diag, "bench", copy, (size_t)length);
    const struct ast_kernel *kernel = parse_kernel(&bench_arena, copy, (size_t)length, &diag);
    if (!kernel)
        exit(2);
    return kernel;
}

/* ---- one search ---- */

enum asked { ASK_RACES, ASK_NOTHING, ASK_QUICK, ASK_ALL };

static const char *const asked_names[] = {"graph, races", "graph", "graph, verdicts of all models",
                                          "graph, all models with witnesses"};

struct exploring {
    const struct family *family;
    const struct program *program;
    enum asked asked;
    bool merged; /* local steps are */
    uint64_t max_bytes;
    uint32_t repeat;
    const struct search_result *result;
    const struct progress *progress;
};

static void explore_once(struct exploring *e)
{
    const struct subject_info *info = &subject_table[e->family->subject];
    size_t mark = arena_mark(&bench_arena);
    struct machine *machine =
        search_machine_with(&bench_arena, info->vtable, e->program, &info->options);
    struct progress *progress = ARENA_NEW(&bench_arena, struct progress);
    uint32_t *unit_of = ARENA_ARRAY(&bench_arena, uint32_t, machine->actor_count);
    struct search_options options = SEARCH_DEFAULTS;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        unit_of[i] = i;
    progress->unit_of = unit_of;
    progress->unit_count = machine->actor_count;
    progress->quick_states = e->asked == ASK_QUICK ? UINT32_MAX : 0;
    options.method = SEARCH_STATES;
    options.max_states = UINT32_MAX;
    options.max_bytes = e->max_bytes;
    options.max_steps = UINT64_MAX;
    options.max_depth = UINT32_MAX;
    options.no_races = options.no_lasso = e->asked != ASK_RACES;
    options.merge_local = e->merged;
    progress_ask(&options, e->asked > ASK_NOTHING ? progress : NULL);
    e->result = search_run(&bench_arena, machine, &options);
    e->progress = progress;
    arena_release(&bench_arena, mark);
}

static uint64_t explore_work(void *context)
{
    struct exploring *e = context;
    uint64_t transitions = 0;
    for (uint32_t i = 0; i < e->repeat; i++) {
        explore_once(e);
        transitions += e->result->transitions;
    }
    return transitions;
}

static const struct program *program_of(const struct family *family, uint32_t threads)
{
    struct forms *forms = forms_new(&bench_arena, kernel_of(family->text, threads));
    const struct program *program =
        forms_get(forms, subject_table[family->subject].program)->program;
    if (!program)
        exit(2);
    return program;
}

static void bench_asked(struct exploring *e)
{
    double rate = measure(explore_work, e);
    line(asked_names[e->asked], rate, "transitions/s", 0);
    printf("  %-52s %9.2f M states/s, %.0f bytes a state, %.1f ms\n", "",
           rate * (double)e->result->states / (double)e->result->transitions / 1e6,
           (double)e->result->bytes / (double)e->result->states,
           (double)e->result->transitions / rate * 1e3);
}

static void bench_family(const struct family *family, uint32_t threads)
{
    struct exploring e = {.family = family,
                          .max_bytes = (uint64_t)1 << 31,
                          .program = program_of(family, threads),
                          .repeat = 1};
    for (int merged = 0; merged < 2; merged++) {
        e.merged = merged;
        e.asked = ASK_NOTHING;
        explore_once(&e);
        printf("%s, %u threads%s: %" PRIu64 " states, %" PRIu64 " transitions%s\n", family->name,
               threads, merged ? ", local steps merged" : "", e.result->states,
               e.result->transitions, e.result->cut ? ", cut off" : "");
        for (e.asked = merged ? ASK_NOTHING : ASK_RACES; e.asked <= ASK_ALL; e.asked++)
            bench_asked(&e);
    }
}

/* ---- tiny kernels ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_tiny(const char *what, double *times, uint32_t count, uint64_t states)
{
    qsort(times, count, sizeof *times, by_time);
    printf("  %-52s %9.3f ms", what, times[count / 2] * 1e3);
    if (states > 0)
        printf("   (%" PRIu64 " states)", states);
    printf("\n");
}

#define CAS_LOCK                                                                                   \
    "launch(threads = 4, warp = 1);\n"                                                             \
    "shared int lock, x;\n"                                                                        \
    "kernel cas_lock() {\n"                                                                        \
    "    private int busy = 1;\n"                                                                  \
    "    while (busy)\n"                                                                           \
    "        busy = atomic_cas(lock, 0, 1);\n"                                                     \
    "    x = x + 1;\n"                                                                             \
    "    lock = 0;\n"                                                                              \
    "}\n"
#define FLAG                                                                                       \
    "launch(threads = 4, warp = 1);\n"                                                             \
    "shared int flag, x;\n"                                                                        \
    "kernel flag() {\n"                                                                            \
    "    if (tid == 0) { x = 1; flag = 1; }\n"                                                     \
    "    else { while (flag == 0) ; x = x + 1; }\n"                                                \
    "}\n"
#define FOUR_ADDITIONS                                                                             \
    "launch(threads = 4, warp = 1);\n"                                                             \
    "shared int a, b;\n"                                                                           \
    "kernel additions() {\n"                                                                       \
    "    atomic_add(a, 1);\n"                                                                      \
    "    atomic_add(b, 1);\n"                                                                      \
    "    atomic_add(a, 1);\n"                                                                      \
    "    atomic_add(b, 1);\n"                                                                      \
    "}\n"
#define FOUR_FLAG                                                                                  \
    "launch(threads = 4, warp = 1);\n"                                                             \
    "shared int turn;\n"                                                                           \
    "kernel in_turn() {\n"                                                                         \
    "    private int r;\n"                                                                         \
    "    while (r != tid)\n"                                                                       \
    "        r = atomic_add(turn, 0);\n"                                                           \
    "    atomic_add(turn, 1);\n"                                                                   \
    "}\n"

static void bench_tiny(void)
{
    enum { TIMES = 101 };
    static const struct family tiny[] = {
        {"four additions, no loop", FOUR_ADDITIONS, SUBJECT_THREADS, 4},
        {"threads in turn (while, atomic, atomic)", FOUR_FLAG, SUBJECT_THREADS, 4},
        {"spin lock (while, exchange, x = x + 1, exchange)", SPIN_LOCK, SUBJECT_THREADS, 4},
        {"spin lock by cas (while, cas, x = x + 1, lock = 0)", CAS_LOCK, SUBJECT_THREADS, 4},
        {"ticket lock", TICKET_LOCK, SUBJECT_THREADS, 4},
        {"flag, then x = x + 1", FLAG, SUBJECT_THREADS, 4},
        {"spin lock, ptx", SPIN_LOCK, SUBJECT_BLOCK, 4},
        {"threads in turn, ptx", FOUR_FLAG, SUBJECT_BLOCK, 4},
    };
    static double times[TIMES];
    printf("all progress models of four threads of four instructions, median of %d\n", TIMES);
    for (size_t k = 0; k < sizeof tiny / sizeof *tiny; k++) {
        struct exploring e = {
            .family = &tiny[k], .max_bytes = 64 << 20, .program = program_of(&tiny[k], 4)};
        for (int merged = 0; merged < 2; merged++) {
            e.merged = merged;
            e.asked = ASK_ALL;
            for (uint32_t i = 0; i < TIMES; i++) {
                double start = seconds();
                explore_once(&e);
                times[i] = seconds() - start;
            }
            print_tiny(arena_printf(&bench_arena, "%s%s", tiny[k].name,
                                    merged ? "; local steps merged" : ""),
                       times, TIMES, e.result->states);
        }
        for (uint32_t i = 0; i < TIMES; i++) {
            double start = seconds();
            size_t mark = arena_mark(&bench_arena);
            matrix_of(forms_new(&bench_arena, kernel_of(tiny[k].text, 4)), &MATRIX_DEFAULTS);
            arena_release(&bench_arena, mark);
            times[i] = seconds() - start;
        }
        print_tiny("    from its text: the whole matrix", times, TIMES, 0);
    }
}

/* Random tiny programs of four threads: up to six accesses each. */
static void bench_random(void)
{
    enum { COUNT = 2000 };
    static double times[2][COUNT];
    struct gen_options options = GEN_DEFAULTS;
    uint64_t states[2] = {0};
    options.spin = options.small = true;
    for (uint32_t i = 0, count = 0; count < COUNT; i++) {
        size_t mark = arena_mark(&bench_arena);
        const struct ast_kernel *kernel = gen_case(&bench_arena, 1, i, &options);
        if (kernel->launch.threads * kernel->launch.blocks == 4) {
            const struct family family = {.subject = SUBJECT_THREADS};
            struct exploring e = {
                .family = &family,
                .max_bytes = 256 << 20,
                .asked = ASK_ALL,
                .program = forms_get(forms_new(&bench_arena, kernel), PROGRAM_CORE)->program};
            for (int merged = 0; merged < 2; merged++) {
                e.merged = merged;
                double start = seconds();
                explore_once(&e);
                times[merged][count] = seconds() - start;
                states[merged] += e.result->states;
            }
            count++;
        }
        arena_release(&bench_arena, mark);
    }
    for (int merged = 0; merged < 2; merged++) {
        qsort(times[merged], COUNT, sizeof times[merged][0], by_time);
        printf(
            "%d random tiny programs of four threads%s: median %.3f ms, 90 of 100 within %.3f ms, "
            "99 within %.3f ms, all within %.3f ms; %.0f states each\n",
            COUNT, merged ? ", local steps merged" : "", times[merged][COUNT / 2] * 1e3,
            times[merged][COUNT * 9 / 10] * 1e3, times[merged][COUNT * 99 / 100] * 1e3,
            times[merged][COUNT - 1] * 1e3, (double)states[merged] / COUNT);
    }
}

/* ---- commands ---- */

void bench_search(void)
{
    for (uint32_t i = 0; i < FAMILIES; i++)
        bench_family(&families[i], families[i].threads);
    bench_search_tiny();
}

/* simtfuzz-bench search tiny */
void bench_search_tiny(void)
{
    bench_tiny();
    bench_random();
}

/* simtfuzz-bench search NUMBER THREADS [MiB]: one family, once: for instruction counts, and for how large a
 * kernel fits. */
void bench_search_one(uint32_t number, uint32_t threads, uint64_t mebibytes)
{
    const struct family *family = &families[number % FAMILIES];
    struct exploring e = {.family = family,
                          .max_bytes = mebibytes << 20,
                          .program = program_of(family, threads),
                          .asked = ASK_QUICK,
                          .merged = true};
    double start = seconds();
    explore_once(&e);
    double took = seconds() - start;
    printf("%s, %u threads: %" PRIu64 " states, %" PRIu64 " transitions, %s%s; %.1f s, %.2f M "
           "transitions/s, %.1f bytes a state\n",
           family->name, threads, e.result->states, e.result->transitions,
           e.result->cut ? "cut off: " : "complete", e.result->cut ? e.result->cut : "", took,
           (double)e.result->transitions / took / 1e6,
           (double)e.result->bytes / (double)e.result->states);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        printf("  %-8s %s\n", progress_table[m].name,
               progress_verdict_names[e.progress->answers[m].verdict]);
}
