/* Values at the bounds of their kinds. */
#include "fuzz/rows/gen_rows_internal.h"

#include <string.h>

/* 64 bits, 32 at a time: an enumerator has no use for more. */
static uint64_t random_bits(struct gen *g)
{
    uint64_t high = gen_below(g, UINT32_MAX);
    return high << 32 | gen_below(g, UINT32_MAX);
}

/* 0, 1, -1, and what lies around a power of two or its negative: of `bits` bits. */
static uint64_t integer(struct gen *g, uint32_t bits)
{
    if (gen_chance(g, 15))
        return random_bits(g) >> (64 - bits);
    uint32_t k = gen_chance(g, 60) ? bits - 1 : gen_below(g, bits);
    uint64_t value = gen_chance(g, 30) ? 0 : (uint64_t)1 << k;
    value += gen_below(g, 3);
    value -= 1;
    return (gen_chance(g, 30) ? 0 - value : value) & (UINT64_MAX >> (64 - bits));
}

static uint64_t integers(struct gen *g)
{
    static const uint32_t sizes[] = {8, 16, 32, 64, 64};
    uint32_t bits = sizes[gen_below(g, 5)];
    uint64_t value = 0;
    for (uint32_t at = 0; at < 64; at += bits)
        value |= integer(g, bits) << at;
    return value;
}

/* Around the sizes of registers and of what instructions look at; shfl's mask and bound are two of these, bfi's and
 * bfe's places have eight bits. */
static uint64_t place(struct gen *g)
{
    static const uint32_t ends[] = {8, 16, 32, 64, 128, 256};
    bool small = gen_chance(g, 50);
    uint64_t value = small ? gen_below(g, 34) : ends[gen_below(g, 6)];
    if (!small)
        value = value + gen_below(g, 3) - 1;
    if (gen_chance(g, 20))
        value = (value & 31) | (uint64_t)gen_below(g, 32) << 8;
    return gen_chance(g, 10) ? 0 - value : value;
}

/* The windows of spaces begin and end at these (engine/arith/ptx_windows.h, docs/ptx.md). */
static uint64_t address(struct gen *g)
{
    static const uint64_t ends[] = {0,          0x10000,     0x70000000,
                                    0x78000000, 0x7a000000,  0x7c000000,
                                    0x80000000, 0x100000000, (uint64_t)1 << 40};
    uint32_t which = gen_below(g, 12);
    uint64_t end = which < 9 ? ends[which] : (uint64_t)(which - 8) << 40;
    if (which >= 9 && gen_chance(g, 30))
        end += (uint64_t)1 << 32;
    return end + gen_below(g, 3) - 1;
}

/* A number in the format: zeros, subnormal numbers, numbers around 1 and the bounds of integers, the largest ones,
 * infinities, NaNs; with few digits or many. */
static uint64_t number(struct gen *g, uint32_t bits, uint32_t digits)
{
    static const uint32_t sizes[] = {0, 1, 7, 8, 15, 16, 24, 31, 32, 63, 64};
    uint32_t size = bits - 1 - digits, bias = (1u << (size - 1)) - 1, most = 2 * bias + 1, field;
    uint64_t all = ((uint64_t)1 << digits) - 1, fraction = random_bits(g) & all;
    switch (gen_below(g, 8)) {
    case 0:
        field = 0;
        break;
    case 1:
        field = 1 + gen_below(g, 2);
        break;
    case 2:
        field = most - gen_below(g, 3);
        break;
    case 3:
        field = gen_below(g, most);
        break;
    default:
        field = bias + sizes[gen_below(g, 11)];
        field -= gen_below(g, 2);
        field = field > most ? most : field;
    }
    switch (gen_below(g, 6)) {
    case 0:
    case 1:
        fraction = 0;
        break;
    case 2:
        fraction = all;
        break;
    case 3:
        fraction = (uint64_t)1 << gen_below(g, digits);
        break;
    case 4:
        fraction &= all << gen_below(g, digits);
        break;
    }
    uint64_t sign = gen_below(g, 2);
    return sign << (bits - 1) | (uint64_t)field << digits | fraction;
}

/* Halves, and what lies on either side of them: where conversions to integers round. */
static uint64_t half(struct gen *g, uint32_t bits, uint32_t digits)
{
    uint32_t size = bits - 1 - digits, bias = (1u << (size - 1)) - 1;
    uint64_t odd = 2 * gen_below(g, 32) + 1, sign = gen_below(g, 2), beside = gen_below(g, 8);
    uint32_t places = 63 - (uint32_t)__builtin_clzll(odd);
    uint64_t value = (uint64_t)(bias + places - 1) << digits | (odd - ((uint64_t)1 << places))
                                                                   << (digits - places);
    return sign << (bits - 1) | (beside == 0 ? value - 1 : beside == 1 ? value + 1 : value);
}

static uint64_t numbers(struct gen *g, uint32_t bits, uint32_t digits)
{
    uint64_t value = 0;
    for (uint32_t at = 0; at < 64; at += bits)
        value |= (gen_chance(g, 15) ? half(g, bits, digits) : number(g, bits, digits)) << at;
    return value;
}

/* Where a texel is, on its border or beside it, inside of the texture or outside; with normalized coordinates too. */
static uint64_t coordinate(const struct rows_gen *r)
{
    static const float parts[] = {0, 0, 0.5F, 0.25F, 0.501953125F, 0.498046875F, 0.998046875F};
    struct gen *g = r->g;
    float at = (float)gen_below(g, 16) - 4, value;
    uint32_t bits;
    at += parts[gen_below(g, 7)];
    value = gen_chance(g, 50) ? at / (float)r->sizes : at;
    memcpy(&bits, &value, sizeof bits);
    if (gen_chance(g, 5))
        return number(g, 32, 23);
    return bits + gen_below(g, 16) / 15;
}

static uint64_t texel(struct gen *g)
{
    uint32_t far = gen_chance(g, 5) ? (uint32_t)integer(g, 32) : gen_below(g, 12);
    return (far - (gen_chance(g, 30) ? 3 : 0)) & UINT32_MAX;
}

uint64_t rows_value(const struct rows_gen *r, enum rows_pool pool)
{
    struct gen *g = r->g;
    uint64_t low;
    switch ((int)pool) {
    case ROWS_PLACES:
        low = place(g) & UINT32_MAX;
        return place(g) << 32 | low;
    case ROWS_COORDINATES:
        low = coordinate(r);
        return coordinate(r) << 32 | low;
    case ROWS_TEXELS:
        low = texel(g);
        return texel(g) << 32 | low;
    case ROWS_ADDRESSES:
        return address(g);
    case ROWS_F16:
        return numbers(g, 16, 10);
    case ROWS_BF16:
        return numbers(g, 16, 7);
    case ROWS_F32:
        return numbers(g, 32, 23);
    case ROWS_F64:
        return numbers(g, 64, 52);
    default:
        return integers(g);
    }
}
