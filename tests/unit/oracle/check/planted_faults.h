/*
 * planted_faults.h - faults in executions: what a machine does at one step is not what its semantics says.
 *
 * A program that includes this is linked with --wrap=machine_new,--wrap=machine_observe. Every machine that is then
 * made for check_kernel steps honestly, but for those that `planted_fault` is about: of one semantics, and of these
 * all, or one by the order in which they are made. A fault depends on the state alone, so an execution that is replayed
 * shows it again.
 */
#ifndef TESTS_UNIT_PLANTED_FAULTS_H
#define TESTS_UNIT_PLANTED_FAULTS_H

#include "tests/unit/oracle/check/planted_told.h"

#include "engine/blocks/interleave.h"
#include "engine/crs/crs_internal.h"
#include "engine/warps/simt_internal.h"
#include "engine/warps/threads.h"

#include <stdio.h>

static enum rule planted_honest(struct machine *machine, uint32_t actor, struct choices *choices)
{
    return machine->semantics->step[step_variant(machine)](machine, actor, choices);
}

static enum rule planted_with(struct machine *machine, uint32_t actor, struct choices *choices,
                              const struct observer *observers)
{
    const struct observer *before = machine->options.observers;
    machine->options.observers = observers;
    enum rule rule = planted_honest(machine, actor, choices);
    machine->options.observers = before;
    return rule;
}

static void planted_word(struct machine *machine, uint32_t first, uint32_t end)
{
    if (first < end)
        put_memory(machine, first, machine->memory[first] + 1);
}

/* A word of memory is another, the first or the last of a part. False: the fault is none of these. */
static bool planted_spoil(struct machine *machine)
{
    const struct program *p = machine->program;
    const uint32_t bases[] = {0, p->shared_base, p->private_base, p->frame_base, p->memory_words};
    static const struct {
        enum planted_kind kind;
        uint32_t first, end;
        bool last;
    } words[] = {
        {PLANTED_GLOBAL, 0, 1, false},      {PLANTED_SHARED, 1, 2, false},
        {PLANTED_PRIVATE, 2, 4, false},     {PLANTED_LOCAL, 3, 4, false},
        {PLANTED_LAST_GLOBAL, 0, 1, true},  {PLANTED_LAST_SHARED, 1, 2, true},
        {PLANTED_LAST_PRIVATE, 2, 3, true}, {PLANTED_LAST_LOCAL, 3, 4, true},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].kind == planted_fault.kind) {
            uint32_t first = bases[words[i].first], end = bases[words[i].end];
            planted_word(machine, words[i].last && first < end ? end - 1 : first, end);
            return true;
        }
    return false;
}

static void planted_access(const struct machine *machine, enum planted_kind kind, uint32_t thread)
{
    uint32_t location = 0;
    for (const struct observer *o = machine->options.observers; o; o = o->next) {
        if (kind == PLANTED_READ && o->read)
            o->read(o->context, thread, location, 0);
        else if (kind == PLANTED_ATOMIC && o->atomic)
            o->atomic(o->context, thread, location, 7, 0);
        else if (kind == PLANTED_WRITE && o->write)
            o->write(o->context, thread, location, 7, 0);
    }
}

static void planted_status(struct machine *machine, enum status status)
{
    put(machine, &machine->head->status, status);
    put(machine, &machine->head->fault_thread, 0);
    put(machine, &machine->head->fault_stm, status == STATUS_TERMINATED ? CODE_NONE : 0);
}

/* The execution ends, or ends in another way, if the fault is such a one. */
static void planted_ending(struct machine *machine)
{
    static const enum status ends[PLANTED_KIND_COUNT] = {
        [PLANTED_ASSERT] = STATUS_ASSERT_FAILS,  [PLANTED_END] = STATUS_TERMINATED,
        [PLANTED_DEADLOCK] = STATUS_DEADLOCK,    [PLANTED_DIVERGENCE] = STATUS_BARRIER_DIVERGENCE,
        [PLANTED_BOUNDS] = STATUS_OUT_OF_BOUNDS, [PLANTED_STUCK] = STATUS_STUCK,
        [PLANTED_DEPTH] = STATUS_CALL_DEPTH,
    };
    struct machine_head *head = machine->head;
    enum status status = machine_status(machine);
    bool error = status != STATUS_RUNNING && status != STATUS_TERMINATED;
    if (ends[planted_fault.kind] != STATUS_RUNNING)
        planted_status(machine, ends[planted_fault.kind]);
    else if (planted_fault.kind == PLANTED_FORGIVE && status != STATUS_RUNNING)
        planted_status(machine, STATUS_TERMINATED);
    else if (planted_fault.kind == PLANTED_BLAME && error && machine->program->total_threads > 1)
        put(machine, &head->fault_thread, head->fault_thread ^ 1);
    else if (planted_fault.kind == PLANTED_BLAME_STATEMENT && error && head->fault_stm != CODE_NONE)
        put(machine, &head->fault_stm, head->fault_stm > 1 ? 1 : 2);
}

/* An error of the statement, by the first or second thread of the actor. */
static void planted_raise(struct machine *machine, uint32_t actor, uint32_t stm)
{
    uint32_t threads = machine->program->total_threads, each = threads / machine->actor_count,
             thread = actor * each + (each > 1 && planted_fault.which % 2);
    enum status status = planted_fault.kind == PLANTED_RAISE              ? STATUS_ASSERT_FAILS
                         : planted_fault.kind == PLANTED_RAISE_INFEASIBLE ? STATUS_INFEASIBLE
                         : planted_fault.kind == PLANTED_RAISE_BOUNDS     ? STATUS_OUT_OF_BOUNDS
                         : planted_fault.kind == PLANTED_RAISE_DIVERGENCE
                             ? STATUS_BARRIER_DIVERGENCE
                             : STATUS_CALL_DEPTH;
    if (stm == CODE_NONE || thread >= threads)
        return;
    put(machine, &machine->head->status, status);
    put(machine, &machine->head->fault_thread, thread);
    put(machine, &machine->head->fault_stm, stm);
}

/* The state of a thread that runs on its own. */
static void planted_thread(struct machine *machine, uint32_t actor)
{
    if (machine_status(machine) != STATUS_RUNNING)
        return;
    if (machine->semantics == &semantics_interleave) {
        struct block_thread *T = (struct block_thread *)(uintptr_t)interleave_state(machine, actor);
        if (planted_fault.kind == PLANTED_SKIP && T->pc + 1 < machine->program->stm_count)
            put(machine, &T->pc, T->pc + 1);
        else if (planted_fault.kind == PLANTED_WAIT)
            put(machine, &T->waiting, T->waiting ^ 1);
        else if (planted_fault.kind == PLANTED_GONE)
            put(machine, &T->ended, T->ended ^ 1);
        else if (planted_fault.kind == PLANTED_FRAME)
            put(machine, &T->frames, T->frames + 1);
    } else if (machine->semantics == &semantics_threads) {
        struct thread_state *T = (struct thread_state *)(uintptr_t)threads_state(machine, actor);
        bool between =
            T->depth > 1 && !T->pending; /* what has been read belongs to the topmost assignment */
        if (planted_fault.kind == PLANTED_POP && between)
            put(machine, &T->depth, T->depth - 1);
        else if (planted_fault.kind == PLANTED_ENTRY && between)
            put(machine, &T->stack[T->depth - 1], T->stack[0]);
        else if (planted_fault.kind == PLANTED_CALLS)
            put(machine, &T->calls, T->calls + 1);
    }
}

/* Masks of a warp, of either semantics. */
struct planted_warp {
    lane_mask all, *active, *broken, *returned, *exited, *token, *below;
};

static bool planted_warp(const struct machine *machine, uint32_t warp, struct planted_warp *w)
{
    if (machine->semantics == &semantics_simt) {
        struct warp_step x = view(machine, warp);
        *w = (struct planted_warp){all_lanes(x.w),
                                   &x.w->theta,
                                   &x.w->delta_b,
                                   &x.w->delta_r,
                                   &x.w->delta_e,
                                   x.w->depth > 0 ? &x.masks[x.w->depth - 1] : NULL,
                                   x.w->depth > 1 ? &x.masks[x.w->depth - 2] : NULL};
        return true;
    }
    if (machine->semantics == &semantics_crs || machine->semantics == &semantics_thread_pc) {
        struct crs_view x = crs_view(machine, warp);
        struct crs_state *s = x.state;
        *w = (struct planted_warp){crs_all_lanes(machine->program),
                                   &s->active,
                                   &s->broken,
                                   &s->returned,
                                   &s->exited,
                                   s->depth > 0 ? &x.tokens[s->depth - 1].mask : NULL,
                                   s->depth > 1 ? &x.tokens[s->depth - 2].mask : NULL};
        return true;
    }
    return false;
}

static void planted_mask(struct machine *machine, uint32_t warp)
{
    struct planted_warp w;
    if (machine_status(machine) != STATUS_RUNNING || !planted_warp(machine, warp, &w))
        return;
    lane_mask active = *w.active, asleep = w.all & ~active;
    if (planted_fault.kind == PLANTED_SLEEP)
        put_mask(machine, w.active, active & (active - 1));
    else if (planted_fault.kind == PLANTED_WAKE)
        put_mask(machine, w.active, active | (asleep & (~asleep + 1)));
    else if (planted_fault.kind == PLANTED_BROKEN)
        put_mask(machine, w.broken, *w.broken ^ 1);
    else if (planted_fault.kind == PLANTED_RETURNED)
        put_mask(machine, w.returned, *w.returned ^ 1);
    else if (planted_fault.kind == PLANTED_EXITED)
        put_mask(machine, w.exited, *w.exited ^ 1);
    else if (planted_fault.kind == PLANTED_TOKEN && w.token)
        put_mask(machine, w.token, *w.token ^ 1);
    else if (planted_fault.kind == PLANTED_BELOW && w.below)
        put_mask(machine, w.below, *w.below ^ 1);
    else if (planted_fault.kind == PLANTED_FULL && w.token)
        put_mask(machine, w.token, w.all);
    else if (planted_fault.kind == PLANTED_ASTRAY && machine->semantics == &semantics_thread_pc &&
             w.all > 1)
        put(machine, &crs_view(machine, warp).pcs[0], crs_view(machine, warp).pcs[1]);
}

static enum rule planted_do(struct machine *machine, uint32_t actor, struct choices *choices)
{
    const struct program *p = machine->program;
    const struct observer *observers = machine->options.observers;
    struct observer pairs[2 * PLANTED_OBSERVERS];
    uint32_t stm = machine->semantics->next_stm(machine, actor);
    enum rule rule;
    switch (planted_fault.kind) {
    case PLANTED_GLOBAL:
    case PLANTED_SHARED:
    case PLANTED_PRIVATE:
    case PLANTED_LAST_GLOBAL:
    case PLANTED_LAST_SHARED:
    case PLANTED_LAST_PRIVATE:
    case PLANTED_LOCAL:
    case PLANTED_LAST_LOCAL:
        rule = planted_honest(machine, actor, choices);
        (void)planted_spoil(machine);
        return rule;
    case PLANTED_WRITE:
    case PLANTED_READ:
    case PLANTED_ATOMIC:
        if (p->private_base > 0)
            planted_access(machine, planted_fault.kind, p->total_threads - 1);
        return planted_honest(machine, actor, choices);
    case PLANTED_WRITES:
        for (uint32_t t = 0; t < 2 && p->private_base > 0; t++)
            planted_access(machine, PLANTED_WRITE, t % p->total_threads);
        return planted_honest(machine, actor, choices);
    case PLANTED_DEAF:
    case PLANTED_DEAF_FIRST:
    case PLANTED_DEAF_LAST:
    case PLANTED_NO_BARRIER:
    case PLANTED_NO_BARRIER_FIRST:
    case PLANTED_NO_USE:
        return planted_with(machine, actor, choices, planted_listen(observers));
    case PLANTED_MISPLACE:
        if (p->private_base % 2 != 0)
            return planted_honest(machine, actor, choices);
        return planted_with(machine, actor, choices, planted_translate(observers, pairs));
    case PLANTED_MISTAKE:
        if (p->total_threads % 2 != 0)
            return planted_honest(machine, actor, choices);
        return planted_with(machine, actor, choices, planted_translate(observers, pairs));
    case PLANTED_MISREAD:
    case PLANTED_RULE:
    case PLANTED_MASK:
    case PLANTED_TRUTH:
    case PLANTED_STATEMENT:
    case PLANTED_USE_MASK:
    case PLANTED_USE_KIND:
    case PLANTED_USE_NUMBER:
    case PLANTED_USE_GENERATION:
    case PLANTED_USE_COUNT:
    case PLANTED_PART:
        return planted_with(machine, actor, choices, planted_translate(observers, pairs));
    case PLANTED_BARRIER:
        rule = planted_honest(machine, actor, choices);
        for (const struct observer *o = observers; o; o = o->next)
            if (o->barrier)
                o->barrier(o->context, machine,
                           &(struct barrier_event){.block = 0, .stm = 0, .all = true});
        return rule;
    case PLANTED_ASSERT:
    case PLANTED_END:
    case PLANTED_DEADLOCK:
    case PLANTED_DIVERGENCE:
    case PLANTED_BOUNDS:
    case PLANTED_STUCK:
    case PLANTED_DEPTH:
    case PLANTED_FORGIVE:
    case PLANTED_BLAME:
    case PLANTED_BLAME_STATEMENT:
        rule = planted_honest(machine, actor, choices);
        planted_ending(machine);
        return rule;
    case PLANTED_RAISE:
    case PLANTED_RAISE_INFEASIBLE:
    case PLANTED_RAISE_BOUNDS:
    case PLANTED_RAISE_DIVERGENCE:
    case PLANTED_RAISE_DEPTH:
        rule = planted_honest(machine, actor, choices);
        planted_raise(machine, actor, stm);
        return rule;
    case PLANTED_TWICE:
        rule = planted_honest(machine, actor, choices);
        for (uint32_t i = 0; i < machine->head->live_count; i++)
            if (machine_status(machine) == STATUS_RUNNING && machine->head->live[i] == actor)
                return planted_honest(machine, actor, choices);
        return rule;
    case PLANTED_STALL:
        machine->steps++;
        return RULE_NONE;
    case PLANTED_SLEEP:
    case PLANTED_WAKE:
    case PLANTED_BROKEN:
    case PLANTED_RETURNED:
    case PLANTED_EXITED:
    case PLANTED_TOKEN:
    case PLANTED_BELOW:
    case PLANTED_FULL:
    case PLANTED_ASTRAY:
        rule = planted_honest(machine, actor, choices);
        planted_mask(machine, actor);
        return rule;
    case PLANTED_SKIP:
    case PLANTED_WAIT:
    case PLANTED_GONE:
    case PLANTED_FRAME:
    case PLANTED_POP:
    case PLANTED_ENTRY:
    case PLANTED_CALLS:
        rule = planted_honest(machine, actor, choices);
        planted_thread(machine, actor);
        return rule;
    case PLANTED_KIND_COUNT:
        break;
    }
    fail();
    return RULE_NONE;
}

/* The step that ends an execution is known when it has been taken: then the faults that come after a step do. */
static enum rule planted_step(struct machine *machine, uint32_t actor, struct choices *choices)
{
    bool odd = !planted_fault.odd || actor % 2 == 1;
    bool ever = planted_fault.ever || planted_fault.kind == PLANTED_STALL;
    bool here = ever ? machine->steps >= planted_fault.at : machine->steps == planted_fault.at;
    if (odd && here)
        return planted_do(machine, actor, choices);
    enum rule rule = planted_honest(machine, actor, choices);
    if (planted_fault.at != PLANTED_AT_END || !odd || machine_status(machine) == STATUS_RUNNING)
        return rule;
    if (!planted_spoil(machine) && planted_fault.kind != PLANTED_END)
        planted_ending(machine);
    return rule;
}

struct machine *__real_machine_new(struct arena *, const struct semantics *, const struct program *,
                                   const struct machine_options *);
struct machine *__wrap_machine_new(struct arena *, const struct semantics *, const struct program *,
                                   const struct machine_options *);
void __real_machine_observe(struct machine *, const struct observer *);
void __wrap_machine_observe(struct machine *, const struct observer *);

struct machine *__wrap_machine_new(struct arena *arena, const struct semantics *semantics,
                                   const struct program *program,
                                   const struct machine_options *options)
{
    struct machine *machine = __real_machine_new(arena, semantics, program, options);
    if (planted_fault.semantics == semantics) {
        planted_machines++;
        if (planted_fault.which == PLANTED_IN_ALL || planted_fault.which == planted_machines)
            machine->step = planted_step;
    }
    return machine;
}

void __wrap_machine_observe(struct machine *machine, const struct observer *observers)
{
    bool planted = machine->step == planted_step;
    __real_machine_observe(machine, observers);
    if (planted)
        machine->step = planted_step;
}

static void planted_set(struct planted_fault fault)
{
    planted_fault = fault;
    planted_machines = 0;
}

/* "simt/0/global@3/odd" */
static void planted_print(const struct planted_fault *fault, char *text, size_t size)
{
    snprintf(text, size, "%s/%u/%s@%u%s%s", fault->semantics->name, fault->which,
             planted_names[fault->kind], fault->at, fault->ever ? "/ever" : "",
             fault->odd ? "/odd" : "");
}

static bool planted_parse(const char *text, struct planted_fault *fault)
{
    static const struct semantics *const all[] = {
        &semantics_threads, &semantics_simt,      &semantics_interleave, &semantics_lockstep,
        &semantics_crs,     &semantics_thread_pc, &semantics_block};
    char semantics[32], kind[32];
    *fault = (struct planted_fault){.semantics = NULL};
    if (sscanf(text, "%31[^/]/%u/%31[^@]@%u", semantics, &fault->which, kind, &fault->at) != 4)
        return false;
    fault->odd = strstr(text, "/odd") != NULL;
    fault->ever = strstr(text, "/ever") != NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, semantics) == 0)
            fault->semantics = all[i];
    for (uint32_t k = 0; k < PLANTED_KIND_COUNT; k++)
        if (strcmp(planted_names[k], kind) == 0) {
            fault->kind = (enum planted_kind)k;
            return fault->semantics != NULL;
        }
    return false;
}

#endif
