/*
 * ref_half.c - floating point of 16 bits, one or two in a register (PTX ISA 9.7.4): half by half, each value as long
 * double, which holds it, and each result rounded once.
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <fenv.h>
#include <math.h>

static bool is_packed(enum ptx_word type)
{
    return type == PTX_W_F16X2 || type == PTX_W_BF16X2;
}

/* The type of a half. */
static enum ptx_word half_of(enum ptx_word type)
{
    return type == PTX_W_F16X2 ? PTX_W_F16 : type == PTX_W_BF16X2 ? PTX_W_BF16 : type;
}

static bool is_half(enum ptx_word type)
{
    return half_of(type) == PTX_W_F16 || half_of(type) == PTX_W_BF16;
}

static bool is_eights(const struct ref_computing *r, enum ptx_slot slot)
{
    return ref_word_of(r, slot) == PTX_W_E4M3X2 || ref_word_of(r, slot) == PTX_W_E5M2X2;
}

bool ref_is_half(const struct ref_computing *r)
{
    enum ptx_opcode opcode = ptx_forms[r->instruction->form].opcode;
    switch ((int)opcode) {
    case PTX_OP_SET:
        return is_half(ref_word_of(r, PTX_SLOT_TYPE2));
    case PTX_OP_CVT:
        return is_packed(ref_word_of(r, PTX_SLOT_TYPE)) || is_eights(r, PTX_SLOT_TYPE);
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_FMA:
    case PTX_OP_ABS:
    case PTX_OP_NEG:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_SETP:
    case PTX_OP_TANH:
    case PTX_OP_EX2:
        return is_half(ref_word_of(r, PTX_SLOT_TYPE));
    default:
        return false;
    }
}

/* A subnormal half is a zero of its sign under .ftz. */
static uint64_t flushed(const struct ref_computing *r, uint64_t bits, enum ptx_word type)
{
    bool ftz = ref_word_of(r, PTX_SLOT_FTZ) == PTX_W_FTZ;
    return ftz && ref_is_subnormal(bits, type) ? bits & 0x8000 : bits;
}

static uint64_t written(const struct ref_computing *r, uint64_t bits, enum ptx_word type)
{
    bits = flushed(r, bits, type);
    long double x = ref_float_value(bits, type);
    switch ((int)ref_word_of(r, PTX_SLOT_SAT)) {
    case PTX_W_SAT:
        return ref_float_bits(x > 0 ? (x < 1 ? x : 1) : 0, type, FE_TONEAREST);
    case PTX_W_RELU:
        return isnan(x) ? bits : signbit(x) ? 0 : bits;
    default:
        return bits;
    }
}

/* a + b for one rounding to some twenty digits or fewer: where the sum of long doubles is not exact and looks like a
 * number of so few digits, which might be a tie, it is moved a little towards the exact one. */
static long double sum_of(long double a, long double b)
{
    volatile long double sum = a + b, part = sum - a;
    volatile long double rest = (a - (sum - part)) + (b - part);
    int exponent;
    if (!isfinite(sum) || rest == 0)
        return sum;
    long double digits = ldexpl(frexpl(sum, &exponent), 24);
    return digits == truncl(digits) ? nextafterl(sum, rest > 0 ? INFINITY : -INFINITY) : sum;
}

static long double value_of(enum ptx_opcode opcode, long double a, long double b, long double c)
{
    switch ((int)opcode) {
    case PTX_OP_ADD:
        return sum_of(a, b);
    case PTX_OP_SUB:
        return sum_of(a, -b);
    case PTX_OP_MUL:
        return a * b;
    default:
        return sum_of(a * b, c);
    }
}

static uint64_t computed(const struct ref_computing *r, enum ptx_opcode opcode,
                         const uint64_t source[3], enum ptx_word type)
{
    uint64_t a = flushed(r, source[0], type), b = flushed(r, source[1], type);
    uint64_t c = flushed(r, source[2], type);
    long double x = ref_float_value(a, type);
    switch ((int)opcode) {
    case PTX_OP_ABS:
        return isnan(x) ? 0x7fff : a & 0x7fff;
    case PTX_OP_NEG:
        return isnan(x) ? 0x7fff : a ^ 0x8000;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return ref_least(a, b, type, opcode == PTX_OP_MIN,
                         ref_word_of(r, PTX_SLOT_NAN) != PTX_W_NONE);
    default: {
        long double y = value_of(opcode, x, ref_float_value(b, type), ref_float_value(c, type));
        return written(r, ref_float_bits(y, type, FE_TONEAREST), type);
    }
    }
}

static bool compared(const struct ref_computing *r, uint64_t a, uint64_t b, enum ptx_word type)
{
    long double x = ref_float_value(flushed(r, a, type), type);
    long double y = ref_float_value(flushed(r, b, type), type);
    return ref_compares_as(ref_word_of(r, PTX_SLOT_CMP), x < y ? -1 : x > y, isnan(x) || isnan(y));
}

static uint64_t part(uint64_t bits, uint32_t half)
{
    return bits >> 16 * half & 0xffff;
}

static void compare(struct ref_computing *r, bool is_set)
{
    enum ptx_word given = ref_word_of(r, is_set ? PTX_SLOT_TYPE2 : PTX_SLOT_TYPE);
    enum ptx_word to = ref_word_of(r, PTX_SLOT_TYPE), op = ref_word_of(r, PTX_SLOT_OP);
    enum ptx_word type = half_of(given);
    bool c =
        op != PTX_W_NONE && (r->s[2] != 0) != r->instruction->operands->next->next->next->negated;
    bool low = compared(r, part(r->s[0], 0), part(r->s[1], 0), type);
    bool high = is_packed(given) ? compared(r, part(r->s[0], 1), part(r->s[1], 1), type) : !low;
    bool first = ref_boolean(op, low, c), second = ref_boolean(op, high, c);
    uint64_t truth = ptx_type_of(to).kind == PTX_CLASS_FLOAT ? (type == PTX_W_F16 ? 0x3c00 : 0x3f80)
                     : ptx_type_of(to).bits == 32 && !is_packed(given) ? UINT32_MAX
                                                                       : 0xffff;
    r->d[0] = first;
    r->d[1] = second;
    if (is_set)
        r->d[0] = (first ? truth : 0) | (is_packed(given) && second ? truth << 16 : 0);
}

/* The first source becomes the upper half. */
static void pack(struct ref_computing *r)
{
    enum ptx_word type = half_of(ref_word_of(r, PTX_SLOT_TYPE));
    int rounding = ref_fe_rounding(ref_word_of(r, PTX_SLOT_ROUND));
    r->d[0] = 0;
    for (uint32_t i = 0; i < 2; i++) {
        long double x = ref_float_value(r->s[i], PTX_W_F32);
        r->d[0] |= written(r, ref_float_bits(x, type, rounding), type) << 16 * (1 - i);
    }
}

/* ---- 8 bits: e4m3 (the last code is a NaN, there are no infinities), e5m2 (the upper byte of an f16) ---- */

long double ref_eight_value(uint32_t code, bool e4m3)
{
    const int field = (int)(code >> 3 & 15);
    if (!e4m3)
        return ref_float_value((uint64_t)code << 8, PTX_W_F16);
    if ((code & 0x7f) == 0x7f)
        return (long double)NAN;
    const long double size = field ? ldexpl((long double)(8 + code % 8), field - 10)
                                   : ldexpl((long double)(code % 8), -9);
    return code & 0x80 ? -size : size;
}

/* The nearest of all finite numbers; of two the one with the even code. */
static uint64_t eight_nearest(long double x, bool e4m3)
{
    const uint32_t most = e4m3 ? 0x7e : 0x7b;
    const long double size =
        fminl(fabsl(x), ref_eight_value(most, e4m3)); /* differences are exact */
    uint32_t best = 0;
    if (x != x)
        return 0x7f;
    for (uint32_t code = 1; code <= most; code++) {
        const long double d = fabsl(ref_eight_value(code, e4m3) - size);
        const long double least = fabsl(ref_eight_value(best, e4m3) - size);
        if (d < least || (d == least && code % 2 == 0))
            best = code;
    }
    return best | (signbit(x) ? 0x80 : 0);
}

static void narrow_eights(struct ref_computing *r)
{
    const bool e4m3 = ref_word_of(r, PTX_SLOT_TYPE) == PTX_W_E4M3X2;
    const bool halves = ref_word_of(r, PTX_SLOT_TYPE2) == PTX_W_F16X2;
    const long double upper =
        halves ? ref_float_value(part(r->s[0], 1), PTX_W_F16) : ref_float_value(r->s[0], PTX_W_F32);
    const long double lower =
        halves ? ref_float_value(part(r->s[0], 0), PTX_W_F16) : ref_float_value(r->s[1], PTX_W_F32);
    r->d[0] = eight_nearest(upper, e4m3) << 8 | eight_nearest(lower, e4m3);
}

static void widen_eights(struct ref_computing *r)
{
    const bool e4m3 = ref_word_of(r, PTX_SLOT_TYPE2) == PTX_W_E4M3X2;
    r->d[0] = 0;
    for (uint32_t half = 0; half < 2; half++) {
        const long double x = ref_eight_value((uint32_t)(r->s[0] >> 8 * half & 0xff), e4m3);
        r->d[0] |= written(r, ref_float_bits(x, PTX_W_F16, FE_TONEAREST), PTX_W_F16) << 16 * half;
    }
}

static void approximate(struct ref_computing *r, enum ptx_opcode opcode)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    r->is_approximate = true;
    for (uint32_t half = 0; half < 2; half++) {
        uint64_t bits = flushed(r, part(r->s[0], half), half_of(type));
        long double x = ref_float_value(bits, half_of(type));
        *(half ? &r->about_high : &r->about) = opcode == PTX_OP_EX2 ? exp2l(x) : tanhl(x);
    }
}

bool ref_half_is_as_good(const struct ref_computing *r, uint64_t got)
{
    enum ptx_word given = ref_word_of(r, PTX_SLOT_TYPE), type = half_of(given);
    bool ftz = ref_word_of(r, PTX_SLOT_FTZ) == PTX_W_FTZ;
    for (uint32_t half = 0; half < (is_packed(given) ? 2u : 1u); half++) {
        uint64_t bits = part(got, half);
        long double about = half ? r->about_high : r->about;
        bool vanishes = ftz && fabsl(about) < 0x1p-126L && bits == (signbit(about) ? 0x8000 : 0);
        bool stays = ftz && ref_is_subnormal(bits, type) && bits & 0x7fff;
        if (!vanishes && (stays || !ref_is_near(bits, about, type)))
            return false;
    }
    return is_packed(given) || got <= 0xffff;
}

void ref_half(struct ref_computing *r, enum ptx_opcode opcode)
{
    enum ptx_word type = ref_word_of(r, PTX_SLOT_TYPE);
    if (opcode == PTX_OP_SET || opcode == PTX_OP_SETP) {
        compare(r, opcode == PTX_OP_SET);
        return;
    }
    if (opcode == PTX_OP_CVT) {
        if (is_eights(r, PTX_SLOT_TYPE))
            narrow_eights(r);
        else if (is_eights(r, PTX_SLOT_TYPE2))
            widen_eights(r);
        else
            pack(r);
        return;
    }
    if (opcode == PTX_OP_TANH || opcode == PTX_OP_EX2) {
        approximate(r, opcode);
        return;
    }
    r->d[0] = 0;
    for (uint32_t half = 0; half < (is_packed(type) ? 2u : 1u); half++) {
        uint64_t source[3];
        for (uint32_t i = 0; i < 3; i++)
            source[i] = part(r->s[i], half);
        r->d[0] |= computed(r, opcode, source, half_of(type)) << 16 * half;
    }
}

/* atom.add, red.add: to the nearest, subnormal numbers stay. */
uint64_t ref_half_sum(uint64_t a, uint64_t b, enum ptx_word type)
{
    uint64_t all = 0;
    for (uint32_t half = 0; half < (is_packed(type) ? 2u : 1u); half++) {
        long double x = ref_float_value(part(a, half), half_of(type));
        long double y = ref_float_value(part(b, half), half_of(type));
        all |= ref_float_bits(sum_of(x, y), half_of(type), FE_TONEAREST) << 16 * half;
    }
    return all;
}

/* atom.min, atom.max: as min and max without .NaN. */
uint64_t ref_half_extreme(uint64_t a, uint64_t b, enum ptx_word type, bool greatest)
{
    uint64_t all = 0;
    for (uint32_t half = 0; half < (is_packed(type) ? 2u : 1u); half++)
        all |= ref_least(part(a, half), part(b, half), half_of(type), !greatest, false)
               << 16 * half;
    return all;
}
