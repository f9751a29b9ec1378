#include "oracle/emitted/word.h"

int32_t word_operate(enum ast_binary op, int32_t a, int32_t b)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (op) {
    case BINARY_MUL:
        return (int32_t)(x * y);
    case BINARY_DIV:
        return b == 0 ? 0 : (int32_t)((int64_t)a / b);
    case BINARY_REM:
        return b == 0 ? a : (int32_t)((int64_t)a % b);
    case BINARY_ADD:
        return (int32_t)(x + y);
    case BINARY_SUB:
        return (int32_t)(x - y);
    case BINARY_SHL:
        return y > 31 ? 0 : (int32_t)(x << y);
    case BINARY_SHR:
        return a >> (y > 31 ? 31 : y);
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
