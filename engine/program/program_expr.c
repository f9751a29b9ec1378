/*
 * program_expr.c - expressions as code for a small stack machine.
 */
#include "engine/program/program_internal.h"

/* ---- counting ---- */

static void count_expr(struct builder *b, const struct ast_expr *expr)
{
    if (!expr)
        return;
    b->op_bound +=
        2; /* &&, ||, ?:, and a reduction with its OP_END, take two ops, all others one */
    count_expr(b, expr->a);
    count_expr(b, expr->b);
    count_expr(b, expr->c);
}

/* An expression of a statement: its ops and OP_END. */
void build_count_root(struct builder *b, const struct ast_expr *expr)
{
    if (!expr)
        return;
    b->op_bound++;
    count_expr(b, expr);
}

/* ---- code ---- */

static uint32_t emit_op(struct builder *b, enum code_op op, int32_t a)
{
    struct program *program = b->program;
    INVARIANT(program->op_count < b->op_bound);
    program->ops[program->op_count] = (struct code_expr_op){.op = (uint8_t)op, .a = a};
    return program->op_count++;
}

static void patch_jump(struct builder *b, uint32_t op)
{
    b->program->ops[op].a = (int32_t)b->program->op_count;
}

static void emit_variable(struct builder *b, enum code_op op, const struct ast_var *var)
{
    uint32_t at = emit_op(b, op, (int32_t)build_variable_offset(b->program, var));
    struct code_expr_op *code = &b->program->ops[at];
    code->space = (uint8_t)var->space;
    code->var = var->space == SPACE_LOCAL ? 0 : (uint16_t)var->mark;
    code->b = var->length;
}

static uint32_t emit_expr(struct builder *b, const struct ast_expr *expr, uint64_t *reads);

/* a && b, a || b: b is not read when a decides. */
static uint32_t emit_logical(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    enum code_op op = expr->binary == BINARY_LOGICAL_AND ? OP_AND_JUMP : OP_OR_JUMP;
    uint32_t left = emit_expr(b, expr->a, reads);
    uint32_t jump = emit_op(b, op, 0);
    uint32_t right = emit_expr(b, expr->b, reads);
    emit_op(b, OP_BOOL, 0);
    patch_jump(b, jump);
    return max_u32(left, right);
}

static uint32_t emit_cond(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t depth = emit_expr(b, expr->a, reads);
    uint32_t to_else = emit_op(b, OP_JUMP_ZERO, 0);
    depth = max_u32(depth, emit_expr(b, expr->b, reads));
    uint32_t to_end = emit_op(b, OP_JUMP, 0);
    patch_jump(b, to_else);
    depth = max_u32(depth, emit_expr(b, expr->c, reads));
    patch_jump(b, to_end);
    return depth;
}

static uint32_t emit_binary(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    if (expr->binary == BINARY_LOGICAL_AND || expr->binary == BINARY_LOGICAL_OR)
        return emit_logical(b, expr, reads);
    uint32_t left = emit_expr(b, expr->a, reads);
    if (expr->b->kind == EXPR_INT) {
        emit_op(b, (enum code_op)(OP_BINARY_INT + (int)expr->binary), expr->b->value);
        return left;
    }
    uint32_t right = emit_expr(b, expr->b, reads);
    emit_op(b, (enum code_op)(OP_BINARY + (int)expr->binary), 0);
    return max_u32(left, right + 1);
}

/* The operand is evaluated once a thread: it is a root of its own, elsewhere. */
static void emit_reduction(struct builder *b, const struct ast_expr *expr)
{
    struct pending_operand *pending = ARENA_NEW(b->arena, struct pending_operand);
    pending->op = emit_op(b, OP_REDUCE, 0);
    pending->operand = expr->a;
    pending->next = b->pending;
    b->pending = pending;
    b->program->ops[pending->op].space = expr->kind == EXPR_ANY;
}

/* Code that leaves the value on top of the stack; returns the most values that it holds there. */
static uint32_t emit_expr(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t depth = 1;
    switch (expr->kind) {
    case EXPR_INT:
        emit_op(b, OP_INT, expr->value);
        break;
    case EXPR_VAR:
        *reads |= build_footprint_bit(expr->var);
        emit_variable(b, (enum code_op)(OP_GLOBAL + (int)expr->var->space), expr->var);
        break;
    case EXPR_INDEX:
        depth = emit_expr(b, expr->a, reads);
        *reads |= build_footprint_bit(expr->var);
        emit_variable(b, OP_INDEX, expr->var);
        break;
    case EXPR_BUILTIN:
        emit_op(b, OP_BUILTIN, (int32_t)expr->builtin);
        break;
    case EXPR_UNARY:
        depth = emit_expr(b, expr->a, reads);
        emit_op(b, OP_UNARY, (int32_t)expr->unary);
        break;
    case EXPR_BINARY:
        return emit_binary(b, expr, reads);
    case EXPR_COND:
        return emit_cond(b, expr, reads);
    case EXPR_ALL:
    case EXPR_ANY:
        emit_reduction(b, expr);
        break;
    }
    return depth;
}

static uint32_t emit_whole(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t start = b->program->op_count;
    uint32_t depth = emit_expr(b, expr, reads);
    emit_op(b, OP_END, 0);
    b->program->expr_depth = max_u32(b->program->expr_depth, depth);
    return start;
}

uint32_t build_root(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t start = emit_whole(b, expr, reads);
    while (b->pending) {
        const struct pending_operand *operand = b->pending;
        b->pending = operand->next;
        patch_jump(b, operand->op);
        emit_whole(b, operand->operand, reads);
    }
    return start;
}
