/*
 * parse_internal.h - what the files of the parser share.
 *
 * Recursive descent over one token. A function that fails has reported why and returns NULL or
 * false; lists of statements and of declarations then skip to where the next one can start. The
 * parser decides what the grammar says; what a well-formed tree is beyond that, ast_check decides
 * for the parser's trees as for all others.
 */
#ifndef ENGINE_PARSE_INTERNAL_H
#define ENGINE_PARSE_INTERNAL_H

#include "engine/language/ast.h"
#include "engine/language/lex.h"

/* References to functions and blocks, resolved when all of them are known. */
struct parse_call {
    struct ast_stm *stm;
    const char *name;
    struct location at;
    struct parse_call *next;
};

struct parse_goto {
    struct ast_block *block;
    uint32_t target;
    const char *name;
    struct location at;
    struct parse_goto *next;
};

/* A name that was reported as unknown: once is enough. */
struct parse_unknown {
    const char *name;
    struct parse_unknown *next;
};

struct parser {
    struct arena *arena;
    struct diag *diag;
    struct reader lexer;
    struct token token;  /* the one looked at */
    struct token before; /* the one consumed last, for "after ..." */
    struct ast_kernel *kernel;
    struct ast_function *function; /* that is being parsed; NULL at file level */
    enum ast_form form;            /* of that function */
    uint32_t
        depth; /* of the statements being parsed, as ast_check counts it: LIMIT_CHAIN a level */
    uint32_t nesting; /* of calls of the expression parser */
    uint32_t labels;  /* blocks so far, see LIMIT_LABELS */
    uint32_t nodes;   /* allocated so far, see LIMIT_NODES */
    bool constant;    /* the expression is a constant: no name has a meaning in it */
    bool stopped;     /* the rest of the text is not read */
    bool unsound;     /* the tree lacks what ast_check would miss */
    struct location last_error;
    struct parse_call *calls;
    struct parse_goto *gotos;
    struct parse_unknown *unknown;
    struct ast_expect **last_expect;
    uint32_t expect_groups;
};

/* ---- parse_token.c ---- */

/* An error; silent where the last one was reported, for then it is the same one. */
void parser_error(struct parser *p, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error after which the rest of the text is not read: the text seems to end here. */
void parser_stop(struct parser *p, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void parser_advance(struct parser *p);
bool parser_at(const struct parser *p, const char *text);
bool parser_accept(struct parser *p, const char *text);

/* "expected WANTED after ..., found ..." at the current token. */
void parser_unexpected(struct parser *p, const char *wanted);
bool parser_expect(struct parser *p, const char *text);

/* The current token's index in a table of names, -1: not there. */
int parser_index(const struct parser *p, const char *const *names, int count);

/* Whether the current token is a name of the program's own, no keyword. */
bool parser_at_name(const struct parser *p);

/* A new name, in the arena; NULL: reported. `what` says what it would name. */
const char *parser_name(struct parser *p, const char *what);

/* The same for a name that nothing refers to: a reserved word will do. */
const char *parser_word(struct parser *p, const char *what);

/* Whether the token after the current one is this. */
bool parser_next_is(const struct parser *p, const char *text);

bool parser_next_is_name(const struct parser *p);

/* Whether `( ... ) ;` follows the current token. */
bool parser_guard_is_next(const struct parser *p);

/* The token as a message shows it, in the arena. */
const char *parser_show(struct parser *p, const struct token *token);

/* Counts a node that the text makes us allocate; false: too many, parsing has stopped. */
bool parser_count(struct parser *p);

/* The variable that the current token names; NULL: reported. Advances. */
struct ast_var *parser_variable(struct parser *p);
struct ast_var *parser_find_variable(const struct parser *p);

/* ---- parse_expr.c ---- */

struct ast_expr *parser_expr(struct parser *p);

/* The value of an expression without names; takes no memory. */
bool parser_constant(struct parser *p, int32_t *value);

/* constant, or { constant, ... }. */
bool parser_values(struct parser *p, int32_t **values, uint32_t *count);

/* ---- parse_stm.c ---- */

/* Without its semicolon. */
struct ast_stm *parser_simple(struct parser *p);

/* [if (e)] behind a simple statement. */
bool parser_guard(struct parser *p, struct ast_stm *stm);

/* {decl} at the start of a body or of blocks. */
void parser_decls(struct parser *p);

/* { {decl} {stm} } of p->function. */
bool parser_body(struct parser *p);

/* ---- parse_block.c ---- */

/* blocks { {decl} {block} }, or lockstep { .. }, of p->function. */
bool parser_blocks(struct parser *p);

/* ---- parse_progress.c ---- */

/* What follows `expect progress`, up to the semicolon. */
bool parser_progress(struct parser *p);

/* ---- parse.c ---- */

/* Whether a declaration starts here. */
bool parser_at_space(const struct parser *p);

/* space [input] int var {, var} ; into the scope at hand. */
bool parser_decl(struct parser *p);

#endif
