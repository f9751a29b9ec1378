/*
 * layout.h - a program in PTX as it is laid out (engine/program/ptx_code.h), held against its text: which registers,
 * constants, addresses, labels and functions the operands of each instruction are, what a call copies, where variables
 * lie and what they hold at first, how deep stacks get. Whoever follows an execution believes all of this.
 *
 * Nothing is laid out once more. What an operand stands for is said by its place, so the account only asks whether one
 * reading fits all instructions: a row of a function's registers is one register of the text, and no other row is; an
 * address is that of one variable, which begins there, is as long as its type says and lies as its type asks.
 */
#ifndef ORACLE_LAYOUT_H
#define ORACLE_LAYOUT_H

#include "engine/program/ptx_code.h"
#include "oracle/check/explore.h"

enum {
    LAYOUT_SHARE = 2 /* one case in so many */,
    LAYOUT_OPS = 4096 /* longer programs are left out */,
    LAYOUT_FAULTS = 4 /* accesses that are drawn beside them */
};

/* The hooks of oracle.h; class `layout` of the oracle `reference`. */
void layout_judge(struct checking *checking);
void layout_ended(struct checking *checking, const struct execution *execution);

/* "source of add: line 12": what is not as the text says; NULL: nothing. has_text: the program's memory begins with
 * what its text says (lowered kernels have their own). */
const char *layout_differs(struct arena *arena, const struct program *program, bool has_text);

/* What is not so of an access that ended the machine's execution out of bounds; NULL: nothing. */
const char *layout_fault(struct arena *arena, const struct machine *machine);

/* The same of an access that is drawn, by its number; *text: the program that makes it. */
const char *layout_drawn_fault(struct arena *arena, uint64_t number, const char **text);

#endif
