/*
 * search_states.c - SEARCH_STATES: breadth-first over states, each expanded once.
 *
 * Steps are taken back through the undo log; the log also says which words a step changed, so that a
 * state is kept as the values of those words only.
 */
#include "engine/search_states.h"

#include "engine/invariant.h"
#include "engine/ptx/ptx_code.h"

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

/* ---- states ---- */

static uint32_t block_word(const struct machine *machine, uint32_t word)
{
    uint32_t value;
    memcpy(&value, (const char *)machine->block + (size_t)4 * word, sizeof value);
    return value;
}

static uint32_t slot_value(const struct graph *graph, const struct graph_state *state,
                           uint32_t slot)
{
    return slot < state->value_count ? state->values[slot]
                                     : graph->search->machine->initial[graph->slot_words[slot]];
}

void graph_load(const struct graph *graph, uint32_t number)
{
    struct machine *machine = graph->search->machine;
    const struct graph_state *state = graph_state(graph, number);
    for (uint32_t i = 0; i < graph->slot_count; i++) {
        uint32_t value = slot_value(graph, state, i);
        memcpy((char *)machine->block + (size_t)4 * graph->slot_words[i], &value, sizeof value);
    }
    machine->track.hash = state->hash;
    machine->track.log_count = 0;
}

static bool in_state(const struct graph *graph, uint32_t number)
{
    const struct machine *machine = graph->search->machine;
    const struct graph_state *state = graph_state(graph, number);
    if (state->hash != machine->track.hash)
        return false;
    for (uint32_t i = 0; i < graph->slot_count; i++)
        if (block_word(machine, graph->slot_words[i]) != slot_value(graph, state, i))
            return false;
    return true;
}

/* Slots for the words that the last step changed. */
static void add_slots(struct graph *graph)
{
    const struct track *track = &graph->search->machine->track;
    for (uint32_t i = 0; i < track->log_count; i++) {
        uint32_t word = track->log[i].word;
        if (graph->word_slots[word] == 0) {
            graph->slot_words[graph->slot_count] = word;
            graph->word_slots[word] = ++graph->slot_count;
        }
    }
}

static void table_insert(struct graph *graph, uint32_t number)
{
    uint32_t at = (uint32_t)graph_state(graph, number)->hash & graph->table_mask;
    while (graph->table[at])
        at = (at + 1) & graph->table_mask;
    graph->table[at] = number + 1;
}

static void table_grow(struct graph *graph)
{
    graph->table_mask = graph->table_mask * 2 + 1;
    graph->table = ARENA_ARRAY(graph->search->arena, uint32_t, (size_t)graph->table_mask + 1);
    for (uint32_t i = 0; i < graph->states.count; i++)
        table_insert(graph, i);
}

static bool table_full(const struct graph *graph)
{
    return graph->states.count * 2 > graph->table_mask;
}

/* Whether one more state, with what judging the graph will take, stays within the bounds. */
static bool room_for_state(struct graph *graph)
{
    const struct search *search = graph->search;
    size_t bytes = search->arena->used + 64 + (size_t)4 * graph->slot_count +
                   pool_growth(&graph->states) + pool_growth(&graph->edges) +
                   (table_full(graph) ? 8 * ((size_t)graph->table_mask + 1) : 0) +
                   (size_t)graph->states.count * GRAPH_LIVENESS_BYTES;
    if (graph->states.count >= search->options->max_states)
        search_cut(graph->search, "states");
    else if (bytes > search->byte_limit || graph->states.count >= (1u << 28))
        search_cut(graph->search, "bytes");
    return search->result->complete;
}

/* Choices inside a step may be so many that edges to states that were there already fill the memory. */
static bool room_for_edge(struct graph *graph)
{
    const struct search *search = graph->search;
    size_t growth = pool_growth(&graph->edges);
    if (growth > 0 &&
        search->arena->used + growth + (size_t)graph->states.count * GRAPH_LIVENESS_BYTES >
            search->byte_limit)
        search_cut(graph->search, "bytes");
    return search->result->complete;
}

static bool is_interrupted(const struct search *search)
{
    return search->options->stop && *search->options->stop;
}

static void add_state(struct graph *graph, uint32_t parent, uint32_t actor)
{
    const struct machine *machine = graph->search->machine;
    struct arena *arena = graph->search->arena;
    uint32_t *values = ARENA_ARRAY(arena, uint32_t, graph->slot_count);
    for (uint32_t i = 0; i < graph->slot_count; i++)
        values[i] = block_word(machine, graph->slot_words[i]);
    uint32_t number = graph->states.count;
    struct graph_state *state = pool_add(&graph->states, arena);
    *state = (struct graph_state){
        .values = values,
        .hash = machine->track.hash,
        .value_count = graph->slot_count,
        .parent = parent,
        .actor = actor,
        .depth = number == 0 ? 0 : graph_state(graph, parent)->depth + 1,
        .first_edge = UINT32_MAX,
    };
    if (table_full(graph))
        table_grow(graph);
    else
        table_insert(graph, number);
}

/* The number of the state that the machine is in after a step; SEARCH_NONE: a bound. */
static uint32_t intern(struct graph *graph, uint32_t parent, uint32_t actor)
{
    const struct machine *machine = graph->search->machine;
    uint32_t at = (uint32_t)machine->track.hash & graph->table_mask;
    add_slots(graph);
    for (; graph->table[at]; at = (at + 1) & graph->table_mask)
        if (in_state(graph, graph->table[at] - 1))
            return graph->table[at] - 1;
    if (!room_for_state(graph))
        return SEARCH_NONE;
    add_state(graph, parent, actor);
    return graph->states.count - 1;
}

/* ---- witnesses ---- */

static void witness_add(struct graph *graph, uint32_t entry)
{
    *(uint32_t *)pool_add(&graph->witness, graph->search->arena) = entry;
}

void graph_record(struct graph *graph, uint32_t from, uint32_t actor, uint32_t target)
{
    struct search *search = graph->search;
    struct script *script = &search->script;
    graph_load(graph, from);
    script_start(script);
    for (;;) {
        machine_step(search->machine, actor, &script->choices);
        if (in_state(graph, target))
            break;
        machine_undo(search->machine, 0);
        bool more = script_next(script);
        INVARIANT(more); /* the edge was found that way */
    }
    witness_add(graph, actor);
    for (uint32_t i = 0; i < script->count; i++)
        witness_add(graph, TAPE_INNER | script->list[i].value);
}

struct tape *graph_tape(struct graph *graph)
{
    struct tape *tape = tape_new(graph->search->arena, graph->witness.count);
    for (uint32_t i = 0; i < graph->witness.count; i++)
        tape_add(tape, *(uint32_t *)pool_at(&graph->witness, i));
    graph->witness.count = 0;
    return tape;
}

struct tape *graph_path(struct graph *graph, uint32_t number)
{
    uint32_t depth = graph_state(graph, number)->depth;
    uint32_t *path = ARENA_ARRAY(graph->search->arena, uint32_t, depth + 1);
    for (uint32_t s = number, i = depth; i > 0; s = graph_state(graph, s)->parent)
        path[i--] = s;
    for (uint32_t i = 1; i <= depth; i++)
        graph_record(graph, path[i - 1], graph_state(graph, path[i])->actor, path[i]);
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
    struct pool ends; /* struct end */
};

static void note_outcome(struct exploration *x, uint32_t number)
{
    bool is_new;
    uint32_t outcome = search_outcome(x->graph.search, &is_new);
    if (is_new)
        *(struct end *)pool_add(&x->ends, x->graph.search->arena) = (struct end){outcome, number};
}

/* Every step of one actor, by the choices inside it. False: a bound. */
static bool expand_actor(struct exploration *x, uint32_t number, uint32_t actor)
{
    struct graph *graph = &x->graph;
    struct search *search = graph->search;
    struct machine *machine = search->machine;
    script_start(&search->script);
    do {
        if (search->result->steps >= search->step_limit) {
            search_cut(search, "steps");
            return false;
        }
        if (is_interrupted(search)) {
            search_cut(search, "interrupted");
            return false;
        }
        search->result->steps++;
        uint32_t before = graph->states.count;
        machine_step(machine, actor, &search->script.choices);
        uint32_t target = intern(graph, number, actor);
        if (target == SEARCH_NONE || !room_for_edge(graph))
            return false;
        *(struct graph_edge *)pool_add(&graph->edges, search->arena) =
            (struct graph_edge){actor, target};
        if (target == before && machine_status(machine) != STATUS_RUNNING)
            note_outcome(x, target);
        machine_undo(machine, 0);
    } while (script_next(&search->script));
    return true;
}

static bool expand(struct exploration *x, uint32_t number)
{
    struct graph *graph = &x->graph;
    struct machine *machine = graph->search->machine;
    const struct machine_head *head = machine->head;
    graph_state(graph, number)->first_edge = graph->edges.count;
    graph_load(graph, number);
    if (head->status != STATUS_RUNNING)
        return true;
    if (graph_state(graph, number)->depth == graph->search->options->max_depth) {
        search_cut(graph->search, "depth");
        return false;
    }
    x->watch.state = number;
    for (uint32_t i = 0; i < head->live_count; i++) {
        x->watch.actor = head->live[i];
        if (!expand_actor(x, number, head->live[i]))
            return false;
    }
    if (x->watch.found && machine->options.observers)
        machine_observe(machine, NULL); /* one race is enough, and unwatched steps are cheaper */
    return true;
}

static void start(struct exploration *x, struct search *search)
{
    enum { TABLE_FIRST = 256 };
    struct machine *machine = search->machine;
    struct arena *arena = search->arena;
    *x = (struct exploration){
        .graph = {.search = search,
                  .states = {.record = sizeof(struct graph_state)},
                  .edges = {.record = sizeof(struct graph_edge)},
                  .witness = {.record = sizeof(uint32_t)},
                  .table = ARENA_ARRAY(arena, uint32_t, TABLE_FIRST),
                  .table_mask = TABLE_FIRST - 1,
                  .slot_words = ARENA_ARRAY(arena, uint32_t, machine->block_words),
                  .word_slots = ARENA_ARRAY(arena, uint32_t, machine->block_words)},
        .watch = {.words =
                      ARENA_ARRAY(arena, struct next_access, search_locations(machine->program))},
        .ends = {.record = sizeof(struct end)},
    };
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
    add_state(graph, 0, 0);
    if (machine_status(graph->search->machine) != STATUS_RUNNING)
        note_outcome(x, 0);
    while (graph->expanded < graph->states.count && expand(x, graph->expanded))
        graph->expanded++;
    if (graph->expanded < graph->states.count) /* the last expansion was cut off */
        graph->edges.count = graph_state(graph, graph->expanded)->first_edge;
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
    start(&x, search);
    const struct observer observer = {
        .context = &x.watch, .read = watch_read, .write = watch_write, .atomic = watch_atomic};
    machine_observe(search->machine, result->race ? NULL : &observer);
    explore(&x);
    machine_observe(search->machine, NULL);
    result->race |= x.watch.found;
    if (search->machine->program->has_atomics && !result->race && !has_named_barriers(search))
        graph_races(&x.graph);
    result->states += x.graph.states.count;
    result->transitions += x.graph.edges.count;
    for (uint32_t i = 0; i < x.ends.count; i++) {
        const struct end *end = pool_at(&x.ends, i);
        result->outcomes[end->outcome].tape = graph_path(&x.graph, end->state);
    }
    graph_liveness(&x.graph);
    if (search->options->progress)
        graph_progress(&x.graph);
}
