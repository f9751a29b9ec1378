/*
 * progress_quotient.c - progress models of threads on a graph of states up to permutations of threads
 * (search_symmetry.h). After Emerson and Sistla, "Utilizing symmetry when model-checking under fairness assumptions",
 * TOPLAS 1997.
 *
 * G: the permutations of threads within orbits; s: the state that is kept of Gs. An edge (a, b, t) of s stands for
 * the steps gs -> g'p't, where p moves a to b, and p' is its inverse.
 *
 * Components. If t is reached from s in a component C of the quotient, and s from t, then in the whole graph s leads to
 * some gt, that to some hs, and hs likewise to hhs, .. and at last, as h has finite order, back to s. So C is what the
 * components gD of the whole graph have in common, for one D, and every path through C is one through D.
 *
 * Who steps. Thread i of s steps somewhere in D iff, followed along edges of C, it is the one that steps:
 * nodes (s, i), edges (s, i) -> (t, p(i)), since each path from s in C is one in D, and each path in D is seen in C,
 * but that threads which are alike in a state may have changed places there; changing them leads from D to itself, as
 * it leaves that state as it is. So (s, i) and (s, j) are put together where i and j are alike in s. Edges are
 * bijections of threads, so what is connected is strongly connected: sets that are joined are enough. S(s): threads
 * that step. All of them do so in one execution: go to a step of the first, then of the second, .., then round again.
 *
 * Verdicts, weakly fair. U: unfinished at s, B: have begun (both are the same, up to G, in all of C). Nobody waits.
 *
 *   unfair   C has a cycle                     fair   U within S
 *   obe      U & B within S                    (F is moved by g as the threads are)
 *   hsa      some g makes a thread of S the lowest of gU
 *   hsa-obe  both that and obe
 *   lobe     obe, and some g leaves nobody of U - B below the highest of gB: it lets those that have begun be
 *            the lowest of each orbit
 *
 * The last three tell threads apart by number: the model has an execution iff it has one in some gD, and all gD are
 * reached, since the initial state is its own image.
 *
 * Strongly fair: `fair` and `obe` pass iff from each state the end can be reached by steps of anybody, of those that
 * have begun, or a step where F is empty: the same for s and gs. The last three pass where all ends, hsa-obe and lobe
 * where obe does, as their F is larger; they fail where fair fails, as its F is the largest; otherwise it is not known.
 */
#include "engine/machine/symmetry.h"
#include "engine/progress/progress_internal.h"

#include <string.h>

struct quotient {
    struct product p;
    const struct symmetry *symmetry;
    uint32_t threads;
    unit_set *alike; /* a node: threads that are alike with the one before it in its orbit */
    uint32_t *local; /* a node: its place in its component */
    uint32_t *sets;  /* (place, thread): joined sets; its representative has itself */
    uint8_t *steps;  /* of a representative */
    bool hangs[PROGRESS_MODEL_COUNT];
};

/* ---- threads followed through a component ---- */

static uint32_t find(struct quotient *q, uint32_t at)
{
    while (q->sets[at] != at)
        at = q->sets[at] = q->sets[q->sets[at]];
    return at;
}

static void join(struct quotient *q, uint32_t a, uint32_t b)
{
    a = find(q, a);
    b = find(q, b);
    q->sets[a] = b;
    q->steps[b] |= q->steps[a];
}

static uint32_t node_of(const struct quotient *q, uint32_t node, uint32_t thread)
{
    return q->local[node] * q->threads + thread;
}

/* Where the edge moves a thread. */
static uint32_t moved(const struct quotient *q, uint32_t edge, uint32_t thread)
{
    uint32_t a = q->p.units[edge];
    uint32_t b = *(const uint32_t *)pool_at(&q->p.graph->edge_places, edge);
    if (thread == a)
        return b;
    if (q->symmetry->orbit[thread] != q->symmetry->orbit[a])
        return thread;
    if (a < thread && thread <= b)
        return q->symmetry->before[thread];
    return b <= thread && thread < a ? q->symmetry->after[thread] : thread;
}

static void follow_edge(struct quotient *q, uint32_t node, uint32_t edge)
{
    uint32_t target = q->p.targets[edge];
    q->steps[find(q, node_of(q, node, q->p.units[edge]))] = 1;
    for (unit_set rest = product_units(&q->p, node)->unfinished; rest; rest &= rest - 1) {
        uint32_t t = (uint32_t)__builtin_ctzll(rest);
        join(q, node_of(q, node, t), node_of(q, target, moved(q, edge, t)));
    }
}

/* S of the root of a component; whether it has a cycle. */
static bool follow(struct quotient *q, uint32_t root, uint32_t from, unit_set *S)
{
    const struct product *p = &q->p;
    bool cyclic = false;
    uint32_t count = p->c.stack_count - from;
    for (uint32_t i = 0; i < count; i++)
        q->local[p->c.stack[from + i]] = i;
    for (uint32_t i = 0; i < count * q->threads; i++) {
        q->sets[i] = i;
        q->steps[i] = 0;
    }
    for (uint32_t i = from; i < p->c.stack_count; i++) {
        uint32_t node = p->c.stack[i];
        for (uint32_t e = p->first_edge[node]; e < p->first_edge[node + 1]; e++)
            if (components_same(&p->c, p->targets[e], root)) {
                cyclic = true;
                follow_edge(q, node, e);
            }
        for (unit_set rest = q->alike[node]; rest; rest &= rest - 1) {
            uint32_t t = (uint32_t)__builtin_ctzll(rest);
            join(q, node_of(q, node, t), node_of(q, node, q->symmetry->before[t]));
        }
    }
    *S = 0;
    for (uint32_t t = 0; t < q->threads; t++)
        *S |= (unit_set)q->steps[find(q, node_of(q, root, t))] << t;
    return cyclic;
}

/* ---- models that tell threads apart ---- */

static unit_set orbit_of(const struct quotient *q, uint32_t thread)
{
    unit_set orbit = 0;
    for (uint32_t t = q->symmetry->orbit[thread]; t != SYMMETRY_NOBODY; t = q->symmetry->after[t])
        orbit |= (unit_set)1 << t;
    return orbit;
}

/* The lowest n of a set. */
static unit_set lowest_n(unit_set set, uint32_t n)
{
    unit_set lowest = 0;
    for (; n > 0; n--, set &= set - 1)
        lowest |= set & -set;
    return lowest;
}

static uint32_t size_of(unit_set set)
{
    return (uint32_t)__builtin_popcountll(set);
}

/* Of each orbit, its members of the set moved to its low end, or to its high end. */
static unit_set pushed(const struct quotient *q, unit_set set, bool low)
{
    unit_set result = 0;
    for (uint32_t t = 0; t < q->threads; t++) {
        unit_set orbit = orbit_of(q, t);
        uint32_t n = size_of(orbit & set);
        if (q->symmetry->orbit[t] == t)
            result |= low ? lowest_n(orbit, n) : orbit & ~lowest_n(orbit, size_of(orbit) - n);
    }
    return result;
}

/* Whether some g makes a thread of S the lowest of gU: it goes to the low end of its orbit, the others' orbits as high
 * as they can be. */
static bool can_be_lowest(const struct quotient *q, unit_set U, unit_set S)
{
    for (unit_set rest = U & S; rest; rest &= rest - 1) {
        uint32_t orbit = q->symmetry->orbit[__builtin_ctzll(rest)];
        unit_set others = pushed(q, U & ~orbit_of(q, orbit), false);
        if (others == 0 || orbit < (uint32_t)__builtin_ctzll(others))
            return true;
    }
    return false;
}

/* Whether some g leaves nobody of U - B below the highest of gB; who has finished has begun. */
static bool can_be_below(const struct quotient *q, unit_set U, unit_set B)
{
    unit_set all = q->threads == 64 ? ~(unit_set)0 : ((unit_set)1 << q->threads) - 1;
    unit_set low = pushed(q, B | (all & ~U), true), rest = all & ~low;
    return rest == 0 || low < (rest & -rest);
}

/* ---- components ---- */

static void judge(void *context, uint32_t root, uint32_t from)
{
    struct quotient *q = context;
    unit_set S, U = product_units(&q->p, root)->unfinished, B = q->p.begun[root];
    if (!follow(q, root, from, &S))
        return;
    bool obe = (U & B & ~S) == 0, lowest = can_be_lowest(q, U, S);
    const bool hangs[PROGRESS_MODEL_COUNT] = {[PROGRESS_UNFAIR] = true,
                                              [PROGRESS_HSA] = lowest,
                                              [PROGRESS_OBE] = obe,
                                              [PROGRESS_HSA_OBE] = obe && lowest,
                                              [PROGRESS_LOBE] = obe && can_be_below(q, U, B),
                                              [PROGRESS_FAIR] = (U & ~S) == 0};
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        q->hangs[m] |= hangs[m];
}

static uint32_t first_of(const void *context, uint32_t node)
{
    return ((const struct quotient *)context)->p.first_edge[node];
}

static uint32_t end_of(const void *context, uint32_t node)
{
    return first_of(context, node + 1);
}

static uint32_t target_of(const void *context, uint32_t edge)
{
    return ((const struct quotient *)context)->p.targets[edge];
}

/* ---- strong fairness ---- */

/* Whether from each state the end is reached by steps of anybody, or the end or a step of somebody new by those that
 * have begun. */
static bool all_end(const struct product *p, bool begun, uint8_t *ends)
{
    uint32_t known = 0, before;
    memset(ends, 0, p->node_count);
    do {
        before = known;
        known = 0;
        for (uint32_t n = p->node_count; n-- > 0;) {
            const struct state_units *units = product_units(p, n);
            bool nobody = begun && (units->unfinished & p->begun[n]) == 0; /* F = {} */
            ends[n] |= units->ended || (nobody && p->first_edge[n] < p->first_edge[n + 1]);
            for (uint32_t e = p->first_edge[n]; e < p->first_edge[n + 1] && !ends[n]; e++)
                ends[n] = (!begun || (p->begun[n] >> p->units[e] & 1)) && ends[p->targets[e]];
            known += ends[n];
        }
    } while (known > before && known < p->node_count);
    return known == p->node_count;
}

static void judge_strongly(struct quotient *q, struct progress *progress, uint8_t *scratch)
{
    bool fair = all_end(&q->p, false, scratch), obe = all_end(&q->p, true, scratch);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        struct progress_answer *answer = &progress->answers[m];
        bool more_than_obe = m == PROGRESS_HSA_OBE || m == PROGRESS_LOBE || m == PROGRESS_FAIR;
        answer->strong = !q->hangs[PROGRESS_UNFAIR] || (m == PROGRESS_FAIR && fair) ||
                         (m == PROGRESS_OBE && obe) || (more_than_obe && obe);
        answer->strong_unknown =
            !answer->strong && fair && m != PROGRESS_OBE && m != PROGRESS_UNFAIR;
    }
}

/* ---- a graph ---- */

/* Who has begun in each state, and who is alike there. */
static void look_at_states(struct quotient *q)
{
    struct graph *graph = q->p.graph;
    const struct machine *machine = graph->search->machine;
    for (uint32_t s = 0; s < graph->states.count; s++) {
        graph_load(graph, s);
        q->p.begun[s] = 0;
        for (uint32_t t = 0; t < q->threads; t++) {
            uint32_t before = q->symmetry->before[t];
            q->p.begun[s] |= (unit_set)(machine->begun[t] & 1) << t;
            if (before != SYMMETRY_NOBODY && symmetry_compare(q->symmetry, machine, before, t) == 0)
                q->alike[s] |= (unit_set)1 << t;
        }
    }
}

void progress_of_quotient(struct graph *graph, struct progress *progress)
{
    struct search *search = graph->search;
    struct quotient q = {.p = {.graph = graph, .progress = progress},
                         .symmetry = graph->symmetry,
                         .threads = search->machine->actor_count};
    uint64_t count = graph->states.count, pairs = count * q.threads;
    if (!product_of_states(&q.p) || pairs >= UINT32_MAX ||
        search->arena->used + pairs * 5 + count * 13 + 65536 > search->byte_limit)
        return;
    q.alike = ARENA_ARRAY(search->arena, unit_set, count);
    q.local = ARENA_ARRAY(search->arena, uint32_t, count);
    q.sets = ARENA_ARRAY(search->arena, uint32_t, pairs);
    q.steps = ARENA_ARRAY(search->arena, uint8_t, pairs);
    look_at_states(&q);
    components_visit(&q.p.c, 0, &q, first_of, end_of, target_of, judge);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        struct progress_answer *answer = &progress->answers[m];
        enum progress_verdict hang = q.p.some_end ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
        answer->states = count;
        answer->verdict = q.hangs[m] ? hang : PROGRESS_ENDS;
    }
    judge_strongly(&q, progress, ARENA_ARRAY(search->arena, uint8_t, count));
}
