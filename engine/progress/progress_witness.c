/*
 * progress_witness.c - of a hang: a shortest way to the component, and a loop through it.
 */
#include "engine/progress/progress_internal.h"

#include "engine/base/invariant.h"

static void record_edge(const struct product *p, uint32_t node, uint32_t edge)
{
    uint32_t state = product_state(p, node);
    const struct graph_edge e =
        graph_edge(p->graph, graph_edges(p->graph, state) + edge - p->first_edge[node]);
    graph_record(p->graph, state, e.actor, e.target);
}

static uint32_t parent_of(const struct product *p, uint32_t node)
{
    return p->states ? p->parents[node] : graph_state(p->graph, node)->parent;
}

static const struct tape *path_to(const struct product *p, uint32_t number)
{
    uint32_t length = 0;
    uint32_t *path = p->c.edges; /* the components are known */
    for (uint32_t n = number; n != 0; n = parent_of(p, n))
        path[length++] = n;
    while (length > 0) {
        uint32_t node = path[--length], parent = parent_of(p, node), edge = p->first_edge[parent];
        while (p->targets[edge] != node)
            edge++;
        record_edge(p, parent, edge);
    }
    return graph_tape(p->graph);
}

/* A loop through a component: the shortest ways from where it has got to, to the next of the units that must
 * step or not be able to, then back. */
struct loop {
    const struct product *p;
    uint32_t start, at;
    unit_set missing; /* units that have neither stepped nor been blocked */
    unit_set stepped;
    uint32_t round;
    uint32_t *reached, *from, *over, *queue; /* of a search */
};

static unit_set settles(const struct loop *l, uint32_t edge)
{
    const struct product *p = l->p;
    const struct state_units *units = product_units(p, p->targets[edge]);
    return (~units->enabled | (unit_set)1 << p->units[edge]) & l->missing;
}

static void take_path(struct loop *l, uint32_t last_node, uint32_t last_edge)
{
    const struct product *p = l->p;
    uint32_t length = 0;
    uint32_t *nodes = l->queue; /* the round is over; two words a step fit, as the path is simple */
    uint32_t *edges = p->c.edges;
    for (uint32_t n = last_node, e = last_edge;; e = l->over[n], n = l->from[n]) {
        nodes[length] = n;
        edges[length++] = e;
        if (n == l->at)
            break;
    }
    while (length-- > 0) {
        uint32_t edge = edges[length];
        l->missing &= ~settles(l, edge);
        l->stepped |= (unit_set)1 << p->units[edge];
        record_edge(p, nodes[length], edge);
        l->at = p->targets[edge];
    }
}

static void extend(struct loop *l)
{
    const struct product *p = l->p;
    uint32_t count = 0;
    l->round++;
    l->reached[l->at] = l->round;
    l->queue[count++] = l->at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = l->queue[i];
        for (uint32_t e = p->first_edge[number]; e < p->first_edge[number + 1]; e++) {
            uint32_t target = p->targets[e];
            if (!components_same(&p->c, target, l->start))
                continue;
            if (l->missing ? settles(l, e) != 0 : target == l->start) {
                take_path(l, number, e);
                return;
            }
            if (l->reached[target] == l->round)
                continue;
            l->reached[target] = l->round;
            l->from[target] = number;
            l->over[target] = e;
            l->queue[count++] = target;
        }
    }
    invariant_fail("a component is strongly connected", __FILE__, __LINE__);
}

void progress_witness(struct product *p, const struct component *c, unit_set fair,
                      struct progress_answer *answer)
{
    if (!p->spare)
        p->spare = ARENA_ARRAY(p->graph->search->arena, uint32_t, (size_t)2 * p->node_count);
    struct loop l = {.p = p,
                     .start = c->first,
                     .at = c->first,
                     .reached = p->spare,
                     .from = p->spare + p->node_count,
                     .over = p->c.calls,
                     .queue = p->c.stack};
    answer->fair = fair;
    answer->unfinished = product_units(p, c->first)->unfinished;
    answer->stem = path_to(p, c->first);
    for (uint32_t i = 0; i < p->node_count; i++)
        l.reached[i] = 0;
    l.missing = fair & product_units(p, c->first)->enabled;
    do
        extend(&l);
    while (l.missing || l.at != l.start);
    answer->stepped = l.stepped;
    answer->loop = graph_tape(p->graph);
}
