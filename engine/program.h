/*
 * program.h - a core kernel laid out for execution: statements in arrays, expressions as code for a
 * small stack machine, variables at offsets.
 *
 * A statement list is a run of consecutive statements whose last one has `last` set. A "slice" of a
 * list - what semantics keep on their stacks - is therefore one number: the index of its first
 * statement. There are no empty lists (SIMT.syn.list).
 */
#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#include "engine/ast.h"

enum code_kind {
    CODE_SKIP,
    CODE_ASSIGN, /* place = value */
    CODE_IF,     /* value; then-list first, else-list second */
    CODE_WHILE,  /* value; body first */
    CODE_BREAK,
    CODE_CALL, /* function number `first` */
    CODE_RETURN,
    CODE_EXIT,
    CODE_ASSERT /* value */
};

#define CODE_NONE UINT32_MAX

struct code_place {
    enum ast_space space;
    uint32_t offset; /* words from the base of its space (SPACE_LOCAL: from the frame's start) */
    uint32_t length; /* elements */
    uint32_t index;  /* expression, CODE_NONE for a scalar */
    uint32_t var;    /* number of the variable */
};

struct code_stm {
    enum code_kind kind;
    bool last;         /* of its list */
    uint32_t line;     /* in the source, 0 = generated */
    uint32_t value;    /* expression: start in program.ops */
    uint32_t first;    /* list or function */
    uint32_t second;   /* list */
    uint32_t function; /* that it belongs to */
    struct code_place place;
    /* Variables in global and shared memory that it may read (value and index), and write: bit
     * min(number, 63). What schedulers and the partial-order search take for its footprint. */
    uint64_t reads, writes;
    const struct ast_stm *source; /* the core statement, for traces */
};

enum code_op {
    OP_END,     /* result on top of the stack */
    OP_INT,     /* push a */
    OP_BUILTIN, /* push builtin a */
    OP_GLOBAL,
    OP_SHARED,
    OP_PRIVATE,
    OP_LOCAL, /* push the scalar at offset a; in ast_space's order */
    OP_INDEX, /* pop i; push element i of the array at `space`, offset a, length b; fault if i is outside */
    OP_UNARY,     /* a = enum ast_unary */
    OP_BOOL,      /* v != 0 */
    OP_JUMP,      /* to a */
    OP_JUMP_ZERO, /* pop v; to a if v == 0 */
    OP_AND_JUMP,  /* if top == 0: replace it by 0, jump to a; else pop */
    OP_OR_JUMP,   /* if top != 0: replace it by 1, jump to a; else pop */
    /* Two ranges, each in the order of enum ast_binary (the logical ones never occur): pop the right
     * operand, or take it from a; replace the left one on top by the result. */
    OP_BINARY,
    OP_BINARY_INT = OP_BINARY + BINARY_COUNT
};

struct code_expr_op {
    uint8_t op;
    uint8_t space;
    uint16_t var;
    int32_t a;
    uint32_t b;
};

/* The most values that an expression may hold on the stack: the deepest nesting that the parser lets
 * through, one value a level, and what lowering adds. */
enum { PROGRAM_EXPR_DEPTH = LIMIT_DEPTH + 8 };

struct code_function {
    const char *name;
    uint32_t body;        /* list */
    uint32_t frame_words; /* of parameters and locals */
    uint32_t init_first;  /* initial values of the frame: program.frame_init[init_first ..] */
    uint32_t stack_depth; /* most stack entries that one activation holds, its context included */
};

struct code_var {
    const struct ast_var *ast;
    uint32_t offset; /* from the base of its space */
};

struct program {
    const struct ast_kernel *core;
    struct ast_launch launch;
    uint32_t stm_count;
    struct code_stm *stms;
    struct code_expr_op *ops;
    uint32_t op_count;
    uint32_t expr_depth; /* most values that an expression holds on the stack; within the limit */
    uint32_t function_count;
    struct code_function *functions; /* number 0 is the kernel */
    int32_t *frame_init;
    uint32_t var_count; /* file level, in order of declaration; numbers in footprints and places */
    struct code_var *vars;
    uint32_t
        words[SPACE_COUNT]; /* of one copy of each space; SPACE_LOCAL: of a thread's frame stack */
    uint32_t
        stack_depth; /* most entries on one thread's or warp's stack, within LIMIT_CALL_DEPTH */
    uint32_t total_threads; /* launch.threads * launch.blocks */
    uint32_t warps_per_block;
    uint32_t warp_count;
    bool recursive;

    /* Where the copies lie in memory (in words): all global first, then shared of block 0, 1, ...,
     * then private of thread 0, 1, ..., then frame stacks of thread 0, 1, ... */
    uint32_t shared_base, private_base, frame_base, memory_words;
};

/* Lays a core kernel out. NULL when a statement has no meaning in the structured semantics (yet), or
 * a limit is exceeded: then *reason says which and where ("unsupported statement 'barrier' at line
 * 3"). Writes the marks of the core's variables and functions, so no two threads may compile the
 * same tree. */
struct program *program_compile(struct arena *arena, const struct ast_kernel *core,
                                const char **reason);

/* Initial memory (program.memory_words words): initialisers; `input` variables get values drawn
 * from the launch's seed, the same in every semantics. Frame stacks: the kernel's own frame is
 * initialised, the rest is 0. */
void program_init_memory(const struct program *program, int32_t *memory);

/* The variable at an address of global or shared memory (address < program.private_base), and the
 * element and block within: for witnesses and printing. */
struct program_location {
    const struct ast_var *var;
    uint32_t element;
    uint32_t block; /* 0 for global memory */
};
struct program_location program_locate(const struct program *program, uint32_t address);

/* "sum[1]", "sum[1] of block 2", "x": in the arena. */
const char *program_location_name(struct arena *arena, const struct program *program,
                                  uint32_t address);

/* Builtin value of a thread (number in the grid: block * launch.threads + tid). */
int32_t program_builtin(const struct program *program, uint32_t thread, enum ast_builtin builtin);

#endif
