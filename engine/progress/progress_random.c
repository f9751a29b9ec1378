/*
 * progress_random.c - SL.pol.rand: a graph of its own, of the states between steps of groups, and whether the
 * end is reached from all of them. A group's step is the steps of its threads one after the other.
 *
 * In warps of one thread each a group is a thread, and local steps are taken with the one before them: whoever is
 * chosen after it, they stay to be taken, and lead to the same states.
 */
#include "engine/machine/live.h"
#include "engine/progress/progress_internal.h"
#include "engine/search/search_states.h"

#include <string.h>

struct random_walks {
    struct search search; /* with a result of its own */
    struct search_result result;
    struct graph graph; /* the actor of an edge is the lowest thread of the group */
    uint32_t block_threads, warp;
    uint32_t *
        leader; /* of the loaded state; a live actor, by its place: the lowest thread of its group */
    uint32_t *live; /* and who they are: a step changes that */
    uint32_t count; /* 0 where the execution has ended */
    bool choices;   /* some step has choices inside: not judged */
};

/* Loads the state and finds the groups of all warps. */
static void find_groups(struct random_walks *w, uint32_t state)
{
    const struct machine *machine = w->search.machine;
    const struct machine_head *head = machine->head;
    graph_load(&w->graph, state);
    w->count = machine_status(machine) == STATUS_RUNNING ? head->live_count : 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t thread = head->live[i], k = 0;
        uint32_t warp = thread % w->block_threads / w->warp;
        for (; k < i; k++) {
            uint32_t other = head->live[k];
            if (other / w->block_threads == thread / w->block_threads &&
                other % w->block_threads / w->warp == warp && w->leader[k] == other &&
                machine->semantics->same_pc(machine, other, thread, false))
                break;
        }
        w->live[i] = thread;
        w->leader[i] = head->live[k];
    }
}

/* Steps the threads of a group that can; one of them may end another, or all. record: into the witness. */
static void step_group(struct random_walks *w, uint32_t leader, bool record)
{
    struct machine *machine = w->search.machine;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t thread = w->live[i], steps = 1;
        if (w->leader[i] != leader || machine_status(machine) != STATUS_RUNNING ||
            !is_live(machine, thread))
            continue;
        script_start(&w->search.script);
        machine_step(machine, thread, &w->search.script.choices);
        w->choices |= w->search.script.count > 0;
        if (w->warp == 1)
            steps += search_local_steps(&w->search, thread);
        for (uint32_t k = 0; record && k < steps; k++)
            graph_entry(&w->graph, thread);
    }
}

/* ---- the graph ---- */

static bool expand(struct random_walks *w, uint32_t number)
{
    struct graph *graph = &w->graph;
    graph_state(graph, number)->first_edge = graph->edges.count;
    find_groups(w, number);
    uint64_t hash = store_hash(graph, number);
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->leader[i] != w->live[i])
            continue;
        if (w->result.steps++ == w->search.step_limit ||
            (w->search.options->stop && *w->search.options->stop))
            return false;
        step_group(w, w->live[i], false);
        bool pushed = store_push(graph, number, hash, w->live[i]);
        store_undo(w->search.machine);
        graph->pending.count = 0;
        if (!pushed || store_edge(graph, 0, number) == SEARCH_NONE)
            return false;
    }
    return true;
}

static bool explore(struct random_walks *w)
{
    struct graph *graph = &w->graph;
    while (graph->expanded < graph->states.count) {
        if (!expand(w, graph->expanded))
            return false;
        graph->expanded++;
    }
    return true;
}

/* ---- judging ---- */

/* ends[s]: the end is reached from the state. */
static bool all_end(const struct random_walks *w, uint8_t *ends)
{
    const struct graph *graph = &w->graph;
    uint32_t count = graph->states.count, known = 0, before;
    do {
        before = known;
        known = 0;
        for (uint32_t s = count; s-- > 0;) {
            uint32_t e = graph_edges(graph, s), end = graph_edges_end(graph, s);
            ends[s] |= e == end; /* somebody is live where the execution goes on */
            for (; e < end && !ends[s]; e++)
                ends[s] = ends[graph_edge_target(graph, e)];
            known += ends[s];
        }
    } while (known > before && known < count);
    return known == count;
}

/* ---- witnesses ---- */

/* Takes the edge. */
static uint32_t take(struct random_walks *w, uint32_t state, uint32_t edge)
{
    find_groups(w, state);
    step_group(w, graph_edge(&w->graph, edge).actor, true);
    store_undo(w->search.machine);
    return graph_edge_target(&w->graph, edge);
}

static void take_path(struct random_walks *w, uint32_t state)
{
    uint32_t *path = ARENA_ARRAY(w->search.arena, uint32_t, state + 1), length = 0;
    for (; state != 0; state = graph_state(&w->graph, state)->parent)
        path[length++] = state;
    while (length > 0) {
        uint32_t to = path[--length], from = graph_state(&w->graph, to)->parent;
        uint32_t edge = graph_edges(&w->graph, from);
        while (graph_edge_target(&w->graph, edge) != to)
            edge++;
        take(w, from, edge);
    }
}

/* From the first state that does not reach the end the group of the lowest thread steps until a state comes
 * back: what is left of the way there belongs to the stem. */
static void witness(struct random_walks *w, const uint8_t *ends, struct progress_random *answer)
{
    const struct graph *graph = &w->graph;
    uint32_t at = 0, loop;
    uint8_t *seen = ARENA_ARRAY(w->search.arena, uint8_t, graph->states.count);
    while (ends[at])
        at++;
    take_path(w, at);
    for (loop = at; !seen[loop]; loop = graph_edge_target(graph, graph_edges(graph, loop)))
        seen[loop] = 1;
    while (at != loop)
        at = take(w, at, graph_edges(graph, at));
    answer->stem = graph_tape(&w->graph);
    do
        at = take(w, at, graph_edges(graph, at));
    while (at != loop);
    answer->loop = graph_tape(&w->graph);
}

/* ---- a search ---- */

/* Room for the log of a group's steps; NULL: there is not. */
static struct undo_entry *make_log(const struct search *search, uint32_t entries)
{
    if (entries <= search->machine->track.log_capacity)
        return search->machine->track.log;
    if (search->arena->used + (size_t)entries * sizeof(struct undo_entry) > search->byte_limit)
        return NULL;
    return ARENA_ARRAY(search->arena, struct undo_entry, entries);
}

static void judge(struct random_walks *w, struct progress_random *answer)
{
    uint32_t count = w->graph.states.count;
    if (w->choices || w->search.arena->used + 6 * (size_t)count + 65536 > w->search.byte_limit)
        return;
    uint8_t *ends = ARENA_ARRAY(w->search.arena, uint8_t, count);
    answer->states = count;
    answer->verdict = PROGRESS_ENDS;
    if (all_end(w, ends))
        return;
    answer->verdict = ends[0] ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
    witness(w, ends, answer);
}

void search_random(const struct search *search, struct progress *progress)
{
    struct machine *machine = search->machine;
    const struct ast_launch *launch = &machine->program->launch;
    struct track *track = &machine->track;
    const struct track own = *track;
    uint32_t members = launch->warp < launch->threads ? launch->warp : launch->threads;
    uint32_t entries = members == 1 ? track->log_capacity : members * search->step_entries;
    struct random_walks w = {
        .search = *search, .block_threads = launch->threads, .warp = launch->warp};
    memset(&progress->random, 0, sizeof progress->random);
    w.result.complete = true;
    w.search.result = &w.result;
    track->log = make_log(search, entries);
    machine_reset(machine);
    if (track->log) {
        track->log_capacity = entries > own.log_capacity ? entries : own.log_capacity;
        w.leader = ARENA_ARRAY(search->arena, uint32_t, machine->actor_count);
        w.live = ARENA_ARRAY(search->arena, uint32_t, machine->actor_count);
        store_start(&w.graph, &w.search);
        if (explore(&w))
            judge(&w, &progress->random);
        search_note_bytes(search);
    }
    track->log = own.log;
    track->log_capacity = own.log_capacity;
    track->log_count = 0;
}
