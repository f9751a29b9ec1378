/* Extended-precision arithmetic (PTX ISA 9.7.2). The carry is a row of 0 and 1: the last source, the
 * last result. After sub.cc it is the borrow, which subc takes off. */
#include "engine/arith/ptx_rows_internal.h"

/* In an expression: a, b, c, the carry that comes in (0 if none), as numbers of type W that hold every
 * sum; the result's bits above the element are the carry that goes out. */
#define CARRY2(name, E, W, in, out, expr)                                                          \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        E *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1];                                                  \
        row32 *carry_out = (out) ? results[1] : NULL;                                              \
        const row32 *carry_in = (in) ? sources[2] : NULL;                                          \
        (void)immediate;                                                                           \
        LANES (i) {                                                                                \
            const W a = x[i], b = y[i], carry = (in) ? carry_in[i] & 1 : 0;                        \
            const W sum = (expr);                                                                  \
            d[i] = (E)sum;                                                                         \
            if (out)                                                                               \
                carry_out[i] = (uint32_t)(sum >> sizeof(E) * 8) & 1;                               \
        }                                                                                          \
    }

#define CARRY3(name, E, W, S, in, out, product)                                                    \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        E *d = results[0];                                                                         \
        const E *x = sources[0], *y = sources[1], *z = sources[2];                                 \
        row32 *carry_out = (out) ? results[1] : NULL;                                              \
        const row32 *carry_in = (in) ? sources[3] : NULL;                                          \
        (void)immediate;                                                                           \
        LANES (i) {                                                                                \
            const S a = (S)x[i], b = (S)y[i];                                                      \
            const W c = z[i], carry = (in) ? carry_in[i] & 1 : 0;                                  \
            const W sum = (W)(E)(product) + c + carry;                                             \
            d[i] = (E)sum;                                                                         \
            if (out)                                                                               \
                carry_out[i] = (uint32_t)(sum >> sizeof(E) * 8) & 1;                               \
        }                                                                                          \
    }

/* [reads][writes]; the sizes, or for the upper half of a product the types. */
#define SUMS(op, suffix, E, W, expr)                                                               \
    CARRY2(op##_out_##suffix, E, W, false, true, expr)                                             \
    CARRY2(op##_in_##suffix, E, W, true, false, expr)                                              \
    CARRY2(op##_both_##suffix, E, W, true, true, expr)                                             \
    static ptx_row_fn *const op##_##suffix[2][2] = {{NULL, op##_out_##suffix},                     \
                                                    {op##_in_##suffix, op##_both_##suffix}};

#define PRODUCTS(op, suffix, E, W, S, product)                                                     \
    CARRY3(op##_out_##suffix, E, W, S, false, true, product)                                       \
    CARRY3(op##_in_##suffix, E, W, S, true, false, product)                                        \
    CARRY3(op##_both_##suffix, E, W, S, true, true, product)                                       \
    static ptx_row_fn *const op##_##suffix[2][2] = {{NULL, op##_out_##suffix},                     \
                                                    {op##_in_##suffix, op##_both_##suffix}};

SUMS(add, 32, row32, uint64_t, a + b + carry)
SUMS(add, 64, row64, uint128, a + b + carry)
SUMS(sub, 32, row32, uint64_t, a - b - carry)
SUMS(sub, 64, row64, uint128, a - b - carry)

PRODUCTS(mad_lo, 32, row32, uint64_t, uint64_t, (a * b))
PRODUCTS(mad_lo, 64, row64, uint128, uint64_t, (a * b))
PRODUCTS(mad_hi, u32, row32, uint64_t, uint32_t, ((uint64_t)a * (uint64_t)b) >> 32)
PRODUCTS(mad_hi, s32, row32, uint64_t, int32_t, ((int64_t)a * (int64_t)b) >> 32)
PRODUCTS(mad_hi, u64, row64, uint128, uint64_t, ((uint128)a * (uint128)b) >> 64)
PRODUCTS(mad_hi, s64, row64, uint128, int64_t, ((int128)a * (int128)b) >> 64)

static ptx_row_fn *of_size(enum row_type type, ptx_row_fn *fn32, ptx_row_fn *fn64)
{
    return type == ROW_U64 || type == ROW_S64 ? fn64 : fn32;
}

static ptx_row_fn *find_mad(enum row_type type, bool is_lo, bool reads, bool writes)
{
    if (is_lo)
        return of_size(type, mad_lo_32[reads][writes], mad_lo_64[reads][writes]);
    if (type == ROW_U32 || type == ROW_U64)
        return of_size(type, mad_hi_u32[reads][writes], mad_hi_u64[reads][writes]);
    return of_size(type, mad_hi_s32[reads][writes], mad_hi_s64[reads][writes]);
}

ROW_FINDER(carry)
{
    (void)immediate, (void)reason;
    enum row_type type = row_type_of((enum ptx_word)instruction->words[PTX_SLOT_TYPE]);
    bool writes = instruction->words[PTX_SLOT_CC] != PTX_W_NONE;
    bool is_lo = instruction->words[PTX_SLOT_MODE] == PTX_W_LO;
    switch ((int)instruction->form) {
    case PTX_FORM_ADD_CC:
        return of_size(type, add_32[false][writes], add_64[false][writes]);
    case PTX_FORM_ADDC_INT:
        return of_size(type, add_32[true][writes], add_64[true][writes]);
    case PTX_FORM_SUB_CC:
        return of_size(type, sub_32[false][writes], sub_64[false][writes]);
    case PTX_FORM_SUBC_INT:
        return of_size(type, sub_32[true][writes], sub_64[true][writes]);
    case PTX_FORM_MAD_CC:
        return find_mad(type, is_lo, false, writes);
    case PTX_FORM_MADC_INT:
        return find_mad(type, is_lo, true, writes);
    default:
        return NULL;
    }
}
