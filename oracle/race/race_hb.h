/*
 * race_hb.h - data races by happens-before, for PTX: named barriers order some threads with some others,
 * and lanes of a warp step together. Catalogue named-barriers, NB.hb, NB.race; race.h has the definition
 * that barrier intervals suffice for.
 *
 * A group is what executes in one order: a warp of `crs` and `thread-pc` when a kernel is asked about in
 * lock-step, a thread otherwise. The accesses of one step of a group are simultaneous, and of one kind.
 *
 *     a -> b    a and b are of one group, a's step is before b's; or of one thread
 *     a -> b    a is before p registered at a barrier's generation, by arriving or waiting, b is after s
 *               was released from it, s having waited (an arrival waits for nobody)
 *     a -> b    a barrier that all threads of their block took part in lies between
 *     a -> b    atomics_sync: both are atomics on one location, a was first
 *
 * and the transitive closure. Two accesses of one location by different threads race when neither is before
 * the other, one writes (a write, an atomic), and not both are atomics. Nothing but atomics_sync orders
 * accesses of different blocks.
 *
 * Clocks. The machine's step number is everybody's clock: group u knows of group g all steps before
 * known(u, g); registering, it tells the barrier what it knows and its own step, and release tells it what
 * the barrier has been told. A location keeps the accesses that may still meet a partner: those that a later
 * one of its own future and kind does not make superfluous (Flanagan, Freund: FastTrack, PLDI 2009, keeps
 * one epoch where this keeps one entry). Accesses of two blocks to one location are never ordered without
 * atomics_sync, so then two of a kind of different blocks are all that is kept.
 */
#ifndef ORACLE_RACE_HB_H
#define ORACLE_RACE_HB_H

#include "oracle/race/race.h"

enum { RACE_HB_BARRIERS = 16 }; /* of a block */

struct race_hb_options {
    bool warps;        /* groups are warps */
    bool named;        /* there are barriers whose uses are reported */
    bool same_value;   /* two writes of the same value are no race */
    bool atomics_sync; /* atomics on one location order */
};

struct race_hb_entry { /* an access that may still have a partner */
    uint32_t thread, stm, step;
    int32_t value; /* of a write */
    uint32_t next; /* entry + 1 */
    enum access_kind kind;
};

struct race_hb_cell {   /* a location */
    uint32_t execution; /* of the list; empty in another one */
    uint32_t list;      /* entry + 1, the latest first */
    uint32_t racy;      /* number of the execution in which it raced last */
    uint32_t clock;     /* atomics_sync: of the location + 1 */
};

struct race_hb_barrier {
    uint32_t generation;
    bool used;
};

struct race_hb {
    struct observer observer;
    const struct program *program;
    struct race_hb_options options;
    const uint64_t *steps; /* of the machine */
    uint32_t seen;         /* the step of the latest access, + 1: what barriers come behind */
    uint32_t groups,
        scope; /* scope: groups that can be ordered with a group: its block's, or all */
    uint32_t block_groups;
    const uint32_t *group_of; /* a thread */
    uint32_t *known;          /* [group][scope]; NULL: nobody learns but by barriers of all */
    uint32_t *floors; /* a block: everybody in it knows of everybody in it the steps before */
    struct race_hb_barrier *barriers; /* [block][RACE_HB_BARRIERS] */
    uint32_t *told;                   /* [block][RACE_HB_BARRIERS][scope] */
    uint32_t *clocks;                 /* [..][scope] of locations */
    uint32_t *shared;                 /* [scope]: what a block knows together */
    uint32_t clock_count, clock_capacity;
    struct race_hb_cell *cells;
    struct race_hb_entry *entries;
    uint32_t entry_count, entry_capacity, free_entries; /* free: entry + 1 */
    uint32_t execution;
    bool incomplete; /* of this execution: there was no room; a race may have been missed */
    uint32_t racy_locations;
    bool found;
    struct race_witness witness;    /* of the first race of this execution */
    uint8_t *racy_stms, *racy_vars; /* in any execution so far, as race_detector has them */
};

/* NULL: too many groups to be told apart (*reason). */
struct race_hb *race_hb_new(struct arena *arena, const struct program *program,
                            const struct race_hb_options *options, const char **reason);

/* A new execution, of this machine's (its step counter). */
void race_hb_begin(struct race_hb *hb, const uint64_t *steps);

static inline bool race_hb_is_racy(const struct race_hb *hb, uint32_t address)
{
    return hb->cells[address].racy == hb->execution;
}

#endif
