/*
 * term.h - formulas over Booleans, words of 32 and 64 bits, and arrays of words, as SMT-LIB 2 has them.
 *
 * A term is a number. Equal terms have equal numbers (they are shared), and a term's operands have smaller
 * numbers than it has. The builders simplify what is plain: constants, neutral elements, a value stored and
 * read again, comparisons that the operands' ranges decide. Arithmetic is that of the kernel language
 * (eval_ops.h): total, wrapping, x / 0 == 0; that of 64 bits likewise.
 */
#ifndef ENGINE_SMT_TERM_H
#define ENGINE_SMT_TERM_H

#include "engine/base/text.h"
#include "engine/language/ast.h"

typedef uint32_t term;

enum { TERM_NONE = 0, TERM_FALSE = 1, TERM_TRUE = 2 };

enum term_sort { SORT_BOOL, SORT_WORD, SORT_ARRAY, SORT_LONG /* 64 bits */ };

enum term_op {
    TERM_CONSTANT, /* a word: value */
    TERM_SYMBOL,   /* a name of any sort: no operands; of a word, `value` > 0: it is below that */
    TERM_NOT,
    TERM_AND,
    TERM_OR,
    TERM_EQ,       /* of two Booleans, words, arrays */
    TERM_LESS,     /* signed, of two words of one size */
    TERM_BELOW,    /* unsigned */
    TERM_BINARY,   /* of words: one of enum ast_binary that gives a word */
    TERM_UREM,     /* unsigned; x urem 0 == x */
    TERM_UDIV,     /* unsigned; x udiv 0 is all ones */
    TERM_LSHR,     /* unsigned shift right */
    TERM_SIGNED,   /* 64 bits of a word with its sign */
    TERM_UNSIGNED, /* 64 bits of a word, with zeros */
    TERM_LOW,      /* the lower half of 64 bits */
    TERM_ITE,
    TERM_TABLE, /* an array: every element is a */
    TERM_SELECT,
    TERM_STORE
};

struct term_node {
    uint8_t op, sort, binary;
    uint8_t zeros; /* of a word: so many of its lowest bits are 0, at least */
    term a, b, c;
    int64_t value;    /* TERM_CONSTANT */
    const char *name; /* TERM_SYMBOL */
    uint32_t hash;
    int64_t least, most; /* of a word, read with its sign */
};

/* All terms of one kernel. */
struct terms {
    struct arena *arena;
    struct term_node *nodes;
    uint32_t count, capacity;
    uint32_t *buckets; /* of a power of two: numbers, 0 = empty */
    uint32_t bucket_count;
    uint32_t limit; /* of nodes */
    uint8_t *seen;  /* scratch of term_replace_all */
    term *now;
    bool
        full; /* the limit was met: terms that would be new are TERM_FALSE, nothing built is of use */
};

enum { TERMS_LIMIT = 1 << 19 };

void terms_init(struct terms *terms, struct arena *arena, uint32_t limit);

static inline const struct term_node *term_of(const struct terms *terms, term t)
{
    return &terms->nodes[t];
}

/* A Boolean or a word of 32 bits. */
bool term_is_constant(const struct terms *terms, term t, int32_t *value);
/* A word of either size. */
bool term_is_number(const struct terms *terms, term t, int64_t *value);

/* The symbol of this name: the name is kept as it is, the sort is always the same. */
term term_symbol(struct terms *terms, enum term_sort sort, const char *name);
/* A word that is below `limit` (> 0), read without a sign; and that it is, which the solver has to be told. */
term term_limited(struct terms *terms, const char *name, int32_t limit);
term term_limit_of(struct terms *terms, term limited);
term term_word(struct terms *terms, int32_t value);
/* Of the sort of `like`, a word of either size. */
term term_number(struct terms *terms, term like, int64_t value);
term term_long(struct terms *terms, int64_t value);
term term_bool(bool value);

term term_not(struct terms *terms, term a);
term term_and(struct terms *terms, term a, term b);
term term_or(struct terms *terms, term a, term b);
term term_implies(struct terms *terms, term a, term b);
term term_eq(struct terms *terms, term a, term b);
term term_less(struct terms *terms, term a, term b);  /* signed */
term term_below(struct terms *terms, term a, term b); /* unsigned */
term term_ite(struct terms *terms, term condition, term a, term b);
/* What the value is where `given` holds: choices that it plainly decides are made. */
term term_under(const struct terms *terms, term given, term value);
term term_urem(struct terms *terms, term a, term b);
term term_udiv(struct terms *terms, term a, term b);
term term_lshr(struct terms *terms, term a, term b);
/* From one size to the other. */
term term_signed(struct terms *terms, term word);
term term_unsigned(struct terms *terms, term word);
term term_low(struct terms *terms, term of_64);
term term_high(struct terms *terms, term of_64);
/* low + 2^32 high */
term term_joined(struct terms *terms, term low, term high);
/* An operator of the language that is neither && nor ||, of two words of one size: such a word; comparisons give 0 or
 * 1, as a word of 32 bits. */
term term_binary(struct terms *terms, enum ast_binary op, term a, term b);
term term_unary(struct terms *terms, enum ast_unary op, term a);
/* What such an operator gives of 64 bits. */
int64_t term_eval_64(enum ast_binary op, int64_t a, int64_t b);
/* A word as a condition, a condition as a word. */
term term_holds(struct terms *terms, term word);
term term_as_word(struct terms *terms, term condition);

term term_table(struct terms *terms, term element);
term term_select(struct terms *terms, term array, term index);
term term_store(struct terms *terms, term array, term index, term value);

/* The terms `old` with symbols replaced: from[i] by to[i]. */
void term_replace_all(struct terms *terms, const term *from, const term *to, uint32_t symbol_count,
                      const term *old, term *replaced, uint32_t count);

/* Marks t and all below it in `seen`, terms.count bytes. */
void term_mark_cone(const struct terms *terms, term t, uint8_t *seen);

/* A whole formula for a solver: declarations of all symbols below the roots and what is mentioned
 * besides, definitions, then `(assert ROOT)` of each. Symbols defined here stand for their definition:
 * (assert (= symbol definition)). Term number n is called tn from here on. */
struct term_definition {
    term symbol, meaning;
};
void term_print(struct text *out, const struct terms *terms, const term *roots, uint32_t root_count,
                const term *mentioned, uint32_t mentioned_count,
                const struct term_definition *definitions, uint32_t definition_count);

/* "t12", or what a symbol or a constant is called. */
void term_print_name(struct text *out, const struct terms *terms, term t);

#endif
