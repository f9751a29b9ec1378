/*
 * searches_ends.c - whether executions end, under any schedule, one that treats some units fairly, weakly or strongly,
 * or groups of threads that chance chooses: by definition, on all states, with the set of those who have begun.
 */
#include "oracle/searches/searches_internal.h"

#include <string.h>

struct place {
    uint32_t state, begun; /* begun: bit u of unit u */
};

struct step {
    uint32_t from, unit, to;
};

/* The graph of places; those on cycles, by classes. */
struct graph {
    const struct searched *s;
    const struct ref_all *all;
    const struct searched_units *units;
    uint32_t place_count, step_count;
    uint32_t *numbers; /* of a state and who has begun: the place, + 1 */
    struct place *places;
    struct step *steps;
    bool *there; /* of a place: an infinite way leads there, and another on */
    uint32_t *class_of, class_count;
};

static uint32_t place_with(struct graph *g, uint32_t state, uint32_t begun)
{
    uint32_t *number = &g->numbers[(state << REF_ALL_ACTORS) + begun];
    if (*number == 0) {
        g->places[g->place_count] = (struct place){state, begun};
        *number = ++g->place_count;
    }
    return *number - 1;
}

static void make_places(struct arena *arena, struct graph *g, bool begun_matters)
{
    const struct ref_all *all = g->all;
    uint32_t each = begun_matters ? 1u << g->units->count : 1;
    g->numbers = ARENA_ARRAY(arena, uint32_t, (size_t)all->state_count << REF_ALL_ACTORS);
    g->places = ARENA_ARRAY(arena, struct place, (size_t)all->state_count * each);
    g->steps = ARENA_ARRAY(arena, struct step, (size_t)all->edge_count * each);
    (void)place_with(g, 0, 0);
    for (uint32_t p = 0; p < g->place_count; p++) {
        const struct place from = g->places[p];
        for (uint32_t e = all->states[from.state].first_edge; e != REF_ALL_NONE;
             e = all->edges[e].other) {
            uint32_t unit = g->units->unit_of[all->edges[e].actor];
            uint32_t begun = begun_matters ? from.begun | 1u << unit : 0;
            uint32_t to = place_with(g, all->edges[e].to, begun);
            g->steps[g->step_count++] = (struct step){p, unit, to};
        }
    }
}

/* Drops places that nothing leads to, or from, as often as there are any: what is left has infinite ways through it. */
static void drop_finite(struct arena *arena, struct graph *g, bool first)
{
    bool *from = ARENA_ARRAY(arena, bool, g->place_count),
         *to = ARENA_ARRAY(arena, bool, g->place_count), changed = true;
    if (first) {
        g->there = ARENA_ARRAY(arena, bool, g->place_count);
        memset(g->there, true, g->place_count);
    }
    while (changed) {
        changed = false;
        memset(from, 0, g->place_count);
        memset(to, 0, g->place_count);
        for (uint32_t e = 0; e < g->step_count; e++)
            if (g->there[g->steps[e].from] && g->there[g->steps[e].to])
                from[g->steps[e].from] = to[g->steps[e].to] = true;
        for (uint32_t p = 0; p < g->place_count; p++) {
            bool drop = g->there[p] && (!from[p] || !to[p]);
            g->there[p] = g->there[p] && !drop;
            changed = changed || drop;
        }
    }
}

/* Marks what is reached from a place, forwards or backwards. */
static void reach(const struct graph *g, uint32_t start, bool back, bool *seen)
{
    memset(seen, 0, g->place_count);
    seen[start] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t e = 0; e < g->step_count; e++) {
            uint32_t from = back ? g->steps[e].to : g->steps[e].from,
                     to = back ? g->steps[e].from : g->steps[e].to;
            if (seen[from] && !seen[to] && g->there[to])
                seen[to] = changed = true;
        }
    }
}

/* Places that reach each other are a class. */
static void classify(struct arena *arena, struct graph *g)
{
    bool *forth = ARENA_ARRAY(arena, bool, g->place_count),
         *back = ARENA_ARRAY(arena, bool, g->place_count);
    g->class_of = ARENA_ARRAY(arena, uint32_t, g->place_count);
    g->class_count = 0;
    for (uint32_t p = 0; p < g->place_count; p++) {
        if (!g->there[p] || g->class_of[p])
            continue;
        reach(g, p, false, forth);
        reach(g, p, true, back);
        g->class_count++;
        for (uint32_t q = 0; q < g->place_count; q++)
            if (forth[q] && back[q])
                g->class_of[q] = g->class_count;
    }
}

static bool is_inside(const struct graph *g, const struct step *step)
{
    return g->class_of[step->from] != 0 && g->class_of[step->from] == g->class_of[step->to];
}

static struct graph graph_of(const struct searched *s, bool begun_matters)
{
    struct graph g = {.s = s, .all = &s->all, .units = begun_matters ? &s->units : &s->each};
    make_places(s->arena, &g, begun_matters);
    drop_finite(s->arena, &g, true);
    classify(s->arena, &g);
    return g;
}

/* Of a class: who steps in it, so that it comes back; who cannot step somewhere in it; who can somewhere. */
struct class
{
    bool cyclic, steps[REF_ALL_ACTORS], waits[REF_ALL_ACTORS], live[REF_ALL_ACTORS];
    struct place
        place; /* one of them: who has begun, and who has not finished, is the same for all */
};

static struct class class_number(const struct graph *g, uint32_t number)
{
    struct class c = {.cyclic = false};
    for (uint32_t e = 0; e < g->step_count; e++) {
        const struct step *step = &g->steps[e];
        if (g->class_of[step->from] == number && g->class_of[step->to] == number)
            c.cyclic = c.steps[step->unit] = true;
    }
    for (uint32_t p = 0; p < g->place_count; p++) {
        if (g->class_of[p] != number)
            continue;
        c.place = g->places[p];
        for (uint32_t u = 0; u < g->units->count; u++) {
            bool live = g->units->live[c.place.state] >> u & 1;
            c.live[u] = c.live[u] || live;
            c.waits[u] = c.waits[u] || !live;
        }
    }
    return c;
}

/* ---- every schedule; fair ones ---- */

enum search_liveness searches_liveness(const struct searched *s)
{
    struct graph g = graph_of(s, false);
    enum search_liveness said = LIVENESS_ALL_TERMINATE;
    for (uint32_t i = 1; i <= g.class_count; i++) {
        struct class c = class_number(&g, i);
        bool fair = true;
        for (uint32_t a = 0; a < s->actors; a++)
            fair = fair && (!c.live[a] || c.steps[a]);
        if (c.cyclic && fair)
            return LIVENESS_FAIR_LASSO;
        if (c.cyclic)
            said = LIVENESS_UNFAIR_LASSO;
    }
    return said;
}

/* ---- progress models: progress.def ---- */

bool searches_treats_fairly(const struct searched *s, enum progress_model model, uint32_t state,
                            uint32_t begun, uint32_t unit)
{
    bool has_begun = begun >> unit & 1, lowest = true;
    for (uint32_t u = 0; u < unit; u++)
        lowest = lowest && (s->units.final[state] >> u & 1);
    if ((s->units.final[state] >> unit & 1) || s->all.states[state].over)
        return false;
    switch (model) {
    case PROGRESS_UNFAIR:
        return false;
    case PROGRESS_HSA:
        return lowest;
    case PROGRESS_OBE:
        return has_begun;
    case PROGRESS_HSA_OBE:
        return has_begun || lowest;
    case PROGRESS_LOBE:
        return begun >> unit != 0;
    case PROGRESS_FAIR:
    case PROGRESS_MODEL_COUNT:
        break;
    }
    return true;
}

/* An infinite execution in which every unit that is treated fairly steps again and again, or again and again cannot. */
static bool may_hang(const struct graph *g, enum progress_model model)
{
    for (uint32_t i = 1; i <= g->class_count; i++) {
        struct class c = class_number(g, i);
        bool allowed = c.cyclic;
        for (uint32_t u = 0; u < g->units->count; u++)
            if (searches_treats_fairly(g->s, model, c.place.state, c.place.begun, u))
                allowed = allowed && (c.steps[u] || c.waits[u]);
        if (allowed)
            return true;
    }
    return false;
}

/* Takes out what no strongly fair execution can go round in: places that a step of somebody who is treated fairly leads
 * out of what is left, or that are on no cycle of it. Whether anything stays. */
static bool has_trap(struct arena *arena, struct graph *g, enum progress_model model)
{
    bool *stays = ARENA_ARRAY(arena, bool, g->place_count), changed = true, some = false;
    while (changed) {
        changed = false;
        drop_finite(arena, g, false);
        classify(arena, g);
        memset(stays, 0, g->place_count);
        for (uint32_t e = 0; e < g->step_count; e++)
            if (is_inside(g, &g->steps[e]))
                stays[g->steps[e].from] = true;
        for (uint32_t e = 0; e < g->step_count; e++) {
            const struct place *from = &g->places[g->steps[e].from];
            if (!is_inside(g, &g->steps[e]) &&
                searches_treats_fairly(g->s, model, from->state, from->begun, g->steps[e].unit))
                stays[g->steps[e].from] = false;
        }
        some = false;
        for (uint32_t p = 0; p < g->place_count; p++) {
            changed = changed || (g->there[p] && !stays[p]);
            g->there[p] = g->there[p] && stays[p];
            some = some || g->there[p];
        }
    }
    return some;
}

/* ---- groups that are chosen at random ---- */

/* The lowest of those that step with the thread: of its warp, at its program counter. */
static uint32_t leader_of(const struct searched *s, uint32_t state, uint32_t thread)
{
    const struct ast_launch *launch = &s->program->launch;
    const struct ref_all_state *x = &s->all.states[state];
    uint32_t in_block = thread % launch->threads;
    for (uint32_t t = thread - in_block % launch->warp; t < thread; t++)
        if (x->live[t] && x->at_place_of[thread] >> t & 1)
            return t;
    return thread;
}

/* Where the group's steps lead, one thread's after the other; who cannot any more takes none. */
static uint32_t behind_group(const struct searched *s, uint32_t state, uint32_t leader)
{
    uint32_t to = state;
    for (uint32_t t = leader; t < s->actors && to != REF_ALL_NONE; t++)
        if (s->all.states[state].live[t] && leader_of(s, state, t) == leader &&
            s->all.states[to].live[t] && !s->all.states[to].over)
            to = searches_step(s, to, t);
    return to;
}

/* Whether from each state that groups lead to they lead to an end, with probability 1; unknown: a step has choices. */
static enum progress_verdict at_random(const struct searched *s)
{
    uint32_t count = s->all.state_count, (*to)[REF_ALL_ACTORS];
    bool *reached = ARENA_ARRAY(s->arena, bool, count), *ends = ARENA_ARRAY(s->arena, bool, count);
    bool all_end = true;
    to = arena_alloc(s->arena, count * sizeof *to, sizeof **to);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < s->actors; t++)
            to[i][t] =
                s->all.states[i].live[t] && leader_of(s, i, t) == t ? behind_group(s, i, t) : i;
    reached[0] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            bool end = s->all.states[i].over;
            for (uint32_t t = 0; t < s->actors && reached[i]; t++) {
                if (to[i][t] == REF_ALL_NONE)
                    return PROGRESS_UNKNOWN;
                changed = changed || !reached[to[i][t]];
                reached[to[i][t]] = true;
                end = end || ends[to[i][t]];
            }
            changed = changed || (end && !ends[i]);
            ends[i] = ends[i] || end;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        all_end = all_end && (!reached[i] || ends[i]);
    return all_end ? PROGRESS_ENDS : ends[0] ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
}

struct searched_ends {
    bool may_hang[PROGRESS_MODEL_COUNT], has_trap[PROGRESS_MODEL_COUNT];
    enum progress_verdict random;
};

static struct searched_ends *ends_of(const struct searched *s)
{
    struct searched_ends *ends = ARENA_NEW(s->arena, struct searched_ends);
    struct graph g = graph_of(s, true);
    bool *there = g.there, *some = ARENA_ARRAY(s->arena, bool, g.place_count + 1);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        ends->may_hang[m] = may_hang(&g, (enum progress_model)m);
    g.there = some;
    for (int m = PROGRESS_UNFAIR + 1; m < PROGRESS_MODEL_COUNT; m++) {
        memcpy(some, there, g.place_count);
        ends->has_trap[m] = has_trap(s->arena, &g, (enum progress_model)m);
    }
    ends->random = s->subject == SUBJECT_THREADS ? at_random(s) : PROGRESS_UNKNOWN;
    return ends;
}

const char *searches_progress(struct searched *s, const struct progress *said, bool all)
{
    if (!s->units.ends)
        s->units.ends = ends_of(s);
    const struct searched_ends *ends = s->units.ends;
    bool some_end = s->all.outcome_count > 0;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        enum progress_verdict is = !ends->may_hang[m] ? PROGRESS_ENDS
                                   : some_end         ? PROGRESS_MAY_HANG
                                                      : PROGRESS_HANGS;
        if (said->answers[m].verdict != is)
            return arena_printf(s->arena, "progress under %s", progress_table[m].name);
    }
    for (int m = PROGRESS_UNFAIR + 1; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *answer = &said->answers[m];
        bool open = answer->verdict == PROGRESS_UNKNOWN || answer->strong_unknown;
        if (open ? all : answer->strong == ends->has_trap[m])
            return arena_printf(s->arena, "progress under %s, strongly fair",
                                progress_table[m].name);
    }
    bool open = said->random.verdict == PROGRESS_UNKNOWN;
    enum progress_verdict random = open && !all ? PROGRESS_UNKNOWN : ends->random;
    if (random != PROGRESS_UNKNOWN && random != said->random.verdict)
        return "progress under random";
    return NULL;
}
