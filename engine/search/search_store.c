/*
 * search_store.c - where the states of a graph are kept, and found again: exactly, by comparing tuples.
 */
#include "engine/search/search_states.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/machine/symmetry.h"

#include <string.h>

/* ---- words and parts ---- */

static uint32_t block_word(const struct machine *machine, uint32_t word)
{
    uint32_t value;
    memcpy(&value, (const char *)machine->block + (size_t)4 * word, sizeof value);
    return value;
}

static void set_block_word(struct machine *machine, uint32_t word, uint32_t value)
{
    memcpy((char *)machine->block + (size_t)4 * word, &value, sizeof value);
}

static struct part *part_at(const struct graph *graph, uint32_t part)
{
    return pool_at(&graph->parts, part);
}

static uint32_t *value_at(const struct part *part, uint32_t number)
{
    return pool_at(&part->values, number);
}

/* Tests leave out bits of hashes, so that different states collide. */
static uint64_t masked(const struct graph *graph, uint64_t hash)
{
    uint64_t mask = graph->search->options->hash_mask;
    return mask ? hash & mask : hash;
}

static uint64_t values_hash(const struct graph *graph, const uint32_t *values, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i += 2) {
        uint64_t pair = values[i] | (uint64_t)(i + 1 < count ? values[i + 1] : 0) << 32;
        hash = (hash ^ pair) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return masked(graph, hash);
}

static void part_insert(const struct graph *graph, struct part *part, uint32_t number)
{
    uint64_t hash = values_hash(graph, value_at(part, number), part->word_count);
    uint32_t at = (uint32_t)hash & part->table_mask;
    while (part->table[at])
        at = (at + 1) & part->table_mask;
    part->table[at] = number + 1;
}

/* With the same table, or one of twice the size. */
static void part_rehash(struct graph *graph, struct part *part, bool grow)
{
    if (grow) {
        part->table_mask = part->table_mask * 2 + 1;
        part->table = ARENA_ARRAY(graph->search->arena, uint32_t, (size_t)part->table_mask + 1);
    } else {
        memset(part->table, 0, ((size_t)part->table_mask + 1) * sizeof *part->table);
    }
    for (uint32_t i = 0; i < part->values.count; i++)
        part_insert(graph, part, i);
}

enum { OWNER_CONTROL, OWNER_MEMORY, OWNER_ACTORS };

/* Whose word it is: of the head and the groups, of global and shared memory; others belong to the first
 * actor that changes them. */
static uint32_t owner_of(const struct graph *graph, uint32_t word, uint32_t actor)
{
    const struct machine *machine = graph->search->machine;
    uint32_t memory = (uint32_t)((const uint32_t *)machine->memory - machine->block);
    uint32_t groups = (uint32_t)((const uint32_t *)machine->groups - machine->block);
    uint32_t group_words =
        machine->program->launch.blocks * (uint32_t)(sizeof(struct machine_group) / 4);
    if (word < memory || (word >= groups && word < groups + group_words))
        return OWNER_CONTROL;
    if (word >= memory && word < memory + machine->program->private_base)
        return OWNER_MEMORY;
    if (!graph->symmetry)
        return OWNER_ACTORS + actor;
    uint32_t owner = graph->symmetry->owner[word];
    return owner ? OWNER_ACTORS + owner - 1 : OWNER_CONTROL;
}

static struct part *new_part(struct graph *graph, uint32_t words_max)
{
    enum { TABLE_FIRST = 32 };
    struct arena *arena = graph->search->arena;
    struct part *part = pool_add(&graph->parts, arena);
    *part = (struct part){.words_max = words_max,
                          .values = {.record = words_max * sizeof(uint32_t)},
                          .table = ARENA_ARRAY(arena, uint32_t, TABLE_FIRST),
                          .table_mask = TABLE_FIRST - 1};
    (void)pool_add(&part->values, arena);
    return part;
}

/* A word changes for the first time: it was the initial one in all states. */
static void add_word(struct graph *graph, uint32_t word, uint32_t actor)
{
    const struct machine *machine = graph->search->machine;
    uint32_t owner = owner_of(graph, word, actor), *open = &graph->open_parts[owner];
    if (*open == 0 ||
        part_at(graph, *open - 1)->word_count == part_at(graph, *open - 1)->words_max) {
        new_part(graph, owner == OWNER_MEMORY ? PART_MEMORY_WORDS : PART_WORDS);
        *open = graph->parts.count;
    }
    struct part *part = part_at(graph, *open - 1);
    graph->word_parts[word] = *open;
    part->words[part->word_count] = word;
    for (uint32_t i = 0; i < part->values.count; i++)
        value_at(part, i)[part->word_count] = machine->initial[word];
    part->word_count++;
    part_rehash(graph, part, false);
}

/* More bytes than are taken between two looks at the bound, unless a pool or a table grows. */
enum { SLACK_BYTES = 1 << 14 };

/* The number of the value that the machine has; SEARCH_NONE: no room for a new one. */
static uint32_t part_number(struct graph *graph, struct part *part)
{
    struct search *search = graph->search;
    uint32_t values[PART_WORDS], count = part->word_count;
    for (uint32_t i = 0; i < count; i++)
        values[i] = block_word(search->machine, part->words[i]);
    uint32_t at = (uint32_t)values_hash(graph, values, count) & part->table_mask;
    for (; part->table[at]; at = (at + 1) & part->table_mask)
        if (memcmp(value_at(part, part->table[at] - 1), values, count * sizeof *values) == 0)
            return part->table[at] - 1;
    bool grow = part->values.count * 2 > part->table_mask;
    if (search->arena->used + pool_growth(&part->values) + SLACK_BYTES +
            (grow ? 8 * ((size_t)part->table_mask + 1) : 0) >
        search->byte_limit) {
        search_cut(search, "bytes");
        return SEARCH_NONE;
    }
    memcpy(pool_add(&part->values, search->arena), values, count * sizeof *values);
    if (grow)
        part_rehash(graph, part, true);
    else
        part->table[at] = part->values.count;
    return part->values.count - 1;
}

/* ---- tuples ---- */

static uint32_t tuple_get(const struct part *part, const uint8_t *tuple)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < part->bytes; i++)
        number |= (uint32_t)tuple[part->places[i]] << 8 * i;
    return number;
}

static void tuple_set(const struct part *part, uint8_t *tuple, uint32_t number)
{
    for (uint32_t i = 0; i < part->bytes; i++)
        tuple[part->places[i]] = (uint8_t)(number >> 8 * i);
}

/* A tuple's hash is the XOR of these over its parts; of initial values 0, so that new parts change none. */
static uint64_t number_hash(uint32_t part, uint32_t number)
{
    return number ? pcg_splitmix((uint64_t)part << 32 | number) : 0;
}

uint64_t store_hash(const struct graph *graph, uint32_t number)
{
    const uint8_t *tuple = graph_state(graph, number)->tuple;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < graph->parts.count; i++)
        hash ^= number_hash(i, tuple_get(part_at(graph, i), tuple));
    return hash;
}

static uint8_t *pending_tuple(const struct graph *graph, uint32_t pending)
{
    return graph->pending.tuples + (size_t)pending * graph->tuple_room;
}

/* All tuples get longer; what is added is 0. False: no room. */
static bool widen_tuples(struct graph *graph)
{
    struct search *search = graph->search;
    uint32_t before = graph->tuple_room, room = before + 4 + before / 16 * 4;
    const struct pool old = graph->states;
    const uint8_t *old_pending = graph->pending.tuples;
    struct pool states = {.record = sizeof(struct graph_state) + room};
    size_t bytes = (size_t)2 * (old.count + POOL_FIRST) * states.record;
    if (search->arena->used + bytes + SLACK_BYTES + (size_t)PENDING_MAX * room >
        search->byte_limit) {
        search_cut(search, "bytes");
        return false;
    }
    for (uint32_t i = 0; i < old.count; i++)
        memcpy(pool_add(&states, search->arena), pool_at(&old, i), old.record);
    graph->states = states;
    graph->tuple_room = room;
    graph->pending.tuples = ARENA_ARRAY(search->arena, uint8_t, (size_t)PENDING_MAX * room);
    for (uint32_t i = 0; i < PENDING_MAX && before > 0; i++)
        memcpy(pending_tuple(graph, i), old_pending + (size_t)i * before, before);
    return true;
}

/* Sees to it that the part's bytes can hold the number. */
static bool fit_number(struct graph *graph, struct part *part, uint32_t number)
{
    while (part->bytes < 4 && number >> 8 * part->bytes) {
        if (graph->tuple_used == graph->tuple_room && !widen_tuples(graph))
            return false;
        part->places[part->bytes++] = graph->tuple_used++;
    }
    return true;
}

/* ---- states ---- */

/* Bits of the hash that the table keeps beside the number. */
static uint32_t fragment(const struct graph *graph, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & ~graph->table_mask;
}

static void table_insert(struct graph *graph, uint32_t number, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & graph->table_mask;
    while (graph->table[at])
        at = (at + 1) & graph->table_mask;
    graph->table[at] = fragment(graph, hash) | (number + 1);
}

static void table_grow(struct graph *graph)
{
    graph->table_mask = graph->table_mask * 2 + 1;
    graph->table = ARENA_ARRAY(graph->search->arena, uint32_t, (size_t)graph->table_mask + 1);
    for (uint32_t i = 0; i < graph->states.count; i++)
        table_insert(graph, i, masked(graph, store_hash(graph, i)));
}

static bool table_full(const struct graph *graph)
{
    return (uint64_t)graph->states.count * 3 > (uint64_t)graph->table_mask * 2;
}

/* Whether one more state and edge, with what judging the graph will take, stays within the bounds. */
static bool room_for_state(struct graph *graph)
{
    const struct search *search = graph->search;
    uint32_t count = graph->states.count;
    size_t bytes = search->arena->used + SLACK_BYTES + pool_growth(&graph->states) +
                   pool_growth(&graph->edges) + pool_growth(&graph->edge_actors) +
                   (graph->symmetry ? pool_growth(&graph->edge_places) : 0) +
                   (table_full(graph) ? 8 * ((size_t)graph->table_mask + 1) : 0) +
                   (size_t)count * GRAPH_LIVENESS_BYTES;
    if (count >= search->options->max_states)
        search_cut(graph->search, "states");
    else if (bytes > search->byte_limit || count >= (1u << 29))
        search_cut(graph->search, "bytes");
    return search->result->complete;
}

/* Choices inside a step may be so many that edges to states that were there already fill the memory. */
static bool has_room_for_edge(struct graph *graph)
{
    const struct search *search = graph->search;
    size_t growth = pool_growth(&graph->edges) + pool_growth(&graph->edge_actors);
    if (growth > 0 &&
        search->arena->used + growth + (size_t)graph->states.count * GRAPH_LIVENESS_BYTES >
            search->byte_limit)
        search_cut(graph->search, "bytes");
    return search->result->complete;
}

bool store_push(struct graph *graph, uint32_t from, uint64_t from_hash, uint32_t actor)
{
    const struct track *track = &graph->search->machine->track;
    struct pending *pending = &graph->pending;
    uint32_t number = pending->count;
    uint64_t hash = from_hash;
    /* Where local steps are taken with it a word may have come back to what it was. */
    for (uint32_t i = 0; i < track->log_count; i++) {
        uint32_t word = track->log[i].word;
        if (graph->word_parts[word] == 0 &&
            block_word(graph->search->machine, word) != graph->search->machine->initial[word])
            add_word(graph, word, actor);
    }
    memcpy(pending_tuple(graph, number), graph_state(graph, from)->tuple, graph->tuple_room);
    graph->step++;
    for (uint32_t i = 0; i < track->log_count; i++) {
        if (graph->word_parts[track->log[i].word] == 0)
            continue;
        uint32_t p = graph->word_parts[track->log[i].word] - 1;
        struct part *part = part_at(graph, p);
        if (part->touched == graph->step)
            continue;
        part->touched = graph->step;
        uint32_t value = part_number(graph, part);
        if (value == SEARCH_NONE || !fit_number(graph, part, value))
            return false;
        tuple_set(part, pending_tuple(graph, number), value);
        hash ^= number_hash(p, part->loaded) ^ number_hash(p, value);
    }
    pending->actors[number] = actor;
    pending->hashes[number] = masked(graph, hash);
    pending->count++;
    __builtin_prefetch(&graph->table[(uint32_t)pending->hashes[number] & graph->table_mask]);
    return true;
}

void store_prefetch(const struct graph *graph, uint32_t pending)
{
    uint64_t hash = graph->pending.hashes[pending];
    uint32_t at = (uint32_t)hash & graph->table_mask, mine = fragment(graph, hash);
    for (; graph->table[at]; at = (at + 1) & graph->table_mask) {
        if ((graph->table[at] & ~graph->table_mask) != mine)
            continue;
        __builtin_prefetch(graph_state(graph, (graph->table[at] & graph->table_mask) - 1));
        return;
    }
}

static uint32_t intern(struct graph *graph, uint32_t pending, uint32_t parent)
{
    const uint8_t *tuple = pending_tuple(graph, pending);
    uint64_t hash = graph->pending.hashes[pending];
    uint32_t at = (uint32_t)hash & graph->table_mask, mine = fragment(graph, hash);
    for (; graph->table[at]; at = (at + 1) & graph->table_mask) {
        uint32_t number = (graph->table[at] & graph->table_mask) - 1;
        if ((graph->table[at] & ~graph->table_mask) == mine &&
            memcmp(graph_state(graph, number)->tuple, tuple, graph->tuple_room) == 0)
            return number;
    }
    if (!room_for_state(graph))
        return SEARCH_NONE;
    uint32_t number = graph->states.count;
    struct graph_state *state = pool_add(&graph->states, graph->search->arena);
    state->parent = parent;
    state->first_edge = UINT32_MAX;
    memcpy(state->tuple, tuple, graph->tuple_room);
    graph->table[at] = mine | (number + 1);
    if (table_full(graph))
        table_grow(graph);
    return number;
}

uint32_t store_edge(struct graph *graph, uint32_t pending, uint32_t from)
{
    struct arena *arena = graph->search->arena;
    uint32_t target = intern(graph, pending, from);
    if (target == SEARCH_NONE || !has_room_for_edge(graph))
        return SEARCH_NONE;
    *(uint32_t *)pool_add(&graph->edges, arena) = target;
    void *actor = pool_add(&graph->edge_actors, arena);
    if (graph->edge_actors.record == 1)
        *(uint8_t *)actor = (uint8_t)graph->pending.actors[pending];
    else
        *(uint32_t *)actor = graph->pending.actors[pending];
    if (graph->symmetry)
        *(uint32_t *)pool_add(&graph->edge_places, arena) = graph->pending.places[pending];
    return target;
}

void store_start(struct graph *graph, struct search *search)
{
    enum { TABLE_FIRST = 256 };
    struct arena *arena = search->arena;
    const struct machine *machine = search->machine;
    *graph = (struct graph){
        .search = search,
        .edges = {.record = sizeof(uint32_t)},
        .edge_places = {.record = sizeof(uint32_t)},
        .edge_actors = {.record = machine->alternatives <= 256 ? 1 : sizeof(uint32_t)},
        .parts = {.record = sizeof(struct part)},
        .word_parts = ARENA_ARRAY(arena, uint32_t, machine->block_words),
        .open_parts = ARENA_ARRAY(arena, uint32_t, OWNER_ACTORS + machine->alternatives),
        .table = ARENA_ARRAY(arena, uint32_t, TABLE_FIRST),
        .table_mask = TABLE_FIRST - 1,
        .tuple_room = 8,
        .witness = {.record = sizeof(uint32_t)},
    };
    graph->pending.tuples = ARENA_ARRAY(arena, uint8_t, (size_t)PENDING_MAX * graph->tuple_room);
    graph->states.record = sizeof(struct graph_state) + graph->tuple_room;
    struct graph_state *first = pool_add(&graph->states, arena);
    first->first_edge = UINT32_MAX;
    table_insert(graph, 0, 0);
}

/* ---- the machine ---- */

void store_undo(struct machine *machine)
{
    struct track *track = &machine->track;
    while (track->log_count > 0) {
        const struct undo_entry *entry = &track->log[--track->log_count];
        set_block_word(machine, entry->word, entry->old);
    }
}

void graph_load(const struct graph *graph, uint32_t number)
{
    struct machine *machine = graph->search->machine;
    const uint8_t *tuple = graph_state(graph, number)->tuple;
    for (uint32_t p = 0; p < graph->parts.count; p++) {
        struct part *part = part_at(graph, p);
        uint32_t value = tuple_get(part, tuple);
        if (value == part->loaded)
            continue;
        const uint32_t *values = value_at(part, value);
        for (uint32_t i = 0; i < part->word_count; i++)
            set_block_word(machine, part->words[i], values[i]);
        part->loaded = value;
    }
    machine->track.log_count = 0;
}

bool store_is(const struct graph *graph, uint32_t number)
{
    const uint8_t *tuple = graph_state(graph, number)->tuple;
    for (uint32_t p = 0; p < graph->parts.count; p++) {
        const struct part *part = part_at(graph, p);
        const uint32_t *values = value_at(part, tuple_get(part, tuple));
        for (uint32_t i = 0; i < part->word_count; i++)
            if (block_word(graph->search->machine, part->words[i]) != values[i])
                return false;
    }
    return true;
}
