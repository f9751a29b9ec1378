/* Floating-point arithmetic that is rounded as IEEE 754 says (PTX ISA 9.7.3). To the nearest: the machine's own;
 * otherwise by integers (ptx_soft.h). Results that .ftz flushes are those that are subnormal when rounded. */
#include "engine/arith/ptx_rows_internal.h"

#include <math.h>

/* ---- to the nearest ---- */

enum { FTZ = 1, SAT = 2 };

static inline float read_f32(uint32_t bits, uint32_t flags)
{
    return f32_of(flags & FTZ ? flush_f32(bits) : bits);
}

static inline uint32_t write_f32(float value, uint32_t flags)
{
    uint32_t bits = result_f32(value);
    bits = flags & FTZ ? flush_f32(bits) : bits;
    return flags & SAT ? saturate_f32(bits) : bits;
}

/* The sum in double precision, made odd where it is not exact, is rounded once more without harm (Boldo and
 * Melquiond, "Emulation of FMA and correctly rounded sums", 2008). The product is exact. */
static inline float fma_f32(float a, float b, float c)
{
#ifdef __FMA__
    return fmaf(a, b, c);
#else
    double product = (double)a * b, sum = product + c;
    double part = sum - product, rest = (product - (sum - part)) + (c - part);
    uint64_t bits = bits_of_f64(sum);
    uint64_t is_inexact = (rest < 0) | (rest > 0);
    uint64_t step = (rest > 0) == (sum > 0) ? 1 : UINT64_MAX;
    bits += is_inexact & ~bits & 1 ? step : 0;
    return (float)f64_of(bits);
#endif
}

/* A function for each of plain, .ftz, .sat, .ftz.sat. */
#define F32(F, op, expr)                                                                           \
    F(op##_plain, 0, expr)                                                                         \
    F(op##_ftz, FTZ, expr)                                                                         \
    F(op##_sat, SAT, expr)                                                                         \
    F(op##_ftz_sat, FTZ | SAT, expr)                                                               \
    static ptx_row_fn *const op[4] = {op##_plain, op##_ftz, op##_sat, op##_ftz_sat};

/* In an expression: a, b, c. */
#define F32_ROW1(name, flags, expr)                                                                \
    static inline float name##_of(float a)                                                         \
    {                                                                                              \
        return (expr);                                                                             \
    }                                                                                              \
    ROW1(name, row32, row32, write_f32(name##_of(read_f32(x, flags)), flags))

#define F32_ROW2(name, flags, expr)                                                                \
    static inline float name##_of(float a, float b)                                                \
    {                                                                                              \
        return (expr);                                                                             \
    }                                                                                              \
    ROW2(name, row32, row32, row32,                                                                \
         write_f32(name##_of(read_f32(x, flags), read_f32(y, flags)), flags))

#define F32_ROW3(name, flags, expr)                                                                \
    static inline float name##_of(float a, float b, float c)                                       \
    {                                                                                              \
        return (expr);                                                                             \
    }                                                                                              \
    ROW3(name, row32, row32, row32, row32,                                                         \
         write_f32(name##_of(read_f32(x, flags), read_f32(y, flags), read_f32(z, flags)), flags))

F32(F32_ROW2, add, a + b)
F32(F32_ROW2, sub, a - b)
F32(F32_ROW2, mul, (a * b))
F32(F32_ROW2, quotient, a / b)
F32(F32_ROW3, fused, fma_f32(a, b, c))
F32(F32_ROW1, reciprocal, 1 / a)
F32(F32_ROW1, root, sqrtf(a))

ROW2(add_f64, row64, row64, row64, result_f64(f64_of(x) + f64_of(y)))
ROW2(sub_f64, row64, row64, row64, result_f64(f64_of(x) - f64_of(y)))
ROW2(mul_f64, row64, row64, row64, result_f64(f64_of(x) * f64_of(y)))
ROW2(quotient_f64, row64, row64, row64, result_f64(f64_of(x) / f64_of(y)))
ROW3(fused_f64, row64, row64, row64, row64, result_f64(fma(f64_of(x), f64_of(y), f64_of(z))))
ROW1(reciprocal_f64, row64, row64, result_f64(1 / f64_of(x)))
ROW1(root_f64, row64, row64, result_f64(sqrt(f64_of(x))))

/* Larger divisors have a reciprocal that the hardware flushes: the quotient is 0, or a NaN of infinity. */
static inline float divide_approximately(float a, float b)
{
    float size = b < 0 ? -b : b;
    bool is_large = (size > 0x1p126f) & (size < (float)INFINITY);
    return is_large ? a * (b < 0 ? -0.0f : 0.0f) : a / b;
}

F32(F32_ROW2, approximate, divide_approximately(a, b))

/* ---- the other roundings ---- */

enum operation { ADD, SUB, MUL, DIV, FMA, RCP, SQRT };

/* immediate: the rounding, then flags. */
enum { DIRECTED_ROUNDING = 3, DIRECTED_FTZ = 4, DIRECTED_SAT = 8 };

static struct soft compute(enum operation operation, struct soft a, struct soft b, struct soft c,
                           enum soft_rounding rounding)
{
    switch (operation) {
    case ADD:
        return soft_add(a, b, rounding);
    case SUB:
        return soft_add(a, soft_negate(b), rounding);
    case MUL:
        return soft_multiply(a, b);
    case DIV:
        return soft_divide(a, b);
    case FMA:
        return soft_add(soft_multiply(a, b), c, rounding);
    case RCP:
        return soft_divide(soft_of_integer(1, false), a);
    case SQRT:
        return soft_root(a);
    }
    return a;
}

static uint64_t directed(enum operation operation, enum soft_format_name format, uint64_t a,
                         uint64_t b, uint64_t c, uint32_t how)
{
    enum soft_rounding rounding = (enum soft_rounding)(how & DIRECTED_ROUNDING);
    if (how & DIRECTED_FTZ) {
        a = soft_flush(a, format);
        b = soft_flush(b, format);
        c = soft_flush(c, format);
    }
    uint64_t bits = soft_pack(compute(operation, soft_unpack(a, format), soft_unpack(b, format),
                                      soft_unpack(c, format), rounding),
                              format, rounding);
    bits = how & DIRECTED_FTZ ? soft_flush(bits, format) : bits;
    return how & DIRECTED_SAT ? soft_saturate(bits, format) : bits;
}

#define DIRECTED1(op)                                                                              \
    ROW1(op##_directed_32, row32, row32, directed(op, SOFT_F32, x, 0, 0, immediate))               \
    ROW1(op##_directed_64, row64, row64, directed(op, SOFT_F64, x, 0, 0, immediate))
#define DIRECTED2(op)                                                                              \
    ROW2(op##_directed_32, row32, row32, row32, directed(op, SOFT_F32, x, y, 0, immediate))        \
    ROW2(op##_directed_64, row64, row64, row64, directed(op, SOFT_F64, x, y, 0, immediate))
#define DIRECTED3(op)                                                                              \
    ROW3(op##_directed_32, row32, row32, row32, row32, directed(op, SOFT_F32, x, y, z, immediate)) \
    ROW3(op##_directed_64, row64, row64, row64, row64, directed(op, SOFT_F64, x, y, z, immediate))

DIRECTED2(ADD)
DIRECTED2(SUB)
DIRECTED2(MUL)
DIRECTED2(DIV)
DIRECTED3(FMA)
DIRECTED1(RCP)
DIRECTED1(SQRT)

/* Two .f32 in 64 bits, each on its own. */
static uint64_t directed_pair(enum operation operation, uint64_t a, uint64_t b, uint64_t c,
                              uint32_t how)
{
    const uint64_t low = directed(operation, SOFT_F32, (uint32_t)a, (uint32_t)b, (uint32_t)c, how);
    return low | directed(operation, SOFT_F32, a >> 32, b >> 32, c >> 32, how) << 32;
}

ROW2(add_pair, row64, row64, row64, directed_pair(ADD, x, y, 0, immediate))
ROW2(sub_pair, row64, row64, row64, directed_pair(SUB, x, y, 0, immediate))
ROW2(mul_pair, row64, row64, row64, directed_pair(MUL, x, y, 0, immediate))
ROW3(fused_pair, row64, row64, row64, row64, directed_pair(FMA, x, y, z, immediate))

/* ---- sign, least, greatest ---- */

static inline uint32_t canonical_f32(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
}

static inline uint64_t canonical_f64(uint64_t bits)
{
    return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000 ? 0x7fffffffffffffff : bits;
}

ROW1(abs_f32, row32, row32, canonical_f32(x) & 0x7fffffff)
ROW1(abs_f32_ftz, row32, row32, canonical_f32(flush_f32(x)) & 0x7fffffff)
ROW1(abs_f64, row64, row64, canonical_f64(x) & 0x7fffffffffffffff)
ROW1(neg_f32, row32, row32, canonical_f32(x ^ 0x80000000))
ROW1(neg_f32_ftz, row32, row32, canonical_f32(flush_f32(x) ^ 0x80000000))
ROW1(neg_f64, row64, row64, canonical_f64(x ^ 0x8000000000000000))
ROW2(copysign_f32, row32, row32, row32, (x & 0x80000000) | (y & 0x7fffffff))
ROW2(copysign_f64, row64, row64, row64, (x & 0x8000000000000000) | (y & 0x7fffffffffffffff))

/* -0 < +0; a NaN is the result only if both are or, with .NaN, if one is. */
#define LEAST(name, E, of, canonical, read, sign, compare, zero, any_nan)                          \
    static inline E name##_of(E x, E y)                                                            \
    {                                                                                              \
        const int first = of(x) compare of(y), same = of(x) == of(y), is_zero = x == (zero);       \
        const int x_nan = of(x) != of(x), y_nan = of(y) != of(y);                                  \
        const E found = (first | (same & is_zero) | y_nan) ? x : y;                                \
        return ((any_nan) & (x_nan | y_nan)) ? (sign)-1 : canonical(found);                        \
    }                                                                                              \
    ROW2(name, E, E, E, name##_of(read(x), read(y)))

#define AS_IT_IS(bits) (bits)
#define SIGN_32 0x80000000u
#define SIGN_64 0x8000000000000000u
LEAST(min_f32, row32, f32_of, canonical_f32, AS_IT_IS, SIGN_32, <, SIGN_32, false)
LEAST(min_f32_ftz, row32, f32_of, canonical_f32, flush_f32, SIGN_32, <, SIGN_32, false)
LEAST(min_f32_nan, row32, f32_of, canonical_f32, AS_IT_IS, SIGN_32, <, SIGN_32, true)
LEAST(min_f32_ftz_nan, row32, f32_of, canonical_f32, flush_f32, SIGN_32, <, SIGN_32, true)
LEAST(max_f32, row32, f32_of, canonical_f32, AS_IT_IS, SIGN_32, >, 0, false)
LEAST(max_f32_ftz, row32, f32_of, canonical_f32, flush_f32, SIGN_32, >, 0, false)
LEAST(max_f32_nan, row32, f32_of, canonical_f32, AS_IT_IS, SIGN_32, >, 0, true)
LEAST(max_f32_ftz_nan, row32, f32_of, canonical_f32, flush_f32, SIGN_32, >, 0, true)
LEAST(min_f64, row64, f64_of, canonical_f64, AS_IT_IS, SIGN_64, <, SIGN_64, false)
LEAST(max_f64, row64, f64_of, canonical_f64, AS_IT_IS, SIGN_64, >, 0, false)

/* Of two or three, of their sizes, or with the product of their signs: PTX ISA 9.7.3.11, .12. */
enum {
    EXTREME_MOST = 1,
    EXTREME_FTZ = 2,
    EXTREME_NAN = 4,
    EXTREME_SIZE = 8,
    EXTREME_SIGN = 16,
    EXTREME_THREE = 32
};

static uint32_t extreme_of(uint32_t x, uint32_t y, uint32_t how)
{
    return how & EXTREME_MOST ? (how & EXTREME_NAN ? max_f32_nan_of : max_f32_of)(x, y)
                              : (how & EXTREME_NAN ? min_f32_nan_of : min_f32_of)(x, y);
}

static void extreme_f32(ROW_ARGUMENTS)
{
    row32 *d = results[0];
    LANES (i) {
        uint32_t found = 0, signs = 0;
        for (uint32_t k = 0; k < (immediate & EXTREME_THREE ? 3u : 2u); k++) {
            const uint32_t given = ((const row32 *)sources[k])[i];
            uint32_t x = immediate & EXTREME_FTZ ? flush_f32(given) : given;
            signs ^= given & SIGN_32;
            x = immediate & EXTREME_SIZE ? x & ~SIGN_32 : x;
            found = k == 0 ? x : extreme_of(found, x, immediate);
        }
        const bool is_nan = (found & ~SIGN_32) > 0x7f800000;
        d[i] = immediate & EXTREME_SIGN && !is_nan ? found | signs : found;
    }
}

/* Zeros are normal. m: size, without the sign. */
#define TEST(name, condition)                                                                      \
    static inline bool name##_of(uint64_t m, uint64_t least, uint64_t infinite)                    \
    {                                                                                              \
        (void)m, (void)least, (void)infinite;                                                      \
        return condition;                                                                          \
    }                                                                                              \
    ROW1(name##_32, row32, row32, name##_of(x & 0x7fffffff, 0x00800000, 0x7f800000))               \
    ROW1(name##_64, row32, row64,                                                                  \
         name##_of(x & 0x7fffffffffffffff, 0x0010000000000000, 0x7ff0000000000000))

TEST(finite, m < infinite)
TEST(infinite, m == infinite)
TEST(number, m <= infinite)
TEST(notanumber, m > infinite)
TEST(normal, (m < infinite) & ((m >= least) | (m == 0)))
TEST(subnormal, (m < least) & (m != 0))

static ptx_row_fn *find_test(enum ptx_word word, bool is_64)
{
    switch ((int)word) {
    case PTX_W_FINITE:
        return is_64 ? finite_64 : finite_32;
    case PTX_W_INFINITE:
        return is_64 ? infinite_64 : infinite_32;
    case PTX_W_NUMBER:
        return is_64 ? number_64 : number_32;
    case PTX_W_NOTANUMBER:
        return is_64 ? notanumber_64 : notanumber_32;
    case PTX_W_NORMAL:
        return is_64 ? normal_64 : normal_32;
    default:
        return is_64 ? subnormal_64 : subnormal_32;
    }
}

/* ---- which ---- */

static uint32_t flags_of(const uint8_t words[PTX_SLOT_COUNT])
{
    return (words[PTX_SLOT_FTZ] ? FTZ : 0u) | (words[PTX_SLOT_SAT] ? SAT : 0u);
}

static ptx_row_fn *find_rounded(const struct ptx_instruction *instruction, uint32_t *immediate,
                                enum operation operation)
{
    static ptx_row_fn *const *const nearest[] = {
        [ADD] = add,   [SUB] = sub,        [MUL] = mul,  [DIV] = quotient,
        [FMA] = fused, [RCP] = reciprocal, [SQRT] = root};
    static ptx_row_fn *const nearest_64[] = {
        [ADD] = add_f64,   [SUB] = sub_f64,        [MUL] = mul_f64,  [DIV] = quotient_f64,
        [FMA] = fused_f64, [RCP] = reciprocal_f64, [SQRT] = root_f64};
    static ptx_row_fn *const others[][2] = {
        [ADD] = {ADD_directed_32, ADD_directed_64},   [SUB] = {SUB_directed_32, SUB_directed_64},
        [MUL] = {MUL_directed_32, MUL_directed_64},   [DIV] = {DIV_directed_32, DIV_directed_64},
        [FMA] = {FMA_directed_32, FMA_directed_64},   [RCP] = {RCP_directed_32, RCP_directed_64},
        [SQRT] = {SQRT_directed_32, SQRT_directed_64}};
    const uint8_t *words = instruction->words;
    enum soft_rounding rounding = soft_rounding_of((enum ptx_word)words[PTX_SLOT_ROUND]);
    uint32_t flags = flags_of(words);
    bool is_64 = words[PTX_SLOT_TYPE] == PTX_W_F64;
    if (rounding == SOFT_NEAREST)
        return is_64 ? nearest_64[operation] : nearest[operation][flags];
    *immediate = rounding | (flags & FTZ ? DIRECTED_FTZ : 0u) | (flags & SAT ? DIRECTED_SAT : 0u);
    return others[operation][is_64];
}

static ptx_row_fn *find_pair(const struct ptx_instruction *instruction, uint32_t *immediate)
{
    const uint8_t *words = instruction->words;
    *immediate = soft_rounding_of((enum ptx_word)words[PTX_SLOT_ROUND]) |
                 (words[PTX_SLOT_FTZ] ? DIRECTED_FTZ : 0u);
    return instruction->form == PTX_FORM_ADD_F32X2   ? add_pair
           : instruction->form == PTX_FORM_SUB_F32X2 ? sub_pair
           : instruction->form == PTX_FORM_MUL_F32X2 ? mul_pair
                                                     : fused_pair;
}

static bool is_of_three(const struct ptx_instruction *instruction)
{
    return instruction->operands->next->next->next != NULL;
}

static ptx_row_fn *find_extreme(const struct ptx_instruction *instruction, uint32_t *immediate)
{
    const uint8_t *words = instruction->words;
    *immediate =
        (ptx_forms[instruction->form].opcode == PTX_OP_MAX ? EXTREME_MOST : 0u) |
        (words[PTX_SLOT_FTZ] ? EXTREME_FTZ : 0u) | (words[PTX_SLOT_NAN] ? EXTREME_NAN : 0u) |
        (words[PTX_SLOT_MODE] ? EXTREME_SIZE : 0u) | (words[PTX_SLOT_OP] ? EXTREME_SIGN : 0u) |
        (is_of_three(instruction) ? EXTREME_THREE : 0u);
    return extreme_f32;
}

ROW_FINDER(float)
{
    (void)reason;
    static ptx_row_fn *const least[2][2] = {{min_f32, min_f32_ftz}, {min_f32_nan, min_f32_ftz_nan}};
    static ptx_row_fn *const most[2][2] = {{max_f32, max_f32_ftz}, {max_f32_nan, max_f32_ftz_nan}};
    const uint8_t *words = instruction->words;
    bool is_64 = words[PTX_SLOT_TYPE] == PTX_W_F64, ftz = words[PTX_SLOT_FTZ];
    switch ((int)instruction->form) {
    case PTX_FORM_ADD_F32X2:
    case PTX_FORM_SUB_F32X2:
    case PTX_FORM_MUL_F32X2:
    case PTX_FORM_FMA_F32X2:
        return find_pair(instruction, immediate);
    case PTX_FORM_ADD_F32:
    case PTX_FORM_ADD_F64:
        return find_rounded(instruction, immediate, ADD);
    case PTX_FORM_SUB_F32:
    case PTX_FORM_SUB_F64:
        return find_rounded(instruction, immediate, SUB);
    case PTX_FORM_MUL_F32:
    case PTX_FORM_MUL_F64:
        return find_rounded(instruction, immediate, MUL);
    case PTX_FORM_DIV_F32:
    case PTX_FORM_DIV_F64:
        return find_rounded(instruction, immediate, DIV);
    case PTX_FORM_MAD_F32:
    case PTX_FORM_MAD_F64:
    case PTX_FORM_FMA_F32:
    case PTX_FORM_FMA_F64:
        return find_rounded(instruction, immediate, FMA);
    case PTX_FORM_RCP_F32:
    case PTX_FORM_RCP_F64:
        return find_rounded(instruction, immediate, RCP);
    case PTX_FORM_SQRT_F32:
    case PTX_FORM_SQRT_F64:
        return find_rounded(instruction, immediate, SQRT);
    case PTX_FORM_DIV_APPROX:
        return (words[PTX_SLOT_APPROX] == PTX_W_FULL ? quotient : approximate)[flags_of(words)];
    case PTX_FORM_RCP_APPROX:
        return reciprocal[flags_of(words)];
    case PTX_FORM_SQRT_APPROX:
        return root[flags_of(words)];
    case PTX_FORM_ABS_F32:
        return ftz ? abs_f32_ftz : abs_f32;
    case PTX_FORM_ABS_F64:
        return abs_f64;
    case PTX_FORM_NEG_F32:
        return ftz ? neg_f32_ftz : neg_f32;
    case PTX_FORM_NEG_F64:
        return neg_f64;
    case PTX_FORM_MIN_SIZE:
    case PTX_FORM_MAX_SIZE:
    case PTX_FORM_MIN_XORSIGN:
    case PTX_FORM_MAX_XORSIGN:
        return find_extreme(instruction, immediate);
    case PTX_FORM_MIN_F32:
        if (is_of_three(instruction))
            return find_extreme(instruction, immediate);
        return least[words[PTX_SLOT_NAN] != 0][ftz];
    case PTX_FORM_MIN_F64:
        return min_f64;
    case PTX_FORM_MAX_F32:
        if (is_of_three(instruction))
            return find_extreme(instruction, immediate);
        return most[words[PTX_SLOT_NAN] != 0][ftz];
    case PTX_FORM_MAX_F64:
        return max_f64;
    case PTX_FORM_COPYSIGN_FLOAT:
        return is_64 ? copysign_f64 : copysign_f32;
    case PTX_FORM_TESTP_FLOAT:
        return find_test((enum ptx_word)words[PTX_SLOT_MODE], is_64);
    default:
        return NULL;
    }
}
