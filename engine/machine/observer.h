/*
 * observer.h - how oracles, the race detector and the tracer watch an execution.
 *
 * The engine owns this struct and fills none of it. A machine calls every observer of its chain, in
 * order. Accesses are reported for global and shared memory only (address < program.private_base):
 * private memory is seen by nobody else.
 */
#ifndef ENGINE_OBSERVER_H
#define ENGINE_OBSERVER_H

#include "engine/machine/rules.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t lane_mask; /* bit k = lane k of its warp */

struct machine;

enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

/* A barrier of a block released its threads, or a lock-step sync was passed: interval ends. */
struct barrier_event {
    uint32_t block;
    uint32_t stm; /* the barrier or sync statement (of the block's first thread) */
    bool all; /* all threads of the block took part: accesses before and after are ordered. False
                     only for a lock-step sync that nobody took part in (B-13) */
};

struct step_event {
    enum rule rule;
    uint32_t actor;          /* thread (threads) or warp (simt), numbered through the grid */
    uint32_t stm;            /* statement executed, CODE_NONE for tokens, contexts and inact */
    lane_mask active;        /* simt: active mask before the step; threads: 0 */
    const uint32_t *targets; /* crs: of the lanes that branch or call, by lane; NULL: none does */
    lane_mask truth;         /* guards: the lanes of `active` whose guard holds (threads: 0 or 1) */
    uint32_t first_thread; /* its: of the warp whose lanes `met` did `stm` together; met 0: none */
    lane_mask met;
};

/* What a named barrier of PTX does (BLK.*, NB.*): `mask` of the threads from first_thread on. */
enum barrier_use_kind {
    BARRIER_ARRIVES, /* registers, does not wait */
    BARRIER_SYNCS,   /* registers, waits */
    BARRIER_RELEASES /* its generation ends: these threads go on. Threads that registered by
                        BARRIER_SYNCS are released by one event a group */
};

struct barrier_use {
    enum barrier_use_kind kind;
    uint32_t block;
    uint32_t barrier; /* its number */
    uint32_t count;   /* threads that its generation takes */
    uint32_t
        generation; /* of this barrier in this block, from 0; in a tracked machine always 0: it is
                            no part of the state */
    uint32_t first_thread;
    lane_mask mask;
    uint32_t stm;
};

/* The accesses of one instruction of a warp, one a lane: order[0 .. count-1] are the lanes, in the order
 * of the accesses. */
struct access_row {
    uint32_t first_thread; /* of lane 0 */
    uint32_t stm;
    uint32_t count;
    uint32_t span; /* locations that an access takes, one behind the other */
    uint32_t bits; /* of a location */
    bool run;      /* lanes 0, 1, .. of locations one behind the other; false: perhaps */
    const uint8_t *order;
    const uint32_t *location; /* by lane: its first */
    const uint64_t
        *value; /* by lane: what is there afterwards, first location lowest; of a read: NULL */
};

static inline int32_t access_row_value(const struct access_row *row, uint32_t lane, uint32_t i)
{
    uint64_t value = row->value[lane] >> i * row->bits;
    return (int32_t)(uint32_t)(row->bits == 32 ? value : value & ((1u << row->bits) - 1));
}

struct observer {
    void *context;
    /* Each may be NULL. `thread` is the thread's number in the grid. */
    /* All accesses of an instruction at once; NULL: they come one by one, as below. */
    void (*access_row)(void *context, enum access_kind kind, const struct access_row *row);
    void (*read)(void *context, uint32_t thread, uint32_t address, uint32_t stm);
    void (*write)(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm);
    /* One indivisible read and write; `value` is what the location holds afterwards. */
    void (*atomic)(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm);
    void (*barrier)(void *context, const struct machine *machine,
                    const struct barrier_event *event);
    /* Named barriers only; a barrier that releases all threads of a block is reported as a `barrier` too. */
    void (*use)(void *context, const struct machine *machine, const struct barrier_use *use);
    /* The actor is going to step, the machine as it is before that. Told by machine_run, if it tells of choices. */
    void (*picked)(void *context, const struct machine *machine, uint32_t actor);
    /* One of n possibilities inside a step has been chosen, number `choice`; the step is told of afterwards.
     * machine_run tells it, and tells of n = 1 before the first step, so that who is told of nothing else knows that
     * there was nothing. */
    void (*chosen)(void *context, uint32_t n, uint32_t choice);
    /* After the step, the machine in its new state. */
    void (*step)(void *context, const struct machine *machine, const struct step_event *event);
    /* Likewise, of a step that no actor takes (machine.alternatives): a micro step of an operation, a silent rule of a
     * cache. `actor` is its number, `stm` the operation's instruction, `active` its lanes. */
    void (*environment)(void *context, const struct machine *machine,
                        const struct step_event *event);
    const struct observer *next;
};

/* A row, one access after the other. */
static inline void access_row_each(const struct observer *o, enum access_kind kind,
                                   const struct access_row *row)
{
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t lane = row->order[i], thread = row->first_thread + lane;
        for (uint32_t k = 0; k < row->span; k++) {
            uint32_t location = row->location[lane] + k;
            if (kind == ACCESS_READ && o->read)
                o->read(o->context, thread, location, row->stm);
            else if (kind == ACCESS_WRITE && o->write)
                o->write(o->context, thread, location, access_row_value(row, lane, k), row->stm);
            else if (kind == ACCESS_ATOMIC && o->atomic)
                o->atomic(o->context, thread, location, access_row_value(row, lane, k), row->stm);
        }
    }
}

#endif
