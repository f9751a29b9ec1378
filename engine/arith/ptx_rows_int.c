/* Integer arithmetic (PTX ISA 9.7.1). Where PTX leaves a value open, docs/ptx.md has what it is here. */
#include "engine/arith/ptx_rows_internal.h"

/* F(operation, suffix, the type as it lies in the low bits, the type to compute in, the unsigned one of its size,
 * element, the type twice as wide, element of that, bits, expression). Narrow values are computed in 32 bits:
 * uint16_t would become int. */
#define TYPE_U16(F, op, e) F(op, u16, uint16_t, uint32_t, uint16_t, row32, uint32_t, row32, 16, e)
#define TYPE_S16(F, op, e) F(op, s16, int16_t, int32_t, uint16_t, row32, int32_t, row32, 16, e)
#define TYPE_U32(F, op, e) F(op, u32, uint32_t, uint32_t, uint32_t, row32, uint64_t, row64, 32, e)
#define TYPE_S32(F, op, e) F(op, s32, int32_t, int32_t, uint32_t, row32, int64_t, row64, 32, e)
#define TYPE_U64(F, op, e) F(op, u64, uint64_t, uint64_t, uint64_t, row64, uint128, row64, 64, e)
#define TYPE_S64(F, op, e) F(op, s64, int64_t, int64_t, uint64_t, row64, int128, row64, 64, e)

/* In an expression: a, b, c of the type; `bits`, the unsigned type of its size, and `wide`, the type twice as wide. */
#define LOCAL_TYPES(T, U, W, N)                                                                    \
    typedef T type __attribute__((unused));                                                        \
    typedef U bits __attribute__((unused));                                                        \
    typedef W wide __attribute__((unused));                                                        \
    enum { width = N, is_signed = (T)-1 < (T)1 };                                                  \
    (void)immediate;

#define INT1(op, suffix, L, T, U, E, W, V, N, expr)                                                \
    static void op##_##suffix(ROW_ARGUMENTS)                                                       \
    {                                                                                              \
        LOCAL_TYPES(T, U, W, N)                                                                    \
        E *d = results[0];                                                                         \
        const E *x = sources[0];                                                                   \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const T a = (L)x[i];                                                                   \
            d[i] = (U)(expr);                                                                      \
        }                                                                                          \
    }

#define INT2(op, suffix, L, T, U, E, W, V, N, expr)                                                \
    static void op##_##suffix(ROW_ARGUMENTS)                                                       \
    {                                                                                              \
        LOCAL_TYPES(T, U, W, N)                                                                    \
        E *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1];                                                  \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const T a = (L)x[i], b = (L)y[i];                                                      \
            d[i] = (U)(expr);                                                                      \
        }                                                                                          \
    }

#define INT3(op, suffix, L, T, U, E, W, V, N, expr)                                                \
    static void op##_##suffix(ROW_ARGUMENTS)                                                       \
    {                                                                                              \
        LOCAL_TYPES(T, U, W, N)                                                                    \
        E *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1], *z = sources[2];                                 \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const T a = (L)x[i], b = (L)y[i], c = (L)z[i];                                         \
            d[i] = (U)(expr);                                                                      \
        }                                                                                          \
    }

/* The result, and c, are twice as wide. */
#define WIDE2(op, suffix, L, T, U, E, W, V, N, expr)                                               \
    static void op##_##suffix(ROW_ARGUMENTS)                                                       \
    {                                                                                              \
        LOCAL_TYPES(T, U, W, N)                                                                    \
        V *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1];                                                  \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const T a = (L)x[i], b = (L)y[i];                                                      \
            d[i] = (V)(expr);                                                                      \
        }                                                                                          \
    }

#define WIDE3(op, suffix, L, T, U, E, W, V, N, expr)                                               \
    static void op##_##suffix(ROW_ARGUMENTS)                                                       \
    {                                                                                              \
        LOCAL_TYPES(T, U, W, N)                                                                    \
        V *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1];                                                  \
        const V *z = sources[2];                                                                   \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const T a = (L)x[i], b = (L)y[i];                                                      \
            const V c = z[i];                                                                      \
            d[i] = (V)(expr);                                                                      \
        }                                                                                          \
    }

/* An operation that does not care for the sign, of its three sizes. */
#define BY_SIZE(F, op, expr)                                                                       \
    TYPE_U16(F, op, expr)                                                                          \
    TYPE_U32(F, op, expr)                                                                          \
    TYPE_U64(F, op, expr)                                                                          \
    static row_table op = {[ROW_U16] = op##_u16, [ROW_S16] = op##_u16, [ROW_U32] = op##_u32,       \
                           [ROW_S32] = op##_u32, [ROW_U64] = op##_u64, [ROW_S64] = op##_u64};

/* One that does. */
#define BY_TYPE(F, op, expr)                                                                       \
    TYPE_U16(F, op, expr)                                                                          \
    TYPE_S16(F, op, expr)                                                                          \
    TYPE_U32(F, op, expr)                                                                          \
    TYPE_S32(F, op, expr)                                                                          \
    TYPE_U64(F, op, expr)                                                                          \
    TYPE_S64(F, op, expr)                                                                          \
    static row_table op = {[ROW_U16] = op##_u16, [ROW_S16] = op##_s16, [ROW_U32] = op##_u32,       \
                           [ROW_S32] = op##_s32, [ROW_U64] = op##_u64, [ROW_S64] = op##_s64};

#define BY_SIGNED(F, op, expr)                                                                     \
    TYPE_S16(F, op, expr)                                                                          \
    TYPE_S32(F, op, expr)                                                                          \
    TYPE_S64(F, op, expr)                                                                          \
    static row_table op = {[ROW_S16] = op##_s16, [ROW_S32] = op##_s32, [ROW_S64] = op##_s64};

#define BY_SIGN_32(F, op, expr)                                                                    \
    TYPE_U32(F, op, expr)                                                                          \
    TYPE_S32(F, op, expr)                                                                          \
    static row_table op = {[ROW_U32] = op##_u32, [ROW_S32] = op##_s32};

#define BY_SIGN_WIDE(F, op, expr)                                                                  \
    TYPE_U16(F, op, expr)                                                                          \
    TYPE_S16(F, op, expr)                                                                          \
    TYPE_U32(F, op, expr)                                                                          \
    TYPE_S32(F, op, expr)                                                                          \
    static row_table op = {                                                                        \
        [ROW_U16] = op##_u16, [ROW_S16] = op##_s16, [ROW_U32] = op##_u32, [ROW_S32] = op##_s32};

/* ---- sums, products ---- */

BY_SIZE(INT2, add, a + b)
BY_SIZE(INT2, sub, a - b)
BY_SIZE(INT2, mul_lo, (a * b))
BY_SIZE(INT3, mad_lo, (a * b) + c)

/* Of both operands' width together. */
#define PRODUCT ((wide)a * b)

/* The upper half of the product. `>>` of negative numbers keeps the sign with gcc and clang. */
BY_TYPE(INT2, mul_hi, PRODUCT >> width)
BY_TYPE(INT3, mad_hi, (bits)(PRODUCT >> width) + (bits)c)
BY_SIGN_WIDE(WIDE2, mul_wide, PRODUCT)
BY_SIGN_WIDE(WIDE3, mad_wide, (uint64_t)PRODUCT + c)

static inline int32_t saturate(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

ROW2(add_sat, row32, row32, row32, saturate((int64_t)(int32_t)x + (int32_t)y))
ROW2(sub_sat, row32, row32, row32, saturate((int64_t)(int32_t)x - (int32_t)y))
ROW3(mad_hi_sat, row32, row32, row32, row32,
     saturate(((int64_t)(int32_t)x * (int32_t)y >> 32) + (int32_t)z))

/* The low 24 bits of a register, as the type says. */
static inline int64_t low_24(uint32_t x, bool is_signed)
{
    uint32_t sign = is_signed ? 1u << 23 : 0;
    return (int64_t)((x & 0xffffff) ^ sign) - (int64_t)sign;
}

#define PRODUCT_24(shift)                                                                          \
    (bits)((uint64_t)(low_24((uint32_t)a, is_signed) * low_24((uint32_t)b, is_signed)) >> (shift))
BY_SIGN_32(INT2, mul24_lo, PRODUCT_24(0))
BY_SIGN_32(INT2, mul24_hi, PRODUCT_24(16))
BY_SIGN_32(INT3, mad24_lo, PRODUCT_24(0) + (bits)c)
BY_SIGN_32(INT3, mad24_hi, PRODUCT_24(16) + (bits)c)
ROW3(mad24_hi_sat, row32, row32, row32, row32,
     saturate((low_24(x, true) * low_24(y, true) >> 16) + (int32_t)z))

BY_TYPE(INT3, sad, (bits)c + (a < b ? (bits)((bits)b - (bits)a) : (bits)((bits)a - (bits)b)))

/* ---- quotients ---- */

/* x / 0 and x % 0 are all ones, as the code that ptxas makes has it; the least number divided by -1 is
 * itself. Lanes that are not active divide too, so no divisor may trap. */
#define IS_MINUS_ONE(b) (is_signed && (b) == (type)-1)
#define DIVISOR(b) ((b) == 0 || IS_MINUS_ONE(b) ? 1 : (b))
BY_TYPE(INT2, divide,
        b == 0            ? (bits)-1
        : IS_MINUS_ONE(b) ? (bits)(0 - (bits)a)
                          : (bits)(a / DIVISOR(b)))
BY_TYPE(INT2, modulo, b == 0 ? (bits)-1 : IS_MINUS_ONE(b) ? (bits)0 : (bits)(a % DIVISOR(b)))

/* ---- the rest ---- */

BY_TYPE(INT2, min, a < b ? a : b)
BY_TYPE(INT2, max, a > b ? a : b)
BY_SIGNED(INT1, absolute, a < 0 ? (bits)(0 - (bits)a) : (bits)a)
BY_SIZE(INT1, negate, 0 - a)

/* The low bits of a, as its type says. */
static inline int32_t part(uint32_t a, int bits, bool is_signed)
{
    const int32_t sign = 1 << (bits - 1), low = (int32_t)(a & ((uint32_t)sign * 2 - 1));
    return is_signed ? (low ^ sign) - sign : low;
}

/* The less, or the greater, of two; .relu: at least 0. Of pairs, each half on its own. */
enum { EXTREME_SIGNED = 1, EXTREME_MAX = 2, EXTREME_RELU = 4 };

static inline int32_t extreme(int32_t a, int32_t b, uint32_t how)
{
    const int32_t d = (a > b) == ((how & EXTREME_MAX) != 0) ? a : b;
    return how & EXTREME_RELU && d < 0 ? 0 : d;
}

static inline uint32_t extreme_half(uint32_t a, uint32_t b, uint32_t how)
{
    const bool is_signed = (how & EXTREME_SIGNED) != 0;
    return (uint32_t)extreme(part(a, 16, is_signed), part(b, 16, is_signed), how) & 0xffff;
}

ROW2(extreme_word, row32, row32, row32, extreme((int32_t)x, (int32_t)y, immediate))
ROW2(extreme_pair, row32, row32, row32,
     extreme_half(x, y, immediate) | extreme_half(x >> 16, y >> 16, immediate) << 16)
ROW2(add_pair, row32, row32, row32, ((x + y) & 0xffff) | ((x & 0xffff0000) + (y & 0xffff0000)))

static ptx_row_fn *find_extreme(const uint8_t *words, uint32_t how, uint32_t *immediate)
{
    enum ptx_word type = (enum ptx_word)words[PTX_SLOT_TYPE];
    *immediate = how | (type != PTX_W_U16X2 ? EXTREME_SIGNED : 0u) |
                 (words[PTX_SLOT_SAT] == PTX_W_RELU ? EXTREME_RELU : 0u);
    return type == PTX_W_S32 ? extreme_word : extreme_pair;
}

/* Parts of a, bytes of b. */
static inline uint32_t dot(uint32_t a, uint32_t b, int bits, bool a_signed, bool b_signed)
{
    uint32_t sum = 0;
    for (int k = 0; k < 32 / bits; k++)
        sum += (uint32_t)(part(a >> bits * k, bits, a_signed) * part(b >> 8 * k, 8, b_signed));
    return sum;
}

ROW3(dp4a_uu, row32, row32, row32, row32, dot(x, y, 8, false, false) + z)
ROW3(dp4a_us, row32, row32, row32, row32, dot(x, y, 8, false, true) + z)
ROW3(dp4a_su, row32, row32, row32, row32, dot(x, y, 8, true, false) + z)
ROW3(dp4a_ss, row32, row32, row32, row32, dot(x, y, 8, true, true) + z)

/* immediate: 0, or 16 of .hi */
ROW3(dp2a_uu, row32, row32, row32, row32, dot(x, y >> immediate, 16, false, false) + z)
ROW3(dp2a_us, row32, row32, row32, row32, dot(x, y >> immediate, 16, false, true) + z)
ROW3(dp2a_su, row32, row32, row32, row32, dot(x, y >> immediate, 16, true, false) + z)
ROW3(dp2a_ss, row32, row32, row32, row32, dot(x, y >> immediate, 16, true, true) + z)

enum { DIFF_A_SIGNED = 1, DIFF_B_SIGNED = 2, DIFF_SAT = 4, DIFF_SIGNED = 8 };

/* |a - b| of the bytes number k, 9 bits unless it is saturated. */
static inline uint32_t byte_difference(uint32_t a, uint32_t b, int k, uint32_t how)
{
    const int32_t most = how & DIFF_SIGNED ? 127 : 255;
    int32_t d = part(a >> 8 * k, 8, how & DIFF_A_SIGNED) - part(b >> 8 * k, 8, how & DIFF_B_SIGNED);
    d = d < 0 ? -d : d;
    return (uint32_t)(how & DIFF_SAT && d > most ? most : d);
}

static inline uint32_t byte_differences(uint32_t a, uint32_t b, uint32_t how)
{
    uint32_t all = 0;
    for (int k = 0; k < 4; k++)
        all |= (byte_difference(a, b, k, how) & 0xff) << 8 * k;
    return all;
}

static inline uint32_t sum_of_differences(uint32_t a, uint32_t b, uint32_t how)
{
    return byte_difference(a, b, 0, how) + byte_difference(a, b, 1, how) +
           byte_difference(a, b, 2, how) + byte_difference(a, b, 3, how);
}

/* c is taken for bytes that a mask leaves out; there is no mask. */
ROW2(vabsdiff4, row32, row32, row32, byte_differences(x, y, immediate))
ROW3(vabsdiff4_add, row32, row32, row32, row32, sum_of_differences(x, y, immediate) + z)

static uint32_t how_to_differ(const uint8_t *words)
{
    return (words[PTX_SLOT_TYPE2] == PTX_W_S32 ? DIFF_A_SIGNED : 0u) |
           (words[PTX_SLOT_TYPE3] == PTX_W_S32 ? DIFF_B_SIGNED : 0u) |
           (words[PTX_SLOT_SAT] == PTX_W_SAT ? DIFF_SAT : 0u) |
           (words[PTX_SLOT_TYPE] == PTX_W_S32 ? DIFF_SIGNED : 0u);
}

ROW_FINDER(arithmetic)
{
    (void)reason;
    static ptx_row_fn *const dp2a[2][2] = {{dp2a_uu, dp2a_us}, {dp2a_su, dp2a_ss}};
    static ptx_row_fn *const dp4a[2][2] = {{dp4a_uu, dp4a_us}, {dp4a_su, dp4a_ss}};
    const uint8_t *words = instruction->words;
    enum row_type type = row_type_of((enum ptx_word)words[PTX_SLOT_TYPE]);
    bool is_lo = words[PTX_SLOT_MODE] == PTX_W_LO;
    switch ((int)instruction->form) {
    case PTX_FORM_ADD_INT:
        return add[type];
    case PTX_FORM_ADD_SAT:
        return add_sat;
    case PTX_FORM_SUB_INT:
        return sub[type];
    case PTX_FORM_SUB_SAT:
        return sub_sat;
    case PTX_FORM_MUL_INT:
        return is_lo ? mul_lo[type] : mul_hi[type];
    case PTX_FORM_MUL_WIDE:
        return mul_wide[type];
    case PTX_FORM_MAD_INT:
        return is_lo ? mad_lo[type] : mad_hi[type];
    case PTX_FORM_MAD_SAT:
        return mad_hi_sat;
    case PTX_FORM_MAD_WIDE:
        return mad_wide[type];
    case PTX_FORM_MUL24_INT:
        return is_lo ? mul24_lo[type] : mul24_hi[type];
    case PTX_FORM_MAD24_INT:
        return is_lo ? mad24_lo[type] : mad24_hi[type];
    case PTX_FORM_MAD24_SAT:
        return mad24_hi_sat;
    case PTX_FORM_SAD_INT:
        return sad[type];
    case PTX_FORM_DIV_INT:
        return divide[type];
    case PTX_FORM_REM_INT:
        return modulo[type];
    case PTX_FORM_ABS_INT:
        return absolute[type];
    case PTX_FORM_NEG_INT:
        return negate[type];
    case PTX_FORM_MIN_INT:
        return min[type];
    case PTX_FORM_MAX_INT:
        return max[type];
    case PTX_FORM_ADD_PAIR:
        return add_pair;
    case PTX_FORM_MIN_PAIR:
    case PTX_FORM_MIN_RELU:
        return find_extreme(words, 0, immediate);
    case PTX_FORM_MAX_PAIR:
    case PTX_FORM_MAX_RELU:
        return find_extreme(words, EXTREME_MAX, immediate);
    case PTX_FORM_DP4A_INT:
        return dp4a[words[PTX_SLOT_TYPE] == PTX_W_S32][words[PTX_SLOT_TYPE2] == PTX_W_S32];
    case PTX_FORM_DP2A_INT:
        *immediate = is_lo ? 0 : 16;
        return dp2a[words[PTX_SLOT_TYPE] == PTX_W_S32][words[PTX_SLOT_TYPE2] == PTX_W_S32];
    case PTX_FORM_VABSDIFF4_INT:
        *immediate = how_to_differ(words);
        return vabsdiff4;
    case PTX_FORM_VABSDIFF4_SUM:
        *immediate = how_to_differ(words);
        return vabsdiff4_add;
    default:
        return NULL;
    }
}
