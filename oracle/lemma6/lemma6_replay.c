/*
 * lemma6_replay.c - whether an infinite sequence of ~~>^t is one: a machine made anew takes its steps, with what others
 * are said to set before each, and is in the same state after the stem and after the loop.
 */
#include "engine/machine/machine.h"
#include "oracle/lemma6/lemma6.h"

struct replay {
    struct observer observer;
    struct choices choices;
    struct machine *machine;
    const struct lemma6_refutation *refutation;
    const int32_t *initial;
    uint32_t next; /* of the sets */
    uint64_t step;
    bool drifts, reads; /* reads: what the refutation names, in the loop */
};

static uint32_t no_choice(struct choices *choices, uint32_t n)
{
    struct replay *r = (struct replay *)((char *)choices - offsetof(struct replay, choices));
    (void)n;
    r->drifts = true;
    return 0;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct replay *r = context;
    (void)address;
    r->reads |= r->step >= r->refutation->stem && stm == r->refutation->stm &&
                thread == r->refutation->thread;
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    on_read(context, thread, address, stm);
}

/* Others have names for it. */
static bool is_shared(const struct program *program, uint32_t address)
{
    enum ast_space space = program_locate(program, address).var->space;
    return space == SPACE_GLOBAL ? program->total_threads > 1
                                 : space == SPACE_SHARED && program->launch.threads > 1;
}

/* What others set before the step; false: it is none of theirs. */
static bool set_memory(struct replay *r)
{
    const struct lemma6_refutation *refutation = r->refutation;
    for (; r->next < refutation->set_count && refutation->sets[r->next].step == r->step;
         r->next++) {
        const struct lemma6_set *set = &refutation->sets[r->next];
        if (set->address >= r->machine->program->private_base ||
            !is_shared(r->machine->program, set->address))
            return false;
        machine_poke(r->machine, set->address, set->value);
    }
    return true;
}

/* After a step others may have put back what was there. */
static void put_back(struct replay *r)
{
    const struct program *program = r->machine->program;
    for (uint32_t a = 0; a < program->private_base; a++)
        if (r->machine->memory[a] != r->initial[a] && is_shared(program, a))
            machine_poke(r->machine, a, r->initial[a]);
}

static bool take_steps(struct replay *r, uint64_t end)
{
    for (; r->step < end; r->step++) {
        if (machine_status(r->machine) != STATUS_RUNNING || r->machine->head->live_count == 0 ||
            !set_memory(r))
            return false;
        machine_step(r->machine, r->refutation->thread, &r->choices);
        put_back(r);
    }
    return !r->drifts;
}

static const char *play(struct arena *arena, struct replay *r)
{
    const struct lemma6_refutation *refutation = r->refutation;
    struct machine *machine = r->machine;
    if (refutation->loop == 0)
        return "its loop has no step";
    if (!take_steps(r, refutation->stem))
        return "its stem cannot be played";
    uint32_t *words = ARENA_ARRAY(arena, uint32_t, machine->block_words);
    machine_save(machine, words);
    if (!take_steps(r, refutation->stem + refutation->loop))
        return "its loop cannot be played";
    if (machine_status(machine) != STATUS_RUNNING || machine->head->live_count == 0 ||
        !machine_equals(machine, words))
        return "the state does not come back";
    return refutation->stm == CODE_NONE || r->reads ? NULL : "what it names is not read";
}

const char *lemma6_replay(struct arena *arena, const struct program *program,
                          const struct lemma6_refutation *refutation)
{
    size_t mark = arena_mark(arena);
    uint32_t thread = refutation->thread;
    if (thread >= program->total_threads)
        return "it is about no thread";
    struct replay r = {.choices = {NULL, no_choice, NULL}, .refutation = refutation};
    r.observer = (struct observer){.context = &r, .read = on_read, .atomic = on_atomic};
    const struct machine_options options = {
        .track = true, .pair_count = 2, .pair = {thread, thread}, .observers = &r.observer};
    int32_t *initial = ARENA_ARRAY(arena, int32_t, program->memory_words + 1);
    program_init_memory(program, initial);
    r.initial = initial;
    r.machine = machine_new(arena, &semantics_threads, program, &options);
    const char *wrong = play(arena, &r);
    arena_release(arena, mark);
    return wrong;
}
