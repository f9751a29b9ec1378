/*
 * search_race.c - races in a graph of states, for programs with atomics (search.h has why).
 *
 * The accesses of all edges are numbered by (word, actor, kind). A set of numbers flows along the edges, in two
 * halves: what some path to a state has accessed since the last release of the accessing actor's block, and what it
 * has ever accessed, since the releases of a block order nothing for other blocks. An edge whose access conflicts
 * with one of its own block in the first half, or of another in the second, completes a race, and each race is so
 * completed.
 */
#include "engine/search/search_states.h"

#include "engine/base/bits.h"
#include "engine/base/invariant.h"

#include <string.h>

#define NO_ACCESS UINT32_MAX

/* A numbered access; those of one word are chained. */
struct numbered {
    uint32_t address, actor;
    enum access_kind kind;
    uint32_t next; /* number, NO_ACCESS at the end */
};

struct edge_accesses {
    uint32_t first;    /* in `lists`; the next edge's is the end */
    uint32_t released; /* block + 1 */
};

struct flow {
    struct graph *graph;
    uint32_t actor; /* that steps */
    struct pool numbered, lists, edges;
    uint32_t *heads; /* a word: its first numbered access */
    uint32_t released;
    uint32_t words;     /* of a set */
    uint32_t ever;      /* where its second half begins; 0 of one block, which has none */
    uint64_t *sets;     /* a state */
    uint64_t *conflict; /* an access: those that race with it */
    uint64_t *of_block; /* a block: accesses of its actors, in the first half */
};

static struct numbered *numbered_at(const struct flow *flow, uint32_t number)
{
    return pool_at(&flow->numbered, number);
}

/* ---- the accesses of all edges ---- */

static void note(struct flow *flow, uint32_t address, enum access_kind kind)
{
    struct arena *arena = flow->graph->search->arena;
    uint32_t number = flow->heads[address];
    while (number != NO_ACCESS && (numbered_at(flow, number)->actor != flow->actor ||
                                   numbered_at(flow, number)->kind != kind))
        number = numbered_at(flow, number)->next;
    if (number == NO_ACCESS) {
        number = flow->numbered.count;
        *(struct numbered *)pool_add(&flow->numbered, arena) =
            (struct numbered){address, flow->actor, kind, flow->heads[address]};
        flow->heads[address] = number;
    }
    *(uint32_t *)pool_add(&flow->lists, arena) = number;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread, (void)stm;
    note(context, address, ACCESS_READ);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread, (void)value, (void)stm;
    note(context, address, ACCESS_WRITE);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread, (void)value, (void)stm;
    note(context, address, ACCESS_ATOMIC);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct flow *flow = context;
    (void)machine;
    if (event->all)
        flow->released = event->block + 1;
}

static void add_edge(struct flow *flow)
{
    struct edge_accesses *edge = pool_add(&flow->edges, flow->graph->search->arena);
    *edge = (struct edge_accesses){.first = flow->lists.count};
}

/* Takes the steps of a state again, in the order in which its edges were found. */
static void walk_state(struct flow *flow, uint32_t state)
{
    struct search *search = flow->graph->search;
    struct machine *machine = search->machine;
    graph_load(flow->graph, state);
    if (machine_status(machine) != STATUS_RUNNING)
        return;
    for (uint32_t i = 0; i < machine->head->live_count; i++) {
        flow->actor = machine->head->live[i];
        script_start(&search->script);
        do {
            add_edge(flow);
            flow->released = 0;
            machine_step(machine, flow->actor, &search->script.choices);
            struct edge_accesses *edge = pool_at(&flow->edges, flow->edges.count - 1);
            edge->released = flow->released;
            machine_undo(machine, 0);
        } while (script_next(&search->script));
    }
}

/* False: there is no room. */
static bool walk_graph(struct flow *flow)
{
    enum { STATE_BYTES = 1 << 16 }; /* more than one state's edges take, unless tables grow */
    struct search *search = flow->graph->search;
    const struct observer observer = {.context = flow,
                                      .read = on_read,
                                      .write = on_write,
                                      .atomic = on_atomic,
                                      .barrier = on_barrier};
    bool room = true;
    machine_observe(search->machine, &observer);
    for (uint32_t s = 0; s < flow->graph->expanded && room; s++) {
        room = search->arena->used + pool_growth(&flow->edges) + pool_growth(&flow->lists) +
                   pool_growth(&flow->numbered) + STATE_BYTES <=
               search->byte_limit;
        if (room)
            walk_state(flow, s);
    }
    machine_observe(search->machine, NULL);
    return room;
}

/* ---- sets ---- */

static uint32_t edge_end(const struct flow *flow, uint32_t edge)
{
    return edge + 1 < flow->edges.count
               ? ((const struct edge_accesses *)pool_at(&flow->edges, edge + 1))->first
               : flow->lists.count;
}

static uint32_t access_at(const struct flow *flow, uint32_t i)
{
    return *(const uint32_t *)pool_at(&flow->lists, i);
}

static bool make_sets(struct flow *flow)
{
    struct search *search = flow->graph->search;
    struct machine *machine = search->machine;
    uint32_t count = flow->numbered.count, blocks = machine->program->launch.blocks;
    uint32_t per_block = machine->actor_count / blocks;
    flow->words = (count + 63) / 64;
    flow->ever = blocks > 1 ? flow->words : 0;
    flow->words += flow->ever;
    size_t sets = (size_t)flow->graph->states.count + count + blocks + 1;
    if (search->arena->used + sets * flow->words * sizeof(uint64_t) > search->byte_limit)
        return false;
    flow->sets =
        ARENA_ARRAY(search->arena, uint64_t, (size_t)flow->graph->states.count * flow->words);
    flow->conflict = ARENA_ARRAY(search->arena, uint64_t, (size_t)count * flow->words);
    flow->of_block = ARENA_ARRAY(search->arena, uint64_t, (size_t)blocks * flow->words);
    for (uint32_t a = 0; a < count; a++) {
        const struct numbered *x = numbered_at(flow, a);
        uint64_t *conflicts = flow->conflict + (size_t)a * flow->words;
        bits_add(flow->of_block + x->actor / per_block * flow->words, a);
        for (uint32_t b = flow->heads[x->address]; b != NO_ACCESS; b = numbered_at(flow, b)->next) {
            const struct numbered *y = numbered_at(flow, b);
            bool harmless = x->kind == y->kind && x->kind != ACCESS_WRITE;
            bool one_block = x->actor / per_block == y->actor / per_block;
            if (x->actor != y->actor && !harmless)
                bits_add(conflicts + (one_block ? 0 : flow->ever), b);
        }
    }
    return true;
}

/* What flows over an edge from its state's set; whether its target's set grew. */
static bool flow_edge(struct flow *flow, uint32_t from, uint32_t edge, uint64_t *scratch)
{
    const struct edge_accesses *accesses = pool_at(&flow->edges, edge);
    uint64_t *target = flow->sets + (size_t)graph_edge(flow->graph, edge).target * flow->words;
    bool grew = false;
    memcpy(scratch, flow->sets + (size_t)from * flow->words, flow->words * sizeof *scratch);
    for (uint32_t i = accesses->first; i < edge_end(flow, edge); i++) {
        bits_add(scratch, access_at(flow, i));
        bits_add(scratch + flow->ever, access_at(flow, i));
    }
    for (uint32_t w = 0; w < flow->words; w++) {
        uint64_t in = scratch[w];
        if (accesses->released)
            in &= ~flow->of_block[(accesses->released - 1) * flow->words + w];
        grew |= (in & ~target[w]) != 0;
        target[w] |= in;
    }
    return grew;
}

/* To the least fixed point; false: the bound on steps. */
static bool flow_sets(struct flow *flow)
{
    struct graph *graph = flow->graph;
    struct search *search = graph->search;
    uint64_t *scratch = ARENA_ARRAY(search->arena, uint64_t, flow->words);
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t s = 0; s < graph->expanded; s++)
            for (uint32_t e = graph_edges(graph, s); e < graph_edges_end(graph, s); e++)
                grew |= flow_edge(flow, s, e, scratch);
        search->result->steps += graph->edges.count;
        if (search->result->steps > search->step_limit)
            return !grew;
    }
    return true;
}

static bool completes_race(const struct flow *flow, uint32_t state, uint32_t edge)
{
    const struct edge_accesses *accesses = pool_at(&flow->edges, edge);
    const uint64_t *set = flow->sets + (size_t)state * flow->words;
    for (uint32_t i = accesses->first; i < edge_end(flow, edge); i++) {
        const uint64_t *conflict = flow->conflict + (size_t)access_at(flow, i) * flow->words;
        for (uint32_t w = 0; w < flow->words; w++)
            if (set[w] & conflict[w])
                return true;
    }
    return false;
}

static void look_for_races(struct flow *flow)
{
    struct graph *graph = flow->graph;
    struct search *search = graph->search;
    uint32_t words = search_locations(search->machine->program);
    if (search->arena->used + (size_t)words * sizeof(uint32_t) > search->byte_limit) {
        search_cut(search, "bytes");
        return;
    }
    flow->heads = ARENA_ARRAY(search->arena, uint32_t, words);
    memset(flow->heads, 0xff, words * sizeof *flow->heads);
    if (!walk_graph(flow) || !make_sets(flow)) {
        search_cut(search, "bytes");
        return;
    }
    if (!flow_sets(flow))
        search_cut(search, "steps");
    INVARIANT(flow->edges.count >= graph_edges_end(graph, graph->expanded - 1));
    for (uint32_t s = 0; s < graph->expanded && !search->result->race; s++)
        for (uint32_t e = graph_edges(graph, s); e < graph_edges_end(graph, s); e++)
            search->result->race |= completes_race(flow, s, e);
}

void graph_races(struct graph *graph)
{
    size_t mark = arena_mark(graph->search->arena);
    struct flow flow = {.graph = graph,
                        .numbered = {.record = sizeof(struct numbered)},
                        .lists = {.record = sizeof(uint32_t)},
                        .edges = {.record = sizeof(struct edge_accesses)}};
    look_for_races(&flow);
    search_note_bytes(graph->search);
    arena_release(graph->search->arena, mark);
}
