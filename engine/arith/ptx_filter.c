#include "engine/arith/ptx_filter.h"

#include <string.h>

#include "engine/arith/ptx_soft.h"

enum { GUARD = 4 /* bits kept below the last place of the greatest texel */, SLICE = 4 };

/* ---- weights ---- */

/* t * part / 256, to the nearest, halves up. */
static uint32_t part_of(uint32_t t, uint32_t part)
{
    return (t * part + FILTER_ONE / 2) >> FILTER_BITS;
}

/*  slices    256 - z, z
 *  columns   of a slice t:  t - r(t x), r(t x)                                r: to the nearest, halves up
 *  rows      of a first column t:  r(t (256 - y)) and the rest;  of a second:  the rest and r(t y)
 */
void ptx_filter_weights(const uint32_t second[3], uint32_t weights[FILTER_TEXELS])
{
    const uint32_t slices[2] = {FILTER_ONE - second[2], second[2]};
    for (uint32_t z = 0; z < 2; z++) {
        const uint32_t right = part_of(slices[z], second[0]), left = slices[z] - right;
        uint32_t *w = &weights[SLICE * z];
        w[0] = part_of(left, FILTER_ONE - second[1]);
        w[2] = left - w[0];
        w[3] = part_of(right, second[1]);
        w[1] = right - w[3];
    }
}

/* ---- floating point ---- */

/* What lies more than GUARD bits below the last place of a slice's greatest texel is cut off; the products are added
 * without loss. A zero is negative if all are. */
static struct soft slice_sum(const struct soft *texels, const uint32_t *weights, uint32_t precision)
{
    int32_t most = -2 * soft_formats[SOFT_F32].exponent;
    int64_t total = 0;
    struct soft sum = {.is_negative = true};
    for (uint32_t n = 0; n < SLICE; n++)
        if (weights[n] > 0 && texels[n].digits > 0 && soft_top(texels[n]) > most)
            most = soft_top(texels[n]);
    const int32_t last = most - (int32_t)precision + 1 - GUARD;
    for (uint32_t n = 0; n < SLICE; n++) {
        const struct soft a = texels[n];
        const int32_t shift = a.exponent - last;
        sum = soft_add(sum, (struct soft){a.kind, a.is_negative, 0, 0}, SOFT_NEAREST);
        if (weights[n] == 0 || a.digits == 0 || shift <= -64)
            continue; /* nothing is left of it; the shift may be a wide one */
        const int64_t digits = (int64_t)(shift >= 0 ? a.digits << shift : a.digits >> -shift);
        total += (a.is_negative ? -digits : digits) * weights[n];
    }
    if (sum.kind != SOFT_FINITE || total == 0)
        return sum;
    return (struct soft){.is_negative = total < 0,
                         .exponent = last - FILTER_BITS,
                         .digits = (uint128)(total < 0 ? -total : total)};
}

/* Rounded to the nearest, halves away from zero: a digit far below the others makes them more than halves. */
static uint64_t rounded(struct soft a, enum soft_format_name format)
{
    if (a.digits >> 64 == 0) {
        a.digits <<= 62;
        a.exponent -= 62;
    }
    a.digits |= a.digits != 0;
    return soft_pack(a, format, SOFT_NEAREST);
}

uint64_t ptx_filter_half(uint64_t bits)
{
    const struct soft a = soft_unpack(bits, SOFT_F16);
    if (a.kind == SOFT_NAN)
        return (bits & 0x8000) << 16 | 0x7f800000u | (bits & 0x3ff) << 13;
    return soft_pack(a, SOFT_F32, SOFT_NEAREST);
}

static uint64_t float_sum(enum soft_format_name format, const uint64_t texels[FILTER_TEXELS],
                          const uint32_t second[3], const uint32_t weights[FILTER_TEXELS])
{
    static const struct soft nothing = {.is_negative = true}; /* + a is a */
    const uint32_t precision = soft_formats[format].precision;
    struct soft numbers[FILTER_TEXELS];
    for (uint32_t n = 0; n < FILTER_TEXELS; n++)
        numbers[n] = !ptx_filter_has(second, n) ? nothing
                     : format == SOFT_F32       ? soft_unpack(soft_flush(texels[n], format), format)
                                                : soft_unpack(texels[n], format);
    const struct soft near = slice_sum(numbers, weights, precision);
    const struct soft far = slice_sum(&numbers[SLICE], &weights[SLICE], precision);
    const uint64_t sum = rounded(soft_add(near, far, SOFT_NEAREST), format);
    return format == SOFT_F32 ? soft_flush(sum, SOFT_F32) : ptx_filter_half(sum);
}

/* ---- parts of one ---- */

uint64_t ptx_filter_unit(int64_t value, int64_t one)
{
    const float number = (float)((double)(value < -one ? -one : value) / (double)one);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Sums have 16 bits: u8 comes to 257 v, s8 - whose least number is one beyond -1 - to 256 v, and then to its share of
 * 32767. */
static uint64_t unit_sum(const struct ptx_type type, const uint64_t texels[FILTER_TEXELS],
                         const uint32_t weights[FILTER_TEXELS])
{
    int64_t sum = 0;
    for (uint32_t n = 0; n < FILTER_TEXELS; n++) {
        int64_t v = (int64_t)texels[n];
        if (weights[n] == 0)
            continue;
        if (type.is_signed)
            v = type.bits == 8 ? (int8_t)v : (int16_t)v == INT16_MIN ? -INT16_MAX : (int16_t)v;
        else if (type.bits == 8)
            v *= 257;
        sum += v * weights[n];
    }
    if (!type.is_signed)
        return ptx_filter_unit((sum + FILTER_ONE / 2) >> FILTER_BITS, UINT16_MAX);
    sum = type.bits == 16 ? (sum + FILTER_ONE / 2) >> FILTER_BITS
                          : (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3;
    return ptx_filter_unit(sum, INT16_MAX);
}

uint64_t ptx_filter_sum(enum ptx_word type, const uint64_t texels[FILTER_TEXELS],
                        const uint32_t second[3])
{
    uint32_t weights[FILTER_TEXELS];
    ptx_filter_weights(second, weights);
    if (type == PTX_W_F32 || type == PTX_W_F16)
        return float_sum(type == PTX_W_F32 ? SOFT_F32 : SOFT_F16, texels, second, weights);
    return unit_sum(ptx_type_of(type), texels, weights);
}
