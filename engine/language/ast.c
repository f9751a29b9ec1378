#include "engine/language/ast.h"

#include "engine/language/eval_ops.h"
#include "engine/language/walk.h"

#include <string.h>

const char *const ast_space_names[SPACE_COUNT] = {
    [SPACE_GLOBAL] = "global",
    [SPACE_SHARED] = "shared",
    [SPACE_PRIVATE] = "private",
    [SPACE_LOCAL] = "private",
};

const char *const ast_builtin_names[BUILTIN_COUNT] = {
    [BUILTIN_TID] = "tid",       [BUILTIN_THREADS] = "threads",     [BUILTIN_LANE] = "lane",
    [BUILTIN_WARP] = "warp",     [BUILTIN_WARP_SIZE] = "warp_size", [BUILTIN_BID] = "bid",
    [BUILTIN_BLOCKS] = "blocks",
};

const char *const ast_binary_names[BINARY_COUNT] = {
    [BINARY_MUL] = "*",  [BINARY_DIV] = "/",          [BINARY_REM] = "%",
    [BINARY_ADD] = "+",  [BINARY_SUB] = "-",          [BINARY_SHL] = "<<",
    [BINARY_SHR] = ">>", [BINARY_LT] = "<",           [BINARY_LE] = "<=",
    [BINARY_GT] = ">",   [BINARY_GE] = ">=",          [BINARY_EQ] = "==",
    [BINARY_NE] = "!=",  [BINARY_AND] = "&",          [BINARY_XOR] = "^",
    [BINARY_OR] = "|",   [BINARY_LOGICAL_AND] = "&&", [BINARY_LOGICAL_OR] = "||",
};

const uint8_t ast_binary_levels[BINARY_COUNT] = {
    [BINARY_LOGICAL_OR] = 1, [BINARY_LOGICAL_AND] = 2, [BINARY_OR] = 3,  [BINARY_XOR] = 4,
    [BINARY_AND] = 5,        [BINARY_EQ] = 6,          [BINARY_NE] = 6,  [BINARY_LT] = 7,
    [BINARY_LE] = 7,         [BINARY_GT] = 7,          [BINARY_GE] = 7,  [BINARY_SHL] = 8,
    [BINARY_SHR] = 8,        [BINARY_ADD] = 9,         [BINARY_SUB] = 9, [BINARY_MUL] = 10,
    [BINARY_DIV] = 10,       [BINARY_REM] = 10,
};

const char *const ast_assign_names[ASSIGN_COUNT] = {
    [ASSIGN_SET] = "=",  [ASSIGN_ADD] = "+=", [ASSIGN_SUB] = "-=", [ASSIGN_MUL] = "*=",
    [ASSIGN_XOR] = "^=", [ASSIGN_OR] = "|=",  [ASSIGN_AND] = "&=",
};

const char *const ast_atomic_names[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = "atomic_add", [ATOMIC_MIN] = "atomic_min", [ATOMIC_MAX] = "atomic_max",
    [ATOMIC_AND] = "atomic_and", [ATOMIC_OR] = "atomic_or",   [ATOMIC_EXCH] = "atomic_exch",
    [ATOMIC_CAS] = "atomic_cas",
};

const char *const ast_vote_names[VOTE_COUNT] = {
    [VOTE_ALL] = "vote_all",
    [VOTE_ANY] = "vote_any",
    [VOTE_UNI] = "vote_uni",
    [VOTE_BALLOT] = "vote_ballot",
};

const char *const ast_claim_names[CLAIM_COUNT] = {
    [CLAIM_RACE_FREE] = "race_free",
    [CLAIM_RACE] = "race",
    [CLAIM_TERMINATES] = "terminates",
    [CLAIM_NONTERMINATING] = "nonterminating",
    [CLAIM_BARRIER_DIVERGENCE] = "barrier_divergence",
    [CLAIM_ASSERT_FAILS] = "assert_fails",
    [CLAIM_OUT_OF_BOUNDS] = "out_of_bounds",
    [CLAIM_DEADLOCK] = "deadlock",
    [CLAIM_UNFAIR] = "unfair",
    [CLAIM_STUCK] = "stuck",
    [CLAIM_FINAL] = "final",
    [CLAIM_CALL_DEPTH] = "call_depth",
    [CLAIM_INFEASIBLE] = "infeasible",
    [CLAIM_BARRIER_ERROR] = "barrier_error",
};

const enum ast_binary ast_assign_operations[ASSIGN_COUNT] = {
    [ASSIGN_ADD] = BINARY_ADD, [ASSIGN_SUB] = BINARY_SUB, [ASSIGN_MUL] = BINARY_MUL,
    [ASSIGN_XOR] = BINARY_XOR, [ASSIGN_OR] = BINARY_OR,   [ASSIGN_AND] = BINARY_AND,
};

const char *const ast_stm_names[STM_KIND_COUNT] = {
#define STATEMENT(kind, name, traits) [STM_##kind] = name,
#include "engine/language/statements.def"
#undef STATEMENT
};

/* ---- construction ---- */

static struct ast_expr *expr_new(struct arena *arena, enum ast_expr_kind kind)
{
    struct ast_expr *expr = ARENA_NEW(arena, struct ast_expr);
    expr->kind = kind;
    return expr;
}

struct ast_expr *ast_int(struct arena *arena, int32_t value)
{
    struct ast_expr *expr = expr_new(arena, EXPR_INT);
    expr->value = value;
    return expr;
}

struct ast_expr *ast_var_ref(struct arena *arena, struct ast_var *var)
{
    struct ast_expr *expr = expr_new(arena, EXPR_VAR);
    expr->var = var;
    return expr;
}

struct ast_expr *ast_index(struct arena *arena, struct ast_var *var, struct ast_expr *index)
{
    struct ast_expr *expr = expr_new(arena, EXPR_INDEX);
    expr->var = var;
    expr->a = index;
    return expr;
}

struct ast_expr *ast_builtin_ref(struct arena *arena, enum ast_builtin builtin)
{
    struct ast_expr *expr = expr_new(arena, EXPR_BUILTIN);
    expr->builtin = builtin;
    return expr;
}

struct ast_expr *ast_unary(struct arena *arena, enum ast_unary op, struct ast_expr *a)
{
    struct ast_expr *expr = expr_new(arena, EXPR_UNARY);
    expr->unary = op;
    expr->a = a;
    return expr;
}

struct ast_expr *ast_binary(struct arena *arena, enum ast_binary op, struct ast_expr *a,
                            struct ast_expr *b)
{
    struct ast_expr *expr = expr_new(arena, EXPR_BINARY);
    expr->binary = op;
    expr->a = a;
    expr->b = b;
    return expr;
}

struct ast_expr *ast_cond(struct arena *arena, struct ast_expr *a, struct ast_expr *b,
                          struct ast_expr *c)
{
    struct ast_expr *expr = expr_new(arena, EXPR_COND);
    expr->a = a;
    expr->b = b;
    expr->c = c;
    return expr;
}

struct ast_stm *ast_stm(struct arena *arena, enum ast_stm_kind kind, struct location at)
{
    struct ast_stm *stm = ARENA_NEW(arena, struct ast_stm);
    stm->kind = kind;
    stm->at = at;
    return stm;
}

struct ast_stm *ast_assign(struct arena *arena, struct ast_var *var, struct ast_expr *index,
                           struct ast_expr *value, struct location at)
{
    struct ast_stm *stm = ast_stm(arena, STM_ASSIGN, at);
    stm->target = (struct ast_lvalue){.var = var, .index = index, .at = at};
    stm->value = value;
    return stm;
}

struct ast_expr *ast_assigned_value(struct arena *arena, const struct ast_stm *stm)
{
    const struct ast_lvalue *target = &stm->target;
    if (stm->op == ASSIGN_SET)
        return stm->value;
    struct ast_expr *old = target->index
                               ? ast_index(arena, target->var, ast_expr_copy(arena, target->index))
                               : ast_var_ref(arena, target->var);
    old->at = target->at;
    return ast_binary(arena, ast_assign_operations[stm->op], old, stm->value);
}

struct ast_var *ast_var(struct arena *arena, const char *name, enum ast_space space,
                        uint32_t length, bool is_array)
{
    struct ast_var *var = ARENA_NEW(arena, struct ast_var);
    var->name = name;
    var->space = space;
    var->length = length;
    var->is_array = is_array;
    return var;
}

void ast_stm_append(struct ast_stm **list, struct ast_stm *stms)
{
    while (*list)
        list = &(*list)->next;
    *list = stms;
}

void ast_var_append(struct ast_var **list, struct ast_var *var)
{
    while (*list)
        list = &(*list)->next;
    *list = var;
}

/* ---- copies ---- */

/* From the variables, functions and blocks of the original to their copies: an open hash over
 * addresses. Only looked up, never walked, so no address decides anything. The original is not
 * written to, not even its marks: other workers may read it. */
struct copy {
    struct arena *arena;
    const void **keys; /* NULL: no map, references stay as they are */
    void **values;
    uint32_t mask;
};

static uint32_t copy_slot(const struct copy *copy, const void *key)
{
    uint32_t slot = (uint32_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 32) & copy->mask;
    while (copy->keys[slot] && copy->keys[slot] != key)
        slot = (slot + 1) & copy->mask;
    return slot;
}

static void copy_enter(struct copy *copy, const void *key, void *value)
{
    uint32_t slot = copy_slot(copy, key);
    copy->keys[slot] = key;
    copy->values[slot] = value;
}

/* The copy of what a reference points to; what is not part of the original stays shared. */
static void *copy_of(const struct copy *copy, void *original)
{
    if (!copy->keys || !original)
        return original;
    uint32_t slot = copy_slot(copy, original);
    return copy->keys[slot] ? copy->values[slot] : original;
}

static struct ast_expr *copy_expr(const struct copy *copy, const struct ast_expr *expr)
{
    if (!expr)
        return NULL;
    struct ast_expr *result = ARENA_NEW(copy->arena, struct ast_expr);
    *result = *expr;
    result->next = NULL;
    if (expr->kind == EXPR_VAR || expr->kind == EXPR_INDEX)
        result->var = copy_of(copy, expr->var);
    result->a = copy_expr(copy, expr->a);
    result->b = copy_expr(copy, expr->b);
    result->c = copy_expr(copy, expr->c);
    return result;
}

static struct ast_expr *copy_expr_list(const struct copy *copy, const struct ast_expr *list)
{
    struct ast_expr *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next)
        *tail = copy_expr(copy, list);
    return head;
}

static struct ast_lvalue copy_lvalue(const struct copy *copy, const struct ast_lvalue *lvalue)
{
    return (struct ast_lvalue){.var = copy_of(copy, lvalue->var),
                               .index = copy_expr(copy, lvalue->index),
                               .at = lvalue->at};
}

static struct ast_stm *copy_stms(const struct copy *copy, const struct ast_stm *list);

static struct ast_case *copy_cases(const struct copy *copy, const struct ast_case *list)
{
    struct ast_case *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next) {
        *tail = ARENA_NEW(copy->arena, struct ast_case);
        **tail = *list;
        (*tail)->next = NULL;
        (*tail)->body = copy_stms(copy, list->body);
    }
    return head;
}

static struct ast_stm *copy_stm(const struct copy *copy, const struct ast_stm *stm)
{
    struct ast_stm *result = ARENA_NEW(copy->arena, struct ast_stm);
    *result = *stm;
    result->next = NULL;
    result->target = copy_lvalue(copy, &stm->target);
    result->place = copy_lvalue(copy, &stm->place);
    result->value = copy_expr(copy, stm->value);
    result->second = copy_expr(copy, stm->second);
    result->arguments = copy_expr_list(copy, stm->arguments);
    result->outs = copy_expr_list(copy, stm->outs);
    result->guard = copy_expr(copy, stm->guard);
    result->function = copy_of(copy, stm->function);
    result->body = copy_stms(copy, stm->body);
    result->other = copy_stms(copy, stm->other);
    result->init = copy_stms(copy, stm->init);
    result->step = copy_stms(copy, stm->step);
    result->cases = copy_cases(copy, stm->cases);
    return result;
}

static struct ast_stm *copy_stms(const struct copy *copy, const struct ast_stm *list)
{
    struct ast_stm *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next)
        *tail = copy_stm(copy, list);
    return head;
}

struct ast_expr *ast_expr_copy(struct arena *arena, const struct ast_expr *expr)
{
    struct copy copy = {.arena = arena};
    return copy_expr(&copy, expr);
}

struct ast_stm *ast_stm_list_copy(struct arena *arena, const struct ast_stm *list)
{
    struct copy copy = {.arena = arena};
    return copy_stms(&copy, list);
}

static const char *copy_text(const struct copy *copy, const char *text)
{
    return text ? arena_strndup(copy->arena, text, strlen(text)) : NULL;
}

static int32_t *copy_values(const struct copy *copy, const int32_t *values, uint32_t count)
{
    if (count == 0)
        return NULL;
    int32_t *result = ARENA_ARRAY(copy->arena, int32_t, count);
    memcpy(result, values, count * sizeof *values);
    return result;
}

static struct ast_var *copy_vars(struct copy *copy, const struct ast_var *list)
{
    struct ast_var *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next) {
        *tail = ARENA_NEW(copy->arena, struct ast_var);
        **tail = *list;
        (*tail)->next = NULL;
        (*tail)->name = copy_text(copy, list->name);
        (*tail)->init = copy_values(copy, list->init, list->init_count);
        copy_enter(copy, list, *tail);
    }
    return head;
}

static struct ast_block *copy_block_heads(struct copy *copy, const struct ast_block *list)
{
    struct ast_block *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next) {
        *tail = ARENA_NEW(copy->arena, struct ast_block);
        **tail = *list;
        (*tail)->next = NULL;
        (*tail)->name = copy_text(copy, list->name);
        copy_enter(copy, list, *tail);
    }
    return head;
}

/* Functions without their bodies, which may call functions that come later. */
static struct ast_function *copy_function_heads(struct copy *copy, const struct ast_function *list)
{
    struct ast_function *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next) {
        *tail = ARENA_NEW(copy->arena, struct ast_function);
        **tail = *list;
        (*tail)->next = NULL;
        (*tail)->name = copy_text(copy, list->name);
        (*tail)->locals = copy_vars(copy, list->locals);
        (*tail)->blocks = copy_block_heads(copy, list->blocks);
        copy_enter(copy, list, *tail);
    }
    return head;
}

static struct ast_expect *copy_expects(struct copy *copy, const struct ast_expect *list)
{
    struct ast_expect *head = NULL, **tail = &head;
    for (; list; list = list->next, tail = &(*tail)->next) {
        *tail = ARENA_NEW(copy->arena, struct ast_expect);
        **tail = *list;
        (*tail)->next = NULL;
        (*tail)->subject = copy_text(copy, list->subject);
        (*tail)->var = copy_of(copy, list->var);
        (*tail)->values = copy_values(copy, list->values, list->value_count);
    }
    return head;
}

static uint32_t count_vars(const struct ast_var *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

/* A function, its variables and blocks. */
static uint32_t count_function(const struct ast_function *function)
{
    uint32_t count = 1 + count_vars(function->locals);
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        count++;
    return count;
}

/* Everything that a reference can point to. */
static uint32_t count_named(const struct ast_kernel *kernel)
{
    uint32_t count = count_vars(kernel->vars);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        count += count_function(f);
    if (kernel->main)
        count += count_function(kernel->main);
    return count;
}

static void copy_block_bodies(struct copy *copy, const struct ast_block *from, struct ast_block *to)
{
    for (; from; from = from->next, to = to->next) {
        to->body = copy_stms(copy, from->body);
        to->targets = ARENA_ARRAY(copy->arena, struct ast_block *, from->target_count);
        for (uint32_t i = 0; i < from->target_count; i++)
            to->targets[i] = copy_of(copy, from->targets[i]);
    }
}

static void copy_function_body(struct copy *copy, const struct ast_function *from,
                               struct ast_function *to)
{
    to->body = copy_stms(copy, from->body);
    copy_block_bodies(copy, from->blocks, to->blocks);
}

struct ast_kernel *language_copy(struct arena *arena, const struct ast_kernel *kernel)
{
    uint32_t size = 16;
    for (uint32_t named = count_named(kernel); size < 2 * named;)
        size *= 2;
    struct copy copy = {.arena = arena,
                        .keys = ARENA_ARRAY(arena, const void *, size),
                        .values = ARENA_ARRAY(arena, void *, size),
                        .mask = size - 1};
    struct ast_kernel *result = ARENA_NEW(arena, struct ast_kernel);
    result->name = copy_text(&copy, kernel->name);
    result->form = kernel->form;
    result->launch = kernel->launch;
    result->vars = copy_vars(&copy, kernel->vars);
    result->functions = copy_function_heads(&copy, kernel->functions);
    result->main = copy_function_heads(&copy, kernel->main);
    struct ast_function *to = result->functions;
    for (const struct ast_function *from = kernel->functions; from;
         from = from->next, to = to->next)
        copy_function_body(&copy, from, to);
    if (kernel->main)
        copy_function_body(&copy, kernel->main, result->main);
    result->expects = copy_expects(&copy, kernel->expects);
    return result;
}

/* ---- measures and values ---- */

static bool count_stm(void *context, const struct ast_stm *stm)
{
    uint32_t *size = context;
    *size += stm->kind != STM_BLOCK && stm->kind != STM_SKIP;
    return false;
}

uint32_t language_size(const struct ast_kernel *kernel)
{
    uint32_t size = 0;
    const struct ast_question count = {.statement = count_stm, .context = &size};
    ast_ask_kernel(&count, kernel);
    return size;
}

int32_t ast_eval_binary(enum ast_binary op, int32_t a, int32_t b)
{
    return eval_binary(op, a, b);
}

int32_t ast_eval_unary(enum ast_unary op, int32_t a)
{
    return eval_unary(op, a);
}

bool ast_value(const struct ast_expr *e, ast_leaf *leaf, void *context, int32_t *value)
{
    int32_t a = 0, b = 0;
    switch (e->kind) {
    case EXPR_INT:
        *value = e->value;
        return true;
    case EXPR_UNARY:
        if (!ast_value(e->a, leaf, context, &a))
            return false;
        *value = eval_unary(e->unary, a);
        return true;
    case EXPR_BINARY:
        if (!ast_value(e->a, leaf, context, &a) || !ast_value(e->b, leaf, context, &b))
            return false;
        *value = eval_binary(e->binary, a, b);
        return true;
    case EXPR_COND:
        return ast_value(e->a, leaf, context, &a) &&
               ast_value(a ? e->b : e->c, leaf, context, value);
    case EXPR_VAR:
    case EXPR_INDEX:
    case EXPR_BUILTIN:
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return leaf && leaf(context, e, value);
}
