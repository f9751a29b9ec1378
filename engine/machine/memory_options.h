/*
 * memory_options.h - which memory a machine has: sequentially consistent, or the caches of cuda-crs, chapter 4
 * (engine/caches), with their sizes and what of their rules is left out.
 */
#ifndef ENGINE_MEMORY_OPTIONS_H
#define ENGINE_MEMORY_OPTIONS_H

#include "engine/kernel/cache_sizes.h"

#include <stdbool.h>
#include <stdint.h>

/* What is kept in order (memory-device, profiles; docs/memory.md). */
enum memory_profile {
    MEMORY_SC,
    MEMORY_PRINTED, /* the report as it stands, but for what gets it stuck (ERR.35 to 39, 81, 82) */
    MEMORY_LLH,     /* accesses of one warp to one word stay in order, two loads excepted */
    MEMORY_COHERENT /* all of them; stores write first and discard then; barriers wait in front */
};

/* How the lanes of one ld or st are put together to operations (MO.part). */
enum memory_split {
    SPLIT_LINES, /* those of one line */
    SPLIT_LANES, /* each lane by itself */
    SPLIT_EITHER /* as the schedule chooses, for each instruction */
};

/* What an access is taken for: what it says, or that with a membar.gl behind it, a load of global memory as .cg; or a
 * volatile one. */
enum memory_access { ACCESS_AS_WRITTEN, ACCESS_FENCED, ACCESS_VOLATILE };

/* All 0: sequentially consistent. */
struct memory_options {
    uint8_t profile; /* enum memory_profile */
    uint8_t
        words; /* of a line: 1, 2, 4, 8; 0: this and the next two are the launch's, or drawn from the case's seed */
    uint8_t lines; /* of an L1 */
    uint8_t sms;   /* block b runs on SM b mod sms */
    uint8_t sets; /* that the lines of an L1 are divided into; 0, 1: an address may have any line */
    uint8_t l2_lines; /* of the L2, with `full` only; 0: as many as four L1 have */
    uint8_t
        slots; /* operations in flight a warp; 0: two a lane, or more where an instruction needs them */
    uint8_t policy; /* enum memory_policy */
    uint8_t split;  /* enum memory_split */
    uint8_t access; /* enum memory_access */
    bool
        strong; /* the profiles' repairs one by one: stores and atomics write first and discard then */
    bool before; /* barriers wait in front */
    bool full;   /* without R2: an L2 of its own, that is filled and written back */
    bool lazy;   /* without R1: registers are written and released in steps of their own */
    bool flush;  /* without R3: the silent rule that empties an L1 */
    bool
        eager; /* R1 for searches: who can issue an operation does so before anything else happens */
    bool inval; /* membar.gl and .sys empty the L1 */
    bool
        placed; /* on which SM a block runs is said by caches_slot_start; others may use the L1s, too */
    uint32_t warm_count;
    const uint32_t *warm; /* lines that are valid at the start: an SM and a word of memory each */
};

#endif
