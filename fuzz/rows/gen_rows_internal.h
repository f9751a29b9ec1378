/*
 * gen_rows_internal.h - what the files of gen_rows.h share: the program being written, values at bounds, one
 * instruction.
 */
#ifndef FUZZ_GEN_ROWS_INTERNAL_H
#define FUZZ_GEN_ROWS_INTERNAL_H

#include "engine/base/text.h"
#include "engine/ptx/ptx.h"
#include "fuzz/rows/gen_rows.h"

/* Kinds of values, each at its own bounds. */
enum rows_pool {
    ROWS_INTEGERS,
    ROWS_PLACES, /* of bits, lanes; amounts of shifts */
    ROWS_ADDRESSES,
    ROWS_F16,
    ROWS_BF16,
    ROWS_F32,
    ROWS_F64,
    ROWS_POOLS
};

enum {
    ROWS_POOL = 32,   /* 64-bit words of each in the table */
    ROWS_STARTS = 16, /* where a lane may begin in them: the address is in register `a` */
    ROWS_AREA = 64,   /* bytes of a thread in each space */
    ROWS_BOUND = 40,  /* most bytes of the variables whose bounds are looked for */
    ROWS_THREADS = 32 /* but for wide warps */
};

/* Which operations of warps there are: not every subject has all of them. */
enum rows_warps { ROWS_NO_WARPS, ROWS_SYNC_ONLY, ROWS_ALL_WARPS };

/* Which rows of the table come next. */
enum rows_sorts { ROWS_ANY, ROWS_OF_WARPS, ROWS_OF_BARRIERS, ROWS_OF_OBJECTS, ROWS_AT_BOUNDS };

struct rows_gen {
    struct gen *g;
    struct text text;
    enum rows_warps warps;
    bool apart;     /* lanes may have skipped this place */
    bool objects;   /* mbarrier objects are there */
    bool matrices;  /* whole warps of 32 lanes, none of which exits: they move matrices, too */
    uint32_t bound; /* bytes of the variables bg, bs, bl, bc */
};

/* A value of the kind; where numbers of the kind are smaller than 64 bits, several beside each other. */
uint64_t rows_value(struct gen *g, enum rows_pool pool);

/* Writes one instruction, behind what loads its operands. */
void rows_put_instruction(struct rows_gen *r, enum rows_sorts sorts);

/* What stands behind a guard. */
void rows_put_guard(struct rows_gen *r, const char *behind);

/* Lanes of all warps of a block, those that are missing in the last one included: what all of them count as. */
uint32_t rows_all_lanes(const struct rows_gen *r);

#endif
