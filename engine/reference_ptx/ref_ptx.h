/*
 * ref_ptx.h - PTX, one instruction at a time, as PTX ISA 9.7 and chapter 5.4.2 of cuda-crs write it: what a lane
 * computes, what lanes tell each other, what an atomic leaves behind.
 */
#ifndef ENGINE_REF_PTX_H
#define ENGINE_REF_PTX_H

#include "engine/language/ast.h"
#include "engine/machine/rules.h"
#include "engine/ptx/ptx.h"

enum { REF_OPERANDS = 4 };

/* ---- one lane ---- */

struct ref_computing {
    const struct ptx_instruction *instruction;
    uint32_t source_count, result_count;
    uint8_t source_bits[REF_OPERANDS], result_bits[REF_OPERANDS]; /* of elements: 32 or 64 */
    uint32_t immediate;                                           /* lop3's table */
    bool reads_carry, writes_carry; /* the carry is the last source, the last result */
    uint64_t s[REF_OPERANDS];       /* the lane's sources; wider than their type in places */
    uint64_t d[REF_OPERANDS];       /* results */
    bool is_approximate;            /* then d[0] is about this: */
    long double about, about_high;  /* of two halves the lower one, the upper one */
};

/* r->d, or r->about, from r->s. */
void ref_compute(struct ref_computing *r);

/* Whether result k may be this. */
bool ref_is_result(const struct ref_computing *r, uint32_t k, uint64_t got);

/* What atom and red leave in a place of this type that holds `old`: the low bits. False: no such operation. */
bool ref_atomic_value(const struct ptx_instruction *instruction, uint64_t old, uint64_t b,
                      uint64_t c, uint64_t *value);

/* What lies in a register of `width` bits after a load of `bytes` bytes of this type. */
uint64_t ref_loaded(const struct ptx_instruction *instruction, uint64_t value, uint32_t bytes,
                    uint32_t width);

/* ---- mbarrier (PTX ISA 9.7.13.15), its 64 bits as docs/ptx.md has them ---- */

enum ref_mbarrier_told {
    REF_MBARRIER_NOTHING,
    REF_MBARRIER_READ,
    REF_MBARRIER_ATOMIC,
    REF_MBARRIER_WHOLE
};

struct ref_mbarrier_step {
    const struct ptx_instruction *instruction;
    uint64_t before, operand;
    bool has_operand;
    bool stuck; /* the ISA leaves it undefined; nothing below holds */
    uint64_t after, result;
    enum ref_mbarrier_told told; /* of the word of this phase, or of both */
    uint32_t phase;
};

void ref_mbarrier(struct ref_mbarrier_step *x);
bool ref_mbarrier_is_there(const struct ptx_instruction *instruction, uint64_t bits);
enum rule ref_mbarrier_rule(const struct ptx_instruction *instruction);
uint32_t ref_mbarrier_pending(uint64_t state);
/* Of an object's bits: whether one is there; its phase. One arrival more is expected; the phase completes if all that
 * it lacks is so many arrivals and transactions. False: no. */
bool ref_mbarrier_exists(uint64_t bits);
uint32_t ref_mbarrier_phase(uint64_t bits);
bool ref_mbarrier_expects(uint64_t *bits);
bool ref_mbarrier_settles(uint64_t *bits, uint32_t arrivals, uint32_t transactions);

/* ---- textures and surfaces (PTX ISA 9.7.10, 9.7.11): which bytes a lane's instruction reads or writes, and what its
 * results are ---- */

struct ref_texel_read {
    uint64_t at; /* bytes behind the first texel */
    uint32_t bytes, result, slice;
    int weight;     /* in 256ths */
    uint64_t value; /* to be filled in */
};

struct ref_texture_step {
    const struct ptx_instruction *instruction;
    const struct ptx_texture *texture;
    uint64_t coordinate[3]; /* x, y, z; a layer is the last */
    bool wanted[4];         /* results that are not thrown away */
    uint32_t values;        /* of suld, sust */
    bool undefined;         /* by the ISA */
    bool outside;           /* .trap */
    bool blends;
    bool nothing[4]; /* something outside has a part in the result: a zero */
    uint32_t count, slice;
    struct ref_texel_read reads[32];
};

/* The bytes that count. */
void ref_texture_find(struct ref_texture_step *x);
/* Whether result r may be this; *about: what it is. */
bool ref_texture_may(const struct ref_texture_step *x, uint32_t r, uint64_t got, uint64_t *about);

/* ---- the lanes of a warp that execute vote, shfl, match, redux, activemask, bar.warp.sync ---- */

struct ref_lane_row {
    bool executes, exited; /* this instruction; the kernel */
    uint64_t a, b, c;      /* operands; of a vote a is whether its predicate holds */
    uint64_t mask;         /* of a .sync form */
    uint64_t d, p;         /* results: the value; shfl's and match's predicate */
};

struct ref_lane_rows {
    const struct ptx_instruction *instruction;
    uint32_t width; /* lanes of a full warp */
    uint32_t count; /* of this one */
    uint32_t first; /* number in the warp of row 0 */
    bool has_mask;
    struct ref_lane_row lane[LIMIT_WARP];
    const char *stuck; /* why the instruction has no rule, and the lane to name */
    uint32_t stuck_lane;
};

/* The results of all lanes that execute it; or x->stuck. */
void ref_lanes_together(struct ref_lane_rows *x);

/* ---- threads of a warp with pcs of their own: who waits for whom ---- */

struct ref_stands {
    bool ended, waits; /* waits: at this .sync instruction, with this mask */
    const struct ptx_instruction *instruction;
    uint64_t mask;
};

struct ref_standing {
    uint32_t width; /* lanes of a full warp */
    uint32_t count; /* of this one */
    struct ref_stands lane[LIMIT_WARP];
};

bool ref_names_itself(const struct ref_standing *x, uint32_t lane);
/* Whether all lanes that the lane waits for, itself among them, wait for the same. */
bool ref_is_met(const struct ref_standing *x, uint32_t lane);
/* Of a lane that ref_is_met: whether the other one goes on with it. */
bool ref_meets_with(const struct ref_standing *x, uint32_t lane, uint32_t other);

/* ---- matrices in the registers of a warp's 32 lanes (PTX ISA 9.7.14): which element a register holds, shape by
 * shape, and what a product may be ---- */

enum { REF_MATRIX_LANES = 32, REF_MATRIX_REGISTERS = 8 };

enum ref_matrix_part { REF_MATRIX_A, REF_MATRIX_B, REF_MATRIX_C, REF_MATRIX_D, REF_MATRIX_PARTS };

/* Rows and columns of a part, or of the one matrix that is moved; bits of an element; registers of a lane. */
struct ref_matrix_sizes {
    enum ref_matrix_part part;
    uint32_t rows, columns, bits, registers, each; /* each: elements in a register */
};
struct ref_matrix_sizes ref_matrix_sizes(const struct ptx_instruction *instruction,
                                         enum ref_matrix_part part);

struct ref_matrix_at {
    uint32_t row, column;
};

/* The element number i of a lane's fragment, the lowest bits of its first register first. */
struct ref_matrix_at ref_matrix_at(const struct ptx_instruction *instruction,
                                   const struct ref_matrix_sizes *sizes, uint32_t lane, uint32_t i);

enum { REF_MATRIX_MOST = 1024 };

struct ref_product {
    const struct ptx_instruction *instruction;
    struct ref_matrix_sizes sizes[REF_MATRIX_PARTS];
    uint64_t matrix[REF_MATRIX_D][REF_MATRIX_MOST]; /* A, B, C, row after row */
};

void ref_product_begin(struct ref_product *x, const struct ptx_instruction *instruction);
/* Register r of A, B or C of a lane holds this. */
void ref_product_give(struct ref_product *x, enum ref_matrix_part part, uint32_t lane, uint32_t r,
                      uint64_t value);
/* Whether register r of D of a lane may be this. *about: what the product is; of several elements the first one that is
 * not as it may be. */
bool ref_product_may(const struct ref_product *x, uint32_t lane, uint32_t r, uint64_t got,
                     uint64_t *about);

/* ldmatrix, stmatrix, movmatrix: of the half k (0, 1) of a lane's register. */
struct ref_matrix_at ref_matrix_half(uint32_t lane, uint32_t k, bool transposed);

#endif
