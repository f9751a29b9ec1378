#include "engine/input/annotate.h"

#include "engine/language/walk.h"

/* Constants of the launch. */
static bool constant(void *context, const struct ast_expr *e, int32_t *value)
{
    const struct ast_launch *launch = context;
    if (e->kind != EXPR_BUILTIN)
        return false;
    switch (e->builtin) {
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
static bool value_of(const struct ast_kernel *kernel, const struct ast_expr *e, int32_t *value)
{
    struct ast_launch launch = kernel->launch;
    return ast_value(e, constant, &launch, value);
}

const struct ast_stm *annotate_broken(const struct ast_kernel *kernel)
{
    const struct ast_function *main = kernel->main;
    const struct ast_stm *s = main->blocks ? main->blocks->body : main->body;
    for (; s && s->kind == STM_ASSUME && s->annotation; s = s->next) {
        int32_t value;
        if (value_of(kernel, s->value, &value) && value == 0)
            return s;
    }
    return NULL;
}

bool annotate_is_met(const struct ast_kernel *kernel, const struct ast_stm *stm)
{
    int32_t value;
    return stm->kind == STM_ASSUME && stm->annotation && value_of(kernel, stm->value, &value) &&
           value != 0;
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
    if (kernel->main) /* PTX has none */
        ast_ask_kernel(&question, kernel);
}
