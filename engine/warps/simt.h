/*
 * simt.h - the warp semantics: simt-correctness, Table 2.
 *
 *     W ::= eps | s W | tau W      tau = t_Theta,  t in { div, sync, brk, call }
 *
 * One machine runs all warps of the grid; they interleave at warp steps. Masks have a bit a lane;
 * token_masks[i] belongs to stack[i] and is 0 for statements.
 */
#ifndef ENGINE_SIMT_H
#define ENGINE_SIMT_H

#include "engine/machine/machine.h"
#include "engine/warps/stack.h"

struct warp_state {
    lane_mask theta;   /* active mask */
    lane_mask delta_b; /* disable mask: lanes in state b, r, e; in none of them = 0 */
    lane_mask delta_r;
    lane_mask delta_e;
    uint32_t depth;           /* entries on the stack; 0 = final */
    uint32_t calls;           /* call tokens among them */
    const stack_entry *stack; /* stack_entry, topmost last */
    const lane_mask *masks;   /* of the tokens among them */
    uint32_t first_thread;    /* number in the grid of lane 0 */
    uint32_t lanes;           /* of this warp: the last one of a block may have fewer */
};

/* A view of a warp: pointers into the machine's block, valid until it is stepped or restored. */
struct warp_state simt_state(const struct machine *machine, uint32_t warp);

/* The order in which the lanes of the last assign, havoc or atomic step wrote; `lanes` has room for
 * LIMIT_WARP; returns how many. Assign and havoc: ascending but for the winners of conflicting writes,
 * which come last. Atomic: ascending, but the lanes on one location are in the chosen order. */
uint32_t simt_last_write_order(const struct machine *machine, uint8_t *lanes);

/* awaits(delta, t) of section 3.3, for one lane. */
char simt_disable_state(const struct warp_state *warp, uint32_t lane); /* '0' 'b' 'r' 'e' */
bool simt_awaits(char delta, enum entry_kind token);

#endif
