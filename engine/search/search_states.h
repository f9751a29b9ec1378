/*
 * search_states.h - the graph of reachable states: kept by search_store.c, built by search_states.c, judged by
 * search_graph.c, progress.c.
 *
 * Of a state only the words are kept that differ from the initial state somewhere in the search. They are
 * divided into parts: what one actor changes, global and shared memory a few words at a time, and who can
 * step. A part has few different values, which are numbered; a state is the tuple of the numbers of its
 * parts' values, some bytes (collapse compression: Holzmann 1997, "State compression in SPIN").
 */
#ifndef ENGINE_SEARCH_STATES_H
#define ENGINE_SEARCH_STATES_H

#include "engine/search/search_internal.h"

enum { PART_WORDS = 16, PART_MEMORY_WORDS = 4 };

struct part {
    uint32_t words[PART_WORDS]; /* of the block */
    uint32_t word_count, words_max;
    struct pool values; /* words_max words each; value 0 is the initial one */
    uint32_t *table;    /* open addressing: number of the value + 1 */
    uint32_t table_mask;
    uint32_t loaded;  /* the value that the machine has, before a step */
    uint32_t touched; /* the last step that changed it */
    /* The number's bytes in a tuple, the lowest first; more are added as numbers grow. Where there is
     * none yet the number is 0, and so is a byte that was added after its tuple. */
    uint32_t bytes, places[4];
};

struct graph_state {
    uint32_t
        parent; /* found from there, by its first edge that leads here; the initial one has itself */
    uint32_t first_edge; /* the edges of a state lie together, in the order of the states */
    uint8_t tuple[];
};

struct progress;

struct graph_edge {
    uint32_t actor;
    uint32_t target;
};

/* Targets of the steps from one state that are not looked up yet: their memory is on the way. */
enum { PENDING_MAX = 32 };

struct pending {
    uint32_t count;
    uint32_t actors[PENDING_MAX];
    uint32_t places[PENDING_MAX]; /* of the actors, afterwards (search_symmetry.h) */
    uint64_t hashes[PENDING_MAX];
    uint8_t *tuples; /* tuple_room bytes each */
};

struct graph {
    struct search *search;
    struct pool states, edges, edge_actors; /* of edges: uint32_t targets, and a byte or four */
    const struct symmetry *symmetry;        /* or NULL */
    struct pool edge_places;                /* symmetry: uint32_t */
    uint32_t edges_found;                   /* with those of a state whose expansion was cut off */
    uint32_t expanded;                      /* states 0 .. expanded - 1 have all their edges */
    struct pool parts;
    uint32_t *word_parts; /* a word: its part + 1; 0: has not changed yet */
    uint32_t *open_parts; /* an owner of words: its last part + 1 */
    uint32_t tuple_used, tuple_room;
    /* Open addressing: number of the state + 1 in the low bits, as many as table_mask has; above them bits
     * of the state's hash. */
    uint32_t *table;
    uint32_t table_mask;
    uint32_t step; /* counts steps: part.touched */
    struct pending pending;
    struct pool witness; /* entries of the tape that is being put together */
};

static inline struct graph_state *graph_state(const struct graph *graph, uint32_t number)
{
    return pool_at(&graph->states, number);
}

static inline struct graph_edge graph_edge(const struct graph *graph, uint32_t number)
{
    const void *actor = pool_at(&graph->edge_actors, number);
    return (struct graph_edge){graph->edge_actors.record == 1 ? *(const uint8_t *)actor
                                                              : *(const uint32_t *)actor,
                               *(const uint32_t *)pool_at(&graph->edges, number)};
}

static inline uint32_t graph_edge_target(const struct graph *graph, uint32_t number)
{
    return *(const uint32_t *)pool_at(&graph->edges, number);
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

/* ---- the store (search_store.c) ---- */

/* With the machine's initial state as the first one. */
void store_start(struct graph *graph, struct search *search);

/* What the machine's state after one step of the actor from the loaded state is, becomes pending. False: no
 * room. */
bool store_push(struct graph *graph, uint32_t from, uint64_t from_hash, uint32_t actor);

/* Adds the edge to a pending state, which gets a number if it has none: that is the answer. SEARCH_NONE: a
 * bound. Prefetching all first pays. */
void store_prefetch(const struct graph *graph, uint32_t pending);
uint32_t store_edge(struct graph *graph, uint32_t pending, uint32_t from);

uint64_t store_hash(const struct graph *graph, uint32_t number);

/* Takes back one step. */
void store_undo(struct machine *machine);

/* Puts the machine into a state; the undo log is empty then. */
void graph_load(const struct graph *graph, uint32_t number);

/* Whether the machine is in the state, after a step from the loaded one. */
bool store_is(const struct graph *graph, uint32_t number);

/* ---- witnesses (search_states.c) ---- */

/* The shortest execution to a state. */
struct tape *graph_path(struct graph *graph, uint32_t number);

/* Adds one step to the witness as a tape has it: the actor, and the inner choices that lead to the
 * target, and the local steps that follow; graph_entry one entry. graph_tape makes a tape of them all and starts
 * anew. */
void graph_record(struct graph *graph, uint32_t from, uint32_t actor, uint32_t target);
void graph_entry(struct graph *graph, uint32_t entry);
struct tape *graph_tape(struct graph *graph);

/* ---- judging ---- */

/* Sets the result's race, in programs with atomics (search_race.c). */
void graph_races(struct graph *graph);

/* Sets the result's liveness and lasso. */
void graph_liveness(struct graph *graph);

/* Bytes of scratch memory a state that graph_liveness needs. */
enum { GRAPH_LIVENESS_BYTES = 32 };

#endif
