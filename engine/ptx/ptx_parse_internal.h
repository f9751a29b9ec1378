/*
 * ptx_parse_internal.h - what the files of the PTX parser share.
 *
 * Recursive descent over one token. A function that fails has reported why and returns NULL or false;
 * lists of statements and of items then skip to where the next one can start.
 */
#ifndef ENGINE_PTX_PARSE_INTERNAL_H
#define ENGINE_PTX_PARSE_INTERNAL_H

#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_lex.h"

/* Every name is kept once. */
struct ptx_intern {
    const char **names; /* open addressing; capacity is a power of two */
    uint32_t capacity, count;
};

struct ptx_parser {
    struct arena *arena;
    struct diag *diag;
    struct reader lexer;
    struct ptx_token token;
    struct ptx_module *module;
    struct ptx_intern intern;
    uint32_t depth; /* of blocks, expressions, braces */
    uint32_t nodes;
    bool stopped; /* the rest of the text is not read */
    bool some;    /* ptx_parse_some */
    struct location last_error;
};

/* What was reported since `before`, if that is all, is no error of the module, but the function's, which loses its
 * body. */
void ptx_refuse_body(struct arena *arena, struct ptx_function *f, struct diag *diag,
                     uint32_t before);

/* ---- ptx_check.c ---- */

/* ptx_check; `some`: what is wrong with a body is refused with it. */
bool ptx_check_items(struct arena *arena, struct ptx_module *module, struct diag *diag, bool some);

/* ---- ptx_parse_token.c ---- */

/* An error; silent where the last one was reported, for then it is the same one. */
void ptx_error(struct ptx_parser *p, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error after which the rest of the text is not read. */
void ptx_stop(struct ptx_parser *p, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void ptx_advance(struct ptx_parser *p);

/* "expected WANTED, found ..." at the current token. */
void ptx_unexpected(struct ptx_parser *p, const char *wanted);

/* Punctuation. */
bool ptx_at(const struct ptx_parser *p, const char *text);
bool ptx_accept(struct ptx_parser *p, const char *text);
bool ptx_expect(struct ptx_parser *p, const char *text);

/* A directive or modifier: the word after the dot. */
bool ptx_at_dot(const struct ptx_parser *p, const char *word);
bool ptx_accept_dot(struct ptx_parser *p, const char *word);

/* The current token's word if it is a directive or modifier known by name, else PTX_W_NONE. */
enum ptx_word ptx_at_word(const struct ptx_parser *p);

/* A name; NULL: reported. `what` says what it would name. Advances. */
const char *ptx_name(struct ptx_parser *p, const char *what);
const char *ptx_string(struct ptx_parser *p, const char *what);
const char *ptx_intern(struct ptx_parser *p, const char *text, size_t length);

/* A literal integer of at most `most`. */
bool ptx_number(struct ptx_parser *p, uint32_t most, uint32_t *value);

/* Counts a node that the text makes us allocate; false: too many, parsing has stopped. */
bool ptx_count(struct ptx_parser *p);

/* One level deeper; false: too deep, reported. Pair with ptx_parse_leave. */
bool ptx_parse_enter(struct ptx_parser *p);
void ptx_parse_leave(struct ptx_parser *p);

/* To where the next statement can start: behind a semicolon, or before a closing brace. */
void ptx_skip_statement(struct ptx_parser *p);

/* ---- ptx_parse_value.c ---- */

struct ptx_value {
    enum ptx_token_kind kind; /* INTEGER, FLOAT32, FLOAT64 */
    uint64_t bits;
    bool is_unsigned;
};

/* A constant expression, folded (PTX ISA 4.5). */
bool ptx_constant(struct ptx_parser *p, struct ptx_value *value);

/* {+ term | - term}: what is added to a name. */
bool ptx_offset(struct ptx_parser *p, uint64_t *offset);

/* = already taken: the initialiser of a variable. */
struct ptx_init *ptx_initialiser(struct ptx_parser *p);

/* ---- ptx_parse_decl.c ---- */

/* Whether the current token is the state space of a declaration. */
bool ptx_at_space(const struct ptx_parser *p);

/* .space .type name {, name} without the semicolon: the list of them; NULL: reported. */
struct ptx_variable *ptx_variables(struct ptx_parser *p, enum ptx_linkage linkage);

/* ( parameter {, parameter} ), or nothing; false: reported. */
bool ptx_parameters(struct ptx_parser *p, struct ptx_variable **list);

/* .entry or .func taken: the rest. */
struct ptx_function *ptx_function(struct ptx_parser *p, enum ptx_linkage linkage, bool is_entry);

/* ---- ptx_parse_stm.c ---- */

/* { taken: the statements up to and with the closing brace. */
bool ptx_block(struct ptx_parser *p, struct ptx_statement **first);

/* ---- ptx_parse_operand.c ---- */

/* operand {, operand}; of a call, lists in parentheses too. False: reported. */
bool ptx_operands(struct ptx_parser *p, enum ptx_opcode opcode, struct ptx_operand **first);
struct ptx_operand *ptx_operand_name(struct ptx_parser *p, const char *what);

#endif
