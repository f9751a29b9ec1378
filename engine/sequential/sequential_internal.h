/*
 * sequential_internal.h - what the files of engine/sequential share.
 *
 * Names: at_B$k - thread k is in block B; dead$k; x$k a private variable, or k's view of memory; READ_A, WRITE_A,
 * ATOMIC_A - thread 1 has done so to the watched element WO_A; x#L$k - x before the loop at line L.
 */
#ifndef ENGINE_SEQUENTIAL_INTERNAL_H
#define ENGINE_SEQUENTIAL_INTERNAL_H

#include "engine/base/text.h"
#include "engine/forms/cfg.h"
#include "engine/sequential/sequential.h"

enum sequential_access { SEEN_READ, SEEN_WRITE, SEEN_ATOMIC, SEEN_KINDS };

/* A loop, while its body is printed and before: what it changes, and what was guessed from it. */
struct sequential {
    struct arena *arena;
    struct text body;    /* statements */
    struct text declare; /* variables of the procedure */
    struct text constants;
    enum sequential_style style;
    const struct ast_kernel *kernel;
    struct cfg *cfg;
    uint32_t *loop_at, *loop_size;
    uint32_t var_count, indent;
    struct ast_var **vars;
    uint8_t *written;
    uint32_t temporaries, guesses;
};

/* Thread k evaluates: where `enabled` holds. */
struct evaluating {
    struct sequential *s;
    uint32_t k; /* 1 or 2 */
    const char *enabled;
    bool may_die;           /* an index may lie outside: dies$k says so */
    bool quiet;             /* of a guess: nothing is logged, indices are taken as they are */
    uint32_t before;        /* not 0: variables as they were before the loop of this number */
    const uint8_t *changed; /* `before`: by variable */
};

static inline bool sequential_is_memory(const struct ast_var *var)
{
    return var->space == SPACE_GLOBAL || var->space == SPACE_SHARED;
}

extern const char *const sequential_access_names[SEEN_KINDS];

/* One statement on a line. */
void sequential_line(struct sequential *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- sequential_expr.c ---- */

const char *sequential_word(struct evaluating *x, const struct ast_expr *e);
const char *sequential_condition(struct evaluating *x, const struct ast_expr *e);
const char *sequential_constant(const struct sequential *s, int32_t value);
const char *sequential_compare(const struct sequential *s, enum ast_binary op, const char *a,
                               const char *b);
const char *sequential_apply(const struct sequential *s, enum ast_binary op, const char *a,
                             const char *b);
/* Unsigned a below b; a's rest and quotient by b, unsigned. */
const char *sequential_below(const struct sequential *s, const char *a, const char *b);
const char *sequential_rest(const struct sequential *s, const char *a, const char *b);
const char *sequential_quotient(const struct sequential *s, const char *a, const char *b);

/* The index of a place within its bounds: who is outside dies. */
const char *sequential_index(struct evaluating *x, const struct ast_var *var,
                             const struct ast_expr *index);
void sequential_note_access(struct evaluating *x, const struct ast_var *var,
                            enum sequential_access kind, const char *index);
const char *sequential_variable(const struct evaluating *x, const struct ast_var *var);

/* ---- sequential_guess.c ---- */

/* What a loop has of its own before it starts, and its invariants: behind `while (*)`. */
void sequential_remember(struct sequential *s, uint32_t loop);
void sequential_guess(struct sequential *s, uint32_t loop);

/* The kernel's own invariants of a loop, as comments. */
void sequential_claim(struct sequential *s, uint32_t loop);

#endif
