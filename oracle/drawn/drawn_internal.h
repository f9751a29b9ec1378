/*
 * drawn_internal.h - between drawn_expr.c, drawn_stm.c and drawn_kernel.c: kernels in the kernel language, over its
 * whole grammar. What they compute is nothing: they are read, printed, and never run.
 */
#ifndef ORACLE_DRAWN_INTERNAL_H
#define ORACLE_DRAWN_INTERNAL_H

#include "engine/language/ast.h"
#include "oracle/drawn/drawn.h"
#include "oracle/drawn/words.h"

enum {
    NAMES = 24, /* in one scope, and blocks of a function */
    TOP = 0,    /* C's levels: anything; || is 1, a unary operator 11 */
    LEVEL_UNARY = 11,
    DEPTH = 4, /* of expressions */
    NESTED = 3 /* of statements */
};

struct name {
    const char *name;
    enum ast_space space;
    uint32_t length; /* 0: no array */
};

struct callee {
    const char *name;
    bool returns_int;
    uint32_t count;
    bool outs[4];
};

struct maker {
    struct drawn *d;
    enum ast_form form;
    struct name names[2 * NAMES];
    uint32_t file_count, count; /* those of the file stand first */
    struct callee callees[4];
    uint32_t callee_count;
    bool returns_int, is_main, reduces; /* of the function at hand; within all(..), any(..) */
    bool in_loop, breakable;
    uint32_t left;                 /* statements */
    struct drawn_mistake *mistake; /* that may still be made; or NULL */
};

static inline void put(struct maker *m, const char *token)
{
    drawn_token(m->d, token);
}

static inline void say(struct maker *m, const char *word)
{
    drawn_word(m->d, word);
}

static inline uint32_t below(struct maker *m, uint32_t n)
{
    return drawn_below(m->d, n);
}

static inline bool once_in(struct maker *m, uint32_t n)
{
    return drawn_once_in(m->d, n);
}

/* ---- drawn_expr.c ---- */

/* One that the scope that begins there does not have. */
const char *maker_new_name(struct maker *m, uint32_t from);
/* Whether a variable of the file is hidden by one of the function. */
bool maker_is_hidden(const struct maker *m, const struct name *n);
/* A variable, an array or not, private or any; NULL: there is none. */
const struct name *maker_find(struct maker *m, bool array, bool is_private);
void maker_scalar(struct maker *m, const struct name *n);
/* A scalar or an element. */
void maker_place(struct maker *m, bool is_private, uint32_t depth);
void maker_expression(struct maker *m);
/* An expression without names, whose value this is; it is not said. */
int32_t maker_constant(struct maker *m);

/* Whether the next token is wrong, of which this is told: once a kernel, in any place that asks. */
bool maker_errs(struct maker *m, const char *told);
/* It is this one. */
void maker_wrong(struct maker *m, const char *token);

/* ---- drawn_stm.c ---- */

/* `statement if (e);` without its semicolon, and one that takes no guard. */
void maker_guarded(struct maker *m);
void maker_simple(struct maker *m);
/* The statements of a body. */
void maker_statements(struct maker *m);

#endif
