/*
 * layout_internal.h - what the parts of the account share: the reading that fits so far.
 */
#ifndef ORACLE_LAYOUT_INTERNAL_H
#define ORACLE_LAYOUT_INTERNAL_H

#include "oracle/layout/layout.h"

/* What a row holds: a register of the text, half of one of 128 bits; or the carry, or what alloca has taken. */
struct layout_row {
    const void *what;
    uint32_t index, half;
    char element;
};

/* A variable in memory, and where it begins: in its space, or in the frame of a function. */
struct layout_home {
    const struct ptx_variable *var;
    uint32_t function; /* LAYOUT_MODULE: of no frame */
    uint64_t address;
    struct layout_home *next;
};

#define LAYOUT_MODULE UINT32_MAX

struct layout_label {
    const struct ptx_statement *statement;
    uint32_t pc;
    struct layout_label *next;
};

struct layout {
    struct arena *arena;
    const struct program *program;
    const struct ptx_code *code;
    struct layout_row **narrow, **wide; /* of each function */
    struct layout_home *homes;
    struct layout_label *labels;
    bool has_text; /* memory begins with what the text says */
    uint32_t block[3], grid[3];
    const char *differs;

    /* The instruction at hand. */
    uint32_t function, pc;
    const struct ptx_op *op;
};

/* This is not as the text says; the first is kept. */
void layout_part(struct layout *l, const char *what);

/* ---- layout_places.c ---- */

enum { LAYOUT_CARRY, LAYOUT_TAKEN };

bool layout_is_taken(const struct layout_row *row);
bool layout_is_carry(const struct layout_row *row);
void layout_is_own(struct layout *l, const struct ptx_place *place, uint32_t which);
void layout_is_register(struct layout *l, uint32_t function, const struct ptx_place *place,
                        const struct ptx_operand *o, uint32_t half);
void layout_is_value(struct layout *l, const struct ptx_place *place, uint64_t value,
                     uint32_t bits);
/* What an operand is that is read or written as this type; bits: of the element, 0: the type's. */
void layout_is(struct layout *l, const struct ptx_place *place, const struct ptx_operand *o,
               struct ptx_type type, uint32_t bits);
/* [variable + n], [register + n], [n] in this space, by the instruction's word. */
void layout_is_address(struct layout *l, const struct ptx_op *op, const struct ptx_operand *o,
                       enum ptx_word space);
/* The variable begins at this byte of the function's frame. */
void layout_in_frame(struct layout *l, uint32_t function, const struct ptx_variable *var,
                     uint64_t byte);
uint32_t layout_label(const struct layout *l, const struct ptx_statement *statement);
/* The number of the function that is run when this one is called; LAYOUT_MODULE: none has a body. */
uint32_t layout_callee(const struct layout *l, const struct ptx_function *f);
uint64_t layout_bytes(const struct ptx_variable *var);
uint32_t layout_align(const struct ptx_variable *var);
bool layout_is_memory(const struct ptx_operand *o);

/* ---- layout_op.c, layout_call.c, layout_whole.c, layout_memory.c ---- */

void layout_op(struct layout *l);
void layout_call(struct layout *l);
void layout_whole(struct layout *l); /* what follows for the whole program */
void layout_memory(struct layout *l);

#endif
