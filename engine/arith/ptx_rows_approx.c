/* The approximate functions (PTX ISA 9.7.3.14 to 9.7.3.22). Computed in double precision with the four operations
 * alone, to within 2^-40, then rounded once: nearer than PTX asks for, and the same everywhere. */
#include "engine/arith/ptx_rows_internal.h"

#include <math.h>

/* 1 / n */
static const double inverse[] = {0,        1,        1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,
                                 1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9,  1.0 / 10, 1.0 / 11,
                                 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17,
                                 1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21};

/* ---- powers and logarithms ---- */

#define LN_2 0x1.62e42fefa39efp-1
#define LOG2_E 0x1.71547652b82fep+0

/* The nearest whole number, of |x| < 2^51. */
static inline double nearest(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* 2^x for |x| < 1000: 2^n by the exponent's bits, the rest by Taylor's series of e^y, |y| <= ln 2 / 2. */
static inline double power_of_2(double x)
{
    double whole = nearest(x), y = (x - whole) * LN_2, sum = 1;
    for (int n = 13; n > 0; n--)
        sum = 1 + sum * (y * inverse[n]);
    return sum * f64_of((uint64_t)((int32_t)whole + 1023) << 52);
}

/* Without branches. Beyond the bounds the result is infinity or 0. */
static inline float ex2(float x)
{
    const float bounded = x > -160 ? (x < 128 ? x : 128) : -160;
    const float power = (float)power_of_2(bounded);
    return x == x ? power : x;
}

/* x = m 2^e with m near 1; ln m = 2 artanh((m - 1) / (m + 1)), by its series. */
static float lg2(float x)
{
    if (x == 0)
        return -(float)INFINITY;
    if (!(x > 0) || x > 0x1.fffffep127f)
        return x > 0 ? x : (float)NAN;
    uint64_t bits = bits_of_f64(x);
    int64_t e = (int64_t)(bits >> 52) - 1023;
    double m = f64_of((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
    if (m > 0x1.6a09e667f3bcdp+0) { /* the root of 2 */
        m /= 2;
        e++;
    }
    double t = (m - 1) / (m + 1), square = t * t, sum = 0;
    for (int n = 21; n > 0; n -= 2)
        sum = sum * square + inverse[n];
    return (float)((double)e + 2 * LOG2_E * (t * sum));
}

/* ---- angles ---- */

#define HALF_PI 0x1.921fb54442d18p+0

/* 2 / pi, 64 bits a word, behind 64 zeros. */
static const uint64_t two_over_pi[] = {0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                       0xdb6295993c439041, 0xfe5163abdebbc561};

/* 64 bits of it from the one of weight 2^-first on. */
static uint64_t bits_from(int first)
{
    int word = (first + 63) / 64, shift = (first + 63) % 64;
    uint64_t high = two_over_pi[word] << shift;
    return shift ? high | two_over_pi[word + 1] >> (64 - shift) : high;
}

/* The quadrant that x > 1/2 lies in, modulo 4, counted from the one around 0; *rest: the angle in it. By Payne
 * and Hanek: x is digits * 2^e; of 2 / pi * 2^e the 128 bits from 2^1 down are multiplied, since those
 * above make whole turns. */
static uint32_t quadrant_of(float x, double *rest)
{
    uint32_t bits = bits_of_f32(x);
    int e = (int)(bits >> 23) - 150;
    uint128 factor = (uint128)bits_from(e - 1) << 64 | bits_from(e + 63);
    uint128 quadrants = factor * ((bits & 0x7fffff) | 0x800000); /* in units of 2^-126 */
    uint32_t quadrant = (uint32_t)((quadrants + ((uint128)1 << 125)) >> 126) & 3;
    int128 part = (int128)(quadrants - ((uint128)quadrant << 126));
    *rest = ((double)(int64_t)(part >> 64) * 0x1p64 + (double)(uint64_t)part) * 0x1p-126 * HALF_PI;
    return quadrant;
}

/* Taylor's series for |x| <= pi / 4: sine from the first power, cosine from the 0th. */
static inline double sine_series(double x)
{
    double square = x * x, sum = 1;
    for (int n = 18; n > 0; n -= 2)
        sum = 1 - sum * (square * (inverse[n] * inverse[n + 1]));
    return x * sum;
}

static inline double cosine_series(double x)
{
    double square = x * x, sum = 1;
    for (int n = 19; n > 0; n -= 2)
        sum = 1 - sum * (square * (inverse[n] * inverse[n + 1]));
    return sum;
}

/* The sine of x, turned by `quadrants`. */
static float turned_sine(float x, uint32_t quadrants)
{
    float size = x < 0 ? -x : x;
    double rest = x, sign = 1;
    if (!(size <= 0x1.fffffep127f))
        return (float)NAN;
    if (size > 0.75f) {
        uint32_t quadrant = quadrant_of(size, &rest);
        rest = x < 0 ? -rest : rest;
        quadrants += x < 0 ? 0 - quadrant : quadrant;
    }
    sign = quadrants & 2 ? -1 : 1;
    return (float)(sign * (quadrants & 1 ? cosine_series(rest) : sine_series(rest)));
}

static float tanh_of(float x)
{
    const bool is_negative = bits_of_f32(x) >> 31;
    double size = is_negative ? -(double)x : x, value;
    if (!(x == x))
        return x;
    if (size < 0x1p-12) {
        value = size * (1 - size * size / 3);
    } else if (size > 10) {
        value = 1;
    } else {
        double power = power_of_2(2 * LOG2_E * size);
        value = (power - 1) / (power + 1);
    }
    return (float)(is_negative ? -value : value);
}

/* ---- rows ---- */

static inline float root_reciprocal(float x)
{
    return (float)(1 / sqrt(x));
}

#define APPROXIMATE(op, expr)                                                                      \
    static inline float op##_of(float a)                                                           \
    {                                                                                              \
        return (expr);                                                                             \
    }                                                                                              \
    ROW1(op##_plain, row32, row32, result_f32(op##_of(f32_of(x))))                                 \
    ROW1(op##_ftz, row32, row32, flush_f32(result_f32(op##_of(f32_of(flush_f32(x))))))             \
    static ptx_row_fn *const op[2] = {op##_plain, op##_ftz};

APPROXIMATE(power, ex2(a))
APPROXIMATE(logarithm, lg2(a))
APPROXIMATE(sine, turned_sine(a, 0))
APPROXIMATE(cosine, turned_sine(a, 1))
APPROXIMATE(tangent, tanh_of(a))
APPROXIMATE(rsqrt, root_reciprocal(a))

ROW1(rsqrt_f64, row64, row64, result_f64(1 / sqrt(f64_of(x))))

/* Of the upper word alone, which is the result's too. */
static inline uint64_t upper_word(uint64_t bits)
{
    bits &= 0xffffffff00000000;
    return bits & 0x7ff0000000000000 ? bits : bits & 0x8000000000000000;
}

ROW1(rcp_ftz_f64, row64, row64, upper_word(result_f64(1 / f64_of(upper_word(x)))))
ROW1(rsqrt_ftz_f64, row64, row64, upper_word(result_f64(1 / sqrt(f64_of(upper_word(x))))))

/* Of halves: computed as .f32, rounded once more. immediate: */
enum { HALVES_BF16 = 1, HALVES_PACKED = 2, HALVES_FTZ = 4 };

static inline uint32_t widened(uint32_t h, uint32_t how)
{
    const uint32_t bits = how & HALVES_BF16 ? h << 16 : widen_f16(h & 0xffff);
    return how & HALVES_FTZ ? flush_f32(bits) : bits;
}

static inline uint32_t narrowed(float value, uint32_t how)
{
    const uint32_t bits = result_f32(value);
    const uint32_t h = how & HALVES_BF16 ? narrow_bf16(bits) : narrow_f16(bits);
    return how & HALVES_FTZ ? flush_f32(h << 16) >> 16 : h;
}

#define HALVES(op)                                                                                 \
    static inline uint32_t op##_half(uint32_t h, uint32_t how)                                     \
    {                                                                                              \
        return narrowed(op##_of(f32_of(widened(h, how))), how);                                    \
    }                                                                                              \
    ROW1(op##_halves, row32, row32,                                                                \
         op##_half(x, immediate) |                                                                 \
             (immediate & HALVES_PACKED ? op##_half(x >> 16, immediate) << 16 : 0))

HALVES(power)
HALVES(tangent)

static ptx_row_fn *find_halves(const uint8_t *words, ptx_row_fn *fn, uint32_t *immediate)
{
    enum ptx_word type = (enum ptx_word)words[PTX_SLOT_TYPE];
    *immediate = (type == PTX_W_BF16 || type == PTX_W_BF16X2 ? HALVES_BF16 : 0u) |
                 (ptx_type_of(type).bits == 32 ? HALVES_PACKED : 0u) |
                 (words[PTX_SLOT_FTZ] ? HALVES_FTZ : 0u);
    return fn;
}

ROW_FINDER(approximate)
{
    (void)reason;
    bool ftz = instruction->words[PTX_SLOT_FTZ] != PTX_W_NONE;
    switch ((int)instruction->form) {
    case PTX_FORM_EX2_APPROX:
        return power[ftz];
    case PTX_FORM_LG2_APPROX:
        return logarithm[ftz];
    case PTX_FORM_SIN_APPROX:
        return sine[ftz];
    case PTX_FORM_COS_APPROX:
        return cosine[ftz];
    case PTX_FORM_TANH_APPROX:
        return tangent[false];
    case PTX_FORM_EX2_F16:
    case PTX_FORM_EX2_BF16:
        return find_halves(instruction->words, power_halves, immediate);
    case PTX_FORM_TANH_HALF:
        return find_halves(instruction->words, tangent_halves, immediate);
    case PTX_FORM_RCP_APPROX64:
        return rcp_ftz_f64;
    case PTX_FORM_RSQRT_APPROX:
        if (instruction->words[PTX_SLOT_TYPE] == PTX_W_F64)
            return ftz ? rsqrt_ftz_f64 : rsqrt_f64;
        return rsqrt[ftz];
    default:
        return NULL;
    }
}
