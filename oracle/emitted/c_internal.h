/*
 * c_internal.h - between c_run.c (tokens, variables, functions, statements) and c_expr.c (expressions).
 */
#ifndef ORACLE_EMITTED_C_INTERNAL_H
#define ORACLE_EMITTED_C_INTERNAL_H

#include "oracle/emitted/c_run.h"

#include <stddef.h>

enum { C_VARIABLES = 512, C_FUNCTIONS = 64, C_ARGUMENTS = 48 };

/* Those behind C_FLOAT are promoted to int. */
enum c_type { C_INT, C_UINT, C_LONG, C_ULONG, C_FLOAT, C_SHORT, C_USHORT, C_UCHAR, C_VOID };

struct c_value {
    enum c_type type;
    int64_t i; /* unsigned ones as they are, ulong as its bits */
    float f;
};

/* Elements of one type: a variable has one. */
struct c_object {
    enum c_type type;
    struct c_value *cells;
    uint32_t count;
};

struct c_variable {
    const char *name;
    uint32_t length;
    struct c_object *object;
    int64_t first; /* a pointer: to this element */
    bool is_pointer;
};

struct c_function {
    const char *name, *parameters, *body; /* the text behind '(' and '{' */
    uint32_t length;
    enum c_type type;
};

enum c_signal { C_ON, C_BREAK, C_CONTINUE, C_RETURN, C_GOTO, C_FAILED };

struct c_run {
    struct arena *arena;
    const struct c_launch *launch;
    const char *at; /* behind the token at hand */
    const char *token;
    uint32_t length; /* of the token; 0: the end */
    struct c_variable variables[C_VARIABLES];
    uint32_t count, file_count,
        frame; /* those of the file come first; the function's from `frame` on */
    struct c_variable members[C_VARIABLES / 4]; /* of the one struct, as "p->x", "k0_p.x" */
    uint32_t member_count;
    struct c_function functions[C_FUNCTIONS];
    uint32_t function_count;
    uint32_t thread, block, dead; /* dead: what is read is not evaluated */
    enum c_signal signal;
    struct c_value result; /* of `return` */
    const char *label;     /* of `goto` */
    uint32_t label_length;
    uint64_t steps;
    const char *why;
};

/* ---- c_run.c ---- */

void c_fail(struct c_run *c, const char *why);
void c_next(struct c_run *c);
/* Goes on reading there. */
void c_go(struct c_run *c, const char *at);
bool c_at(const struct c_run *c, const char *token);
bool c_accept(struct c_run *c, const char *token);
void c_expect(struct c_run *c, const char *token);
/* A type, and what stands before and within it; false: none is here, nothing is read. */
bool c_read_type(struct c_run *c, enum c_type *type);
struct c_variable *c_find(struct c_run *c);
const struct c_function *c_find_function(const struct c_run *c);
struct c_value c_call(struct c_run *c, const struct c_function *f);

/* ---- c_expr.c ---- */

/* Where a value is kept; NULL: outside, which is reported. */
struct c_value *c_place(struct c_run *c, enum c_type *type);
struct c_value c_expression(struct c_run *c);
struct c_value c_convert(struct c_run *c, struct c_value value, enum c_type type);
bool c_is_true(struct c_value value);

#endif
