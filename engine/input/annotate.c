#include "engine/input/annotate.h"

#include "engine/language/eval_ops.h"
#include "engine/language/walk.h"

static bool launch_constant(const struct ast_launch *launch, enum ast_builtin which, int32_t *value)
{
    switch (which) {
    case BUILTIN_THREADS:
        *value = (int32_t)launch->threads;
        return true;
    case BUILTIN_WARP_SIZE:
        *value = (int32_t)launch->warp;
        return true;
    case BUILTIN_BLOCKS:
        *value = (int32_t)launch->blocks;
        return true;
    case BUILTIN_TID:
    case BUILTIN_LANE:
    case BUILTIN_WARP:
    case BUILTIN_BID:
    case BUILTIN_COUNT:
        break;
    }
    return false;
}

/* False: it is about more than the launch. */
static bool constant(const struct ast_launch *launch, const struct ast_expr *e, int32_t *value)
{
    int32_t a = 0, b = 0;
    switch (e->kind) {
    case EXPR_INT:
        *value = e->value;
        return true;
    case EXPR_BUILTIN:
        return launch_constant(launch, e->builtin, value);
    case EXPR_UNARY:
        if (!constant(launch, e->a, &a))
            return false;
        *value = eval_unary(e->unary, a);
        return true;
    case EXPR_BINARY:
        if (!constant(launch, e->a, &a) || !constant(launch, e->b, &b))
            return false;
        if (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR)
            *value = e->binary == BINARY_LOGICAL_AND ? a && b : a || b;
        else
            *value = eval_binary(e->binary, a, b);
        return true;
    case EXPR_COND:
        return constant(launch, e->a, &a) && constant(launch, a ? e->b : e->c, value);
    case EXPR_VAR:
    case EXPR_INDEX:
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return false;
}

const struct ast_stm *annotate_broken(const struct ast_kernel *kernel)
{
    const struct ast_function *main = kernel->main;
    const struct ast_stm *s = main->blocks ? main->blocks->body : main->body;
    for (; s && s->kind == STM_ASSUME && s->annotation; s = s->next) {
        int32_t value;
        if (constant(&kernel->launch, s->value, &value) && value == 0)
            return s;
    }
    return NULL;
}

bool annotate_is_met(const struct ast_kernel *kernel, const struct ast_stm *stm)
{
    int32_t value;
    return stm->kind == STM_ASSUME && stm->annotation &&
           constant(&kernel->launch, stm->value, &value) && value != 0;
}

struct visiting {
    annotate_each *each;
    void *context;
};

static bool visit(void *context, const struct ast_stm *stm)
{
    const struct visiting *v = context;
    if (stm->annotation)
        v->each(v->context, stm);
    return false;
}

void annotate_visit(const struct ast_kernel *kernel, annotate_each *each, void *context)
{
    struct visiting v = {.each = each, .context = context};
    const struct ast_question question = {.statement = visit, .context = &v};
    ast_ask_kernel(&question, kernel);
}
