/*
 * tree_equal.h - equality of kernels as trees: everything but locations, marks, and addresses.
 * Braces around the only statement of a part do not count: the parser does not keep them.
 */
#ifndef TESTS_TREE_EQUAL_H
#define TESTS_TREE_EQUAL_H

#include "engine/language/ast.h"

#include <string.h>

static inline bool var_equal(const struct ast_var *a, const struct ast_var *b)
{
    if (!a || !b)
        return !a && !b;
    return strcmp(a->name, b->name) == 0 && a->space == b->space && a->is_input == b->is_input &&
           a->is_array == b->is_array && a->is_parameter == b->is_parameter &&
           a->is_out == b->is_out && a->length == b->length && a->init_count == b->init_count &&
           (a->init_count == 0 || memcmp(a->init, b->init, a->init_count * sizeof *a->init) == 0);
}

static inline bool vars_equal(const struct ast_var *a, const struct ast_var *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (!var_equal(a, b))
            return false;
    return !a && !b;
}

static inline bool expr_equal(const struct ast_expr *a, const struct ast_expr *b)
{
    if (!a || !b)
        return !a && !b;
    if (a->kind != b->kind || !expr_equal(a->a, b->a) || !expr_equal(a->b, b->b) ||
        !expr_equal(a->c, b->c))
        return false;
    switch (a->kind) {
    case EXPR_INT:
        return a->value == b->value;
    case EXPR_VAR:
    case EXPR_INDEX:
        return var_equal(a->var, b->var);
    case EXPR_BUILTIN:
        return a->builtin == b->builtin;
    case EXPR_UNARY:
        return a->unary == b->unary;
    case EXPR_BINARY:
        return a->binary == b->binary;
    case EXPR_COND:
    case EXPR_ALL:
    case EXPR_ANY:
        return true;
    }
    return false;
}

static inline bool exprs_equal(const struct ast_expr *a, const struct ast_expr *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (!expr_equal(a, b))
            return false;
    return !a && !b;
}

static inline bool lvalue_equal(const struct ast_lvalue *a, const struct ast_lvalue *b)
{
    return var_equal(a->var, b->var) && expr_equal(a->index, b->index);
}

static inline bool stms_equal(const struct ast_stm *a, const struct ast_stm *b);

static inline bool part_equal(const struct ast_stm *a, const struct ast_stm *b)
{
    while (a && a->kind == STM_BLOCK && a->body && !a->body->next)
        a = a->body;
    while (b && b->kind == STM_BLOCK && b->body && !b->body->next)
        b = b->body;
    return stms_equal(a, b);
}

static inline bool stm_equal(const struct ast_stm *a, const struct ast_stm *b)
{
    if (a->kind != b->kind || a->op != b->op || a->atomic != b->atomic || a->vote != b->vote ||
        !lvalue_equal(&a->target, &b->target) || !lvalue_equal(&a->place, &b->place) ||
        !expr_equal(a->value, b->value) || !expr_equal(a->second, b->second) ||
        !exprs_equal(a->arguments, b->arguments) || !exprs_equal(a->outs, b->outs) ||
        !expr_equal(a->guard, b->guard) || !stms_equal(a->init, b->init) ||
        !stms_equal(a->step, b->step) || !part_equal(a->other, b->other))
        return false;
    if (a->kind == STM_BLOCK ? !stms_equal(a->body, b->body) : !part_equal(a->body, b->body))
        return false;
    if ((a->function != NULL) != (b->function != NULL) ||
        (a->function && strcmp(a->function->name, b->function->name) != 0))
        return false;
    const struct ast_case *c = a->cases, *d = b->cases;
    for (; c && d; c = c->next, d = d->next)
        if (c->is_default != d->is_default || (!c->is_default && c->value != d->value) ||
            !stms_equal(c->body, d->body))
            return false;
    return !c && !d;
}

static inline bool stms_equal(const struct ast_stm *a, const struct ast_stm *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (!stm_equal(a, b))
            return false;
    return !a && !b;
}

static inline bool blocks_equal(const struct ast_block *a, const struct ast_block *b)
{
    for (; a && b; a = a->next, b = b->next) {
        if (strcmp(a->name, b->name) != 0 || a->returns != b->returns ||
            a->target_count != b->target_count || !stms_equal(a->body, b->body))
            return false;
        for (uint32_t i = 0; i < a->target_count; i++) {
            const struct ast_block *t = a->targets[i], *u = b->targets[i];
            if ((t != NULL) != (u != NULL) || (t && strcmp(t->name, u->name) != 0))
                return false;
        }
    }
    return !a && !b;
}

static inline bool functions_equal(const struct ast_function *a, const struct ast_function *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (strcmp(a->name, b->name) != 0 || a->returns_int != b->returns_int ||
            a->parameter_count != b->parameter_count || !vars_equal(a->locals, b->locals) ||
            !stms_equal(a->body, b->body) || !blocks_equal(a->blocks, b->blocks))
            return false;
    return !a && !b;
}

static inline bool expects_equal(const struct ast_expect *a, const struct ast_expect *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->claim != b->claim || a->group != b->group || !var_equal(a->var, b->var) ||
            (a->subject != NULL) != (b->subject != NULL) ||
            (a->subject && strcmp(a->subject, b->subject) != 0) ||
            a->value_count != b->value_count ||
            (a->value_count &&
             memcmp(a->values, b->values, a->value_count * sizeof *a->values) != 0))
            return false;
    return !a && !b;
}

static inline bool kernel_equal(const struct ast_kernel *a, const struct ast_kernel *b)
{
    return strcmp(a->name, b->name) == 0 && a->launch.threads == b->launch.threads &&
           a->launch.warp == b->launch.warp && a->launch.blocks == b->launch.blocks &&
           a->launch.seed == b->launch.seed && vars_equal(a->vars, b->vars) &&
           functions_equal(a->functions, b->functions) && functions_equal(a->main, b->main) &&
           a->form == b->form && expects_equal(a->expects, b->expects);
}

#endif
