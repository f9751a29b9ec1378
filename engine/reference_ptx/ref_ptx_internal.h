/*
 * ref_ptx_internal.h - what ref_instruction.c and ref_float.c share.
 */
#ifndef ENGINE_REF_PTX_INTERNAL_H
#define ENGINE_REF_PTX_INTERNAL_H

#include "engine/reference_ptx/ref_ptx.h"

enum ptx_word ref_word_of(const struct ref_computing *r, enum ptx_slot slot);
uint64_t ref_ones(uint32_t bits);

/* A floating-point format. */
struct ref_shape {
    int bits, precision, exponent;
};
struct ref_shape ref_shape_of(enum ptx_word word);

int ref_fe_rounding(enum ptx_word word);
/* Every number of every format is one of long double. */
long double ref_float_value(uint64_t bits, enum ptx_word word);
/* A whole number near x; x, which must be exact, in the format. */
long double ref_whole(long double x, int rounding);
uint64_t ref_float_bits(long double x, enum ptx_word word, int rounding);
bool ref_is_subnormal(uint64_t bits, enum ptx_word word);
/* A source as it is read; a result as it is written. */
uint64_t ref_flushed(const struct ref_computing *r, uint64_t bits, enum ptx_word word);
uint64_t ref_written(const struct ref_computing *r, uint64_t bits, enum ptx_word word);

/* ref_matrix.c: cvt to tf32. */
void ref_tf32(struct ref_computing *r);

/* ref_half.c: what computes with halves; not cvt of one, mov, selp, slct. */
bool ref_is_half(const struct ref_computing *r);
bool ref_half_is_as_good(const struct ref_computing *r, uint64_t got);
void ref_half(struct ref_computing *r, enum ptx_opcode opcode);
/* Of a number of 8 bits: e4m3, or e5m2. */
long double ref_eight_value(uint32_t code, bool e4m3);
uint64_t ref_half_sum(uint64_t a, uint64_t b, enum ptx_word type);
uint64_t ref_half_extreme(uint64_t a, uint64_t b, enum ptx_word type, bool greatest);
bool ref_compares_as(enum ptx_word word, int order, bool unordered);
bool ref_boolean(enum ptx_word op, bool t, bool c);

void ref_rounded(struct ref_computing *r, enum ptx_opcode opcode);
void ref_approximate(struct ref_computing *r, enum ptx_opcode opcode);
void ref_sign(struct ref_computing *r, enum ptx_opcode opcode);
uint64_t ref_least(uint64_t a, uint64_t b, enum ptx_word type, bool is_min, bool any_nan);
void ref_test(struct ref_computing *r);
bool ref_is_near(uint64_t got, long double about, enum ptx_word word);
bool ref_is_as_good(const struct ref_computing *r, uint64_t got);

#endif
