/*
 * lex.h - the tokens of the kernel language.
 */
#ifndef ENGINE_LEX_H
#define ENGINE_LEX_H

#include "engine/base/diag.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME, /* identifiers and keywords alike: the parser tells them apart by text */
    TOKEN_NUMBER,
    TOKEN_PUNCT,  /* operators and brackets, the longest that matches */
    TOKEN_INVALID /* bytes that start no token, or a malformed number; reported */
};

struct token {
    enum token_kind kind;
    struct location at;
    const char *text; /* in the source, not terminated */
    uint32_t length;
    uint64_t number; /* TOKEN_NUMBER */
};

struct lexer {
    const char *end, *next;
    const char *line_start;
    uint32_t line;
    struct diag *diag; /* NULL: errors are not reported (a look ahead, by a copy of the lexer) */
};

/* The text must outlive the lexer; it may hold any bytes and need not be terminated. */
void lex_init(struct lexer *lexer, const char *source, size_t length, struct diag *diag);

/* The next token; after the last one TOKEN_END, again and again. */
struct token lex_next(struct lexer *lexer);

/* `from`, the name that was read last, extended to a word of an `expect`'s subject: letters, digits,
 * and - . = where none of them ends the word ("then-first", "policy=min-pc"). */
struct token lex_word(struct lexer *lexer, const struct token *from);

#endif
