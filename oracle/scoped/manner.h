/*
 * manner.h - what an instruction of PTX says of order: its .semantics and .scope (PTX ISA, "Memory Consistency Model").
 *
 * Strong are accesses with .relaxed, .acquire, .release, .acq_rel or .volatile (which is .relaxed.sys), and all
 * atomics: one without semantics is relaxed, without a scope .gpu. `membar` is `fence.sc`, `fence` without semantics
 * `fence.acq_rel`. There is one GPU here, so .sys and .gpu reach all threads, .cluster those of a cluster, which is one
 * block unless the kernel is of clusters, .cta those of a block.
 */
#ifndef ORACLE_SCOPED_MANNER_H
#define ORACLE_SCOPED_MANNER_H

#include "engine/program/ptx_code.h"
#include "oracle/race/race.h"

/* Whose threads a scope takes in; how far two threads are from each other. */
enum manner_reach { REACH_BLOCK, REACH_CLUSTER, REACH_ALL, REACH_COUNT };

struct manner {
    uint8_t reach; /* enum manner_reach, of its scope */
    bool strong;
    bool releases, acquires;
    bool reads, writes;
    bool fence, sc;    /* sc: fence.sc, membar */
    bool warp_barrier; /* bar.warp.sync */
    bool
        copies; /* cp.async: plain reads and writes; only what an mbarrier hears of it is as said here */
};

struct manner manner_of(const struct ptx_op *op);

/* Of an access of this kind by an instruction of this manner. */
static inline const struct manner *manner_as(const struct manner *manner, enum access_kind kind)
{
    static const struct manner plain = {.reads = true, .writes = true};
    return manner->copies && kind != ACCESS_ATOMIC ? &plain : manner;
}

/* Whether the kernel says anything that orders threads, beside barriers of blocks: ld and st that are relaxed, acquire
 * or release, semantics or scopes of atomics, fences, barriers of warps. `volatile` alone says nothing: it is older
 * than PTX's memory model, and who writes it means that lanes run in lock-step, or that nothing may be lost. */
bool manner_speaks(const struct ptx_code *code);

bool manner_has_warp_barriers(const struct ptx_code *code);

/* Whether an execution may depend on who comes first without a race: strong accesses by ld and st, fence.sc. */
bool manner_synchronises(const struct ptx_code *code);

/* "st.release.cta" and the like: opcode, semantics, scope as the text says them, in the arena. */
const char *manner_text(struct arena *arena, const struct ptx_op *op);

#endif
