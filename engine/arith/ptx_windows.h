/*
 * ptx_windows.h - generic addresses of PTX: which ones are global, which lie in the window of another space.
 *
 * A near window is one whose addresses fit 32 bits; those of `.address_size 32` (and of structured kernels,
 * which are compiled to it). The windows of 64-bit addresses are far: 2^40 bytes lie between them, and each has
 * the 2^32 addresses that a space has whose addresses are cut to 32 bits. So no sum of a generic address and
 * a 32-bit index times an element of up to 128 bytes leads from one window into another, or into a buffer.
 */
#ifndef ENGINE_PTX_WINDOWS_H
#define ENGINE_PTX_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

enum ptx_window {
    PTX_WINDOW_GLOBAL, /* all that is in no window */
    PTX_WINDOW_SHARED,
    PTX_WINDOW_LOCAL,
    PTX_WINDOW_CONST, /* .const variables and buffers, then entry parameters */
    PTX_WINDOW_COUNT
};

/* Global memory starts here in the address space of 32 bits; nothing has a lower generic address. */
#define PTX_GLOBAL_BASE 0x10000u
#define PTX_SHARED_BASE 0x70000000u
#define PTX_LOCAL_BASE 0x78000000u
#define PTX_CONST_BASE 0x7a000000u
#define PTX_WINDOW_END 0x7c000000u

/* What lies between two things that 64-bit addresses tell apart. */
#define PTX_FAR_GAP ((uint64_t)1 << 40)
#define PTX_FAR_WINDOW ((uint64_t)1 << 32)
#define PTX_FAR_GLOBAL_BASE (PTX_WINDOW_COUNT * PTX_FAR_GAP + PTX_GLOBAL_BASE)
#define PTX_FAR_END ((uint64_t)1 << 47)

/* In kernels of clusters a block's variables in shared memory have addresses of 24 bits; above these stands, in those
 * of another block's, its rank in the cluster + 1. */
enum { PTX_CLUSTER_SHIFT = 24 };

static inline uint64_t ptx_cluster_address(uint64_t address, uint32_t rank, uint32_t own)
{
    const uint64_t named = rank == own ? 0 : (rank + 1) & 0xff;
    return (address & ~((uint64_t)0xff << PTX_CLUSTER_SHIFT)) | named << PTX_CLUSTER_SHIFT;
}

static inline uint32_t ptx_cluster_rank_of(uint64_t address, uint32_t own)
{
    const uint32_t rank = (uint32_t)(address >> PTX_CLUSTER_SHIFT) & 0xff;
    return rank ? rank - 1 : own;
}

/* The generic address of the space's address 0; of global memory 0. */
static inline uint64_t ptx_window_base(enum ptx_window window, bool is_far)
{
    static const uint32_t near[] = {0, PTX_SHARED_BASE, PTX_LOCAL_BASE, PTX_CONST_BASE};
    return is_far ? (uint64_t)window * PTX_FAR_GAP : near[window];
}

/* The window of an address, and whether it is a far one. */
static inline enum ptx_window ptx_window_of(uint64_t address, bool *is_far)
{
    *is_far = address >= PTX_FAR_GAP;
    if (*is_far)
        return address < PTX_WINDOW_COUNT * PTX_FAR_GAP && address % PTX_FAR_GAP < PTX_FAR_WINDOW
                   ? (enum ptx_window)(address / PTX_FAR_GAP)
                   : PTX_WINDOW_GLOBAL;
    if (address < PTX_SHARED_BASE || address >= PTX_WINDOW_END)
        return PTX_WINDOW_GLOBAL;
    return address < PTX_LOCAL_BASE   ? PTX_WINDOW_SHARED
           : address < PTX_CONST_BASE ? PTX_WINDOW_LOCAL
                                      : PTX_WINDOW_CONST;
}

#endif
