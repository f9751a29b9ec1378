/*
 * ptx_flow.h - the control-flow graph of a PTX function.
 *
 * Statements of nested blocks stand in one row with the others; declarations are left out. A block of the
 * graph starts at a label or behind a statement that ends one: bra, brx, an unguarded ret, exit, trap,
 * an unguarded call of a .noreturn function. A guarded ret or exit ends no block and makes no edge: some
 * lanes leave there, the others go on. A branch of the branch unit's own code (ssy .. break) is not
 * followed.
 */
#ifndef ENGINE_PTX_FLOW_H
#define ENGINE_PTX_FLOW_H

#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_reach.h"
#include "engine/to_ptx/ptx_graph.h"

enum { PTX_FLOW_BLOCKS = 1 << 17, PTX_FLOW_EDGES = 1 << 21 }; /* of one function */

struct ptx_flow_block {
    uint32_t first, end; /* statements[first .. end) */
    /* The last one, if it ends the block; NULL: control goes on to the next block, or off the end of the
     * function when there is no successor. Successors: of a guarded branch what follows comes first; every
     * block once. */
    const struct ptx_statement *terminator;
};

struct ptx_flow {
    const struct ptx_function *function;
    uint32_t statement_count;
    const struct ptx_statement **statements;
    struct ptx_flow_block *blocks;
    struct ptx_graph graph;  /* of the blocks */
    struct ptx_map block_of; /* label -> its block */
    const struct ptx_statement
        *indirect; /* the first branch to a register: its edges are missing */
};

/* The graph of a function with a body, of a checked module. NULL: *reason, it is too large. */
struct ptx_flow *ptx_flow_build(struct arena *arena, const struct ptx_function *function,
                                const char **reason);

/* The block at a label of the function. */
uint32_t ptx_flow_block_at(const struct ptx_flow *flow, const struct ptx_statement *label);

/* The line of the first statement of a block that has one; of the function if it has none. */
uint32_t ptx_flow_line(const struct ptx_flow *flow, uint32_t block);

/* ---- about instructions ---- */

enum ptx_opcode ptx_statement_opcode(const struct ptx_statement *statement); /* COUNT: none */
bool ptx_statement_is_branch_unit(const struct ptx_statement *statement);    /* ssy .. break */
/* The operand of a call that says which function; NULL: no call. */
const struct ptx_operand *ptx_call_target(const struct ptx_statement *statement);
bool ptx_call_returns(const struct ptx_statement *call); /* not to a .noreturn function */
/* A call of a function that has no body anywhere: it is a single instruction (vprintf, which prints nothing), with no
 * frame and no token of its own. */
bool ptx_call_is_outside(const struct ptx_symbols *symbols, const struct ptx_statement *call);
/* Whether control may come to the end of the body, where an end is laid out but in raw kernels. */
bool ptx_falls_through(const struct ptx_function *function);

#endif
