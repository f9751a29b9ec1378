/*
 * search.c - bounds, outcomes and the choice of the method.
 */
#include "engine/search/search_internal.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/machine/semantics.h"
#include "engine/program/ptx_code.h"

#include <string.h>

const struct search_options SEARCH_DEFAULTS = {
    .method = SEARCH_AUTO,
    .max_states = 1 << 18,
    .max_bytes = 64 << 20,
    .max_steps = 1 << 22,
    .max_depth = 4096,
    .max_outcomes = 1024,
};

const char *const search_method_names[] = {"auto", "states", "dpor", "sleep"};

/* ---- inner choices ---- */

static uint32_t script_pick(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    invariant_fail("a step picks no actor", __FILE__, __LINE__);
}

static struct script_choice *script_at(struct script *script, uint32_t radix)
{
    if (script->at == script->count) {
        INVARIANT(script->count < SCRIPT_MAX);
        script->list[script->count++] = (struct script_choice){.radix = radix};
    }
    struct script_choice *choice = &script->list[script->at++];
    INVARIANT(choice->radix == radix); /* a step is a function of state and choices */
    return choice;
}

static uint32_t script_choose(struct choices *choices, uint32_t n)
{
    struct script_choice *choice = script_at((struct script *)choices, n);
    choice->value = choice->index;
    return choice->value;
}

static uint32_t script_choose_of(struct choices *choices, uint32_t n, const uint32_t *values,
                                 uint32_t count)
{
    (void)n;
    struct script_choice *choice = script_at((struct script *)choices, count);
    choice->value = values[choice->index];
    return choice->value;
}

void search_note_begun(struct search *search, uint32_t actor)
{
    put(search->machine, &search->machine->begun[actor], 1);
}

void script_start(struct script *script)
{
    script->choices = (struct choices){script_pick, script_choose, script_choose_of};
    script->count = script->at = 0;
}

bool script_next(struct script *script)
{
    while (script->count > 0) {
        struct script_choice *last = &script->list[script->count - 1];
        if (++last->index < last->radix) {
            script->at = 0;
            return true;
        }
        script->count--;
    }
    return false;
}

/* ---- outcomes ---- */

static bool outcome_is(const struct search_outcome *outcome, enum status status, uint64_t hash,
                       const struct machine *machine)
{
    return outcome->status == status && outcome->store_hash == hash &&
           (!outcome->store ||
            memcmp(outcome->store, machine->memory, 4 * machine->program->private_base) == 0);
}

static uint32_t place_of(const struct search *search, uint64_t hash, enum status status)
{
    return (uint32_t)pcg_splitmix(hash + (uint64_t)status) & search->outcome_mask;
}

static uint32_t free_place(const struct search *search, uint64_t hash, enum status status)
{
    uint32_t at = place_of(search, hash, status);
    while (search->outcome_table[at])
        at = (at + 1) & search->outcome_mask;
    return at;
}

/* To twice as many, or the first. */
static void grow_outcomes(struct search *search)
{
    struct search_result *result = search->result;
    uint32_t room = search->outcome_room ? 2 * search->outcome_room : 16;
    struct search_outcome *old = result->outcomes;
    result->outcomes = ARENA_ARRAY(search->arena, struct search_outcome, room);
    search->outcome_room = room;
    search->outcome_mask = 2 * room - 1;
    search->outcome_table = ARENA_ARRAY(search->arena, uint32_t, (size_t)2 * room);
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        result->outcomes[i] = old[i];
        search->outcome_table[free_place(search, old[i].store_hash, old[i].status)] = i + 1;
    }
}

uint32_t search_outcome(struct search *search, bool *is_new)
{
    const struct machine *machine = search->machine;
    struct search_result *result = search->result;
    enum status status = machine_status(machine);
    bool has_store = status == STATUS_TERMINATED;
    uint64_t hash = has_store ? machine_store_hash(machine) : 0;
    uint32_t at = place_of(search, hash, status);
    *is_new = false;
    for (; search->outcome_table[at]; at = (at + 1) & search->outcome_mask) {
        uint32_t number = search->outcome_table[at] - 1;
        if (outcome_is(&result->outcomes[number], status, hash, machine))
            return number;
    }
    if (result->outcome_count == search->options->max_outcomes) {
        search->outcomes_dropped = true;
        return SEARCH_NONE;
    }
    *is_new = true;
    if (result->outcome_count == search->outcome_room)
        grow_outcomes(search);
    at = free_place(search, hash, status);
    struct search_outcome *outcome = &result->outcomes[result->outcome_count];
    *outcome = (struct search_outcome){.status = status, .store_hash = hash};
    if (has_store) {
        int32_t *store = ARENA_ARRAY(search->arena, int32_t, machine->program->private_base + 1);
        memcpy(store, machine->memory, 4 * machine->program->private_base);
        outcome->store = store;
    }
    search->outcome_table[at] = ++result->outcome_count;
    return result->outcome_count - 1;
}

bool search_has(const struct program *program, const struct search_result *set,
                const struct search_outcome *outcome)
{
    size_t bytes = (size_t)program->private_base * sizeof *outcome->store;
    for (uint32_t i = 0; i < set->outcome_count; i++) {
        const struct search_outcome *o = &set->outcomes[i];
        if (o->status == outcome->status &&
            (o->status != STATUS_TERMINATED || memcmp(o->store, outcome->store, bytes) == 0))
            return true;
    }
    return false;
}

const struct search_outcome *search_missing(const struct program *program,
                                            const struct search_result *of,
                                            const struct search_result *in)
{
    for (uint32_t i = 0; i < of->outcome_count; i++)
        if (!search_has(program, in, &of->outcomes[i]))
            return &of->outcomes[i];
    return NULL;
}

/* ---- the choice ---- */

/* A goto back in the list of blocks counts as one, also where no cycle is closed. */
bool search_has_loop(const struct program *program)
{
    for (uint32_t i = 0; i < program->stm_count; i++)
        if (program->stms[i].kind == CODE_WHILE)
            return true;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct code_block *block = &program->blocks[b];
        const uint32_t *targets = &program->targets[block->target_first];
        for (uint32_t i = 0; i < block->target_count; i++)
            if (targets[i] != BLOCK_END && targets[i] <= b)
                return true;
    }
    return program->recursive;
}

/* Of one round-robin execution: per word, who wrote it last and who has read it since. */
struct estimate {
    uint32_t actor;
    uint32_t *writer;  /* actor + 1 */
    uint64_t *readers; /* bit k = actor k */
    uint64_t conflicts;
};

static void estimate_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread;
    (void)stm;
    struct estimate *e = context;
    e->conflicts += e->writer[address] && e->writer[address] != e->actor + 1;
    e->readers[address] |= (uint64_t)1 << e->actor;
}

static void estimate_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                           uint32_t stm)
{
    (void)thread;
    (void)value;
    (void)stm;
    struct estimate *e = context;
    e->conflicts += e->writer[address] && e->writer[address] != e->actor + 1;
    uint64_t others = e->readers[address] & ~((uint64_t)1 << e->actor);
    e->conflicts += (uint64_t)__builtin_popcountll(others);
    e->writer[address] = e->actor + 1;
    e->readers[address] = 0;
}

/* A barrier of the only block orders what came before and after it. */
static void estimate_barrier(void *context, const struct machine *machine,
                             const struct barrier_event *event)
{
    (void)event;
    struct estimate *e = context;
    if (machine->program->launch.blocks > 1)
        return;
    memset(e->writer, 0, search_locations(machine->program) * sizeof *e->writer);
    memset(e->readers, 0, search_locations(machine->program) * sizeof *e->readers);
}

static uint32_t log2_ceiling(uint32_t n)
{
    uint32_t bits = 0;
    while (bits < 31 && (1u << bits) < n)
        bits++;
    return bits;
}

/*
 * Each conflict of an execution can be had in two orders, so c of them make about 2^c traces; n actors
 * of l_i steps each have (l_1 + 1) ... (l_n + 1) states in the lattice of their interleavings, whatever
 * data adds. Reversing one conflict often makes new ones (a racy increment), so they count double.
 */
static bool dpor_looks_cheaper(struct search *search)
{
    struct machine *machine = search->machine;
    if (machine->actor_count > 64 || machine->program->form == FORM_PTX ||
        search_has_loop(machine->program))
        return false;
    uint32_t locations = search_locations(machine->program);
    struct estimate e = {.writer = ARENA_ARRAY(search->arena, uint32_t, locations),
                         .readers = ARENA_ARRAY(search->arena, uint64_t, locations)};
    uint32_t *lengths = ARENA_ARRAY(search->arena, uint32_t, machine->actor_count);
    const struct observer observer = {.context = &e,
                                      .read = estimate_read,
                                      .write = estimate_write,
                                      .atomic = estimate_write,
                                      .barrier = estimate_barrier};
    const struct machine_head *head = machine->head;
    machine_reset(machine);
    machine_observe(machine, &observer);
    for (uint32_t turn = 0, depth = 0; head->status == STATUS_RUNNING; turn++) {
        if (depth++ == search->options->max_depth)
            return false;
        e.actor = head->live[turn % head->live_count];
        lengths[e.actor]++;
        script_start(&search->script);
        machine_step(machine, e.actor, &search->script.choices);
        machine->track.log_count = 0;
    }
    uint64_t levels = 0;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        levels += log2_ceiling(lengths[i] + 1);
    return 2 * e.conflicts <= levels;
}

/* ---- entry ---- */

/* A step changes every word at most a few times: exit pops a whole stack, with its counters. */
static uint32_t step_entries(uint32_t block_words)
{
    return 4 * block_words + 64;
}

/* For local steps that are taken with another (search_local.c). */
enum { LOCAL_ENTRIES = 512 };

struct machine *search_machine(struct arena *arena, const struct semantics *semantics,
                               const struct program *program, bool then_first)
{
    const struct machine_options options = {.then_first = then_first};
    return search_machine_with(arena, semantics, program, &options);
}

struct machine *search_machine_with(struct arena *arena, const struct semantics *semantics,
                                    const struct program *program,
                                    const struct machine_options *with)
{
    size_t mark = arena_mark(arena);
    struct machine_options options = *with;
    options.track = true;
    options.undo_entries = 0;
    uint32_t words = machine_new(arena, semantics, program, &options)->block_words;
    arena_release(arena, mark);
    options.undo_entries = step_entries(words) + LOCAL_ENTRIES;
    return machine_new(arena, semantics, program, &options);
}

void search_cut(struct search *search, const char *cut)
{
    search->result->complete = false;
    search->result->cut = cut;
    search->result->cut_bytes = search->arena->used - search->bytes_before;
}

static void run_method(struct search *search, enum search_method method)
{
    enum { DEPTH_ENTRIES = 1 << 17 }; /* SEARCH_DPOR, SEARCH_SLEEP: all steps of one execution */
    struct search_result *result = search->result;
    struct arena *arena = search->arena;
    struct track *track = &search->machine->track;
    const struct track own = *track;
    if (method != SEARCH_STATES) {
        track->log_capacity = DEPTH_ENTRIES + search->step_entries;
        track->log = arena_room(arena, track->log_capacity * sizeof *track->log);
    }
    size_t most = (arena->size - arena->used) / 2;
    search->byte_limit =
        arena->used + (search->options->max_bytes < most ? search->options->max_bytes : most);
    result->method = method;
    result->complete = true;
    result->cut = NULL;
    result->liveness = LIVENESS_UNKNOWN;
    machine_reset(search->machine);
    if (method == SEARCH_STATES)
        search_states(search);
    else if (method == SEARCH_SLEEP)
        search_sleep(search);
    else
        search_dpor(search);
    track->log = own.log;
    track->log_capacity = own.log_capacity;
    track->log_count = 0;
    if (result->complete && method == SEARCH_DPOR && !search_has_loop(search->machine->program))
        result->liveness = LIVENESS_ALL_TERMINATE;
}

/* After a method that was cut off; a lasso that it found stays found. */
static void run_other(struct search *search, enum search_method method)
{
    struct search_result *result = search->result;
    enum search_liveness liveness = result->liveness;
    run_method(search, method);
    if (result->liveness == LIVENESS_UNKNOWN)
        result->liveness = liveness;
}

/* Whether steps that depend on each other are told by what they access: not where barriers are named in PTX, nor where
 * choices are made by memory that others write, nor where caches stand between, nor where a step that accesses nothing
 * lets another actor go on. */
static bool accesses_tell(const struct machine *machine)
{
    const struct program *program = machine->program;
    if (machine->semantics->environment || machine->semantics->unseen_order)
        return false;
    return program->form == FORM_PTX ? !program->ptx->barriers
                                     : !program_chooses_by_memory(program);
}

struct search_result *search_run(struct arena *arena, struct machine *machine,
                                 const struct search_options *options)
{
    struct search *search = ARENA_NEW(arena, struct search);
    const struct observer *observers = machine->options.observers;
    *search = (struct search){
        .arena = arena,
        .machine = machine,
        .options = options,
        .result = ARENA_NEW(arena, struct search_result),
        .step_limit = options->max_steps,
        .bytes_before = arena->used,
        .step_entries = step_entries(machine->block_words),
    };
    INVARIANT(machine->options.track && machine->track.log_capacity >= search->step_entries);
    grow_outcomes(search);
    enum search_method first = options->method;
    bool states_only = !accesses_tell(machine);
    if (states_only && first != SEARCH_SLEEP)
        first = SEARCH_STATES;
    if (first == SEARCH_AUTO)
        first = dpor_looks_cheaper(search) ? SEARCH_DPOR : SEARCH_STATES;
    run_method(search, first);
    if (options->method == SEARCH_AUTO && !search->result->complete && !states_only &&
        machine->program->form != FORM_PTX)
        run_other(search, first == SEARCH_STATES ? SEARCH_DPOR : SEARCH_STATES);
    if (search->result->complete && search->outcomes_dropped)
        search_cut(search, "outcomes");
    machine_observe(machine, observers);
    return search->result;
}
