#include "engine/machine/semantics.h"

#include "engine/base/invariant.h"
#include "engine/base/pages.h"
#include "engine/machine/live.h"
#include "engine/program/ptx_code.h"

const char *const status_names[STATUS_COUNT] = {
    [STATUS_RUNNING] = "running",
    [STATUS_TERMINATED] = "terminated",
    [STATUS_ASSERT_FAILS] = "assert_fails",
    [STATUS_BARRIER_DIVERGENCE] = "barrier_divergence",
    [STATUS_OUT_OF_BOUNDS] = "out_of_bounds",
    [STATUS_CALL_DEPTH] = "call_depth",
    [STATUS_INFEASIBLE] = "infeasible",
    [STATUS_DEADLOCK] = "deadlock",
    [STATUS_NONTERMINATING] = "nonterminating",
    [STATUS_STEP_LIMIT] = "step_limit",
    [STATUS_STUCK] = "stuck",
    [STATUS_UNSUPPORTED] = "unsupported",
    [STATUS_BARRIER_ERROR] = "barrier_error",
};

/* Words that `bytes` take, rounded up so that what follows is aligned for 64-bit masks. */
static uint32_t even_words(size_t bytes)
{
    return (uint32_t)((bytes + 7) / 8 * 2);
}

static uint64_t block_hash(const struct machine *machine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < machine->block_words; i++) {
        uint32_t value;
        memcpy(&value, (const char *)machine->block + (size_t)4 * i, sizeof value);
        hash ^= track_mix(i, value);
    }
    return hash;
}

static void init_threads(struct machine *machine)
{
    const struct program *program = machine->program;
    for (uint32_t t = 0; t < program->total_threads; t++) {
        struct thread_context *context = &machine->threads[t];
        uint32_t block = t / program->launch.threads;
        context->number = t;
        context->base[SPACE_GLOBAL] = 0;
        context->base[SPACE_SHARED] = program->shared_base + block * program->words[SPACE_SHARED];
        context->base[SPACE_PRIVATE] = program->private_base + t * program->words[SPACE_PRIVATE];
        context->base[SPACE_LOCAL] = program->frame_base + t * program->words[SPACE_LOCAL];
        for (uint32_t b = 0; b < BUILTIN_COUNT; b++)
            context->builtin[b] = program_builtin(program, t, (enum ast_builtin)b);
    }
}

static void add_live(struct machine *machine, uint32_t actor)
{
    machine->head->live[machine->head->live_count++] = actor;
    machine->head->unfinished++;
    machine_group_of(machine, actor)->live++;
}

/* All actors; of P_{s,t} those of the pair. */
static void init_actors(struct machine *machine)
{
    const struct machine_options *options = &machine->options;
    uint32_t blocks = machine->program->launch.blocks, each = machine->actor_count / blocks;
    for (uint32_t g = 0; g < blocks; g++)
        machine->groups[g] = (struct machine_group){.first = g * each, .count = each};
    if (options->pair_count == 0) {
        for (uint32_t i = 0; i < machine->actor_count; i++)
            add_live(machine, i);
    } else if (machine->actor_count == blocks) { /* a vector program: one actor runs the pair */
        add_live(machine, options->pair[0] / machine->program->launch.threads);
    } else {
        for (uint32_t i = 0; i < machine->actor_count; i++)
            if (i == options->pair[0] || i == options->pair[1])
                add_live(machine, i);
    }
}

const char *machine_refuses(struct arena *arena, const struct semantics *semantics,
                            const struct program *program)
{
    static const char *const forms[] = {[FORM_STRUCTURED] = "structured",
                                        [FORM_BLOCKS] = "block",
                                        [FORM_LOCKSTEP] = "lock-step",
                                        [FORM_PTX] = "PTX"};
    if (program->form != semantics->form)
        return arena_printf(arena, "a program in %s form, which '%s' does not execute",
                            forms[program->form], semantics->name);
    for (uint32_t i = 0; i < program->stm_count; i++) {
        const struct code_stm *stm = &program->stms[i];
        if (!(semantics->kinds >> stm->kind & 1))
            return arena_printf(arena, "unsupported statement '%s' at line %u",
                                stm->source ? ast_stm_names[stm->source->kind] : "goto",
                                (unsigned)stm->line);
    }
    return semantics->refuses ? semantics->refuses(arena, program) : NULL;
}

struct machine *machine_new(struct arena *arena, const struct semantics *semantics,
                            const struct program *program, const struct machine_options *options)
{
    struct machine *machine = ARENA_NEW(arena, struct machine);
    uint32_t actors = semantics->actor_count(program);
    struct machine_environment environment = {0};
    if (semantics->environment)
        environment = semantics->environment(program, options);
    uint32_t alternatives = actors + environment.alternatives;
    uint32_t head_words = even_words(sizeof(struct machine_head) + alternatives * sizeof(uint32_t));
    uint32_t memory_words = even_words((size_t)program->memory_words * 4);
    uint32_t thread_words = even_words(program->total_threads * sizeof(struct thread_context));
    uint32_t group_words = even_words(program->launch.blocks * sizeof(struct machine_group));
    uint32_t words = head_words + memory_words + thread_words + group_words +
                     semantics->extra_words(program) + environment.words;
    uint32_t begun = words;
    words += options->note_begun ? alternatives : 0;

    machine->semantics = semantics;
    machine->program = program;
    machine->options = *options;
    machine->actor_count = actors;
    machine->alternatives = alternatives;
    machine->block_words = words;
    machine->block = ARENA_ARRAY(arena, uint32_t, words);
    machine->initial = arena_room(arena, (size_t)words * sizeof(uint32_t));
    machine->head = (struct machine_head *)machine->block;
    machine->memory = (int32_t *)(machine->block + head_words);
    machine->threads = (struct thread_context *)(machine->block + head_words + memory_words);
    machine->groups =
        (struct machine_group *)(machine->block + head_words + memory_words + thread_words);
    machine->extra = machine->block + head_words + memory_words + thread_words + group_words;
    machine->begun = options->note_begun ? machine->block + begun : NULL;
    machine->scratch = arena_alloc(arena, 1, semantics->scratch_bytes);
    if (options->track && options->undo_entries) {
        machine->track.log = arena_room(arena, options->undo_entries * sizeof(struct undo_entry));
        machine->track.log_capacity = options->undo_entries;
    }
    machine_observe(machine, options->observers);

    machine->head->status = STATUS_RUNNING;
    machine->head->fault_stm = CODE_NONE;
    init_actors(machine);
    program_init_memory(program, machine->memory);
    init_threads(machine);
    semantics->init(machine);
    pages_copy(machine->initial, machine->block, (size_t)4 * words);
    if (options->track)
        machine->track.hash = machine->initial_hash = block_hash(machine);
    return machine;
}

static void forget(struct machine *machine)
{
    machine->track.log_count = 0;
    machine->steps = 0;
    machine->fault_text = NULL;
    machine->outside.length = 0;
    machine->fault = (struct machine_fault){.address = 0};
}

void machine_reset(struct machine *machine)
{
    machine_restore(machine, machine->initial, machine->initial_hash);
    forget(machine);
}

void machine_restart(struct machine *machine)
{
    uint32_t *kept = (uint32_t *)machine->memory;
    uint32_t before = (uint32_t)(kept - machine->block), words = machine->program->shared_base;
    uint32_t behind = before + words;
    INVARIANT(!machine->options.track);
    memcpy(machine->block, machine->initial, (size_t)4 * before);
    memcpy(kept + words, machine->initial + behind, (size_t)4 * (machine->block_words - behind));
    forget(machine);
}

void machine_observe(struct machine *machine, const struct observer *observers)
{
    machine->options.observers = observers;
    machine->sees_steps = false;
    for (const struct observer *o = observers; o; o = o->next)
        machine->sees_steps |= o->step != NULL;
    machine->step = machine->semantics->step[step_variant(machine)];
}

void machine_save(const struct machine *machine, uint32_t *words)
{
    memcpy(words, machine->block, (size_t)4 * machine->block_words);
}

void machine_restore(struct machine *machine, const uint32_t *words, uint64_t hash)
{
    memcpy(machine->block, words, (size_t)4 * machine->block_words);
    machine->track.hash = hash;
}

bool machine_equals(const struct machine *machine, const uint32_t *words)
{
    return memcmp(words, machine->block, (size_t)4 * machine->block_words) == 0;
}

void machine_undo(struct machine *machine, uint32_t mark)
{
    struct track *track = &machine->track;
    while (track->log_count > mark) {
        const struct undo_entry *entry = &track->log[--track->log_count];
        char *place = (char *)machine->block + (size_t)4 * entry->word;
        uint32_t value;
        memcpy(&value, place, sizeof value);
        track->hash ^= track_mix(entry->word, value) ^ track_mix(entry->word, entry->old);
        memcpy(place, &entry->old, sizeof entry->old);
    }
}

uint64_t machine_store_hash(const struct machine *machine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < machine->program->private_base; i++)
        hash ^= track_mix(i, (uint32_t)machine->memory[i]);
    return hash;
}

void track_change(struct machine *machine, uint32_t word, uint32_t old, uint32_t value)
{
    struct track *track = &machine->track;
    track->hash ^= track_mix(word, old) ^ track_mix(word, value);
    if (track->log) {
        INVARIANT(track->log_count < track->log_capacity);
        track->log[track->log_count++] = (struct undo_entry){word, old};
    }
}

void machine_unlive(struct machine *machine, uint32_t actor)
{
    struct machine_head *head = machine->head;
    struct machine_group *group = machine_group_of(machine, actor);
    uint32_t last = head->live_count - 1, i = live_from(machine, actor);
    for (; i < last; i++)
        put(machine, &head->live[i], head->live[i + 1]);
    put(machine, &head->live[last], 0);
    put(machine, &head->live_count, last);
    put(machine, &group->live, group->live - 1);
}

void machine_relive(struct machine *machine, uint32_t actor)
{
    struct machine_head *head = machine->head;
    struct machine_group *group = machine_group_of(machine, actor);
    uint32_t at = head->live_count;
    for (; at > 0 && head->live[at - 1] > actor; at--)
        put(machine, &head->live[at], head->live[at - 1]);
    put(machine, &head->live[at], actor);
    put(machine, &head->live_count, head->live_count + 1);
    put(machine, &group->live, group->live + 1);
}

/* Copies that nobody has waited for (engine/lanes/ptx_underway.c) are never made: they are no part of what remains. */
static void forget_copies(struct machine *machine)
{
    const struct program *program = machine->program;
    if (!program->ptx || !program->ptx->underway)
        return;
    for (uint32_t block = 0; block < program->launch.blocks; block++) {
        const uint32_t base = program->shared_base + block * program->words[SPACE_SHARED];
        int32_t *list = &machine->memory[base + program->ptx->underway_word];
        const uint32_t words = 2 + (uint32_t)list[0] * PTX_UNDERWAY_WORDS;
        for (uint32_t i = 0; i < words; i++)
            put(machine, (uint32_t *)&list[i], 0);
    }
}

void machine_retire(struct machine *machine, uint32_t actor)
{
    struct machine_head *head = machine->head;
    struct machine_group *group = machine_group_of(machine, actor);
    machine_unlive(machine, actor);
    put(machine, &group->finished, group->finished + 1);
    put(machine, &head->unfinished, head->unfinished - 1);
    if (head->unfinished > 0)
        return;
    forget_copies(machine);
    put(machine, &head->status, STATUS_TERMINATED);
}

void machine_poke(struct machine *machine, uint32_t address, int32_t value)
{
    INVARIANT(address < machine->program->private_base);
    put_memory(machine, address, value);
}

void observe_read(struct machine *machine, uint32_t thread, uint32_t address, uint32_t stm)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->read)
            o->read(o->context, thread, address, stm);
}

void observe_write(struct machine *machine, uint32_t thread, uint32_t address, int32_t value,
                   uint32_t stm)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->write)
            o->write(o->context, thread, address, value, stm);
}

void observe_atomic(struct machine *machine, uint32_t thread, uint32_t address, int32_t value,
                    uint32_t stm)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->atomic)
            o->atomic(o->context, thread, address, value, stm);
}

void observe_barrier(struct machine *machine, const struct barrier_event *event)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->barrier)
            o->barrier(o->context, machine, event);
}

void observe_use(struct machine *machine, const struct barrier_use *use)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->use)
            o->use(o->context, machine, use);
}

void observe_step_now(struct machine *machine, const struct step_event *event)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->step)
            o->step(o->context, machine, event);
}

void observe_environment(struct machine *machine, const struct step_event *event)
{
    for (const struct observer *o = machine->options.observers; o; o = o->next)
        if (o->environment)
            o->environment(o->context, machine, event);
}
