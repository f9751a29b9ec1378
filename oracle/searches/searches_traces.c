/*
 * searches_traces.c - what reductions leave over, counted by definition on the graph of all states: partial-order
 * reduction takes one execution of each Mazurkiewicz trace (dpor.c: source sets and sleep sets), and where local steps
 * are merged the states are those behind a step and the local ones that follow it (search_local.c). Who reduces less
 * than that finds the same outcomes, and who takes steps for independent that are not may find them, too.
 */
#include "oracle/searches/searches_internal.h"

#include <string.h>

enum { STEPS = 20, PATHS = 80 };

/* A step of the path: whose, what it accesses, which barrier it ends. */
struct event {
    uint32_t actor, reads, writes, released;
};

struct traces {
    const struct searched *s;
    struct event path[STEPS];
    uint32_t (*found)[STEPS + 1]; /* a trace: the actors of its lowest path, then REF_ALL_NONE */
    uint32_t count;
    bool given_up;
};

static uint32_t block_of(const struct searched *s, uint32_t actor)
{
    return actor / (s->actors / s->program->launch.blocks);
}

/* Whether step i comes before step k in every path of the trace: one actor's, or a conflict; or a barrier of the block
 * of both ends with i, or in between. */
static bool comes_before(const struct traces *t, uint32_t i, uint32_t k)
{
    const struct event *a = &t->path[i], *b = &t->path[k];
    if (a->actor == b->actor || (a->writes & (b->reads | b->writes)) || (a->reads & b->writes))
        return true;
    for (uint32_t r = i; r < k; r++)
        if (t->path[r].released && block_of(t->s, a->actor) + 1 == t->path[r].released &&
            block_of(t->s, b->actor) + 1 == t->path[r].released)
            return true;
    return false;
}

/* The lowest path of the trace: again and again the lowest actor whose next step nothing is left before. */
static void lowest_path(const struct traces *t, uint32_t count, uint32_t *actors)
{
    bool taken[STEPS] = {false};
    for (uint32_t n = 0; n < count; n++) {
        uint32_t best = count;
        for (uint32_t k = 0; k < count; k++) {
            bool first = !taken[k];
            for (uint32_t i = 0; i < k && first; i++)
                first = taken[i] || !comes_before(t, i, k);
            if (first && (best == count || t->path[k].actor < t->path[best].actor))
                best = k;
        }
        taken[best] = true;
        actors[n] = t->path[best].actor;
    }
    actors[count] = REF_ALL_NONE;
}

static void take_path(struct traces *t, uint32_t count)
{
    uint32_t actors[STEPS + 1];
    lowest_path(t, count, actors);
    for (uint32_t i = 0; i < t->count; i++)
        if (memcmp(t->found[i], actors, (count + 1) * sizeof *actors) == 0)
            return;
    memcpy(t->found[t->count++], actors, (count + 1) * sizeof *actors);
}

/* Of at most so many steps from the state on; PATHS + 1: more than PATHS, or some are longer. Known ones + 1 in
 * `known`, so that a state is looked at once. */
static uint32_t path_count(const struct ref_all *all, uint32_t state, uint32_t steps,
                           uint8_t *known)
{
    uint32_t count = all->states[state].over;
    if (known[state])
        return known[state] - 1u;
    for (uint32_t e = all->states[state].first_edge; e != REF_ALL_NONE && count <= PATHS;
         e = all->edges[e].other)
        count += steps > 0 ? path_count(all, all->edges[e].to, steps - 1, known) : PATHS + 1;
    count = count <= PATHS ? count : PATHS + 1;
    known[state] = (uint8_t)(count + 1);
    return count;
}

static void walk(struct traces *t, uint32_t state, uint32_t depth)
{
    const struct ref_all *all = &t->s->all;
    uint32_t actors = 0;
    if (all->states[state].over) {
        take_path(t, depth);
        return;
    }
    for (uint32_t e = all->states[state].first_edge; e != REF_ALL_NONE && !t->given_up;
         e = all->edges[e].other) {
        const struct ref_all_edge *edge = &all->edges[e];
        t->given_up = t->given_up || (actors >> edge->actor & 1); /* a choice within a step */
        actors |= 1u << edge->actor;
        t->path[depth] = (struct event){edge->actor, edge->reads, edge->writes, edge->released};
        walk(t, edge->to, depth + 1);
    }
}

/* Behind an error the others go on in a search, and in no path. */
static bool ends_well(const struct ref_all *all)
{
    for (uint32_t i = 0; i < all->outcome_count; i++)
        if (all->outcomes[i].end != REF_TERMINATED)
            return false;
    return true;
}

bool searches_trace_count(const struct searched *s, uint64_t *count)
{
    struct traces t = {.s = s};
    uint8_t *known = ARENA_ARRAY(s->arena, uint8_t, s->all.state_count);
    if (!ends_well(&s->all) || path_count(&s->all, 0, STEPS, known) > PATHS)
        return false;
    t.found = arena_alloc(s->arena, PATHS, sizeof *t.found);
    walk(&t, 0, 0);
    *count = t.count;
    return !t.given_up;
}

/* ---- local steps ---- */

/* The actor's only step from there; NULL: it cannot step, or has a choice. */
static const struct ref_all_edge *only_step(const struct searched *s, uint32_t state,
                                            uint32_t actor)
{
    const struct ref_all_edge *found = NULL;
    for (uint32_t e = s->all.states[state].first_edge; e != REF_ALL_NONE;
         e = s->all.edges[e].other) {
        if (s->all.edges[e].actor != actor)
            continue;
        if (found)
            return NULL;
        found = &s->all.edges[e];
    }
    return found;
}

static bool is_error(const struct searched *s, uint32_t state)
{
    const struct ref_all_state *x = &s->all.states[state];
    bool some = false;
    for (uint32_t a = 0; a < s->actors; a++)
        some = some || !x->final[a];
    return x->over && some;
}

/* It accesses nothing, ends no barrier, and the actor can step again, or has ended where nobody can wait for that. */
static bool is_local(const struct searched *s, const struct ref_all_edge *edge)
{
    const struct ref_all_state *to = &s->all.states[edge->to];
    bool ends = to->final[edge->actor] && s->program->barrier_count == 0 && !is_error(s, edge->to);
    return !edge->reads && !edge->writes && !edge->released &&
           ((!to->over && to->live[edge->actor]) || ends);
}

/* Behind the step, and the local ones that follow it; once round where they go round from the first on. REF_ALL_NONE:
 * they go round elsewhere, where a search stops somewhere. */
static uint32_t behind(const struct searched *s, const struct ref_all_edge *edge)
{
    uint32_t first = edge->to, at = first, steps = 0;
    const struct ref_all_edge *next;
    while (!s->all.states[at].over && s->all.states[at].live[edge->actor] &&
           (next = only_step(s, at, edge->actor)) && is_local(s, next)) {
        at = next->to;
        if (at == first)
            break;
        if (steps++ == STEPS)
            return REF_ALL_NONE;
    }
    return at;
}

bool searches_merged_states(const struct searched *s, uint64_t *count)
{
    bool *there = ARENA_ARRAY(s->arena, bool, s->all.state_count);
    uint32_t *queue = ARENA_ARRAY(s->arena, uint32_t, s->all.state_count), found = 1;
    there[0] = true;
    queue[0] = 0;
    for (uint32_t i = 0; i < found; i++)
        for (uint32_t e = s->all.states[queue[i]].first_edge; e != REF_ALL_NONE;
             e = s->all.edges[e].other) {
            const struct ref_all_edge *edge = &s->all.edges[e];
            if (!only_step(s, queue[i], edge->actor))
                return false; /* a choice within a step: it is not said which one is the machine's only one */
            uint32_t to = behind(s, edge);
            if (to == REF_ALL_NONE)
                return false;
            if (!there[to])
                queue[found++] = to;
            there[to] = true;
        }
    *count = found;
    return true;
}
