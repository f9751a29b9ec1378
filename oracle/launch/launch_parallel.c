/*
 * launch_parallel.c - groups of blocks on several threads, with the result that they have one after the other.
 *
 * Only launches that one execution decides about (launch_decides.c) run so, and only what nothing is wrong with is
 * kept: each worker has memory as the first group left it, and a log of accesses (launch_race.h) of its own. A worker's
 * log tells of races between its own groups. When all are done, the logs are laid beside each other: where a worker
 * wrote a location, and another one accessed it, two blocks race, for nothing orders blocks. If there is no such
 * location, no group read what another one wrote, so each did what it does when they come one after the other; what
 * they wrote is put together, and changes by atomics, which are all of one operation, are summed up. Otherwise - a
 * race, a fault, a read of what nothing wrote, a group that takes long - all of it is forgotten, and the groups run one
 * after the other. So neither the number of workers nor their speed is seen in what comes out.
 */
#include "oracle/launch/launch_internal.h"

#include "engine/crs/crs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { STEPS_SHARE = 16, STEPS_MORE = 1 << 20 };

struct common {
    struct launch *launch;
    uint64_t budget; /* of a group */
    uint64_t groups; /* full ones of the grid */
    /* The first group that nobody has taken; relaxed: nothing else is handed over by it. */
    atomic_ullong next;
    atomic_ullong steps, blocks;
    atomic_bool stopped; /* something is wrong, or the user wants no more */
};

struct worker {
    struct common *common;
    struct arena arena;
    struct launch part;
    struct machine *machine;
    uint32_t *numbers;                  /* of the blocks that are resident */
    const struct launch_options *asked; /* of the one on the caller's thread; NULL: another */
    pthread_t thread;
};

static bool go_on(void *context, uint64_t steps, uint64_t blocks)
{
    struct worker *w = context;
    struct common *c = w->common;
    (void)blocks;
    if (w->asked && w->asked->go_on &&
        !w->asked->go_on(w->asked->context,
                         atomic_load_explicit(&c->steps, memory_order_relaxed) + steps,
                         atomic_load_explicit(&c->blocks, memory_order_relaxed)))
        atomic_store_explicit(&c->stopped, true, memory_order_relaxed);
    return !atomic_load_explicit(&c->stopped, memory_order_relaxed);
}

static void *work(void *context)
{
    struct worker *w = context;
    struct common *c = w->common;
    const uint32_t resident = c->launch->program->launch.blocks;
    const struct launch_options options = {.budget = c->budget, .go_on = go_on, .context = w};
    uint64_t group;
    crs_slot_numbers(w->machine, w->numbers);
    while (!atomic_load_explicit(&c->stopped, memory_order_relaxed) &&
           (group = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < c->groups) {
        const uint64_t first = group * resident;
        for (uint32_t i = 0; i < resident; i++)
            w->numbers[i] = (uint32_t)first + i;
        machine_restart(w->machine);
        w->part.steps = 0;
        if (launch_run_group(&w->part, w->machine, first, &options) != STATUS_TERMINATED ||
            w->part.race->findings)
            atomic_store_explicit(&c->stopped, true, memory_order_relaxed);
        atomic_fetch_add_explicit(&c->steps, w->part.steps, memory_order_relaxed);
        atomic_fetch_add_explicit(&c->blocks, resident, memory_order_relaxed);
    }
    crs_slot_numbers(w->machine, NULL);
    return NULL;
}

/* ---- workers ---- */

static size_t memory_bytes(const struct launch *launch)
{
    return (size_t)4 * launch->program->shared_base;
}

static struct worker *new_worker(struct common *c)
{
    struct launch *launch = c->launch;
    struct worker *w = ARENA_NEW(launch->arena, struct worker);
    const char *reason;
    w->common = c;
    w->numbers = ARENA_ARRAY(launch->arena, uint32_t, launch->program->launch.blocks);
    if (arena_init(&w->arena, launch->arena->size) != 0)
        return NULL;
    w->part = *launch;
    w->part.arena = &w->arena;
    w->machine = w->part.machine = launch_machine(&w->arena, launch->program, &reason);
    w->part.race = launch_race_new(&w->arena, launch->program);
    memcpy(w->machine->memory, launch->machine->memory, memory_bytes(launch));
    launch_race_written_as(w->part.race, launch->race);
    return w;
}

/* ---- what they did, put together ---- */

static bool is_written(const struct launch_race *race, uint32_t location)
{
    return launch_slot_at(race, LAUNCH_WRITE, location).thread != 0;
}

static bool is_changed(const struct launch_race *race, uint32_t location)
{
    return race->has_strong && launch_slot_at(race, LAUNCH_STRONG, location).thread != 0;
}

/* Whether a location may have been accessed: of so many one behind the other, one was. */
static bool is_touched(const struct launch_race *race, uint32_t location)
{
    return race->chunks[location / LAUNCH_CHUNK] & LAUNCH_TOUCHED;
}

/* Whether accesses of a location by different workers race. */
static bool race_at(struct worker *const *workers, uint32_t count, uint32_t location)
{
    uint32_t writers = 0, readers = 0, changers = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct launch_race *race = workers[i]->part.race;
        if (!is_touched(race, location))
            continue;
        writers |= (uint32_t)is_written(race, location) << i;
        readers |= (uint32_t)(launch_slot_at(race, LAUNCH_READ, location).thread != 0) << i;
        changers |= (uint32_t)is_changed(race, location) << i;
    }
    uint32_t all = writers | readers | changers;
    return (all & (all - 1)) != 0 && (writers != 0 || (readers != 0 && changers != 0));
}

static uint64_t value_at(const void *memory, uint32_t location, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)memory + (size_t)location * bytes, bytes);
    return value;
}

/* The one operation of all atomics (NULL: there are none), and how many locations each takes. */
static const struct ptx_op *find_atomic(const struct launch *launch)
{
    const struct ptx_code *code = launch->program->ptx;
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (launch->race->manners[pc].strong)
            return &code->ops[pc];
    return NULL;
}

/* Two have changed a value that was `before`, each without the other: as if one had come behind the other. */
static uint64_t joined(const struct ptx_op *op, uint64_t before, uint64_t a, uint64_t b)
{
    switch ((uint32_t)op->mode) {
    case PTX_W_ADD:
        return a + b - before;
    case PTX_W_XOR:
        return a ^ b ^ before;
    default: /* AND, OR, MIN, MAX: what comes twice does nothing the second time */
        return op->atomic(a, b, 0);
    }
}

/* What the worker changed at the location, into the launch's memory, which holds what others before it did. */
static void put_together(struct launch *launch, const struct worker *w, uint32_t location,
                         const struct ptx_op *atomic, const void *before)
{
    const uint32_t each = 4 / launch->program->units;
    char *memory = (char *)launch->machine->memory;
    if (is_written(w->part.race, location))
        memcpy(memory + (size_t)location * each,
               (const char *)w->machine->memory + (size_t)location * each, each);
    if (!is_changed(w->part.race, location) || (size_t)location * each % atomic->bytes != 0)
        return;
    const uint32_t at = (uint32_t)((size_t)location * each / atomic->bytes);
    const uint64_t value =
        joined(atomic, value_at(before, at, atomic->bytes), value_at(memory, at, atomic->bytes),
               value_at(w->machine->memory, at, atomic->bytes));
    memcpy(memory + (size_t)at * atomic->bytes, &value, atomic->bytes);
}

/* Who accessed the location, where the launch knows of nobody. */
static void put_log(struct launch_race *to, const struct launch_race *from, uint32_t location)
{
    static const enum launch_kept lasts[] = {LAUNCH_WRITE, LAUNCH_READ, LAUNCH_STRONG};
    for (uint32_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        const struct launch_slot slot = launch_slot_at(from, lasts[i], location);
        if (slot.thread != 0 && launch_slot_at(to, lasts[i], location).thread == 0)
            launch_put(to, lasts[i], location, slot);
    }
    to->chunks[location / LAUNCH_CHUNK] |= from->chunks[location / LAUNCH_CHUNK];
}

/* From this location on, as many as are touched together. */
static void put_all(struct launch *launch, const struct worker *w, uint32_t from, uint32_t to,
                    const void *before)
{
    const struct ptx_op *atomic = find_atomic(launch);
    const uint32_t units = launch->program->units;
    for (uint32_t l = from; l < to; l++) {
        put_together(launch, w, l, atomic, before);
        put_log(launch->race, w->part.race, l);
    }
    const bool asked =
        launch->race->written && !(launch->race->chunks[from / LAUNCH_CHUNK] & LAUNCH_WRITTEN);
    for (uint32_t word = from / units; asked && word < to / units; word++)
        launch->race->written[word] |= w->part.race->written[word];
}

static bool merge(struct launch *launch, struct worker *const *workers, uint32_t count,
                  const void *before)
{
    const uint32_t locations = launch->race->global_locations;
    for (uint32_t l = 0; l < locations; l++)
        if (race_at(workers, count, l))
            return false;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t l = 0; l < locations; l += LAUNCH_CHUNK) {
            uint32_t left = locations - l;
            if (is_touched(workers[i]->part.race, l))
                put_all(launch, workers[i], l, l + (left < LAUNCH_CHUNK ? left : LAUNCH_CHUNK),
                        before);
        }
    return true;
}

/* ---- the run ---- */

static bool run_workers(struct common *c, struct worker **workers, uint32_t count)
{
    uint32_t started = 1;
    while (started < count &&
           pthread_create(&workers[started]->thread, NULL, work, workers[started]) == 0)
        started++;
    work(workers[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(workers[i]->thread, NULL);
    return !atomic_load_explicit(&c->stopped, memory_order_relaxed);
}

bool launch_run_parallel(struct launch *launch, const struct launch_options *options)
{
    const size_t bytes = memory_bytes(launch);
    const uint64_t first = launch->steps;
    struct common c = {.launch = launch,
                       .budget = STEPS_SHARE * first + STEPS_MORE,
                       .groups = launch->blocks / launch->program->launch.blocks,
                       .next = 1};
    struct worker *workers[LAUNCH_WORKERS] = {NULL};
    uint32_t count = 1,
             wanted = options->workers < LAUNCH_WORKERS ? options->workers : LAUNCH_WORKERS;
    void *before = arena_room(launch->arena, bytes);
    memcpy(before, launch->machine->memory, bytes);
    workers[0] = ARENA_NEW(launch->arena, struct worker);
    *workers[0] = (struct worker){
        .common = &c,
        .part = *launch,
        .machine = launch->machine,
        .numbers = ARENA_ARRAY(launch->arena, uint32_t, launch->program->launch.blocks),
        .asked = options};
    while (count < wanted && count < c.groups && (workers[count] = new_worker(&c)) != NULL)
        count++;
    bool good = run_workers(&c, workers, count) && merge(launch, workers, count, before);
    for (uint32_t i = 1; i < count; i++)
        arena_destroy(&workers[i]->arena);
    launch->steps = first + atomic_load_explicit(&c.steps, memory_order_relaxed);
    launch->blocks_done = c.groups * launch->program->launch.blocks;
    return good;
}
