/*
 * computed.h - what single instructions compute: drawn ones, with operands at the bounds of their types, by the
 * engine's functions (ptx_rows.h) and by the reference's, without any kernel around them.
 *
 * Programs of instructions (fuzz/rows) ask the same of what a warp executes; there an instruction meets some lanes of
 * one case. Here a case asks many, in the baseline's functions and in those of the machine's own vectors.
 */
#ifndef ORACLE_REFERENCE_COMPUTED_H
#define ORACLE_REFERENCE_COMPUTED_H

#include "engine/ptx/ptx.h"

struct arena;

enum { COMPUTED_DRAWN = 16 };

struct computed_differs {
    enum ptx_opcode opcode;
    const char *text; /* the instruction's mnemonic and modifiers */
    uint32_t source_count;
    uint64_t sources[4], engine, reference;
};

/* Draws an instruction and operands for all lanes. False: a lane differs. */
bool computed_agrees(struct arena *arena, uint64_t seed, struct computed_differs *differs);

/* The same of a list that is always the same, of every form of instruction: which differ. A fault in what instructions
 * share - how subnormal numbers are unpacked, how results saturate - makes many wrong, so it is named by the first of
 * them and how many there are, whichever was seen: "add.rz.f32 and 12 others". NULL: this instruction is none of them.
 * It takes some 0.1 s, once a process. */
const char *computed_fault(struct arena *arena, enum ptx_opcode opcode);

#endif
