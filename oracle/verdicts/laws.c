/*
 * laws.c - what a normal form promises: terms that are plainly equal are one term (engine/smt/term.h), ranges are as
 * narrow as their operands say, and a table of terms shares them however large it grows, up to its limit. A formula
 * that is not made smaller is still true, so nobody else notices.
 */
#include "engine/base/pcg.h"
#include "engine/smt/term.h"
#include "oracle/verdicts/verdicts.h"

#include <inttypes.h>

enum { TERMS = 1 << 13, MANY = 1500 };

struct lawful {
    struct arena *arena;
    struct terms *t;
    struct pcg rng;
    const char *why;
};

/* Both sides are one term. */
static void same(struct lawful *l, const char *law, term left, term right)
{
    if (left != right && !l->why)
        l->why = arena_printf(l->arena, "%s: terms %" PRIu32 " and %" PRIu32, law, left, right);
}
#define SAME(left, right) same(l, #left " is " #right, left, right)

static void range(struct lawful *l, const char *law, term of, int64_t least, int64_t most)
{
    const struct term_node *node = term_of(l->t, of);
    if ((node->least != least || node->most != most) && !l->why)
        l->why = arena_printf(l->arena,
                              "%s lies from %" PRId64 " to %" PRId64 ", and not from %" PRId64
                              " to %" PRId64,
                              law, least, most, node->least, node->most);
}
#define RANGE(of, least, most) range(l, #of, of, least, most)

/* A name is what it says, wherever it lies. */
static term symbol(struct lawful *l, enum term_sort sort, const char *name)
{
    return term_symbol(l->t, sort, arena_printf(l->arena, "%s", name));
}

/* Either way around. */
static void swap(struct lawful *l, term *a, term *b)
{
    const term first = *a;
    if (pcg_below(&l->rng, 2)) {
        *a = *b;
        *b = first;
    }
}

/* ---- Booleans ---- */

#define NOT(a) term_not(l->t, a)
#define AND(a, b) term_and(l->t, a, b)
#define OR(a, b) term_or(l->t, a, b)

static void of_booleans(struct lawful *l)
{
    term a = symbol(l, SORT_BOOL, "a"), b = symbol(l, SORT_BOOL, "b"),
         c = symbol(l, SORT_BOOL, "c"), e = symbol(l, SORT_BOOL, "e");
    swap(l, &a, &b);
    swap(l, &b, &c);
    SAME(NOT(NOT(a)), a);
    SAME(symbol(l, SORT_WORD, "x"), symbol(l, SORT_WORD, "x"));
    SAME(AND(a, a), a);
    SAME(OR(a, a), a);
    SAME(AND(a, TERM_TRUE), a);
    SAME(OR(TERM_FALSE, a), a);
    SAME(AND(a, TERM_FALSE), TERM_FALSE);
    SAME(OR(TERM_TRUE, a), TERM_TRUE);
    SAME(AND(a, b), AND(b, a));
    SAME(OR(a, b), OR(b, a));
    SAME(AND(a, NOT(a)), TERM_FALSE);
    SAME(OR(NOT(a), a), TERM_TRUE);
    SAME(AND(AND(AND(a, b), c), a), AND(AND(a, b), c));
    SAME(OR(a, OR(OR(a, b), c)), OR(OR(a, b), c));
    SAME(AND(AND(a, b), NOT(a)), TERM_FALSE);
    SAME(OR(OR(a, b), NOT(b)), TERM_TRUE);
    SAME(AND(a, OR(a, b)), a);
    SAME(OR(AND(a, b), a), a);
    SAME(AND(a, OR(NOT(a), b)), AND(a, b));
    SAME(OR(a, AND(b, NOT(a))), OR(a, b));
    SAME(AND(a, NOT(AND(a, b))), AND(a, NOT(b)));
    SAME(OR(NOT(OR(b, a)), a), OR(a, NOT(b)));
    SAME(OR(AND(a, b), AND(NOT(b), a)), a);
    SAME(AND(OR(b, a), OR(a, NOT(b))), a);
    SAME(OR(OR(AND(a, b), c), AND(a, NOT(b))), OR(a, c));
    SAME(AND(AND(a, b), OR(a, c)), AND(a, b));
    SAME(OR(OR(AND(a, b), AND(a, c)), a), a);
    SAME(term_implies(l->t, a, b), OR(b, NOT(a)));
    SAME(term_eq(l->t, a, a), TERM_TRUE);
    SAME(term_eq(l->t, a, b), term_eq(l->t, b, a));
    SAME(term_eq(l->t, a, TERM_TRUE), a);
    SAME(term_eq(l->t, TERM_FALSE, a), NOT(a));
    SAME(term_eq(l->t, a, NOT(a)), TERM_FALSE);
    SAME(term_ite(l->t, a, b, c), OR(AND(a, b), AND(NOT(a), c)));
    SAME(term_ite(l->t, NOT(a), b, e), term_ite(l->t, a, e, b));
}

/* ---- words of both sizes ---- */

#define OP(op, a, b) term_binary(l->t, BINARY_##op, a, b)
#define ITE(c, a, b) term_ite(l->t, c, a, b)
#define N(n) term_number(l->t, x, n)

static void of_words(struct lawful *l, enum term_sort sort)
{
    const bool is_long = sort == SORT_LONG;
    const uint32_t width = is_long ? 64 : 32, by = 1 + pcg_below(&l->rng, width - 2);
    const int64_t k = 2 + pcg_below(&l->rng, 1000), m = k + 1 + pcg_below(&l->rng, 1000);
    const term c = symbol(l, SORT_BOOL, "c"), e = symbol(l, SORT_BOOL, "e");
    term x = symbol(l, sort, is_long ? "x64" : "x"), y = symbol(l, sort, is_long ? "y64" : "y");
    const term z = symbol(l, sort, is_long ? "z64" : "z");
    swap(l, &x, &y);
    SAME(OP(ADD, x, y), OP(ADD, y, x));
    SAME(OP(MUL, x, y), OP(MUL, y, x));
    SAME(OP(AND, x, y), OP(AND, y, x));
    SAME(OP(OR, x, y), OP(OR, y, x));
    SAME(OP(XOR, x, y), OP(XOR, y, x));
    SAME(OP(ADD, x, N(0)), x);
    SAME(OP(SUB, x, N(0)), x);
    SAME(OP(SUB, x, x), N(0));
    SAME(OP(MUL, N(1), x), x);
    SAME(OP(MUL, x, N(0)), N(0));
    SAME(OP(AND, N(-1), x), x);
    SAME(OP(AND, x, N(0)), N(0));
    SAME(OP(OR, x, N(0)), x);
    SAME(OP(XOR, N(0), x), x);
    SAME(OP(SHL, x, N(0)), x);
    SAME(OP(SHR, x, N(0)), x);
    SAME(OP(DIV, x, N(1)), x);
    SAME(OP(DIV, x, N(0)), N(0));
    SAME(OP(REM, x, N(1)), N(0));
    SAME(OP(REM, x, N(0)), x);
    SAME(OP(ADD, OP(ADD, x, N(k)), N(m)), OP(ADD, N(k + m), x));
    SAME(OP(SUB, OP(ADD, x, N(k)), N(k)), x);
    SAME(OP(SUB, x, N(k)), OP(ADD, x, N(-k)));
    SAME(OP(AND, OP(MUL, x, N((int64_t)1 << by)), N(((int64_t)1 << by) - 1)), N(0));
    SAME(term_eq(l->t, OP(MUL, x, N((int64_t)1 << by)), N(2 * k + 1)), TERM_FALSE);
    SAME(term_eq(l->t, x, y), term_eq(l->t, y, x));
    SAME(term_eq(l->t, x, x), TERM_TRUE);
    SAME(term_less(l->t, x, x), TERM_FALSE);
    SAME(term_below(l->t, x, x), TERM_FALSE);
    SAME(term_eq(l->t, N(k), N(m)), TERM_FALSE);
    SAME(term_less(l->t, N(-m), N(k)), TERM_TRUE);
    SAME(term_below(l->t, N(-m), N(k)), TERM_FALSE);
    SAME(OP(GE, x, y), OP(LE, y, x));
    SAME(OP(GT, x, y), OP(LT, y, x));
    SAME(term_urem(l->t, x, N(0)), x);
    SAME(term_urem(l->t, x, N(1)), N(0));
    SAME(term_udiv(l->t, x, N(1)), x);
    SAME(term_lshr(l->t, x, N(0)), x);
    SAME(term_lshr(l->t, x, N(width)), N(0));
    SAME(ITE(c, x, x), x);
    SAME(ITE(TERM_TRUE, x, y), x);
    SAME(ITE(TERM_FALSE, x, y), y);
    SAME(ITE(NOT(c), x, y), ITE(c, y, x));
    SAME(ITE(c, ITE(c, x, y), z), ITE(c, x, z));
    SAME(ITE(c, x, ITE(c, y, z)), ITE(c, x, z));
    SAME(term_under(l->t, c, ITE(c, x, y)), x);
    SAME(term_under(l->t, NOT(c), ITE(c, x, y)), y);
    SAME(term_under(l->t, AND(c, e), ITE(e, ITE(c, x, y), z)), x);
    SAME(term_under(l->t, AND(c, e), ITE(NOT(OR(c, e)), x, ITE(e, y, z))), y);
    SAME(term_under(l->t, c, ITE(e, x, y)), ITE(e, x, y));
    RANGE(OP(SHR, x, N(by)), (is_long ? INT64_MIN : INT32_MIN) >> by,
          (is_long ? INT64_MAX : INT32_MAX) >> by);
    RANGE(term_lshr(l->t, x, N(by)), 0, (int64_t)((is_long ? UINT64_MAX : UINT32_MAX) >> by));
    RANGE(OP(REM, x, N(k)), 1 - k, k - 1);
    RANGE(term_urem(l->t, x, N(k)), 0, k - 1);
    RANGE(OP(AND, x, N(k)), 0, k);
    RANGE(ITE(c, N(-k), N(m)), -k, m);
}

/* ---- one size or the other ---- */

#define K(n) term_word(l->t, (int32_t)(n))
#define L(n) term_long(l->t, n)
#define SIGNED(a) term_signed(l->t, a)
#define UNSIGNED(a) term_unsigned(l->t, a)
#define LOW(a) term_low(l->t, a)

static void of_sizes(struct lawful *l)
{
    const term x = symbol(l, SORT_WORD, "x"), y = symbol(l, SORT_WORD, "y"),
               u = symbol(l, SORT_LONG, "u"), v = symbol(l, SORT_LONG, "v"),
               c = symbol(l, SORT_BOOL, "c");
    const int64_t k = 1 + pcg_below(&l->rng, 1 << 20);
    const uint32_t by = 1 + pcg_below(&l->rng, 31);
    const int64_t two = (int64_t)1 << by;
    SAME(LOW(SIGNED(x)), x);
    SAME(LOW(UNSIGNED(x)), x);
    SAME(LOW(term_joined(l->t, x, y)), x);
    SAME(term_eq(l->t, ITE(c, K(k), K(-k)), K(k)), c);
    SAME(term_eq(l->t, K(-k), ITE(c, K(k), K(-k))), NOT(c));
    SAME(term_eq(l->t, ITE(c, K(k), K(k + 2)), K(k + 1)), TERM_FALSE);
    SAME(term_holds(l->t, term_as_word(l->t, c)), c);
    SAME(LOW(OP(ADD, u, v)), OP(ADD, LOW(u), LOW(v)));
    SAME(LOW(OP(MUL, u, L(k))), OP(MUL, LOW(u), K(k)));
    SAME(LOW(term_lshr(l->t, OP(MUL, u, L(two * k)), L(by))), OP(MUL, LOW(u), K(k)));
    SAME(LOW(term_lshr(l->t, OP(ADD, OP(MUL, u, L(two)), L(two * k)), L(by))),
         OP(ADD, LOW(u), K(k)));
    SAME(OP(SHL, u, L(by)), OP(MUL, u, L(two)));
    SAME(OP(ADD, OP(ADD, u, L(k)), v), OP(ADD, OP(ADD, u, v), L(k)));
    SAME(OP(ADD, v, OP(ADD, u, L(k))), OP(ADD, OP(ADD, u, v), L(k)));
    SAME(term_unary(l->t, UNARY_NEG, x), OP(SUB, K(0), x));
    SAME(term_unary(l->t, UNARY_COMPLEMENT, x), OP(XOR, x, K(-1)));
    RANGE(UNSIGNED(x), 0, UINT32_MAX);
    RANGE(SIGNED(x), INT32_MIN, INT32_MAX);
    RANGE(OP(MUL, UNSIGNED(x), L(k)), 0, UINT32_MAX * k);
}

/* ---- words that are below a limit ---- */

static int64_t all_ones(int64_t from)
{
    int64_t ones = 0;
    while (ones < from)
        ones = 2 * ones + 1;
    return ones;
}

static void of_limits(struct lawful *l)
{
    const int32_t n = 2 + (int32_t)pcg_below(&l->rng, 1 << (1 + pcg_below(&l->rng, 14))),
                  o = 2 + (int32_t)pcg_below(&l->rng, 1 << (1 + pcg_below(&l->rng, 14))),
                  k = 1 + (int32_t)pcg_below(&l->rng, 9), by = 1 + (int32_t)pcg_below(&l->rng, 8);
    const term i = term_limited(l->t, arena_printf(l->arena, "i%d", (int)n), n),
               j = term_limited(l->t, arena_printf(l->arena, "j%d", (int)o), o);
    const int64_t most_i = n - 1, most_j = o - 1, more = most_i > most_j ? most_i : most_j,
                  less = most_i + most_j - more;
    RANGE(i, 0, most_i);
    RANGE(OP(ADD, i, j), 0, most_i + most_j);
    RANGE(OP(SUB, i, j), -most_j, most_i);
    RANGE(OP(MUL, j, i), 0, most_i * most_j);
    RANGE(OP(MUL, i, K(-k)), -k * most_i, 0);
    RANGE(OP(AND, i, j), 0, less);
    RANGE(OP(OR, i, j), 0, all_ones(more));
    RANGE(OP(XOR, i, j), 0, all_ones(more));
    RANGE(OP(SHR, i, K(by)), 0, most_i >> by);
    RANGE(OP(DIV, i, K(k)), 0, most_i / k);
    RANGE(OP(REM, OP(ADD, i, K(k)), K(k + 1)), 0, k);
    SAME(term_less(l->t, i, K(n)), TERM_TRUE);
    SAME(term_below(l->t, i, K(n)), TERM_TRUE);
    SAME(term_less(l->t, i, K(0)), TERM_FALSE);
    SAME(term_below(l->t, K(-k), i), TERM_FALSE);
    SAME(term_below(l->t, i, K(-k)), TERM_TRUE);
    SAME(term_less(l->t, OP(ADD, i, K(n)), i), TERM_FALSE);
    SAME(term_eq(l->t, i, K(n)), TERM_FALSE);
    SAME(term_eq(l->t, K(-k), i), TERM_FALSE);
    SAME(term_urem(l->t, i, K(n)), i);
    SAME(OP(AND, i, K(all_ones(most_i))), i);
    SAME(SIGNED(i), UNSIGNED(i));
    SAME(SIGNED(OP(ADD, i, j)), OP(ADD, UNSIGNED(i), UNSIGNED(j)));
    SAME(UNSIGNED(OP(MUL, i, K(k + 1))), OP(MUL, UNSIGNED(i), L(k + 1)));
    SAME(term_lshr(l->t, OP(MUL, UNSIGNED(i), L((int64_t)1 << by)), L(by)), UNSIGNED(i));
    SAME(term_lshr(l->t, OP(ADD, OP(MUL, UNSIGNED(i), L(k << by)), L(k << by)), L(by)),
         OP(ADD, OP(MUL, UNSIGNED(i), L(k)), L(k)));
}

/* ---- arrays ---- */

static void of_arrays(struct lawful *l)
{
    const term a = symbol(l, SORT_ARRAY, "m"), x = symbol(l, SORT_WORD, "x"),
               y = symbol(l, SORT_WORD, "y");
    const int32_t k = (int32_t)pcg_next(&l->rng), other = k ^ (1 << pcg_below(&l->rng, 31));
    SAME(term_select(l->t, term_store(l->t, a, x, y), x), y);
    SAME(term_select(l->t, term_table(l->t, y), x), y);
    SAME(term_select(l->t, term_store(l->t, a, K(k), y), K(other)), term_select(l->t, a, K(other)));
    SAME(term_select(l->t, term_store(l->t, term_store(l->t, a, K(k), y), K(other), x), K(k)), y);
    SAME(term_eq(l->t, a, a), TERM_TRUE);
}

/* ---- the table ---- */

/* However large it grows equal terms are one; at its limit it says that it is full, and stays as it is. */
static void of_tables(struct lawful *l)
{
    const uint32_t limit = 64 + pcg_below(&l->rng, MANY);
    struct terms terms, *const before = l->t;
    terms_init(&terms, l->arena, limit);
    l->t = &terms;
    const uint32_t first = terms.count;
    for (uint32_t n = first; n < limit; n++)
        same(l, "a new term has the next number", K(n), n);
    for (uint32_t n = first; n < limit; n++)
        same(l, "a term keeps its number", K(n), n);
    same(l, "below its limit a table is not full", terms.full, false);
    same(l, "what is no more in a table is false", symbol(l, SORT_BOOL, "more"), TERM_FALSE);
    same(l, "at its limit a table is full", terms.full, true);
    same(l, "at its limit a table stays", terms.count, limit);
    same(l, "at its limit terms keep their numbers", K(first), first);
    l->t = before;
}

struct verdicts_fault laws_judge(struct arena *arena, uint64_t seed)
{
    struct terms terms;
    struct lawful l = {.arena = arena, .t = &terms};
    pcg_seed(&l.rng, seed, 6);
    terms_init(&terms, arena, TERMS);
    of_booleans(&l);
    of_words(&l, SORT_WORD);
    of_words(&l, SORT_LONG);
    of_sizes(&l);
    of_limits(&l);
    of_arrays(&l);
    if (seed % 16 == 0)
        of_tables(&l);
    return (struct verdicts_fault){l.why ? "terms that are one" : NULL, l.why};
}
