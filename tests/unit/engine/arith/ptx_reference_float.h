/*
 * ptx_reference_float.h - the floating-point half of ptx_reference.h: values as long double, rounded by rule or by
 * the machine in the mode that the instruction names.
 */
#ifndef TESTS_PTX_REFERENCE_FLOAT_H
#define TESTS_PTX_REFERENCE_FLOAT_H

#include "engine/arith/ptx_rows.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

struct reference {
    const struct ptx_instruction *instruction;
    const struct ptx_row_op *op;
    uint64_t s[PTX_ROW_SOURCES]; /* elements */
    uint64_t d[PTX_ROW_RESULTS];
    bool is_approximate; /* then about this: */
    long double about;
};

static enum ptx_word word_of(const struct reference *r, enum ptx_slot slot)
{
    return (enum ptx_word)r->instruction->words[slot];
}

static uint64_t ones(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* ---- values ---- */

static int fe_rounding(enum ptx_word word)
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

struct shape {
    int bits, precision, exponent;
};

static struct shape shape_of(enum ptx_word word)
{
    switch ((int)word) {
    case PTX_W_F16:
        return (struct shape){16, 11, 15};
    case PTX_W_BF16:
        return (struct shape){16, 8, 127};
    case PTX_W_F32:
        return (struct shape){32, 24, 127};
    default:
        return (struct shape){64, 53, 1023};
    }
}

/* Every number of every format is one of long double. */
static long double float_value(uint64_t bits, enum ptx_word word)
{
    struct shape f = shape_of(word);
    uint64_t fraction = bits & ones((uint32_t)f.precision - 1);
    int field = (int)(bits >> (f.precision - 1) & ones((uint32_t)(f.bits - f.precision)));
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
static long double whole(long double x, int rounding)
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
static uint64_t float_bits(long double x, enum ptx_word word, int rounding)
{
    struct shape f = shape_of(word);
    uint64_t sign = signbit(x) ? (uint64_t)1 << (f.bits - 1) : 0;
    uint64_t infinity = (uint64_t)(2 * f.exponent + 1) << (f.precision - 1);
    int e = 1 - f.exponent;
    if (isnan(x))
        return ones((uint32_t)f.bits - 1);
    if (isinf(x) || x == 0)
        return sign | (x == 0 ? 0 : infinity);
    if (ilogbl(x) > e)
        e = ilogbl(x);
    long double digits = whole(ldexpl(x, f.precision - 1 - e), rounding);
    uint64_t bits = (uint64_t)fabsl(digits) + ((uint64_t)(e + f.exponent - 1) << (f.precision - 1));
    if (bits >= infinity) {
        bool stays = rounding == FE_TOWARDZERO || rounding == (sign ? FE_UPWARD : FE_DOWNWARD);
        bits = stays ? infinity - 1 : infinity;
    }
    return sign | bits;
}

static bool is_subnormal(uint64_t bits, enum ptx_word word)
{
    struct shape f = shape_of(word);
    return (bits & ones((uint32_t)f.bits - 1)) < (uint64_t)1 << (f.precision - 1);
}

static uint64_t flushed(const struct reference *r, uint64_t bits, enum ptx_word word)
{
    bool ftz = word_of(r, PTX_SLOT_FTZ) != PTX_W_NONE && word == PTX_W_F32;
    struct shape f = shape_of(word);
    return ftz && is_subnormal(bits, word) ? bits & ((uint64_t)1 << (f.bits - 1)) : bits;
}

/* As it is written: flushed, saturated. */
static uint64_t written(const struct reference *r, uint64_t bits, enum ptx_word word)
{
    bits = flushed(r, bits, word);
    long double x = float_value(bits, word);
    if (word_of(r, PTX_SLOT_SAT) == PTX_W_NONE)
        return bits;
    return float_bits(x > 0 ? (x < 1 ? x : 1) : 0, word, FE_TONEAREST);
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

static void refer_rounded(struct reference *r, enum ptx_opcode opcode)
{
    enum ptx_word type = word_of(r, PTX_SLOT_TYPE);
    int rounding = fe_rounding(word_of(r, PTX_SLOT_ROUND));
    long double x[3] = {0};
    for (uint32_t i = 0; i < r->op->source_count; i++)
        x[i] = float_value(flushed(r, r->s[i], type), type);
    long double y =
        type == PTX_W_F32
            ? (long double)machine_f32(opcode, (float)x[0], (float)x[1], (float)x[2], rounding)
            : (long double)machine_f64(opcode, (double)x[0], (double)x[1], (double)x[2], rounding);
    r->d[0] = written(r, float_bits(y, type, FE_TONEAREST), type);
}

static void refer_approximate(struct reference *r, enum ptx_opcode opcode)
{
    enum ptx_word type = word_of(r, PTX_SLOT_TYPE);
    bool is_short = type == PTX_W_F64 && word_of(r, PTX_SLOT_FTZ) != PTX_W_NONE;
    uint64_t s = flushed(r, r->s[0], type);
    if (is_short)
        s = is_subnormal(s, type) ? s & (uint64_t)1 << 63 : s & ~ones(32);
    long double x = float_value(s, type), y = float_value(flushed(r, r->s[1], type), type);
    bool is_large = fabsl(y) > 0x1p126L && fabsl(y) < INFINITY;
    r->is_approximate = true;
    switch ((int)opcode) {
    case PTX_OP_DIV:
        r->about = x / y;
        if (is_large && word_of(r, PTX_SLOT_APPROX) == PTX_W_APPROX)
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

static void refer_sign(struct reference *r, enum ptx_opcode opcode)
{
    enum ptx_word type = word_of(r, PTX_SLOT_TYPE);
    struct shape f = shape_of(type);
    uint64_t a = flushed(r, r->s[0], type), b = flushed(r, r->s[1], type);
    long double x = float_value(a, type), y = float_value(b, type);
    bool is_less = x < y || (x == y && signbit(x) && !signbit(y));
    uint64_t sign = (uint64_t)1 << (f.bits - 1);
    uint64_t nan = ones((uint32_t)f.bits - 1);
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
        if (isnan(x) || isnan(y)) {
            bool any = word_of(r, PTX_SLOT_NAN) != PTX_W_NONE;
            r->d[0] = any || (isnan(x) && isnan(y)) ? nan : isnan(x) ? b : a;
        } else {
            r->d[0] = is_less == (opcode == PTX_OP_MIN) ? a : b;
        }
    }
}

static void refer_test(struct reference *r)
{
    enum ptx_word type = word_of(r, PTX_SLOT_TYPE);
    double least = type == PTX_W_F32 ? 0x1p-126 : 0x1p-1022;
    long double x = float_value(r->s[0], type), size = fabsl(x);
    bool is_true, is_normal = isfinite(x) && (size == 0 || size >= (long double)least);
    switch ((int)word_of(r, PTX_SLOT_MODE)) {
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

#endif
