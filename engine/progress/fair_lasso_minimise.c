/*
 * fair_lasso_minimise.c - shorter stems and loops: whatever is left out, what remains is run and held to
 * the definition.
 */
#include "engine/base/invariant.h"
#include "engine/progress/fair_lasso_internal.h"

#include <string.h>

struct shorter {
    struct fair_trial *trial;
    struct fair_path *best;     /* the shortest so far */
    struct fair_path candidate; /* its entries: room for the longest path */
    enum progress_model model;
    uint64_t limit; /* of trial->steps */
    const volatile sig_atomic_t *stop;
    uint64_t *hashes; /* of the states before the entries of `best` */
    uint32_t *last;   /* open addressing by hash: the last entry with it, + 1 */
    uint32_t mask;
    uint32_t *before; /* an entry: the one before with the same hash, + 1 */
};

static bool may_go_on(const struct shorter *s)
{
    return s->trial->steps < s->limit && !(s->stop && *s->stop);
}

/* The candidate becomes the best if it is an execution of the model, and shorter. */
static bool take(struct shorter *s)
{
    struct fair_trial *t = s->trial;
    if (!may_go_on(s) || !fair_try(t, &s->candidate, s->model) || t->ran.count >= s->best->count)
        return false;
    memcpy(s->best->entries, t->ran.entries, t->ran.count * sizeof *t->ran.entries);
    s->best->stem = t->ran.stem;
    s->best->count = t->ran.count;
    return true;
}

static void start_candidate(struct shorter *s)
{
    s->candidate.count = s->candidate.stem = 0;
}

/* Entries [from, to) of the best. */
static void add(struct shorter *s, uint32_t from, uint32_t to)
{
    if (from >= to)
        return;
    memcpy(s->candidate.entries + s->candidate.count, s->best->entries + from,
           (to - from) * sizeof *s->best->entries);
    s->candidate.count += to - from;
}

/* Without entries [from, to), which lie in the stem, or in the loop. */
static bool leave_out(struct shorter *s, uint32_t from, uint32_t to)
{
    start_candidate(s);
    add(s, 0, from);
    add(s, to, s->best->count);
    s->candidate.stem = s->best->stem - (from < s->best->stem ? to - from : 0);
    return take(s);
}

/* ---- what lies between equal states ---- */

static uint32_t *find_last(struct shorter *s, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & s->mask;
    while (s->last[at] && s->hashes[s->last[at] - 1] != hash)
        at = (at + 1) & s->mask;
    return &s->last[at];
}

static bool is_actor(const struct shorter *s, uint32_t entry)
{
    return !(s->best->entries[entry] & TAPE_INNER);
}

/* The states before the entries of the best, and where each was last. */
static void look_at_states(struct shorter *s)
{
    struct fair_trial *t = s->trial;
    t->hashes = s->hashes;
    (void)fair_try(t, s->best, s->model);
    t->hashes = NULL;
    memset(s->last, 0, ((size_t)s->mask + 1) * sizeof *s->last);
    for (uint32_t i = 0; i < s->best->count; i++) {
        if (!is_actor(s, i))
            continue;
        uint32_t *last = find_last(s, s->hashes[i]);
        s->before[i] = *last;
        *last = i + 1;
    }
}

/* The stem without its loops; and to the first state of the loop that it comes to. */
static bool cut_stem(struct shorter *s)
{
    uint32_t stem = s->best->stem, at = 0;
    look_at_states(s);
    start_candidate(s);
    while (at < stem) {
        uint32_t next = at + 1, last = *find_last(s, s->hashes[at]) - 1;
        if (last > at) {
            at = last;
            continue;
        }
        while (next < stem && !is_actor(s, next))
            next++;
        add(s, at, next);
        at = next;
    }
    s->candidate.stem = s->candidate.count;
    add(s, at, s->best->count);
    add(s, stem, at);
    return take(s);
}

/* The longest loop within the loop, from this entry on, that can be left out. */
static bool cut_loop_from(struct shorter *s, uint32_t from)
{
    uint32_t stem = s->best->stem, to = *find_last(s, s->hashes[from]) - 1;
    if (from > stem && s->hashes[from] == s->hashes[stem] && leave_out(s, from, s->best->count))
        return true;
    while (to > from && may_go_on(s)) {
        if (leave_out(s, from, to))
            return true;
        to = s->before[to] - 1;
    }
    return false;
}

static bool cut_loop(struct shorter *s)
{
    bool cut = false;
    look_at_states(s);
    for (uint32_t i = s->best->stem; i < s->best->count && may_go_on(s);) {
        if (is_actor(s, i) && cut_loop_from(s, i)) {
            look_at_states(s);
            cut = true;
        } else {
            i++;
        }
    }
    return cut;
}

/* ---- actors, steps ---- */

/* Without all steps of an actor, in the stem, or everywhere. */
static bool leave_out_actor(struct shorter *s, uint32_t actor, bool everywhere)
{
    bool kept = true;
    start_candidate(s);
    for (uint32_t i = 0; i < s->best->count; i++) {
        if (i == s->best->stem)
            s->candidate.stem = s->candidate.count;
        if (is_actor(s, i))
            kept = s->best->entries[i] != actor || (i >= s->best->stem && !everywhere);
        if (kept)
            add(s, i, i + 1);
    }
    return s->candidate.count < s->best->count && take(s);
}

static bool cut_actors(struct shorter *s)
{
    uint32_t actors = s->trial->machine->actor_count;
    uint8_t *seen = (uint8_t *)s->last; /* not needed now, and large enough */
    bool cut = false;
    memset(seen, 0, actors);
    for (uint32_t i = 0; i < s->best->count; i++)
        if (is_actor(s, i))
            seen[s->best->entries[i]] = 1;
    for (uint32_t a = 0; a < actors && may_go_on(s); a++)
        if (seen[a])
            cut |= leave_out_actor(s, a, true) || leave_out_actor(s, a, false);
    return cut;
}

/* Runs of entries, shorter and shorter: from the end, where the loop is. */
static bool cut_steps(struct shorter *s)
{
    bool cut = false;
    for (uint32_t size = s->best->count / 2; size > 0; size /= 2) {
        for (uint32_t to = s->best->count; to >= size && to > 0 && may_go_on(s);) {
            uint32_t from = to - size, stem = s->best->stem;
            if (from < stem && to > stem)
                from = stem;
            bool out = is_actor(s, from) && leave_out(s, from, to);
            cut |= out;
            to = from;
        }
    }
    return cut;
}

bool fair_minimise(struct arena *arena, struct fair_trial *trial, struct fair_path *path,
                   enum progress_model model, uint64_t budget_steps,
                   const volatile sig_atomic_t *stop)
{
    size_t mark = arena_mark(arena);
    uint32_t size = 2;
    while (size < 2 * path->count || size < trial->machine->actor_count)
        size *= 2;
    struct shorter s = {.trial = trial,
                        .best = path,
                        .candidate = {.entries = ARENA_ARRAY(arena, uint32_t, path->count)},
                        .model = model,
                        .limit = trial->steps + budget_steps,
                        .stop = stop,
                        .hashes = ARENA_ARRAY(arena, uint64_t, path->count + 1),
                        .last = ARENA_ARRAY(arena, uint32_t, size),
                        .mask = size - 1,
                        .before = ARENA_ARRAY(arena, uint32_t, path->count)};
    bool shorter = true;
    while (shorter && may_go_on(&s)) {
        shorter = cut_stem(&s);
        shorter |= cut_actors(&s);
        shorter |= cut_loop(&s);
        shorter |= cut_steps(&s);
    }
    bool whole = may_go_on(&s);
    arena_release(arena, mark);
    return whole;
}

bool fair_lasso_shorten(struct arena *arena, struct machine *machine,
                        const struct fair_units *units, enum progress_model model,
                        const struct tape **stem, const struct tape **loop, uint64_t budget_steps)
{
    uint32_t count = (*stem)->count + (*loop)->count;
    const struct observer *observers = machine->options.observers;
    struct fair_path path = fair_path_of(arena, *stem, *loop);
    machine_observe(machine, NULL);
    struct fair_trial *t = fair_trial_new(arena, machine, units, count + 1);
    bool whole = fair_minimise(arena, t, &path, model, budget_steps, NULL);
    machine_observe(machine, observers);
    *stem = fair_tape_of(arena, path.entries, path.stem);
    *loop = fair_tape_of(arena, path.entries + path.stem, path.count - path.stem);
    return whole;
}
