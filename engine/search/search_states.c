/*
 * search_states.c - SEARCH_STATES: breadth-first over states, each expanded once.
 *
 * Steps are taken back through the undo log; the log also says which words a step changed, so that a
 * state is kept as the values of those words only.
 */
#include "engine/search/search_states.h"

#include "engine/base/invariant.h"
#include "engine/base/stop.h"
#include "engine/program/ptx_code.h"
#include "engine/search/search_symmetry.h"

#include <string.h>

/* ---- races: conflicts among the next steps of one state ---- */

struct next_access {
    uint32_t state;                  /* + 1; of an earlier one = no access */
    uint32_t reader, writer, atomic; /* actor, or NOBODY, or SEVERAL */
};

enum { NOBODY = INT32_MAX, SEVERAL = INT32_MAX - 1 };

struct race_watch {
    struct next_access *words;
    uint32_t state, actor;
    bool found;
};

static struct next_access *watch_word(struct race_watch *watch, uint32_t address)
{
    struct next_access *word = &watch->words[address];
    if (word->state != watch->state + 1)
        *word = (struct next_access){watch->state + 1, NOBODY, NOBODY, NOBODY};
    return word;
}

static bool is_other(uint32_t who, uint32_t actor)
{
    return who != NOBODY && who != actor;
}

static void watch_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread;
    (void)stm;
    struct race_watch *watch = context;
    struct next_access *word = watch_word(watch, address);
    watch->found |= is_other(word->writer, watch->actor) || is_other(word->atomic, watch->actor);
    word->reader = is_other(word->reader, watch->actor) ? SEVERAL : watch->actor;
}

static void watch_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                        uint32_t stm)
{
    (void)thread;
    (void)value;
    (void)stm;
    struct race_watch *watch = context;
    struct next_access *word = watch_word(watch, address);
    watch->found |= is_other(word->writer, watch->actor) || is_other(word->reader, watch->actor) ||
                    is_other(word->atomic, watch->actor);
    word->writer = is_other(word->writer, watch->actor) ? SEVERAL : watch->actor;
}

static void watch_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                         uint32_t stm)
{
    (void)thread;
    (void)value;
    (void)stm;
    struct race_watch *watch = context;
    struct next_access *word = watch_word(watch, address);
    watch->found |= is_other(word->writer, watch->actor) || is_other(word->reader, watch->actor);
    word->atomic = is_other(word->atomic, watch->actor) ? SEVERAL : watch->actor;
}

/* ---- witnesses ---- */

void graph_entry(struct graph *graph, uint32_t entry)
{
    *(uint32_t *)pool_add(&graph->witness, graph->search->arena) = entry;
}

void graph_record(struct graph *graph, uint32_t from, uint32_t actor, uint32_t target)
{
    struct search *search = graph->search;
    struct script *script = &search->script;
    uint32_t more_steps;
    graph_load(graph, from);
    script_start(script);
    for (;;) {
        more_steps = search_step(search, actor);
        bool found = store_is(graph, target);
        store_undo(search->machine);
        if (found)
            break;
        /* The edge was found that way: else the machine contradicts itself, and so will the tape. */
        if (!script_next(script))
            break;
    }
    graph_entry(graph, actor);
    for (uint32_t i = 0; i < script->count; i++)
        graph_entry(graph, TAPE_INNER | script->list[i].value);
    for (uint32_t i = 0; i < more_steps; i++)
        graph_entry(graph, actor);
}

struct tape *graph_tape(struct graph *graph)
{
    struct tape *tape = tape_new(graph->search->arena, graph->witness.count);
    for (uint32_t i = 0; i < graph->witness.count; i++)
        tape_add(tape, *(uint32_t *)pool_at(&graph->witness, i));
    graph->witness.count = 0;
    return tape;
}

/* Whose step leads from the state's parent to it: of the first of its edges that does. */
static uint32_t found_by(const struct graph *graph, uint32_t number)
{
    uint32_t parent = graph_state(graph, number)->parent;
    uint32_t edge = graph_state(graph, parent)->first_edge;
    while (*(const uint32_t *)pool_at(&graph->edges, edge) != number)
        edge++;
    INVARIANT(edge < graph->edges_found);
    return graph_edge(graph, edge).actor;
}

struct tape *graph_path(struct graph *graph, uint32_t number)
{
    uint32_t depth = 0;
    for (uint32_t s = number; s != 0; s = graph_state(graph, s)->parent)
        depth++;
    uint32_t *path = ARENA_ARRAY(graph->search->arena, uint32_t, depth + 1);
    for (uint32_t s = number, i = depth; i > 0; s = graph_state(graph, s)->parent)
        path[i--] = s;
    for (uint32_t i = 1; i <= depth; i++)
        graph_record(graph, path[i - 1], found_by(graph, path[i]), path[i]);
    return graph_tape(graph);
}

/* ---- exploring ---- */

/* An outcome that was found here, and the state. */
struct end {
    uint32_t outcome, state;
};

struct exploration {
    struct graph graph;
    struct race_watch watch;
    struct pool ends;          /* struct end */
    uint64_t hash;             /* of the state that is being expanded */
    uint32_t depth, level_end; /* its depth; the first state that may be deeper */
};

static void note_outcome(struct exploration *x, uint32_t number)
{
    bool is_new;
    uint32_t outcome = search_outcome(x->graph.search, &is_new);
    if (is_new)
        *(struct end *)pool_add(&x->ends, x->graph.search->arena) = (struct end){outcome, number};
}

/* Gives the pending targets their numbers, and the state its edges. False: a bound. */
static bool settle(struct exploration *x, uint32_t number)
{
    struct graph *graph = &x->graph;
    struct search *search = graph->search;
    uint32_t count = graph->pending.count;
    graph->pending.count = 0;
    for (uint32_t i = 0; i < count; i++)
        store_prefetch(graph, i);
    for (uint32_t i = 0; i < count; i++) {
        search->result->steps++;
        if (store_edge(graph, i, number) == SEARCH_NONE)
            return false;
        graph->edges_found = graph->edges.count;
    }
    return true;
}

/* Every step of one actor, by the choices inside it. False: a bound. */
static bool expand_actor(struct exploration *x, uint32_t number, uint32_t actor)
{
    struct graph *graph = &x->graph;
    struct search *search = graph->search;
    struct machine *machine = search->machine;
    script_start(&search->script);
    do {
        if (search->result->steps + graph->pending.count == search->step_limit) {
            if (settle(x, number))
                search_cut(search, "steps");
            return false;
        }
        const char *stopped = stop_reason(search->options->stop);
        if (stopped) {
            search_cut(search, stopped);
            return false;
        }
        search_step(search, actor);
        if (graph->symmetry)
            graph->pending.places[graph->pending.count] = search_canonical(search, actor);
        if (!store_push(graph, number, x->hash, actor))
            return false;
        if (machine_status(machine) != STATUS_RUNNING) {
            if (!settle(x, number))
                return false;
            uint32_t target = graph_edge(graph, graph->edges.count - 1).target;
            if (target + 1 == graph->states.count)
                note_outcome(x, target);
        } else if (graph->pending.count == PENDING_MAX && !settle(x, number)) {
            return false;
        }
        store_undo(machine);
    } while (script_next(&search->script));
    return true;
}

static bool expand(struct exploration *x, uint32_t number)
{
    struct graph *graph = &x->graph;
    struct machine *machine = graph->search->machine;
    const struct machine_head *head = machine->head;
    if (number == x->level_end) {
        x->level_end = graph->states.count;
        x->depth++;
    }
    graph_state(graph, number)->first_edge = graph->edges.count;
    graph_load(graph, number);
    if (head->status != STATUS_RUNNING) {
        graph->search->result->ends++;
        return true;
    }
    if (x->depth == graph->search->options->max_depth) {
        search_cut(graph->search, "depth");
        graph->search->result->cut_depth = x->depth;
        return false;
    }
    x->hash = store_hash(graph, number);
    x->watch.state = number;
    for (uint32_t i = 0; i < head->live_count; i++) {
        x->watch.actor = head->live[i];
        if (x->graph.symmetry && !search_is_first(x->graph.search, head->live[i]))
            continue;
        if (!expand_actor(x, number, head->live[i]))
            return false;
    }
    if (!settle(x, number))
        return false;
    if (x->watch.found && machine->options.observers)
        machine_observe(machine, NULL); /* one race is enough, and unwatched steps are cheaper */
    return true;
}

static void start(struct exploration *x, struct search *search)
{
    *x = (struct exploration){
        .watch = {.words = ARENA_ARRAY(search->arena, struct next_access,
                                       search_locations(search->machine->program))},
        .ends = {.record = sizeof(struct end)},
        .level_end = 1,
    };
    store_start(&x->graph, search);
    x->graph.symmetry = search->options->symmetry;
}

/* What is needed before the first state; kernels of the largest memories are not for searching. */
static bool room_to_start(struct search *search)
{
    const struct machine *machine = search->machine;
    size_t bytes = (size_t)machine->block_words * 2 * sizeof(uint32_t) +
                   (size_t)search_locations(machine->program) * sizeof(struct next_access) + 65536;
    if (search->arena->used + bytes > search->byte_limit)
        search_cut(search, "bytes");
    return search->result->complete;
}

static void explore(struct exploration *x)
{
    struct graph *graph = &x->graph;
    if (machine_status(graph->search->machine) != STATUS_RUNNING)
        note_outcome(x, 0);
    while (graph->expanded < graph->states.count && expand(x, graph->expanded))
        graph->expanded++;
    if (graph->expanded < graph->states.count) { /* the last expansion was cut off */
        graph->edges.count = graph_state(graph, graph->expanded)->first_edge;
        store_undo(graph->search->machine);
    }
}

/* Whether the counter of a thread's choices was ever another one than at the start. */
static bool has_own_choices(const struct graph *graph)
{
    const struct machine *machine = graph->search->machine;
    for (uint32_t t = 0; t < machine->program->total_threads; t++)
        if (graph->word_parts[&machine->threads[t].choices - machine->block] != 0)
            return true;
    return false;
}

/* Their generations order accesses of some threads only: intervals of a block say nothing then. */
static bool has_named_barriers(const struct search *search)
{
    const struct program *program = search->machine->program;
    return program->form == FORM_PTX && program->ptx->has_named_barriers;
}

void search_states(struct search *search)
{
    struct exploration x;
    struct search_result *result = search->result;
    if (!room_to_start(search))
        return;
    INVARIANT(!search->options->merge_local ||
              (search->options->no_races && search->options->no_lasso));
    start(&x, search);
    const struct observer observer = {
        .context = &x.watch, .read = watch_read, .write = watch_write, .atomic = watch_atomic};
    bool watched = !result->race && !search->options->no_races;
    machine_observe(search->machine, watched ? &observer : NULL);
    explore(&x);
    machine_observe(search->machine, NULL);
    result->race |= x.watch.found;
    result->own_choices = has_own_choices(&x.graph);
    if (search->machine->program->has_atomics && !result->race && !has_named_barriers(search) &&
        !search->options->no_races)
        graph_races(&x.graph);
    result->states += x.graph.states.count;
    result->transitions += x.graph.edges.count;
    for (uint32_t i = 0; i < x.ends.count && !x.graph.symmetry; i++) {
        const struct end *end = pool_at(&x.ends, i);
        result->outcomes[end->outcome].tape = graph_path(&x.graph, end->state);
    }
    search_note_bytes(search);
    if (!search->options->no_lasso)
        graph_liveness(&x.graph);
    if (search->options->progress)
        search->options->judge(&x.graph);
}
