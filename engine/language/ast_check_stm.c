/*
 * ast_check_stm.c - what makes statements and expressions well-formed where they stand.
 */
#include "engine/language/ast_check_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What surrounds a statement. */
struct surroundings {
    bool in_loop;   /* continue is legal */
    bool breakable; /* break is legal */
    uint32_t depth;
};

__attribute__((format(printf, 3, 0))) static void report(struct check *check, struct location at,
                                                         const char *format, va_list args)
{
    char text[DIAG_TEXT_MAX];
    if (!check->diag)
        return;
    vsnprintf(text, sizeof text, format, args);
    diag_error(check->diag, at, "%s", text);
}

void check_fail(struct check *check, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check->errors++;
    report(check, at, format, args);
    va_end(args);
}

void check_limit(struct check *check, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check->errors++;
    check->limits++;
    report(check, at, format, args);
    va_end(args);
}

bool check_in_vars(const struct ast_var *list, const struct ast_var *var)
{
    while (list && list != var)
        list = list->next;
    return list != NULL;
}

static bool is_visible(const struct check *check, const struct ast_var *var)
{
    return (check->function && check_in_vars(check->function->locals, var)) ||
           check_in_vars(check->kernel->vars, var);
}

/* ---- expressions ---- */

static void check_reference(struct check *check, const struct ast_var *var, bool indexed,
                            struct location at)
{
    if (!is_visible(check, var))
        check_fail(check, at, "'%s' is not a variable that is visible here", var->name);
    else if (indexed != var->is_array)
        check_fail(check, at,
                   indexed ? "'%s' is not an array" : "array '%s' is used without an index",
                   var->name);
}

static void check_expr(struct check *check, const struct ast_expr *expr, uint32_t depth);

/* all(e), any(e) over the threads: of one program for all of them, and not of one another. */
static void check_reduction(struct check *check, const struct ast_expr *expr, uint32_t depth)
{
    const char *name = expr->kind == EXPR_ALL ? "all" : "any";
    if (check->kernel->form != FORM_LOCKSTEP)
        check_fail(check, expr->at, "'%s(..)' stands only in a kernel in lock-step form", name);
    else if (check->in_reduction)
        check_fail(check, expr->at, "'%s(..)' stands inside of another 'all(..)' or 'any(..)'",
                   name);
    bool before = check->in_reduction;
    check->in_reduction = true;
    check_expr(check, expr->a, depth + LIMIT_CHAIN);
    check->in_reduction = before;
}

static void check_expr(struct check *check, const struct ast_expr *expr, uint32_t depth)
{
    if (depth > LIMIT_DEPTH * LIMIT_CHAIN) {
        check_limit(check, expr->at, "expression is nested more than %d deep", LIMIT_DEPTH);
        return;
    }
    if (expr->kind == EXPR_VAR || expr->kind == EXPR_INDEX)
        check_reference(check, expr->var, expr->kind == EXPR_INDEX, expr->at);
    if ((expr->kind == EXPR_ALL || expr->kind == EXPR_ANY) && expr->a) {
        check_reduction(check, expr, depth);
        return;
    }
    const struct ast_expr *const operands[] = {expr->a, expr->b, expr->c};
    static const uint32_t counts[] = {
        [EXPR_INT] = 0,    [EXPR_VAR] = 0,  [EXPR_INDEX] = 1, [EXPR_BUILTIN] = 0, [EXPR_UNARY] = 1,
        [EXPR_BINARY] = 2, [EXPR_COND] = 3, [EXPR_ALL] = 1,   [EXPR_ANY] = 1,
    };
    for (uint32_t i = 0; i < counts[expr->kind]; i++)
        if (operands[i])
            check_expr(check, operands[i],
                       depth + (expr->kind == EXPR_BINARY && i == 0 ? 1 : LIMIT_CHAIN));
        else
            check_fail(check, expr->at, "operand is missing");
}

/* The expression that a statement of this kind must have. */
static void check_operand(struct check *check, const struct ast_stm *stm,
                          const struct ast_expr *expr)
{
    if (expr)
        check_expr(check, expr, LIMIT_CHAIN);
    else
        check_fail(check, stm->at, "expression is missing from '%s'", ast_stm_names[stm->kind]);
}

static void check_lvalue(struct check *check, const struct ast_stm *stm,
                         const struct ast_lvalue *lvalue)
{
    if (!lvalue->var) {
        check_fail(check, stm->at, "variable is missing from '%s'", ast_stm_names[stm->kind]);
        return;
    }
    check_reference(check, lvalue->var, lvalue->index != NULL, lvalue->at);
    if (lvalue->index)
        check_expr(check, lvalue->index, LIMIT_CHAIN);
}

static uint32_t check_arguments(struct check *check, const struct ast_expr *list)
{
    uint32_t count = 0;
    for (; list; list = list->next, count++)
        check_expr(check, list, LIMIT_CHAIN);
    return count;
}

/* ---- statements ---- */

static bool is_private(const struct ast_var *var)
{
    return var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL;
}

/* What a call gives to out-parameters: distinct private scalars (PROC.syn). */
static void check_outs(struct check *check, const struct ast_stm *stm,
                       const struct ast_function *callee)
{
    const struct ast_var *parameter = callee->locals;
    for (const struct ast_expr *out = stm->outs; out; out = out->next) {
        while (parameter && !parameter->is_out)
            parameter = parameter->next;
        const char *name = parameter ? parameter->name : "?";
        parameter = parameter ? parameter->next : NULL;
        check_expr(check, out, LIMIT_CHAIN);
        if (out->kind != EXPR_VAR) {
            check_fail(check, out->at, "out-parameter '%s' of '%s' needs a private variable", name,
                       callee->name);
            continue;
        }
        if (!is_private(out->var))
            check_fail(check, out->at,
                       "out-parameter '%s' of '%s' needs a private variable; '%s' is %s", name,
                       callee->name, out->var->name, ast_space_names[out->var->space]);
        for (const struct ast_expr *other = stm->outs; other != out; other = other->next)
            if (other->kind == EXPR_VAR && other->var == out->var) {
                check_fail(check, out->at, "'%s' takes two out-parameters of one call",
                           out->var->name);
                break;
            }
    }
}

static uint32_t count_outs(const struct ast_function *function)
{
    uint32_t count = 0;
    for (const struct ast_var *v = function->locals; v && v->is_parameter; v = v->next)
        count += v->is_out;
    return count;
}

static uint32_t count_exprs(const struct ast_expr *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static void check_call_arguments(struct check *check, const struct ast_stm *stm,
                                 const struct ast_function *callee)
{
    uint32_t outs = count_exprs(stm->outs), count = check_arguments(check, stm->arguments) + outs;
    check_outs(check, stm, callee);
    if (count != callee->parameter_count)
        check_fail(check, stm->at, "%s '%s' takes %u argument%s, not %u",
                   callee->blocks ? "procedure" : "function", callee->name, callee->parameter_count,
                   callee->parameter_count == 1 ? "" : "s", count);
    else if (outs != count_outs(callee))
        check_fail(check, stm->at, "procedure '%s' has %u out-parameter%s, not %u", callee->name,
                   count_outs(callee), count_outs(callee) == 1 ? "" : "s", outs);
}

static void check_call(struct check *check, const struct ast_stm *stm)
{
    const struct ast_function *callee = check->kernel->functions;
    while (callee && callee != stm->function)
        callee = callee->next;
    if (!callee) {
        check_fail(check, stm->at, "call of something that is not a function of this kernel");
        return;
    }
    check_call_arguments(check, stm, callee);
    const struct ast_var *target = stm->target.var;
    if (!target)
        return;
    check_lvalue(check, stm, &stm->target);
    if (!callee->returns_int)
        check_fail(check, stm->at, "function '%s' returns no value", callee->name);
    else if (!is_private(target))
        check_fail(check, stm->target.at,
                   "the value of a call goes only into a private variable; '%s' is %s",
                   target->name, ast_space_names[target->space]);
}

/* pick(v, k1 : e1, .., kn : en), n >= 1 (PRED.setnext). */
static void check_pick(struct check *check, const struct ast_stm *stm)
{
    const struct ast_var *target = stm->target.var;
    check_lvalue(check, stm, &stm->target);
    if (target && (target->is_array || !is_private(target)))
        check_fail(check, stm->target.at, "'pick' needs a private variable that is no array");
    uint32_t count = check_arguments(check, stm->arguments);
    if (count == 0 || count % 2 != 0)
        check_fail(check, stm->at, "'pick' needs a value with its condition, value : condition");
    const struct ast_expr *e = stm->arguments;
    for (uint32_t i = 0; e; e = e->next, i++)
        if (i % 2 == 0 && e->kind != EXPR_INT)
            check_fail(check, e->at, "the values of 'pick' are constants");
}

/* `if (guard)` behind a statement. */
static void check_guard(struct check *check, const struct ast_stm *stm)
{
    static const bool guarded[STM_KIND_COUNT] = {
        [STM_ASSIGN] = true, [STM_BARRIER] = true, [STM_HAVOC] = true,
        [STM_ATOMIC] = true, [STM_PICK] = true,
    };
    if (!stm->guard)
        return;
    check_expr(check, stm->guard, LIMIT_CHAIN);
    if (check->kernel->form == FORM_STRUCTURED)
        check_fail(check, stm->guard->at,
                   "a guard stands only behind a statement of a kernel in block or lock-step form");
    else if (!guarded[stm->kind])
        check_fail(check, stm->guard->at, "'%s' takes no guard", ast_stm_names[stm->kind]);
    else if (stm->kind == STM_ASSIGN && stm->op != ASSIGN_SET)
        check_fail(check, stm->guard->at, "an assignment with a guard is written with '='");
}

static void check_return(struct check *check, const struct ast_stm *stm)
{
    const struct ast_function *function = check->function;
    if (stm->value)
        check_expr(check, stm->value, LIMIT_CHAIN);
    if (function == check->kernel->main && stm->value)
        check_fail(check, stm->at, "a kernel returns no value");
    else if (function->returns_int && !stm->value)
        check_fail(check, stm->at, "function '%s' must return a value", function->name);
    else if (!function->returns_int && stm->value)
        check_fail(check, stm->at, "function '%s' returns no value", function->name);
}

static void check_atomic(struct check *check, const struct ast_stm *stm)
{
    uint32_t wanted = stm->atomic == ATOMIC_CAS ? 2 : 1;
    uint32_t count = check_arguments(check, stm->arguments);
    if (count != wanted)
        check_fail(check, stm->at, "%s takes a location and %u value%s, not %u",
                   ast_atomic_names[stm->atomic], wanted, wanted == 1 ? "" : "s", count);
    check_lvalue(check, stm, &stm->place);
    if (stm->target.var)
        check_lvalue(check, stm, &stm->target);
}

static bool is_simple(enum ast_stm_kind kind)
{
    static const bool simple[STM_KIND_COUNT] = {
        [STM_SKIP] = true,   [STM_ASSIGN] = true,   [STM_CALL] = true,   [STM_BARRIER] = true,
        [STM_SYNC] = true,   [STM_ARRIVE] = true,   [STM_ATOMIC] = true, [STM_VOTE] = true,
        [STM_ASSERT] = true, [STM_ASSUME] = true,   [STM_HAVOC] = true,  [STM_MEMBAR] = true,
        [STM_PICK] = true,   [STM_LOCKSYNC] = true,
    };
    return simple[kind];
}

static void check_stms(struct check *check, const struct ast_stm *list, struct surroundings around);

static void check_one(struct check *check, const struct ast_stm *stm, const struct ast_stm *part,
                      struct surroundings around)
{
    if (!part || part->next)
        check_fail(check, stm->at, "'%s' needs one statement here", ast_stm_names[stm->kind]);
    else if (part->kind == STM_BLOCK && around.depth <= LIMIT_DEPTH * LIMIT_CHAIN)
        check_stms(check, part->body, around); /* its braces are the statement's: no nesting */
    else
        check_stms(check, part, around);
}

static void check_head_part(struct check *check, const struct ast_stm *part,
                            struct surroundings around)
{
    if (!part)
        return;
    if (!is_simple(part->kind) || part->kind == STM_SKIP || part->next)
        check_fail(check, part->at, "'%s' cannot stand in the head of a 'for'",
                   ast_stm_names[part->kind]);
    else
        check_stms(check, part, around);
}

static void check_for(struct check *check, const struct ast_stm *stm, struct surroundings inside)
{
    check_head_part(check, stm->init, inside);
    check_head_part(check, stm->step, inside);
    if (stm->value)
        check_expr(check, stm->value, LIMIT_CHAIN);
    inside.in_loop = inside.breakable = true;
    check_one(check, stm, stm->body, inside);
}

static void check_cases(struct check *check, const struct ast_stm *stm, struct surroundings inside)
{
    uint32_t count = 0;
    for (const struct ast_case *c = stm->cases; c; c = c->next)
        if (++count == LIMIT_CASES + 1) {
            check_limit(check, c->at, "more than %d cases in one switch", LIMIT_CASES);
            return;
        }
    inside.breakable = true;
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        if (c->is_default && c->next)
            check_fail(check, c->at, "'default' must be the last case");
        for (const struct ast_case *other = c->next; other; other = other->next)
            if (!c->is_default && !other->is_default && c->value == other->value)
                check_fail(check, other->at, "duplicate case value %d", (int)other->value);
        check_stms(check, c->body, inside);
    }
}

static void check_stm(struct check *check, const struct ast_stm *stm, struct surroundings around)
{
    struct surroundings inside = around;
    inside.depth += LIMIT_CHAIN;
    check_guard(check, stm);
    switch (stm->kind) {
    case STM_ASSIGN:
        check_lvalue(check, stm, &stm->target);
        check_operand(check, stm, stm->value);
        break;
    case STM_CALL:
        check_call(check, stm);
        break;
    case STM_BLOCK:
        check_stms(check, stm->body, inside);
        break;
    case STM_IF:
        check_operand(check, stm, stm->value);
        check_one(check, stm, stm->body, inside);
        if (stm->other && stm->other->kind == STM_IF) /* else if: a link of a chain */
            inside.depth = around.depth + 1;
        if (stm->other)
            check_one(check, stm, stm->other, inside);
        break;
    case STM_WHILE:
    case STM_DO:
        check_operand(check, stm, stm->value);
        inside.in_loop = inside.breakable = true;
        check_one(check, stm, stm->body, inside);
        break;
    case STM_FOR:
        check_for(check, stm, inside);
        break;
    case STM_SWITCH:
        check_operand(check, stm, stm->value);
        check_cases(check, stm, inside);
        break;
    case STM_BREAK:
        if (!around.breakable)
            check_fail(check, stm->at, "'break' outside of a loop or switch");
        break;
    case STM_CONTINUE:
        if (!around.in_loop)
            check_fail(check, stm->at, "'continue' outside of a loop");
        break;
    case STM_RETURN:
        check_return(check, stm);
        break;
    case STM_SYNC:
    case STM_ARRIVE:
        check_operand(check, stm, stm->value);
        check_operand(check, stm, stm->second);
        break;
    case STM_ATOMIC:
        check_atomic(check, stm);
        break;
    case STM_VOTE:
        check_lvalue(check, stm, &stm->target);
        check_operand(check, stm, stm->value);
        break;
    case STM_LOCKSYNC:
        if (check->kernel->form != FORM_LOCKSTEP)
            check_fail(check, stm->at,
                       "'sync(e)' stands only in a kernel in lock-step form; "
                       "a named barrier is sync(b, n)");
        check_operand(check, stm, stm->value);
        break;
    case STM_ASSERT:
    case STM_ASSUME:
        check_operand(check, stm, stm->value);
        break;
    case STM_HAVOC:
        check_lvalue(check, stm, &stm->place);
        break;
    case STM_PICK:
        if (check->kernel->form == FORM_STRUCTURED)
            check_fail(check, stm->at, "'pick' stands only in a kernel in block or lock-step form");
        check_pick(check, stm);
        break;
    case STM_SKIP:
    case STM_EXIT:
    case STM_BARRIER:
    case STM_MEMBAR:
    case STM_KIND_COUNT:
        break;
    }
}

static void check_stms(struct check *check, const struct ast_stm *list, struct surroundings around)
{
    if (list && around.depth > LIMIT_DEPTH * LIMIT_CHAIN) {
        check_limit(check, list->at, "statements are nested more than %d deep", LIMIT_DEPTH);
        return;
    }
    for (; list; list = list->next)
        check_stm(check, list, around);
}

void check_body(struct check *check, const struct ast_stm *list)
{
    check_stms(check, list, (struct surroundings){.depth = LIMIT_CHAIN});
}

void check_block_stm(struct check *check, const struct ast_stm *stm)
{
    if (is_simple(stm->kind))
        check_stm(check, stm, (struct surroundings){.depth = LIMIT_CHAIN});
    else
        check_fail(check, stm->at, "'%s' cannot stand in a block of a block-form kernel",
                   ast_stm_names[stm->kind]);
}
