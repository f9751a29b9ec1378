/*
 * ptx_code.h - a PTX kernel laid out for execution: instructions at addresses, registers as rows,
 * variables at addresses of memory.
 *
 * Addresses of instructions count from 1, through all functions that the entry reaches, the entry's
 * first (LOAD.L1); 0 is none. A label denotes the next instruction. So a program address fits a
 * register and is never 0.
 *
 * Registers. A function's registers, parameters in registers, and the carry lie in its frame: those of
 * 32-bit elements (also narrower ones, predicates) in rows numbered from 0, those of 64-bit elements in rows
 * of their own, numbered from 0. A frame is pushed by call and dropped by ret; lanes of a warp may have
 * different stacks of frames, so the two kinds of rows lie apart in a group's registers (ptx_exec.h).
 * Registers are 0 at first.
 *
 * Memory. machine.memory holds bytes, little-endian: global memory (module variables and buffers) at word
 * 0, shared memory of each block, then each thread's local memory: module-scope .local, then its stack
 * of frames (.local and .param variables of functions). Constants and entry parameters are no state:
 * ptx_code.constants. Regions give each variable its own range of addresses. Between two of them lies a gap: in
 * global memory of 64-bit addresses one that no 32-bit index crosses (PTX_FAR_GAP), elsewhere what the space has
 * room for, up to 2^30 bytes. Local memory has none: an address there is the byte in the thread's local memory.
 *
 * Generic addresses: ptx_windows.h. Addresses of shared, local, constant and parameter space have 32 bits: what
 * a 64-bit register holds beyond them is dropped, and sums wrap there, as ptxas has it.
 */
#ifndef ENGINE_PTX_CODE_H
#define ENGINE_PTX_CODE_H

#include "engine/arith/ptx_rows.h"
#include "engine/arith/ptx_windows.h"
#include "engine/input/ptx_kernel.h"
#include "engine/program/program.h"

enum ptx_exec {
#define PTX_EXEC_KIND(kind, traits) PTX_EXEC_##kind,
#include "engine/program/ptx_exec.def"
#undef PTX_EXEC_KIND
};

enum ptx_exec_trait { PTX_LOADS = 1, PTX_STORES = 2, PTX_OWN = 4, PTX_TELLS = 8, PTX_FAR = 16 };

/* Whether it has one of these traits. */
static inline bool ptx_exec_is(uint32_t exec, uint32_t traits)
{
    static const uint8_t traits_of[] = {
#define PTX_EXEC_KIND(kind, traits) traits,
#include "engine/program/ptx_exec.def"
#undef PTX_EXEC_KIND
    };
    return (traits_of[exec] & traits) != 0;
}

static inline bool ptx_is_flow(enum ptx_exec exec)
{
    return exec >= PTX_EXEC_BRA;
}

enum ptx_place_kind {
    PTX_PLACE_NONE,
    PTX_PLACE_REGISTER, /* offset = row in the frame, among those of this size */
    PTX_PLACE_CONST,    /* offset = word in ptx_code.constant_rows: a broadcast row */
    PTX_PLACE_SPECIAL,  /* offset = number in ptx_code.specials */
    PTX_PLACE_FRAME     /* the address in local memory of the frame's byte `offset` */
};

struct ptx_place {
    uint8_t kind;
    uint8_t bits; /* of an element: 32 or 64 */
    uint32_t offset;
};

/* ptx_code.underway: so many, so many a thread, and one for each word of the block's shared memory, since no two copies
 * of a kernel without races go to one word; and words of each entry. */
enum {
    PTX_UNDERWAY_LEAST = 64,
    PTX_UNDERWAY_EACH = 4,
    PTX_UNDERWAY_SHARED = 4096, /* at most for shared memory */
    PTX_UNDERWAY_WORDS = 9
};

enum { PTX_CODE_SOURCES = 9, PTX_CODE_RESULTS = 8 };

/* Of TEXTURE and SUST: which source is what. A layer is the last coordinate. */
enum { PTX_TEXEL_X = 1, PTX_TEXEL_LAYER = 3, PTX_TEXEL_VALUE = 4 };

/* What a function without a body is asked for; its arguments can be looked at (engine/lanes/ptx_outside.h). */
enum ptx_outside {
    PTX_OUTSIDE_NONE,
    PTX_OUTSIDE_PRINT,
    PTX_OUTSIDE_ASSERT,
    PTX_OUTSIDE_GIVES, /* a heap has given an address, so many bytes (oracle/launch/launch_heap.h) */
    PTX_OUTSIDE_TAKES  /* an address is given back */
};

/* Functions that the heap of `simtfuzz exec` calls, and nobody has. */
#define PTX_HEAP_GIVES "simtfuzz_heap_gives"
#define PTX_HEAP_TAKES "simtfuzz_heap_takes"

/* A parameter or result that a call copies: bytes of frame memory (local), or a register. */
struct ptx_copy {
    struct ptx_place caller, callee; /* kind NONE: in memory */
    uint32_t caller_byte, callee_byte, bytes;
};

/* The registers of a lane's part of each matrix. */
struct ptx_matrix {
    struct ptx_matrix_form form;
    struct ptx_place place[PTX_MATRIX_PARTS][PTX_FRAGMENT];
};

struct ptx_op {
    uint8_t exec;   /* enum ptx_exec */
    uint8_t opcode; /* enum ptx_opcode, for rules and traces */
    uint8_t result_count, source_count;
    bool guard_not;
    uint8_t negated; /* bit i: sources[i] is a predicate `!p`; its negation counts */
    bool has_count;  /* bar: a thread count is given (sources[1]) */
    bool is_signed;  /* LD: sign-extends; MINMAX .. */
    bool is_float;   /* ATOM */
    bool is_whole;   /* ATOM: of all elements together, not each on its own (.b128) */
    bool is_volatile;
    uint8_t
        outside; /* enum ptx_outside: a call of a function without a body, as a NOP, ROWS, TRAP */
    struct ptx_place guard;                     /* a predicate; NONE = always */
    struct ptx_place results[PTX_CODE_RESULTS]; /* kind NONE: thrown away (_) */
    /* LD: address; ST: address, values; ATOM: address, b, c; VOTE: predicate, mask?; SHFL: a, b, c, mask?;
     * BAR: number, count (NONE: not given), predicate; BRA: target (indirect) or index; CALL: target (indirect) */
    struct ptx_place sources[PTX_CODE_SOURCES];
    struct ptx_row_op row; /* ROWS */
    ptx_atomic_fn *atomic; /* ATOM */
    uint8_t mode; /* VOTE, SHFL, BAR_RED, REDUX, MATCH, ATOM: enum ptx_word of the operation */
    /* LD, ST, ATOM: PTX_W_GLOBAL, _SHARED, _LOCAL, _CONST; PTX_W_NONE: generic. Parameters lie in
     * _CONST (of entries) or in _LOCAL, at a PTX_PLACE_FRAME. */
    uint8_t space;
    uint8_t bytes, count; /* LD, ST, ATOM: of one element; elements of a vector */
    uint8_t
        width; /* LD: bits of the result registers as declared: 16, 32, 64; 0: of its element; COPY_BULK: _REDUCE,
                      _MULTICAST, _NONE */
    uint64_t offset;             /* LD, ST, ATOM: added to the address */
    uint32_t target;             /* BRA, CALL, SSY, PREBRK, PRERET: address, 0: indirect */
    uint32_t table, table_count; /* BRX: ptx_code.table[..] of addresses */
    uint32_t copy, copy_count;   /* CALL, outside: parameters, ptx_code.copies[..] */
    uint32_t back, back_count;   /* CALL: results, copied when the callee returns */
    uint32_t signature;          /* CALL, indirect: a callee with another one is stuck; 0: any */
    uint32_t function;
    uint32_t line;              /* of the text; 0: the end of a function that does not say ret */
    uint32_t file, source_line; /* by .loc; 0 = none */
    const struct ptx_statement *statement;
    struct ptx_op *parts; /* COPY, COPY_BULK: accesses */
    const struct ptx_matrix *matrix;
};

/* The registers of matrices that an instruction names: those that it writes (D of all but stores), or those that it
 * reads. The next one behind *at; NULL: there are no more. */
static inline const struct ptx_place *ptx_matrix_next(const struct ptx_op *op, bool written,
                                                      uint32_t *at)
{
    const bool stores = op->exec == PTX_EXEC_MATRIX_ST;
    while (op->matrix && *at < PTX_MATRIX_PARTS * PTX_FRAGMENT) {
        uint32_t part = *at / PTX_FRAGMENT, r = (*at)++ % PTX_FRAGMENT;
        bool writes = part == PTX_MATRIX_D && !stores;
        if (writes == written && r < op->matrix->form.part[part].registers)
            return &op->matrix->place[part][r];
    }
    return NULL;
}

/* How many accesses a copy has; each has an address. */
static inline uint32_t ptx_part_count(const struct ptx_op *op)
{
    return !op->parts ? 0 : op->exec == PTX_EXEC_COPY ? 2 : 3;
}

/* LD, ST, ATOM: the bits that an address keeps. Of a 32-bit register, and in a space that is a window, they are
 * 32 (ptxas computes them in 32 bits, whatever register holds them); else 64. */
static inline uint64_t ptx_address_mask(const struct ptx_op *op)
{
    bool is_wide = op->space == PTX_W_NONE || op->space == PTX_W_GLOBAL;
    bool is_narrow = op->sources[0].kind != PTX_PLACE_NONE && op->sources[0].bits != 64;
    return is_wide && !is_narrow ? UINT64_MAX : UINT32_MAX;
}

struct ptx_region {
    uint64_t address; /* in its space; first byte; a multiple of 4 */
    uint32_t bytes;
    uint32_t
        word; /* of machine.memory (global), of the block's shared, of the thread's local memory, or
                         of ptx_code.constants */
    const struct ast_var *var; /* global, shared; NULL: others */
    const char *name;
};

struct ptx_regions {
    uint32_t count;
    struct ptx_region *items; /* ascending */
    uint64_t gap;             /* at least so many bytes lie between two; 0: none need to */
};

struct ptx_rows {
    uint32_t narrow, wide; /* of 32-bit elements, of 64-bit elements */
};

struct ptx_code_function {
    const struct ptx_function *function;
    uint32_t signature;        /* equal numbers: the same results and parameters */
    uint32_t entry;            /* address of its first instruction */
    uint32_t end;              /* behind its last */
    struct ptx_rows rows;      /* of its frame */
    uint32_t frame_bytes;      /* of local memory; multiple of 16 */
    struct ptx_regions locals; /* its variables in local memory: address, from the frame's start */
};

struct ptx_code_texture {
    uint64_t handle, address; /* of its first texel, in global memory */
    const struct ptx_texture *what;
    const char *name;
};

/* Initial values of a register of the entry (reg:). */
struct ptx_code_register {
    struct ptx_place place;
    const struct ptx_values *values;
};

/* A single value is that of all lanes; otherwise by lane of the warp or, if there are more than a warp has
 * lanes, by thread of the block. Those that are not given are 0. */
static inline uint64_t ptx_code_register_value(const struct ptx_code_register *reg, uint32_t warp,
                                               uint32_t tid)
{
    const struct ptx_values *values = reg->values;
    uint32_t index = values->count == 1 ? 0 : values->count <= warp ? tid % warp : tid;
    return index < values->count ? values->values[index] : 0;
}

/* A compound statement of a compiled structured kernel: from the label $S<n> to the label $E<n> (lower_ptx.h).
 * CHK.neutral and CHK.reconv hold for it: whoever enters at `first` and has not left the statement
 * otherwise gets to `end`, with the stack as it was. */
struct ptx_span {
    uint32_t first, end; /* addresses; end: of the instruction behind it */
};

struct ptx_code {
    const struct ptx_kernel *kernel;
    const struct ptx_module *module; /* that was laid out: as given, or injected */
    uint32_t count;                  /* ops[1 .. count-1] */
    struct ptx_op *ops;
    uint32_t function_count;
    struct ptx_code_function *functions; /* 0: the entry */
    uint32_t *table;
    struct ptx_copy *copies;
    uint32_t stride; /* elements of a constant row: the warp, made even */
    uint32_t *constant_rows;
    uint32_t constant_words;
    uint32_t special_count;
    struct {
        enum ptx_special special;
        char element;
    } * specials;
    struct ptx_regions global, shared, local, constant;
    bool is_far;               /* generic addresses have 64 bits: no near windows */
    const uint32_t *constants; /* bytes of .const variables and entry parameters */
    uint32_t frame_local_base; /* local memory: byte where the entry's frame starts */
    struct ptx_rows rows;      /* of the deepest stack of frames: recursion LIMIT_CALL_DEPTH */
    uint32_t frame_bytes;      /* the same */
    uint32_t depth;            /* most frames */
    uint32_t token_capacity;   /* most tokens of a warp; more is call_depth */
    uint32_t barriers;       /* bit set of the barrier numbers that may occur; all 16 if unknown */
    uint32_t barrier_count;  /* of these */
    bool has_named_barriers; /* other than bar.sync 0 of all threads */
    uint32_t span_count;
    struct ptx_span *spans; /* inner ones before those around them */
    uint32_t register_count;
    struct ptx_code_register *registers; /* that have initial values */
    bool has_async;                      /* cp.async: lanes keep what is under way */
    bool has_mbarrier, has_matrices;
    bool has_clusters; /* names shared memory of other blocks, or has the barrier of a cluster */
    bool has_cluster_barrier;
    uint32_t texture_count;
    struct ptx_code_texture *textures;
    uint32_t
        underway; /* capacity of a block's list of what mbarriers wait for (ptx_exec.h); 0: there is none */
    uint32_t underway_word; /* where it lies in the block's shared memory, behind the variables */
    bool explicit_flow;     /* holds branch-unit instructions */
    int32_t *initial;       /* global and shared memory at the start (program.private_base words) */
    const char
        *uninitialised; /* "register %r5 may be read before it is written, line 12", or NULL */
};

struct ptx_code_options {
    const int32_t *initial; /* instead of the module's initialisers: private_base words, or NULL */
    const struct ptx_code *before; /* the kernel before injection: `uninitialised` is as there */
};

/* Lays a kernel of FORM_PTX out, with its own module or another version of it (ptx_inject). The result has
 * FORM_PTX, `ptx` set, a code_stm an address (stms[pc]; kind CODE_PTX, line), and its layout of
 * memory, so that schedulers, searches, detectors and reports work on it. NULL: *reason ("unsupported
 * instruction 'tex.2d.v4.f32.s32' at line 12"). */
struct program *ptx_compile(struct arena *arena, const struct ast_kernel *kernel,
                            const struct ptx_module *module, const struct ptx_code_options *options,
                            const char **reason);

/* What a variable of a module holds at first, `bytes` of it. NULL: *why; an address is not known here. */
const uint8_t *ptx_variable_image(struct arena *arena, const struct ptx_variable *var,
                                  uint64_t bytes, const char **why);

/* Fills in the spans, when the rest is done (ptx_compile does it). */
void ptx_find_spans(struct arena *arena, struct ptx_code *code);

/* "5: @!%p1 bra L2;" without the address: the instruction as text. */
/* "sum.cu:12": the line that .loc says the instruction comes from, in the arena; NULL: none does. */
const char *ptx_op_source(struct arena *arena, const struct ptx_code *code, uint32_t pc);
/* "line 40 (sum.cu:12)", "line 40". */
const char *ptx_op_line(struct arena *arena, const struct ptx_code *code, uint32_t pc);
/* ptx_op_source with the folders that .file has. */
const char *ptx_op_path(struct arena *arena, const struct ptx_code *code, uint32_t pc);

const char *ptx_op_text(struct arena *arena, const struct ptx_code *code, uint32_t pc);

#endif
