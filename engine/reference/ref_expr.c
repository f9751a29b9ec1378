/*
 * ref_expr.c - E[[e]]: expressions, walked on the tree from left to right. Arithmetic is done in numbers that are wide
 * enough, and brought back into 32 bits (docs/kernel-language.md).
 */
#include "engine/reference/ref_internal.h"

/* The number of 32 bits, in two's complement, that is equal to x modulo 2^32. */
static int32_t wrap(int64_t x)
{
    const int64_t range = (int64_t)1 << 32;
    int64_t rest = x % range;
    if (rest < -(range / 2))
        rest += range;
    if (rest >= range / 2)
        rest -= range;
    return (int32_t)rest;
}

/* 2^count, or 0 when all bits are shifted out. A count is read as an unsigned number. */
static int64_t power_of_two(int32_t count)
{
    int64_t power = 1;
    if (count < 0 || count > 31)
        return 0;
    for (int32_t i = 0; i < count; i++)
        power *= 2;
    return power;
}

static int32_t shift_left(int32_t a, int32_t count)
{
    return wrap((int64_t)a * power_of_two(count));
}

/* a divided by 2^count, rounded down. */
static int32_t shift_right(int32_t a, int32_t count)
{
    int64_t power = power_of_two(count), quotient;
    if (power == 0)
        return a < 0 ? -1 : 0;
    quotient = a / power;
    return (int32_t)(a < 0 && quotient * power != a ? quotient - 1 : quotient);
}

/* Bit by bit, the lowest first; a negative number as the one of 32 bits that is equal modulo 2^32. */
static int32_t bitwise(enum ast_binary op, int32_t a, int32_t b)
{
    const int64_t range = (int64_t)1 << 32;
    int64_t x = a < 0 ? a + range : a, y = b < 0 ? b + range : b, result = 0;
    for (int64_t power = 1; power < range; power *= 2, x /= 2, y /= 2) {
        bool p = x % 2 == 1, q = y % 2 == 1;
        bool bit = op == BINARY_AND ? p && q : op == BINARY_OR ? p || q : p != q;
        result += bit ? power : 0;
    }
    return wrap(result);
}

int32_t ref_unary(enum ast_unary op, int32_t a)
{
    switch (op) {
    case UNARY_NEG:
        return wrap(-(int64_t)a);
    case UNARY_NOT:
        return a == 0;
    case UNARY_COMPLEMENT:
        return wrap(-(int64_t)a - 1);
    }
    return 0;
}

int32_t ref_binary(enum ast_binary op, int32_t a, int32_t b)
{
    switch (op) {
    case BINARY_MUL:
        return wrap((int64_t)a * b);
    case BINARY_DIV:
        return b == 0 ? 0 : wrap((int64_t)a / b);
    case BINARY_REM:
        return b == 0 ? a : wrap((int64_t)a % b);
    case BINARY_ADD:
        return wrap((int64_t)a + b);
    case BINARY_SUB:
        return wrap((int64_t)a - b);
    case BINARY_SHL:
        return shift_left(a, b);
    case BINARY_SHR:
        return shift_right(a, b);
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
    case BINARY_AND:
    case BINARY_XOR:
    case BINARY_OR:
        return bitwise(op, a, b);
    case BINARY_LOGICAL_AND:
        return a != 0 && b != 0;
    case BINARY_LOGICAL_OR:
        return a != 0 || b != 0;
    }
    return 0;
}

struct ref_cell ref_place(struct ref *r, uint32_t thread, const struct ast_lvalue *place)
{
    int32_t index = place->index ? ref_value(r, thread, place->index) : 0;
    if (ref_failed(r))
        return (struct ref_cell){0};
    if (index < 0 || index >= (int64_t)place->var->length) {
        ref_fail(r, REF_OUT_OF_BOUNDS, thread);
        return (struct ref_cell){0};
    }
    return ref_cell_of(r, thread, place->var, (uint32_t)index);
}

static int32_t read(struct ref *r, uint32_t thread, struct ast_var *var, struct ast_expr *index)
{
    const struct ast_lvalue place = {.var = var, .index = index};
    struct ref_cell cell = ref_place(r, thread, &place);
    if (!cell.word)
        return 0;
    ref_saw(r, REF_READ, thread, &cell, 0);
    return *cell.word;
}

/* && and || do not evaluate what cannot matter. */
static int32_t binary(struct ref *r, uint32_t thread, const struct ast_expr *e)
{
    int32_t a = ref_value(r, thread, e->a);
    if (ref_failed(r))
        return 0;
    if (e->binary == BINARY_LOGICAL_AND && a == 0)
        return 0;
    if (e->binary == BINARY_LOGICAL_OR && a != 0)
        return 1;
    return ref_binary(e->binary, a, ref_value(r, thread, e->b));
}

/* all(e), any(e): over the threads of the block, in the lock-step form. */
static int32_t reduce(struct ref *r, uint32_t thread, const struct ast_expr *e)
{
    uint32_t count = r->kernel->launch.threads, first = thread / count * count;
    bool all = true, any = false;
    for (uint32_t t = first; t < first + count; t++) {
        bool holds = ref_value(r, t, e->a) != 0;
        if (ref_failed(r))
            return 0;
        all = all && holds;
        any = any || holds;
    }
    r->nobody = r->nobody || (e->kind == EXPR_ANY && !any);
    return e->kind == EXPR_ALL ? all : any;
}

static int32_t value(struct ref *r, uint32_t thread, const struct ast_expr *e)
{
    int32_t a;
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
        return read(r, thread, e->var, NULL);
    case EXPR_INDEX:
        return read(r, thread, e->var, e->a);
    case EXPR_BUILTIN:
        return ref_builtin(r, thread, e->builtin);
    case EXPR_UNARY:
        return ref_unary(e->unary, ref_value(r, thread, e->a));
    case EXPR_BINARY:
        return binary(r, thread, e);
    case EXPR_COND:
        a = ref_value(r, thread, e->a);
        return ref_value(r, thread, a != 0 ? e->b : e->c);
    case EXPR_ALL:
    case EXPR_ANY:
        return reduce(r, thread, e);
    }
    return 0;
}

int32_t ref_value(struct ref *r, uint32_t thread, const struct ast_expr *e)
{
    int32_t v = ref_failed(r) ? 0 : value(r, thread, e);
    return ref_failed(r) ? 0 : v;
}
