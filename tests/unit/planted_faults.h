/*
 * planted_faults.h - faults in executions: what a machine does at one step is not what its semantics says.
 *
 * A program that includes this is linked with --wrap=machine_new,--wrap=machine_observe. Every machine that is then made
 * for check_kernel steps honestly, but for those that `planted_fault` is about: of one semantics, and of these all, or
 * one by the order in which they are made. A fault depends on the state alone, so an execution that is replayed shows
 * it again.
 */
#ifndef TESTS_UNIT_PLANTED_FAULTS_H
#define TESTS_UNIT_PLANTED_FAULTS_H

#include "tests/unit/support.h"

#include "engine/crs_internal.h"
#include "engine/simt_internal.h"

#include <stdio.h>

#define PLANTED_KINDS(X)                                                                           \
    X(GLOBAL, "global")         /* a word of global memory is another after the step */            \
    X(SHARED, "shared")         /* the same of shared memory */                                    \
    X(PRIVATE, "private")       /* of private memory */                                            \
    X(WRITE, "write")           /* an access is told that was none */                              \
    X(READ, "read")             /* the same */                                                     \
    X(ATOMIC, "atomic")         /* the same */                                                     \
    X(WRITES, "writes")         /* two threads write one location */                               \
    X(DEAF, "deaf")             /* accesses are not told */                                        \
    X(DEAF_FIRST, "deaf-first") /* not to the first who hears of them */                           \
    X(DEAF_LAST, "deaf-last")   /* not to the last */                                              \
    X(MISPLACE, "misplace")     /* accesses are told of another location */                        \
    X(NO_BARRIER, "no-barrier") /* barriers are not told */                                        \
    X(NO_BARRIER_FIRST, "no-barrier-first") /* not to the first who hears of them */               \
    X(NO_USE, "no-use")                     /* named barriers are not told */                      \
    X(BARRIER, "barrier")                   /* a barrier is told that was none */                  \
    X(ASSERT, "assert")                     /* the execution ends with an error that it has not */ \
    X(END, "end")                           /* ends well, too early */                             \
    X(DEADLOCK, "deadlock")                 /* ends in a deadlock that is none */                  \
    X(FORGIVE, "forgive")                   /* an error is taken for a good end */                 \
    X(RULE, "rule")                         /* another rule is said to have fired */               \
    X(MASK, "mask")                         /* other lanes are said to be active */                \
    X(TRUTH, "truth")                       /* a guard is said to hold for others */               \
    X(STATEMENT, "statement")               /* another statement is said to be executed */         \
    X(TWICE, "twice")                       /* two steps are taken for one */                      \
    X(STALL, "stall")                       /* nobody moves any more */                            \
    X(SLEEP, "sleep")                       /* warps: the lowest active lane no longer is */       \
    X(WAKE, "wake")                         /* a lane is active that is not */                     \
    X(BROKEN, "broken")                     /* lane 0 has left a loop, or has no longer */         \
    X(RETURNED, "returned")                 /* a function */                                       \
    X(EXITED, "exited")                     /* for good */                                         \
    X(TOKEN, "token")                       /* lane 0 is in the topmost token, or is no longer */  \
    X(BELOW, "below")                       /* the same of the token below it */                   \
    X(FULL, "full")                         /* the topmost token has all lanes */                  \
    X(ASTRAY, "astray")                     /* thread-pc: lane 0 is where lane 1 is */

enum planted_kind {
#define X(id, name) PLANTED_##id,
    PLANTED_KINDS(X)
#undef X
        PLANTED_KIND_COUNT
};

static const char *const planted_names[PLANTED_KIND_COUNT] = {
#define X(id, name) name,
    PLANTED_KINDS(X)
#undef X
};

enum { PLANTED_AT_END = 99, PLANTED_IN_ALL = 0 };

struct planted_fault {
    const struct semantics *semantics; /* NULL: no fault */
    uint32_t which;                    /* PLANTED_IN_ALL, or only in the 1st, 2nd ... of them */
    enum planted_kind kind;
    uint32_t at; /* how many steps come first; PLANTED_AT_END: the step that ends the execution */
    bool odd;    /* only if an odd actor takes it */
    bool ever;   /* at each step from there on */
};

static struct planted_fault planted_fault;
static uint32_t planted_machines; /* made for its semantics */

/* The observers of the machine that steps, as the fault lets them hear. */
enum { PLANTED_OBSERVERS = 8 };
static struct observer planted_chain[PLANTED_OBSERVERS];

static void planted_step_event(void *context, const struct machine *machine,
                               const struct step_event *event)
{
    const struct observer *o = context;
    struct step_event other = *event;
    if (planted_fault.kind == PLANTED_RULE)
        other.rule = (enum rule)((event->rule + 1) % RULE_COUNT);
    else if (planted_fault.kind == PLANTED_MASK)
        other.active ^= 1;
    else if (planted_fault.kind == PLANTED_TRUTH)
        other.truth ^= 1;
    else if (planted_fault.kind == PLANTED_STATEMENT)
        other.stm = event->stm == 0 || event->stm == CODE_NONE ? event->stm : event->stm - 1;
    o->step(o->context, machine, &other);
}

static void planted_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    const struct observer *o = context;
    o->read(o->context, thread, address ^ 1, stm);
}

static void planted_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                          uint32_t stm)
{
    const struct observer *o = context;
    o->write(o->context, thread, address ^ 1, value, stm);
}

/* The n-th of those that hear of accesses, or of barriers, is the first or the last; -1: none. */
static int planted_nth(const struct observer *observers, bool barriers, bool last)
{
    int found = -1, n = 0;
    for (const struct observer *o = observers; o; o = o->next, n++) {
        bool hears = barriers ? o->barrier != NULL : o->write || o->access_row;
        if (hears && (last || found < 0))
            found = n;
    }
    return found;
}

static const struct observer *planted_listen(const struct observer *observers)
{
    int count = 0, deaf = -1;
    enum planted_kind kind = planted_fault.kind;
    if (kind == PLANTED_DEAF_FIRST || kind == PLANTED_DEAF_LAST)
        deaf = planted_nth(observers, false, kind == PLANTED_DEAF_LAST);
    else if (kind == PLANTED_NO_BARRIER_FIRST)
        deaf = planted_nth(observers, true, false);
    for (const struct observer *o = observers; o; o = o->next) {
        struct observer *copy = &planted_chain[count];
        assert_true(count < PLANTED_OBSERVERS);
        *copy = *o;
        if (kind == PLANTED_DEAF || (kind != PLANTED_NO_BARRIER_FIRST && deaf == count)) {
            copy->access_row = NULL;
            copy->read = NULL;
            copy->write = copy->atomic = NULL;
        } else if (kind == PLANTED_NO_BARRIER || deaf == count) {
            copy->barrier = NULL;
        } else if (kind == PLANTED_NO_USE) {
            copy->use = NULL;
        }
        copy->next = o->next ? copy + 1 : NULL;
        count++;
    }
    return count > 0 ? planted_chain : NULL;
}

/* A chain whose observers hear of steps, or accesses, through the functions above: these get the observer itself. */
static const struct observer *planted_translate(const struct observer *observers,
                                                struct observer *pairs)
{
    uint32_t count = 0;
    for (const struct observer *o = observers; o; o = o->next) {
        assert_true(count + 2 <= 2 * PLANTED_OBSERVERS);
        bool accesses = planted_fault.kind == PLANTED_MISPLACE;
        struct observer *rest = &pairs[count++], *heard = &pairs[count++];
        *rest = *o;
        *heard = (struct observer){.context = (void *)(uintptr_t)o};
        if (accesses && (o->read || o->write)) {
            rest->access_row = NULL;
            rest->read = NULL;
            rest->write = NULL;
            heard->read = o->read ? planted_read : NULL;
            heard->write = o->write ? planted_write : NULL;
        } else if (!accesses && o->step) {
            rest->step = NULL;
            heard->step = planted_step_event;
        }
        rest->next = heard;
        heard->next = o->next ? heard + 1 : NULL;
    }
    return count > 0 ? pairs : NULL;
}

static enum rule planted_honest(struct machine *machine, uint32_t actor, struct choices *choices)
{
    unsigned mode = (machine->options.observers ? MACHINE_OBSERVED : 0) |
                    (machine->options.track ? MACHINE_TRACKED : 0);
    return machine->semantics->step[mode](machine, actor, choices);
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
    unsigned mode = machine->options.track ? MACHINE_TRACKED : 0;
    if (first < end)
        put_memory(machine, first, machine->memory[first] + 1, mode);
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
    unsigned mode = machine->options.track ? MACHINE_TRACKED : 0;
    put(machine, &machine->head->status, status, mode);
    put(machine, &machine->head->fault_thread, 0, mode);
    put(machine, &machine->head->fault_stm, status == STATUS_TERMINATED ? CODE_NONE : 0, mode);
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
    unsigned mode = machine->options.track ? MACHINE_TRACKED : 0;
    struct planted_warp w;
    if (machine_status(machine) != STATUS_RUNNING || !planted_warp(machine, warp, &w))
        return;
    lane_mask active = *w.active, asleep = w.all & ~active;
    if (planted_fault.kind == PLANTED_SLEEP)
        put_mask(machine, w.active, active & (active - 1), mode);
    else if (planted_fault.kind == PLANTED_WAKE)
        put_mask(machine, w.active, active | (asleep & (~asleep + 1)), mode);
    else if (planted_fault.kind == PLANTED_BROKEN)
        put_mask(machine, w.broken, *w.broken ^ 1, mode);
    else if (planted_fault.kind == PLANTED_RETURNED)
        put_mask(machine, w.returned, *w.returned ^ 1, mode);
    else if (planted_fault.kind == PLANTED_EXITED)
        put_mask(machine, w.exited, *w.exited ^ 1, mode);
    else if (planted_fault.kind == PLANTED_TOKEN && w.token)
        put_mask(machine, w.token, *w.token ^ 1, mode);
    else if (planted_fault.kind == PLANTED_BELOW && w.below)
        put_mask(machine, w.below, *w.below ^ 1, mode);
    else if (planted_fault.kind == PLANTED_FULL && w.token)
        put_mask(machine, w.token, w.all, mode);
    else if (planted_fault.kind == PLANTED_ASTRAY && machine->semantics == &semantics_thread_pc &&
             w.all > 1)
        put(machine, &crs_view(machine, warp).pcs[0], crs_view(machine, warp).pcs[1], mode);
}

static enum rule planted_do(struct machine *machine, uint32_t actor, struct choices *choices)
{
    const struct program *p = machine->program;
    const struct observer *observers = machine->options.observers;
    struct observer pairs[2 * PLANTED_OBSERVERS];
    enum rule rule;
    switch (planted_fault.kind) {
    case PLANTED_GLOBAL:
        rule = planted_honest(machine, actor, choices);
        planted_word(machine, 0, p->shared_base);
        return rule;
    case PLANTED_SHARED:
        rule = planted_honest(machine, actor, choices);
        planted_word(machine, p->shared_base, p->private_base);
        return rule;
    case PLANTED_PRIVATE:
        rule = planted_honest(machine, actor, choices);
        planted_word(machine, p->private_base, p->memory_words);
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
    case PLANTED_RULE:
    case PLANTED_MASK:
    case PLANTED_TRUTH:
    case PLANTED_STATEMENT:
        return planted_with(machine, actor, choices, planted_translate(observers, pairs));
    case PLANTED_BARRIER:
        rule = planted_honest(machine, actor, choices);
        for (const struct observer *o = observers; o; o = o->next)
            if (o->barrier)
                o->barrier(o->context, machine,
                           &(struct barrier_event){.block = 0, .stm = 0, .all = true});
        return rule;
    case PLANTED_ASSERT:
        rule = planted_honest(machine, actor, choices);
        planted_status(machine, STATUS_ASSERT_FAILS);
        return rule;
    case PLANTED_END:
        rule = planted_honest(machine, actor, choices);
        planted_status(machine, STATUS_TERMINATED);
        return rule;
    case PLANTED_DEADLOCK:
        rule = planted_honest(machine, actor, choices);
        planted_status(machine, STATUS_DEADLOCK);
        return rule;
    case PLANTED_FORGIVE:
        rule = planted_honest(machine, actor, choices);
        if (machine_status(machine) != STATUS_RUNNING)
            planted_status(machine, STATUS_TERMINATED);
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
    const struct program *p = machine->program;
    if (planted_fault.kind == PLANTED_GLOBAL)
        planted_word(machine, 0, p->shared_base);
    else if (planted_fault.kind == PLANTED_SHARED)
        planted_word(machine, p->shared_base, p->private_base);
    else if (planted_fault.kind == PLANTED_PRIVATE)
        planted_word(machine, p->private_base, p->memory_words);
    else if (planted_fault.kind == PLANTED_ASSERT)
        planted_status(machine, STATUS_ASSERT_FAILS);
    else if (planted_fault.kind == PLANTED_DEADLOCK)
        planted_status(machine, STATUS_DEADLOCK);
    else if (planted_fault.kind == PLANTED_FORGIVE)
        planted_status(machine, STATUS_TERMINATED);
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
