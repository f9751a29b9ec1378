/*
 * ptx_mask.h - rows of elements by lane, and masks of lanes.
 */
#ifndef ENGINE_PTX_MASK_H
#define ENGINE_PTX_MASK_H

#include "engine/machine/semantics.h"

/* The lanes, of so many, whose element is not 0. */
lane_mask ptx_true_lanes(const uint32_t *row, uint32_t count);

/* The lanes in the set get their elements, of 32 or 64 bits, of rows that have so many and do not overlap. */
void ptx_put_lanes(void *to, const void *row, uint32_t bits, lane_mask set, uint32_t count);

#endif
