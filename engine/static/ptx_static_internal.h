/*
 * ptx_static_internal.h - a function's instructions by address, and where its indirect branches go.
 */
#ifndef ENGINE_PTX_STATIC_INTERNAL_H
#define ENGINE_PTX_STATIC_INTERNAL_H

#include "engine/static/ptx_static.h"
#include "engine/to_ptx/ptx_flow.h"

struct ptx_static_code {
    uint32_t count;                   /* instructions 1 .. count */
    const struct ptx_statement **ops; /* by address */
    struct ptx_map labels;            /* label -> address */
    bool *labelled;                   /* an address: a label stands there, or a register holds it */
    const struct ptx_static_options *options; /* of the entry; none of other functions */
};

/* Of a label; 0: it is none. */
uint32_t ptx_static_address(const struct ptx_static_code *code, const struct ptx_operand *o);

/* The labels whose addresses a register may hold before the instruction at pc: marked in given[1 .. count]
 * (given[0]: functions). What `ld` reads counts as a function if `loads`. False: it may hold something
 * else, or too much would have to be looked at. */
bool ptx_static_given(const struct ptx_static_code *code, uint32_t pc,
                      const struct ptx_operand *reg, bool loads, bool *given);

#endif
