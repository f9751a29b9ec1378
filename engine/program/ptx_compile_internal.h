/*
 * ptx_compile_internal.h - what the files of the PTX layout share: ptx_compile.c (passes, flow, program),
 * ptx_compile_memory.c (regions, initial values), ptx_compile_frame.c (parameters, registers, frames),
 * ptx_compile_operand.c (places), ptx_compile_op.c, ptx_compile_call.c (instructions),
 * ptx_compile_live.c (registers that are read before they are written).
 */
#ifndef ENGINE_PTX_COMPILE_INTERNAL_H
#define ENGINE_PTX_COMPILE_INTERNAL_H

#include "engine/program/ptx_code.h"
#include "engine/ptx/ptx_reach.h"

enum {
    PTX_LIMIT_CODE = 1 << 17,           /* instructions */
    PTX_LIMIT_FUNCTIONS = 1024,         /* reached by an entry */
    PTX_LIMIT_CONSTANT_WORDS = 1 << 24, /* of broadcast rows; of .const variables */
    PTX_LIMIT_REGISTER_WORDS = 1 << 24, /* of all threads */
    PTX_LIMIT_ALIGN = 1 << 16
};

struct ptx_constant {
    uint64_t value;
    uint32_t offset;
    bool is_wide;
    struct ptx_constant *next;
};

/* A register of a function, in the order of their rows. */
struct ptx_register_name {
    struct ptx_place place;
    const char *name;
    char element;
    struct ptx_register_name *next;
};

/* Where a variable with an address is. */
enum ptx_home { PTX_HOME_GLOBAL, PTX_HOME_SHARED, PTX_HOME_CONST, PTX_HOME_LOCAL, PTX_HOME_FRAME };

struct ptx_layout { /* of one function, while it is laid out */
    struct ptx_code_function *f;
    struct ptx_register_name *registers, **last_register;
    struct ptx_place carry; /* kind NONE: not used so far */
    struct ptx_place taken; /* of the stack; the same */
    uint32_t stack;         /* byte of the frame */
    uint64_t frame_bytes;
    uint32_t local_count, local_capacity;
};

struct ptx_builder {
    struct arena *arena;
    const struct ast_kernel *kernel;
    const struct ptx_kernel *ptx;
    const struct ptx_module *module;
    const struct ptx_function *entry; /* of the module that is laid out */
    struct ptx_code *code;
    struct program *program;
    const char *reason;              /* the first one */
    struct ptx_reach given;          /* of the module that was given */
    struct ptx_reach reach;          /* of the one compiled: its functions; all variables of both */
    struct ptx_map function_numbers; /* functions with bodies */
    struct ptx_map labels;           /* statements to addresses */
    struct ptx_map homes;            /* variables in memory to 1 + index into home_list */
    struct ptx_map registers;        /* (variable, index and element) to 1 + row */
    struct ptx_map constants;        /* (width, value) to offsets */
    struct ptx_map specials;
    struct ptx_map signatures;
    struct {
        enum ptx_home home;
        uint64_t address; /* in its space; of a frame, from its start */
    } * home_list;
    uint32_t home_count, home_capacity;
    struct ptx_constant *constant_list;
    struct ptx_layout *layouts; /* a function each */
    struct ptx_layout *layout;  /* of the function at hand */
    uint32_t frame_align;       /* what the strictest of the variables in frames wants, so far */
    uint32_t function;          /* its number */
    uint32_t pc;                /* of the instruction at hand */
    uint32_t line;
    uint32_t table_count, copy_count;
    uint64_t *calls; /* function_count rows of call_words words: bit g of row f: f calls g */
    uint32_t call_words;
    uint32_t block[3], grid[3];
    const struct ptx_region **buffers; /* that parameters point to; NULL: a value */
};

static inline bool ptx_build_failed(const struct ptx_builder *b)
{
    return b->reason != NULL;
}

/* Sets the reason unless there is one; " at line N" is added where the line is known. */
void ptx_build_fail(struct ptx_builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool ptx_is_entry(const struct ptx_builder *b)
{
    return b->function == 0;
}

/* ---- ptx_compile_memory.c ---- */

/* Regions of all variables of the module and of the buffers; the program's layout of memory up to
 * private_base. */
void ptx_build_memory(struct ptx_builder *b);

/* Initial values, once functions have addresses. */
void ptx_build_initial(struct ptx_builder *b, const struct ptx_code_options *options);

void ptx_build_home(struct ptx_builder *b, const struct ptx_variable *var, enum ptx_home home,
                    uint64_t address);
/* NULL: none yet. */
const uint32_t *ptx_build_find_home(const struct ptx_builder *b, const struct ptx_variable *var);

/* Bytes that addresses of the variable are a multiple of; at least 4. */
uint32_t ptx_build_align(struct ptx_builder *b, const struct ptx_variable *var);

/* ---- ptx_compile_frame.c ---- */

/* Where a result or parameter lies in the callee's frame: by its place in the list alone, so that
 * functions with equal signatures agree. */
struct ptx_formals {
    struct ptx_rows rows;
    uint64_t bytes;
};
void ptx_build_formal(struct ptx_builder *b, struct ptx_formals *formals,
                      const struct ptx_variable *var, struct ptx_place *place, uint32_t *byte);

/* Results and parameters of the function that b->layout is of. */
void ptx_build_formals(struct ptx_builder *b, const struct ptx_function *f);

uint32_t ptx_build_signature(struct ptx_builder *b, const struct ptx_function *f);

/* The row of a register, given when it is first asked for; of 128 bits that of its low half, the next one is that of
 * the high half. */
struct ptx_place ptx_build_register(struct ptx_builder *b, const struct ptx_operand *o);
struct ptx_place ptx_build_carry(struct ptx_builder *b);

/* Where the function's stack begins, a variable of its frame, and the register of how many bytes are taken. */
void ptx_build_stack(struct ptx_builder *b, struct ptx_place *base, struct ptx_place *taken);

/* The byte in the frame of a .local or .param variable of a body, given when it is first asked for. */
uint32_t ptx_build_frame_byte(struct ptx_builder *b, const struct ptx_variable *var);

/* What frames take together, calls known; fills in rows, frame_bytes, depth, token_capacity. */
void ptx_build_depth(struct ptx_builder *b);

/* reg: */
void ptx_build_registers(struct ptx_builder *b);

/* ---- ptx_compile_operand.c ---- */

/* A special register; the element is 0 where it has no components. */
struct ptx_place ptx_build_special(struct ptx_builder *b, enum ptx_special special, char element,
                                   uint32_t bits);

struct ptx_place ptx_build_constant(struct ptx_builder *b, uint64_t value, bool is_wide);
void ptx_build_constant_rows(struct ptx_builder *b);

/* A source or result of this type, in elements of `bits` (32, 64; 0: of the type, or of the register). */
struct ptx_place ptx_build_place(struct ptx_builder *b, const struct ptx_operand *o,
                                 struct ptx_type type, uint32_t bits);

/* The address of an instruction; 0 and failed: it has none. */
uint32_t ptx_build_label(struct ptx_builder *b, const struct ptx_statement *label);

/* %clock and its like: read by mov only. */
bool ptx_is_clock(enum ptx_special special);

/* [address]: sources[0], offset, space. */
void ptx_build_address(struct ptx_builder *b, struct ptx_op *op,
                       const struct ptx_instruction *instruction, const struct ptx_operand *o);

/* The address of a function's code; 0 and failed: it has none. */
uint32_t ptx_build_entry(struct ptx_builder *b, const struct ptx_function *f);

/* ---- ptx_compile_op.c, ptx_compile_call.c ---- */

void ptx_build_op(struct ptx_builder *b, const struct ptx_statement *stm, struct ptx_op *op);
void ptx_build_call(struct ptx_builder *b, const struct ptx_instruction *instruction,
                    struct ptx_op *op);

/* ---- ptx_compile_matrix.c ---- */

void ptx_build_matrix(struct ptx_builder *b, const struct ptx_instruction *instruction,
                      struct ptx_op *op);

/* ---- ptx_compile_texture.c ---- */

/* What handles there are. */
void ptx_build_textures(struct ptx_builder *b);
void ptx_build_texture(struct ptx_builder *b, const struct ptx_instruction *instruction,
                       struct ptx_op *op);

/* ---- ptx_compile_live.c ---- */

/* Sets code.uninitialised. */
void ptx_build_live(struct ptx_builder *b);

#endif
