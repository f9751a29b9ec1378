/*
 * drawn_constant.c - constant expressions of PTX, computed here once more.
 */
#include "oracle/drawn/drawn.h"

#include <inttypes.h>

/* ---- constants (PTX ISA 4.5): 64 bits, signed unless something is unsigned ---- */

struct constant {
    uint64_t bits;
    bool is_unsigned;
};

static struct constant literal(struct drawn *d)
{
    static const uint64_t bounds[] = {
        0, 1, 7, 8, 63, 64, UINT32_MAX, INT64_MAX, UINT64_MAX, 1u << 31, (uint64_t)1 << 63};
    uint32_t kind = drawn_below(d, 4), form = drawn_below(d, 6);
    bool marked = drawn_once_in(d, 3);
    uint64_t value = drawn_below(d, 20);
    if (kind == 0)
        value = bounds[drawn_below(d, sizeof bounds / sizeof *bounds)];
    const char *u = marked ? "U" : "";
    if (form == 0 && value < 256) {
        char digits[9];
        for (uint32_t i = 0; i < 8; i++)
            digits[i] = (char)('0' + (value >> (7 - i) & 1));
        digits[8] = '\0';
        drawn_token(d, arena_printf(d->arena, "0b%s%s", digits, u));
    } else {
        drawn_token(d, form == 1   ? arena_printf(d->arena, "0%" PRIo64 "%s", value, u)
                       : form == 2 ? arena_printf(d->arena, "0x%" PRIx64 "%s", value, u)
                       : form == 3 ? arena_printf(d->arena, "0X%016" PRIX64 "%s", value, u)
                                   : arena_printf(d->arena, "%" PRIu64 "%s", value, u));
    }
    return (struct constant){value, marked || value > INT64_MAX};
}

static bool is_less(struct constant a, struct constant b, bool is_unsigned)
{
    return is_unsigned ? a.bits < b.bits : (int64_t)a.bits < (int64_t)b.bits;
}

static struct constant shifted(struct constant a, uint64_t by, bool left)
{
    uint64_t fill = !left && !a.is_unsigned && (int64_t)a.bits < 0 ? UINT64_MAX : 0;
    for (uint64_t i = 0; i < by && i < 64; i++)
        a.bits = left ? a.bits * 2 : a.bits / 2 | (fill & (uint64_t)1 << 63);
    return a;
}

static struct constant compute(uint32_t op, struct constant a, struct constant b)
{
    const bool u = a.is_unsigned || b.is_unsigned;
    const uint64_t values[BINARY_COUNT] = {
        [BINARY_MUL] = a.bits * b.bits,          [BINARY_ADD] = a.bits + b.bits,
        [BINARY_SUB] = a.bits - b.bits,          [BINARY_LT] = is_less(a, b, u),
        [BINARY_LE] = !is_less(b, a, u),         [BINARY_GT] = is_less(b, a, u),
        [BINARY_GE] = !is_less(a, b, u),         [BINARY_EQ] = a.bits == b.bits,
        [BINARY_NE] = a.bits != b.bits,          [BINARY_AND] = a.bits & b.bits,
        [BINARY_XOR] = a.bits ^ b.bits,          [BINARY_OR] = a.bits | b.bits,
        [BINARY_LOGICAL_AND] = a.bits && b.bits, [BINARY_LOGICAL_OR] = a.bits || b.bits};
    const bool truth = (op >= BINARY_LT && op <= BINARY_NE) || op >= BINARY_LOGICAL_AND;
    if (op == BINARY_SHL || op == BINARY_SHR)
        return shifted(a, b.bits, op == BINARY_SHL);
    return (struct constant){values[op], u && !truth};
}

/* A quotient by a number that is neither 0 nor -1, or a rest, which is of unsigned numbers. */
static struct constant divided(struct drawn *d, struct constant a, bool rest)
{
    uint32_t by = 1 + drawn_below(d, 9);
    bool marked = drawn_once_in(d, 4), u = a.is_unsigned || marked || rest;
    drawn_token(d, arena_printf(d->arena, marked ? "%uU" : "%u", by));
    uint64_t value = rest ? a.bits % by : u ? a.bits / by : (uint64_t)((int64_t)a.bits / by);
    return (struct constant){value, u};
}

static struct constant constant(struct drawn *d, uint32_t level, uint32_t depth);

static struct constant prefixed(struct drawn *d, uint32_t depth)
{
    uint32_t kind = drawn_once_in(d, 3) ? 0 : drawn_below(d, 5);
    drawn_token(d, kind == 0   ? "-"
                   : kind == 1 ? "~"
                   : kind == 2 ? "!"
                   : kind == 3 ? "(.u64)"
                               : "(.s64)");
    struct constant a = constant(d, 11, depth - 1);
    const struct constant values[] = {{0 - a.bits, a.is_unsigned},
                                      {~a.bits, true},
                                      {!a.bits, false},
                                      {a.bits, true},
                                      {a.bits, false}};
    return values[kind];
}

static struct constant chosen(struct drawn *d, uint32_t depth)
{
    struct constant guard = constant(d, 1, depth - 1);
    drawn_token(d, "?");
    struct constant yes = constant(d, 0, depth - 1);
    drawn_token(d, ":");
    struct constant no = constant(d, 0, depth - 1);
    return guard.bits ? yes : no;
}

static struct constant binary(struct drawn *d, uint32_t op, uint32_t depth)
{
    struct constant a = constant(d, drawn_operators[op].level, depth - 1);
    drawn_token(d, drawn_operators[op].token);
    if (op == BINARY_DIV || op == BINARY_REM)
        return divided(d, a, op == BINARY_REM);
    struct constant b = constant(d, drawn_operators[op].level + 1, depth - 1);
    return compute(op, a, b);
}

static struct constant constant(struct drawn *d, uint32_t level, uint32_t depth)
{
    uint32_t kind = drawn_below(d, 8), op = drawn_below(d, BINARY_COUNT), own = 11;
    if (depth == 0 || kind < 3)
        kind = 0;
    else if (kind > 6)
        own = 0;
    else if (kind > 3)
        own = drawn_operators[op].level;
    bool parentheses = own < level || drawn_once_in(d, 8);
    drawn_token(d, parentheses ? "(" : "");
    struct constant value = kind == 0   ? literal(d)
                            : kind == 3 ? prefixed(d, depth)
                            : own == 0  ? chosen(d, depth)
                                        : binary(d, op, depth);
    drawn_token(d, parentheses ? ")" : "");
    return value;
}

uint64_t drawn_constant(struct drawn *d)
{
    uint32_t depth = 1 + drawn_below(d, 3);
    return constant(d, 0, depth).bits;
}

uint64_t drawn_literal(struct drawn *d)
{
    return literal(d).bits;
}
