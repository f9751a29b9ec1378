#include "oracle/prove/drawn_terms.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/pcg.h"
#include "engine/smt/term_range.h"
#include "engine/smt/term_value.h"
#include "oracle/prove/smt_text.h"

enum { WORLDS = 3, STEPS = 60, POOL = 32, TERMS = 1 << 12, SORTS = 4, REPLACED = 4 };

/* Terms of a sort, the latest of them; and what they are in several worlds. */
struct pool {
    term items[POOL];
    uint32_t count;
};

struct drawing {
    struct arena *arena;
    struct terms terms;
    struct pcg rng;
    struct pool pools[SORTS];
    struct term_values worlds[WORLDS];
    term known;   /* terms below it have values */
    term *all;    /* term number n */
    term free[3]; /* a word, a long, a Boolean: symbols of which nothing is assumed */
    struct retrace_fault fault;
    uint32_t rank; /* of what is at fault: what others are made of comes first */
};

/* What was built, of which operands. */
struct built {
    term result, a, b, c;
    int op; /* enum term_op */
    enum ast_binary binary;
};

static uint32_t below(struct drawing *d, uint32_t bound)
{
    return pcg_below(&d->rng, bound);
}

enum { LOCATED = 256 /* drawings that are asked for a cause */ };
enum { RANGES = TERM_STORE + 1, WHOLE = 2 * RANGES };

static const char *operation(int op, int binary)
{
    static const char *const names[] = {[TERM_CONSTANT] = "constant",
                                        [TERM_SYMBOL] = "symbol",
                                        [TERM_NOT] = "not",
                                        [TERM_AND] = "and",
                                        [TERM_OR] = "or",
                                        [TERM_EQ] = "equal",
                                        [TERM_LESS] = "less",
                                        [TERM_BELOW] = "below",
                                        [TERM_BINARY] = "binary",
                                        [TERM_UREM] = "urem",
                                        [TERM_UDIV] = "udiv",
                                        [TERM_LSHR] = "lshr",
                                        [TERM_SIGNED] = "signed",
                                        [TERM_UNSIGNED] = "unsigned",
                                        [TERM_LOW] = "low",
                                        [TERM_ITE] = "choice",
                                        [TERM_TABLE] = "table",
                                        [TERM_SELECT] = "select",
                                        [TERM_STORE] = "store"};
    return op == TERM_BINARY ? ast_binary_names[binary] : names[op];
}

static void complain(struct drawing *d, uint32_t rank, const char *what, const char *why)
{
    if (!d->fault.what) {
        d->fault = (struct retrace_fault){what, why};
        d->rank = rank;
    }
}

/* ---- drawn ---- */

static int64_t drawn_number(struct drawing *d, bool is_long)
{
    static const int64_t corners[] = {0, 1, -1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 63, 64, 255, 4096};
    uint32_t kind = below(d, 8);
    if (kind == 0)
        return is_long ? (int64_t)pcg_next64(&d->rng) : (int32_t)pcg_next(&d->rng);
    if (kind == 1)
        return is_long ? (int64_t)((uint64_t)1 << below(d, 64)) : INT32_MIN + (int32_t)below(d, 2);
    return corners[below(d, sizeof corners / sizeof corners[0])];
}

static void add(struct drawing *d, term t)
{
    struct pool *pool = &d->pools[term_of(&d->terms, t)->sort];
    pool->items[pool->count++ % POOL] = t;
}

static term pick(struct drawing *d, enum term_sort sort)
{
    struct pool *pool = &d->pools[sort];
    bool is_long = sort == SORT_LONG;
    if ((sort == SORT_WORD || is_long) && below(d, 4) == 0) {
        int64_t number = drawn_number(d, is_long);
        return is_long ? term_long(&d->terms, number) : term_word(&d->terms, (int32_t)number);
    }
    return pool->items[below(d, pool->count < POOL ? pool->count : POOL)];
}

static term symbol(struct drawing *d, enum term_sort sort, int32_t limit)
{
    const char *name = arena_printf(d->arena, "s %" PRIu32, d->terms.count);
    term t = limit ? term_limited(&d->terms, name, limit) : term_symbol(&d->terms, sort, name);
    for (uint32_t w = 0; w < WORLDS; w++) {
        term_value_draw(&d->terms, &d->worlds[w], t, pcg_next64(&d->rng));
        if (!limit && (sort == SORT_WORD || sort == SORT_LONG) && below(d, 2))
            d->worlds[w].words[t] = drawn_number(d, sort == SORT_LONG);
    }
    add(d, t);
    return t;
}

static void begin(struct drawing *d)
{
    terms_init(&d->terms, d->arena, TERMS);
    d->all = ARENA_ARRAY(d->arena, term, TERMS);
    for (term t = 0; t < TERMS; t++)
        d->all[t] = t;
    for (uint32_t w = 0; w < WORLDS; w++)
        term_values_init(&d->worlds[w], d->arena, TERMS);
    d->free[0] = symbol(d, SORT_WORD, 0);
    d->free[1] = symbol(d, SORT_LONG, 0);
    d->free[2] = symbol(d, SORT_BOOL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        symbol(d, SORT_BOOL, 0);
        int32_t limit = (int32_t)(1u << (3 + below(d, 20)));
        symbol(d, SORT_WORD, limit + (int32_t)below(d, 2));
    }
    symbol(d, SORT_WORD, 0);
    symbol(d, SORT_LONG, 0);
    symbol(d, SORT_ARRAY, 0);
    d->known = TERM_TRUE + 1;
}

/* ---- what operations give, word by word ---- */

static int64_t of_size(bool is_long, uint64_t bits)
{
    return is_long ? (int64_t)bits : (int32_t)(uint32_t)bits;
}

/* docs/kernel-language.md: total, wrapping; x / 0 is 0, x % 0 is x; shifts by the width or more leave nothing, or
 * signs. */
static int64_t literal(enum ast_binary op, bool is_long, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, width = is_long ? 64 : 32;
    uint64_t by = is_long ? y : (uint32_t)y;
    switch ((int)op) {
    case BINARY_MUL:
        return of_size(is_long, x * y);
    case BINARY_DIV:
        return b == 0 ? 0 : of_size(is_long, b == -1 ? 0 - x : (uint64_t)(a / b));
    case BINARY_REM:
        return b == 0 ? a : b == -1 ? 0 : a % b;
    case BINARY_ADD:
        return of_size(is_long, x + y);
    case BINARY_SUB:
        return of_size(is_long, x - y);
    case BINARY_SHL:
        return by < width ? of_size(is_long, x << by) : 0;
    case BINARY_SHR:
        return by < width ? (a < 0 ? ~(~a >> by) : a >> by) : a < 0 ? -1 : 0;
    case BINARY_AND:
        return a & b;
    case BINARY_XOR:
        return a ^ b;
    case BINARY_OR:
        return a | b;
    case BINARY_LT:
        return a < b;
    case BINARY_LE:
        return a <= b;
    case BINARY_GT:
        return a > b;
    case BINARY_GE:
        return a >= b;
    case BINARY_EQ:
        return a == b;
    case BINARY_NE:
        return a != b;
    case BINARY_LOGICAL_AND:
        return a && b;
    default:
        return a || b;
    }
}

static int64_t literal_unsigned(int op, bool is_long, int64_t a, int64_t b)
{
    uint64_t x = is_long ? (uint64_t)a : (uint32_t)a, y = is_long ? (uint64_t)b : (uint32_t)b;
    uint64_t width = is_long ? 64 : 32;
    if (op == TERM_UREM)
        return of_size(is_long, y ? x % y : x);
    if (op == TERM_UDIV)
        return of_size(is_long, y ? x / y : UINT64_MAX);
    return of_size(is_long, y < width ? x >> y : 0);
}

static int64_t expected(const struct drawing *d, const struct term_values *in,
                        const struct built *b)
{
    int64_t x = in->words[b->a], y = in->words[b->b];
    uint8_t sort = term_of(&d->terms, b->a)->sort;
    bool is_long = sort == SORT_LONG;
    switch ((enum term_op)b->op) {
    case TERM_NOT:
        return !x;
    case TERM_AND:
        return x && y;
    case TERM_OR:
        return x || y;
    case TERM_EQ:
        return x == y;
    case TERM_LESS:
        return x < y;
    case TERM_BELOW:
        return is_long ? (uint64_t)x < (uint64_t)y : (uint32_t)x < (uint32_t)y;
    case TERM_BINARY:
        return literal(b->binary, is_long, x, y);
    case TERM_UREM:
    case TERM_UDIV:
    case TERM_LSHR:
        return literal_unsigned(b->op, is_long, x, y);
    case TERM_SIGNED:
        return x;
    case TERM_UNSIGNED:
        return (uint32_t)x;
    case TERM_LOW:
        return (int32_t)(uint32_t)x;
    case TERM_ITE:
        return x ? y : in->words[b->c];
    case TERM_SELECT:
        return term_array_element(in->arrays[b->a], (int32_t)y);
    case TERM_CONSTANT:
    case TERM_SYMBOL:
    case TERM_TABLE:
    case TERM_STORE:
        break;
    }
    return 0;
}

/* ---- compared ---- */

static void evaluate(struct drawing *d)
{
    for (uint32_t w = 0; w < WORLDS; w++)
        term_values_find(&d->terms, &d->worlds[w], d->all + d->known, d->terms.count - d->known);
    for (term t = d->known; t < d->terms.count; t++)
        for (uint32_t w = 0; w < WORLDS; w++)
            if (!term_is_within(&d->terms, t, d->worlds[w].words[t]))
                complain(d, RANGES + term_of(&d->terms, t)->op,
                         arena_printf(
                             d->arena, "range: %s",
                             operation(term_of(&d->terms, t)->op, term_of(&d->terms, t)->binary)),
                         arena_printf(d->arena,
                                      "term %" PRIu32 " is %" PRId64
                                      ", which is not where it is known to lie",
                                      t, d->worlds[w].words[t]));
    d->known = d->terms.count;
}

/* An array: what is stored is there, and all else is as before. */
static bool is_stored(struct drawing *d, const struct term_values *in, const struct built *b)
{
    const struct term_array *made = in->arrays[b->result];
    int32_t at = (int32_t)in->words[b->b], other = at ^ (int32_t)(1 + below(d, 8));
    return term_array_element(made, at) == (int32_t)in->words[b->c] &&
           term_array_element(made, other) == term_array_element(in->arrays[b->a], other);
}

static void compare(struct drawing *d, const struct built *b)
{
    evaluate(d);
    for (uint32_t w = 0; w < WORLDS; w++) {
        const struct term_values *in = &d->worlds[w];
        int64_t is = in->words[b->result], should = b->op == TERM_STORE ? 0 : expected(d, in, b);
        bool right = b->op == TERM_STORE ? is_stored(d, in, b) : is == should;
        if (!right)
            complain(d, (uint32_t)b->op,
                     arena_printf(d->arena, "term: %s", operation(b->op, (int)b->binary)),
                     arena_printf(d->arena,
                                  "operation %d (%d) of %" PRId64 ", %" PRId64 ", %" PRId64
                                  " gives %" PRId64 ", and should give %" PRId64,
                                  b->op, (int)b->binary, in->words[b->a], in->words[b->b],
                                  in->words[b->c], is, should));
    }
    add(d, b->result);
}

/* ---- built ---- */

static void build_boolean(struct drawing *d, struct built *b)
{
    struct terms *t = &d->terms;
    b->a = pick(d, SORT_BOOL);
    b->b = pick(d, SORT_BOOL);
    b->op = (int[]){TERM_NOT, TERM_AND, TERM_OR, TERM_AND, TERM_OR, TERM_EQ}[below(d, 6)];
    b->result = b->op == TERM_NOT   ? term_not(t, b->a)
                : b->op == TERM_AND ? term_and(t, b->a, b->b)
                : b->op == TERM_OR  ? term_or(t, b->a, b->b)
                                    : term_eq(t, b->a, b->b);
}

static void build_comparison(struct drawing *d, struct built *b)
{
    struct terms *t = &d->terms;
    enum term_sort sort = below(d, 3) ? SORT_WORD : SORT_LONG;
    b->a = pick(d, sort);
    b->b = pick(d, sort);
    b->op = (int[]){TERM_EQ, TERM_LESS, TERM_BELOW}[below(d, 3)];
    b->result = b->op == TERM_EQ     ? term_eq(t, b->a, b->b)
                : b->op == TERM_LESS ? term_less(t, b->a, b->b)
                                     : term_below(t, b->a, b->b);
}

static void build_binary(struct drawing *d, struct built *b)
{
    enum term_sort sort = below(d, 2) ? SORT_WORD : SORT_LONG;
    b->a = pick(d, sort);
    b->b = pick(d, sort);
    b->op = TERM_BINARY;
    b->binary = (enum ast_binary)below(d, BINARY_COUNT);
    b->result = term_binary(&d->terms, b->binary, b->a, b->b);
}

static void build_unsigned(struct drawing *d, struct built *b)
{
    struct terms *t = &d->terms;
    enum term_sort sort = below(d, 2) ? SORT_WORD : SORT_LONG;
    b->a = pick(d, sort);
    b->b = pick(d, sort);
    b->op = (int[]){TERM_UREM, TERM_UDIV, TERM_LSHR}[below(d, 3)];
    b->result = b->op == TERM_UREM   ? term_urem(t, b->a, b->b)
                : b->op == TERM_UDIV ? term_udiv(t, b->a, b->b)
                                     : term_lshr(t, b->a, b->b);
}

static void build_size(struct drawing *d, struct built *b)
{
    struct terms *t = &d->terms;
    b->op = (int[]){TERM_SIGNED, TERM_UNSIGNED, TERM_LOW}[below(d, 3)];
    b->a = pick(d, b->op == TERM_LOW ? SORT_LONG : SORT_WORD);
    b->result = b->op == TERM_SIGNED     ? term_signed(t, b->a)
                : b->op == TERM_UNSIGNED ? term_unsigned(t, b->a)
                                         : term_low(t, b->a);
}

static void build_choice(struct drawing *d, struct built *b)
{
    enum term_sort sort = (enum term_sort[]){SORT_WORD, SORT_LONG, SORT_BOOL}[below(d, 3)];
    b->op = TERM_ITE;
    b->a = pick(d, SORT_BOOL);
    b->b = pick(d, sort);
    b->c = pick(d, sort);
    b->result = term_ite(&d->terms, b->a, b->b, b->c);
}

static void build_array(struct drawing *d, struct built *b)
{
    b->op = below(d, 2) ? TERM_SELECT : TERM_STORE;
    b->a = pick(d, SORT_ARRAY);
    b->b = pick(d, SORT_WORD);
    b->c = b->op == TERM_STORE ? pick(d, SORT_WORD) : (term)TERM_NONE;
    b->result = b->op == TERM_SELECT ? term_select(&d->terms, b->a, b->b)
                                     : term_store(&d->terms, b->a, b->b, b->c);
}

/* ---- what is made of whole terms ---- */

/* Where `given` holds. */
static void check_under(struct drawing *d)
{
    term given = pick(d, SORT_BOOL), value = pick(d, SORT_WORD);
    term under = term_under(&d->terms, given, value);
    for (uint32_t w = 0; w < WORLDS; w++) {
        const int64_t *words = d->worlds[w].words;
        if (words[given] && words[under] != words[value])
            complain(d, WHOLE, "term: under a condition",
                     "a value under a condition that holds is another one");
    }
}

/* The values of terms in a world in which the symbol is another one. */
static struct term_values with(struct drawing *d, uint32_t world, term from, int64_t value)
{
    struct term_values values;
    term_values_init(&values, d->arena, TERMS);
    memcpy(values.words, d->worlds[world].words, d->known * sizeof *values.words);
    memcpy(values.arrays, d->worlds[world].arrays, d->known * sizeof *values.arrays);
    values.words[from] = value;
    term_values_find(&d->terms, &values, d->all + TERM_TRUE + 1, d->known - TERM_TRUE - 1);
    return values;
}

static void check_replaced(struct drawing *d)
{
    enum term_sort sorts[] = {SORT_WORD, SORT_LONG, SORT_BOOL};
    uint32_t n = below(d, 3), world = below(d, WORLDS);
    term from = d->free[n], to = pick(d, sorts[n]), old[REPLACED], now[REPLACED];
    for (uint32_t i = 0; i < REPLACED; i++)
        old[i] = pick(d, sorts[below(d, 3)]);
    evaluate(d);
    struct term_values values = with(d, world, from, d->worlds[world].words[to]);
    term_replace_all(&d->terms, &from, &to, 1, old, now, REPLACED);
    evaluate(d);
    for (uint32_t i = 0; i < REPLACED; i++)
        if (d->worlds[world].words[now[i]] != values.words[old[i]])
            complain(d, WHOLE + 1, "term: replaced",
                     arena_printf(d->arena,
                                  "with a symbol replaced a term is %" PRId64
                                  ", and should be %" PRId64,
                                  d->worlds[world].words[now[i]], values.words[old[i]]));
}

/* Whoever asks for values names what is mentioned. */
static bool is_declared(struct drawing *d, const char *text, term t)
{
    struct text line = text_begin(d->arena);
    text_put(&line, "(declare-fun ");
    term_print_name(&line, &d->terms, t);
    text_put(&line, " () ");
    return term_of(&d->terms, t)->op == TERM_CONSTANT || strstr(text, line.bytes);
}

static void check_text(struct drawing *d)
{
    struct text out = text_begin(d->arena);
    term mentioned[8]; /* the first one is asserted */
    for (uint32_t i = 0; i < 8; i++)
        mentioned[i] = pick(d, (enum term_sort)(i % SORTS));
    evaluate(d);
    term_print(&out, &d->terms, mentioned, 1, mentioned, 8, NULL, 0);
    const char *wrong =
        smt_text_false(d->arena, out.bytes, &d->terms, &d->worlds[below(d, WORLDS)]);
    struct text root = text_begin(d->arena);
    text_put(&root, "\n(assert ");
    term_print_name(&root, &d->terms, mentioned[0]);
    text_put(&root, ")\n");
    if (!wrong &&
        (out.length < root.length || strcmp(out.bytes + out.length - root.length, root.bytes) != 0))
        wrong = "something else in the end";
    for (uint32_t i = 0; i < 8 && !wrong; i++)
        if (!is_declared(d, out.bytes, mentioned[i]))
            wrong = "nothing of what is mentioned";
    if (wrong)
        complain(d, WHOLE + 2, "term: text",
                 arena_printf(d->arena, "the solver is told '%s', which is false", wrong));
}

static const struct drawing *draw_terms(struct arena *arena, uint64_t seed)
{
    static void (*const builders[])(struct drawing *, struct built *) = {
        build_boolean, build_boolean,  build_boolean, build_comparison, build_comparison,
        build_binary,  build_binary,   build_binary,  build_binary,     build_unsigned,
        build_size,    build_unsigned, build_choice,  build_choice,     build_array};
    struct drawing *d = ARENA_NEW(arena, struct drawing);
    d->arena = arena;
    pcg_seed(&d->rng, seed, 1);
    begin(d);
    for (uint32_t i = 0; i < STEPS && !d->fault.what && !d->terms.full; i++) {
        struct built b = {.op = TERM_NOT};
        builders[below(d, sizeof builders / sizeof builders[0])](d, &b);
        compare(d, &b);
        if (i % 8 == 0)
            check_under(d);
    }
    if (!d->fault.what)
        check_replaced(d);
    if (!d->fault.what)
        check_text(d);
    return d;
}

struct retrace_fault drawn_terms(struct arena *arena, uint64_t seed)
{
    return draw_terms(arena, seed)->fault;
}

struct retrace_fault drawn_terms_cause(struct arena *arena)
{
    struct retrace_fault first = {NULL, NULL};
    uint32_t rank = UINT32_MAX;
    for (uint64_t seed = 0; seed < LOCATED; seed++) {
        size_t mark = arena_mark(arena);
        const struct drawing *d = draw_terms(arena, seed);
        if (d->fault.what && d->rank < rank) {
            rank = d->rank;
            first = d->fault;
        } else {
            arena_release(arena, mark);
        }
    }
    return first;
}
