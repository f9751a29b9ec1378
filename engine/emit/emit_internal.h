/*
 * emit_internal.h - between emit.c (kernels, functions, memory), emit_stm.c, emit_expr.c and emit_dialect.c.
 */
#ifndef ENGINE_EMIT_INTERNAL_H
#define ENGINE_EMIT_INTERNAL_H

#include "engine/emit/emit.h"

/* What an expression of the target language is of, and how variables are declared. */
enum emit_type { TYPE_INT, TYPE_UINT, TYPE_LONG, TYPE_ULONG, TYPE_BOOL, TYPE_COUNT };

/* How a language spells what the emitter says. */
struct emit_dialect {
    const char *name;
    const char *prelude;
    const char *casts[TYPE_COUNT]; /* what stands before a parenthesis: "(int)" */
    const char *types[TYPE_COUNT];
    const char *function_head;   /* before a function's result type */
    const char *noinline_head;   /* the same where it is not to be inlined */
    const char *kernel_head;     /* before the kernel's name */
    const char *fixed_size;      /* the same with the number of threads for %u */
    const char *global;          /* before the type of what a pointer to global memory points to */
    const char *shared;          /* the same of shared memory */
    const char *shared_variable; /* before the type of a shared variable */
    const char *table;           /* before the type of a constant array at file level */
    const char *thread, *block, *threads, *blocks;
    const char *barrier, *fence;
    const char *atomics[ATOMIC_COUNT]; /* by spaces: that of any pointer */
    bool has_recursion;
};

/* Functions that texts call: all but what stands before the result type is the same in every language. */
struct emit_helper {
    const char *name, *text;
};

enum { EMIT_HELPERS = 4 };

extern const struct emit_helper emit_helpers[EMIT_HELPERS];

extern const struct emit_dialect emit_dialects[EMIT_LANGUAGE_COUNT];

/* Where a variable of the file is, and who sees it; by ast_var.mark. */
struct emit_place {
    const struct ast_var *var;
    uint32_t offset; /* in the buffer; of a private variable with drawn values */
    bool carried;    /* a function uses it */
    bool written;
    bool is_table; /* a constant of the text */
};

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
    bool has_members; /* functions reach private variables through a struct, `p` */
    bool exits;       /* some function ends its thread */
    bool opaque;      /* some text needs the word that is 0 */

    const struct ast_function *function; /* at hand */
    bool is_body;                        /* the kernel's own statements */
    uint32_t indent;
};

static inline bool emit_has(const struct emitter *e, enum emit_knob knob)
{
    return (e->knobs >> knob & 1u) != 0;
}

__attribute__((format(printf, 2, 3))) void emit_refuse(struct emitter *e, const char *format, ...);

/* A new line, indented. */
void emit_line(struct emitter *e);

/* ---- names (emit.c) ---- */

/* `x`, `p->x`, `s_a`. */
void emit_var(struct emitter *e, const struct ast_var *var);
/* What a variable is declared as. */
enum emit_type emit_type_of(const struct emitter *e, const struct ast_var *var);
/* What every function is given before its arguments, as the call has it. True: it was something. */
bool emit_context(struct emitter *e, bool declared);

/* ---- emit_expr.c ---- */

void emit_expr(struct emitter *e, const struct ast_expr *expr, enum emit_type want);
/* name[index] */
void emit_lvalue(struct emitter *e, const struct ast_lvalue *lvalue);
/* A truth value, through the opaque word if the knob says so. */
void emit_condition(struct emitter *e, const struct ast_expr *expr);

/* ---- emit_ptx.c ---- */

/* emit_kernel of EMIT_PTX. */
bool emit_ptx_kernel(struct text *text, struct ast_kernel *kernel, uint32_t knobs, uint32_t number,
                     struct emitted *emitted, const char **reason);

/* ---- emit_stm.c ---- */

void emit_statements(struct emitter *e, const struct ast_stm *list);

#endif
