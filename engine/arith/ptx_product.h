/*
 * ptx_product.h - matrices in the registers of a warp's 32 lanes (PTX ISA 9.7.14): where an element lies, and
 * D = A B + C of one mma or wmma.mma.
 *
 * Of mma the ISA says where elements lie. Of wmma it leaves it open, so that any order will do: here they are counted
 * row after row, element i is the (i / 32)th of lane i % 32, and where a fragment has more room than the matrix has
 * elements - A and B of halves -, it begins anew.
 *
 * The ISA leaves open in which order floating-point products are added and how sums are rounded, but for a least
 * precision. Here, of f16, bf16, tf32, e4m3 and e5m2: C and the products, which are exact, are added in double
 * precision, along k, and the sum is rounded to the nearest number of D once. Of f64: a fused multiply-add for each k,
 * in their order. Subnormal numbers are kept; a NaN is the canonical one. Of tf32 the lower 13 bits are dropped.
 */
#ifndef ENGINE_PTX_PRODUCT_H
#define ENGINE_PTX_PRODUCT_H

#include "engine/ptx/ptx_ops.h"

struct ptx_matrix_place {
    uint32_t row, column;
};

/* Where element e of register r of a lane's fragment belongs. Not of ldmatrix. */
struct ptx_matrix_place ptx_matrix_place(const struct ptx_matrix_form *f, enum ptx_matrix_part part,
                                         uint32_t lane, uint32_t r, uint32_t e);

/* Elements as bits, row after row; d may not be one of the others. Of .b1 an element is a word of 32, and k counts
 * words. `how`: satfinite; and, xor of .b1; or none. */
void ptx_product(const struct ptx_matrix_form *f, enum ptx_word how,
                 const uint64_t *const matrices[PTX_MATRIX_PARTS], uint64_t *d);

#endif
