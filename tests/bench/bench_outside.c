/*
 * bench_outside.c - outside implementations: kernels a CPU second and our share of it, for each that is found here;
 * what the protocol costs a kernel, with this program as an implementation that runs nothing.
 */
#include "fuzz/hunt/bundle.h"
#include "fuzz/hunt/hunt.h"
#include "fuzz/outside/worker.h"
#include "fuzz/serve/child.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CASES = 64, BATCH = 16, ROUNDS = 200, CPU_SECONDS = 30 };

/* ---- the other side of the protocol ---- */

static void answer_kernels(const struct message *request, struct text *answer)
{
    for (uint32_t i = 0; message_field(request, "memory", i); i++) {
        const struct message_field *memory = message_field(request, "memory", i);
        message_put_text(answer, "end", "final");
        message_put_text(answer, "cause", "");
        message_put(answer, "memory", memory->bytes, memory->length);
    }
}

/* Standard input to standard output, until it ends: memory comes back as it was. */
int bench_outside_echo(void)
{
    char line[32];
    size_t length = 0;
    while (fgets(line, sizeof line, stdin) && message_length(line, &length)) {
        size_t mark = arena_mark(&bench_arena);
        char *bytes = ARENA_ARRAY(&bench_arena, char, length + 1);
        struct message request;
        struct text answer = text_begin(&bench_arena);
        if (fread(bytes, 1, length, stdin) != length ||
            !message_parse(&bench_arena, bytes, length, &request))
            return 1;
        message_put_text(&answer, "message", "answer");
        message_put_text(&answer, "version", "echo");
        message_put_text(&answer, "language", "opencl");
        answer_kernels(&request, &answer);
        if (!message_send(1, &answer))
            return 1;
        arena_release(&bench_arena, mark);
    }
    return 0;
}

/* ---- the protocol ---- */

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static uint32_t make_batch(struct outside_batch *batch, uint32_t count)
{
    struct gen_options gen = GEN_DEFAULTS;
    struct text text = text_begin(&bench_arena);
    struct emitted *emitted = ARENA_ARRAY(&bench_arena, struct emitted, count);
    const char *error_at, *reason;
    (void)gen_parse_features("portable", &gen.features, &error_at);
    uint32_t made = 0;
    for (uint64_t number = 0; made < count; number++)
        made += emit_kernel(&text, gen_case(&bench_arena, 1, number, &gen), EMIT_OPENCL, 0, made,
                            &emitted[made], &reason);
    *batch = (struct outside_batch){.language = EMIT_OPENCL,
                                    .text = emit_text(&bench_arena, EMIT_OPENCL, text.bytes),
                                    .count = count,
                                    .kernels = emitted};
    return made;
}

static void bench_protocol(const char *folder, uint32_t count)
{
    static char *none[] = {NULL};
    char self[4096] = "";
    struct outside_batch batch;
    struct outside_result results[BATCH];
    const struct outside_settings settings = {.folder = folder, .cpu_seconds = CPU_SECONDS};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return;
    char outside[] = "outside", echo[] = "echo";
    char *arguments[] = {self, outside, echo, NULL};
    struct worker *worker = worker_new(&bench_arena, arguments, none);
    uint32_t made = make_batch(&batch, count);
    size_t mark = arena_mark(&bench_arena);
    worker_run_batch(&bench_arena, worker, &settings, &batch, "", results);
    double started = cpu_us();
    uint64_t children = child_cpu_us();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        worker_run_batch(&bench_arena, worker, &settings, &batch, "", results);
        arena_release(&bench_arena, mark);
    }
    double used = cpu_us() - started + (double)(child_cpu_us() - children);
    worker_stop(worker);
    printf("%-58s %8.0f us of CPU time a kernel\n",
           count == 1 ? "protocol, a kernel a batch" : "protocol, 16 kernels a batch",
           used / ROUNDS / made);
}

/* ---- implementations ---- */

struct found {
    struct outside_subject *list[HUNT_SUBJECTS_MAX];
    uint32_t count;
};

static void add_found(void *context, const char *name, const char *version)
{
    struct found *found = context;
    const char *reason;
    (void)version;
    struct outside_subject *subject = outside_open(&bench_arena, name, &reason);
    if (subject && found->count < HUNT_SUBJECTS_MAX)
        found->list[found->count++] = subject;
}

static void bench_found(const char *folder)
{
    struct found found = {.count = 0};
    for (uint32_t i = 0; i < outside_kind_count; i++)
        if (outside_kinds[i]->find)
            outside_kinds[i]->find(&bench_arena, add_found, &found);
    struct hunt_options options = {.seed = 1,
                                   .cases = CASES,
                                   .gen = GEN_DEFAULTS,
                                   .batch = BATCH,
                                   .subjects = found.list,
                                   .subject_count = found.count,
                                   .settings = {.folder = folder, .cpu_seconds = CPU_SECONDS}};
    const struct hunt_listener nobody = {.context = NULL};
    struct hunt_summary *sum = ARENA_NEW(&bench_arena, struct hunt_summary);
    const char *error_at;
    (void)gen_parse_features("portable", &options.gen.features, &error_at);
    hunt_run(&options, sum, &nobody);
    printf("%-58s %8.2f ms of CPU time a case\n", "generating and validating",
           (double)sum->our_cpu_us / 1e3 / (double)sum->cases);
    for (uint32_t s = 0; s < found.count; s++) {
        const struct hunt_count *c = &sum->counts[s];
        double all = (double)(c->cpu_us + c->own_us);
        printf("%-58s %8.1f kernels a CPU second, %.0f %% of it ours; %.0f %% agree\n",
               found.list[s]->name, all > 0 ? (double)c->kernels * 1e6 / all : 0,
               all > 0 ? 100.0 * (double)c->own_us / all : 0,
               100.0 * (double)c->trials[TRIAL_AGREES] / (double)c->kernels);
    }
}

void bench_outside(void)
{
    char folder[] = "/tmp/simtfuzz-bench-XXXXXX";
    if (!mkdtemp(folder))
        return;
    bench_protocol(folder, 1);
    bench_protocol(folder, BATCH);
    bench_found(folder);
    bundle_remove_folder(folder);
}
