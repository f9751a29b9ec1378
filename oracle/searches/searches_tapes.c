/*
 * searches_tapes.c - tapes (engine/schedule/tape.h): an execution is recorded, printed, read and replayed, and must be
 * the same; then the tape is changed, and what a replay does with each entry that does not fit must be what is said:
 *
 *     a step     choices that stand before the next actor are passed, each a drift; an actor that cannot step is a
 *                drift, and the lowest one that can steps
 *     a choice   an actor where a choice should stand is a drift, and is kept for the next step; so is a choice of more
 *                than there are; the first is taken
 *     the end    the lowest that can, and the first choice; neither is a drift
 */
#include "engine/base/pcg.h"
#include "engine/machine/live.h"
#include "engine/schedule/sched.h"
#include "oracle/searches/searches_internal.h"

#include <string.h>

enum { STEPS = 40, ENTRIES = 256, CHANGES = 3 };

/* A replay, and beside it what it should be. */
struct beside {
    struct choices choices; /* first member */
    struct scheduler scheduler;
    const struct tape *tape;
    uint32_t at, drifts, first_drift, beyond;
    bool wrong;
};

static void drift(struct beside *x, uint32_t at)
{
    x->first_drift = x->drifts++ == 0 ? at : x->first_drift;
}

static uint32_t should_step(struct beside *x, const struct machine *machine)
{
    for (; x->at < x->tape->count && (x->tape->entries[x->at] & TAPE_INNER); x->at++)
        drift(x, x->at);
    if (x->at == x->tape->count) {
        x->beyond++;
        return machine->head->live[0];
    }
    uint32_t actor = x->tape->entries[x->at];
    bool can = false;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        can = can || machine->head->live[i] == actor;
    if (!can)
        drift(x, x->at);
    x->at++;
    return can ? actor : machine->head->live[0];
}

static uint32_t should_choose(struct beside *x, uint32_t n)
{
    if (x->at == x->tape->count) {
        x->beyond++;
        return 0;
    }
    uint32_t entry = x->tape->entries[x->at], value = entry - TAPE_INNER;
    bool is_choice = (entry & TAPE_INNER) != 0;
    if (!is_choice || value >= n)
        drift(x, x->at);
    x->at += is_choice;
    return is_choice && value < n ? value : 0;
}

static uint32_t pick_both(struct choices *choices, const struct machine *machine)
{
    struct beside *x = (struct beside *)choices;
    uint32_t actor = should_step(x, machine);
    uint32_t index = x->scheduler.choices.pick(&x->scheduler.choices, machine);
    x->wrong = x->wrong || machine->head->live[index] != actor;
    return index;
}

static uint32_t choose_both(struct choices *choices, uint32_t n)
{
    struct beside *x = (struct beside *)choices;
    uint32_t value = should_choose(x, n);
    x->wrong = x->wrong || x->scheduler.choices.choose(&x->scheduler.choices, n) != value;
    return value;
}

static bool same_tape(const struct tape *a, const struct tape *b)
{
    return a->count == b->count &&
           memcmp(a->entries, b->entries, a->count * sizeof *a->entries) == 0;
}

/* How often the next actor is another. */
static uint32_t switches(const struct tape *tape)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        uint32_t next = i + 1;
        while (next < tape->count && (tape->entries[next] & TAPE_INNER))
            next++;
        count += !(tape->entries[i] & TAPE_INNER) && next < tape->count &&
                 tape->entries[next] != tape->entries[i];
    }
    return count;
}

static const char *ask_text(struct arena *arena, const struct tape *tape)
{
    size_t column;
    const struct tape *read = tape_parse(arena, tape_print(arena, tape), &column);
    if (!read || !same_tape(read, tape))
        return "tape: read of what is printed";
    return tape_context_switches(tape) == switches(tape) ? NULL : "tape: switches";
}

static void change(struct pcg *rng, struct tape *tape)
{
    uint32_t at = tape->count ? pcg_below(rng, tape->count) : 0, *entries = tape->entries;
    uint32_t entry = pcg_below(rng, 5) + (pcg_below(rng, 2) ? TAPE_INNER : 0);
    switch (tape->count ? pcg_below(rng, 4) : 0) {
    case 0: /* one more */
        if (tape->count == tape->capacity)
            return;
        memmove(entries + at + 1, entries + at, (tape->count - at) * sizeof *entries);
        tape->count++;
        entries[at] = entry;
        return;
    case 1: /* one less */
        tape->count--;
        memmove(entries + at, entries + at + 1, (tape->count - at) * sizeof *entries);
        return;
    case 2:
        entries[at] = entry;
        return;
    default:
        tape->count = at;
        return;
    }
}

/* Replays it beside what it should be, and records that. */
static const char *replay(const struct searched *s, struct machine *machine,
                          const struct tape *tape, struct tape *record, enum status *status)
{
    const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tape};
    struct beside x = {
        .choices = {pick_both, choose_both, NULL}, .tape = tape, .first_drift = tape->count};
    machine_reset(machine);
    sched_start(&x.scheduler, &spec, machine, s->arena);
    *status = machine_run(machine, &x.choices, STEPS, record);
    if (x.wrong)
        return "tape: what a replay takes";
    return x.drifts == x.scheduler.drifts && x.first_drift == x.scheduler.first_drift &&
                   x.beyond == x.scheduler.beyond
               ? NULL
               : "tape: drifts";
}

const char *searches_tapes(const struct searched *s)
{
    const struct subject_info *info = &subject_table[s->subject];
    struct machine *machine = machine_new(s->arena, info->vtable, s->program, &info->options);
    const struct sched_spec uniform = {.kind = SCHED_UNIFORM, .seed = s->all.edge_count};
    size_t bytes = (size_t)s->program->private_base * sizeof *machine->memory;
    struct tape *tape = tape_new(s->arena, ENTRIES), *record = tape_new(s->arena, ENTRIES);
    int32_t *memory = ARENA_ARRAY(s->arena, int32_t, s->program->private_base + 1);
    struct pcg rng = pcg_derive(s->all.edge_count, PCG_SCHEDULE, s->all.state_count);
    struct scheduler scheduler;
    sched_start(&scheduler, &uniform, machine, s->arena);
    enum status status = machine_run(machine, &scheduler.choices, STEPS, tape), again;
    memcpy(memory, machine->memory, bytes);
    const char *differs = replay(s, machine, tape, record, &again);
    if (!differs && (again != status || !same_tape(tape, record) ||
                     memcmp(memory, machine->memory, bytes) != 0))
        differs = "tape: another execution";
    for (uint32_t i = 0; i < CHANGES && !differs; i++) {
        differs = ask_text(s->arena, tape);
        change(&rng, tape);
        record->count = 0;
        if (!differs)
            differs = replay(s, machine, tape, record, &again);
    }
    return differs;
}
