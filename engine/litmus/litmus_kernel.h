/*
 * litmus_kernel.h - a litmus test as a kernel in PTX, so that a machine runs it: a warp is a thread of the test.
 *
 * The blocks are the test's SMs. Register k of thread t is %a<t>_<k>, and its first instruction writes it; what an
 * instruction of two lanes gives the second lane stands in that lane of the register of the first.
 */
#ifndef ENGINE_LITMUS_KERNEL_H
#define ENGINE_LITMUS_KERNEL_H

#include "engine/litmus/litmus.h"

/* Lanes of its warps, threads (warps) of a block, blocks. */
struct litmus_shape {
    uint32_t lanes, warps, blocks;
};
struct litmus_shape litmus_shape(const struct litmus_test *test);

/* The kernel's text, in the arena; NULL: an instruction has no form in PTX. */
const char *litmus_kernel(struct arena *arena, const struct litmus_test *test);

/* Where a thread of the test runs: its block, and its place there. */
void litmus_place(const struct litmus_test *test, uint32_t thread, uint32_t *block, uint32_t *warp);

/* The register, and the lane, that hold what the test calls this register of the thread. */
uint32_t litmus_lane_of(const struct litmus_test *test, uint32_t thread, uint32_t *reg);

#endif
