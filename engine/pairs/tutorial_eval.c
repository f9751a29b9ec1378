/* tutorial_eval.c - expressions, evaluated by both threads of a pair together. */
#include "engine/base/invariant.h"
#include "engine/language/eval_ops.h"
#include "engine/pairs/tutorial_internal.h"

/* One thread within an expression. */
struct cursor {
    uint32_t op;
    uint32_t depth;
    int32_t stack[PROGRAM_EXPR_DEPTH];
};

static bool index_address(struct pair_run *run, uint32_t i, const struct code_expr_op *op,
                          uint32_t stm, int32_t index, uint32_t *address)
{
    if ((uint32_t)index >= op->b) {
        pair_stop(run, TUTORIAL_BOUNDS, stm, i);
        return false;
    }
    *address = run->threads[i].base[op->space] + (uint32_t)op->a + (uint32_t)index;
    return true;
}

/* The value at an address: private, or an access to shared state. */
static bool load(struct pair_run *run, uint32_t i, const struct code_expr_op *op, uint32_t stm,
                 uint32_t address, int32_t *value)
{
    if (op->space == SPACE_PRIVATE || op->space == SPACE_LOCAL) {
        *value = run->memory[address];
        return true;
    }
    const struct pair_access access = {op->var, address, stm};
    return pair_read(run, i, &access, value);
}

/* Short-circuit operators: where the thread goes on. */
static void jump(struct cursor *c, const struct code_expr_op *op)
{
    int32_t *top = &c->stack[c->depth - 1];
    switch (op->op) {
    case OP_JUMP:
        c->op = (uint32_t)op->a;
        return;
    case OP_JUMP_ZERO:
        c->depth--;
        if (*top == 0)
            c->op = (uint32_t)op->a;
        return;
    case OP_AND_JUMP:
        if (*top == 0)
            c->op = (uint32_t)op->a;
        else
            c->depth--;
        return;
    case OP_OR_JUMP:
        if (*top != 0) {
            *top = 1;
            c->op = (uint32_t)op->a;
        } else {
            c->depth--;
        }
        return;
    default:
        invariant_fail("an expression's code is valid", __FILE__, __LINE__);
    }
}

static void binary(struct cursor *c, const struct code_expr_op *op)
{
    int32_t *top = &c->stack[c->depth - 1];
    if (op->op >= OP_BINARY_INT) {
        *top = eval_binary((enum ast_binary)(op->op - OP_BINARY_INT), *top, op->a);
        return;
    }
    top[-1] = eval_binary((enum ast_binary)(op->op - OP_BINARY), top[-1], *top);
    c->depth--;
}

/* One operation of thread i. False: the run has stopped. */
static bool operate(struct pair_run *run, uint32_t i, struct cursor *c, uint32_t stm)
{
    const struct code_expr_op *op = &run->program->ops[c->op++];
    int32_t *top = c->stack + c->depth; /* next free */
    uint32_t address;
    switch (op->op) {
    case OP_INT:
        *top = op->a;
        c->depth++;
        return true;
    case OP_BUILTIN:
        *top = run->threads[i].builtin[op->a];
        c->depth++;
        return true;
    case OP_GLOBAL:
    case OP_SHARED:
    case OP_PRIVATE:
    case OP_LOCAL:
        c->depth++;
        return load(run, i, op, stm, run->threads[i].base[op->space] + (uint32_t)op->a, top);
    case OP_INDEX:
        return index_address(run, i, op, stm, top[-1], &address) &&
               load(run, i, op, stm, address, &top[-1]);
    case OP_UNARY:
        top[-1] = eval_unary((enum ast_unary)op->a, top[-1]);
        return true;
    case OP_BOOL:
        top[-1] = top[-1] != 0;
        return true;
    case OP_JUMP:
    case OP_JUMP_ZERO:
    case OP_AND_JUMP:
    case OP_OR_JUMP:
        jump(c, op);
        return true;
    default:
        binary(c, op);
        return true;
    }
}

/* The lowest operation at which a thread of `P` is; jumps go forwards, so it waits for nobody. */
static uint32_t lowest_op(const struct cursor *c, uint32_t P)
{
    if (P == PAIR_BOTH)
        return c[0].op < c[1].op ? c[0].op : c[1].op;
    return P == PAIR_S ? c[0].op : c[1].op;
}

bool pair_eval(struct pair_run *run, uint32_t expr, uint32_t P, uint32_t stm, int32_t value[2])
{
    struct cursor c[2];
    c[0].op = c[1].op = expr;
    c[0].depth = c[1].depth = 0;
    while (P) {
        uint32_t op = lowest_op(c, P);
        for (uint32_t i = 0; i < 2; i++) {
            if (!(P >> i & 1) || c[i].op != op)
                continue;
            if (run->program->ops[op].op == OP_END) {
                value[i] = c[i].stack[c[i].depth - 1];
                P &= ~(1u << i);
            } else if (!operate(run, i, &c[i], stm)) {
                return false;
            }
        }
    }
    return true;
}

bool pair_eval_place(struct pair_run *run, const struct code_place *place, uint32_t P, uint32_t stm,
                     uint32_t address[2])
{
    int32_t index[2] = {0, 0};
    if (place->index != CODE_NONE && !pair_eval(run, place->index, P, stm, index))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!(P >> i & 1))
            continue;
        if ((uint32_t)index[i] >= place->length && place->index != CODE_NONE) {
            pair_stop(run, TUTORIAL_BOUNDS, stm, i);
            return false;
        }
        address[i] = run->threads[i].base[place->space] + place->offset + (uint32_t)index[i];
    }
    return true;
}
