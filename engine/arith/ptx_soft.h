/*
 * ptx_soft.h - floating point by integer arithmetic: every format and rounding of PTX, for what the machine's
 * own arithmetic does not round as wanted. Source: IEEE 754-2008; NaNs are all ones below the sign.
 */
#ifndef ENGINE_PTX_SOFT_H
#define ENGINE_PTX_SOFT_H

#include "engine/ptx/ptx_ops.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

enum soft_rounding { SOFT_NEAREST, SOFT_ZERO, SOFT_DOWN, SOFT_UP };

/* rn, rz, rm, rp; also rni, rzi, rmi, rpi. No word: to the nearest. */
enum soft_rounding soft_rounding_of(enum ptx_word word);

struct soft_format {
    uint8_t bits, precision; /* with the leading bit */
    int16_t exponent;        /* of the greatest numbers */
};

enum soft_format_name { SOFT_F16, SOFT_BF16, SOFT_F32, SOFT_F64 };
extern const struct soft_format soft_formats[];

/* f16, bf16, f32, f64. */
enum soft_format_name soft_format_of(enum ptx_word word);

enum soft_kind { SOFT_FINITE, SOFT_INFINITE, SOFT_NAN };

/* digits * 2^exponent, digits < 2^126; what was lost below sets the lowest digit, which no format that
 * is rounded to can see otherwise. */
struct soft {
    enum soft_kind kind;
    bool is_negative; /* zeros too */
    int32_t exponent;
    uint128 digits;
};

/* The exponent of the highest digit; digits are not 0. */
int32_t soft_top(struct soft a);

struct soft soft_unpack(uint64_t bits, enum soft_format_name format);
uint64_t soft_pack(struct soft a, enum soft_format_name format, enum soft_rounding rounding);

/* The rounding decides the sign of x - x. */
struct soft soft_add(struct soft a, struct soft b, enum soft_rounding rounding);
struct soft soft_multiply(struct soft a, struct soft b);
struct soft soft_divide(struct soft a, struct soft b);
struct soft soft_root(struct soft a);
struct soft soft_negate(struct soft a);

/* To a whole number, as a number; zeros keep the sign. */
struct soft soft_round(struct soft a, enum soft_rounding rounding);

/* Of a two's complement value of 64 bits, or an unsigned one. */
struct soft soft_of_integer(uint64_t value, bool is_signed);
/* Rounded, then the nearest number of `bits` bits; of a NaN `nan`. */
uint64_t soft_to_integer(struct soft a, uint32_t bits, bool is_signed, enum soft_rounding rounding,
                         uint64_t nan);

/* Subnormal numbers become zeros with their sign. */
static inline uint64_t soft_flush(uint64_t bits, enum soft_format_name format)
{
    const struct soft_format *f = &soft_formats[format];
    uint64_t sign = (uint64_t)1 << (f->bits - 1);
    bool is_small = (bits & (sign - 1)) >> (f->precision - 1) == 0;
    return is_small ? bits & sign : bits;
}

/* The nearest number of [+0, 1]; of a NaN 0. */
static inline uint64_t soft_saturate(uint64_t bits, enum soft_format_name format)
{
    const struct soft_format *f = &soft_formats[format];
    uint64_t one = (uint64_t)f->exponent << (f->precision - 1);
    uint64_t infinity = (uint64_t)(2 * f->exponent + 1) << (f->precision - 1);
    return bits <= one ? bits : bits <= infinity ? one : 0;
}

#endif
