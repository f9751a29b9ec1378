/*
 * search_graph.c - what infinite executions a graph of states has.
 *
 * Every infinite execution of a finite graph ends up in one strongly connected component. It is weakly
 * fair iff every actor steps for ever, or is again and again not live: final, or waiting at a barrier.
 * An actor that waits in one state of a component and is live in another has an edge there: only its
 * own step makes it wait. So a component has a fair execution iff each actor that is live in one of its
 * states - any one, its root for example - has an edge in it.
 */
#include "engine/base/components.h"
#include "engine/base/invariant.h"
#include "engine/search/search_states.h"

struct judging {
    struct components c;
    struct graph *graph;
    uint32_t *seen;       /* an actor: root + 1 of the component where it has an edge */
    uint32_t cycle, fair; /* lowest state on a cycle, in a fair component; SEARCH_NONE */
};

static uint32_t lowest(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t first_of(const void *context, uint32_t state)
{
    return graph_edges(((const struct judging *)context)->graph, state);
}

static uint32_t end_of(const void *context, uint32_t state)
{
    return graph_edges_end(((const struct judging *)context)->graph, state);
}

static uint32_t target_of(const void *context, uint32_t edge)
{
    return graph_edge_target(((const struct judging *)context)->graph, edge);
}

static void judge(void *context, uint32_t root, uint32_t from)
{
    struct judging *j = context;
    const struct components *c = &j->c;
    const struct graph *graph = j->graph;
    uint32_t first = root;
    bool cyclic = false;
    for (uint32_t i = from; i < c->stack_count; i++) {
        uint32_t state = c->stack[i], end = graph_edges_end(graph, state);
        first = lowest(first, state);
        for (uint32_t e = graph_edges(graph, state); e < end; e++) {
            if (!components_same(c, graph_edge_target(graph, e), root))
                continue;
            cyclic = true;
            j->seen[graph_edge(graph, e).actor] = root + 1;
        }
    }
    if (!cyclic)
        return;
    j->cycle = lowest(j->cycle, first);
    graph_load(graph,
               first); /* where make_loop starts: with caches not the same are live everywhere */
    const struct machine_head *head = graph->search->machine->head;
    for (uint32_t i = 0; i < head->live_count; i++)
        if (j->seen[head->live[i]] != root + 1)
            return;
    j->fair = lowest(j->fair, first);
}

/* ---- the loop of a lasso ---- */

struct loop {
    struct judging *j;
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
    return loop->missing > 0 ? !loop->j->seen[edge.actor] : edge.target == loop->root;
}

/* The path to `state` found in this round, then the edge `last` from there, become part of the loop. */
static void take_path(struct loop *loop, uint32_t state, uint32_t last)
{
    struct graph *graph = loop->j->graph;
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
        loop->missing -= loop->missing > 0 && !loop->j->seen[edge.actor];
        loop->j->seen[edge.actor] = 1;
        loop->at = edge.target;
    }
}

/* The shortest way to an edge that the loop needs. */
static void extend(struct loop *loop)
{
    const struct graph *graph = loop->j->graph;
    uint32_t count = 0;
    loop->round++;
    loop->reached[loop->at] = loop->round;
    loop->queue[count++] = loop->at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t state = loop->queue[i];
        for (uint32_t e = graph_edges(graph, state); e < graph_edges_end(graph, state); e++) {
            const struct graph_edge edge = graph_edge(graph, e);
            if (!components_same(&loop->j->c, edge.target, loop->root))
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

static const struct tape *make_loop(struct judging *j, uint32_t root, bool fair)
{
    const struct machine *machine = j->graph->search->machine;
    struct loop loop = {.j = j,
                        .root = root,
                        .at = root,
                        .reached = j->c.calls,
                        .from =
                            ARENA_ARRAY(j->graph->search->arena, uint32_t, j->graph->states.count),
                        .over = j->c.edges,
                        .queue = j->c.stack};
    for (uint32_t i = 0; i < j->graph->states.count; i++)
        loop.reached[i] = 0;
    graph_load(j->graph, root);
    for (uint32_t i = 0; i < machine->alternatives; i++)
        j->seen[i] = 1;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        j->seen[machine->head->live[i]] = 0;
    loop.missing = fair ? machine->head->live_count : 0;
    do
        extend(&loop);
    while (loop.missing > 0 || loop.at != root);
    return graph_tape(j->graph);
}

void graph_liveness(struct graph *graph)
{
    struct search_result *result = graph->search->result;
    struct arena *arena = graph->search->arena;
    uint32_t count = graph->states.count;
    size_t mark = arena_mark(arena);
    struct judging j = {
        .graph = graph,
        .seen = ARENA_ARRAY(arena, uint32_t, graph->search->machine->alternatives),
        .cycle = SEARCH_NONE,
        .fair = SEARCH_NONE,
    };
    components_start(&j.c, arena, count);
    for (uint32_t i = 0; i < count; i++)
        if (j.c.marks[i] == 0)
            components_visit(&j.c, i, &j, first_of, end_of, target_of, judge);
    if (j.cycle != SEARCH_NONE) {
        uint32_t root = j.fair != SEARCH_NONE ? j.fair : j.cycle;
        result->lasso_stem = graph_path(graph, root);
        result->lasso_loop = make_loop(&j, root, j.fair != SEARCH_NONE);
    }
    search_note_bytes(graph->search);
    if (j.cycle == SEARCH_NONE)
        arena_release(arena, mark);
    if (j.fair != SEARCH_NONE)
        result->liveness = LIVENESS_FAIR_LASSO;
    else if (result->complete)
        result->liveness = j.cycle != SEARCH_NONE ? LIVENESS_UNFAIR_LASSO : LIVENESS_ALL_TERMINATE;
}
