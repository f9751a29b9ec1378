/*
 * search_graph.c - what infinite executions a graph of states has.
 *
 * Every infinite execution of a finite graph ends up in one strongly connected component. It is weakly
 * fair iff every actor steps for ever, or is again and again not live: final, or waiting at a barrier.
 * An actor that waits in one state of a component and is live in another has an edge there: only its
 * own step makes it wait. So a component has a fair execution iff each actor that is live in one of its
 * states - any one, its root for example - has an edge in it.
 */
#include "engine/search_states.h"

#include "engine/invariant.h"

struct components {
    struct graph *graph;
    uint32_t counter;
    uint32_t *index; /* order of discovery, from 1; 0 = not yet */
    uint32_t *low;
    uint32_t *component; /* its root + 1; 0 = not yet known */
    uint32_t *stack;
    uint32_t stack_count;
    uint32_t *calls,
        *edges;     /* states being visited, and how far each one's edges have been followed */
    uint32_t *seen; /* an actor: root + 1 of the component where it has an edge */
    uint32_t cycle, fair; /* lowest state on a cycle, in a fair component; SEARCH_NONE */
};

static uint32_t lowest(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The component that lies on the stack from `from` on has been found. */
static void judge(struct components *c, uint32_t root, uint32_t from)
{
    const struct graph *graph = c->graph;
    uint32_t first = root;
    bool cyclic = false;
    for (uint32_t i = from; i < c->stack_count; i++)
        c->component[c->stack[i]] = root + 1;
    for (uint32_t i = from; i < c->stack_count; i++) {
        uint32_t state = c->stack[i];
        first = lowest(first, state);
        for (uint32_t e = graph_edges(graph, state); e < graph_edges_end(graph, state); e++) {
            const struct graph_edge edge = graph_edge(graph, e);
            if (c->component[edge.target] != root + 1)
                continue;
            cyclic = true;
            c->seen[edge.actor] = root + 1;
        }
    }
    if (!cyclic)
        return;
    c->cycle = lowest(c->cycle, first);
    graph_load(graph, root);
    const struct machine_head *head = graph->search->machine->head;
    for (uint32_t i = 0; i < head->live_count; i++)
        if (c->seen[head->live[i]] != root + 1)
            return;
    c->fair = lowest(c->fair, first);
}

static void enter(struct components *c, uint32_t state, uint32_t *depth)
{
    c->index[state] = c->low[state] = ++c->counter;
    c->stack[c->stack_count++] = state;
    c->calls[*depth] = state;
    c->edges[(*depth)++] = graph_edges(c->graph, state);
}

static void leave(struct components *c, uint32_t state)
{
    if (c->low[state] != c->index[state])
        return;
    uint32_t from = c->stack_count;
    while (c->stack[--from] != state)
        continue;
    judge(c, state, from);
    c->stack_count = from;
}

/* Tarjan's algorithm from one state, with its own stack of calls. */
static void visit(struct components *c, uint32_t root)
{
    uint32_t depth = 0;
    enter(c, root, &depth);
    while (depth > 0) {
        uint32_t state = c->calls[depth - 1];
        if (c->edges[depth - 1] == graph_edges_end(c->graph, state)) {
            leave(c, state);
            if (--depth > 0)
                c->low[c->calls[depth - 1]] = lowest(c->low[c->calls[depth - 1]], c->low[state]);
            continue;
        }
        uint32_t target = graph_edge(c->graph, c->edges[depth - 1]++).target;
        if (c->index[target] == 0)
            enter(c, target, &depth);
        else if (c->component[target] == 0)
            c->low[state] = lowest(c->low[state], c->index[target]);
    }
}

/* ---- the loop of a lasso ---- */

struct loop {
    struct components *c;
    uint32_t root;
    uint32_t at;      /* where the loop has got to */
    uint32_t missing; /* live actors that have not stepped in it */
    /* A search through the component; the arrays are the components', which need them no more. */
    uint32_t round;
    uint32_t *reached; /* a state: round in which it was reached */
    uint32_t *from;    /* and from which state, over which edge */
    uint32_t *over;
    uint32_t *queue;
};

static bool is_goal(const struct loop *loop, struct graph_edge edge)
{
    return loop->missing > 0 ? !loop->c->seen[edge.actor] : edge.target == loop->root;
}

/* The path to `state` found in this round, then the edge `last` from there, become part of the loop. */
static void take_path(struct loop *loop, uint32_t state, uint32_t last)
{
    struct graph *graph = loop->c->graph;
    uint32_t length = 0;
    uint32_t *path = loop->queue; /* the round is over */
    for (uint32_t edge = last, s = state;; edge = loop->over[s], s = loop->from[s]) {
        path[length++] = edge;
        if (s == loop->at)
            break;
    }
    while (length > 0) {
        const struct graph_edge edge = graph_edge(graph, path[--length]);
        graph_record(graph, loop->at, edge.actor, edge.target);
        loop->missing -= loop->missing > 0 && !loop->c->seen[edge.actor];
        loop->c->seen[edge.actor] = 1;
        loop->at = edge.target;
    }
}

/* The shortest way to an edge that the loop needs. */
static void extend(struct loop *loop)
{
    const struct graph *graph = loop->c->graph;
    const uint32_t *component = loop->c->component;
    uint32_t count = 0;
    loop->round++;
    loop->reached[loop->at] = loop->round;
    loop->queue[count++] = loop->at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t state = loop->queue[i];
        for (uint32_t e = graph_edges(graph, state); e < graph_edges_end(graph, state); e++) {
            const struct graph_edge edge = graph_edge(graph, e);
            if (component[edge.target] != component[loop->root])
                continue;
            if (is_goal(loop, edge)) {
                take_path(loop, state, e);
                return;
            }
            if (loop->reached[edge.target] == loop->round)
                continue;
            loop->reached[edge.target] = loop->round;
            loop->from[edge.target] = state;
            loop->over[edge.target] = e;
            loop->queue[count++] = edge.target;
        }
    }
    invariant_fail("a component is strongly connected", __FILE__, __LINE__);
}

static const struct tape *make_loop(struct components *c, uint32_t root, bool fair)
{
    const struct machine *machine = c->graph->search->machine;
    struct loop loop = {.c = c,
                        .root = root,
                        .at = root,
                        .reached = c->index,
                        .from = c->low,
                        .over = c->edges,
                        .queue = c->stack};
    for (uint32_t i = 0; i < c->graph->states.count; i++)
        loop.reached[i] = 0;
    graph_load(c->graph, root);
    for (uint32_t i = 0; i < machine->actor_count; i++)
        c->seen[i] = 1;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        c->seen[machine->head->live[i]] = 0;
    loop.missing = fair ? machine->head->live_count : 0;
    do
        extend(&loop);
    while (loop.missing > 0 || loop.at != root);
    return graph_tape(c->graph);
}

void graph_liveness(struct graph *graph)
{
    struct search_result *result = graph->search->result;
    struct arena *arena = graph->search->arena;
    uint32_t count = graph->states.count;
    struct components c = {
        .graph = graph,
        .index = ARENA_ARRAY(arena, uint32_t, count),
        .low = ARENA_ARRAY(arena, uint32_t, count),
        .component = ARENA_ARRAY(arena, uint32_t, count),
        .stack = ARENA_ARRAY(arena, uint32_t, count),
        .calls = ARENA_ARRAY(arena, uint32_t, count),
        .edges = ARENA_ARRAY(arena, uint32_t, count),
        .seen = ARENA_ARRAY(arena, uint32_t, graph->search->machine->actor_count),
        .cycle = SEARCH_NONE,
        .fair = SEARCH_NONE,
    };
    for (uint32_t i = 0; i < count; i++)
        if (c.index[i] == 0)
            visit(&c, i);
    if (c.cycle != SEARCH_NONE) {
        uint32_t root = c.fair != SEARCH_NONE ? c.fair : c.cycle;
        result->lasso_stem = graph_path(graph, root);
        result->lasso_loop = make_loop(&c, root, c.fair != SEARCH_NONE);
    }
    if (c.fair != SEARCH_NONE)
        result->liveness = LIVENESS_FAIR_LASSO;
    else if (result->complete)
        result->liveness = c.cycle != SEARCH_NONE ? LIVENESS_UNFAIR_LASSO : LIVENESS_ALL_TERMINATE;
}
