/*
 * lockstep.h - phi(P), run as lockstep-cfg defines it: Tables 3 and 6, Fig. 6.
 *
 * An actor is a thread block; its program (FORM_LOCKSTEP) is one thread over vectors. The component of
 * thread t of a private variable lies where thread t's copy of it lies, so stores compare word by word
 * with those of the other semantics.
 */
#ifndef ENGINE_LOCKSTEP_H
#define ENGINE_LOCKSTEP_H

#include "engine/machine/machine.h"

/* A view of an actor's state. */
struct lockstep_state {
    uint32_t pc;     /* as of interleave.h */
    uint32_t frames; /* calls, the kernel's own frame included */
    uint32_t ended;
};

struct lockstep_state lockstep_state(const struct machine *machine, uint32_t block);

/* The components of the block's vector: numbers of threads in the grid, ascending; how many. */
uint32_t lockstep_threads(const struct machine *machine, uint32_t block, const uint32_t **threads);

/* For an observer of steps: which components the step was enabled for, one byte a component; those for which the guard
 * of the block's pick - v_active = B - held before the step; in a block without a pick (the entry, B_back, B_exit, a
 * return block) those for which the statement's own guard held, without one all. The goto that ends a block comes after
 * v_active has been set: nobody's. Steps that enter a block: all. */
const uint8_t *lockstep_enabled(const struct machine *machine);

/* The last psi-assignment's or atomic's write order: numbers of threads, winners last; how many. */
uint32_t lockstep_last_write_order(const struct machine *machine, const uint32_t **threads);

#endif
