/*
 * ast_check.c - what makes a tree a kernel, beyond its grammar. The parser's own trees pass through
 * here too, so that each of these rules is stated once.
 */
#include "engine/ast.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct check {
    const struct ast_kernel *kernel;
    const struct ast_function *function; /* whose body is walked; NULL in block form */
    struct diag *diag;
    uint32_t errors;
};

/* What surrounds a statement. */
struct surroundings {
    bool in_loop;   /* continue is legal */
    bool breakable; /* break is legal */
    uint32_t depth;
};

static void fail(struct check *check, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(struct check *check, struct location at, const char *format, ...)
{
    check->errors++;
    if (!check->diag)
        return;
    char text[DIAG_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(check->diag, at, "%s", text);
}

/* ---- names and variables ---- */

static bool in_vars(const struct ast_var *list, const struct ast_var *var)
{
    while (list && list != var)
        list = list->next;
    return list != NULL;
}

static bool is_visible(const struct check *check, const struct ast_var *var)
{
    return (check->function && in_vars(check->function->locals, var)) ||
           in_vars(check->kernel->vars, var);
}

static void check_var(struct check *check, const struct ast_var *var, bool local)
{
    if ((var->space == SPACE_LOCAL) != local)
        fail(check, var->at, "'%s' is declared in the wrong scope for its space", var->name);
    if (var->length < 1 || var->length > LIMIT_ARRAY || (!var->is_array && var->length != 1))
        fail(check, var->at, "array '%s' must have 1 to %d elements", var->name, LIMIT_ARRAY);
    else if (var->init_count > var->length)
        fail(check, var->at, "too many initial values for '%s'", var->name);
    if (var->is_input && (local || var->init_count > 0))
        fail(check, var->at,
             local ? "'%s': input variables are declared outside functions"
                   : "input variable '%s' has an initial value",
             var->name);
    if (strlen(var->name) > LIMIT_NAME)
        fail(check, var->at, "name is longer than %d characters", LIMIT_NAME);
    for (const struct ast_var *other = var->next; other; other = other->next)
        if (strcmp(var->name, other->name) == 0)
            fail(check, other->at, "'%s' is already declared in this scope", other->name);
}

static void check_vars(struct check *check, const struct ast_var *list, bool local)
{
    uint32_t count = 0;
    for (const struct ast_var *var = list; var; var = var->next)
        if (++count == LIMIT_VARIABLES + 1) {
            fail(check, var->at, "more than %d variables in one scope", LIMIT_VARIABLES);
            return;
        }
    for (const struct ast_var *var = list; var; var = var->next)
        check_var(check, var, local);
}

static void check_function_names(struct check *check)
{
    const struct ast_kernel *kernel = check->kernel;
    uint32_t count = 0;
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        if (++count == LIMIT_FUNCTIONS + 1) {
            fail(check, f->at, "more than %d functions", LIMIT_FUNCTIONS);
            return;
        }
        for (const struct ast_function *g = f->next; g; g = g->next)
            if (strcmp(f->name, g->name) == 0)
                fail(check, g->at, "function '%s' is already defined", g->name);
        for (const struct ast_var *var = kernel->vars; var; var = var->next)
            if (strcmp(f->name, var->name) == 0)
                fail(check, f->at, "'%s' is already declared as a variable", f->name);
    }
}

/* ---- expressions ---- */

static void check_reference(struct check *check, const struct ast_var *var, bool indexed,
                            struct location at)
{
    if (!is_visible(check, var))
        fail(check, at, "'%s' is not a variable that is visible here", var->name);
    else if (indexed != var->is_array)
        fail(check, at, indexed ? "'%s' is not an array" : "array '%s' is used without an index",
             var->name);
}

static void check_expr(struct check *check, const struct ast_expr *expr, uint32_t depth)
{
    if (depth > LIMIT_DEPTH) {
        fail(check, expr->at, "expression is nested more than %d deep", LIMIT_DEPTH);
        return;
    }
    if (expr->kind == EXPR_VAR || expr->kind == EXPR_INDEX)
        check_reference(check, expr->var, expr->kind == EXPR_INDEX, expr->at);
    const struct ast_expr *const operands[] = {expr->a, expr->b, expr->c};
    static const uint32_t counts[] = {
        [EXPR_INT] = 0,   [EXPR_VAR] = 0,    [EXPR_INDEX] = 1, [EXPR_BUILTIN] = 0,
        [EXPR_UNARY] = 1, [EXPR_BINARY] = 2, [EXPR_COND] = 3,
    };
    for (uint32_t i = 0; i < counts[expr->kind]; i++)
        if (operands[i])
            check_expr(check, operands[i], depth + 1);
        else
            fail(check, expr->at, "operand is missing");
}

/* The expression that a statement of this kind must have. */
static void check_operand(struct check *check, const struct ast_stm *stm,
                          const struct ast_expr *expr)
{
    if (expr)
        check_expr(check, expr, 1);
    else
        fail(check, stm->at, "expression is missing from '%s'", ast_stm_names[stm->kind]);
}

static void check_lvalue(struct check *check, const struct ast_stm *stm,
                         const struct ast_lvalue *lvalue)
{
    if (!lvalue->var) {
        fail(check, stm->at, "variable is missing from '%s'", ast_stm_names[stm->kind]);
        return;
    }
    check_reference(check, lvalue->var, lvalue->index != NULL, lvalue->at);
    if (lvalue->index)
        check_expr(check, lvalue->index, 1);
}

static uint32_t check_arguments(struct check *check, const struct ast_expr *list)
{
    uint32_t count = 0;
    for (; list; list = list->next, count++)
        check_expr(check, list, 1);
    return count;
}

/* ---- statements ---- */

static void check_call(struct check *check, const struct ast_stm *stm)
{
    const struct ast_function *callee = check->kernel->functions;
    while (callee && callee != stm->function)
        callee = callee->next;
    if (!callee) {
        fail(check, stm->at, "call of something that is not a function of this kernel");
        return;
    }
    uint32_t count = check_arguments(check, stm->arguments);
    if (count != callee->parameter_count)
        fail(check, stm->at, "function '%s' takes %u argument%s, not %u", callee->name,
             callee->parameter_count, callee->parameter_count == 1 ? "" : "s", count);
    const struct ast_var *target = stm->target.var;
    if (!target)
        return;
    check_lvalue(check, stm, &stm->target);
    if (!callee->returns_int)
        fail(check, stm->at, "function '%s' returns no value", callee->name);
    else if (target->space != SPACE_PRIVATE && target->space != SPACE_LOCAL)
        fail(check, stm->target.at,
             "the value of a call goes only into a private variable; '%s' is %s", target->name,
             ast_space_names[target->space]);
}

static void check_return(struct check *check, const struct ast_stm *stm)
{
    const struct ast_function *function = check->function;
    if (stm->value)
        check_expr(check, stm->value, 1);
    if (function == check->kernel->main && stm->value)
        fail(check, stm->at, "a kernel returns no value");
    else if (function->returns_int && !stm->value)
        fail(check, stm->at, "function '%s' must return a value", function->name);
    else if (!function->returns_int && stm->value)
        fail(check, stm->at, "function '%s' returns no value", function->name);
}

static void check_atomic(struct check *check, const struct ast_stm *stm)
{
    uint32_t wanted = stm->atomic == ATOMIC_CAS ? 2 : 1;
    uint32_t count = check_arguments(check, stm->arguments);
    if (count != wanted)
        fail(check, stm->at, "%s takes a location and %u value%s, not %u",
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
        fail(check, stm->at, "'%s' needs one statement here", ast_stm_names[stm->kind]);
    else if (part->kind == STM_BLOCK && around.depth <= LIMIT_DEPTH)
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
        fail(check, part->at, "'%s' cannot stand in the head of a 'for'",
             ast_stm_names[part->kind]);
    else
        check_stms(check, part, around);
}

static void check_for(struct check *check, const struct ast_stm *stm, struct surroundings inside)
{
    check_head_part(check, stm->init, inside);
    check_head_part(check, stm->step, inside);
    if (stm->value)
        check_expr(check, stm->value, 1);
    inside.in_loop = inside.breakable = true;
    check_one(check, stm, stm->body, inside);
}

static void check_cases(struct check *check, const struct ast_stm *stm, struct surroundings inside)
{
    uint32_t count = 0;
    for (const struct ast_case *c = stm->cases; c; c = c->next)
        if (++count == LIMIT_CASES + 1) {
            fail(check, c->at, "more than %d cases in one switch", LIMIT_CASES);
            return;
        }
    inside.breakable = true;
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        if (c->is_default && c->next)
            fail(check, c->at, "'default' must be the last case");
        for (const struct ast_case *other = c->next; other; other = other->next)
            if (!c->is_default && !other->is_default && c->value == other->value)
                fail(check, other->at, "duplicate case value %d", (int)other->value);
        check_stms(check, c->body, inside);
    }
}

static void check_stm(struct check *check, const struct ast_stm *stm, struct surroundings around)
{
    struct surroundings inside = around;
    inside.depth++;
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
            fail(check, stm->at, "'break' outside of a loop or switch");
        break;
    case STM_CONTINUE:
        if (!around.in_loop)
            fail(check, stm->at, "'continue' outside of a loop");
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
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_LOCKSYNC:
        check_operand(check, stm, stm->value);
        break;
    case STM_HAVOC:
        check_lvalue(check, stm, &stm->place);
        break;
    case STM_PICK:
        check_lvalue(check, stm, &stm->target);
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
    if (list && around.depth > LIMIT_DEPTH) {
        fail(check, list->at, "statements are nested more than %d deep", LIMIT_DEPTH);
        return;
    }
    for (; list; list = list->next)
        check_stm(check, list, around);
}

/* ---- functions, blocks, the launch ---- */

static void check_function(struct check *check, const struct ast_function *function)
{
    uint32_t parameters = 0;
    for (const struct ast_var *var = function->locals; var && var->is_parameter; var = var->next)
        parameters++;
    if (parameters != function->parameter_count || parameters > LIMIT_PARAMETERS)
        fail(check, function->at, "function '%s' has more than %d parameters", function->name,
             LIMIT_PARAMETERS);
    if (strlen(function->name) > LIMIT_NAME)
        fail(check, function->at, "name is longer than %d characters", LIMIT_NAME);
    check_vars(check, function->locals, true);
    check->function = function;
    check_stms(check, function->body, (struct surroundings){.depth = 1});
    check->function = NULL;
}

static bool is_block(const struct check *check, const struct ast_block *block)
{
    const struct ast_block *b = check->kernel->main->blocks;
    while (b && b != block)
        b = b->next;
    return b != NULL;
}

static void check_block(struct check *check, const struct ast_block *block)
{
    for (const struct ast_stm *stm = block->body; stm; stm = stm->next)
        if (is_simple(stm->kind))
            check_stm(check, stm, (struct surroundings){.depth = 1});
        else
            fail(check, stm->at, "'%s' cannot stand in a block of a block-form kernel",
                 ast_stm_names[stm->kind]);
    if (!block->returns && block->target_count == 0)
        fail(check, block->at, "block '%s' has neither a target nor a return", block->name);
    for (uint32_t i = 0; i < block->target_count; i++)
        if (block->targets[i] && !is_block(check, block->targets[i]))
            fail(check, block->at, "block '%s' goes to a block of another kernel", block->name);
    for (const struct ast_block *other = block->next; other; other = other->next)
        if (strcmp(block->name, other->name) == 0)
            fail(check, other->at, "block '%s' is already defined", other->name);
    if (strcmp(block->name, "End") == 0)
        fail(check, block->at, "'End' names the end of a thread, not a block");
}

static void check_blocks(struct check *check)
{
    if (!check->kernel->main)
        return;
    const struct ast_block *blocks = check->kernel->main->blocks;
    if (check->kernel->form != FORM_STRUCTURED && !blocks)
        fail(check, check->kernel->main->at, "the kernel has no blocks");
    if (blocks && strcmp(blocks->name, "Start") != 0)
        fail(check, blocks->at, "the first block must be named 'Start'");
    uint32_t count = 0;
    for (const struct ast_block *block = blocks; block; block = block->next)
        if (++count == LIMIT_LABELS + 1) {
            fail(check, block->at, "more than %d blocks", LIMIT_LABELS);
            return;
        }
    for (const struct ast_block *block = blocks; block; block = block->next)
        check_block(check, block);
}

static uint64_t words_of(const struct ast_var *list, enum ast_space space)
{
    uint64_t words = 0;
    for (; list; list = list->next)
        if (list->space == space)
            words += list->length;
    return words;
}

/* All copies of all variables, with LIMIT_CALL_DEPTH frames of the largest function. */
static void check_memory(struct check *check)
{
    const struct ast_kernel *kernel = check->kernel;
    uint64_t frame = 0;
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        uint64_t words = words_of(f->locals, SPACE_LOCAL);
        frame = words > frame ? words : frame;
    }
    uint64_t thread = words_of(kernel->vars, SPACE_PRIVATE) + LIMIT_CALL_DEPTH * frame;
    if (kernel->main)
        thread += words_of(kernel->main->locals, SPACE_LOCAL);
    uint64_t words = words_of(kernel->vars, SPACE_GLOBAL) +
                     words_of(kernel->vars, SPACE_SHARED) * kernel->launch.blocks +
                     thread * kernel->launch.blocks * kernel->launch.threads;
    if (words > LIMIT_MEMORY_WORDS)
        fail(check, kernel->launch.at,
             "variables and frames of all threads take %llu words, more than %d",
             (unsigned long long)words, LIMIT_MEMORY_WORDS);
}

static void check_launch(struct check *check)
{
    const struct ast_launch *launch = &check->kernel->launch;
    uint32_t before = check->errors;
    if (launch->threads < 1 || launch->threads > LIMIT_THREADS)
        fail(check, launch->at, "'threads' must be 1 to %d", LIMIT_THREADS);
    if (launch->blocks < 1 || launch->blocks > LIMIT_BLOCKS)
        fail(check, launch->at, "'blocks' must be 1 to %d", LIMIT_BLOCKS);
    if (launch->warp < 1 || launch->warp > LIMIT_WARP)
        fail(check, launch->at, "'warp' must be 1 to %d", LIMIT_WARP);
    if (check->errors != before)
        return;
    if (launch->threads * launch->blocks > LIMIT_TOTAL_THREADS)
        fail(check, launch->at, "%u threads in %u blocks are more than %d", launch->threads,
             launch->blocks, LIMIT_TOTAL_THREADS);
    else
        check_memory(check);
}

static void check_expects(struct check *check)
{
    for (const struct ast_expect *e = check->kernel->expects; e; e = e->next) {
        if (e->claim == CLAIM_FINAL && !e->var)
            fail(check, e->at, "'final' needs a variable");
        if (!e->var)
            continue;
        if (!in_vars(check->kernel->vars, e->var) || e->var->space == SPACE_PRIVATE)
            fail(check, e->at, "'%s' is not a shared or global variable", e->var->name);
        if (e->claim == CLAIM_FINAL && e->value_count != e->var->length)
            fail(check, e->at, "'%s' has %u element%s, not %u", e->var->name, e->var->length,
                 e->var->length == 1 ? "" : "s", e->value_count);
    }
}

bool ast_check(const struct ast_kernel *kernel, struct diag *diag)
{
    struct check check = {.kernel = kernel, .diag = diag};
    check_launch(&check);
    check_vars(&check, kernel->vars, false);
    check_function_names(&check);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        check_function(&check, f);
    if (kernel->main)
        check_function(&check, kernel->main);
    else
        fail(&check, (struct location){0, 0}, "the kernel has no body");
    check_blocks(&check);
    check_expects(&check);
    return check.errors == 0;
}
