#include "oracle/prove/executed.h"

#include <string.h>

#include "engine/crs/crs.h"
#include "engine/lanes/ptx_exec.h"
#include "engine/schedule/sched.h"

enum {
    STEPS = 1 << 13,
    ACCESSES = 1 << 11,
    ATOMICS = 1 << 10,
    OPS = 1 << 14,
    BARRIERS = 1 << 8,      /* of a block */
    MEMORY_WORDS = 1 << 18, /* in all */
    SCHEDULES = 8           /* of the portfolio */
};

/* What is being kept. `memory`: as it is, to know what an atomic finds. */
struct keeping {
    struct observer observer;
    struct arena *arena;
    struct executed *x;
    int32_t *memory;
    uint64_t left; /* PTX: of the step at hand, `left_bits` of it */
    uint32_t left_bits;
};

static void keep_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    (void)thread;
    (void)stm;
    ((struct keeping *)context)->memory[address] = value;
}

static void keep_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                        uint32_t stm)
{
    struct keeping *k = context;
    (void)stm;
    if (k->x->atomic_count < ATOMICS)
        k->x->atomics[k->x->atomic_count++] =
            (struct executed_atomic){thread, k->memory[address], value};
    else
        k->x->complete = false;
    k->memory[address] = value;
}

/* ---- PTX ---- */

/* Location after location. */
static void keep_left(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct keeping *k = context;
    uint32_t bits = 32 / k->x->program->units;
    (void)thread;
    (void)address;
    (void)stm;
    if (k->left_bits < 64)
        k->left |= ((uint64_t)(uint32_t)value & (UINT32_MAX >> (32 - bits))) << k->left_bits;
    k->left_bits += bits;
}

static void keep_op(void *context, const struct machine *machine, const struct step_event *event)
{
    struct keeping *k = context;
    struct executed *x = k->x;
    uint64_t left = k->left;
    k->left = k->left_bits = 0;
    bool goes_on =
        machine_status(machine) == STATUS_RUNNING || machine_status(machine) == STATUS_TERMINATED;
    if (!event->truth || event->stm == CODE_NONE || event->rule == RULE_NB_RECYCLE || !goes_on ||
        ptx_is_flow((enum ptx_exec)x->program->ptx->ops[event->stm].exec))
        return;
    if (x->op_count == OPS) {
        x->complete = false;
        return;
    }
    const struct ptx_op *op = &x->program->ptx->ops[event->stm];
    struct executed_op *kept = &x->ops[x->op_count++];
    *kept = (struct executed_op){
        .thread = event->actor, .pc = event->stm, .entries = x->log->count, .left = left};
    for (uint32_t i = 0; i < op->result_count; i++)
        if (op->results[i].kind == PTX_PLACE_REGISTER)
            kept->results[i] =
                ptx_source(machine, cta_thread(machine, event->actor).lanes, &op->results[i], 0);
}

/* ---- both ---- */

static void keep_barrier(void *context, const struct machine *machine,
                         const struct barrier_event *event)
{
    struct keeping *k = context;
    struct executed *x = k->x;
    uint32_t *count = &x->passed_count[event->block];
    if (*count == BARRIERS || (*count + 1) * x->words * x->program->launch.blocks > MEMORY_WORDS) {
        x->complete = false;
        return;
    }
    int32_t *memory = ARENA_ARRAY(k->arena, int32_t, x->words + 1);
    memcpy(memory, machine->memory, x->words * sizeof *memory);
    x->passed[event->block][(*count)++] = memory;
}

static struct keeping keep(struct arena *arena, const struct program *program)
{
    struct executed *x = ARENA_NEW(arena, struct executed);
    uint32_t blocks = program->launch.blocks;
    int32_t *initial = ARENA_ARRAY(arena, int32_t, program->memory_words + 1);
    struct keeping k = {.arena = arena, .x = x};
    bool is_ptx = program->form == FORM_PTX;
    k.observer = (struct observer){.write = is_ptx ? NULL : keep_write,
                                   .atomic = is_ptx ? keep_left : keep_atomic,
                                   .barrier = keep_barrier,
                                   .step = is_ptx ? keep_op : NULL};
    k.memory = ARENA_ARRAY(arena, int32_t, program->memory_words + 1);
    program_init_memory(program, initial);
    memcpy(k.memory, initial, program->memory_words * sizeof *k.memory);
    *x = (struct executed){.program = program,
                           .words = program->private_base,
                           .initial = initial,
                           .complete = true,
                           .atomics = ARENA_ARRAY(arena, struct executed_atomic, ATOMICS),
                           .ops =
                               is_ptx ? arena_room(arena, OPS * sizeof(struct executed_op)) : NULL,
                           .passed = ARENA_ARRAY(arena, const int32_t **, blocks),
                           .passed_count = ARENA_ARRAY(arena, uint32_t, blocks)};
    for (uint32_t b = 0; b < blocks; b++)
        x->passed[b] = ARENA_ARRAY(arena, const int32_t *, BARRIERS);
    return k;
}

/* Those of entry n with earlier ones of its address, before[n] - 1 and so on; whether there is one. */
static bool find_races_of(struct executed *x, uint32_t n, const uint32_t *before)
{
    const struct race_log_entry *entries = x->log->entries;
    bool found = false;
    for (uint32_t i = before[n]; i > 0; i = before[i - 1]) {
        if (!race_log_is_race(x->log, &entries[i - 1], &entries[n]))
            continue;
        found = true;
        if (x->race_count < EXECUTED_RACES)
            x->races[x->race_count++] = (struct executed_race){i - 1, n};
    }
    return found;
}

static void find_races(struct arena *arena, struct executed *x)
{
    const struct race_log_entry *entries = x->log->entries;
    uint32_t *latest = ARENA_ARRAY(arena, uint32_t, x->words * x->program->units + 1);
    uint32_t *before = ARENA_ARRAY(arena, uint32_t, x->log->count + 1);
    bool is_sure = true;
    for (uint32_t n = 0; n < x->log->count; n++) {
        before[n] = latest[entries[n].address];
        latest[entries[n].address] = n + 1;
    }
    for (; x->sure < x->log->count && is_sure; x->sure++)
        is_sure = !find_races_of(x, x->sure, before) || entries[x->sure].access.kind != ACCESS_READ;
    x->known = is_sure ? x->log->count : x->sure - 1;
    x->complete = x->complete && !x->log->overflow;
}

const struct executed *executed_run(struct arena *arena, const struct program *program,
                                    uint64_t seed)
{
    struct keeping k = keep(arena, program);
    struct executed *x = k.x;
    struct scheduler scheduler;
    k.observer.context = &k;
    x->log = race_log_new(arena, program, ACCESSES);
    race_log_begin(x->log);
    x->log->observer.next = &k.observer;
    const struct machine_options options = {.observers = &x->log->observer};
    struct machine *machine =
        machine_new(arena, program->form == FORM_PTX ? &semantics_block : &semantics_interleave,
                    program, &options);
    race_log_watch(x->log, machine);
    struct sched_spec spec = sched_portfolio(seed, seed % SCHEDULES, machine->actor_count, 0);
    sched_start(&scheduler, &spec, machine, arena);
    x->status = machine_run(machine, &scheduler.choices, STEPS, NULL);
    x->fault_thread = machine->head->fault_thread;
    x->final = machine->memory;
    find_races(arena, x);
    return x;
}
