/*
 * progress.c - the product of the graph of states with what a model remembers, and its components.
 *
 * A node is a state with a memory: of OBE and HSA_OBE the unfinished units that have begun, of LOBE the highest
 * one that has begun, of the others nothing. Both only grow, and units do not come back, so F is
 * constant in a strongly connected component.
 */
#include "engine/progress.h"

#include "engine/invariant.h"
#include "engine/pcg.h"
#include "engine/search_states.h"

#include <string.h>

const struct progress_info progress_table[PROGRESS_MODEL_COUNT] = {
#define MODEL(id, name, sentence) [PROGRESS_##id] = {name, sentence},
#include "engine/progress.def"
#undef MODEL
};

const enum progress_model progress_inclusions[PROGRESS_INCLUSIONS][2] = {
    {PROGRESS_UNFAIR, PROGRESS_HSA},  {PROGRESS_UNFAIR, PROGRESS_OBE},
    {PROGRESS_HSA, PROGRESS_HSA_OBE}, {PROGRESS_OBE, PROGRESS_HSA_OBE},
    {PROGRESS_OBE, PROGRESS_LOBE},    {PROGRESS_HSA_OBE, PROGRESS_FAIR},
    {PROGRESS_LOBE, PROGRESS_FAIR},
};

const char *const progress_verdict_names[] = {
    [PROGRESS_UNKNOWN] = "unknown at bound",
    [PROGRESS_ENDS] = "ends always",
    [PROGRESS_MAY_HANG] = "may hang",
    [PROGRESS_HANGS] = "hangs always",
};

/* What is asked of the machine, once a state. */
struct state_units {
    unit_set unfinished, enabled; /* enabled: an actor of the unit can step */
    bool ended;                   /* the execution has: terminated, or an error */
};

struct node {
    uint64_t memory;
    uint32_t state;
    uint32_t first_edge, edge_count; /* in the order of the state's edges */
    uint32_t parent, parent_edge;    /* the shortest way there */
};

/* Of one kind of memory. */
struct product {
    struct graph *graph;
    const struct progress *progress;
    const struct state_units *units; /* a state */
    enum progress_model remembers;   /* OBE, LOBE, or UNFAIR: nothing */
    struct pool nodes;
    struct pool targets; /* uint32_t: of the nodes' edges */
    uint32_t *table;     /* open addressing: number of the node + 1 */
    uint32_t table_mask;
    bool full;
    /* Components, by Tarjan's algorithm. */
    uint32_t counter;
    uint32_t *index, *low, *component; /* component: its root + 1 */
    uint32_t *stack, *calls, *edges;
    uint32_t stack_count;
};

static struct node *node_at(const struct product *p, uint32_t number)
{
    return pool_at(&p->nodes, number);
}

static uint32_t target_at(const struct product *p, uint32_t edge)
{
    return *(uint32_t *)pool_at(&p->targets, edge);
}

/* The graph's edge that stands behind edge i of a node. */
static struct graph_edge edge_of(const struct product *p, const struct node *node, uint32_t i)
{
    return graph_edge(p->graph, graph_edges(p->graph, node->state) + i);
}

static uint32_t unit_of_edge(const struct product *p, const struct node *node, uint32_t i)
{
    return p->progress->unit_of[edge_of(p, node, i).actor];
}

/* ---- F ---- */

static unit_set lowest_of(unit_set set)
{
    return set & -set;
}

/* Units 0 .. count - 1. */
static unit_set below(uint64_t count)
{
    return count >= 64 ? ~(unit_set)0 : ((unit_set)1 << count) - 1;
}

static unit_set fair_set(const struct product *p, const struct node *node,
                         enum progress_model model)
{
    unit_set unfinished = p->units[node->state].unfinished;
    switch (model) {
    case PROGRESS_UNFAIR:
        return 0;
    case PROGRESS_HSA:
        return lowest_of(unfinished);
    case PROGRESS_OBE:
        return node->memory;
    case PROGRESS_HSA_OBE:
        return node->memory | lowest_of(unfinished);
    case PROGRESS_LOBE:
        return unfinished & below(node->memory);
    case PROGRESS_FAIR:
        return unfinished;
    case PROGRESS_MODEL_COUNT:
        break;
    }
    invariant_fail("a model is one of the table", __FILE__, __LINE__);
}

static uint64_t remember(const struct product *p, uint64_t memory, uint32_t unit, uint32_t target)
{
    if (p->remembers == PROGRESS_OBE)
        return (memory | (unit_set)1 << unit) & p->units[target].unfinished;
    if (p->remembers == PROGRESS_LOBE)
        return memory > unit ? memory : unit + 1u;
    return 0;
}

/* ---- nodes ---- */

static uint32_t slot_of(const struct product *p, uint32_t state, uint64_t memory)
{
    return (uint32_t)pcg_splitmix(memory ^ pcg_splitmix(state)) & p->table_mask;
}

static void insert(struct product *p, uint32_t number)
{
    const struct node *node = node_at(p, number);
    uint32_t at = slot_of(p, node->state, node->memory);
    while (p->table[at])
        at = (at + 1) & p->table_mask;
    p->table[at] = number + 1;
}

/* Bytes a node that judging takes, and as many again for growing tables. */
enum { NODE_BYTES = 96 };

static bool room(struct product *p)
{
    const struct search *search = p->graph->search;
    size_t bytes = search->arena->used + pool_growth(&p->nodes) + pool_growth(&p->targets) +
                   (size_t)p->nodes.count * NODE_BYTES + 65536;
    p->full |= bytes > search->byte_limit || p->nodes.count >= 1u << 28;
    return !p->full;
}

/* The number of the node; a new one has the parent. SEARCH_NONE: no room. */
static uint32_t intern(struct product *p, uint32_t state, uint64_t memory, uint32_t parent,
                       uint32_t parent_edge)
{
    struct arena *arena = p->graph->search->arena;
    uint32_t at = slot_of(p, state, memory);
    for (; p->table[at]; at = (at + 1) & p->table_mask) {
        const struct node *node = node_at(p, p->table[at] - 1);
        if (node->state == state && node->memory == memory)
            return p->table[at] - 1;
    }
    if (!room(p))
        return SEARCH_NONE;
    uint32_t number = p->nodes.count;
    *(struct node *)pool_add(&p->nodes, arena) = (struct node){
        .memory = memory, .state = state, .parent = parent, .parent_edge = parent_edge};
    if (2 * p->nodes.count <= p->table_mask) {
        insert(p, number);
        return number;
    }
    p->table_mask = p->table_mask * 2 + 1;
    p->table = ARENA_ARRAY(arena, uint32_t, (size_t)p->table_mask + 1);
    for (uint32_t i = 0; i < p->nodes.count; i++)
        insert(p, i);
    return number;
}

static bool expand(struct product *p, uint32_t number)
{
    uint32_t state = node_at(p, number)->state;
    uint64_t memory = node_at(p, number)->memory;
    uint32_t first = graph_edges(p->graph, state), end = graph_edges_end(p->graph, state);
    node_at(p, number)->first_edge = p->targets.count;
    node_at(p, number)->edge_count = end - first;
    for (uint32_t e = first; e < end; e++) {
        const struct graph_edge edge = graph_edge(p->graph, e);
        uint64_t next = remember(p, memory, p->progress->unit_of[edge.actor], edge.target);
        uint32_t target = intern(p, edge.target, next, number, e - first);
        if (target == SEARCH_NONE)
            return false;
        *(uint32_t *)pool_add(&p->targets, p->graph->search->arena) = target;
    }
    return true;
}

static bool build(struct product *p)
{
    enum { TABLE_FIRST = 256 };
    p->nodes.record = sizeof(struct node);
    p->targets.record = sizeof(uint32_t);
    p->table = ARENA_ARRAY(p->graph->search->arena, uint32_t, TABLE_FIRST);
    p->table_mask = TABLE_FIRST - 1;
    if (intern(p, 0, 0, 0, 0) == SEARCH_NONE)
        return false;
    for (uint32_t i = 0; i < p->nodes.count; i++)
        if (!expand(p, i))
            return false;
    return true;
}

/* ---- components ---- */

/* What a component has: of a hang under a model. */
struct component {
    uint32_t first; /* its node that was found first */
    bool cyclic;
    unit_set stepped; /* units with an edge in it */
    unit_set blocked; /* units that cannot step in one of its nodes */
};

/* The first component in which each model has an execution; SEARCH_NONE. */
struct hangs {
    uint32_t first[PROGRESS_MODEL_COUNT];
    struct component components[PROGRESS_MODEL_COUNT];
};

/* Whether the component has an infinite execution of the model. */
static bool is_execution(const struct product *p, const struct component *c,
                         enum progress_model model)
{
    /* Never empty but of UNFAIR: who steps in a component has begun, and does not finish. */
    unit_set F = fair_set(p, node_at(p, c->first), model);
    return (F & ~(c->stepped | c->blocked)) == 0;
}

static void judge(struct product *p, uint32_t root, uint32_t from, unit_set models,
                  struct hangs *hangs)
{
    struct component c = {.first = root};
    for (uint32_t i = from; i < p->stack_count; i++)
        p->component[p->stack[i]] = root + 1;
    for (uint32_t i = from; i < p->stack_count; i++) {
        const struct node *node = node_at(p, p->stack[i]);
        c.first = p->stack[i] < c.first ? p->stack[i] : c.first;
        c.blocked |= ~p->units[node->state].enabled;
        for (uint32_t e = 0; e < node->edge_count; e++) {
            if (p->component[target_at(p, node->first_edge + e)] != root + 1)
                continue;
            c.cyclic = true;
            c.stepped |= (unit_set)1 << unit_of_edge(p, node, e);
        }
    }
    for (int m = 0; c.cyclic && m < PROGRESS_MODEL_COUNT; m++) {
        if (!(models >> m & 1) || hangs->first[m] <= c.first ||
            !is_execution(p, &c, (enum progress_model)m))
            continue;
        hangs->first[m] = c.first;
        hangs->components[m] = c;
    }
}

static void enter(struct product *p, uint32_t node, uint32_t *depth)
{
    p->index[node] = p->low[node] = ++p->counter;
    p->stack[p->stack_count++] = node;
    p->calls[*depth] = node;
    p->edges[(*depth)++] = 0;
}

static void leave(struct product *p, uint32_t node, unit_set models, struct hangs *hangs)
{
    if (p->low[node] != p->index[node])
        return;
    uint32_t from = p->stack_count;
    while (p->stack[--from] != node)
        continue;
    judge(p, node, from, models, hangs);
    p->stack_count = from;
}

static void lower(struct product *p, uint32_t node, uint32_t to)
{
    if (to < p->low[node])
        p->low[node] = to;
}

/* Tarjan's algorithm; all nodes are reached from node 0. */
static void find_components(struct product *p, unit_set models, struct hangs *hangs)
{
    struct arena *arena = p->graph->search->arena;
    uint32_t count = p->nodes.count, depth = 0;
    uint32_t **const arrays[] = {&p->index, &p->low,   &p->component,
                                 &p->stack, &p->calls, &p->edges};
    for (uint32_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ARENA_ARRAY(arena, uint32_t, count);
    enter(p, 0, &depth);
    while (depth > 0) {
        uint32_t number = p->calls[depth - 1];
        const struct node *node = node_at(p, number);
        if (p->edges[depth - 1] == node->edge_count) {
            leave(p, number, models, hangs);
            if (--depth > 0)
                lower(p, p->calls[depth - 1], p->low[number]);
            continue;
        }
        uint32_t target = target_at(p, node->first_edge + p->edges[depth - 1]++);
        if (p->index[target] == 0)
            enter(p, target, &depth);
        else if (p->component[target] == 0)
            lower(p, number, p->index[target]);
    }
}

/* ---- strong fairness ---- */

/* Whether from every node the end, or a step with F = {}, is reached by steps of units of F: backwards from
 * those nodes, over edges of units of F, until nothing is added. */
static bool passes_strongly(struct product *p, enum progress_model model)
{
    struct arena *arena = p->graph->search->arena;
    size_t mark = arena_mark(arena);
    uint32_t count = p->nodes.count, good = 0, before;
    uint8_t *is_good = ARENA_ARRAY(arena, uint8_t, count);
    do {
        before = good;
        /* Targets mostly come behind their nodes: backwards few rounds are needed. */
        for (uint32_t i = count; i-- > 0;) {
            const struct node *node = node_at(p, i);
            unit_set F = fair_set(p, node, model);
            if (is_good[i])
                continue;
            bool found = p->units[node->state].ended || (F == 0 && node->edge_count > 0);
            for (uint32_t e = 0; e < node->edge_count && !found; e++)
                found = (F >> unit_of_edge(p, node, e) & 1) &&
                        is_good[target_at(p, node->first_edge + e)];
            is_good[i] = found;
            good += found;
        }
    } while (good > before);
    arena_release(arena, mark);
    return good == count;
}

/* ---- witnesses ---- */

static void record_edge(struct product *p, uint32_t node, uint32_t edge)
{
    const struct graph_edge e = edge_of(p, node_at(p, node), edge);
    graph_record(p->graph, node_at(p, node)->state, e.actor, e.target);
}

static const struct tape *path_to(struct product *p, uint32_t number)
{
    uint32_t length = 0;
    uint32_t *path = p->edges; /* the components are known */
    for (uint32_t n = number; n != 0; n = node_at(p, n)->parent)
        path[length++] = n;
    while (length > 0) {
        const struct node *node = node_at(p, path[--length]);
        record_edge(p, node->parent, node->parent_edge);
    }
    return graph_tape(p->graph);
}

/* A loop through a component: the shortest ways from where it has got to, to the next of the units that must
 * step or not be able to, then back. */
struct loop {
    struct product *p;
    uint32_t start, at;
    unit_set missing; /* units that have neither stepped nor been blocked */
    unit_set stepped;
    uint32_t round;
    uint32_t *reached, *from, *over, *queue; /* of a search: p->index, low, calls, stack */
};

static unit_set settles(const struct loop *l, uint32_t target, uint32_t unit)
{
    const struct state_units *units = &l->p->units[node_at(l->p, target)->state];
    return (~units->enabled | (unit_set)1 << unit) & l->missing;
}

static void take_path(struct loop *l, uint32_t last_node, uint32_t last_edge)
{
    struct product *p = l->p;
    uint32_t length = 0;
    uint32_t *nodes = l->queue; /* the round is over; two words a step fit, as the path is simple */
    uint32_t *edges = p->edges;
    for (uint32_t n = last_node, e = last_edge;; e = l->over[n], n = l->from[n]) {
        nodes[length] = n;
        edges[length++] = e;
        if (n == l->at)
            break;
    }
    while (length-- > 0) {
        const struct node *node = node_at(p, nodes[length]);
        uint32_t unit = unit_of_edge(p, node, edges[length]);
        uint32_t target = target_at(p, node->first_edge + edges[length]);
        l->missing &= ~settles(l, target, unit);
        l->stepped |= (unit_set)1 << unit;
        record_edge(p, nodes[length], edges[length]);
        l->at = target;
    }
}

static void extend(struct loop *l)
{
    struct product *p = l->p;
    uint32_t count = 0;
    l->round++;
    l->reached[l->at] = l->round;
    l->queue[count++] = l->at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = l->queue[i];
        const struct node *node = node_at(p, number);
        for (uint32_t e = 0; e < node->edge_count; e++) {
            uint32_t target = target_at(p, node->first_edge + e);
            if (p->component[target] != p->component[l->start])
                continue;
            if (l->missing ? settles(l, target, unit_of_edge(p, node, e)) != 0
                           : target == l->start) {
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

static void witness(struct product *p, enum progress_model model, const struct component *c,
                    struct progress_answer *answer)
{
    const struct node *node = node_at(p, c->first);
    struct loop l = {.p = p,
                     .start = c->first,
                     .at = c->first,
                     .reached = p->index,
                     .from = p->low,
                     .over = p->calls,
                     .queue = p->stack};
    answer->fair = fair_set(p, node, model);
    answer->unfinished = p->units[node->state].unfinished;
    answer->stem = path_to(p, c->first);
    memset(l.reached, 0, p->nodes.count * sizeof *l.reached);
    l.missing = answer->fair & p->units[node->state].enabled;
    do
        extend(&l);
    while (l.missing || l.at != l.start);
    answer->stepped = l.stepped;
    answer->loop = graph_tape(p->graph);
}

/* ---- models ---- */

static void look_at_states(struct graph *graph, const struct progress *progress,
                           struct state_units *units)
{
    const struct machine *machine = graph->search->machine;
    for (uint32_t s = 0; s < graph->states.count; s++) {
        graph_load(graph, s);
        units[s].ended = machine_status(machine) != STATUS_RUNNING;
        for (uint32_t i = 0; i < machine->head->live_count; i++)
            units[s].enabled |= (unit_set)1 << progress->unit_of[machine->head->live[i]];
        units[s].unfinished = units[s].enabled;
        for (uint32_t i = 0; i < machine->actor_count && !units[s].ended; i++)
            if (machine->semantics->next_stm(machine, i) != CODE_NONE)
                units[s].unfinished |= (unit_set)1 << progress->unit_of[i];
    }
}

static void answer_models(struct product *p, unit_set models, bool some_end,
                          struct progress_answer *answers)
{
    struct hangs hangs;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        hangs.first[m] = SEARCH_NONE;
    if (!build(p))
        return;
    find_components(p, models, &hangs);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        struct progress_answer *answer = &answers[m];
        if (!(models >> m & 1))
            continue;
        answer->states = p->nodes.count;
        answer->verdict = PROGRESS_ENDS;
        if (hangs.first[m] != SEARCH_NONE)
            answer->verdict = some_end ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
        if (p->progress->quick_states > 0)
            continue;
        answer->strong = m != PROGRESS_UNFAIR && passes_strongly(p, (enum progress_model)m);
        if (answer->verdict != PROGRESS_ENDS)
            witness(p, (enum progress_model)m, &hangs.components[m], answer);
    }
}

void graph_progress(struct graph *graph)
{
    static const struct {
        enum progress_model remembers;
        unit_set models;
    } products[] = {
        {PROGRESS_UNFAIR, 1u << PROGRESS_UNFAIR | 1u << PROGRESS_HSA | 1u << PROGRESS_FAIR},
        {PROGRESS_OBE, 1u << PROGRESS_OBE | 1u << PROGRESS_HSA_OBE},
        {PROGRESS_LOBE, 1u << PROGRESS_LOBE},
    };
    struct search *search = graph->search;
    struct progress *progress = search->options->progress;
    bool some_end = false;
    memset(progress->answers, 0, sizeof progress->answers);
    if (!search->result->complete || progress->unit_count > PROGRESS_UNITS_MAX ||
        search->arena->used + graph->states.count * sizeof(struct state_units) > search->byte_limit)
        return;
    if (progress->quick_states > 0 && search->result->liveness == LIVENESS_ALL_TERMINATE) {
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
            progress->answers[m].verdict = PROGRESS_ENDS;
        return;
    }
    if (progress->quick_states > 0 && graph->states.count > progress->quick_states)
        return;
    struct state_units *units = ARENA_ARRAY(search->arena, struct state_units, graph->states.count);
    look_at_states(graph, progress, units);
    for (uint32_t s = 0; s < graph->states.count; s++)
        some_end |= units[s].ended;
    for (uint32_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct product p = {.graph = graph,
                            .progress = progress,
                            .units = units,
                            .remembers = products[i].remembers};
        answer_models(&p, products[i].models, some_end, progress->answers);
    }
    if (progress->ask_random)
        graph_random(graph, progress);
}
