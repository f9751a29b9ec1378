/*
 * vector_internal.h - what the fast lock-step executor is made of: vector.c drives blocks and calls,
 * vector_code.c translates expressions, vector_lanes.h is compiled once for each instruction set and
 * runs a block's instructions on all lanes.
 *
 * A vector has a word for each thread of the block, padded to VECTOR_PAD lanes. All vectors lie in one
 * pool: constants, builtins, private variables (struct of arrays), frames, registers. A mask is a
 * vector of 0 and -1; the lanes that pad are 0 in every mask.
 */
#ifndef ENGINE_VECTOR_INTERNAL_H
#define ENGINE_VECTOR_INTERNAL_H

#include "engine/base/invariant.h"
#include "engine/vector/vector.h"

enum { VECTOR_PAD = 16 };

/* Offset of a vector in the pool, in words; with VECTOR_IN_FRAME from the running frame on. */
typedef uint32_t vector_ref;
#define VECTOR_IN_FRAME 0x80000000u
#define VECTOR_NONE UINT32_MAX

enum vector_op {
    V_STATEMENT, /* imm: number of the statement that begins, b: of its lanes are those of `mask` */
    V_BINARY,    /* dst = a op b, in the order of enum ast_binary, the logical ones included */
    V_UNARY = V_BINARY + BINARY_COUNT, /* dst = op a, in the order of enum ast_unary */
    V_SELECT = V_UNARY + 3,            /* dst = a ? b : c */
    V_WHERE,                           /* dst = mask where a != 0 */
    V_WHERE_NOT,                       /* dst = mask where a == 0 */
    V_LOAD,                            /* dst = the scalar at imm of `space` */
    V_GATHER,                          /* dst = element a of the array at imm, length b */
    V_PRIVATE_GATHER,                  /* the same of a private array: vectors from c on */
    V_MOVE,                            /* private scalar dst = a */
    V_PRIVATE_SCATTER,                 /* element a of the private array at c, length b, = dst */
    V_STORE,                           /* scalar at imm of `space` = a */
    V_SCATTER,                         /* element a of the array at imm, length b, = c */
    V_ATOMIC,                          /* see struct vector_atomic: number imm */
    V_HAVOC,                           /* dst = choices of the lanes in `mask` */
    V_PICK,                            /* see struct vector_pick: number imm; dst = the values */
    V_ASSUME,                          /* of a */
    V_ASSERT,
    V_BARRIER,
    V_CALL, /* imm: the call statement's number */
    V_GOTO  /* end of the block; imm: its number. Guards: see struct vector_block */
};

struct vector_inst {
    uint8_t op; /* enum vector_op */
    uint8_t space;
    bool moves; /* V_BINARY, V_UNARY: c = dst follows, a V_MOVE */
    vector_ref dst, a, b, c, mask;
    int32_t imm;
};

/* dst = old value; place = place op value (, second) - lane after lane, ascending. */
struct vector_atomic {
    enum ast_atomic atomic;
    enum ast_space space;
    uint32_t offset, length;
    vector_ref index; /* VECTOR_NONE: a scalar; of a private place: the vectors from `place` on */
    vector_ref place;
    vector_ref value, second, dst;
};

struct vector_pick {
    uint32_t first, count; /* program.picks */
    vector_ref *guards;
};

struct vector_call {
    uint32_t callee;
    uint32_t in_count, out_count;
    vector_ref *ins;      /* values in the caller */
    uint32_t *in_offsets; /* words in the callee's frame */
    vector_ref *outs;     /* targets in the caller */
    uint32_t *out_offsets;
};

struct vector_block {
    const struct vector_inst *code; /* ends with V_GOTO */
    vector_ref *guards; /* of its targets; VECTOR_NONE: true. NULL: one target at most */
};

struct vector_function {
    uint32_t block_first, block_count; /* numbers of its blocks in the program */
    uint32_t *order;                   /* place -> block (number in the function) */
    uint32_t *position;
    uint32_t
        *last_first; /* block_count + 1: of the block at each place, the loops that it ends ... */
    uint32_t *last_heads; /* ... innermost first: places of their heads */
};

/* What is known of a location within the interval `epoch`. Threads: tid + 1, 0 = none, VECTOR_SEVERAL. */
#define VECTOR_SEVERAL UINT16_MAX
struct vector_cell {
    uint32_t epoch;
    uint16_t writer, reader, atomic;
    uint32_t write_stm, read_stm, atomic_stm;
};

/* What the blocks before the running one did to a location of global memory: 1 << access_kind. */
struct vector_shadow {
    uint16_t block;           /* + 1, the latest that accessed it */
    uint8_t current, earlier; /* by that block, by those before */
    struct vector_toucher {
        uint32_t thread, stm; /* the latest of each kind; thread in the grid */
    } current_by[3], earlier_by[3];
};

/* An activation. */
struct vector_frame {
    const struct vector_function *function;
    uint32_t *active; /* a lane: number in the function of its block; BLOCK_END */
    uint32_t *counts; /* a block: lanes that are in it */
    uint32_t depth;
};

struct vector_isa_code {
    /* Runs the code of a block whose lanes are in its mask register; RUNNING when control goes on. */
    enum status (*run_block)(struct vector_run *run, struct vector_frame *frame, uint32_t block);
};

struct vector_run {
    const struct program *program;
    struct vector_options options;
    const struct vector_isa_code *isa;
    uint32_t lanes, padded;

    struct vector_function *functions;
    struct vector_block *blocks;
    struct vector_atomic *atomics;
    struct vector_pick *picks;
    struct vector_call **calls; /* a statement of the program; NULL: no call */

    int32_t *pool;
    uint32_t pool_words;
    vector_ref tid, bid;         /* builtins; tid, lane, warp, bid follow each other */
    vector_ref privates, frames; /* first vector of each */
    vector_ref registers;        /* 0: the block's mask, 1: a statement's */
    int32_t *start_memory;       /* program_init_memory */
    int32_t *memory;
    int32_t *frame;                 /* of the running activation */
    uint32_t *actives, *all_counts; /* of all depths */
    uint32_t most_blocks;           /* of a function */

    struct vector_cell *cells;
    struct vector_shadow *shadows;
    uint32_t epoch;

    uint32_t block;             /* thread block that runs */
    uint32_t base[SPACE_COUNT]; /* of its global and shared memory */
    uint32_t *choices;          /* a lane */
    uint32_t stm;               /* running */
    uint64_t budget;
    struct vector_result result;
};

extern const struct vector_isa_code vector_baseline;
#if defined(SIMTFUZZ_X86)
extern const struct vector_isa_code vector_avx2, vector_avx512;
#endif

/* Runs a call for the lanes in `mask` (not empty). */
enum status vector_call_run(struct vector_run *run, struct vector_frame *frame,
                            const struct vector_call *call, const int32_t *mask);

/* Translates all blocks; false with *reason. Fills in blocks, calls, pool offsets. */
bool vector_translate(struct arena *arena, struct vector_run *run, const char **reason);

/* The next barrier interval: what is in the cells is of earlier ones. */
void vector_next_interval(struct vector_run *run);

/* An access of the running block for the race state; lane: tid. */
void vector_access(struct vector_run *run, uint32_t lane, uint32_t address, enum access_kind kind);

#endif
