#include "engine/lanes/ptx_mask.h"

/* Warps of 32 lanes are what nearly all kernels have: their loops become vectors. */
enum { USUAL = 32, FEW = 4 };

typedef uint32_t row32 __attribute__((may_alias));
typedef uint64_t row64 __attribute__((may_alias));

static const uint32_t bit_of[USUAL] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

lane_mask ptx_true_lanes(const uint32_t *row, uint32_t count)
{
    lane_mask set = 0;
    if (count == USUAL) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < USUAL; i++)
            bits |= bit_of[i] & (0 - (uint32_t)(row[i] != 0));
        return bits;
    }
    for (uint32_t i = 0; i < count; i++)
        set |= (lane_mask)(row[i] != 0) << i;
    return set;
}

/* Whether the set has more than FEW lanes. */
static bool are_many(lane_mask set)
{
    for (uint32_t i = 0; i < FEW; i++)
        set &= set - 1;
    return set != 0;
}

void ptx_put_lanes(void *to, const void *row, uint32_t bits, lane_mask set, uint32_t count)
{
    row32 *restrict to32 = to;
    const row32 *restrict row32s = row;
    if (bits == 32 && count == USUAL && are_many(set)) {
        for (uint32_t i = 0; i < USUAL; i++) {
            const uint32_t in = 0 - (uint32_t)(((uint32_t)set & bit_of[i]) == bit_of[i]);
            to32[i] = (row32s[i] & in) | (to32[i] & ~in);
        }
        return;
    }
    for (lane_mask rest = set; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        if (bits == 32)
            to32[lane] = row32s[lane];
        else
            ((row64 *)to)[lane] = ((const row64 *)row)[lane];
    }
}
