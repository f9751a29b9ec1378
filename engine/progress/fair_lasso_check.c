/*
 * fair_lasso_check.c - the definition: whether a stem and a loop are an infinite execution of a model.
 */
#include "engine/base/invariant.h"
#include "engine/machine/live.h"
#include "engine/progress/fair_lasso_internal.h"

#include <string.h>

/* ---- units ---- */

struct fair_sets fair_sets_new(struct arena *arena, const struct machine *machine,
                               const struct fair_units *units)
{
    return (struct fair_sets){.machine = machine,
                              .units = units,
                              .begun = ARENA_ARRAY(arena, uint8_t, units->count),
                              .unfinished = ARENA_ARRAY(arena, uint8_t, units->count),
                              .enabled = ARENA_ARRAY(arena, uint8_t, units->count)};
}

void fair_look(struct fair_sets *sets)
{
    const struct machine *machine = sets->machine;
    const struct machine_head *head = machine->head;
    memset(sets->enabled, 0, sets->units->count);
    for (uint32_t i = 0; i < head->live_count; i++)
        sets->enabled[sets->units->unit_of[head->live[i]]] = 1;
    bool running = machine_status(machine) == STATUS_RUNNING;
    if (!machine->semantics->past_text &&
        (!running || head->unfinished == head->live_count)) { /* nobody waits */
        memcpy(sets->unfinished, sets->enabled, sets->units->count);
        return;
    }
    memset(sets->unfinished, 0, sets->units->count);
    for (uint32_t i = 0; i < machine->actor_count && running; i++)
        if (!is_finished(machine, i))
            sets->unfinished[sets->units->unit_of[i]] = 1;
}

static bool is_fair(const struct fair_sets *sets, enum progress_model model, uint32_t unit,
                    uint32_t lowest, uint32_t highest)
{
    switch (model) {
    case PROGRESS_UNFAIR:
        return false;
    case PROGRESS_HSA:
        return unit == lowest;
    case PROGRESS_OBE:
        return sets->begun[unit];
    case PROGRESS_HSA_OBE:
        return sets->begun[unit] || unit == lowest;
    case PROGRESS_LOBE:
        return unit <= highest && sets->begun[highest];
    case PROGRESS_FAIR:
        return true;
    case PROGRESS_MODEL_COUNT:
        break;
    }
    invariant_fail("a model is one of the table", __FILE__, __LINE__);
}

uint32_t fair_members(const struct fair_sets *sets, enum progress_model model, uint8_t *F)
{
    uint32_t count = sets->units->count, lowest = 0, highest = count - 1, members = 0;
    while (lowest < count && !sets->unfinished[lowest])
        lowest++;
    while (highest > 0 && !sets->begun[highest])
        highest--;
    for (uint32_t u = 0; u < count; u++) {
        F[u] = sets->unfinished[u] && is_fair(sets, model, u, lowest, highest);
        members += F[u];
    }
    return members;
}

/* ---- running a path ---- */

static bool is_inner(const struct fair_path *path, uint32_t at)
{
    return at < path->count && path->entries[at] & TAPE_INNER;
}

static void keep(struct fair_trial *t, uint32_t entry)
{
    if (t->ran.count < t->capacity)
        t->ran.entries[t->ran.count] = entry;
    t->ran.count++;
}

static uint32_t choose_from_path(struct choices *choices, uint32_t n)
{
    struct fair_trial *t = (struct fair_trial *)choices;
    uint32_t value = 0;
    if (is_inner(t->path, t->at))
        value = (t->path->entries[t->at++] & ~(uint32_t)TAPE_INNER) % n;
    keep(t, TAPE_INNER | value);
    return value;
}

struct fair_path fair_path_of(struct arena *arena, const struct tape *stem, const struct tape *loop)
{
    uint32_t count = stem->count + loop->count;
    struct fair_path path = {ARENA_ARRAY(arena, uint32_t, count), stem->count, count};
    memcpy(path.entries, stem->entries, stem->count * sizeof *path.entries);
    memcpy(path.entries + stem->count, loop->entries, loop->count * sizeof *path.entries);
    return path;
}

struct tape *fair_tape_of(struct arena *arena, const uint32_t *entries, uint32_t count)
{
    struct tape *tape = tape_new(arena, count);
    for (uint32_t i = 0; i < count; i++)
        tape_add(tape, entries[i]);
    return tape;
}

struct fair_trial *fair_trial_new(struct arena *arena, struct machine *machine,
                                  const struct fair_units *units, uint32_t capacity)
{
    struct fair_trial *t = ARENA_NEW(arena, struct fair_trial);
    *t = (struct fair_trial){.choices = {NULL, choose_from_path, NULL},
                             .capacity = capacity,
                             .machine = machine,
                             .sets = fair_sets_new(arena, machine, units),
                             .saved = ARENA_ARRAY(arena, uint32_t, machine->block_words),
                             .live = ARENA_ARRAY(arena, uint32_t, machine->actor_count),
                             .F = ARENA_ARRAY(arena, uint8_t, units->count),
                             .F_after = ARENA_ARRAY(arena, uint8_t, units->count),
                             .settled = ARENA_ARRAY(arena, uint8_t, units->count)};
    t->ran.entries = ARENA_ARRAY(arena, uint32_t, capacity);
    return t;
}

/* The step at hand, if its actor can take it. */
static void take_step(struct fair_trial *t)
{
    struct machine *machine = t->machine;
    uint32_t actor = t->path->entries[t->at++];
    if (machine_status(machine) == STATUS_RUNNING && is_live(machine, actor) &&
        t->ran.count < t->capacity) {
        if (t->hashes)
            t->hashes[t->ran.count] = machine->track.hash;
        keep(t, actor);
        machine_step(machine, actor, &t->choices);
        machine->track.log_count = 0;
        t->steps++;
        t->sets.begun[t->sets.units->unit_of[actor]] = 1;
    }
    while (is_inner(t->path, t->at))
        t->at++;
}

/* ---- the loop ---- */

static void settle(struct fair_trial *t, uint32_t unit)
{
    t->missing -= t->F[unit] && !t->settled[unit];
    t->settled[unit] = 1;
}

/* Units that cannot step in the state are settled; who can step changes seldom. */
static void settle_blocked(struct fair_trial *t)
{
    const struct machine_head *head = t->machine->head;
    size_t bytes = head->live_count * sizeof *t->live;
    if (head->live_count == t->live_count && memcmp(head->live, t->live, bytes) == 0)
        return;
    memcpy(t->live, head->live, bytes);
    t->live_count = head->live_count;
    fair_look(&t->sets);
    for (uint32_t u = 0; u < t->sets.units->count; u++)
        if (!t->sets.enabled[u])
            settle(t, u);
}

static void start_loop(struct fair_trial *t, enum progress_model model)
{
    t->ran.stem = t->ran.count;
    machine_save(t->machine, t->saved);
    fair_look(&t->sets);
    t->missing = fair_members(&t->sets, model, t->F);
    memset(t->settled, 0, t->sets.units->count);
    t->live_count = UINT32_MAX;
    settle_blocked(t);
}

/* F only loses units that finish, and they do not come back, and gains units that begin: it is constant if
 * it is the same before and after. */
static bool same_fair(struct fair_trial *t, enum progress_model model)
{
    fair_look(&t->sets);
    (void)fair_members(&t->sets, model, t->F_after);
    return memcmp(t->F, t->F_after, t->sets.units->count) == 0;
}

bool fair_try(struct fair_trial *t, const struct fair_path *path, enum progress_model model)
{
    struct machine *machine = t->machine;
    t->path = path;
    t->at = 0;
    t->ran.count = 0;
    memset(t->sets.begun, 0, t->sets.units->count);
    machine_reset(machine);
    while (t->at < path->stem)
        take_step(t);
    if (machine_status(machine) != STATUS_RUNNING)
        return false;
    start_loop(t, model);
    bool some = t->missing > 0, nobody = model == PROGRESS_UNFAIR;
    for (uint32_t u = 0; u < t->sets.units->count && !some; u++)
        some = t->F[u];
    while (t->at < path->count) {
        uint32_t before = t->ran.count;
        take_step(t);
        if (t->ran.count > before)
            settle(t, t->sets.units->unit_of[t->ran.entries[before]]);
        settle_blocked(t);
    }
    return t->ran.count > t->ran.stem && t->ran.count <= t->capacity && t->missing == 0 &&
           (some || nobody) && machine_equals(machine, t->saved) && same_fair(t, model);
}

bool fair_lasso_is(struct arena *arena, struct machine *machine, const struct fair_units *units,
                   enum progress_model model, const struct tape *stem, const struct tape *loop)
{
    size_t mark = arena_mark(arena);
    uint32_t count = stem->count + loop->count;
    struct fair_trial *t = fair_trial_new(arena, machine, units, count + 1);
    const struct observer *observers = machine->options.observers;
    struct fair_path path = fair_path_of(arena, stem, loop);
    machine_observe(machine, NULL);
    /* Not one that is another when it runs. */
    bool is = fair_try(t, &path, model) && t->ran.count == count && t->ran.stem == stem->count &&
              memcmp(t->ran.entries, path.entries, count * sizeof *path.entries) == 0;
    machine_observe(machine, observers);
    arena_release(arena, mark);
    return is;
}
