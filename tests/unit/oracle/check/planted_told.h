/*
 * planted_told.h - kinds of planted faults (planted_faults.h), and those of them that are in what observers are told of
 * a step: accesses, barriers, the step itself.
 */
#ifndef TESTS_UNIT_PLANTED_TOLD_H
#define TESTS_UNIT_PLANTED_TOLD_H

#include "tests/unit/shared/support.h"

#include "engine/machine/machine.h"

#define PLANTED_KINDS(X)                                                                           \
    X(GLOBAL, "global")   /* a word of global memory is another after the step */                  \
    X(SHARED, "shared")   /* the same of shared memory */                                          \
    X(PRIVATE, "private") /* of private memory */                                                  \
    X(LAST_GLOBAL, "last-global")                                                                  \
    X(LAST_SHARED, "last-shared")                                                                  \
    X(LAST_PRIVATE, "last-private") /* in front of the frames */                                   \
    X(LOCAL, "local")               /* of the first frame */                                       \
    X(LAST_LOCAL, "last-local")                                                                    \
    X(WRITE, "write")                       /* an access is told that was none */                  \
    X(READ, "read")                         /* the same */                                         \
    X(ATOMIC, "atomic")                     /* the same */                                         \
    X(WRITES, "writes")                     /* two threads write one location */                   \
    X(DEAF, "deaf")                         /* accesses are not told */                            \
    X(DEAF_FIRST, "deaf-first")             /* not to the first who hears of them */               \
    X(DEAF_LAST, "deaf-last")               /* not to the last */                                  \
    X(MISPLACE, "misplace")                 /* accesses are told of another location */            \
    X(MISTAKE, "mistake")                   /* of another thread */                                \
    X(MISREAD, "misread")                   /* writes are told of another value */                 \
    X(NO_BARRIER, "no-barrier")             /* barriers are not told */                            \
    X(NO_BARRIER_FIRST, "no-barrier-first") /* not to the first who hears of them */               \
    X(NO_USE, "no-use")                     /* named barriers are not told */                      \
    X(USE_MASK, "use-mask")                 /* they are told without the lowest thread */          \
    X(USE_KIND, "use-kind")                 /* as another kind of use */                           \
    X(USE_NUMBER, "use-number")             /* of another barrier */                               \
    X(USE_GENERATION, "use-generation")     /* of the next generation */                           \
    X(USE_COUNT, "use-count")               /* with another count */                               \
    X(BARRIER, "barrier")                   /* a barrier is told that was none */                  \
    X(PART, "part")                         /* of a barrier it is told that not all took part */   \
    X(ASSERT, "assert")                     /* the execution ends with an error that it has not */ \
    X(END, "end")                           /* ends well, too early */                             \
    X(DEADLOCK, "deadlock")                 /* ends in a deadlock that is none */                  \
    X(DIVERGENCE, "divergence")             /* in barrier divergence */                            \
    X(BOUNDS, "bounds")                     /* in an index out of bounds */                        \
    X(STUCK, "stuck")                       /* without a rule */                                   \
    X(DEPTH, "depth")                       /* in too many calls */                                \
    X(RAISE, "raise")                       /* in an error of the statement that is executed */    \
    X(RAISE_INFEASIBLE, "raise-infeasible") /* in an assumption there that does not hold */        \
    X(RAISE_BOUNDS, "raise-bounds")                                                                \
    X(RAISE_DIVERGENCE, "raise-divergence")                                                        \
    X(RAISE_DEPTH, "raise-depth")                                                                  \
    X(BLAME, "blame")                     /* an error is another thread's */                       \
    X(BLAME_STATEMENT, "blame-statement") /* or at another statement */                            \
    X(FORGIVE, "forgive")                 /* an error is taken for a good end */                   \
    X(RULE, "rule")                       /* another rule is said to have fired */                 \
    X(MASK, "mask")                       /* other lanes are said to be active */                  \
    X(TRUTH, "truth")                     /* a guard is said to hold for others */                 \
    X(STATEMENT, "statement")             /* another statement is said to be executed */           \
    X(TWICE, "twice")                     /* two steps are taken for one */                        \
    X(STALL, "stall")                     /* nobody moves any more */                              \
    X(SLEEP, "sleep")                     /* warps: the lowest active lane no longer is */         \
    X(WAKE, "wake")                       /* a lane is active that is not */                       \
    X(BROKEN, "broken")                   /* lane 0 has left a loop, or has no longer */           \
    X(RETURNED, "returned")               /* a function */                                         \
    X(EXITED, "exited")                   /* for good */                                           \
    X(TOKEN, "token")                     /* lane 0 is in the topmost token, or is no longer */    \
    X(BELOW, "below")                     /* the same of the token below it */                     \
    X(FULL, "full")                       /* the topmost token has all lanes */                    \
    X(ASTRAY, "astray")                   /* thread-pc: lane 0 is where lane 1 is */               \
    X(SKIP, "skip")                       /* interleave: a thread skips a statement */             \
    X(WAIT, "wait")                       /* one waits at a barrier, or no longer does */          \
    X(GONE, "gone")                       /* one has ended, or has not */                          \
    X(FRAME, "frame")                     /* one has a frame more than it says */                  \
    X(POP, "pop")                         /* threads: a stack lacks its top */                     \
    X(ENTRY, "entry")                     /* its top is what lies at the bottom */                 \
    X(CALLS, "calls")                     /* one more call is counted */

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

/* The access, of which something is told that is not so. */
static void planted_lie(uint32_t *thread, uint32_t *address, int32_t *value)
{
    if (planted_fault.kind == PLANTED_MISPLACE)
        *address ^= 1;
    else if (planted_fault.kind == PLANTED_MISTAKE)
        *thread ^= 1;
    else
        *value += 1;
}

static void planted_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    const struct observer *o = context;
    int32_t value = 0;
    planted_lie(&thread, &address, &value);
    o->read(o->context, thread, address, stm);
}

static void planted_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                          uint32_t stm)
{
    const struct observer *o = context;
    planted_lie(&thread, &address, &value);
    o->write(o->context, thread, address, value, stm);
}

static void planted_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                           uint32_t stm)
{
    const struct observer *o = context;
    planted_lie(&thread, &address, &value);
    o->atomic(o->context, thread, address, value, stm);
}

static void planted_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    const struct observer *o = context;
    struct barrier_use other = *use;
    if (planted_fault.kind == PLANTED_USE_MASK)
        other.mask &= other.mask - 1;
    else if (planted_fault.kind == PLANTED_USE_KIND)
        other.kind = (enum barrier_use_kind)((use->kind + 1) % 3);
    else if (planted_fault.kind == PLANTED_USE_NUMBER)
        other.barrier ^= 1;
    else if (planted_fault.kind == PLANTED_USE_GENERATION)
        other.generation++;
    else
        other.count += 32;
    if (other.mask)
        o->use(o->context, machine, &other);
}

static void planted_barrier(void *context, const struct machine *machine,
                            const struct barrier_event *event)
{
    const struct observer *o = context;
    struct barrier_event other = *event;
    other.all = false;
    o->barrier(o->context, machine, &other);
}

static bool planted_is_use(enum planted_kind kind)
{
    return kind >= PLANTED_USE_MASK && kind <= PLANTED_USE_COUNT;
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
        enum planted_kind kind = planted_fault.kind;
        bool accesses =
            kind == PLANTED_MISPLACE || kind == PLANTED_MISTAKE || kind == PLANTED_MISREAD;
        struct observer *rest = &pairs[count++], *heard = &pairs[count++];
        *rest = *o;
        *heard = (struct observer){.context = (void *)(uintptr_t)o};
        if (accesses && (o->read || o->write || o->atomic)) {
            rest->access_row = NULL;
            rest->read = NULL;
            rest->write = rest->atomic = NULL;
            heard->read = o->read ? planted_read : NULL;
            heard->write = o->write ? planted_write : NULL;
            heard->atomic = o->atomic ? planted_atomic : NULL;
        } else if (planted_is_use(kind) && o->use) {
            rest->use = NULL;
            heard->use = planted_use;
        } else if (kind == PLANTED_PART && o->barrier) {
            rest->barrier = NULL;
            heard->barrier = planted_barrier;
        } else if (!accesses && !planted_is_use(kind) && kind != PLANTED_PART && o->step) {
            rest->step = NULL;
            heard->step = planted_step_event;
        }
        rest->next = heard;
        heard->next = o->next ? heard + 1 : NULL;
    }
    return count > 0 ? pairs : NULL;
}

#endif
