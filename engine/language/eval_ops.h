/*
 * eval_ops.h - the one definition of arithmetic (docs/kernel-language.md, "What all semantics share").
 *
 * A value is a 32-bit two's-complement int. Every operation is total: what C leaves undefined has a
 * value here. Inline, because interpreters call it for each operation; ast_eval_* are the same
 * functions for everyone else.
 */
#ifndef ENGINE_EVAL_OPS_H
#define ENGINE_EVAL_OPS_H

#include "engine/language/ast.h"

/* x / 0 == 0; INT_MIN / -1 == INT_MIN. */
static inline int32_t eval_div(int32_t a, int32_t b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return (int32_t)(0u - (uint32_t)a);
    return a / b;
}

/* x % 0 == x; INT_MIN % -1 == 0. */
static inline int32_t eval_rem(int32_t a, int32_t b)
{
    if (b == 0)
        return a;
    return b == -1 ? 0 : a % b;
}

/* Counts are read as unsigned; 32 or more shifts every bit out. */
static inline int32_t eval_shl(int32_t a, int32_t b)
{
    return (uint32_t)b >= 32 ? 0 : (int32_t)((uint32_t)a << b);
}

/* Arithmetic; 32 or more leaves the sign. `>>` of a negative value is the implementation's in C, so
 * only values that are not negative are shifted. */
static inline int32_t eval_shr(int32_t a, int32_t b)
{
    uint32_t count = (uint32_t)b >= 32 ? 31 : (uint32_t)b;
    return a < 0 ? ~(~a >> count) : a >> count;
}

static inline int32_t eval_binary(enum ast_binary op, int32_t a, int32_t b)
{
    switch (op) {
    case BINARY_MUL:
        return (int32_t)((uint32_t)a * (uint32_t)b);
    case BINARY_DIV:
        return eval_div(a, b);
    case BINARY_REM:
        return eval_rem(a, b);
    case BINARY_ADD:
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case BINARY_SUB:
        return (int32_t)((uint32_t)a - (uint32_t)b);
    case BINARY_SHL:
        return eval_shl(a, b);
    case BINARY_SHR:
        return eval_shr(a, b);
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
        return a & b;
    case BINARY_XOR:
        return a ^ b;
    case BINARY_OR:
        return a | b;
    case BINARY_LOGICAL_AND:
        return a && b;
    case BINARY_LOGICAL_OR:
        return a || b;
    }
    return 0;
}

static inline int32_t eval_unary(enum ast_unary op, int32_t a)
{
    switch (op) {
    case UNARY_NEG:
        return (int32_t)(0u - (uint32_t)a);
    case UNARY_NOT:
        return !a;
    case UNARY_COMPLEMENT:
        return ~a;
    }
    return 0;
}

/* What an atomic operation leaves in a location that holds `old`; `b` is the second operand, of cas
 * only: atomic_cas(place, expected, desired). */
static inline int32_t eval_atomic(enum ast_atomic op, int32_t old, int32_t a, int32_t b)
{
    switch (op) {
    case ATOMIC_ADD:
        return (int32_t)((uint32_t)old + (uint32_t)a);
    case ATOMIC_MIN:
        return a < old ? a : old;
    case ATOMIC_MAX:
        return a > old ? a : old;
    case ATOMIC_AND:
        return old & a;
    case ATOMIC_OR:
        return old | a;
    case ATOMIC_EXCH:
        return a;
    case ATOMIC_CAS:
        return old == a ? b : old;
    case ATOMIC_COUNT:
        break;
    }
    return old;
}

#endif
