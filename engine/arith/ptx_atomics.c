/* What atom and red leave in memory (PTX ISA 9.7.13). */
#include "engine/arith/ptx_rows_internal.h"

#include <string.h>

#define ATOMIC(name, T, expr)                                                                      \
    static uint64_t name(uint64_t old_bits, uint64_t b_bits, uint64_t c_bits)                      \
    {                                                                                              \
        const T old = (T)old_bits, b = (T)b_bits, c = (T)c_bits;                                   \
        (void)old, (void)b, (void)c;                                                               \
        return (uint64_t)(expr);                                                                   \
    }

#define UNSIGNED(name, expr)                                                                       \
    ATOMIC(name##_u32, uint32_t, expr)                                                             \
    ATOMIC(name##_u64, uint64_t, expr)

#define ALL(name, expr)                                                                            \
    UNSIGNED(name, expr)                                                                           \
    ATOMIC(name##_s32, int32_t, (uint32_t)(expr))                                                  \
    ATOMIC(name##_s64, int64_t, expr)

UNSIGNED(add, old + b)
UNSIGNED(bit_and, (old & b))
UNSIGNED(bit_or, (old | b))
UNSIGNED(bit_xor, (old ^ b))
UNSIGNED(exchange, b)
ALL(min, old < b ? old : b)
ALL(max, old > b ? old : b)
ATOMIC(swap_u16, uint16_t, old == b ? c : old)
UNSIGNED(swap, old == b ? c : old)
ATOMIC(increment, uint32_t, old >= b ? 0 : old + 1)
ATOMIC(decrement, uint32_t, old == 0 || old > b ? b : old - 1)

/* To the nearest; subnormal numbers stay, in global memory too; a NaN is the canonical one. */
static uint64_t add_f32(uint64_t old_bits, uint64_t b_bits, uint64_t c_bits)
{
    uint32_t bits = (uint32_t)old_bits, other = (uint32_t)b_bits;
    float old, b;
    memcpy(&old, &bits, sizeof old);
    memcpy(&b, &other, sizeof b);
    float sum = old + b;
    memcpy(&bits, &sum, sizeof bits);
    (void)c_bits;
    return sum == sum ? bits : 0x7fffffff;
}

static uint64_t add_f64(uint64_t old_bits, uint64_t b_bits, uint64_t c_bits)
{
    double old, b;
    memcpy(&old, &old_bits, sizeof old);
    memcpy(&b, &b_bits, sizeof b);
    double sum = old + b;
    memcpy(&old_bits, &sum, sizeof old_bits);
    (void)c_bits;
    return sum == sum ? old_bits : 0x7fffffffffffffff;
}

/* Sums of 16 bits: by .f32, rounded once more (ptx_rows_half.c). */
static uint32_t sum_f16(uint32_t old, uint32_t b)
{
    return narrow_f16(result_f32(f32_of(widen_f16(old & 0xffff)) + f32_of(widen_f16(b & 0xffff))));
}

static uint32_t sum_bf16(uint32_t old, uint32_t b)
{
    return narrow_bf16(result_f32(f32_of(old << 16) + f32_of(b << 16)));
}

/* As min and max of numbers: -0 is less than +0, a NaN is the result if both are. */
static uint32_t less_half(uint32_t old, uint32_t b, bool is_bf16, bool greatest)
{
    const uint32_t x = old & 0xffff, y = b & 0xffff;
    const float p = f32_of(is_bf16 ? x << 16 : widen_f16(x)),
                q = f32_of(is_bf16 ? y << 16 : widen_f16(y));
    if (p != p || q != q)
        return p == p ? x : q == q ? y : 0x7fff;
    const bool first = p < q || (p <= q && x & 0x8000);
    return first != greatest ? x : y;
}

static uint32_t min_one_f16(uint32_t old, uint32_t b)
{
    return less_half(old, b, false, false);
}

static uint32_t max_one_f16(uint32_t old, uint32_t b)
{
    return less_half(old, b, false, true);
}

static uint32_t min_one_bf16(uint32_t old, uint32_t b)
{
    return less_half(old, b, true, false);
}

static uint32_t max_one_bf16(uint32_t old, uint32_t b)
{
    return less_half(old, b, true, true);
}

#define HALVES(name, sum)                                                                          \
    static uint64_t name(uint64_t old, uint64_t b, uint64_t c)                                     \
    {                                                                                              \
        (void)c;                                                                                   \
        return sum((uint32_t)old, (uint32_t)b);                                                    \
    }                                                                                              \
    static uint64_t name##x2(uint64_t old, uint64_t b, uint64_t c)                                 \
    {                                                                                              \
        uint32_t high = sum((uint32_t)old >> 16, (uint32_t)b >> 16) << 16;                         \
        (void)c;                                                                                   \
        return high | sum((uint32_t)old & 0xffff, (uint32_t)b & 0xffff);                           \
    }
HALVES(add_f16, sum_f16)
HALVES(add_bf16, sum_bf16)
HALVES(min_f16, min_one_f16)
HALVES(max_f16, max_one_f16)
HALVES(min_bf16, min_one_bf16)
HALVES(max_bf16, max_one_bf16)

ptx_atomic_fn *ptx_atomic_find(enum ptx_word op, enum ptx_word type)
{
    static const struct {
        enum ptx_word op, type;
        ptx_atomic_fn *fn;
    } rows[] = {
        {PTX_W_ADD, PTX_W_U32, add_u32},       {PTX_W_ADD, PTX_W_S32, add_u32},
        {PTX_W_ADD, PTX_W_U64, add_u64},       {PTX_W_ADD, PTX_W_F32, add_f32},
        {PTX_W_ADD, PTX_W_F64, add_f64},       {PTX_W_AND, PTX_W_B32, bit_and_u32},
        {PTX_W_AND, PTX_W_B64, bit_and_u64},   {PTX_W_OR, PTX_W_B32, bit_or_u32},
        {PTX_W_OR, PTX_W_B64, bit_or_u64},     {PTX_W_XOR, PTX_W_B32, bit_xor_u32},
        {PTX_W_XOR, PTX_W_B64, bit_xor_u64},   {PTX_W_EXCH, PTX_W_B32, exchange_u32},
        {PTX_W_EXCH, PTX_W_B64, exchange_u64}, {PTX_W_CAS, PTX_W_B16, swap_u16},
        {PTX_W_CAS, PTX_W_B32, swap_u32},      {PTX_W_CAS, PTX_W_B64, swap_u64},
        {PTX_W_INC, PTX_W_U32, increment},     {PTX_W_DEC, PTX_W_U32, decrement},
        {PTX_W_MIN, PTX_W_U32, min_u32},       {PTX_W_MIN, PTX_W_S32, min_s32},
        {PTX_W_MIN, PTX_W_U64, min_u64},       {PTX_W_MIN, PTX_W_S64, min_s64},
        {PTX_W_MAX, PTX_W_U32, max_u32},       {PTX_W_MAX, PTX_W_S32, max_s32},
        {PTX_W_ADD, PTX_W_F16, add_f16},       {PTX_W_ADD, PTX_W_F16X2, add_f16x2},
        {PTX_W_ADD, PTX_W_BF16, add_bf16},     {PTX_W_ADD, PTX_W_BF16X2, add_bf16x2},
        {PTX_W_MAX, PTX_W_U64, max_u64},       {PTX_W_MAX, PTX_W_S64, max_s64},
        {PTX_W_MIN, PTX_W_F16, min_f16},       {PTX_W_MIN, PTX_W_F16X2, min_f16x2},
        {PTX_W_MIN, PTX_W_BF16, min_bf16},     {PTX_W_MIN, PTX_W_BF16X2, min_bf16x2},
        {PTX_W_MAX, PTX_W_F16, max_f16},       {PTX_W_MAX, PTX_W_F16X2, max_f16x2},
        {PTX_W_MAX, PTX_W_BF16, max_bf16},     {PTX_W_MAX, PTX_W_BF16X2, max_bf16x2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].op == op && rows[i].type == type)
            return rows[i].fn;
    return NULL;
}
