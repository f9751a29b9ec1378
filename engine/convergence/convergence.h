/*
 * convergence.h - warps with convergence barriers: simt-correctness, Table 2, without its order of paths.
 *
 *     a warp    a set of splits; a split is a mask of lanes, Theta, that step together, and a stack W
 *     W ::= eps | s W | t_M W         t in { sync, brk, call }
 *
 * A token t_M is a convergence barrier: where the lanes of M part - at a branch, a loop, a call - it is pushed, and
 * where they meet again it waits for those of them that have not left. What a stack of tokens runs one after the
 * other, the else-path and then the then-path, are splits here, and a scheduler picks among all of them. This is what
 * processors since Volta do with BSSY, BSYNC and BREAK; docs/semantics.md has the rules.
 *
 * The actors are the lanes of the grid, by their number. A split acts through its lowest lane, its leader: only
 * leaders are live. A split that waits is not live, as an actor at a barrier of the block is not.
 */
#ifndef ENGINE_CONVERGENCE_H
#define ENGINE_CONVERGENCE_H

#include "engine/machine/machine.h"
#include "engine/warps/stack.h"

struct convergence_split {
    uint32_t leader; /* thread that leads the split: its number in the grid */
    bool waits;      /* at the convergence barrier on top */
    lane_mask theta; /* lanes of the warp */
    uint32_t depth;  /* entries on the stack; 0 = final */
    uint32_t calls;  /* call tokens among them */
    const stack_entry *stack;
    const lane_mask *masks; /* of the tokens among them: M */
    uint32_t first_thread;  /* number in the grid of the warp's lane 0 */
};

/* The split that the thread is in: pointers into the machine's block, valid until it is stepped or restored. */
struct convergence_split convergence_split(const struct machine *machine, uint32_t thread);

#endif
