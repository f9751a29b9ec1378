/*
 * lex.h - the tokens of the kernel language.
 */
#ifndef ENGINE_LEX_H
#define ENGINE_LEX_H

#include "engine/base/reader.h"

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

/* The next token; after the last one TOKEN_END, again and again. */
struct token lex_next(struct reader *lexer);

/* `from`, the name that was read last, extended to a word of an `expect`'s subject: letters, digits,
 * and - . = where none of them ends the word ("then-first", "policy=min-pc"). */
struct token lex_word(struct reader *lexer, const struct token *from);

#endif
