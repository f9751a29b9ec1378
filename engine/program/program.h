/*
 * program.h - a core kernel laid out for execution: statements in arrays, expressions as code for a
 * small stack machine, variables at offsets.
 *
 * A statement list is a run of consecutive statements whose last one has `last` set. A "slice" of a
 * list - what semantics keep on their stacks - is therefore one number: the index of its first
 * statement. There are no empty lists (SIMT.syn.list).
 *
 * A program in block form (FORM_BLOCKS, FORM_LOCKSTEP) has a list a block: its simple statements and,
 * last, its CODE_GOTO or CODE_END_CALL.
 */
#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#include "engine/language/ast.h"

enum code_kind {
    CODE_SKIP,
    CODE_ASSIGN, /* place = value */
    CODE_IF,     /* value; then-list first, else-list second */
    CODE_WHILE,  /* value; body first */
    CODE_BREAK,
    CODE_CALL, /* function number `first` */
    CODE_RETURN,
    CODE_EXIT,
    CODE_ASSERT, /* value */
    CODE_ASSUME, /* value */
    CODE_HAVOC,  /* place = a choice of the thread (choice.h) */
    CODE_ATOMIC, /* target = place; place = place op value (, second) */
    CODE_VOTE,   /* target = vote over the active lanes of value != 0 */
    CODE_BARRIER,
    /* block form */
    CODE_GOTO,     /* to one of `block`'s targets */
    CODE_END_CALL, /* return of a procedure; its CODE_CALL has ins and outs */
    CODE_PICK,     /* target = one of picks [first, first + second) whose guard holds */
    CODE_LOCKSYNC, /* lock-step form: value must hold (LOCK.sync) */
    CODE_PTX       /* FORM_PTX: the instruction ptx->ops[number] */
};

/* Bits 1u << kind: what every structured semantics has rules for. */
enum {
    CODE_KINDS_CORE = 1 << CODE_SKIP | 1 << CODE_ASSIGN | 1 << CODE_IF | 1 << CODE_WHILE |
                      1 << CODE_BREAK | 1 << CODE_CALL | 1 << CODE_RETURN | 1 << CODE_EXIT |
                      1 << CODE_ASSERT
};

#define CODE_NONE UINT32_MAX
#define BLOCK_END UINT32_MAX /* the target End of a goto: no block */

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
    uint32_t block;    /* block form: that it belongs to; CODE_NONE otherwise */
    uint32_t guard;    /* block form: expression, acts only where it holds; CODE_NONE = always */
    uint32_t argument; /* CODE_ATOMIC: expression, the second argument of cas */
    uint32_t origin;   /* ast_stm.origin */
    uint32_t barrier;  /* CODE_BARRIER: its number among the program's barriers, from 0 */
    /* Structured form, CODE_WHILE and CODE_CALL: a barrier lies within, or a call that may reach one;
     * so the loop's trips, or the call's site, tell a barrier's executions apart (CFG.bv). */
    bool counts;
    enum ast_atomic atomic;  /* CODE_ATOMIC */
    enum ast_vote vote;      /* CODE_VOTE */
    struct code_place place; /* that it writes */
    struct code_place
        target; /* CODE_ATOMIC (length 0: none), CODE_VOTE: a private or local scalar */
    /* Variables in global and shared memory that it may read (value and index), and write: bit
     * min(number, 63). What schedulers and the partial-order search take for its footprint. */
    uint64_t reads, writes;
    const struct ast_stm *source; /* the core statement, for traces; NULL: a goto or return */
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
    /* Lock-step form: push the conjunction (space 0) or disjunction (space 1) over all threads of
     * the expression that starts at op a, 0 or 1. */
    OP_REDUCE,
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

struct code_pick {
    int32_t value;
    uint32_t guard; /* expression */
};

/* A parameter that a call of a procedure hands over. */
struct code_argument {
    uint32_t value;           /* an in-parameter: expression in the caller */
    struct code_place target; /* an out-parameter: private scalar of the caller */
    uint32_t offset;          /* of the parameter in the callee's frame */
};

/* A basic block. */
struct code_block {
    const char *name;
    uint32_t function;
    uint32_t line;
    uint32_t first;                      /* its list */
    uint32_t target_first, target_count; /* program.targets[..]; no target: returns */
    uint32_t guard;                      /* expression of the leading assume; CODE_NONE = true */
    uint32_t origin;                     /* ast_block.origin */
    bool added;                          /* ast_block.added */
    /* The loops of the function that count in barrier variables (CFG.bv.loop): those that hold a
     * barrier, or a call that may reach one; other counters are 0 at every barrier. Bit i = counter
     * i: the block belongs to the loop; the block is its head. */
    uint64_t loops, heads;
};

struct code_function {
    const char *name;
    uint32_t body;               /* list; block form: CODE_NONE */
    uint32_t entry;              /* block form: number of its first block */
    uint32_t counters;           /* block form: loops that count */
    uint32_t in_first, in_count; /* block form: program.parameters[..]: offsets in the frame */
    uint32_t out_first, out_count;
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
    enum ast_form form;
    const struct ptx_code *ptx; /* FORM_PTX; otherwise NULL */
    /* Locations in a word of memory, 1 or, where a PTX program has accesses of 1 or 2 bytes, 4 or 2: addresses
     * of observed accesses, and what program_locate takes, count locations. */
    uint32_t units;
    bool appendix_loops;
    struct ast_launch launch;
    uint32_t stm_count;
    struct code_stm *stms;
    struct code_expr_op *ops;
    uint32_t op_count;
    uint32_t expr_depth; /* most values that an expression holds on the stack; within the limit */
    uint32_t block_count;
    struct code_block *blocks; /* of all functions, the kernel's first, in their order */
    uint32_t *targets;         /* numbers of blocks, BLOCK_END */
    struct code_pick *picks;
    struct code_argument *arguments; /* of a CODE_CALL of a procedure: ins, then outs, from
                                        stms[call].second on */
    uint32_t *parameters;            /* offsets in frames */
    uint32_t barrier_count;
    bool has_atomics, has_votes, has_choices; /* havoc, pick, goto with several targets */
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

struct program_options {
    /* Block form: loops as App. A defines them, read literally, count in barrier variables instead
     * of natural loops (erratum B-2; cfg_appendix_loop). */
    bool appendix_loops;
};

/* Lays a core kernel, or one in block or lock-step form, or PTX as it is given, out. NULL when a statement has no code
 * (yet), or a limit is exceeded: then *reason says which and where ("unsupported statement 'sync' at line 3"). Whether
 * a semantics has rules for all of its statements: machine_refuses. Writes the marks of the core's variables,
 * functions, statements and blocks, so no two threads may compile the same tree. */
struct program *program_compile(struct arena *arena, const struct ast_kernel *core,
                                const char **reason);
struct program *program_compile_with(struct arena *arena, const struct ast_kernel *core,
                                     const struct program_options *options, const char **reason);

/* Whether nobody can tell in which order atomics are done: none gives its old value away, and those on
 * one variable (in PTX: all) are the same of add, min, max, and, or, xor, of integers. Then an execution without a race
 * has one result, atomics or not. */
bool program_atomics_commute(const struct program *program);

/* Whether the guard of a CODE_PICK reads an array, or a variable that others may write. Such a read is no access. */
bool program_pick_reads_memory(const struct program *program, const struct code_stm *pick);

/* Whether a pick, or a goto with several targets, chooses by global or shared memory that some statement writes.
 * Choosing accesses nothing (CFG.access): what another thread has written there shows in no race, and decides all the
 * same. */
bool program_chooses_by_memory(const struct program *program);

/* Initial memory (program.memory_words words): initialisers; `input` variables get values drawn
 * from the launch's seed, the same in every semantics. Frame stacks: the kernel's own frame is
 * initialised, the rest is 0. */
void program_init_memory(const struct program *program, int32_t *memory);

/* The variable at an address of global or shared memory (address < program.private_base * units), and the
 * element and block within: for witnesses and printing. An element of a PTX variable is a word. */
struct program_location {
    const struct ast_var *var;
    uint32_t element;
    uint32_t byte;  /* within the element: program.units > 1 */
    uint32_t block; /* 0 for global memory */
};
struct program_location program_locate(const struct program *program, uint32_t address);

/* "sum[1]", "sum[1] of block 2", "x", "flags[0] byte 3": in the arena. */
const char *program_location_name(struct arena *arena, const struct program *program,
                                  uint32_t address);

/* Builtin value of a thread (number in the grid: block * launch.threads + tid). */
int32_t program_builtin(const struct program *program, uint32_t thread, enum ast_builtin builtin);

#endif
