/*
 * interleave.h - the interleaving semantics of block programs: lockstep-cfg Fig. 4, Fig. 8, B.3.
 *
 * An actor is a thread. A thread's next step is at its pc: a statement (its block's goto included), or
 * a block that it is about to enter.
 */
#ifndef ENGINE_INTERLEAVE_H
#define ENGINE_INTERLEAVE_H

#include "engine/machine/machine.h"

#define PC_BLOCK 0x80000000u /* bit: the rest is a block's number */
#define PC_END UINT32_MAX    /* at End: CFG.end is next, or the thread has ended */

struct block_frame {
    uint32_t call; /* the call statement in the caller (v_call), CODE_NONE at the bottom */
    uint32_t function;
    uint32_t counters[]; /* beta: program.functions[function].counters of them (CFG.bv.loop) */
};

struct block_thread {
    uint32_t pc;
    uint32_t ended;   /* 1: the component is the check mark */
    uint32_t waiting; /* 1: at an enabled barrier */
    uint32_t frames;  /* on the stack, the kernel's own included */
    uint32_t words;   /* of the stack in use */
    uint32_t stack[]; /* struct block_frame, one after another, the kernel's first */
};

const struct block_thread *interleave_state(const struct machine *machine, uint32_t thread);

/* Number of the block that the thread is in or about to enter; CODE_NONE at End. */
uint32_t interleave_block(const struct machine *machine, uint32_t thread);

/* Makes the thread take target number `target` of its goto (for replays that follow another
 * execution); it must be at a CODE_GOTO. The rule fired. */
enum rule interleave_goto(struct machine *machine, uint32_t thread, uint32_t target);

#endif
