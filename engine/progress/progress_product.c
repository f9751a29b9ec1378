/*
 * progress_product.c - the graph of states with who has begun, as arrays.
 */
#include "engine/progress/progress_internal.h"

#include "engine/base/pcg.h"
#include "engine/machine/live.h"

#include <string.h>

enum { SLACK_BYTES = 1 << 16 };

bool product_has_room(const struct product *p, uint64_t bytes)
{
    const struct search *search = p->graph->search;
    return search->arena->used + bytes + SLACK_BYTES <= search->byte_limit;
}

/* ---- who can step in a state ---- */

static bool same_class(const struct state_units *a, const struct state_units *b)
{
    return a->unfinished == b->unfinished && a->enabled == b->enabled && a->ended == b->ended;
}

static struct state_units look_at(const struct machine *machine, const uint32_t *unit_of)
{
    const struct machine_head *head = machine->head;
    struct state_units units = {.ended = machine_status(machine) != STATUS_RUNNING};
    for (uint32_t i = 0; i < head->live_count; i++)
        units.enabled |= (unit_set)1 << unit_of[head->live[i]];
    if (units.ended)
        return units;
    if (!machine->semantics->past_text)
        units.unfinished = units.enabled;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        if (!(units.unfinished >> unit_of[i] & 1) && !is_finished(machine, i))
            units.unfinished |= (unit_set)1 << unit_of[i];
    units.ended = units.unfinished == 0;
    return units;
}

/* False: no room. */
static bool look_at_states(struct product *p)
{
    enum { PLACES = 1024 }; /* of the last class seen with such a hash */
    struct graph *graph = p->graph;
    struct arena *arena = graph->search->arena;
    uint32_t *places = ARENA_ARRAY(arena, uint32_t, PLACES);
    p->classes.record = sizeof(struct state_units);
    for (uint32_t s = 0; s < graph->states.count; s++) {
        graph_load(graph, s);
        struct state_units units = look_at(graph->search->machine, p->progress->unit_of);
        uint64_t hash = pcg_splitmix(units.enabled ^ pcg_splitmix(units.unfinished + units.ended));
        uint32_t *place = &places[hash % PLACES];
        p->some_end |= units.ended;
        if (*place == 0 || !same_class(pool_at(&p->classes, *place - 1), &units)) {
            if (!product_has_room(p, pool_growth(&p->classes)))
                return false;
            *(struct state_units *)pool_add(&p->classes, arena) = units;
            *place = p->classes.count;
        }
        p->class_of[s] = *place - 1;
    }
    return true;
}

/* ---- nodes that are the states ---- */

static unit_set unit_bit(const struct product *p, uint32_t edge)
{
    return (unit_set)1 << p->progress->unit_of[graph_edge(p->graph, edge).actor];
}

/* Whether the state says who has begun; then p->begun. States lie behind the one that they were found from, and
 * who has stepped to one is not nobody. */
static bool begun_in_states(struct product *p)
{
    const struct graph *graph = p->graph;
    unit_set *begun = p->begun;
    for (uint32_t s = 0; s < graph->states.count; s++)
        for (uint32_t e = graph_edges(graph, s); e < graph_edges_end(graph, s); e++) {
            uint32_t target = graph_edge_target(graph, e);
            unit_set next = begun[s] | unit_bit(p, e);
            if (target == 0 || (begun[target] != 0 && begun[target] != next))
                return false;
            begun[target] = next;
        }
    return true;
}

static void take_edges(struct product *p)
{
    const struct graph *graph = p->graph;
    for (uint32_t s = 0; s < graph->states.count; s++)
        p->first_edge[s] = graph_edges(graph, s);
    for (uint32_t e = 0; e < graph->edges.count; e++) {
        const struct graph_edge edge = graph_edge(graph, e);
        p->targets[e] = edge.target;
        p->units[e] = (uint8_t)p->progress->unit_of[edge.actor];
    }
}

/* ---- nodes that are not ---- */

/* Those of one state are chained. */
struct node {
    unit_set begun;
    uint32_t state;
    uint32_t parent;
    uint32_t next; /* the number of the next node of the state + 1 */
};

struct nodes {
    struct product *p;
    struct pool pool;
    uint32_t *first; /* a state: number of its first node + 1 */
    uint64_t edges;
};

static struct node *node_at(const struct nodes *nodes, uint32_t number)
{
    return pool_at(&nodes->pool, number);
}

enum { NODE_BYTES = 8 + 4 * 4 + COMPONENT_BYTES + 8 + 1 }; /* of arrays, with a path */

/* The number of the node; a new one has the parent. SEARCH_NONE: no room. */
static uint32_t intern(struct nodes *nodes, uint32_t state, unit_set begun, uint32_t parent)
{
    struct product *p = nodes->p;
    for (uint32_t n = nodes->first[state]; n; n = node_at(nodes, n - 1)->next)
        if (node_at(nodes, n - 1)->begun == begun)
            return n - 1;
    uint64_t bytes = pool_growth(&nodes->pool) + (uint64_t)nodes->pool.count * NODE_BYTES +
                     nodes->edges * (sizeof *p->targets + sizeof *p->units);
    if (!product_has_room(p, bytes) || nodes->pool.count >= 1u << 28 ||
        nodes->edges >= UINT32_MAX / 2)
        return SEARCH_NONE;
    *(struct node *)pool_add(&nodes->pool, p->graph->search->arena) = (struct node){
        .begun = begun, .state = state, .parent = parent, .next = nodes->first[state]};
    nodes->first[state] = nodes->pool.count;
    nodes->edges +=
        graph_edges_end(p->graph, state) - graph_edges(p->graph, state); /* it will have */
    return nodes->pool.count - 1;
}

static uint32_t target_of(struct nodes *nodes, uint32_t from, uint32_t edge)
{
    unit_set begun = node_at(nodes, from)->begun | unit_bit(nodes->p, edge);
    if (nodes->p->lower_too)
        begun |= unit_bit(nodes->p, edge) - 1;
    return intern(nodes, graph_edge_target(nodes->p->graph, edge), begun, from);
}

static bool find_nodes(struct nodes *nodes)
{
    const struct graph *graph = nodes->p->graph;
    if (intern(nodes, 0, 0, 0) == SEARCH_NONE)
        return false;
    for (uint32_t i = 0; i < nodes->pool.count; i++) {
        uint32_t state = node_at(nodes, i)->state;
        for (uint32_t e = graph_edges(graph, state); e < graph_edges_end(graph, state); e++)
            if (target_of(nodes, i, e) == SEARCH_NONE)
                return false;
    }
    return true;
}

/* ---- the product ---- */

static bool make_arrays(struct product *p, uint32_t nodes, uint64_t edges)
{
    struct arena *arena = p->graph->search->arena;
    if (!product_has_room(p, (uint64_t)nodes * NODE_BYTES +
                                 edges * (sizeof *p->targets + sizeof *p->units)))
        return false;
    p->node_count = nodes;
    p->begun = ARENA_ARRAY(arena, unit_set, nodes);
    p->class_of = ARENA_ARRAY(arena, uint32_t, nodes);
    p->first_edge = ARENA_ARRAY(arena, uint32_t, nodes + 1);
    p->first_edge[nodes] = (uint32_t)edges;
    p->targets = ARENA_ARRAY(arena, uint32_t, edges);
    p->units = ARENA_ARRAY(arena, uint8_t, edges);
    components_start(&p->c, arena, nodes);
    return true;
}

bool product_of_states(struct product *p)
{
    const struct graph *graph = p->graph;
    if (!make_arrays(p, graph->states.count, graph->edges.count) || !look_at_states(p))
        return false;
    p->says_begun = begun_in_states(p);
    take_edges(p);
    return true;
}

bool product_of_nodes(struct product *p, const struct product *of_states)
{
    const struct graph *graph = p->graph;
    struct arena *arena = graph->search->arena;
    struct nodes nodes = {.p = p, .pool = {.record = sizeof(struct node)}};
    if (!product_has_room(p, graph->states.count * sizeof *nodes.first))
        return false;
    nodes.first = ARENA_ARRAY(arena, uint32_t, graph->states.count);
    if (!find_nodes(&nodes) || !make_arrays(p, nodes.pool.count, nodes.edges))
        return false;
    p->classes = of_states->classes;
    p->some_end = of_states->some_end;
    p->states = ARENA_ARRAY(arena, uint32_t, p->node_count);
    p->parents = ARENA_ARRAY(arena, uint32_t, p->node_count);
    uint32_t edge = 0;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct node *node = node_at(&nodes, i);
        p->states[i] = node->state;
        p->parents[i] = node->parent;
        p->begun[i] = node->begun;
        p->class_of[i] = of_states->class_of[node->state];
        p->first_edge[i] = edge;
        uint32_t end = graph_edges_end(graph, node->state);
        for (uint32_t e = graph_edges(graph, node->state); e < end; e++, edge++) {
            p->targets[edge] = target_of(&nodes, i, e);
            p->units[edge] = (uint8_t)p->progress->unit_of[graph_edge(graph, e).actor];
        }
    }
    return true;
}
