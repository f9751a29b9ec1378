/* Logic, shifts, bit fields (PTX ISA 9.7.8, and the integer instructions of 9.7.1 that are about bits). */
#include "engine/arith/ptx_rows_internal.h"

/* A function for each size; the expression has `bits`, the unsigned type, and `width`. */
#define SIZE_16(F, op, expr) F(op##_16, uint16_t, row32, 16, expr)
#define SIZE_32(F, op, expr) F(op##_32, uint32_t, row32, 32, expr)
#define SIZE_64(F, op, expr) F(op##_64, uint64_t, row64, 64, expr)
#define TABLE(op)                                                                                  \
    static row_table op = {[ROW_U16] = op##_16, [ROW_S16] = op##_16, [ROW_U32] = op##_32,          \
                           [ROW_S32] = op##_32, [ROW_U64] = op##_64, [ROW_S64] = op##_64};
#define BY_SIZE(F, op, expr)                                                                       \
    SIZE_16(F, op, expr)                                                                           \
    SIZE_32(F, op, expr)                                                                           \
    SIZE_64(F, op, expr)                                                                           \
    TABLE(op)
#define LOCAL_TYPES(U, N)                                                                          \
    typedef U bits __attribute__((unused));                                                        \
    enum { width = N };                                                                            \
    (void)immediate;

#define BITS1(name, U, E, N, expr)                                                                 \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        LOCAL_TYPES(U, N)                                                                          \
        E *d = results[0];                                                                         \
        const E *x = sources[0];                                                                   \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const bits a = (bits)x[i];                                                             \
            d[i] = (bits)(expr);                                                                   \
        }                                                                                          \
    }

#define BITS2(name, U, E, N, expr)                                                                 \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        LOCAL_TYPES(U, N)                                                                          \
        E *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1];                                                  \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const bits a = (bits)x[i], b = (bits)y[i];                                             \
            d[i] = (bits)(expr);                                                                   \
        }                                                                                          \
    }

/* By an amount n of 32 bits. */
#define SHIFT(name, U, E, N, expr)                                                                 \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        LOCAL_TYPES(U, N)                                                                          \
        E *d = results[0];                                                                         \
        const E *x = sources[0];                                                                   \
        const row32 *y = sources[1];                                                               \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const bits a = (bits)x[i];                                                             \
            const uint32_t n = y[i];                                                               \
            d[i] = (bits)(expr);                                                                   \
        }                                                                                          \
    }

/* ---- logic ---- */

BY_SIZE(BITS2, bit_and, (a & b))
BY_SIZE(BITS2, bit_or, (a | b))
BY_SIZE(BITS2, bit_xor, (a ^ b))
BY_SIZE(BITS1, bit_not, ~a)
BY_SIZE(BITS1, cnot, a == 0)

ROW2(and_pred, row32, row32, row32, (x != 0) & (y != 0))
ROW2(or_pred, row32, row32, row32, (x | y) != 0)
ROW2(xor_pred, row32, row32, row32, (x != 0) ^ (y != 0))
ROW1(not_pred, row32, row32, x == 0)

/* The table's bit 4a + 2b + c is the result for these bits. */
static void lop3(ROW_ARGUMENTS)
{
    row32 *d = results[0];
    const row32 *x = sources[0], *y = sources[1], *z = sources[2];
    uint32_t term[8];
    for (uint32_t k = 0; k < 8; k++)
        term[k] = 0 - (immediate >> k & 1);
    VECTORISE
    LANES (i) {
        const uint32_t a = x[i], b = y[i], c = z[i];
        const uint32_t low =
            (~b & ((~c & term[0]) | (c & term[1]))) | (b & ((~c & term[2]) | (c & term[3])));
        const uint32_t high =
            (~b & ((~c & term[4]) | (c & term[5]))) | (b & ((~c & term[6]) | (c & term[7])));
        d[i] = (~a & low) | (a & high);
    }
}

/* ---- shifts: amounts above the width are the width ---- */

BY_SIZE(SHIFT, shl, n < width ? (uint64_t)a << (n & (width - 1)) : 0)
BY_SIZE(SHIFT, shr, n < width ? a >> (n & (width - 1)) : 0)

/* `>>` of negative numbers keeps the sign with gcc and clang. */
#define SHIFT_SIGNED(T) (T) a >> (n < width ? n : width - 1)
SIZE_16(SHIFT, shr_s, SHIFT_SIGNED(int16_t))
SIZE_32(SHIFT, shr_s, SHIFT_SIGNED(int32_t))
SIZE_64(SHIFT, shr_s, SHIFT_SIGNED(int64_t))

static inline uint64_t funnel(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static inline uint32_t clamp_32(uint32_t n)
{
    return n < 32 ? n : 32;
}

ROW3(shf_l_wrap, row32, row32, row32, row32, funnel(x, y) << (z & 31) >> 32)
ROW3(shf_r_wrap, row32, row32, row32, row32, funnel(x, y) >> (z & 31))
ROW3(shf_l_clamp, row32, row32, row32, row32, funnel(x, y) << clamp_32(z) >> 32)
ROW3(shf_r_clamp, row32, row32, row32, row32, funnel(x, y) >> clamp_32(z))

/* ---- bytes ---- */

/* Which bytes of b:a each mode takes for the two low bits of c, as a selector of the general mode. */
static const uint16_t prmt_selectors[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e: forward four */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e: backward four */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8: one byte four times */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl: edge clamp left */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr: edge clamp right */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16: one half twice */
};

/* Four bits of the selector a byte: which one; its sign everywhere if the highest is set. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t both = funnel(a, b);
    uint32_t d = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t s = selector >> 4 * k & 15;
        uint32_t byte = (uint32_t)(both >> 8 * (s & 7)) & 0xff;
        if (s & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << 8 * k;
    }
    return d;
}

ROW3(prmt, row32, row32, row32, row32, permute(x, y, z))
ROW3(prmt_mode, row32, row32, row32, row32, permute(x, y, prmt_selectors[immediate][z & 3]))

static ptx_row_fn *find_prmt(enum ptx_word mode, uint32_t *immediate)
{
    static const enum ptx_word modes[] = {PTX_W_F4E, PTX_W_B4E, PTX_W_RC8,
                                          PTX_W_ECL, PTX_W_ECR, PTX_W_RC16};
    if (mode == PTX_W_NONE)
        return prmt;
    while (modes[*immediate] != mode)
        ++*immediate;
    return prmt_mode;
}

/* ---- counts, bit fields ---- */

static inline uint32_t count_bits(uint64_t a)
{
    a -= a >> 1 & 0x5555555555555555;
    a = (a & 0x3333333333333333) + (a >> 2 & 0x3333333333333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(a * 0x0101010101010101 >> 56);
}

/* 64 of 0. */
static inline uint32_t leading_zeros(uint64_t a)
{
    return a == 0 ? 64 : (uint32_t)__builtin_clzll(a);
}

static inline uint64_t reverse(uint64_t a)
{
    a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
    a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(a);
}

ROW1(popc_32, row32, row32, count_bits(x))
ROW1(popc_64, row32, row64, count_bits(x))
ROW1(clz_32, row32, row32, leading_zeros(x) - 32)
ROW1(clz_64, row32, row64, leading_zeros(x))
ROW1(brev_32, row32, row32, reverse(x) >> 32)
ROW1(brev_64, row64, row64, reverse(x))

/* The highest bit that differs from the sign; all ones if there is none. */
static inline uint32_t find_bit(uint64_t a, bool is_negative, uint32_t width, bool shift)
{
    uint64_t mask = width == 64 ? UINT64_MAX : UINT32_MAX;
    uint64_t found = is_negative ? ~a & mask : a;
    uint32_t place = 63 - leading_zeros(found);
    return found == 0 ? UINT32_MAX : shift ? width - 1 - place : place;
}

/* immediate: .shiftamt */
ROW1(bfind_u32, row32, row32, find_bit(x, false, 32, immediate))
ROW1(bfind_s32, row32, row32, find_bit(x, x >> 31, 32, immediate))
ROW1(bfind_u64, row32, row64, find_bit(x, false, 64, immediate))
ROW1(bfind_s64, row32, row64, find_bit(x, x >> 63, 64, immediate))
static row_table bfind = {
    [ROW_U32] = bfind_u32, [ROW_S32] = bfind_s32, [ROW_U64] = bfind_u64, [ROW_S64] = bfind_s64};

/* Bits 0 to n - 1. */
static inline uint64_t low_bits(uint32_t n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

/* Where the field ends above the value, its sign is the value's; a field of no bits is 0. */
static inline uint64_t extract(uint64_t a, uint32_t place, uint32_t length, uint32_t width,
                               bool is_signed)
{
    place &= 0xff;
    length &= 0xff;
    uint64_t field = place < width ? a >> place & low_bits(length) : 0;
    if (!is_signed || length == 0)
        return field;
    uint32_t top = place + length - 1 < width - 1 ? place + length - 1 : width - 1;
    uint32_t kept = place >= width ? 0 : width - place < length ? width - place : length;
    return a >> top & 1 ? field | ~low_bits(kept) : field;
}

/* The same without branches, for the one that kernels use most. */
static inline uint32_t extract_u32(uint32_t a, uint32_t place, uint32_t length)
{
    const uint32_t from_place = (place & 0xe0) ? 0 : a >> (place & 31);
    const uint32_t mask = (length & 0xe0) ? UINT32_MAX : ((uint32_t)1 << (length & 31)) - 1;
    return from_place & mask;
}

ROW3(bfe_u32, row32, row32, row32, row32, extract_u32(x, y, z))
ROW3(bfe_s32, row32, row32, row32, row32, extract(x, y, z, 32, true))
ROW3(bfe_u64, row64, row64, row32, row32, extract(x, y, z, 64, false))
ROW3(bfe_s64, row64, row64, row32, row32, extract(x, y, z, 64, true))
static row_table bfe = {
    [ROW_U32] = bfe_u32, [ROW_S32] = bfe_s32, [ROW_U64] = bfe_u64, [ROW_S64] = bfe_s64};

static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t place, uint32_t length)
{
    place &= 0xff;
    if (place >= 64)
        return b;
    uint64_t mask = low_bits(length & 0xff) << place;
    return (b & ~mask) | (a << place & mask);
}

ROW4(bfi_32, row32, row32, row32, row32, row32, insert(x, y, z, w))
ROW4(bfi_64, row64, row64, row64, row32, row32, insert(x, y, z, w))

/* The |offset|-th set bit from the base on, up or down; offset 0: the base itself if it is set. All ones:
 * none, also if the base is no bit. */
static inline uint32_t find_nth_set(uint32_t mask, uint32_t base, uint32_t offset)
{
    bool is_down = offset >> 31;
    uint32_t count = is_down ? 0 - offset : offset;
    if (base >= 32)
        return UINT32_MAX;
    if (count == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (uint32_t place = base; place < 32; place += is_down ? UINT32_MAX : 1)
        if (mask >> place & 1 && --count == 0)
            return place;
    return UINT32_MAX;
}

ROW3(fns, row32, row32, row32, row32, find_nth_set(x, y, z))

/* Bits a to a + b - 1; wrap takes both modulo 32. */
static inline uint32_t mask_from(uint32_t a, uint32_t b, bool clamp)
{
    if (clamp && a >= 32)
        return 0;
    uint32_t count = clamp && b >= 32 ? 32 : b & 31;
    return (uint32_t)(low_bits(count) << (a & 31));
}

ROW2(bmsk_wrap, row32, row32, row32, mask_from(x, y, false))
ROW2(bmsk_clamp, row32, row32, row32, mask_from(x, y, true))

/* The low b bits of a, extended; of no bits 0; clamp: of 32 and more a itself. */
static inline uint32_t extend(uint32_t a, uint32_t b, bool clamp, bool is_signed)
{
    if (clamp && b >= 32)
        return a;
    uint32_t count = b & 31, field = a & (uint32_t)low_bits(count);
    bool is_negative = is_signed && count > 0 && field >> (count - 1);
    return is_negative ? field | ~(uint32_t)low_bits(count) : field;
}

ROW2(szext_wrap_u, row32, row32, row32, extend(x, y, false, false))
ROW2(szext_wrap_s, row32, row32, row32, extend(x, y, false, true))
ROW2(szext_clamp_u, row32, row32, row32, extend(x, y, true, false))
ROW2(szext_clamp_s, row32, row32, row32, extend(x, y, true, true))

/* ---- which ---- */

static ptx_row_fn *find_shr(enum row_type type)
{
    static row_table shr_signed = {
        [ROW_S16] = shr_s_16, [ROW_S32] = shr_s_32, [ROW_S64] = shr_s_64};
    return shr_signed[type] ? shr_signed[type] : shr[type];
}

ROW_FINDER(bits)
{
    (void)reason;
    static ptx_row_fn *const shf[2][2] = {{shf_l_wrap, shf_l_clamp}, {shf_r_wrap, shf_r_clamp}};
    static ptx_row_fn *const szext[2][2] = {{szext_wrap_u, szext_clamp_u},
                                            {szext_wrap_s, szext_clamp_s}};
    const uint8_t *words = instruction->words;
    enum row_type type = row_type_of((enum ptx_word)words[PTX_SLOT_TYPE]);
    bool is_pred = words[PTX_SLOT_TYPE] == PTX_W_PRED;
    bool is_64 = type == ROW_U64 || type == ROW_S64;
    bool clamp = words[PTX_SLOT_WRAP] == PTX_W_CLAMP;
    switch ((int)instruction->form) {
    case PTX_FORM_AND_BITS:
        return is_pred ? and_pred : bit_and[type];
    case PTX_FORM_OR_BITS:
        return is_pred ? or_pred : bit_or[type];
    case PTX_FORM_XOR_BITS:
        return is_pred ? xor_pred : bit_xor[type];
    case PTX_FORM_NOT_BITS:
        return is_pred ? not_pred : bit_not[type];
    case PTX_FORM_CNOT_BITS:
        return cnot[type];
    case PTX_FORM_LOP3_BITS:
        return lop3;
    case PTX_FORM_SHL_BITS:
        return shl[type];
    case PTX_FORM_SHR_ANY:
        return find_shr(type);
    case PTX_FORM_SHF_BITS:
        return shf[words[PTX_SLOT_MODE] == PTX_W_R][clamp];
    case PTX_FORM_PRMT_BITS:
        return find_prmt((enum ptx_word)words[PTX_SLOT_MODE], immediate);
    case PTX_FORM_POPC_BITS:
        return is_64 ? popc_64 : popc_32;
    case PTX_FORM_CLZ_BITS:
        return is_64 ? clz_64 : clz_32;
    case PTX_FORM_BFIND_INT:
        *immediate = words[PTX_SLOT_MODE] == PTX_W_SHIFTAMT;
        return bfind[type];
    case PTX_FORM_BREV_BITS:
        return is_64 ? brev_64 : brev_32;
    case PTX_FORM_BFE_INT:
        return bfe[type];
    case PTX_FORM_BFI_BITS:
        return is_64 ? bfi_64 : bfi_32;
    case PTX_FORM_FNS_BITS:
        return fns;
    case PTX_FORM_BMSK_BITS:
        return clamp ? bmsk_clamp : bmsk_wrap;
    case PTX_FORM_SZEXT_INT:
        return szext[words[PTX_SLOT_TYPE] == PTX_W_S32][clamp];
    default:
        return NULL;
    }
}
