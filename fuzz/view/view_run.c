/*
 * view_run.c - an execution that is taken to be looked at: is there a proof that it never ends, which of its steps are
 * kept, and what it was.
 */
#include "engine/base/invariant.h"
#include "engine/schedule/stackless.h"
#include "fuzz/trace/trace.h"
#include "fuzz/view/view_internal.h"

#include <stdlib.h>
#include <string.h>

static enum status run(struct arena *arena, struct machine *machine,
                       const struct sched_spec *schedule, uint64_t steps)
{
    struct scheduler scheduler;
    sched_start(&scheduler, schedule, machine, arena);
    return machine_run(machine, &scheduler.choices, steps, NULL);
}

static bool fails(enum status status)
{
    return status != STATUS_TERMINATED && status != STATUS_STEP_LIMIT && status != STATUS_RUNNING;
}

/* Of one that fails late its end is worth more than its start. */
static uint64_t first_step(struct arena *arena, struct machine *machine,
                           const struct view_options *options, const struct sched_spec *schedule,
                           uint64_t steps)
{
    if (options->first > 0)
        return options->first;
    enum status status = run(arena, machine, schedule, steps);
    uint64_t taken = machine->steps;
    machine_reset(machine);
    return fails(status) && taken > options->kept ? taken - options->kept + 1 : 1;
}

static void record(struct view_recorder *r, struct machine *machine, struct view_ending *ending,
                   struct view_side *side)
{
    char *texts[3] = {NULL};
    size_t lengths[3] = {0};
    uint64_t steps = view_loop_steps(&ending->loop, r->options->max_steps);
    struct sched_spec schedule = ending->loop.length
                                     ? view_loop_schedule(r->arena, &ending->loop, steps)
                                     : r->options->schedule;
    trace_survey(r->arena, machine, &schedule, steps);
    r->first = first_step(r->arena, machine, r->options, &schedule, steps);
    struct race_detector *race = race_new(r->arena, machine->program);
    r->steps = open_memstream(&texts[0], &lengths[0]);
    r->start = open_memstream(&texts[1], &lengths[1]);
    FILE *out = open_memstream(&texts[2], &lengths[2]);
    INVARIANT(r->steps && r->start && out);
    race_begin(race);
    view_record_start(r, machine);
    r->observer.next = &race->observer;
    machine_observe(machine, &r->observer);
    enum status status = run(r->arena, machine, &schedule, steps);
    if (ending->loop.length == 0)
        ending->status = status;
    ending->race = race;
    fclose(r->steps);
    fclose(r->start);
    view_print_side(r, ending, texts[0], texts[1], out);
    fclose(out);
    free(texts[0]);
    free(texts[1]);
    side->json = texts[2];
    side->length = lengths[2];
}

bool view_run(struct arena *arena, struct arena *scratch, const struct program *program,
              const struct view_options *options, struct view_side *side, const char **why)
{
    const struct subject_info *subject = &subject_table[options->subject];
    struct view_ending ending = {.status = STATUS_RUNNING};
    *why = machine_refuses(arena, subject->vtable, program);
    if (!*why && options->schedule.kind == SCHED_STACKLESS)
        *why = stackless_refuses(subject->vtable);
    if (*why)
        return false;
    struct machine_options plain = subject->options;
    if (options->round)
        view_loop_take(arena, subject, program, options->stem, options->round, &ending.loop);
    if (options->round || view_loop_find(arena, subject, program, &options->schedule,
                                         options->max_steps, &ending.loop))
        ending.status = STATUS_NONTERMINATING;
    struct view_recorder *r = ARENA_NEW(arena, struct view_recorder);
    r->arena = arena;
    r->scratch = scratch;
    r->options = options;
    record(r, machine_new(arena, subject->vtable, program, &plain), &ending, side);
    side->subject = subject->name;
    side->status = ending.status;
    side->taken = r->taken;
    side->first = r->first;
    side->kept = r->kept;
    return true;
}

void view_free(struct view_side *side)
{
    free(side->json);
    side->json = NULL;
}
