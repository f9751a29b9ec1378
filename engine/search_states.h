/*
 * search_states.h - the graph of reachable states: built by search_states.c, judged by
 * search_graph.c.
 */
#ifndef ENGINE_SEARCH_STATES_H
#define ENGINE_SEARCH_STATES_H

#include "engine/search_internal.h"

/* Of a state only the words are kept that differ from the initial state somewhere in the search. Each
 * such word has a slot, given when it first changes; a state found before that has fewer values, and
 * the others are the initial ones. */
struct graph_state {
    const uint32_t *values;
    uint64_t hash;
    uint32_t value_count;
    uint32_t parent; /* found from there by a step of `actor`; the initial state has itself */
    uint32_t actor;
    uint32_t depth;
    uint32_t first_edge; /* the edges of a state lie together, in the order of the states */
};

struct progress;

struct graph_edge {
    uint32_t actor;
    uint32_t target;
};

struct graph {
    struct search *search;
    struct pool states, edges;
    uint32_t expanded; /* states 0 .. expanded - 1 have all their edges */
    uint32_t *table;   /* open addressing: number of the state + 1 */
    uint32_t table_mask;
    uint32_t *slot_words; /* slot -> word of the block */
    uint32_t *word_slots; /* word -> slot + 1 */
    uint32_t slot_count;
    struct pool witness; /* entries of the tape that is being put together */
};

static inline struct graph_state *graph_state(const struct graph *graph, uint32_t number)
{
    return pool_at(&graph->states, number);
}

static inline struct graph_edge *graph_edge(const struct graph *graph, uint32_t number)
{
    return pool_at(&graph->edges, number);
}

/* The edges of a state: from graph_edges up to graph_edges_end. */
static inline uint32_t graph_edges(const struct graph *graph, uint32_t number)
{
    return number < graph->expanded ? graph_state(graph, number)->first_edge : graph->edges.count;
}

static inline uint32_t graph_edges_end(const struct graph *graph, uint32_t number)
{
    return graph_edges(graph, number + 1);
}

/* Puts the machine into a state; the undo log is empty then. */
void graph_load(const struct graph *graph, uint32_t number);

/* The shortest execution to a state. */
struct tape *graph_path(struct graph *graph, uint32_t number);

/* Adds one step to the witness as a tape has it: the actor, and the inner choices that lead to the
 * target. graph_tape makes a tape of them all and starts anew. */
void graph_record(struct graph *graph, uint32_t from, uint32_t actor, uint32_t target);
struct tape *graph_tape(struct graph *graph);

/* Sets the result's race, in programs with atomics (search_race.c). */
void graph_races(struct graph *graph);

/* Answers search_options.progress (progress.c). */
void graph_progress(struct graph *graph);

/* Answers progress.random (progress_random.c). */
void graph_random(struct graph *graph, struct progress *progress);

/* Sets the result's liveness and lasso. */
void graph_liveness(struct graph *graph);

/* Bytes of scratch memory a state that graph_liveness needs. */
enum { GRAPH_LIVENESS_BYTES = 32 };

#endif
