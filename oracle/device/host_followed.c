/*
 * host_followed.c - devices on which a program is run for the reference's sake alone: operations under way, streams
 * without an order, contexts that take turns. What the program comes to there is not judged.
 */
#include "oracle/device/host_follow.h"

#include "engine/base/pcg.h"
#include "engine/reference_device/ref_order.h"

#include <string.h>

static const char *const devices[] = {
    "coherent",
    "llh",
    "printed",
    "printed sms=1 blocks=1",
    "coherent sms=1 blocks=1 switch=sticky",
    "printed drain=block flags=reset ends=drain",
    "llh sms=1 blocks=2 drain=block order=stream flags=reset",
    "order=any occupancy=context pick=any grids=2",
    "sms=1 blocks=2 switch=sticky grids=1 order=any",
    "coherent memory=caches",
    "coherent memory=caches lines=2 sms=1 switch=sticky",
    "llh memory=caches lines=1",
    "printed memory=caches lines=2 drain=block flags=reset ends=drain",
};
enum { DEVICES = sizeof devices / sizeof *devices, STEPS = 1 << 12 };

/* A launch of the same context above; HOST_NONE: there is none. */
static uint32_t launch_above(const struct host_program *program, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;)
        if (program->statements[i].kind == HOST_LAUNCH &&
            program->statements[i].context == program->statements[at].context)
            return i;
    return HOST_NONE;
}

/* A wait is left out, or is an abort; the host makes a copy itself. */
static void change(const struct host_program *program, uint32_t at, struct pcg *rng)
{
    struct host_statement *s = &program->statements[at];
    uint32_t drawn = pcg_below(rng, 8), launch = launch_above(program, at);
    if (s->kind == HOST_SYNC && drawn < 4)
        s->kind = HOST_USE;
    if (s->kind == HOST_SYNC && drawn == 4 && launch != HOST_NONE) {
        s->kind = HOST_ABORT;
        s->target = launch;
    }
    if (s->kind == HOST_COPY && drawn < 4) {
        s->has_stream = false;
        s->stream = s->context; /* that of no name */
    }
}

/* The program with fewer waits: a race of the host is nothing to the reference. */
static const struct host_program *impatient(struct arena *arena, const struct host_program *program,
                                            struct pcg *rng)
{
    struct host_program *copy = ARENA_NEW(arena, struct host_program);
    *copy = *program;
    copy->statements = ARENA_ARRAY(arena, struct host_statement, program->count + 1);
    memcpy(copy->statements, program->statements, program->count * sizeof *program->statements);
    for (uint32_t i = 0; i < program->count; i++)
        change(copy, i, rng);
    return copy;
}

static void run(struct arena *arena, struct device *device, struct device_schedule *schedule,
                const char *words, struct host_verdict *verdict)
{
    struct host_follow *follow = host_follow_watch(arena, device);
    const char *text;
    uint32_t line;
    if (!follow)
        return;
    (void)host_follow_run(device, follow, schedule, &text, &line);
    if (text)
        host_add(arena, verdict, FINDING_REFERENCE, line,
                 arena_printf(arena, "on the device `%s`: %s", words, text));
    host_follow_leave(follow);
}

/* The device's settings come behind those of the program; what it cannot run is left out. */
static void run_device(struct arena *arena, const struct host_program *program,
                       const struct device_options *usual, const char *words, struct pcg *rng,
                       struct host_verdict *verdict)
{
    struct device_options options = *usual;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *why;
    diag_init(diag, "", NULL, 0);
    if (!device_set(arena, &options, words, &why))
        return;
    struct device *device = device_new(arena, program, &options, diag);
    if (!device)
        return;
    static const enum device_order orders[] = {ORDER_RANDOM, ORDER_LATE, ORDER_RANDOM, ORDER_LAST};
    struct device_schedule schedule = {.order = orders[pcg_below(rng, 4)], .budget = STEPS};
    schedule.seed = pcg_next(rng);
    run(arena, device, &schedule, words, verdict);
}

void host_follow_devices(struct arena *arena, const struct host_program *program,
                         const struct host_judge_options *options, struct host_verdict *verdict)
{
    struct pcg rng = pcg_derive(options->follow_seed, PCG_SCHEDULE, 1);
    uint32_t only = pcg_below(&rng, DEVICES), at;
    const char *differs = ref_order_differs(arena, program, &at);
    if (differs)
        host_add(arena, verdict, FINDING_REFERENCE, program->statements[at].at.line, differs);
    for (uint32_t i = 0; i < DEVICES; i++) {
        if (options->followed == FOLLOW_DRAWN && i != only)
            continue;
        run_device(arena, impatient(arena, program, &rng), &options->device, devices[i], &rng,
                   verdict);
        if (options->followed == FOLLOW_ALL)
            run_device(arena, program, &options->device, devices[i], &rng, verdict);
    }
    for (uint32_t i = 0; i < program->claim_count && !options->no_claims; i++)
        run_device(arena, program, &options->device, program->claims[i].options, &rng, verdict);
}
