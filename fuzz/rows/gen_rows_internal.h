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
    ROWS_POOLS,
    ROWS_COORDINATES =
        ROWS_POOLS, /* of textures: as floats, as whole numbers; in programs that have some */
    ROWS_TEXELS,
    ROWS_ALL_POOLS
};

enum {
    ROWS_POOL = 32,    /* 64-bit words of each in the table */
    ROWS_STARTS = 16,  /* where a lane may begin in them: the address is in register `a` */
    ROWS_AREA = 64,    /* bytes of a thread in each space */
    ROWS_BOUND = 72,   /* most bytes of the variables whose bounds are looked for */
    ROWS_THREADS = 32, /* but for wide warps */
    ROWS_TEXTURES = 3
};

/* Which operations of warps there are: not every subject has all of them. */
enum rows_warps { ROWS_NO_WARPS, ROWS_SYNC_ONLY, ROWS_ALL_WARPS };

/* Which rows of the table come next. */
enum rows_sorts {
    ROWS_ANY,
    ROWS_OF_WARPS,
    ROWS_OF_BARRIERS,
    ROWS_OF_OBJECTS,
    ROWS_OF_MATRICES,
    ROWS_OF_TEXTURES,
    ROWS_OF_ADDRESSES, /* in which space, in which block */
    ROWS_OF_SUMS,      /* what a lane computes for itself */
    ROWS_OF_COPIES,    /* that are under way */
    ROWS_AT_BOUNDS
};

/* A texture of the program: what an instruction must fit. */
struct rows_texture {
    enum ptx_word geometry;
    bool is_float, is_memory; /* as it is read */
};

struct rows_gen {
    struct gen *g;
    struct text text;
    enum rows_warps warps;
    bool apart;          /* lanes may have skipped this place */
    bool objects;        /* mbarrier objects are there */
    uint32_t arrivals;   /* that a phase of a lane's own awaits */
    bool dense;          /* many instructions, once, that compute or access textures */
    bool matrices;       /* whole warps of 32 lanes, none of which exits: they have matrices, too */
    bool called;         /* within the function that the entry calls */
    uint32_t cluster[3]; /* blocks of a cluster; 0: there is one block, and nothing of clusters */
    uint32_t grid[3], blocks;
    bool entry_says;  /* how large a cluster is; else the settings do */
    bool copies;      /* that are under way */
    bool cooperative; /* the grid waits for all its blocks */
    uint32_t ways;    /* to a cluster's barrier, so far */
    uint32_t texture_count;
    struct rows_texture textures[ROWS_TEXTURES];
    uint32_t sizes; /* of the first texture's first axis: borders of texels */
    uint32_t bound; /* bytes of the variables bg, bs, bl, bc */
};

#define PUT(r, ...) text_format(&(r)->text, __VA_ARGS__)

/* What an instruction of a row takes part in. */
enum rows_sort {
    SORT_COMPUTES,
    SORT_LOADS,
    SORT_STORES,
    SORT_ATOMIC,
    SORT_WARP,
    SORT_BARRIER,
    SORT_OBJECT,   /* of an mbarrier */
    SORT_NOTHING,  /* fences, hints */
    SORT_MATRIX,   /* of a whole warp */
    SORT_TEXTURE,  /* and surfaces */
    SORT_CLUSTER,  /* computes places in a cluster's other blocks */
    SORT_COPY,     /* that is under way, and what waits for it */
    SORT_ELSEWHERE /* control flow, a cluster's barrier: made otherwise */
};

/* An instruction that is being made. */
struct rows_making {
    struct rows_gen *r;
    struct ptx_instruction i;
    enum rows_sort sort;
    struct ptx_operand **end; /* of the operands */
    struct text before;       /* what loads them */
    const char *stored;       /* the register that an atomic operation's place holds */
    bool at_bounds;           /* of a variable */
    bool is_far;              /* a copy goes to another block of the cluster */
    uint32_t copied;          /* bytes of it */
    bool wrong;               /* no such instruction is made */
};

/* A value of the kind; where numbers of the kind are smaller than 64 bits, several beside each other. */
uint64_t rows_value(const struct rows_gen *r, enum rows_pool pool);

/* Writes one instruction, behind what loads its operands. */
void rows_put_instruction(struct rows_gen *r, enum rows_sorts sorts);
/* One of this form, without operands and for all lanes. */
void rows_put_form(struct rows_gen *r, enum ptx_form form);

/* What stands behind a guard. */
void rows_put_guard(struct rows_gen *r, const char *behind);

/* Lanes of all warps of a block, those that are missing in the last one included: what all of them count as. */
uint32_t rows_all_lanes(const struct rows_gen *r);

/* ---- operands (gen_rows_op.c) ---- */

struct ptx_operand *rows_operand(struct rows_making *m, enum ptx_operand_kind kind,
                                 const char *name);
struct ptx_operand *rows_integer(struct rows_making *m, uint64_t value);
struct ptx_operand *rows_register_number(struct rows_making *m, uint32_t bits, uint32_t number);
struct ptx_operand *rows_register_of(struct rows_making *m, uint32_t bits);
/* So many registers beside each other. */
struct ptx_operand *rows_vector(struct rows_making *m, const struct ptx_item_pattern *item,
                                uint32_t count, uint32_t bits);
/* The lane's value of the table becomes the register's. */
void rows_load(struct rows_making *m, const struct ptx_operand *o, enum rows_pool pool);
enum rows_pool rows_pool_of(const struct rows_making *m, const struct ptx_item_pattern *item);
/* Of an access. */
uint32_t rows_elements(const struct rows_making *m);

/* ---- where it accesses memory (gen_rows_places.c) ---- */

struct ptx_operand *rows_address(struct rows_making *m);
/* What an atomic operation finds in its place; and cas, if it is lucky, what it expects. */
void rows_prepare_place(struct rows_making *m, const struct ptx_operand *at);
/* An address in a register, of the lane's own areas or in another block of its cluster; NULL: any number. */
struct ptx_operand *rows_known_address(struct rows_making *m);

/* ---- textures, matrices (gen_rows_shapes.c) ---- */

/* What stands in front of the entry, its parameters, and what reads them. */
void rows_draw_textures(struct rows_gen *r);
void rows_put_texture_parameters(struct rows_gen *r);
void rows_put_handles(struct rows_gen *r);
struct ptx_operand *rows_handle(struct rows_making *m);
struct ptx_operand *rows_coordinates(struct rows_making *m, const struct ptx_item_pattern *item);
struct ptx_operand *rows_matrix_address(struct rows_making *m);
struct ptx_operand *rows_matrix_stride(struct rows_making *m);
struct ptx_operand *rows_fragment(struct rows_making *m, const struct ptx_item_pattern *item);

/* ---- clusters (gen_rows_cluster.c) ---- */

/* Blocks and how they make clusters; what the settings and the entry say of it. */
void rows_draw_cluster(struct rows_gen *r);
uint32_t rows_cluster_size(const struct rows_gen *r); /* blocks; 0: there are no clusters */
void rows_put_cluster_attributes(struct rows_gen *r);
/* Where the lane's shared memory lies in another block. */
void rows_put_neighbour(struct rows_gen *r);
/* Threads of the cluster meet; or some are missing, or come too often. */
void rows_put_cluster_barrier(struct rows_gen *r);
/* None has ended while others access it. */
void rows_put_cluster_end(struct rows_gen *r);

/* ---- grids that wait for all their blocks (gen_rows_grid.c) ---- */

/* What the settings say of it, and the registers that it takes. */
void rows_draw_grid(struct rows_gen *r);
void rows_put_grid_registers(struct rows_gen *r);
/* Each block comes, and waits for the others for a while. */
void rows_put_grid_barrier(struct rows_gen *r);

/* ---- copies that are under way (gen_rows_copies.c) ---- */

void rows_put_copy_variables(struct rows_gen *r);
void rows_put_copy_places(struct rows_gen *r);
/* NULL: an operand as others. */
struct ptx_operand *rows_copy_operand(struct rows_making *m, const struct ptx_item_pattern *item);
/* Some are begun, committed, waited for, or looked at. */
void rows_put_copy(struct rows_gen *r);

/* ---- what lanes, warps and threads do together (gen_rows_meet.c) ---- */

bool rows_takes_mask(const struct rows_making *m);
struct ptx_operand *rows_mask(struct rows_making *m);
struct ptx_operand *rows_barrier_number(struct rows_making *m);
struct ptx_operand *rows_barrier_count(struct rows_making *m);
struct ptx_operand *rows_object_number(struct rows_making *m);
struct ptx_operand *rows_object_phase(struct rows_making *m, const struct ptx_item_pattern *item);
/* What is there is made invalid before it is made anew; and what was made invalid is seldom drawn. */
void rows_prepare_object(struct rows_making *m, const struct ptx_operand *at);

#endif
