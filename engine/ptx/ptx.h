/*
 * ptx.h - PTX modules: the tree of their text. What the instructions do is not said here.
 *
 * The tree is what the text says, in canonical form: modifiers in the slots of the instruction's form
 * (ptx_ops.def), constant expressions folded, one declaration a variable, debug sections and comments
 * dropped. Names stand in the tree as text; ptx_check resolves them (struct ptx_operand, `target`).
 * Source: PTX ISA 9.0, chapters 4 (syntax), 5 (spaces, types), 7 (ABI), 9.7 (instructions), 11
 * (directives); the explicit branch-unit instructions (ssy, preBrk, preRet, sync, break) are those of
 * "The Model of Computation of CUDA and its Formal Semantics", section 5.1.1.
 */
#ifndef ENGINE_PTX_H
#define ENGINE_PTX_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/ptx/ptx_ops.h"

#include <stdbool.h>

enum {
    PTX_LIMIT_SOURCE_BYTES = 16 << 20,
    PTX_LIMIT_NODES = 1 << 21,     /* statements, operands, declarations, initialisers together */
    PTX_LIMIT_DEPTH = 64,          /* nesting of blocks, of expressions, of braces */
    PTX_LIMIT_NAME = 4096,         /* bytes: mangled C++ names are long */
    PTX_LIMIT_REGISTERS = 1 << 24, /* of one %r<N> */
    PTX_LIMIT_DIMENSIONS = 8
};

#define PTX_LIMIT_ELEMENTS ((uint64_t)1 << 32) /* of one array */

/* No text takes more of an arena than this (parsing and checking together). */
#define PTX_ARENA_BYTES ((size_t)512 << 20)

/* ---- variables ---- */

enum ptx_init_kind {
    PTX_INIT_INTEGER,
    PTX_INIT_FLOAT32, /* value: the bits */
    PTX_INIT_FLOAT64,
    PTX_INIT_ADDRESS, /* name + value; of a function or a variable */
    PTX_INIT_LIST
};

struct ptx_init {
    enum ptx_init_kind kind;
    struct location at;
    uint64_t value;
    const char *name;
    bool generic;           /* generic(name): the generic address */
    uint64_t mask;          /* 0xFF00(name): these bytes of the address, moved down; 0: all */
    struct ptx_init *items; /* list */
    struct ptx_init *next;
};

enum ptx_linkage {
    PTX_LINK_LOCAL,
    PTX_LINK_VISIBLE,
    PTX_LINK_WEAK,
    PTX_LINK_EXTERN,
    PTX_LINK_COMMON
};

/* A register, a parameter, or a variable in memory. */
struct ptx_variable {
    const char *name;
    struct location at;
    enum ptx_linkage linkage;
    enum ptx_word space; /* reg, param, shared, global, const, local */
    enum ptx_word type;
    enum ptx_word vector; /* v2, v4, or none */
    uint32_t align;       /* bytes; 0: not given */
    bool is_range;        /* name<count>: registers name0 .. name(count-1) */
    uint32_t count;
    uint32_t dimension_count;
    uint64_t dimensions[PTX_LIMIT_DIMENSIONS]; /* elements; 0: not given (`[]`) */
    struct ptx_init *init;
    bool is_managed; /* .attribute(.managed): host and device use it together */
    bool is_pointer; /* .ptr: what a parameter points to */
    enum ptx_word pointer_space;
    uint32_t pointer_align;
    const struct ptx_variable *original; /* whose copy it is, maybe under another name; or NULL */
    struct ptx_variable *next;
};

/* %reserved_smem_offset_0 and _1 (PTX ISA 10.36) are where two pieces of shared memory begin that system software has
 * reserved: each is a variable, which no item declares. */
enum { PTX_RESERVED = 2 };
extern const struct ptx_variable ptx_reserved[PTX_RESERVED];

/* ---- instructions ---- */

enum ptx_operand_kind {
    PTX_OPERAND_NAME, /* name [.element] [+ value]: register, special register, variable, label, .. */
    PTX_OPERAND_INTEGER, /* value */
    PTX_OPERAND_FLOAT32, /* value: the bits */
    PTX_OPERAND_FLOAT64,
    PTX_OPERAND_ADDRESS, /* [name + value] or [value] */
    PTX_OPERAND_VECTOR,  /* {items} */
    PTX_OPERAND_LIST,    /* (items): of a call */
    PTX_OPERAND_PAIR,    /* items: d|p */
    PTX_OPERAND_SINK     /* _ */
};

enum ptx_target_kind {
    PTX_TARGET_NONE,     /* not resolved */
    PTX_TARGET_VARIABLE, /* registers too; index: of a range */
    PTX_TARGET_SPECIAL,
    PTX_TARGET_FUNCTION,
    PTX_TARGET_STATEMENT /* a label, or a labelled list of targets or prototype */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    struct location at;
    bool negated; /* !p */
    char element; /* 'x' 'y' 'z' 'w'; 0: none */
    const char *name;
    uint64_t value;
    struct ptx_operand *items;
    struct ptx_operand *next;
    /* Filled in by ptx_check. */
    enum ptx_target_kind target_kind;
    uint32_t index;
    union {
        const struct ptx_variable *variable;
        const struct ptx_function *function;
        const struct ptx_statement *statement;
        enum ptx_special special;
    } target;
};

struct ptx_instruction {
    enum ptx_form form;            /* and so the opcode */
    uint8_t words[PTX_SLOT_COUNT]; /* enum ptx_word */
    struct ptx_operand *guard;     /* @p, @!p; or NULL */
    struct ptx_operand *operands;
};

enum ptx_statement_kind {
    PTX_INSTRUCTION,
    PTX_LABEL,
    PTX_VARIABLE,
    PTX_BLOCK,
    PTX_LOC, /* .loc file line column [, function_name label [+ n], inlined_at f l c] */
    PTX_PRAGMA,
    PTX_BRANCH_TARGETS, /* name: .branchtargets names; */
    PTX_CALL_TARGETS,   /* name: .calltargets names; */
    PTX_PROTOTYPE       /* name: .callprototype (returns) _ (parameters); */
};

struct ptx_loc {
    uint32_t file, line, column;
    bool is_inlined;
    const char *function; /* label of its name in .debug_str */
    uint64_t function_offset;
    uint32_t at_file, at_line, at_column;
};

struct ptx_statement {
    enum ptx_statement_kind kind;
    struct location at;
    const char *name; /* label, targets, prototype; pragma: its text */
    union {
        struct ptx_instruction instruction;
        struct ptx_variable *variable;
        struct ptx_statement *block; /* its first statement */
        struct ptx_loc loc;
        struct ptx_operand *targets; /* names */
        struct ptx_function *prototype;
    } u;
    struct ptx_statement *next;
};

/* ---- functions, modules ---- */

enum ptx_attribute_kind {
    PTX_MAXNTID,
    PTX_REQNTID,
    PTX_MINNCTAPERSM,
    PTX_MAXNCTAPERSM,
    PTX_MAXNREG,
    PTX_NORETURN,
    PTX_FUNCTION_PRAGMA,
    PTX_EXPLICITCLUSTER,
    PTX_REQNCTAPERCLUSTER,
    PTX_MAXCLUSTERRANK,
    PTX_ATTRIBUTE_COUNT
};

extern const struct ptx_attribute_row {
    const char *name;
    uint32_t most; /* numbers that follow */
} ptx_attributes[PTX_ATTRIBUTE_COUNT];

struct ptx_attribute {
    enum ptx_attribute_kind kind;
    struct location at;
    uint32_t count;
    uint32_t values[3];
    const char *text;
    struct ptx_attribute *next;
};

struct ptx_function {
    const char *name;
    struct location at;
    enum ptx_linkage linkage;
    bool is_entry;
    bool has_body;
    struct ptx_variable *returns, *parameters;
    struct ptx_attribute *attributes;
    struct ptx_statement *body;
    /* Of ptx_parse_some: what is wrong with its body, which is not kept then, the first PTX_REFUSED_MOST errors. NULL:
     * nothing. */
    const struct diag_entry *refused;
    uint32_t refused_count;
};

enum { PTX_REFUSED_MOST = 8 };

enum ptx_item_kind {
    PTX_ITEM_VARIABLE,
    PTX_ITEM_FUNCTION,
    PTX_ITEM_FILE,
    PTX_ITEM_PRAGMA,
    PTX_ITEM_ALIAS
};

struct ptx_item {
    enum ptx_item_kind kind;
    struct location at;
    const char *name; /* file, pragma: text; alias */
    union {
        struct ptx_variable *variable;
        struct ptx_function *function;
        uint32_t file; /* number; name is its path */
        const char *aliasee;
    } u;
    struct ptx_item *next;
};

struct ptx_name_list {
    const char *name;
    struct ptx_name_list *next;
};

struct ptx_module {
    uint32_t version_major, version_minor;
    struct ptx_name_list *targets; /* sm_80, debug, .. */
    uint32_t address_size;         /* bits: 32 or 64; 0: not given, and not checked */
    struct ptx_item *items;
};

/* ---- textures and surfaces, which no text of PTX describes ---- */

enum ptx_addressing { PTX_ADDRESS_CLAMP, PTX_ADDRESS_WRAP, PTX_ADDRESS_MIRROR, PTX_ADDRESS_BORDER };

/* A texture or surface: texels in global memory, and how coordinates are read. */
struct ptx_texture {
    enum ptx_word type;           /* of a channel: u8 s8 u16 s16 f16 u32 s32 f32 */
    uint32_t channels;            /* 1, 2, 4 */
    uint32_t dimensions, size[3]; /* texels; layers are the last size */
    uint32_t pitch;               /* bytes from row to row */
    enum ptx_addressing addressing[3];
    bool filters;    /* `linear`: between texels; otherwise the nearest one */
    bool normalized; /* coordinates from 0 to 1 */
    bool unit;       /* whole numbers are read as 0 to 1, or -1 to 1 */
    bool layered;
    bool is_memory; /* linear memory: by whole numbers, and 0 outside */
};

/* Parses and checks `length` bytes of `text`. Returns the module, in `arena`, or NULL with at least
 * one error in `diag` (which must have been initialised with this text). */
struct ptx_module *ptx_parse(struct arena *arena, const char *text, size_t length,
                             struct diag *diag);

/* The same, but what is wrong in a function's body is that function's matter (ptx_function.refused). */
struct ptx_module *ptx_parse_some(struct arena *arena, const char *text, size_t length,
                                  struct diag *diag);

/* Resolves all names and checks every instruction against its form: number, kinds and types of the
 * operands. False: errors in `diag`. ptx_parse has done so; for trees made otherwise. */
bool ptx_check(struct arena *arena, struct ptx_module *module, struct diag *diag);

/* Bytes of a variable or parameter; 0: not known (an array without a length). */
uint64_t ptx_variable_bytes(const struct ptx_variable *var);

/* Which operand of a call is which: [(returns),] target [, (arguments)] [, prototype or list of targets]. NULL: it has
 * none. False: they are not those of a call. */
struct ptx_call_operands {
    struct ptx_operand *returns, *target, *arguments, *signature;
};
bool ptx_call_divide(struct ptx_operand *operands, struct ptx_call_operands *call);

/* The register of this name, with or without its '%', among the declarations of a body; of a range also its index.
 * NULL: there is none. */
const struct ptx_variable *ptx_find_register(const struct ptx_statement *body, const char *name,
                                             uint32_t *index);

/* One instruction, in one line, with its semicolon. */
char *ptx_print_instruction(struct arena *arena, const struct ptx_instruction *instruction);

/* The canonical text: parses to an equal tree. */
char *ptx_print(struct arena *arena, const struct ptx_module *module);

#endif
