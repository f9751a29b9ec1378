/*
 * lex.h - the tokens of the kernel language.
 */
#ifndef ENGINE_LEX_H
#define ENGINE_LEX_H

#include "engine/diag.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME, /* identifiers and keywords alike: the parser tells them apart by text */
    TOKEN_NUMBER,
    TOKEN_PUNCT,  /* operators and brackets, the longest that matches */
    TOKEN_INVALID /* a byte that starts no token, or a malformed number or comment; reported */
};

struct token {
    enum token_kind kind;
    struct location at;
    const char *text; /* in the source, not terminated */
    uint32_t length;
    uint64_t number; /* TOKEN_NUMBER */
};

struct lexer {
    const char *source, *end, *next;
    const char *line_start;
    uint32_t line;
    struct diag *diag;
};

void lex_init(struct lexer *lexer, const char *source, size_t length, struct diag *diag);

struct token lex_next(struct lexer *lexer);

/* A subject or claim word of an `expect` at the current position, which may contain - and =:
 * letters, digits, _ - =. The lexer must stand at the token `from`. */
struct token lex_word(struct lexer *lexer, const struct token *from);

#endif
