/*
 * ptx_lex.h - the tokens of PTX (PTX ISA, chapter 4).
 */
#ifndef ENGINE_PTX_LEX_H
#define ENGINE_PTX_LEX_H

#include "engine/base/reader.h"

#include <stdbool.h>

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,    /* identifiers, mnemonics, _ */
    PTX_TOKEN_DOT,     /* a directive or modifier; text without the dot: "reg", "L2::128B" */
    PTX_TOKEN_INTEGER, /* number */
    PTX_TOKEN_FLOAT32, /* number: the bits; 0f3F800000 */
    PTX_TOKEN_FLOAT64, /* 0d..., or decimal */
    PTX_TOKEN_STRING,  /* text without the quotes */
    PTX_TOKEN_PUNCT,
    PTX_TOKEN_INVALID /* reported */
};

struct ptx_token {
    enum ptx_token_kind kind;
    struct location at;
    const char *text; /* in the source, not terminated */
    uint32_t length;
    uint64_t number;
    bool is_unsigned; /* integer with U, or too large for a signed one */
};

/* The next token; after the last one PTX_TOKEN_END, again and again. */
struct ptx_token ptx_lex_next(struct reader *lexer);

#endif
