/*
 * c_internal.h - between c_run.c (tokens, functions, statements, threads), c_declare.c (types and variables), c_expr.c
 * (expressions) and c_wgsl.c (what WGSL has in place of C's).
 */
#ifndef ORACLE_C_INTERNAL_H
#define ORACLE_C_INTERNAL_H

#include "oracle/runs/c_run.h"

#include <stddef.h>

enum { C_VARIABLES = 512, C_FUNCTIONS = 64, C_ARGUMENTS = 48, C_SHARED = 8 };

/* Those behind C_FLOAT are promoted to int. */
enum c_type { C_INT, C_UINT, C_LONG, C_ULONG, C_FLOAT, C_SHORT, C_USHORT, C_UCHAR, C_BOOL, C_VOID };

struct c_value {
    enum c_type type;
    int64_t i; /* unsigned ones as they are, ulong as its bits */
    float f;
    bool unset; /* of a variable that nothing was assigned to */
};

/* Elements of one type: a variable has one. */
struct c_object {
    enum c_type type;
    struct c_value *cells;
    uint32_t count;
    bool of_block, of_grid; /* threads share it */
    bool of_atomics;        /* WGSL: atomic operations alone take its elements */
    bool of_thread;         /* of the file, and each thread has it anew */
};

/* What a thread reads and writes of what threads share, one after the other: it is run again from its start up to each
 * barrier, and does nothing twice. */
struct c_log {
    struct c_value *read; /* of a write: nothing */
    uint32_t count, most;
    bool ended;
};

struct c_variable {
    const char *name;
    uint32_t length;
    struct c_object *object;
    int64_t first; /* a pointer: to this element */
    bool is_pointer;
};

/* The first one behind a place of the text; of an opening bracket, also what is behind the closing one. */
struct c_token {
    uint32_t start, length, behind;
    bool known;
};

struct c_function {
    const char *name, *parameters, *body; /* the text behind '(' and '{' */
    uint32_t length;
    enum c_type type;
};

enum c_signal { C_ON, C_BREAK, C_CONTINUE, C_RETURN, C_GOTO, C_WAITS, C_FAILED };

struct c_run {
    struct arena *arena;
    const struct c_launch *launch;
    const char *text;
    struct c_token *tokens; /* by places of the text */
    const char *at;         /* behind the token at hand */
    const char *token;
    uint32_t length; /* of the token; 0: the end */
    struct c_variable variables[C_VARIABLES];
    uint32_t count, file_count,
        frame; /* those of the file come first; the function's from `frame` on */
    struct c_variable members[C_VARIABLES / 4]; /* of the one struct, as "p->x", "k0_p.x" */
    uint32_t member_count;
    struct c_function functions[C_FUNCTIONS];
    uint32_t function_count;
    uint32_t thread, block, dead;       /* dead: what is read is not evaluated */
    bool is_shared;                     /* the place at hand: what threads share */
    bool of_atomics;                    /* likewise; of a type in WGSL: it is atomic */
    bool declares_shared;               /* the type at hand is of such a variable */
    struct c_variable shared[C_SHARED]; /* of the block, declared in the kernel */
    uint32_t shared_count;
    struct c_log *log;        /* of the thread at hand; NULL: nobody waits */
    uint32_t done;            /* accesses of its log so far */
    uint32_t passed, allowed; /* barriers */
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
/* Behind what closes the bracket at hand. */
void c_skip_group(struct c_run *c);
void c_skip_statement(struct c_run *c);
void c_statement(struct c_run *c);
/* Behind its '{'. */
void c_block(struct c_run *c);
/* (condition) */
bool c_condition(struct c_run *c);
/* Whether a loop goes on behind its body. */
bool c_goes_on(struct c_run *c);
void c_leave_loop(struct c_run *c);
const struct c_function *c_find_function(const struct c_run *c);
struct c_value c_call(struct c_run *c, const struct c_function *f);
/* The text of the function at hand: behind its name. */
void c_add_function(struct c_run *c, struct c_function f);
bool c_is_text(const char *token, uint32_t length, const char *text);

/* ---- c_declare.c ---- */

/* A type, and what stands before and within it; false: none is here, nothing is read. */
bool c_read_type(struct c_run *c, enum c_type *type);
bool c_accept_qualifier(struct c_run *c);
struct c_variable *c_find(struct c_run *c);
/* What it holds is not set. */
struct c_object *c_new_object(struct c_run *c, enum c_type type, uint32_t count);
void c_unset(struct c_object *object);
struct c_variable *c_declare(struct c_run *c, const char *name, uint32_t length,
                             struct c_object *object);
/* type name[, name]; */
void c_declaration(struct c_run *c, enum c_type type);
/* The members of the one struct are variables "p->x". */
void c_add_member(struct c_run *c, const char *name, uint32_t length, struct c_object *object);
/* k0_p: the one variable of this type; they are "k0_p.x" from now on. */
void c_name_members(struct c_run *c);
void c_read_struct(struct c_run *c);

/* ---- c_wgsl.c ---- */

/* An item of the file. */
void c_wgsl_item(struct c_run *c);
/* A statement that C has not; false: it is another. */
bool c_wgsl_statement(struct c_run *c);
/* name: type */
bool c_wgsl_parameter(struct c_run *c, const char **name, uint32_t *length, enum c_type *type,
                      bool *is_pointer);

/* ---- c_expr.c ---- */

/* Where a value is kept; NULL: outside, which is reported. */
struct c_value *c_place(struct c_run *c, enum c_type *type);
/* WGSL: the place at hand is not for what takes it, an atomic operation or another access. */
void c_check_atomics(struct c_run *c, bool is_operation);
/* Puts a value of another type than the place's, where the language converts it. */
void c_put(struct c_run *c, struct c_value *place, bool is_shared, struct c_value value,
           enum c_type type);
struct c_value c_expression(struct c_run *c);
struct c_value c_convert(struct c_run *c, struct c_value value, enum c_type type);
/* Likewise, where nothing says that it is converted. */
struct c_value c_taken_as(struct c_run *c, struct c_value value, enum c_type type);
/* A truth value. */
bool c_truth(struct c_run *c);

#endif
