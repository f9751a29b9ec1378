/*
 * emit_internal.h - between emit.c (kernels, functions, memory), emit_stm.c, emit_expr.c and emit_dialect.c.
 */
#ifndef ENGINE_EMIT_INTERNAL_H
#define ENGINE_EMIT_INTERNAL_H

#include "engine/emit/emit.h"

/* What an expression of the target language is of, and how variables are declared. */
enum emit_type { TYPE_INT, TYPE_UINT, TYPE_LONG, TYPE_ULONG, TYPE_BOOL, TYPE_COUNT };

/* A function that texts call, without what stands before its result type. */
struct emit_helper {
    const char *name, *text;
};

enum { EMIT_HELPERS = 12 }; /* at most */

/* How a language spells what the emitter says. */
struct emit_dialect {
    const char *name;
    const char *prelude;
    const char *casts[TYPE_COUNT]; /* what stands before a parenthesis: "(int)" */
    const char *types[TYPE_COUNT];
    const char *function_head;   /* before a function's result type */
    const char *noinline_head;   /* the same where it is not to be inlined */
    const char *inline_head;     /* ... where it is to be */
    const char *kernel_head;     /* before the kernel's name */
    const char *fixed_size;      /* the same with the number of threads for %u */
    const char *global;          /* before the type of what a pointer to global memory points to */
    const char *shared;          /* the same of shared memory */
    const char *shared_variable; /* before the type of a shared variable */
    const char *table;           /* before the type of a constant array at file level */
    const char *thread, *block, *threads, *blocks;
    const char *thread_uint, *block_uint; /* the same as unsigned numbers */
    const char *barrier, *fence;
    const char *atomics[ATOMIC_COUNT]; /* by spaces: that of any pointer */
    /* A truth value again, @, by a subgroup operation; NULL ends them. Whatever lanes take part: a lane's own value is
     * among theirs. */
    const char *const *votes;
    const char *shuffle; /* a value again, from the lane itself */
    const struct emit_helper
        *helpers; /* EMIT_HELPERS, fewer if a name is NULL; NULL: texts call none */
    bool has_recursion;
    bool has_long; /* integers of 64 bits everywhere; otherwise where the knob `wide` says so */
    bool has_signed_remainder; /* that of negative numbers is C's */
    /* Pointers and goto. Without them variables are reached by names of the file, memory as `mem[..]`, and a kernel's
     * body that something follows is a function of its own. */
    bool has_pointers;
    /* WGSL: names stand before types, no switch falls through, and the language chooses between two values that are
     * both there. */
    bool is_wgsl;
};

extern const struct emit_dialect emit_dialects[EMIT_LANGUAGE_COUNT];

/* Where a variable of the file is, and who sees it; by ast_var.mark. */
struct emit_place {
    const struct ast_var *var;
    uint32_t offset; /* in the buffer; of a private variable with drawn values */
    bool carried;    /* a function uses it */
    bool written;
    bool is_table;  /* a constant of the text */
    bool is_atomic; /* some atomic takes it */
};

/* The last words of the buffer. */
enum emit_zero { ZERO_OF_CONDITIONS, ZERO_OF_SWITCHES, EMIT_ZEROS };

struct emitter {
    struct text *out;
    struct arena *arena;
    struct ast_kernel *kernel;
    const struct emit_dialect *dialect;
    uint32_t knobs, number;
    const char *reason; /* why not; the first thing that cannot be expressed */

    struct emit_place *places;
    uint32_t place_count;
    uint32_t global_words, shared_words, drawn_words; /* of one copy; of a thread */
    bool has_members;       /* functions reach private variables through a struct, `p` */
    bool exits;             /* some function ends its thread */
    bool talks;             /* threads see what others wrote: there is a barrier or fence */
    bool atomic_memory;     /* WGSL: all words of the buffer are read and written by atomics */
    const int32_t *initial; /* the buffer at first */

    const struct ast_function *function; /* at hand */
    bool is_body;                        /* the kernel's own statements */
    uint32_t indent;
    uint32_t votes;   /* so many were written */
    uint32_t others;  /* ... operations that floats or small integers might compute */
    uint32_t choices; /* WGSL: ... between values of which one only is evaluated */
};

static inline bool emit_has(const struct emitter *e, enum emit_knob knob)
{
    return (e->knobs >> knob & 1u) != 0;
}

__attribute__((format(printf, 2, 3))) void emit_refuse(struct emitter *e, const char *format, ...);

/* A new line, indented. */
void emit_line(struct emitter *e);

/* ---- emit_places.c ---- */

struct emit_place *emit_place_of(const struct emitter *e, const struct ast_var *var);
bool emit_is_file_level(const struct ast_var *var);
bool emit_has_drawn_values(const struct ast_var *var);
bool emit_is_struct_member(const struct emitter *e, const struct emit_place *place);
/* Shared variables in shared memory, unless the knob moves them. */
bool emit_lies_in_shared(const struct emitter *e, const struct ast_var *var);
bool emit_has_shared(const struct emitter *e);

/* These three in turn, before anything is written. */
void emit_number_variables(struct emitter *e);
void emit_find_usage(struct emitter *e);
void emit_place_variables(struct emitter *e);
void emit_refuse_recursion(struct emitter *e);

/* Words of the buffer: of results; the first of those that are 0; all of them at first. */
uint32_t emit_result_words(const struct emitter *e);
uint32_t emit_zero_word(const struct emitter *e);
const int32_t *emit_initial_words(struct emitter *e);

/* Whether its words are of those that atomics take: elsewhere than in WGSL words are words. */
bool emit_is_atomic(const struct emitter *e, const struct ast_var *var);

/* ---- emit_declare.c ---- */

/* `x`, `p->x`, `s_a`: not of what is reached as `mem[..]`. */
void emit_var(struct emitter *e, const struct ast_var *var);
const char *emit_memory(const struct emitter *e); /* `mem` */
/* Whether the thread has ended. */
const char *emit_ended(const struct emitter *e);
void emit_number(struct emitter *e, int32_t value);
/* Declarations, without what ends them: of a variable, a parameter, a pointer that functions get (or its name
 * alone). */
void emit_local(struct emitter *e, const struct ast_var *var);
void emit_parameter(struct emitter *e, const struct ast_var *var);
void emit_pointer(struct emitter *e, const struct emit_place *place, bool declared);
/* A private variable that functions reach by its name. */
bool emit_is_of_file(const struct emitter *e, const struct emit_place *place);
void emit_struct(struct emitter *e);
void emit_tables(struct emitter *e);
void emit_memory_pointers(struct emitter *e);
/* What stands before the kernel's name, or its layout. */
void emit_kernel_head(struct emitter *e);
/* Where functions have no pointers: layout, memory and what they share are of the file. */
void emit_file_head(struct emitter *e);

/* ---- names (emit.c) ---- */

/* What a variable is declared as. */
enum emit_type emit_type_of(const struct emitter *e, const struct ast_var *var);
/* What every function is given before its arguments, as the call has it. True: it was something. */
bool emit_context(struct emitter *e, bool declared);
/* A word that is 0. */
void emit_zero(struct emitter *e, enum emit_zero which);
/* What a place holds. */
const char *emit_loaded(const struct emitter *e, bool is_atomic, const char *place);
/* Where the variable begins in `mem`, if the language has no pointer to it: "12 + int(..) * 3"; NULL otherwise. */
const char *emit_base(struct emitter *e, const struct ast_var *var);

/* ---- emit_expr.c ---- */

void emit_expr(struct emitter *e, const struct ast_expr *expr, enum emit_type want);
/* name[index] */
void emit_lvalue(struct emitter *e, const struct ast_lvalue *lvalue);
/* A value that is assigned, and a truth value, through the opaque word or a vote if knobs say so. */
void emit_value(struct emitter *e, const struct ast_expr *expr, enum emit_type type);
void emit_condition(struct emitter *e, const struct ast_expr *expr);

/* ---- emit_goto.c ---- */

/* A block with a barrier: threads come to it in different trips of the loop that stands for gotos, and no language
 * promises that they wait for each other there. NULL: there is none. */
const struct ast_block *emit_block_with_barrier(const struct ast_kernel *kernel);
/* The kernel becomes one of basic blocks, if the knob says so and it can. */
void emit_find_blocks(struct emitter *e);
void emit_block_list(struct emitter *e, const struct ast_block *list);

/* ---- emit_ptx.c ---- */

/* emit_kernel of EMIT_PTX. */
bool emit_ptx_kernel(struct text *text, struct ast_kernel *kernel, uint32_t knobs, uint32_t number,
                     struct emitted *emitted, const char **reason);

/* ---- emit_blocks.c ---- */

/* emit_kernel of EMIT_BLOCKS: there are no knobs. */
bool emit_blocks_kernel(struct text *text, struct ast_kernel *kernel, uint32_t number,
                        struct emitted *emitted, const char **reason);

/* ---- emit_stm.c ---- */

void emit_statements(struct emitter *e, const struct ast_stm *list);
/* Out of the statements of the function at hand, whose thread has ended, or which returns. */
void emit_leave(struct emitter *e);

#endif
