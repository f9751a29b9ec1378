/*
 * view_run.c - an execution that is taken to be looked at: is there a proof that it never ends, which of its steps are
 * kept, and what it was.
 */
#include "engine/base/invariant.h"
#include "engine/progress/lasso.h"
#include "engine/schedule/stackless.h"
#include "fuzz/trace/trace.h"
#include "fuzz/view/view_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, ROUNDS_STEPS = 24 }; /* of a loop: so often it is shown, or so many steps */

static struct machine *machine_of(struct arena *arena, const struct program *program,
                                  const struct view_options *options, bool track)
{
    const struct subject_info *subject = &subject_table[options->subject];
    struct machine_options machine_options = subject->options;
    machine_options.track = track;
    return machine_new(arena, subject->vtable, program, &machine_options);
}

/* A proof that the execution never ends, if its schedule is one whose future follows from the state. */
static void find_loop(struct arena *arena, const struct program *program,
                      const struct view_options *options, struct view_ending *ending)
{
    if (!lasso_policy(&options->schedule))
        return;
    struct machine *machine = machine_of(arena, program, options, true);
    uint64_t budget = options->max_steps < VIEW_LASSO_STEPS ? options->max_steps : VIEW_LASSO_STEPS;
    struct lasso lasso = lasso_run(arena, machine, &options->schedule, budget);
    if (lasso.kind != LASSO_FAIR && lasso.kind != LASSO_UNFAIR)
        return;
    lasso_tapes(arena, machine, &options->schedule, &lasso);
    ending->lasso = lasso;
    ending->status = STATUS_NONTERMINATING;
    ending->stem = lasso.stem;
    ending->loop = lasso.loop;
    ending->fair = lasso.kind == LASSO_FAIR;
    ending->live = lasso.live;
    ending->stepped = lasso.stepped;
}

static uint64_t steps_wanted(const struct view_options *options, const struct view_ending *ending)
{
    uint64_t rounds = ROUNDS;
    if (ending->loop == 0)
        return options->max_steps;
    while (rounds * ending->loop < ROUNDS_STEPS)
        rounds++;
    uint64_t steps = ending->stem + rounds * ending->loop;
    return steps < options->max_steps ? steps : options->max_steps;
}

/* The execution of the proof: its stem, and the loop again and again. Choices inside of steps are the proof's, too. */
static struct sched_spec schedule_of_loop(struct arena *arena, const struct lasso *lasso,
                                          uint64_t steps)
{
    const struct tape *stem = lasso->stem_tape, *loop = lasso->loop_tape;
    uint64_t rounds = (steps - lasso->stem) / lasso->loop + 1;
    struct tape *tape = tape_new(arena, stem->count + (uint32_t)rounds * loop->count);
    for (uint32_t i = 0; i < stem->count; i++)
        tape_add(tape, stem->entries[i]);
    for (uint64_t round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < loop->count; i++)
            tape_add(tape, loop->entries[i]);
    return (struct sched_spec){.kind = SCHED_TAPE, .tape = tape};
}

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
    uint64_t steps = steps_wanted(r->options, ending);
    struct sched_spec schedule =
        ending->loop ? schedule_of_loop(r->arena, &ending->lasso, steps) : r->options->schedule;
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
    if (ending->loop == 0)
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
    find_loop(arena, program, options, &ending);
    struct view_recorder *r = ARENA_NEW(arena, struct view_recorder);
    r->arena = arena;
    r->scratch = scratch;
    r->options = options;
    record(r, machine_of(arena, program, options, false), &ending, side);
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
