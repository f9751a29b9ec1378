/*
 * indices.h - what the addresses in a kernel's text say of its launch.
 */
#ifndef FUZZ_INDICES_H
#define FUZZ_INDICES_H

#include "engine/base/arena.h"
#include "engine/ptx/ptx.h"

enum { SENTINELS = 16 };

struct indices {
    /* The largest number of threads in a row (%tid.x) with which each access of an array in shared memory that all
     * threads make stays within it, and within its row: 64 of s[2][64]. UINT32_MAX: nothing says how many. */
    uint32_t threads;
    /* Parameters, a bit each, by which a thread's own number is multiplied: n of C[row * n + column]. With fewer than a
     * row has threads, they meet. */
    uint64_t pitches;
    /* Parameters of 64 bits that something is compared with, and that no address is computed from. */
    uint64_t numbers;
    /* Parameters n such that threads of the grid with numbers up to n - not below n - are told from the others. */
    uint64_t reached;
    /* Parameters whose buffers are counted in, by atomics whose operation is not `cas`. */
    uint64_t counted;
    /* What words of a parameter's buffer are compared with: a mark of what is free, or not visited. */
    uint32_t sentinel_count;
    struct sentinel {
        uint8_t parameter;
        int32_t word;
    } sentinels[SENTINELS];
    bool counts_warps; /* a thread's number by 32: arrays of 32 are of warps, not of threads */
    bool whole_warps;  /* products of matrices, which all 32 lanes of a warp execute */
};

struct indices indices_find(struct arena *arena, const struct ptx_function *entry);

#endif
