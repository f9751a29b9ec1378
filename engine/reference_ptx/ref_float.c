/*
 * ref_float.c - floating point of PTX: values as long double, which holds every number of every format, rounded by
 * rule, or by the machine in the mode that the instruction names.
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <fenv.h>
#include <math.h>

enum ptx_word ref_word_of(const struct ref_computing *r, enum ptx_slot slot)
{
    return (enum ptx_word)r->instruction->words[slot];
}

uint64_t ref_ones(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* ---- values ---- */

int ref_fe_rounding(enum ptx_word word)
{
    switch ((int)word) {
    case PTX_W_RZ:
    case PTX_W_RZI:
        return FE_TOWARDZERO;
    case PTX_W_RM:
    case PTX_W_RMI:
        return FE_DOWNWARD;
    case PTX_W_RP:
    case PTX_W_RPI:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

struct ref_shape ref_shape_of(enum ptx_word word)
{
    switch ((int)word) {
    case PTX_W_F16:
        return (struct ref_shape){16, 11, 15};
    case PTX_W_BF16:
        return (struct ref_shape){16, 8, 127};
    case PTX_W_F32:
        return (struct ref_shape){32, 24, 127};
    default:
        return (struct ref_shape){64, 53, 1023};
    }
}

/* Every number of every format is one of long double. */
long double ref_float_value(uint64_t bits, enum ptx_word word)
{
    struct ref_shape f = ref_shape_of(word);
    uint64_t fraction = bits & ref_ones((uint32_t)f.precision - 1);
    int field = (int)(bits >> (f.precision - 1) & ref_ones((uint32_t)(f.bits - f.precision)));
    bool is_negative = bits >> (f.bits - 1) & 1;
    long double size;
    if (field == 2 * f.exponent + 1)
        size = fraction ? NAN : INFINITY;
    else if (field == 0)
        size = ldexpl((long double)fraction, 2 - f.exponent - f.precision);
    else
        size = ldexpl((long double)(fraction | (uint64_t)1 << (f.precision - 1)),
                      field + 1 - f.exponent - f.precision);
    return is_negative ? -size : size;
}

/* A whole number near x, by rule. */
long double ref_whole(long double x, int rounding)
{
    long double low = floorl(x), rest = x - low;
    bool up = false;
    if (rounding == FE_TONEAREST)
        up = rest > 0.5L || (rest == 0.5L && fmodl(low, 2) != 0);
    else if (rounding == FE_UPWARD || (rounding == FE_TOWARDZERO && x < 0))
        up = rest > 0;
    return copysignl(up ? low + 1 : low, x);
}

/* x, which must be exact, in the format. */
uint64_t ref_float_bits(long double x, enum ptx_word word, int rounding)
{
    struct ref_shape f = ref_shape_of(word);
    uint64_t sign = signbit(x) ? (uint64_t)1 << (f.bits - 1) : 0;
    uint64_t infinity = (uint64_t)(2 * f.exponent + 1) << (f.precision - 1);
    int e = 1 - f.exponent;
    if (isnan(x))
        return ref_ones((uint32_t)f.bits - 1);
    if (isinf(x) || x == 0)
        return sign | (x == 0 ? 0 : infinity);
    if (ilogbl(x) > e)
        e = ilogbl(x);
    long double digits = ref_whole(ldexpl(x, f.precision - 1 - e), rounding);
    uint64_t bits = (uint64_t)fabsl(digits) + ((uint64_t)(e + f.exponent - 1) << (f.precision - 1));
    if (bits >= infinity) {
        bool stays = rounding == FE_TOWARDZERO || rounding == (sign ? FE_UPWARD : FE_DOWNWARD);
        bits = stays ? infinity - 1 : infinity;
    }
    return sign | bits;
}

bool ref_is_subnormal(uint64_t bits, enum ptx_word word)
{
    struct ref_shape f = ref_shape_of(word);
    return (bits & ref_ones((uint32_t)f.bits - 1)) < (uint64_t)1 << (f.precision - 1);
}

uint64_t ref_flushed(const struct ref_computing *r, uint64_t bits, enum ptx_word word)
{
    bool ftz = ref_word_of(r, PTX_SLOT_FTZ) != PTX_W_NONE && word == PTX_W_F32;
    struct ref_shape f = ref_shape_of(word);
    return ftz && ref_is_subnormal(bits, word) ? bits & ((uint64_t)1 << (f.bits - 1)) : bits;
}

/* As it is written: flushed, saturated. */
uint64_t ref_written(const struct ref_computing *r, uint64_t bits, enum ptx_word word)
{
    bits = ref_flushed(r, bits, word);
    long double x = ref_float_value(bits, word);
    if (ref_word_of(r, PTX_SLOT_SAT) == PTX_W_NONE)
        return bits;
    return ref_float_bits(x > 0 ? (x < 1 ? x : 1) : 0, word, FE_TONEAREST);
}

/* By the machine, in the rounding's mode; everything is volatile, so nothing moves or is folded. */
#define MACHINE(name, T, fused, root)                                                              \
    static T name(enum ptx_opcode opcode, T x, T y, T z, int rounding)                             \
    {                                                                                              \
        volatile T a = x, b = y, c = z, d = 0;                                                     \
        fesetround(rounding);                                                                      \
        if (opcode == PTX_OP_ADD)                                                                  \
            d = a + b;                                                                             \
        else if (opcode == PTX_OP_SUB)                                                             \
            d = a - b;                                                                             \
        else if (opcode == PTX_OP_MUL)                                                             \
            d = a * b;                                                                             \
        else if (opcode == PTX_OP_DIV)                                                             \
            d = a / b;                                                                             \
        else if (opcode == PTX_OP_RCP)                                                             \
            d = 1 / a;                                                                             \
        else if (opcode == PTX_OP_SQRT)                                                            \
            d = root(a);                                                                           \
        else                                                                                       \
            d = fused(a, b, c);                                                                    \
        fesetround(FE_TONEAREST);                                                                  \
        return d;                                                                                  \
    }
MACHINE(machine_f32, float, fmaf, sqrtf)
MACHINE(machine_f64, double, fma, sqrt)

/* ---- instructions ---- */

void ref_rounded(struct ref_computing *r, enum ptx_opcode opcode)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    int rounding = ref_fe_rounding(ref_word_of(r, PTX_SLOT_ROUND));
    long double x[3] = {0};
    for (uint32_t i = 0; i < r->source_count; i++)
        x[i] = ref_float_value(ref_flushed(r, r->s[i], type), type);
    long double y =
        type == PTX_W_F32
            ? (long double)machine_f32(opcode, (float)x[0], (float)x[1], (float)x[2], rounding)
            : (long double)machine_f64(opcode, (double)x[0], (double)x[1], (double)x[2], rounding);
    r->d[0] = ref_written(r, ref_float_bits(y, type, FE_TONEAREST), type);
}

void ref_approximate(struct ref_computing *r, enum ptx_opcode opcode)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    bool is_short = type == PTX_W_F64 && ref_word_of(r, PTX_SLOT_FTZ) != PTX_W_NONE;
    uint64_t s = ref_flushed(r, r->s[0], type);
    if (is_short)
        s = ref_is_subnormal(s, type) ? s & (uint64_t)1 << 63 : s & ~ref_ones(32);
    long double x = ref_float_value(s, type),
                y = ref_float_value(ref_flushed(r, r->s[1], type), type);
    bool is_large = fabsl(y) > 0x1p126L && fabsl(y) < INFINITY;
    r->is_approximate = true;
    switch ((int)opcode) {
    case PTX_OP_DIV:
        r->about = x / y;
        if (is_large && ref_word_of(r, PTX_SLOT_APPROX) == PTX_W_APPROX)
            r->about = isinf(x) ? NAN : copysignl(1, x) * copysignl(0, y) * (isnan(x) ? NAN : 1);
        return;
    case PTX_OP_RCP:
        r->about = 1 / x;
        return;
    case PTX_OP_SQRT:
        r->about = sqrtl(x);
        return;
    case PTX_OP_RSQRT:
        r->about = 1 / sqrtl(x);
        return;
    case PTX_OP_SIN:
        r->about = sinl(x);
        return;
    case PTX_OP_COS:
        r->about = cosl(x);
        return;
    case PTX_OP_LG2:
        r->about = log2l(x);
        return;
    case PTX_OP_EX2:
        r->about = exp2l(x);
        return;
    default:
        r->about = tanhl(x);
    }
}

/* any_nan: a NaN is the result if one of them is; else of both. Of two zeros, -0 is the less one. */
uint64_t ref_least(uint64_t a, uint64_t b, enum ptx_word type, bool is_min, bool any_nan)
{
    long double x = ref_float_value(a, type), y = ref_float_value(b, type);
    uint64_t nan = ref_ones((uint32_t)ref_shape_of(type).bits - 1);
    bool is_less = x < y || (x == y && signbit(x) && !signbit(y));
    if (isnan(x) || isnan(y))
        return any_nan || (isnan(x) && isnan(y)) ? nan : isnan(x) ? b : a;
    return is_less == is_min ? a : b;
}

/* min, max: of all that there are, from the left; .abs of their sizes, .xorsign with the product of their signs. */
static uint64_t chosen_of(const struct ref_computing *r, enum ptx_opcode opcode, enum ptx_word type)
{
    const bool sizes = ref_word_of(r, PTX_SLOT_MODE) == PTX_W_ABS;
    const bool any_nan = ref_word_of(r, PTX_SLOT_NAN) != PTX_W_NONE;
    const bool has_third = r->instruction->operands->next->next->next != NULL;
    uint64_t sign = (uint64_t)1 << (ref_shape_of(type).bits - 1), found = 0;
    bool negative = false;
    for (uint32_t i = 0; i < (has_third ? 3 : 2); i++) {
        uint64_t one = ref_flushed(r, r->s[i], type);
        negative = negative != ((r->s[i] & sign) != 0);
        one = sizes ? one & ~sign : one;
        found = i == 0 ? one : ref_least(found, one, type, opcode == PTX_OP_MIN, any_nan);
    }
    if (ref_word_of(r, PTX_SLOT_OP) == PTX_W_XORSIGN && !isnan(ref_float_value(found, type)))
        return negative ? found | sign : found;
    return found;
}

void ref_sign(struct ref_computing *r, enum ptx_opcode opcode)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    struct ref_shape f = ref_shape_of(type);
    uint64_t a = ref_flushed(r, r->s[0], type);
    long double x = ref_float_value(a, type);
    uint64_t sign = (uint64_t)1 << (f.bits - 1);
    uint64_t nan = ref_ones((uint32_t)f.bits - 1);
    switch ((int)opcode) {
    case PTX_OP_ABS:
        r->d[0] = isnan(x) ? nan : a & ~sign;
        return;
    case PTX_OP_NEG:
        r->d[0] = isnan(x) ? nan : a ^ sign;
        return;
    case PTX_OP_COPYSIGN:
        r->d[0] = (r->s[0] & sign) | (r->s[1] & ~sign);
        return;
    default:
        r->d[0] = chosen_of(r, opcode, type);
    }
}

void ref_test(struct ref_computing *r)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    double least = type == PTX_W_F32 ? 0x1p-126 : 0x1p-1022;
    long double x = ref_float_value(r->s[0], type), size = fabsl(x);
    bool is_true, is_normal = isfinite(x) && (size == 0 || size >= (long double)least);
    switch ((int)ref_word_of(r, PTX_SLOT_MODE)) {
    case PTX_W_FINITE:
        is_true = isfinite(x);
        break;
    case PTX_W_INFINITE:
        is_true = isinf(x);
        break;
    case PTX_W_NUMBER:
        is_true = !isnan(x);
        break;
    case PTX_W_NOTANUMBER:
        is_true = isnan(x);
        break;
    case PTX_W_NORMAL:
        is_true = is_normal;
        break;
    default:
        is_true = isfinite(x) && !is_normal;
    }
    r->d[0] = is_true;
}

/* ---- as good as an approximation must be ---- */

/* Within half a unit of the last place, and a hundredth for two roundings; of .f64, which is a root and a quotient, one
 * more. */
bool ref_is_near(uint64_t got, long double about, enum ptx_word word)
{
    struct ref_shape f = ref_shape_of(word);
    long double x = ref_float_value(got, word);
    long double beyond = ldexpl(2 - ldexpl(1, -f.precision), f.exponent);
    int e = 2 - f.exponent - f.precision;
    if (isnan(about))
        return got == ref_ones((uint32_t)f.bits - 1);
    if (isinf(x) && fabsl(about) >= beyond)
        return signbit(x) == signbit(about);
    if (isinf(about) || isinf(x) || isnan(x) || signbit(x) != signbit(about))
        return false;
    if (about != 0 && ilogbl(about) - f.precision + 1 > e)
        e = ilogbl(about) - f.precision + 1;
    return fabsl(x - about) <= ldexpl(word == PTX_W_F64 ? 1.51L : 0.51L, e);
}

/* rcp, rsqrt .approx.ftz.f64: 20 bits of the fraction. */
static bool is_near_upper(uint64_t got, long double about)
{
    if (isnan(about))
        return got == 0x7fffffff00000000;
    if (got & ref_ones(32))
        return false;
    long double x = ref_float_value(got, PTX_W_F64);
    if (fabsl(about) < 0x1p-1022L)
        return x == 0 && signbit(x) == signbit(about);
    return x == about || fabsl(x - about) <= fabsl(about) * 0x1p-20L;
}

bool ref_is_as_good(const struct ref_computing *r, uint64_t got)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    bool ftz = ref_word_of(r, PTX_SLOT_FTZ) != PTX_W_NONE;
    if (ref_is_half(r))
        return ref_half_is_as_good(r, got);
    if (ftz && type == PTX_W_F64)
        return is_near_upper(got, r->about);
    bool vanishes = ftz && fabsl(r->about) < 0x1p-126L;
    if (vanishes && got == (signbit(r->about) ? 0x80000000 : 0))
        return true;
    if (ftz && ref_is_subnormal(got, type) && got & 0x7fffffff)
        return false;
    uint64_t saturated = ref_float_bits(1, type, FE_TONEAREST);
    if (ref_word_of(r, PTX_SLOT_SAT) != PTX_W_NONE && !(r->about > 0 && r->about < 1))
        return got == (r->about > 0 ? saturated : 0);
    return ref_is_near(got, r->about, type);
}

bool ref_is_result(const struct ref_computing *r, uint32_t k, uint64_t got)
{
    return r->is_approximate ? ref_is_as_good(r, got) : got == r->d[k];
}
