/*
 * Constant expressions and initialisers. Integers are 64 bits wide, signed unless an operand is
 * unsigned; overflow wraps (PTX ISA 4.5).
 */
#include "engine/ptx/ptx_parse_internal.h"

#include <string.h>

enum operator_kind {
    MUL,
    DIV,
    REM,
    ADD,
    SUB,
    SHL,
    SHR,
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE,
    AND,
    XOR,
    OR,
    LAND,
    LOR,
    OPERATORS
};

static const struct operator_row {
    const char *text;
    int level; /* C's, tightest highest */
} operators[OPERATORS] = {
    [MUL] = {"*", 10}, [DIV] = {"/", 10},  [REM] = {"%", 10}, [ADD] = {"+", 9}, [SUB] = {"-", 9},
    [SHL] = {"<<", 8}, [SHR] = {">>", 8},  [LT] = {"<", 7},   [LE] = {"<=", 7}, [GT] = {">", 7},
    [GE] = {">=", 7},  [EQ] = {"==", 6},   [NE] = {"!=", 6},  [AND] = {"&", 5}, [XOR] = {"^", 4},
    [OR] = {"|", 3},   [LAND] = {"&&", 2}, [LOR] = {"||", 1}};

enum { LEVEL_LOOSEST = 1, LEVEL_TERM = 10 };

static bool parse_binary(struct ptx_parser *p, int level, struct ptx_value *value);

static bool need_integer(struct ptx_parser *p, struct location at, const struct ptx_value *value)
{
    if (value->kind == PTX_TOKEN_INTEGER)
        return true;
    ptx_error(p, at, "only integers can be computed with here");
    return false;
}

/* A quotient is signed unless an operand is not; a rest is that of unsigned numbers, and unsigned (PTX ISA 4.5.5; its
 * table 5 calls the result signed, ptxas does not). */
static bool divide(struct ptx_parser *p, struct location at, enum operator_kind op,
                   struct ptx_value *a, uint64_t b)
{
    if (b == 0) {
        ptx_error(p, at, "division by zero");
        return false;
    }
    if (op == REM)
        a->bits %= b;
    else if (a->is_unsigned)
        a->bits /= b;
    else if (b == UINT64_MAX) /* -1: INT64_MIN / -1 wraps */
        a->bits = 0 - a->bits;
    else
        a->bits = (uint64_t)((int64_t)a->bits / (int64_t)b);
    a->is_unsigned |= op == REM;
    return true;
}

/* A shift by 64 or more shifts everything out. */
static uint64_t shift_right(const struct ptx_value *a, uint64_t count)
{
    bool ones = !a->is_unsigned && a->bits >> 63;
    if (count > 63)
        return ones ? UINT64_MAX : 0;
    return a->bits >> count | (ones && count > 0 ? UINT64_MAX << (64 - count) : 0);
}

static bool less(const struct ptx_value *a, uint64_t b)
{
    return a->is_unsigned ? a->bits < b : (int64_t)a->bits < (int64_t)b;
}

static bool is_comparison(enum operator_kind op)
{
    return (op >= LT && op <= NE) || op == LAND || op == LOR;
}

/* a = a op b */
static bool apply(struct ptx_parser *p, struct location at, enum operator_kind op,
                  struct ptx_value *a, const struct ptx_value *b)
{
    bool is_shift = op == SHL || op == SHR;
    if (!is_shift)
        a->is_unsigned |= b->is_unsigned;
    bool is_less = less(a, b->bits), is_equal = a->bits == b->bits;
    switch (op) {
    case MUL:
        a->bits *= b->bits;
        break;
    case DIV:
    case REM:
        return divide(p, at, op, a, b->bits);
    case ADD:
        a->bits += b->bits;
        break;
    case SUB:
        a->bits -= b->bits;
        break;
    case SHL:
        a->bits = b->bits > 63 ? 0 : a->bits << b->bits;
        break;
    case SHR:
        a->bits = shift_right(a, b->bits);
        break;
    case LT:
        a->bits = is_less;
        break;
    case LE:
        a->bits = is_less || is_equal;
        break;
    case GT:
        a->bits = !is_less && !is_equal;
        break;
    case GE:
        a->bits = !is_less;
        break;
    case EQ:
        a->bits = is_equal;
        break;
    case NE:
        a->bits = !is_equal;
        break;
    case AND:
        a->bits &= b->bits;
        break;
    case XOR:
        a->bits ^= b->bits;
        break;
    case OR:
        a->bits |= b->bits;
        break;
    case LAND:
        a->bits = a->bits && b->bits;
        break;
    case LOR:
        a->bits = a->bits || b->bits;
        break;
    case OPERATORS:
        return false;
    }
    if (is_comparison(op))
        a->is_unsigned = false;
    return true;
}

static void negate_float(struct ptx_value *value)
{
    value->bits ^= value->kind == PTX_TOKEN_FLOAT32 ? 1u << 31 : (uint64_t)1 << 63;
}

static bool parse_literal(struct ptx_parser *p, struct ptx_value *value)
{
    const struct ptx_token *t = &p->token;
    if (t->kind != PTX_TOKEN_INTEGER && t->kind != PTX_TOKEN_FLOAT32 &&
        t->kind != PTX_TOKEN_FLOAT64) {
        ptx_unexpected(p, "a constant");
        return false;
    }
    *value = (struct ptx_value){t->kind, t->number, t->is_unsigned};
    ptx_advance(p);
    return true;
}

/* literal, ( constant ), or a cast: (.s64) or (.u64) before a unary expression. */
static bool parse_unary(struct ptx_parser *p, struct ptx_value *value)
{
    struct location at = p->token.at;
    if (!ptx_parse_enter(p))
        return false;
    bool ok;
    if (ptx_accept(p, "(")) {
        bool is_unsigned = ptx_at_dot(p, "u64");
        if (is_unsigned || ptx_at_dot(p, "s64")) {
            ptx_advance(p);
            ok = ptx_expect(p, ")") && parse_unary(p, value) && need_integer(p, at, value);
            value->is_unsigned = is_unsigned;
        } else {
            ok = ptx_constant(p, value) && ptx_expect(p, ")");
        }
    } else if (ptx_accept(p, "-")) {
        ok = parse_unary(p, value);
        if (ok && value->kind != PTX_TOKEN_INTEGER)
            negate_float(value);
        else if (ok)
            value->bits = 0 - value->bits;
    } else if (ptx_accept(p, "+")) {
        ok = parse_unary(p, value);
    } else if (ptx_at(p, "~") || ptx_at(p, "!")) {
        bool is_not = ptx_at(p, "!");
        ptx_advance(p);
        ok = parse_unary(p, value) && need_integer(p, at, value);
        if (ok)
            *value = (struct ptx_value){value->kind, is_not ? !value->bits : ~value->bits, !is_not};
    } else {
        ok = parse_literal(p, value);
    }
    ptx_parse_leave(p);
    return ok;
}

static enum operator_kind operator_here(const struct ptx_parser *p)
{
    int op = 0;
    while (op < OPERATORS && !ptx_at(p, operators[op].text))
        op++;
    return (enum operator_kind)op;
}

static bool parse_binary(struct ptx_parser *p, int level, struct ptx_value *value)
{
    struct location at = p->token.at;
    if (!parse_unary(p, value))
        return false;
    for (;;) {
        enum operator_kind op = operator_here(p);
        if (op == OPERATORS || operators[op].level < level)
            return true;
        struct location place = p->token.at;
        struct ptx_value right = {.kind = PTX_TOKEN_INTEGER};
        ptx_advance(p);
        if (!ptx_parse_enter(p))
            return false;
        bool ok = parse_binary(p, operators[op].level + 1, &right) && need_integer(p, at, value) &&
                  need_integer(p, place, &right) && apply(p, place, op, value, &right);
        ptx_parse_leave(p);
        if (!ok)
            return false;
    }
}

bool ptx_constant(struct ptx_parser *p, struct ptx_value *value)
{
    struct location at = p->token.at;
    if (!parse_binary(p, LEVEL_LOOSEST, value))
        return false;
    if (!ptx_at(p, "?"))
        return true;
    struct ptx_value yes, no;
    ptx_advance(p);
    if (!ptx_parse_enter(p))
        return false;
    bool ok = need_integer(p, at, value) && ptx_constant(p, &yes) && ptx_expect(p, ":") &&
              ptx_constant(p, &no);
    ptx_parse_leave(p);
    if (ok)
        *value = value->bits ? yes : no;
    return ok;
}

bool ptx_offset(struct ptx_parser *p, uint64_t *offset)
{
    *offset = 0;
    while (ptx_at(p, "+") || ptx_at(p, "-")) {
        bool minus = ptx_at(p, "-");
        struct ptx_value value;
        ptx_advance(p);
        struct location at = p->token.at;
        if (!parse_binary(p, LEVEL_TERM, &value) || !need_integer(p, at, &value))
            return false;
        *offset = minus ? *offset - value.bits : *offset + value.bits;
    }
    return true;
}

/* ---- initialisers ---- */

static bool parse_items(struct ptx_parser *p, struct ptx_init *list)
{
    struct ptx_init **last = &list->items;
    if (ptx_accept(p, "}"))
        return true;
    do {
        *last = ptx_initialiser(p);
        if (!*last)
            return false;
        last = &(*last)->next;
    } while (ptx_accept(p, ","));
    return ptx_expect(p, "}");
}

/* name [+ offset], generic(name) [+ offset]; mask(name [+ offset]) has its mask already. */
static bool parse_address(struct ptx_parser *p, struct ptx_init *init)
{
    init->kind = PTX_INIT_ADDRESS;
    init->name = ptx_name(p, "the name of a variable or function");
    if (init->name && strcmp(init->name, "generic") == 0 && ptx_accept(p, "(")) {
        init->generic = true;
        init->name = ptx_name(p, "the name of a variable or function");
        if (!init->name || !ptx_expect(p, ")"))
            return false;
    }
    return init->name && ptx_offset(p, &init->value);
}

static bool parse_scalar(struct ptx_parser *p, struct ptx_init *init)
{
    struct ptx_value value;
    if (p->token.kind == PTX_TOKEN_NAME)
        return parse_address(p, init);
    if (!ptx_constant(p, &value))
        return false;
    if (value.kind == PTX_TOKEN_INTEGER && ptx_accept(p, "(")) {
        init->mask = value.bits;
        if (value.bits == 0)
            ptx_error(p, init->at, "a mask of no byte");
        return value.bits != 0 && parse_address(p, init) && ptx_expect(p, ")");
    }
    init->kind = value.kind == PTX_TOKEN_INTEGER   ? PTX_INIT_INTEGER
                 : value.kind == PTX_TOKEN_FLOAT32 ? PTX_INIT_FLOAT32
                                                   : PTX_INIT_FLOAT64;
    init->value = value.bits;
    return true;
}

struct ptx_init *ptx_initialiser(struct ptx_parser *p)
{
    if (!ptx_count(p))
        return NULL;
    struct ptx_init *init = ARENA_NEW(p->arena, struct ptx_init);
    init->at = p->token.at;
    if (!ptx_accept(p, "{"))
        return parse_scalar(p, init) ? init : NULL;
    init->kind = PTX_INIT_LIST;
    if (!ptx_parse_enter(p))
        return NULL;
    bool ok = parse_items(p, init);
    ptx_parse_leave(p);
    return ok ? init : NULL;
}
