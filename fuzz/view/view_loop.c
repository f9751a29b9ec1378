#include "fuzz/view/view_loop.h"

#include <string.h>

enum { ROUNDS = 3, ROUNDS_STEPS = 24 }; /* of a loop: so often it is shown, or so many steps */

bool view_loop_find(struct arena *arena, const struct subject_info *subject,
                    const struct program *program, const struct sched_spec *schedule,
                    uint64_t max_steps, struct view_loop *loop)
{
    struct machine_options options = subject->options;
    *loop = (struct view_loop){.length = 0};
    if (!lasso_policy(schedule))
        return false;
    options.track = true;
    struct machine *machine = machine_new(arena, subject->vtable, program, &options);
    uint64_t budget = max_steps < VIEW_LASSO_STEPS ? max_steps : VIEW_LASSO_STEPS;
    struct lasso lasso = lasso_run(arena, machine, schedule, budget);
    if (lasso.kind != LASSO_FAIR && lasso.kind != LASSO_UNFAIR)
        return false;
    lasso_tapes(arena, machine, schedule, &lasso);
    *loop = (struct view_loop){
        .stem = lasso.stem, .length = lasso.loop, .fair = lasso.kind == LASSO_FAIR, .lasso = lasso};
    return true;
}

/* Entries of a tape that are no choices inside of steps; who takes them, where `stepped` is not NULL. */
static uint64_t steps_of(const struct tape *tape, uint8_t *stepped)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape->entries[i] & TAPE_INNER)
            continue;
        steps++;
        if (stepped)
            stepped[tape->entries[i]] = 1;
    }
    return steps;
}

void view_loop_take(struct arena *arena, const struct subject_info *subject,
                    const struct program *program, const struct tape *stem,
                    const struct tape *round, struct view_loop *loop)
{
    struct machine_options options = subject->options;
    struct machine *machine = machine_new(arena, subject->vtable, program, &options);
    const struct sched_spec schedule = {.kind = SCHED_TAPE, .tape = stem};
    struct scheduler scheduler;
    uint8_t *live = ARENA_ARRAY(arena, uint8_t, machine->alternatives);
    uint8_t *stepped = ARENA_ARRAY(arena, uint8_t, machine->alternatives);
    uint64_t steps = steps_of(stem, NULL), length = steps_of(round, stepped);
    sched_start(&scheduler, &schedule, machine, arena);
    machine_run(machine, &scheduler.choices, steps, NULL);
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        live[machine->head->live[i]] = 1;
    *loop = (struct view_loop){
        .stem = steps,
        .length = length,
        .fair = memcmp(live, stepped, machine->alternatives) == 0,
        .lasso = {.live = live, .stepped = stepped, .stem_tape = stem, .loop_tape = round}};
}

uint64_t view_loop_steps(const struct view_loop *loop, uint64_t max_steps)
{
    uint64_t rounds = ROUNDS;
    if (loop->length == 0)
        return max_steps;
    while (rounds * loop->length < ROUNDS_STEPS)
        rounds++;
    uint64_t steps = loop->stem + rounds * loop->length;
    return steps < max_steps ? steps : max_steps;
}

struct sched_spec view_loop_schedule(struct arena *arena, const struct view_loop *loop,
                                     uint64_t steps)
{
    const struct tape *stem = loop->lasso.stem_tape, *round = loop->lasso.loop_tape;
    uint64_t rounds = (steps - loop->stem) / loop->length + 1;
    struct tape *tape = tape_new(arena, stem->count + (uint32_t)rounds * round->count);
    for (uint32_t i = 0; i < stem->count; i++)
        tape_add(tape, stem->entries[i]);
    for (uint64_t k = 0; k < rounds; k++)
        for (uint32_t i = 0; i < round->count; i++)
            tape_add(tape, round->entries[i]);
    return (struct sched_spec){.kind = SCHED_TAPE, .tape = tape};
}
