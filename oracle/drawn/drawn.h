/*
 * drawn.h - a text that is drawn, and beside it what it says in words (words.h): both are written in one walk over the
 * grammar. Between tokens stand blanks and comments, around expressions parentheses that nobody needs.
 */
#ifndef ORACLE_DRAWN_H
#define ORACLE_DRAWN_H

#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/language/ast.h"

#include <stdbool.h>
#include <stdint.h>

/* A token of the text, and how many braces are open before it. */
struct drawn_place {
    size_t at, length;
    uint32_t depth;
};

struct drawn {
    struct arena *arena;
    struct pcg rng, places;
    struct text text, words;
    uint32_t depth, count, brackets; /* open braces; tokens so far, and brackets among them */
    struct drawn_place any, bracket; /* one of them, drawn evenly */
};

struct drawn drawn_begin(struct arena *arena, uint64_t number, uint32_t stream);

/* Streams of the draws, of all who draw texts. Programs and kernels that are emitted share one: a case asks them for
 * different numbers. */
enum {
    DRAWN_LAYOUTS = 97,
    DRAWN_KERNELS = 101,
    DRAWN_MODULES = 102,
    DRAWN_PROGRAMS = 103,
    DRAWN_EMITTED = 103,
    DRAWN_SEQUENTIALS = 107,
    DRAWN_REFUSALS = 109,
    DRAWN_PLACES = 111,
    DRAWN_HOSTS = 113,
    DRAWN_SCOPES = 127,
    DRAWN_VALUES = 131,
    DRAWN_JUMPS = 137,
    DRAWN_GUESSES = 139,
    DRAWN_FILLS = 149,
    DRAWN_CLAIMS = 151,
    DRAWN_LISTS = 157,
    DRAWN_LAUNCHES = 163,
    DRAWN_BASE = 167,
    DRAWN_ASSUMED = 191,
    DRAWN_ROWS = 193,
    DRAWN_LIMITS = 197,
    DRAWN_MISTAKES = 199,
    DRAWN_SETTINGS = 211
};

/* "line 2: ..": the first error. */
const char *drawn_first_error(struct arena *arena, const struct diag *diag);
/* NULL: the reader refuses it, and *why is its first error. */
struct ast_kernel *drawn_read(struct arena *arena, const char *text, const char **why);

/* "read: .. less x 1 } where .. at-most x 1 } is meant": the words from the first that differ on; NULL: none does. */
const char *drawn_differ(struct arena *arena, const char *what, const char *words,
                         const char *meant);

/* 0 .. n - 1. Not twice among the arguments of one call. */
static inline uint32_t drawn_below(struct drawn *d, uint32_t n)
{
    return pcg_below(&d->rng, n);
}

static inline bool drawn_once_in(struct drawn *d, uint32_t n)
{
    return pcg_below(&d->rng, n) == 0;
}

/* The next token of the text ("": none); the next word. */
void drawn_token(struct drawn *d, const char *token);
void drawn_word(struct drawn *d, const char *word);
void drawn_number_word(struct drawn *d, int64_t value);

/* A number, decimal or hexadecimal. */
void drawn_spell(struct drawn *d, uint64_t value);

/* A number below 2^32, mostly where something ends of 32 bits. */
uint32_t drawn_number(struct drawn *d);

/* C's binary operators, which the kernel language and PTX have too, and how tightly they bind: || is 1, * is 10. */
extern const struct drawn_operator {
    const char *token;
    uint32_t level;
} drawn_operators[BINARY_COUNT];

/* What is wrong with a text on purpose: nobody may take it, and this is told of the token that stands there. */
struct drawn_mistake {
    uint32_t places;  /* it is made at one of so many */
    const char *told; /* NULL: nothing is wrong */
    size_t at;
};

/* A kernel in the kernel language, of any form, whatever it means. Not NULL: it may be wrong in one place. */
void texts_draw_kernel(struct drawn *d, struct drawn_mistake *mistake);

/* A kernel given as PTX. True: an operand of it does not fit, and nobody may take it. */
bool texts_draw_ptx(struct drawn *d);

/* A constant expression of PTX, and a number, of 64 bits. */
uint64_t drawn_constant(struct drawn *d);
uint64_t drawn_literal(struct drawn *d);

/* Its head comments, for so many parameters; returns what the claims among them say, which stands last. *is_wrong: they
 * do not fit each other, and nobody may take them. */
const char *drawn_settings(struct drawn *d, uint32_t parameters, bool *is_wrong);

#endif
