/*
 * drawn_expr.c - names and expressions of a drawn kernel.
 */
#include "oracle/drawn/drawn_internal.h"

#include <string.h>

/* ---- names ---- */

/* Such as a reader might take for something else; none of a function (drawn_kernel.c). */
static const char *const pool[NAMES] = {
    "x",     "y",    "_",   "x1",     "tid_",   "if_",      "all",      "any",
    "out",   "pick", "End", "Start",  "ending", "INT",      "lanes",    "steps",
    "final", "race", "i",   "blockx", "_0x1f",  "progress", "lockstep", "uni"};

static bool is_taken(const struct maker *m, uint32_t from, const char *name)
{
    for (uint32_t i = from; i < m->count; i++)
        if (strcmp(m->names[i].name, name) == 0)
            return true;
    return false;
}

bool maker_is_hidden(const struct maker *m, const struct name *n)
{
    return n - m->names < m->file_count && is_taken(m, m->file_count, n->name);
}

const char *maker_new_name(struct maker *m, uint32_t from)
{
    uint32_t at = below(m, NAMES);
    while (is_taken(m, from, pool[at]))
        at = (at + 1) % NAMES;
    return pool[at];
}

/* The variable that this name means: the last one declared, as those of a function hide those of the file. */
const struct name *maker_find(struct maker *m, bool array, bool is_private)
{
    uint32_t first = below(m, m->count);
    for (uint32_t k = 0; k < m->count; k++) {
        const struct name *n = &m->names[(first + k) % m->count];
        bool mine = n->space == SPACE_PRIVATE || n->space == SPACE_LOCAL;
        if (!maker_is_hidden(m, n) && (n->length > 0) == array && (mine || !is_private))
            return n;
    }
    return NULL;
}

/* ---- expressions ---- */

static void expression(struct maker *m, uint32_t level, uint32_t depth);

static void number(struct maker *m)
{
    bool negative = once_in(m, 4);
    put(m, negative ? "-" : "");
    uint32_t value = drawn_number(m->d);
    drawn_number_word(m->d, (int32_t)(negative ? 0u - value : value));
}

void maker_scalar(struct maker *m, const struct name *n)
{
    say(m, words_of_space[n->space]);
    say(m, n->name);
    put(m, n->name);
}

bool maker_errs(struct maker *m, const char *told)
{
    if (!m->mistake || m->mistake->told || !once_in(m, m->mistake->places))
        return false;
    m->mistake->told = told;
    return true;
}

void maker_wrong(struct maker *m, const char *token)
{
    put(m, token);
    m->mistake->at = m->d->text.length - strlen(token);
}

/* A name that nobody declares, an array without an index, an index of what is no array. */
static bool wrong_place(struct maker *m)
{
    const struct name *scalar = maker_find(m, false, false), *array = maker_find(m, true, false);
    if (maker_errs(m, "nobody")) {
        maker_wrong(m, "nobody");
    } else if (array && maker_errs(m, "is used without an index")) {
        maker_wrong(m, array->name);
    } else if (scalar && maker_errs(m, "is not an array")) {
        maker_wrong(m, scalar->name);
        put(m, "[");
        put(m, "0");
        put(m, "]");
    } else {
        return false;
    }
    return true;
}

void maker_place(struct maker *m, bool is_private, uint32_t depth)
{
    if (wrong_place(m))
        return;
    const struct name *n = maker_find(m, depth > 0 && once_in(m, 2), is_private);
    if (!n)
        n = maker_find(m, false, is_private);
    if (n->length > 0)
        say(m, "element");
    maker_scalar(m, n);
    if (n->length > 0) {
        put(m, "[");
        expression(m, TOP, depth - 1);
        put(m, "]");
    }
}

/* What no expression is. */
static bool wrong_leaf(struct maker *m)
{
    if (maker_errs(m, "does not fit in 32 bits")) {
        maker_wrong(m, "4294967296");
    } else if (maker_errs(m, "nobody")) {
        maker_wrong(m, "nobody");
        put(m, "(");
        put(m, ")");
    } else if (m->form == FORM_BLOCKS &&
               maker_errs(m, "stands only in a kernel in lock-step form")) {
        maker_wrong(m, "all");
        put(m, "(");
        put(m, "1");
        put(m, ")");
    } else if (m->reduces && maker_errs(m, "stands inside of another")) {
        maker_wrong(m, "any");
        put(m, "(");
        put(m, "1");
        put(m, ")");
    } else {
        return false;
    }
    return true;
}

static void leaf(struct maker *m, uint32_t depth)
{
    static const char *const names[BUILTIN_COUNT] = {
        [BUILTIN_TID] = "tid",      [BUILTIN_THREADS] = "threads",     [BUILTIN_LANE] = "lane",
        [BUILTIN_WARP] = "warp",    [BUILTIN_WARP_SIZE] = "warp_size", [BUILTIN_BID] = "bid",
        [BUILTIN_BLOCKS] = "blocks"};
    uint32_t kind = below(m, 5);
    if (wrong_leaf(m))
        return;
    if (kind < 2) {
        number(m);
    } else if (kind == 2) {
        uint32_t builtin = below(m, BUILTIN_COUNT);
        say(m, words_of_builtin[builtin]);
        put(m, names[builtin]);
    } else {
        maker_place(m, false, depth);
    }
}

/* `-` before a number is a part of it. */
static void unary(struct maker *m, uint32_t depth)
{
    static const char *const tokens[] = {
        [UNARY_NEG] = "-", [UNARY_NOT] = "!", [UNARY_COMPLEMENT] = "~"};
    enum ast_unary op = (enum ast_unary)below(m, 3);
    say(m, words_of_unary[op]);
    put(m, tokens[op]);
    if (op != UNARY_NEG) {
        expression(m, LEVEL_UNARY, depth - 1);
    } else if (once_in(m, 3)) {
        unary(m, 1);
    } else {
        put(m, "(");
        expression(m, TOP, depth - 1);
        put(m, ")");
    }
}

static void binary(struct maker *m, uint32_t op, uint32_t depth)
{
    say(m, words_of_binary[op]);
    expression(m, drawn_operators[op].level, depth - 1);
    put(m, drawn_operators[op].token);
    expression(m, drawn_operators[op].level + 1, depth - 1);
}

static void choice(struct maker *m, uint32_t depth)
{
    say(m, "choose");
    expression(m, TOP + 1, depth - 1);
    put(m, "?");
    expression(m, TOP, depth - 1);
    put(m, ":");
    expression(m, TOP, depth - 1);
}

static void reduction(struct maker *m, uint32_t depth)
{
    bool all = once_in(m, 2);
    say(m, all ? "for-all" : "for-any");
    put(m, all ? "all" : "any");
    put(m, "(");
    m->reduces = true;
    expression(m, TOP, depth - 1);
    m->reduces = false;
    put(m, ")");
}

/* One that stands where only operators of this level and above may, or in parentheses. */
static void expression(struct maker *m, uint32_t level, uint32_t depth)
{
    uint32_t kind = below(m, 12), op = below(m, BINARY_COUNT), own = LEVEL_UNARY;
    if (depth == 0 || kind < 3)
        kind = 0;
    else if (kind > 8)
        own = TOP;
    else if (kind > 4)
        own = drawn_operators[op].level;
    bool parentheses = own < level || once_in(m, 8);
    if (parentheses)
        put(m, "(");
    if (kind == 0)
        leaf(m, depth);
    else if (kind == 3 && m->form == FORM_LOCKSTEP && !m->reduces)
        reduction(m, depth);
    else if (kind < 5)
        unary(m, depth);
    else if (own == TOP)
        choice(m, depth);
    else
        binary(m, op, depth);
    if (parentheses)
        put(m, ")");
}

void maker_expression(struct maker *m)
{
    uint32_t depth = below(m, DEPTH + 1);
    expression(m, TOP, depth);
}

/* Its value is known: a number, or an operation on two. Not said. */
int32_t maker_constant(struct maker *m)
{
    bool negative = once_in(m, 3), two = once_in(m, 4);
    if (negative)
        put(m, "-");
    uint32_t a = drawn_number(m->d);
    a = negative ? 0u - a : a;
    if (!two)
        return (int32_t)a;
    static const char *const tokens[] = {"+", "-", "*", "&", "^", "|"};
    uint32_t op = below(m, 6);
    put(m, tokens[op]);
    uint32_t b = drawn_number(m->d);
    const uint32_t values[] = {a + b, a - b, a * b, a & b, a ^ b, a | b};
    return (int32_t)values[op];
}
