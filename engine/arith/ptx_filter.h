/*
 * ptx_filter.h - what a texture's filter makes of the texels around a place. CUDA's guide gives weights 9 bits and says
 * no more; this is how an H200 computes, found by fetches at chosen places, and the same in every bit (docs/ptx.md).
 *
 * A place is a number of 256ths of a texel. The 256 of all weights are handed on from axis to axis: z first, then x,
 * then y, each time rounded, so that they always come to 256.
 */
#ifndef ENGINE_PTX_FILTER_H
#define ENGINE_PTX_FILTER_H

#include "engine/ptx/ptx_ops.h"

/* Texel n is the second one along x, y, z where bits 0, 1, 2 of n are set. */
enum { FILTER_TEXELS = 8, FILTER_BITS = 8, FILTER_ONE = 1 << FILTER_BITS };

/* `second` of each axis: 256ths of the way to the second texel, below 256; 0: there is none. */
void ptx_filter_weights(const uint32_t second[3], uint32_t weights[FILTER_TEXELS]);

/* Whether texel n is one of those around; its weight may be 0 all the same, when it is rounded. */
static inline bool ptx_filter_has(const uint32_t second[3], uint32_t n)
{
    return (!(n & 1) || second[0]) && (!(n & 2) || second[1]) && (!(n & 4) || second[2]);
}

/* What the texels around come to, as bits of .f32, of channels that are f16 or f32, or of `unit` numbers of 8 or 16
 * bits. An infinity or NaN shows whatever its weight is. Texels that are not around may be anything. */
uint64_t ptx_filter_sum(enum ptx_word type, const uint64_t texels[FILTER_TEXELS],
                        const uint32_t second[3]);

/* value / one as bits of .f32; below -1 is -1. */
uint64_t ptx_filter_unit(int64_t value, int64_t one);

/* A half as bits of .f32; a NaN keeps what it carries. */
uint64_t ptx_filter_half(uint64_t bits);

#endif
