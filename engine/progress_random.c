/*
 * progress_random.c - SL.pol.rand on the graph of states: the states between steps of groups, and whether the
 * end is reached from all of them. A group's step is the steps of its threads one after the other, so it is a
 * path of the graph.
 */
#include "engine/progress.h"
#include "engine/search_states.h"

struct random_walks {
    struct graph *graph;
    uint32_t block_threads, warp;
    uint32_t *number;        /* a state: its place in `order` + 1; 0: not between steps of groups */
    uint32_t *order;         /* states, in the order in which they are found */
    uint32_t *parent;        /* a place in `order`: that of the state it was found from */
    uint32_t *parent_leader; /* and the lowest thread of the group that stepped */
    uint32_t count;
    uint8_t *ends;    /* a place: the end is reached from there */
    uint32_t *leader; /* a live actor: the lowest thread of its group */
    bool choices;     /* some step has several targets: not judged */
};

/* Loads the state; the groups of all warps: leader[i] for live actor i. */
static uint32_t find_groups(struct random_walks *w, uint32_t state)
{
    const struct machine *machine = w->graph->search->machine;
    const struct machine_head *head = machine->head;
    graph_load(w->graph, state);
    for (uint32_t i = 0; i < head->live_count; i++) {
        uint32_t thread = head->live[i], k = 0;
        uint32_t warp = thread % w->block_threads / w->warp;
        for (; k < i; k++) {
            uint32_t other = head->live[k];
            if (other / w->block_threads == thread / w->block_threads &&
                other % w->block_threads / w->warp == warp && w->leader[k] == other &&
                machine->semantics->same_pc(machine, other, thread, false))
                break;
        }
        w->leader[i] = head->live[k];
    }
    return machine_status(machine) == STATUS_RUNNING ? head->live_count : 0;
}

/* Where the actor's step leads; SEARCH_NONE: it is not live there. */
static uint32_t step_of(struct random_walks *w, uint32_t state, uint32_t actor)
{
    uint32_t found = SEARCH_NONE;
    for (uint32_t e = graph_edges(w->graph, state); e < graph_edges_end(w->graph, state); e++) {
        const struct graph_edge edge = graph_edge(w->graph, e);
        if (edge.actor != actor)
            continue;
        w->choices |= found != SEARCH_NONE && found != edge.target;
        found = edge.target;
    }
    return found;
}

/* The state after a step of the group that `leader` is the lowest of, one of `count` live actors. The threads are
 * found anew: a step of one of them may have ended another. record: into the witness. */
static uint32_t group_step(struct random_walks *w, uint32_t state, uint32_t leader, bool record)
{
    uint32_t count = find_groups(w, state), members = 0;
    uint32_t *theta = w->leader; /* compacted in place */
    const struct machine_head *head = w->graph->search->machine->head;
    for (uint32_t i = 0; i < count; i++)
        if (w->leader[i] == leader)
            theta[members++] = head->live[i];
    for (uint32_t i = 0; i < members; i++) {
        uint32_t target = step_of(w, state, theta[i]);
        if (target == SEARCH_NONE)
            continue;
        if (record)
            graph_record(w->graph, state, theta[i], target);
        state = target;
    }
    return state;
}

static void visit(struct random_walks *w, uint32_t state, uint32_t parent, uint32_t leader)
{
    if (w->number[state])
        return;
    w->order[w->count] = state;
    w->parent[w->count] = parent;
    w->parent_leader[w->count] = leader;
    w->number[state] = ++w->count;
}

/* Calls `use` for each group of a state, in the order of the lowest threads. */
static void each_group(struct random_walks *w, uint32_t place, uint32_t *leaders,
                       bool (*use)(struct random_walks *, uint32_t place, uint32_t leader,
                                   uint32_t target))
{
    uint32_t state = w->order[place], groups = 0;
    uint32_t count = find_groups(w, state);
    for (uint32_t i = 0; i < count; i++)
        if (w->graph->search->machine->head->live[i] == w->leader[i])
            leaders[groups++] = w->leader[i];
    for (uint32_t g = 0; g < groups; g++)
        if (!use(w, place, leaders[g], group_step(w, state, leaders[g], false)))
            return;
}

static bool use_visit(struct random_walks *w, uint32_t place, uint32_t leader, uint32_t target)
{
    visit(w, target, place, leader);
    return true;
}

static bool use_ends(struct random_walks *w, uint32_t place, uint32_t leader, uint32_t target)
{
    (void)leader;
    w->ends[place] |= w->ends[w->number[target] - 1];
    return !w->ends[place];
}

/* Which states reach the end; whether all do. */
static bool all_end(struct random_walks *w, uint32_t *leaders)
{
    uint32_t known = 0, before;
    for (uint32_t i = 0; i < w->count; i++) {
        graph_load(w->graph, w->order[i]);
        w->ends[i] = machine_status(w->graph->search->machine) != STATUS_RUNNING;
    }
    do {
        before = known;
        known = 0;
        for (uint32_t i = w->count; i-- > 0;) {
            if (!w->ends[i])
                each_group(w, i, leaders, use_ends);
            known += w->ends[i];
        }
    } while (known > before && known < w->count);
    return known == w->count;
}

static void record_path(struct random_walks *w, uint32_t place)
{
    uint32_t *path = ARENA_ARRAY(w->graph->search->arena, uint32_t, place + 1), length = 0;
    for (; place != 0; place = w->parent[place])
        path[length++] = place;
    while (length > 0) {
        uint32_t to = path[--length];
        group_step(w, w->order[w->parent[to]], w->parent_leader[to], true);
    }
}

/* From the first state that does not reach the end the group of the lowest thread steps until a state comes
 * back: what is left of the way there belongs to the stem. */
static void witness(struct random_walks *w, struct progress_random *answer)
{
    uint32_t place = 0, loop;
    uint32_t *seen = ARENA_ARRAY(w->graph->search->arena, uint32_t, w->count);
    while (w->ends[place])
        place++;
    record_path(w, place);
    for (loop = place; !seen[loop]++;) {
        find_groups(w, w->order[loop]);
        loop = w->number[group_step(w, w->order[loop], w->leader[0], false)] - 1;
    }
    for (uint32_t at = place; at != loop;) {
        find_groups(w, w->order[at]);
        at = w->number[group_step(w, w->order[at], w->leader[0], true)] - 1;
    }
    answer->stem = graph_tape(w->graph);
    uint32_t at = loop;
    do {
        find_groups(w, w->order[at]);
        at = w->number[group_step(w, w->order[at], w->leader[0], true)] - 1;
    } while (at != loop);
    answer->loop = graph_tape(w->graph);
}

void graph_random(struct graph *graph, struct progress *progress)
{
    struct search *search = graph->search;
    const struct ast_launch *launch = &search->machine->program->launch;
    uint32_t count = graph->states.count, actors = search->machine->actor_count;
    if (search->arena->used + (size_t)count * 24 + 65536 > search->byte_limit)
        return;
    struct random_walks w = {
        .graph = graph,
        .block_threads = launch->threads,
        .warp = launch->warp,
        .number = ARENA_ARRAY(search->arena, uint32_t, count),
        .order = ARENA_ARRAY(search->arena, uint32_t, count),
        .parent = ARENA_ARRAY(search->arena, uint32_t, count),
        .parent_leader = ARENA_ARRAY(search->arena, uint32_t, count),
        .ends = ARENA_ARRAY(search->arena, uint8_t, count),
        .leader = ARENA_ARRAY(search->arena, uint32_t, actors),
    };
    uint32_t *leaders = ARENA_ARRAY(search->arena, uint32_t, actors);
    visit(&w, 0, 0, 0);
    for (uint32_t i = 0; i < w.count; i++)
        each_group(&w, i, leaders, use_visit);
    if (w.choices)
        return;
    progress->random.states = w.count;
    progress->random.verdict = PROGRESS_ENDS;
    if (all_end(&w, leaders))
        return;
    progress->random.verdict = w.ends[0] ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
    witness(&w, &progress->random);
}
