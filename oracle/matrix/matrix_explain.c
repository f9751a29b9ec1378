/*
 * matrix_explain.c - the sentence about a hang: who spins on which location, who would write it, and why that
 * thread cannot run.
 */
#include "engine/machine/live.h"
#include "engine/schedule/sched.h"
#include "oracle/check/evidence.h"
#include "oracle/matrix/matrix_internal.h"

#include <string.h>

enum { READS = 64, ALONE_STEPS = 4096 };

/* What is read and written in the loop. */
struct walk {
    struct arena *arena;
    const struct program *program;
    struct observer observer;
    uint8_t *steps;   /* a thread: it accesses something, or steps, in the loop */
    uint8_t *written; /* a location: in the loop */
    uint8_t *stms;    /* a statement: executed in the loop */
    uint32_t count;
    struct {
        uint32_t thread, address, stm;
    } reads[READS];
};

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct walk *w = context;
    w->steps[thread] = 1;
    w->stms[stm] = 1;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->reads[i].address == address && w->reads[i].stm == stm &&
            w->reads[i].thread == thread)
            return;
    if (w->count == READS)
        return;
    w->reads[w->count].thread = thread;
    w->reads[w->count].address = address;
    w->reads[w->count++].stm = stm;
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct walk *w = context;
    (void)value;
    w->steps[thread] = 1;
    w->stms[stm] = 1;
    w->written[address] = 1;
}

/* An atomic that changes nothing, time and again, is a way to read. */
static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    on_read(context, thread, address, stm);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct walk *w = context;
    if (machine->actor_count == w->program->total_threads)
        w->steps[event->actor] = 1;
    if (event->stm != CODE_NONE)
        w->stms[event->stm] = 1;
}

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices;
    (void)n;
    return 0;
}

static void run_tape(struct machine *machine, const struct tape *tape, struct arena *arena)
{
    struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tape};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, arena);
    while (scheduler.reader.next < tape->count && machine_status(machine) == STATUS_RUNNING) {
        uint32_t index = scheduler.choices.pick(&scheduler.choices, machine);
        machine_step(machine, machine->head->live[index], &scheduler.choices);
        machine->track.log_count = 0;
    }
}

/* ---- who would write it ---- */

/* Whether a thread on its own gets to a write of one location. */
struct alone {
    struct observer observer;
    uint32_t address, stm; /* stm: of the write; CODE_NONE: not yet */
    bool has_old;
    int32_t old; /* an atomic that leaves it there is no write */
};

static void alone_writes(void *context, uint32_t thread, uint32_t address, int32_t value,
                         uint32_t stm)
{
    struct alone *alone = context;
    (void)thread;
    if (address == alone->address && alone->stm == CODE_NONE &&
        !(alone->has_old && value == alone->old))
        alone->stm = stm;
}

static bool can_step(const struct machine *machine, uint32_t actor)
{
    return machine_status(machine) == STATUS_RUNNING && is_live(machine, actor);
}

static bool has_finished(const struct machine *machine, uint32_t thread)
{
    return is_finished(machine, actor_of(machine, thread));
}

/* The statement with which a thread that does not step in the loop would write the location if it were let
 * run, from the loop's first state. */
static uint32_t write_alone(struct walk *w, const struct matrix_loop *loop, uint32_t thread,
                            uint32_t address)
{
    struct machine_options options = loop->machine->options;
    struct choices first = {NULL, choose_first, NULL};
    struct alone alone = {
        .observer = {.context = &alone, .write = alone_writes, .atomic = alone_writes},
        .address = address,
        .stm = CODE_NONE};
    options.observers = &alone.observer;
    size_t mark = arena_mark(w->arena);
    struct machine *machine = machine_new(w->arena, loop->machine->semantics, w->program, &options);
    machine_restore(machine, loop->machine->block, loop->machine->track.hash);
    alone.has_old = w->program->units == 1;
    alone.old = alone.has_old ? machine->memory[address] : 0;
    /* A state that has come back: it spins, too. */
    uint64_t seen = machine->track.hash;
    bool again = false;
    for (uint32_t i = 0;
         i < ALONE_STEPS && alone.stm == CODE_NONE && !again && can_step(machine, thread); i++) {
        machine_step(machine, thread, &first);
        machine->track.log_count = 0;
        again = machine->track.hash == seen;
        if ((i & (i + 1)) == 0)
            seen = machine->track.hash;
    }
    arena_release(w->arena, mark);
    return alone.stm;
}

/* The last statement outside of the loop that may write the variable: behind atomics that only look. */
static uint32_t find_writer(const struct walk *w, const struct ast_var *var)
{
    uint32_t found = CODE_NONE, i = 0;
    while (i < w->program->var_count && w->program->vars[i].ast != var)
        i++;
    uint64_t bit = (uint64_t)1 << (i < 63 ? i : 63);
    for (uint32_t s = 0; s < w->program->stm_count && i < w->program->var_count; s++)
        if ((w->program->stms[s].writes & bit) && !w->stms[s])
            found = s;
    return found;
}

/* "thread 2 spins", "threads 0, 1 and 5 others spin" */
static const char *threads_text(struct arena *arena, const uint8_t *set, uint32_t count,
                                const char *one, const char *several)
{
    uint32_t members = 0, shown = 0;
    const char *text = "";
    for (uint32_t t = 0; t < count; t++)
        members += set[t];
    for (uint32_t t = 0; t < count && shown < 3; t++)
        if (set[t])
            text = arena_printf(arena, "%s%s%u", text, shown++ ? ", " : "", t);
    if (members > shown)
        text = arena_printf(arena, "%s and %u others", text, members - shown);
    return arena_printf(arena, "thread%s %s %s", members == 1 ? "" : "s", text,
                        members == 1 ? one : several);
}

static const char *place(const struct walk *w, uint32_t address)
{
    return program_location_name(w->arena, w->program, address);
}

/* Those of the threads that do not step in the loop who would write it: marked in `writers`. Of warps it is
 * not known who would, but for a statement, and that their warp has not finished. Returns the statement; CODE_NONE:
 * there is none. */
static uint32_t find_writers(struct walk *w, const struct matrix_loop *loop, uint32_t address,
                             uint8_t *writers)
{
    uint32_t threads = w->program->total_threads, found = CODE_NONE;
    bool alone = loop->machine->actor_count == threads && loop->machine->semantics->same_pc;
    for (uint32_t t = 0; t < threads && alone; t++) {
        uint32_t stm = w->steps[t] ? CODE_NONE : write_alone(w, loop, t, address);
        writers[t] = stm != CODE_NONE;
        found = found == CODE_NONE ? stm : found;
    }
    if (found != CODE_NONE)
        return found;
    for (uint32_t t = 0; t < threads; t++)
        writers[t] = !w->steps[t] && !has_finished(loop->machine, t);
    return find_writer(w, program_locate(w->program, address).var);
}

/* The statement at which the thread's actor waits in the loop's first state; CODE_NONE: it does not wait. */
static uint32_t waits_at(const struct machine *machine, uint32_t thread)
{
    uint32_t actor = actor_of(machine, thread);
    return can_step(machine, actor) ? CODE_NONE : machine->semantics->next_stm(machine, actor);
}

/* Why those who would write it do not: the model's reason, or that the first of them waits at a barrier. */
static const char *why_not(const struct walk *w, const struct matrix_loop *loop,
                           const uint8_t *writers)
{
    uint32_t thread = 0;
    while (!writers[thread])
        thread++;
    uint32_t stm = waits_at(loop->machine, thread);
    if (stm == CODE_NONE)
        return loop->cannot;
    return arena_printf(w->arena, "it waits at the barrier of line %u",
                        evidence_line(w->program, stm));
}

/* The first location that is read, and not written, in the loop. */
static const char *sentence(struct walk *w, const struct matrix_loop *loop)
{
    uint32_t threads = w->program->total_threads, i = 0, waiting = 0;
    uint8_t *writers = ARENA_ARRAY(w->arena, uint8_t, threads);
    uint8_t *spins = ARENA_ARRAY(w->arena, uint8_t, threads);
    while (i < w->count && w->written[w->reads[i].address])
        i++;
    if (i == w->count)
        return w->count == 0
                   ? "the loop reads nothing that anybody else could write"
                   : arena_printf(w->arena, "%s for ever: all that the loop reads it writes",
                                  threads_text(w->arena, w->steps, threads, "runs", "run"));
    uint32_t address = w->reads[i].address, stm = w->reads[i].stm;
    for (uint32_t k = 0; k < w->count; k++)
        if (w->reads[k].address == address)
            spins[w->reads[k].thread] = 1;
    const char *who = arena_printf(w->arena, "%s on %s at line %u",
                                   threads_text(w->arena, spins, threads, "spins", "spin"),
                                   place(w, address), evidence_line(w->program, stm));
    uint32_t writer = find_writers(w, loop, address, writers);
    for (uint32_t t = 0; t < threads; t++)
        waiting += writers[t];
    if (writer == CODE_NONE)
        return arena_printf(w->arena, "%s; no statement outside of the loop writes it", who);
    if (waiting == 0)
        return arena_printf(w->arena, "%s; line %u writes it, and nobody gets there", who,
                            evidence_line(w->program, writer));
    return arena_printf(w->arena, "%s; %s it at line %u, but %s", who,
                        threads_text(w->arena, writers, threads, "would write", "would write"),
                        evidence_line(w->program, writer), why_not(w, loop, writers));
}

const char *matrix_explain(struct arena *arena, const struct matrix_loop *loop)
{
    struct machine *machine = loop->machine;
    const struct program *program = machine->program;
    struct walk walk = {
        .arena = arena,
        .program = program,
        .steps = ARENA_ARRAY(arena, uint8_t, program->total_threads),
        .written = ARENA_ARRAY(arena, uint8_t, program->private_base * program->units + 1),
        .stms = ARENA_ARRAY(arena, uint8_t, program->stm_count + 1),
    };
    walk.observer = (struct observer){
        .context = &walk, .read = on_read, .write = on_write, .atomic = on_atomic, .step = on_step};
    machine_observe(machine, NULL);
    machine_reset(machine);
    run_tape(machine, loop->stem, arena);
    struct machine_options options = machine->options;
    options.observers = &walk.observer;
    struct machine *watched = machine_new(arena, machine->semantics, program, &options);
    machine_restore(watched, machine->block, machine->track.hash);
    run_tape(watched, loop->loop, arena);
    return sentence(&walk, loop);
}
