#include "oracle/reference/source.h"

#include "engine/reference/ref_pair.h"

#include <string.h>

enum {
    EVENTS = 1 << 12,        /* of an execution */
    STATEMENTS = 1 << 13,    /* of a thread, */
    STATEMENTS_ALL = 1 << 16 /* of all threads of an execution */
};

struct source {
    struct observer observer;
    struct ref *reference;
    const struct ast_kernel *kernel;
    const struct program *core;
    int32_t *inputs; /* memory as `core` finds it */
    int32_t *shadow; /* memory that others see, by what was told of it */
    struct ref_history history;
    uint64_t steps; /* begun; the first is 1 */
    bool full;
};

/* ---- what is told ---- */

static void keep(struct source *x, struct ref_event event)
{
    event.step = x->steps;
    if (x->history.count < EVENTS)
        x->history.events[x->history.count++] = event;
    else
        x->full = true;
}

static void hear(struct source *x, enum ref_event_kind kind, uint32_t thread, uint32_t address,
                 int32_t value)
{
    int32_t *word = &x->shadow[address];
    keep(x,
         (struct ref_event){
             .kind = kind, .thread = thread, .address = address, .value = value, .found = *word});
    *word = value;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct source *x = context;
    (void)stm;
    hear(x, REF_EVENT_READ, thread, address, x->shadow[address]);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)stm;
    hear(context, REF_EVENT_WRITE, thread, address, value);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)stm;
    hear(context, REF_EVENT_ATOMIC, thread, address, value);
}

static void pass(struct source *x, uint32_t thread)
{
    keep(x, (struct ref_event){.kind = REF_EVENT_BARRIER, .thread = thread});
}

/* Not the barrier that P has before End, which no text has, nor a sync that nobody takes part in. */
static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct source *x = context;
    const struct program *program = machine->program;
    uint32_t threads = program->launch.threads;
    if (!event->all)
        return;
    if (program->blocks && event->stm != CODE_NONE &&
        program->blocks[program->stms[event->stm].block].added)
        return;
    for (uint32_t t = event->block * threads; t < (event->block + 1) * threads; t++)
        pass(x, t);
}

/* Of PTX: who waits at a barrier goes on, a group of threads. */
static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct source *x = context;
    (void)machine;
    for (uint32_t l = 0; use->kind == BARRIER_RELEASES && l < LIMIT_WARP; l++)
        if (use->mask >> l & 1)
            pass(x, use->first_thread + l);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct source *x = context;
    (void)machine;
    (void)event;
    x->steps++;
}

/* ---- an execution ---- */

struct source *source_new(struct arena *arena, struct ref_room *room,
                          const struct ast_kernel *kernel, const struct program *core,
                          const char **why)
{
    const struct ref_options options = {0};
    if (kernel->form != FORM_STRUCTURED || !core) {
        *why = "the kernel has no structured text that runs";
        return NULL;
    }
    *why = ref_source_refuses(kernel);
    struct ref *r = *why ? NULL : ref_new(arena, room, kernel, REF_THREADS, &options, why);
    if (!r)
        return NULL;
    struct source *x = ARENA_NEW(arena, struct source);
    *x = (struct source){.reference = r, .kernel = kernel};
    x->core = core;
    x->inputs = ARENA_ARRAY(arena, int32_t, core->memory_words);
    program_init_memory(core, x->inputs);
    x->shadow = ARENA_ARRAY(arena, int32_t, r->private_base + 1);
    x->history.events = arena_room(arena, EVENTS * sizeof *x->history.events);
    return x;
}

static bool is_ptx(const struct machine *machine)
{
    return machine->semantics->form == FORM_PTX;
}

bool source_applies(enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    enum ref_kind kind;
    bool is_of_blocks = info->vtable && ref_find(info->vtable->name, &kind) &&
                        kind == REF_INTERLEAVE && !info->options.literal &&
                        !forms_is_predicated(info->program);
    return info->role == SUBJECT_ORDINARY || is_of_blocks || subject == SUBJECT_CONVERGENCE;
}

struct observer *source_begin(struct source *x, const struct machine *machine)
{
    const struct program *program = machine->program;
    const int32_t *initial =
        (const int32_t *)machine->initial + (machine->memory - (const int32_t *)machine->block);
    if (program->private_base != x->reference->private_base || program->units != 1)
        return NULL;
    memcpy(x->shadow, initial, program->private_base * sizeof *x->shadow);
    x->history.count = 0;
    x->steps = 1;
    x->full = false;
    x->observer = (struct observer){
        .context = x, .read = on_read, .write = on_write, .atomic = on_atomic, .step = on_step};
    if (is_ptx(machine))
        x->observer.use = on_use;
    else
        x->observer.barrier = on_barrier;
    return &x->observer;
}

/* ---- how it ended ---- */

/* Of a thread: its end, where it is known. Others are cut when one fails. */
static enum ref_end end_of(const struct source *x, const struct machine *machine,
                           enum status status, uint32_t thread)
{
    if (x->full)
        return REF_RUNNING;
    if (status == STATUS_TERMINATED)
        return REF_TERMINATED;
    if (machine->semantics->actors == ACTORS_BLOCKS || machine->head->fault_thread != thread)
        return REF_RUNNING;
    return status == STATUS_ASSERT_FAILS    ? REF_ASSERT_FAILS
           : status == STATUS_OUT_OF_BOUNDS ? REF_OUT_OF_BOUNDS
           : status == STATUS_CALL_DEPTH    ? REF_CALL_DEPTH
           : status == STATUS_INFEASIBLE    ? REF_INFEASIBLE
                                            : REF_RUNNING;
}

/* Where a variable of the thread lies, in words behind `memory`; NULL: the program has none of that name. */
static const int32_t *private_in(const struct program *program, const int32_t *memory,
                                 uint32_t thread, const struct ast_var *var)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast->space == SPACE_PRIVATE &&
            strcmp(program->vars[i].ast->name, var->name) == 0)
            return &memory[program->private_base + thread * program->words[SPACE_PRIVATE] +
                           program->vars[i].offset];
    return NULL;
}

static bool same_privates(const struct source *x, const struct machine *machine, uint32_t thread)
{
    uint32_t words;
    const int32_t *own = ref_private_of(x->reference, thread, &words);
    for (const struct ast_var *v = x->kernel->vars; v && !is_ptx(machine); v = v->next) {
        if (v->space != SPACE_PRIVATE)
            continue;
        const int32_t *other = private_in(machine->program, machine->memory, thread, v);
        if (other && memcmp(own, other, v->length * sizeof *own) != 0)
            return false;
        own += v->length;
    }
    return true;
}

/* Private variables that the launch draws lie where the program has them. */
static void take_inputs(struct source *x)
{
    struct ref *r = x->reference;
    uint32_t at = r->private_base, words;
    (void)ref_private_of(r, 0, &words);
    for (const struct ast_var *v = x->kernel->vars; v; v = v->next) {
        if (v->space != SPACE_PRIVATE)
            continue;
        for (uint32_t t = 0; t < r->thread_count && v->is_input; t++) {
            const int32_t *from = private_in(x->core, x->inputs, t, v);
            if (from)
                memcpy(&r->memory[at + t * words], from, v->length * sizeof *from);
        }
        at += v->length;
    }
}

/* The thread is run again, with the history as it stands now. */
static const char *run_again(struct source *x, const struct machine *machine, uint32_t thread,
                             enum ref_end end, uint64_t *left)
{
    for (uint32_t i = 0; i < x->history.count; i++)
        x->history.events[i].used = false;
    ref_source_start(x->reference, x->inputs);
    take_inputs(x);
    struct ref_source_end found =
        ref_source_run(x->reference, thread, &x->history, end, STATEMENTS, left);
    if (!found.differs && found.ended && end == REF_TERMINATED &&
        !same_privates(x, machine, thread))
        found.differs = "private memory";
    return found.differs;
}

struct source_answer source_end(struct source *x, const struct machine *machine, enum status status)
{
    uint64_t left = STATEMENTS_ALL;
    struct source_answer answer = {.events = x->history.count};
    ref_source_start(x->reference, x->inputs);
    take_inputs(x);
    for (uint32_t t = 0; t < x->reference->thread_count && left >= STATEMENTS; t++) {
        enum ref_end end = end_of(x, machine, status, t);
        struct ref_source_end found =
            ref_source_run(x->reference, t, &x->history, end, STATEMENTS, &left);
        if (!found.differs && found.ended && end == REF_TERMINATED && !same_privates(x, machine, t))
            found.differs = "private memory";
        if (!found.differs)
            continue;
        answer.differs = found.differs;
        answer.thread = t;
        answer.line = found.line;
        answer.event = found.event;
        answer.next = found.event < x->history.count ? &x->history.events[found.event] : NULL;
        return answer;
    }
    return answer;
}

/* ---- what must be refused ---- */

/* Whether the text misses this read, which it took, when it is left out: no other can be taken for it, whatever else
 * the thread has read there was the same value, and it does something behind it, or its end is known. */
static bool is_missed(const struct source *x, uint32_t number, bool ended)
{
    const struct ref_event *e = x->history.events, *one = &e[number];
    bool goes_on = ended;
    for (uint32_t i = 0; i < x->history.count; i++) {
        if (e[i].thread != one->thread)
            continue;
        goes_on = goes_on || (i > number && e[i].kind != REF_EVENT_READ);
        if (e[i].kind == REF_EVENT_READ && e[i].address == one->address &&
            (!e[i].used || e[i].value != one->value))
            return false;
    }
    return goes_on;
}

/* Changes an event that was taken; NULL: nothing of it can be changed so that the text could not do it. */
static const char *spoil(struct source *x, uint32_t number, bool ended, uint64_t drawn)
{
    struct ref_event *e = &x->history.events[number];
    const bool has_value = e->kind == REF_EVENT_WRITE || e->kind == REF_EVENT_ATOMIC;
    if (e->kind == REF_EVENT_READ) {
        if (!is_missed(x, number, ended))
            return NULL;
        e->thread = UINT32_MAX;
        return "a read is left out";
    }
    switch (drawn % 3) {
    case 0:
        if (!has_value)
            break;
        e->value ^= (int32_t)1 << (drawn / 4 % 31);
        return "another value";
    case 1:
        if (!has_value)
            break;
        e->address++;
        return "another place";
    default:
        break;
    }
    e->kind = e->kind == REF_EVENT_BARRIER ? REF_EVENT_WRITE
              : drawn & 4                  ? REF_EVENT_BARRIER
              : has_value && drawn & 8
                  ? (e->kind == REF_EVENT_WRITE ? REF_EVENT_ATOMIC : REF_EVENT_WRITE)
                  : REF_EVENT_BARRIER;
    return "another kind";
}

const char *source_allows(struct source *x, const struct machine *machine, enum status status,
                          uint64_t drawn)
{
    uint64_t left = STATEMENTS_ALL;
    const uint32_t thread = (uint32_t)(drawn % x->reference->thread_count);
    const enum ref_end end = end_of(x, machine, status, thread);
    uint32_t taken[EVENTS], count = 0;
    if (x->full || run_again(x, machine, thread, end, &left))
        return NULL;
    for (uint32_t i = 0; i < x->history.count; i++)
        if (x->history.events[i].thread == thread && x->history.events[i].used)
            taken[count++] = i;
    /* How it ended, where that is known; or something that it did. */
    if (end != REF_RUNNING && (count == 0 || drawn / 64 % 4 == 0)) {
        const enum ref_end other = end == REF_TERMINATED ? REF_ASSERT_FAILS : REF_TERMINATED;
        return run_again(x, machine, thread, other, &left) ? NULL : "another end";
    }
    if (count == 0)
        return NULL;
    const uint32_t number = taken[drawn / 256 % count];
    const struct ref_event was = x->history.events[number];
    const char *what = spoil(x, number, end != REF_RUNNING, drawn / 65536);
    const char *differs = what ? run_again(x, machine, thread, end, &left) : "";
    x->history.events[number] = was;
    return differs || left == 0 ? NULL : what;
}
