/*
 * ptx_rows.h - what the instructions compute: a function an instruction form and type, for a row of
 * lanes at once. Source: PTX ISA 9.0, 9.7; floating point per IEEE 754, NaNs canonical.
 *
 * A row holds one register of all lanes of a warp: 32-bit elements for types of up to 32 bits
 * (narrower values zero- or sign-extended as below) and predicates (0 or 1), 64-bit elements for types
 * of 64 bits. A 16- or 8-bit value lies in its element zero-extended; functions of signed types extend
 * it themselves. Where the contents of an element are wider than the type (constants, 16 bits of a special
 * register), the functions take its low bits. Rows need not be aligned beyond their elements. A result's
 * row may be a source's row, but does not overlap it otherwise; every result has a row, also one that
 * is thrown away (`_`).
 *
 * Functions compute all `lanes` elements, of active lanes or not: none can fault, none depends on
 * anything but its operands, and the result is the same on every machine (no libm in approximations,
 * no contraction, NaN payloads never seen).
 */
#ifndef ENGINE_PTX_ROWS_H
#define ENGINE_PTX_ROWS_H

#include "engine/ptx/ptx.h"

enum {
    PTX_ROW_SOURCES = 4,
    PTX_ROW_RESULTS = 4, /* mov of parts */
    PTX_ROW_LANES = 64,  /* at most */
    PTX_ROW_OWN = 0x100, /* in the immediate of isspacep.shared where blocks make clusters */
    /* bytes that alloca gives out in a frame: cudaLimitStackSize's first value */
    PTX_ROW_STACK = 1024
};

typedef void ptx_row_fn(uint32_t lanes, void *const results[PTX_ROW_RESULTS],
                        const void *const sources[PTX_ROW_SOURCES], uint32_t immediate);

struct ptx_row_op {
    ptx_row_fn *fn;
    uint32_t immediate; /* lop3's table, ...: to be given to fn */
    uint8_t result_count, source_count;
    uint8_t result_bits[PTX_ROW_RESULTS]; /* element sizes: 32 or 64 */
    uint8_t source_bits[PTX_ROW_SOURCES];
    bool reads_carry,
        writes_carry; /* add.cc, addc: the carry is the last source, the last result */
    bool has_rank;    /* mapa, getctarank: the block's own rank is the last source */
    /* alloca and its like: where the function's stack begins, and how many of its bytes are taken, are the last
     * sources; but for stacksave the latter is the last result */
    bool has_stack;
};

/* The function of an instruction that only computes: arithmetic, logic, shifts, compare, select, convert,
 * bit fields, `mov` between registers (also {a, b} packed and unpacked: the parts are operands then, the
 * low one first), cvta and isspacep (windows as in ptx_code.h; of global memory, cvta is the identity).
 * Operands are in the instruction's order, results first; setp with d|p has two results. lop3's table is
 * no operand. A predicate `!p` is negated by the function (ptx_op.negated is not for ROWS). The names in the
 * instruction must have been resolved (ptx_check): what a register's size is matters to cvt. Addresses as
 * operands of mov are the caller's to compute. False: *reason names what is not supported ("mov.b128"). */
bool ptx_row_find(const struct ptx_instruction *instruction, struct ptx_row_op *op,
                  const char **reason);

/* With the functions of one kind of machine; ptx_row_find takes the last kind that this machine, and this program,
 * have. The results are the same. */
enum row_isa { ROW_BASELINE, ROW_AVX2, ROW_ISA_COUNT };
bool ptx_row_has_isa(enum row_isa isa);
bool ptx_row_find_for(enum row_isa isa, const struct ptx_instruction *instruction,
                      struct ptx_row_op *op, const char **reason);

/* One read-modify-write of atom/red with this operation and type: what the location holds then.
 * Values in the low bits, c of cas only. NULL: there is no such operation. */
typedef uint64_t ptx_atomic_fn(uint64_t old, uint64_t b, uint64_t c);
ptx_atomic_fn *ptx_atomic_find(enum ptx_word op, enum ptx_word type);

#endif
