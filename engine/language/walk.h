/*
 * walk.h - the walks over trees of the kernel language: to ask something of all parts, and to change them.
 *
 * A walk over statements meets each statement's target and place, its expressions in the order target's index, place's
 * index, value, second, arguments, outs, guard, each before its operands, then the statement itself, and then the
 * statements in it: init, step, body, other, cases. Lists are walked through `next`.
 */
#ifndef ENGINE_WALK_H
#define ENGINE_WALK_H

#include "engine/language/ast.h"

enum ast_trait {
    STM_LOOP = 1,
    STM_BRANCH = 2,
    STM_JUMP = 4,
    STM_MEETS = 8,
    STM_DRAWS = 16,
};

/* Of a kind: a set of enum ast_trait (statements.def). */
extern const uint8_t ast_stm_traits[STM_KIND_COUNT];

static inline bool ast_is(const struct ast_stm *stm, unsigned traits)
{
    return (ast_stm_traits[stm->kind] & traits) != 0;
}

/* What is asked; NULL: that is not. The first true ends the walk, which then is true. */
struct ast_question {
    bool (*statement)(void *context, const struct ast_stm *stm);
    bool (*expression)(void *context, const struct ast_expr *expr);
    bool (*place)(void *context, const struct ast_lvalue *place); /* that is there */
    void *context;
};

bool ast_ask_expr(const struct ast_question *question, const struct ast_expr *list);
bool ast_ask_stms(const struct ast_question *question, const struct ast_stm *list);
/* Its body and its blocks. */
bool ast_ask_function(const struct ast_question *question, const struct ast_function *function);
bool ast_ask_kernel(const struct ast_question *question, const struct ast_kernel *kernel);

/* What is changed, in place; NULL: that is not. What an expression has become is walked. */
struct ast_change {
    void (*statement)(void *context, struct ast_stm *stm);
    void (*expression)(void *context, struct ast_expr *expr);
    void (*place)(void *context, struct ast_lvalue *place); /* that is there */
    void *context;
};

void ast_change_expr(const struct ast_change *change, struct ast_expr *list);
void ast_change_stms(const struct ast_change *change, struct ast_stm *list);
void ast_change_function(const struct ast_change *change, struct ast_function *function);
void ast_change_kernel(const struct ast_change *change, struct ast_kernel *kernel);

/* Whether the expression is a variable, or an element of one. */
static inline bool ast_names(const struct ast_expr *expr)
{
    return expr->kind == EXPR_VAR || expr->kind == EXPR_INDEX;
}

/* Questions that many ask. */
bool ast_expr_mentions(const struct ast_expr *list, const struct ast_var *var);
bool ast_mentions(const struct ast_stm *list, const struct ast_var *var);
/* Whether this expression (NULL: none), not the list that it may head, reads global or shared memory. */
bool ast_reads_shared(const struct ast_expr *expr);
bool ast_calls(const struct ast_stm *list, const struct ast_function *function);

#endif
