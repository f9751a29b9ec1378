/*
 * host_searches.c - the searches of a small host program, beside each other and beside executions at random; and what
 * is asked each time with them, of the device's settings and of programs with one mistake.
 */
#include "oracle/device/host_follow.h"
#include "oracle/device/host_tiny.h"

#include <string.h>

enum {
    STATES = 500,
    CACHED_STATES = 1000,
    EXECUTIONS = 4,
    STEPS = 2000,
    ROOM = 4 /* lines */,
    MISTAKES = 8,
    SETTINGS = 4,
    TURNS = 1 << 18 /* steps */
};

/* NULL: the device refuses the program. */
static struct device *make_device(struct arena *arena, const struct host_program *program,
                                  const char *settings, const char *more)
{
    struct device_options options = DEVICE_SC;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *why;
    diag_init(diag, "", NULL, 0);
    if (!device_set(arena, &options, settings, &why) || !device_set(arena, &options, more, &why))
        return NULL;
    return device_new(arena, program, &options, diag);
}

static bool has(const struct device_outcomes *set, const char *text)
{
    bool there = false;
    for (uint32_t i = 0; i < set->count; i++)
        there = there || strcmp(set->texts[i], text) == 0;
    return there;
}

static bool within(const struct device_outcomes *a, const struct device_outcomes *b)
{
    bool are = true;
    for (uint32_t i = 0; i < a->count; i++)
        are = are && has(b, a->texts[i]);
    return are;
}

/* A search that leaves something out has kept as many states as it may, or outcomes. */
static const char *gave_up(const struct device_outcomes *found, uint64_t limit)
{
    if (!found->cut || found->states >= limit ||
        found->count == sizeof found->texts / sizeof *found->texts)
        return NULL;
    return "a search gives up before it comes to its bound";
}

/* As many states as there are suffice, and one fewer does not. */
static const char *compare_bounds(struct arena *arena, struct device *device,
                                  const struct device_outcomes *all, uint64_t seed)
{
    struct device_outcomes *bounded = ARENA_NEW(arena, struct device_outcomes);
    bool fewer = seed % 2 && all->states > 1;
    device_search(device, all->states - fewer, DEVICE_EAGER, bounded);
    if (bounded->cut != fewer || bounded->states != all->states - fewer)
        return fewer ? "a search with a state too few is whole"
                     : "a search gives up that has as many states as there are";
    return within(bounded, all) ? NULL : "an outcome is none where states are too few";
}

/* Each step a state, or those that touch nothing but registers taken with the one before. */
static const char *compare_eager(struct arena *arena, struct device *device,
                                 const struct device_outcomes *eager)
{
    struct device_outcomes *every = ARENA_NEW(arena, struct device_outcomes);
    device_search(device, 2 * STATES, DEVICE_EVERY_STEP, every);
    if (every->cut)
        return gave_up(every, 2 * STATES);
    if (!within(every, eager))
        return "an outcome is missed where steps are taken at once";
    if (!within(eager, every))
        return "an outcome is none where steps are taken at once";
    bool same = (eager->lost > 0) == (every->lost > 0) &&
                (eager->stuck > 0) == (every->stuck > 0) &&
                (eager->faults > 0) == (every->faults > 0);
    return same ? NULL : "where it ends differs where steps are taken at once";
}

/* `follow`: the reference, or NULL: it has no room. */
static const char *compare_execution(struct arena *arena, struct device *device,
                                     struct host_follow *follow, struct device_schedule *schedule,
                                     const struct device_outcomes *all)
{
    const char *text;
    uint32_t line;
    enum device_end end = host_follow_run(device, follow, schedule, &text, &line);
    if (text || all->cut)
        return text;
    if (end == END_DONE && !has(all, device_outcome(arena, device)))
        return "an execution has an outcome that the search has not";
    if ((end == END_STUCK && !all->stuck) || (end == END_FAULT && !all->faults))
        return "an execution ends as the search says that none does";
    return NULL;
}

static const char *compare_executions(struct arena *arena, struct device *device,
                                      const struct device_outcomes *all, uint64_t seed,
                                      uint64_t *steps)
{
    static const enum device_order orders[] = {ORDER_RANDOM, ORDER_TURNS, ORDER_LATE};
    struct host_follow *follow = host_follow_watch(arena, device);
    const char *differs = NULL;
    for (uint64_t i = 0; i < EXECUTIONS && !differs; i++) {
        struct device_schedule schedule = {
            .order = orders[i % 3], .seed = seed + i, .budget = STEPS};
        differs = compare_execution(arena, device, follow, &schedule, all);
        *steps += device->steps;
    }
    if (!differs)
        differs = host_tape_differs(arena, device, follow, seed);
    if (follow)
        host_follow_leave(follow);
    return differs;
}

/* Of warps with several lanes the caches make one operation of those in a line, and phases have one each. */
static bool has_one_lane(const struct device *device)
{
    for (uint32_t i = 0; i < device->grid_count; i++)
        if (device->grids[i].kernel->launch.warp > 1 && device->grids[i].kernel->launch.threads > 1)
            return false;
    return true;
}

/* Where two blocks may be at one place, whoever comes finds all of it as at first in phases, and over caches its own
 * words only. */
static bool have_same_places(const struct device *device)
{
    bool same = true;
    for (uint32_t i = 1; i < device->grid_count; i++)
        same = same && device->grids[i].program->words[SPACE_SHARED] ==
                           device->grids[0].program->words[SPACE_SHARED];
    return same || device->options.whole;
}

/* Each operation of caches that have room may run to its end at once: so it does in memory=inflight, where a line is a
 * word. */
static const char *compare_caches(struct arena *arena, const struct host_program *program,
                                  const char *settings, uint64_t seed, uint64_t *steps)
{
    struct device_outcomes *phases = ARENA_NEW(arena, struct device_outcomes),
                           *cached = ARENA_NEW(arena, struct device_outcomes);
    struct device *in_phases = make_device(arena, program, settings, "memory=inflight"),
                  *over = make_device(arena, program, settings, "memory=caches");
    if (!in_phases || !over || over->options.crowded) /* its blocks are all at one place */
        return NULL;
    device_search(in_phases, STATES, DEVICE_EAGER, phases);
    if (phases->cut)
        return gave_up(phases, STATES);
    device_search(over, CACHED_STATES, DEVICE_EAGER, cached);
    if (cached->cut)
        return gave_up(cached, CACHED_STATES);
    if (over->options.lines >= ROOM && over->options.words == 1 && has_one_lane(over) &&
        have_same_places(over) && !within(phases, cached))
        return "operations of two phases have an outcome that caches have not";
    return compare_executions(arena, over, cached, seed, steps);
}

/* Who takes turns comes to an end, or to a state again, from which the program then cannot end. */
static const char *compare_turns(struct device *device, const struct device_outcomes *all)
{
    struct device_schedule schedule = {.order = ORDER_TURNS, .budget = TURNS};
    device_reset(device);
    enum device_end end = device_execute(device, &schedule);
    if (end == END_NONE_LEFT)
        return "a state has come back, and it is not told";
    return end == END_HANG && all->lost == 0 ? "a hang is told of a program that ends" : NULL;
}

static const char *compare_searches(struct arena *arena, const struct host_program *program,
                                    struct device *device, const char *settings, uint64_t seed,
                                    uint64_t *steps)
{
    struct device_outcomes *all = ARENA_NEW(arena, struct device_outcomes);
    device_search(device, STATES, DEVICE_EAGER, all);
    const char *differs = gave_up(all, STATES);
    if (!all->cut)
        differs = compare_eager(arena, device, all);
    if (!differs && !all->cut)
        differs = compare_bounds(arena, device, all, seed);
    if (!differs && !all->cut && !device->options.inflight && seed % 2)
        differs = compare_turns(device, all);
    if (!differs)
        differs = compare_executions(arena, device, all, seed, steps);
    return differs ? differs : compare_caches(arena, program, settings, seed, steps);
}

const char *host_tiny_differs(struct arena *arena, const char *program, const char *settings,
                              uint64_t seed, uint64_t *steps)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "tiny", program, strlen(program));
    const struct host_program *p = host_parse(arena, "tiny", program, strlen(program), diag);
    struct device *device = p ? make_device(arena, p, settings, "") : NULL;
    if (!p)
        return "it cannot be read";
    if (!device)
        return host_settings_differ(arena, settings);
    struct pcg rng = pcg_derive(seed, PCG_KERNEL, 0);
    const char *differs = host_settings_differ(arena, settings);
    for (uint32_t i = 0; i < SETTINGS && !differs; i++)
        differs = host_settings_drawn_differ(arena, &rng);
    if (!differs)
        differs = host_launches_differ(arena, &rng);
    if (!differs)
        differs = host_room_differs(arena, device, settings, seed);
    if (!differs)
        differs = host_mistakes_differ(arena, &rng, MISTAKES);
    return differs ? differs : compare_searches(arena, p, device, settings, seed, steps);
}
