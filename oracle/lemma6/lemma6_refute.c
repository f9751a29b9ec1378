/*
 * lemma6_refute.c - infinite sequences of ~~>^t. Between steps what lies at saddr(eta) is as it was at the
 * start, since any step may put it there; so two equal states are the same stack and private memory.
 */
#include "engine/base/pcg.h"
#include "engine/machine/machine.h"
#include "oracle/lemma6/lemma6.h"

#include <string.h>

enum { POOL = 24, DIRTY = 256, ELEMENTS = 64, SEQUENCE_STEPS = 4096 };

struct refuter {
    struct arena *arena;
    const struct program *program;
    struct machine *machine; /* one thread only */
    struct observer observer;
    struct choices choices;
    struct pcg rng;
    const int32_t *initial;
    int32_t pool[POOL]; /* values that may matter */
    uint32_t pool_count;
    bool sticks; /* a variable is what it was set to first */
    int32_t *stuck;
    uint8_t *is_stuck;
    uint32_t dirty[DIRTY];
    uint32_t dirty_count;
    uint32_t *saved;
    /* What was set; kept where there is room, when a sequence that was found is drawn again. */
    uint64_t at; /* step */
    struct lemma6_set *sets;
    uint32_t set_count, set_room;
    /* Of the loop at hand: the first address that was read and set. */
    uint32_t read_address, read_stm;
};

static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct refuter *r = (struct refuter *)((char *)choices - offsetof(struct refuter, choices));
    return pcg_below(&r->rng, n);
}

static bool is_shared(const struct program *program, enum ast_space space)
{
    return space == SPACE_GLOBAL   ? program->total_threads > 1
           : space == SPACE_SHARED ? program->launch.threads > 1
                                   : false;
}

static void note_dirty(struct refuter *r, uint32_t address)
{
    for (uint32_t i = 0; i < r->dirty_count; i++)
        if (r->dirty[i] == address)
            return;
    if (r->dirty_count < DIRTY)
        r->dirty[r->dirty_count++] = address;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct refuter *r = context;
    (void)thread;
    if (r->read_stm == CODE_NONE &&
        is_shared(r->program, program_locate(r->program, address).var->space)) {
        r->read_address = address;
        r->read_stm = stm;
    }
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread;
    (void)value;
    (void)stm;
    note_dirty(context, address);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    on_read(context, thread, address, stm);
    on_write(context, thread, address, value, stm);
}

/* ---- what memory is set to ---- */

static void add_value(struct refuter *r, int32_t value)
{
    for (uint32_t i = 0; i < r->pool_count; i++)
        if (r->pool[i] == value)
            return;
    if (r->pool_count < POOL)
        r->pool[r->pool_count++] = value;
}

static void fill_pool(struct refuter *r)
{
    const struct program *program = r->program;
    add_value(r, 0);
    add_value(r, 1);
    add_value(r, -1);
    add_value(r, (int32_t)program->launch.threads);
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct code_expr_op *op = &program->ops[i];
        if (op->op == OP_INT || op->op >= OP_BINARY_INT)
            add_value(r, op->a);
    }
}

static int32_t draw_value(struct refuter *r, uint32_t thread)
{
    uint32_t shape = pcg_below(&r->rng, 8);
    if (shape == 0)
        return program_builtin(r->program, thread, BUILTIN_TID);
    if (shape == 1)
        return (int32_t)pcg_next(&r->rng);
    return r->pool[pcg_below(&r->rng, r->pool_count)];
}

static void set(struct refuter *r, uint32_t address, uint32_t thread)
{
    int32_t value = draw_value(r, thread);
    if (r->sticks && r->is_stuck[address])
        value = r->stuck[address];
    r->stuck[address] = value;
    r->is_stuck[address] = 1;
    if (r->dirty_count == DIRTY)
        return;
    note_dirty(r, address);
    machine_poke(r->machine, address, value);
    if (r->set_count < r->set_room)
        r->sets[r->set_count] = (struct lemma6_set){r->at, address, value};
    r->set_count++;
}

/* What the next step reads. */
static void set_memory(struct refuter *r, uint32_t thread)
{
    const struct program *program = r->program;
    uint32_t block = thread / program->launch.threads;
    uint64_t reads, writes;
    r->machine->semantics->footprint(r->machine, thread, &reads, &writes);
    for (uint32_t v = 0; v < program->var_count && reads; v++) {
        const struct ast_var *var = program->vars[v].ast;
        if (!(reads >> (v < 63 ? v : 63) & 1) || !is_shared(program, var->space))
            continue;
        uint32_t base = program->vars[v].offset;
        if (var->space == SPACE_SHARED)
            base += program->shared_base + block * program->words[SPACE_SHARED];
        for (uint32_t i = 0; i < var->length && i < ELEMENTS; i++)
            set(r, base + i, thread);
    }
}

static void clean_memory(struct refuter *r)
{
    while (r->dirty_count > 0) {
        uint32_t address = r->dirty[--r->dirty_count];
        if (is_shared(r->program, program_locate(r->program, address).var->space))
            machine_poke(r->machine, address, r->initial[address]);
    }
}

/* ---- sequences ---- */

static bool step(struct refuter *r, uint32_t thread)
{
    if (machine_status(r->machine) != STATUS_RUNNING || r->machine->head->live_count == 0)
        return false;
    set_memory(r, thread);
    machine_step(r->machine, thread, &r->choices);
    clean_memory(r);
    return true;
}

static struct machine *machine_of(struct refuter *r, uint32_t thread)
{
    struct machine_options options = {
        .track = true, .pair_count = 2, .pair = {thread, thread}, .observers = &r->observer};
    return machine_new(r->arena, &semantics_threads, r->program, &options);
}

/* Brent's algorithm, but that the sequence is drawn: a state that comes back may do so for ever. */
static bool run_sequence(struct refuter *r, uint32_t thread, uint64_t steps,
                         struct lemma6_refutation *result)
{
    uint64_t power = 1, since = 0, hash;
    machine_reset(r->machine);
    memset(r->is_stuck, 0, r->program->private_base);
    machine_save(r->machine, r->saved);
    hash = r->machine->track.hash;
    r->read_stm = CODE_NONE;
    r->set_count = 0;
    for (uint64_t i = 0; i < steps; i++) {
        r->at = i;
        if (!step(r, thread))
            return false;
        result->steps++;
        since++;
        if (r->machine->track.hash == hash && machine_equals(r->machine, r->saved)) {
            result->stem = i + 1 - since;
            result->loop = since;
            return true;
        }
        if (since < power)
            continue;
        machine_save(r->machine, r->saved);
        hash = r->machine->track.hash;
        r->read_stm = CODE_NONE;
        power *= 2;
        since = 0;
    }
    return false;
}

/* The sequence of this number. */
static bool draw_sequence(struct refuter *r, uint64_t seed, uint64_t number, uint64_t steps,
                          struct lemma6_refutation *result)
{
    uint32_t thread = (uint32_t)(number % r->program->total_threads);
    r->rng = pcg_derive(seed, PCG_CHOICE, number);
    r->sticks = pcg_below(&r->rng, 2) == 0;
    r->machine = machine_of(r, thread);
    r->saved = ARENA_ARRAY(r->arena, uint32_t, r->machine->block_words);
    result->thread = thread;
    return run_sequence(r, thread, steps, result);
}

static void keep_sets(struct refuter *r, uint64_t seed, struct lemma6_refutation *result)
{
    struct lemma6_refutation again = *result;
    r->set_room = r->set_count;
    result->sets = r->sets = ARENA_ARRAY(r->arena, struct lemma6_set, r->set_room);
    result->set_count = r->set_room;
    size_t mark = arena_mark(r->arena);
    (void)draw_sequence(r, seed, result->sequences - 1, SEQUENCE_STEPS, &again);
    arena_release(r->arena, mark);
}

struct lemma6_refutation lemma6_refute(struct arena *arena, const struct program *program,
                                       uint64_t seed, uint64_t budget_steps)
{
    struct lemma6_refutation result = {.stm = CODE_NONE};
    if (machine_refuses(arena, &semantics_threads, program))
        return result;
    int32_t *initial = ARENA_ARRAY(arena, int32_t, program->memory_words + 1);
    program_init_memory(program, initial);
    struct refuter r = {.arena = arena,
                        .program = program,
                        .choices = {NULL, choose, NULL},
                        .initial = initial,
                        .stuck = ARENA_ARRAY(arena, int32_t, program->private_base + 1),
                        .is_stuck = ARENA_ARRAY(arena, uint8_t, program->private_base + 1)};
    r.observer =
        (struct observer){.context = &r, .read = on_read, .write = on_write, .atomic = on_atomic};
    fill_pool(&r);
    uint64_t each = SEQUENCE_STEPS;
    while (result.steps < budget_steps && !result.found) {
        size_t mark = arena_mark(arena);
        uint64_t left = budget_steps - result.steps;
        result.found =
            draw_sequence(&r, seed, result.sequences, each < left ? each : left, &result);
        result.sequences++;
        result.steps += 8 + r.machine->block_words / 16;
        arena_release(arena, mark);
    }
    if (!result.found)
        return result;
    keep_sets(&r, seed, &result);
    result.stm = r.read_stm;
    if (r.read_stm != CODE_NONE)
        result.location = program_location_name(arena, program, r.read_address);
    return result;
}
