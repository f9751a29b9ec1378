/*
 * machine.h - the transition-system interface: a state has alternatives, a step takes one. What lies in a state
 * is in state.h, what a semantics says of itself in traits.h.
 *
 *     start -> state;   alternatives(state) -> n;   step(state, i) -> rule fired;   status(state)
 *
 * The actors of a machine are the threads (`threads`) or the warps (`simt`) of the grid, numbered
 * through it. The alternatives of a state are its live actors in ascending order; a scheduler picks
 * one. A choice inside a step (which lane wins a conflicting write) goes through `struct choices`
 * too, so a tape of all choices replays an execution byte for byte. Nothing else is
 * nondeterministic.
 *
 * An actor that waits at a barrier cannot step and is not among the live ones until its block is
 * released. When the last live actor of a block stops - it reaches a barrier, or is final - the
 * barrier rule fires within the same step (barrier.h): it touches nothing outside the block and
 * nothing else can happen there, so taking it at once loses no behaviour of the others. Named barriers
 * (PTX: crs_barrier.h, cta_internal.h) release whom they have, as soon as they are full; when no actor is
 * live and some wait, that is a deadlock.
 *
 * All mutable state of a machine lies in one block of memory, so a snapshot is a copy. A machine
 * started with `track` keeps an undo log and an incremental hash of the block, and clears what is
 * popped, so that equal states have equal bytes.
 */
#ifndef ENGINE_MACHINE_H
#define ENGINE_MACHINE_H

#include "engine/machine/state.h"
#include "engine/machine/traits.h"

enum status {
    STATUS_RUNNING,
    STATUS_TERMINATED,
    STATUS_ASSERT_FAILS,
    STATUS_BARRIER_DIVERGENCE,
    STATUS_OUT_OF_BOUNDS,
    STATUS_CALL_DEPTH,
    STATUS_INFEASIBLE,
    STATUS_DEADLOCK,
    STATUS_NONTERMINATING, /* a proven lasso: given by oracles and searches, never by a step */
    STATUS_STEP_LIMIT,     /* budget spent: proves nothing; given by the run loop */
    STATUS_STUCK,
    STATUS_UNSUPPORTED,
    STATUS_BARRIER_ERROR, /* named barriers: counts differ, or a full barrier (NB.cta_err) */
    STATUS_COUNT
};

extern const char
    *const status_names[STATUS_COUNT]; /* "terminated", ... as docs/oracles.md has them */

/* ---- choices ---- */

struct choices {
    /* Index into machine->head->live of the actor to step next. */
    uint32_t (*pick)(struct choices *choices, const struct machine *machine);
    /* One of n >= 2 possibilities inside the step of an actor. */
    uint32_t (*choose)(struct choices *choices, uint32_t n);
    /* NULL, or: likewise, but one of these `count` >= 1 values, which are enough (machine_options.symmetry). */
    uint32_t (*choose_of)(struct choices *choices, uint32_t n, const uint32_t *values,
                          uint32_t count);
};

/* ---- machines ---- */

extern const struct semantics semantics_threads;     /* threads.h */
extern const struct semantics semantics_simt;        /* simt.h */
extern const struct semantics semantics_interleave;  /* interleave.h: FORM_BLOCKS */
extern const struct semantics semantics_lockstep;    /* lockstep.h: FORM_LOCKSTEP */
extern const struct semantics semantics_crs;         /* crs.h: FORM_PTX */
extern const struct semantics semantics_thread_pc;   /* crs.h: FORM_PTX */
extern const struct semantics semantics_block;       /* crs.h: FORM_PTX */
extern const struct semantics semantics_its;         /* crs.h: FORM_PTX */
extern const struct semantics semantics_convergence; /* convergence.h */
extern const struct semantics semantics_crs_caches, semantics_thread_pc_caches,
    semantics_block_caches; /* caches.h */

/* Why the semantics cannot run the program - its form, or a statement that it has no rule for
 * ("unsupported statement 'barrier' at line 3", in the arena) - or NULL: it can. */
const char *machine_refuses(struct arena *arena, const struct semantics *semantics,
                            const struct program *program);

/* A machine in its initial state, in the arena. */
struct machine *machine_new(struct arena *arena, const struct semantics *semantics,
                            const struct program *program, const struct machine_options *options);

/* Back to the initial state (hits and options are kept, steps and log cleared). */
void machine_reset(struct machine *machine);

/* Back to the initial state but for the memory of all blocks, which stays as it is: the next blocks of a grid. */
void machine_restart(struct machine *machine);

/* Replaces the observers; the chain must outlive their use, and who hears of steps must not change in it.
 * NULL: none (the fast variant). */
void machine_observe(struct machine *machine, const struct observer *observers);

static inline enum status machine_status(const struct machine *machine)
{
    return (enum status)machine->head->status;
}

/* One step of a live actor. */
static inline enum rule machine_step(struct machine *machine, uint32_t actor,
                                     struct choices *choices)
{
    return machine->step(machine, actor, choices);
}

/* Copies of the whole state: block_words words. Restoring recomputes nothing but the hash given. */
void machine_save(const struct machine *machine, uint32_t *words);
void machine_restore(struct machine *machine, const uint32_t *words, uint64_t hash);
bool machine_equals(const struct machine *machine, const uint32_t *words);

/* Writes global or shared memory from outside of a step (barrier havoc); logged, not observed. */
void machine_poke(struct machine *machine, uint32_t address, int32_t value);

/* Undoes everything logged since the log had `mark` entries (track only). */
void machine_undo(struct machine *machine, uint32_t mark);

/* Hash and bytes of the final store: global and shared memory (private_base words). */
uint64_t machine_store_hash(const struct machine *machine);

#endif
