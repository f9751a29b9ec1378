/*
 * progress.c - the product of the graph of states with what a model remembers, and its components.
 *
 * A node is a state with a memory: of OBE and HSA_OBE the unfinished units that have begun, of LOBE the highest
 * one that has begun, of the others nothing. Both only grow, and units do not come back, so F is
 * constant in a strongly connected component.
 */
#include "engine/progress.h"

#include "engine/components.h"
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

struct state_classes {
    struct pool units;  /* struct state_units */
    uint32_t *of_state; /* a state: its class */
    bool some_end;
};

static const struct state_units *class_of(const struct state_classes *classes, uint32_t state)
{
    return pool_at(&classes->units, classes->of_state[state]);
}

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

/* Those of one state are chained. */
struct node {
    uint64_t memory;
    uint32_t state;
    uint32_t first_edge; /* in `targets`, in the order of the state's edges */
    uint32_t parent;     /* on the shortest way there, by its first edge that leads here */
    uint32_t next;       /* the number of the next node of the state + 1 */
};

/* Of one kind of memory; without memory the nodes are the states. */
struct product {
    struct graph *graph;
    const struct progress *progress;
    const struct state_classes *classes;
    enum progress_model remembers; /* OBE, LOBE, or UNFAIR: nothing */
    struct pool nodes;
    struct pool targets;  /* uint32_t: of the nodes' edges */
    uint32_t *first_node; /* a state: number of its first node + 1 */
    uint32_t node_count;
    bool full;
    struct components c;
    uint32_t *spare; /* a word a node, for witnesses */
    unit_set models;
    struct hangs *hangs;
};

static struct node *node_at(const struct product *p, uint32_t number)
{
    return pool_at(&p->nodes, number);
}

static bool is_graph(const struct product *p)
{
    return p->remembers == PROGRESS_UNFAIR;
}

static uint32_t state_of(const struct product *p, uint32_t node)
{
    return is_graph(p) ? node : node_at(p, node)->state;
}

/* Edges are numbered through the product; where there is memory, in the order in which nodes were expanded. */
static uint32_t first_edge_of(const struct product *p, uint32_t node)
{
    return is_graph(p) ? graph_edges(p->graph, node) : node_at(p, node)->first_edge;
}

static uint32_t edge_count_of(const struct product *p, uint32_t node)
{
    uint32_t state = state_of(p, node);
    return graph_edges_end(p->graph, state) - graph_edges(p->graph, state);
}

static uint32_t target_at(const struct product *p, uint32_t edge)
{
    return is_graph(p) ? graph_edge_target(p->graph, edge)
                       : *(uint32_t *)pool_at(&p->targets, edge);
}

/* The graph's edge that stands behind edge i of a node. */
static struct graph_edge edge_of(const struct product *p, uint32_t node, uint32_t i)
{
    return graph_edge(p->graph, graph_edges(p->graph, state_of(p, node)) + i);
}

static uint32_t unit_of_edge(const struct product *p, uint32_t node, uint32_t i)
{
    return p->progress->unit_of[edge_of(p, node, i).actor];
}

static const struct state_units *units_at(const struct product *p, uint32_t node)
{
    return class_of(p->classes, state_of(p, node));
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

static unit_set fair_set(const struct product *p, uint32_t number, enum progress_model model)
{
    unit_set unfinished = units_at(p, number)->unfinished;
    switch (model) {
    case PROGRESS_UNFAIR:
        return 0;
    case PROGRESS_HSA:
        return lowest_of(unfinished);
    case PROGRESS_OBE:
        return node_at(p, number)->memory;
    case PROGRESS_HSA_OBE:
        return node_at(p, number)->memory | lowest_of(unfinished);
    case PROGRESS_LOBE:
        return unfinished & below(node_at(p, number)->memory);
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
        return (memory | (unit_set)1 << unit) & class_of(p->classes, target)->unfinished;
    if (p->remembers == PROGRESS_LOBE)
        return memory > unit ? memory : unit + 1u;
    return 0;
}

/* ---- nodes ---- */

static bool room(struct product *p)
{
    enum { NODE_BYTES = COMPONENT_BYTES + 4 + 8 }; /* that judging takes, with a path */
    const struct search *search = p->graph->search;
    size_t bytes = search->arena->used + pool_growth(&p->nodes) + pool_growth(&p->targets) +
                   (size_t)p->nodes.count * NODE_BYTES + 65536;
    p->full |= bytes > search->byte_limit || p->nodes.count >= 1u << 28;
    return !p->full;
}

/* The number of the node; a new one has the parent. SEARCH_NONE: no room. */
static uint32_t intern(struct product *p, uint32_t state, uint64_t memory, uint32_t parent)
{
    for (uint32_t n = p->first_node[state]; n; n = node_at(p, n - 1)->next)
        if (node_at(p, n - 1)->memory == memory)
            return n - 1;
    if (!room(p))
        return SEARCH_NONE;
    *(struct node *)pool_add(&p->nodes, p->graph->search->arena) = (struct node){
        .memory = memory, .state = state, .parent = parent, .next = p->first_node[state]};
    p->first_node[state] = p->nodes.count;
    return p->nodes.count - 1;
}

static bool expand(struct product *p, uint32_t number)
{
    uint32_t state = node_at(p, number)->state;
    uint64_t memory = node_at(p, number)->memory;
    uint32_t first = graph_edges(p->graph, state), end = graph_edges_end(p->graph, state);
    node_at(p, number)->first_edge = p->targets.count;
    for (uint32_t e = first; e < end; e++)
        __builtin_prefetch(&p->first_node[graph_edge_target(p->graph, e)]);
    for (uint32_t e = first; e < end; e++) {
        const struct graph_edge edge = graph_edge(p->graph, e);
        uint64_t next = remember(p, memory, p->progress->unit_of[edge.actor], edge.target);
        uint32_t target = intern(p, edge.target, next, number);
        if (target == SEARCH_NONE)
            return false;
        *(uint32_t *)pool_add(&p->targets, p->graph->search->arena) = target;
    }
    return true;
}

static bool build(struct product *p)
{
    uint32_t states = p->graph->states.count;
    struct search *search = p->graph->search;
    p->node_count = states;
    p->nodes.record = sizeof(struct node);
    p->targets.record = sizeof(uint32_t);
    if (search->arena->used + (size_t)states * (COMPONENT_BYTES + 16) + 65536 > search->byte_limit)
        return false;
    if (is_graph(p))
        return true;
    p->first_node = ARENA_ARRAY(search->arena, uint32_t, states);
    if (intern(p, 0, 0, 0) == SEARCH_NONE)
        return false;
    for (uint32_t i = 0; i < p->nodes.count; i++)
        if (!expand(p, i))
            return false;
    p->node_count = p->nodes.count;
    return true;
}

/* ---- components ---- */

/* Whether the component has an infinite execution of the model. */
static bool is_execution(const struct product *p, const struct component *c,
                         enum progress_model model)
{
    /* Never empty but of UNFAIR: who steps in a component has begun, and does not finish. */
    unit_set F = fair_set(p, c->first, model);
    return (F & ~(c->stepped | c->blocked)) == 0;
}

static void judge(void *context, uint32_t root, uint32_t from)
{
    struct product *p = context;
    struct component c = {.first = root};
    for (uint32_t i = from; i < p->c.stack_count; i++) {
        uint32_t node = p->c.stack[i], count = edge_count_of(p, node);
        uint32_t first = first_edge_of(p, node);
        c.first = node < c.first ? node : c.first;
        c.blocked |= ~units_at(p, node)->enabled;
        for (uint32_t e = 0; e < count; e++) {
            if (!components_same(&p->c, target_at(p, first + e), root))
                continue;
            c.cyclic = true;
            c.stepped |= (unit_set)1 << unit_of_edge(p, node, e);
        }
    }
    for (int m = 0; c.cyclic && m < PROGRESS_MODEL_COUNT; m++) {
        if (!(p->models >> m & 1) || p->hangs->first[m] <= c.first ||
            !is_execution(p, &c, (enum progress_model)m))
            continue;
        p->hangs->first[m] = c.first;
        p->hangs->components[m] = c;
    }
}

static uint32_t first_of(const void *context, uint32_t node)
{
    return first_edge_of(context, node);
}

static uint32_t end_of(const void *context, uint32_t node)
{
    return first_edge_of(context, node) + edge_count_of(context, node);
}

static uint32_t target_of(const void *context, uint32_t edge)
{
    return target_at(context, edge);
}

/* ---- strong fairness ---- */

/* Whether from every node the end, or a step with F = {}, is reached by steps of units of F: backwards from
 * those nodes, over edges of units of F, until nothing is added. */
static bool passes_strongly(struct product *p, enum progress_model model)
{
    struct arena *arena = p->graph->search->arena;
    size_t mark = arena_mark(arena);
    uint32_t count = p->node_count, good = 0, before;
    uint8_t *is_good = ARENA_ARRAY(arena, uint8_t, count);
    do {
        before = good;
        /* Targets mostly come behind their nodes: backwards few rounds are needed. */
        for (uint32_t i = count; i-- > 0;) {
            if (is_good[i])
                continue;
            unit_set F = fair_set(p, i, model);
            uint32_t edges = edge_count_of(p, i), first = first_edge_of(p, i);
            bool found = units_at(p, i)->ended || (F == 0 && edges > 0);
            for (uint32_t e = 0; e < edges && !found; e++)
                found = is_good[target_at(p, first + e)] && (F >> unit_of_edge(p, i, e) & 1);
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
    const struct graph_edge e = edge_of(p, node, edge);
    graph_record(p->graph, state_of(p, node), e.actor, e.target);
}

static uint32_t parent_of(const struct product *p, uint32_t node)
{
    return is_graph(p) ? graph_state(p->graph, node)->parent : node_at(p, node)->parent;
}

static const struct tape *path_to(struct product *p, uint32_t number)
{
    uint32_t length = 0;
    uint32_t *path = p->c.edges; /* the components are known */
    for (uint32_t n = number; n != 0; n = parent_of(p, n))
        path[length++] = n;
    while (length > 0) {
        uint32_t node = path[--length], parent = parent_of(p, node), edge = 0;
        while (target_at(p, first_edge_of(p, parent) + edge) != node)
            edge++;
        record_edge(p, parent, edge);
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
    uint32_t *reached, *from, *over, *queue; /* of a search */
};

static unit_set settles(const struct loop *l, uint32_t target, uint32_t unit)
{
    const struct state_units *units = units_at(l->p, target);
    return (~units->enabled | (unit_set)1 << unit) & l->missing;
}

static void take_path(struct loop *l, uint32_t last_node, uint32_t last_edge)
{
    struct product *p = l->p;
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
        uint32_t unit = unit_of_edge(p, nodes[length], edges[length]);
        uint32_t target = target_at(p, first_edge_of(p, nodes[length]) + edges[length]);
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
        uint32_t edges = edge_count_of(p, number), first = first_edge_of(p, number);
        for (uint32_t e = 0; e < edges; e++) {
            uint32_t target = target_at(p, first + e);
            if (!components_same(&p->c, target, l->start))
                continue;
            if (l->missing ? settles(l, target, unit_of_edge(p, number, e)) != 0
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
    struct loop l = {.p = p,
                     .start = c->first,
                     .at = c->first,
                     .reached = p->spare,
                     .from = p->spare + p->node_count,
                     .over = p->c.calls,
                     .queue = p->c.stack};
    answer->fair = fair_set(p, c->first, model);
    answer->unfinished = units_at(p, c->first)->unfinished;
    answer->stem = path_to(p, c->first);
    memset(l.reached, 0, p->node_count * sizeof *l.reached);
    l.missing = answer->fair & units_at(p, c->first)->enabled;
    do
        extend(&l);
    while (l.missing || l.at != l.start);
    answer->stepped = l.stepped;
    answer->loop = graph_tape(p->graph);
}

/* ---- models ---- */

static bool same_class(const struct state_units *a, const struct state_units *b)
{
    return a->unfinished == b->unfinished && a->enabled == b->enabled && a->ended == b->ended;
}

static struct state_units look_at(const struct machine *machine, const uint32_t *unit_of)
{
    struct state_units units = {.ended = machine_status(machine) != STATUS_RUNNING};
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        units.enabled |= (unit_set)1 << unit_of[machine->head->live[i]];
    units.unfinished = units.enabled;
    for (uint32_t i = 0; i < machine->actor_count && !units.ended; i++)
        if (!(units.enabled >> unit_of[i] & 1) &&
            machine->semantics->next_stm(machine, i) != CODE_NONE)
            units.unfinished |= (unit_set)1 << unit_of[i];
    return units;
}

/* Few are different. False: no room. */
static bool look_at_states(struct graph *graph, const struct progress *progress,
                           struct state_classes *classes)
{
    enum { PLACES = 1024 }; /* of the last class seen with such a hash */
    struct search *search = graph->search;
    uint32_t *places = ARENA_ARRAY(search->arena, uint32_t, PLACES);
    for (uint32_t s = 0; s < graph->states.count; s++) {
        graph_load(graph, s);
        struct state_units units = look_at(search->machine, progress->unit_of);
        uint64_t hash = pcg_splitmix(units.enabled ^ pcg_splitmix(units.unfinished + units.ended));
        uint32_t *place = &places[hash % PLACES];
        classes->some_end |= units.ended;
        if (*place == 0 || !same_class(pool_at(&classes->units, *place - 1), &units)) {
            if (search->arena->used + pool_growth(&classes->units) > search->byte_limit)
                return false;
            *(struct state_units *)pool_add(&classes->units, search->arena) = units;
            *place = classes->units.count;
        }
        classes->of_state[s] = *place - 1;
    }
    return true;
}

static void answer_models(struct product *p, struct progress_answer *answers)
{
    struct arena *arena = p->graph->search->arena;
    struct hangs hangs;
    bool quick = p->progress->quick_states > 0;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        hangs.first[m] = SEARCH_NONE;
    if (!build(p))
        return;
    p->hangs = &hangs;
    components_start(&p->c, arena, p->node_count);
    components_visit(&p->c, 0, p, first_of, end_of, target_of, judge); /* all are reached from it */
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        struct progress_answer *answer = &answers[m];
        if (!(p->models >> m & 1))
            continue;
        answer->states = p->node_count;
        answer->verdict = PROGRESS_ENDS;
        if (hangs.first[m] != SEARCH_NONE)
            answer->verdict = p->classes->some_end ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
        if (quick)
            continue;
        answer->strong = m != PROGRESS_UNFAIR && passes_strongly(p, (enum progress_model)m);
        if (answer->verdict == PROGRESS_ENDS)
            continue;
        if (!p->spare)
            p->spare = ARENA_ARRAY(arena, uint32_t, (size_t)2 * p->node_count);
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
    struct state_classes classes = {.units = {.record = sizeof(struct state_units)}};
    memset(progress->answers, 0, sizeof progress->answers);
    if (!search->result->complete || progress->unit_count > PROGRESS_UNITS_MAX ||
        search->arena->used + graph->states.count * sizeof(uint32_t) + 65536 > search->byte_limit)
        return;
    if (progress->quick_states > 0 && search->result->liveness == LIVENESS_ALL_TERMINATE) {
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
            progress->answers[m].verdict = PROGRESS_ENDS;
        return;
    }
    if (progress->quick_states > 0 && graph->states.count > progress->quick_states)
        return;
    classes.of_state = ARENA_ARRAY(search->arena, uint32_t, graph->states.count);
    if (!look_at_states(graph, progress, &classes))
        return;
    for (uint32_t i = 0; i < sizeof products / sizeof *products; i++) {
        size_t mark = arena_mark(search->arena);
        struct product p = {.graph = graph,
                            .progress = progress,
                            .classes = &classes,
                            .remembers = products[i].remembers,
                            .models = products[i].models};
        answer_models(&p, progress->answers);
        search_note_bytes(search);
        if (progress->quick_states > 0) /* no witnesses lie there */
            arena_release(search->arena, mark);
    }
    if (progress->ask_random)
        graph_random(graph, progress);
}
