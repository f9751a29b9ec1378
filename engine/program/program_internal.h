/*
 * program_internal.h - what the files of the compiler share: program.c (variables, functions, memory),
 * program_expr.c, program_stm.c (statements of all forms), program_lists.c (structured form),
 * program_blocks.c (block and lock-step form).
 */
#ifndef ENGINE_PROGRAM_INTERNAL_H
#define ENGINE_PROGRAM_INTERNAL_H

#include "engine/base/invariant.h"
#include "engine/program/program.h"

/* A reduction's operand, whose code follows that of the expression that it stands in. */
struct pending_operand {
    uint32_t op; /* the OP_REDUCE */
    const struct ast_expr *operand;
    struct pending_operand *next;
};

/* Everything that compilation passes around. */
struct builder {
    struct arena *arena;
    struct program *program;
    const char *reason;
    uint32_t function; /* whose body is laid out */
    /* Upper bounds, from the counting pass: exact for statements. */
    uint64_t stm_bound, op_bound;
    uint64_t target_bound, argument_bound; /* block form; arguments bound picks, too */
    uint32_t target_count, argument_count, pick_count, parameter_count;
    struct pending_operand *pending;
    /* Which functions a function calls: `call_words` words of bits a function. */
    uint64_t *calls;
    uint32_t call_words;
};

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- program.c ---- */

/* What follows from the launch alone. */
void build_launch(struct program *program);

uint32_t build_variable_offset(const struct program *program, const struct ast_var *var);
uint64_t build_footprint_bit(const struct ast_var *var);

/* ---- program_expr.c ---- */

/* Room for an expression (NULL: none). */
void build_count_root(struct builder *b, const struct ast_expr *expr);

/* A whole expression; returns where its code starts. */
uint32_t build_root(struct builder *b, const struct ast_expr *expr, uint64_t *reads);

/* ---- program_stm.c ---- */

/* Room for a statement and its expressions; those of statements inside are not counted. */
void build_count_stm(struct builder *b, const struct ast_stm *stm);

/* Sets the reason, unless there is one: "unsupported statement 'sync' at line 3". */
void build_refuse(struct builder *b, const struct ast_stm *stm);

/* Whether the statement writes a value to what is no private scalar and should; then refused. */
bool build_refuses_target(struct builder *b, const struct ast_stm *stm);

/* What all statements have: number (its place is reserved), source, value, guard. */
struct code_stm *build_stm(struct builder *b, struct ast_stm *stm, uint32_t number);

struct code_place build_place(struct builder *b, const struct ast_lvalue *lvalue, uint64_t *reads);

/* A statement without statements inside and without transfer of control. */
void build_simple(struct builder *b, const struct ast_stm *stm, struct code_stm *code);

/* caller calls callee */
void build_call(struct builder *b, uint32_t callee);

/* ---- program_lists.c, program_blocks.c: count, then lay out ---- */

void build_count_lists(struct builder *b);
void build_lists(struct builder *b);
void build_count_blocks(struct builder *b);
void build_blocks(struct builder *b); /* sets the reason when a graph or its loops are refused */

/* Structured form, after all lists: code_stm.counts. */
void build_counts(struct builder *b);

#endif
