/*
 * mutate_exprs.c - mutators of expressions, variables and the launch.
 */
#include "fuzz/mutate/mutate_internal.h"

/* ---- constants, operators ---- */

static bool is_constant(const struct expr_site *site)
{
    return (*site->slot)->kind == EXPR_INT;
}

static int32_t other_constant(struct mutation *m, int32_t value)
{
    static const int32_t edges[] = {0, 1, -1, 2, 31, 32, INT32_MAX, INT32_MIN};
    switch (mutate_below(m, 6)) {
    case 0:
        return value == INT32_MAX ? value : value + 1;
    case 1:
        return value == INT32_MIN ? value : value - 1;
    case 2:
        return value == INT32_MIN ? value : -value;
    case 3:
        return value ^ (int32_t)(1u << mutate_below(m, 5));
    case 4:
        return (int32_t)mutate_below(m, 10);
    default:
        return edges[mutate_below(m, sizeof edges / sizeof edges[0])];
    }
}

bool mutate_constant(struct mutation *m)
{
    struct expr_site *site = mutate_pick_expr(m, mutate_exprs(m, m->kernel, is_constant));
    if (!site)
        return false;
    (*site->slot)->value = other_constant(m, (*site->slot)->value);
    return true;
}

/* Operators that may stand for each other. */
enum operator_class { CLASS_ARITHMETIC, CLASS_COMPARISON, CLASS_BITS, CLASS_LOGIC, CLASS_COUNT };

static enum operator_class class_of(enum ast_binary op)
{
    switch (op) {
    case BINARY_MUL:
    case BINARY_DIV:
    case BINARY_REM:
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_SHL:
    case BINARY_SHR:
        return CLASS_ARITHMETIC;
    case BINARY_LT:
    case BINARY_LE:
    case BINARY_GT:
    case BINARY_GE:
    case BINARY_EQ:
    case BINARY_NE:
        return CLASS_COMPARISON;
    case BINARY_AND:
    case BINARY_XOR:
    case BINARY_OR:
        return CLASS_BITS;
    case BINARY_LOGICAL_AND:
    case BINARY_LOGICAL_OR:
        break;
    }
    return CLASS_LOGIC;
}

static bool has_operator(const struct expr_site *site)
{
    enum ast_expr_kind kind = (*site->slot)->kind;
    return kind == EXPR_BINARY || kind == EXPR_BUILTIN || kind == EXPR_ALL || kind == EXPR_ANY ||
           kind == EXPR_UNARY;
}

static enum ast_binary other_operator(struct mutation *m, enum ast_binary op)
{
    enum ast_binary others[BINARY_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < BINARY_COUNT; i++)
        if (i != op && class_of((enum ast_binary)i) == class_of(op))
            others[count++] = (enum ast_binary)i;
    return others[mutate_below(m, count)];
}

bool mutate_operator(struct mutation *m)
{
    struct expr_site *site = mutate_pick_expr(m, mutate_exprs(m, m->kernel, has_operator));
    if (!site)
        return false;
    struct ast_expr *e = *site->slot;
    if (e->kind == EXPR_BINARY && mutate_chance(m, 15)) {
        struct ast_expr *a = e->a;
        e->a = e->b;
        e->b = a;
    } else if (e->kind == EXPR_BINARY) {
        e->binary = other_operator(m, e->binary);
    } else if (e->kind == EXPR_BUILTIN) {
        e->builtin = (enum ast_builtin)mutate_below(m, BUILTIN_COUNT);
    } else if (e->kind == EXPR_UNARY) {
        e->unary = (enum ast_unary)((uint32_t)(e->unary + 1 + mutate_below(m, 2)) % 3);
    } else {
        e->kind = e->kind == EXPR_ALL ? EXPR_ANY : EXPR_ALL;
    }
    return true;
}

/* ---- operands ---- */

static bool is_any_expr(const struct expr_site *site)
{
    return *site->slot != NULL;
}

bool mutate_operand(struct mutation *m)
{
    struct expr_site *site = mutate_pick_expr(m, mutate_exprs(m, m->kernel, is_any_expr));
    if (!site)
        return false;
    struct ast_expr *old = *site->slot, *next = old->next;
    bool condition = site->role == ROLE_CONDITION;
    struct ast_expr *with =
        condition ? mutate_condition(m, site->function) : mutate_value(m, site->function);
    if (mutate_chance(m, 30)) {
        static const enum ast_binary joins[] = {BINARY_ADD, BINARY_XOR, BINARY_SUB};
        enum ast_binary join = condition
                                   ? (mutate_chance(m, 50) ? BINARY_LOGICAL_AND : BINARY_LOGICAL_OR)
                                   : joins[mutate_below(m, 3)];
        old->next = NULL;
        with = ast_binary(m->arena, join, old, with);
    }
    with->next = next;
    *site->slot = with;
    return true;
}

/* ---- variables ---- */

static bool is_variable(const struct expr_site *site)
{
    enum ast_expr_kind kind = (*site->slot)->kind;
    return (kind == EXPR_VAR || kind == EXPR_INDEX) && !(*site->slot)->var->mark;
}

static bool is_like(const struct ast_var *var, const void *context)
{
    const struct ast_var *old = context;
    return var != old && var->is_array == old->is_array && var->length >= old->length;
}

static bool is_target_like(const struct ast_var *var, const void *context)
{
    const struct ast_var *old = context;
    return is_like(var, old) && !var->mark && mutate_is_private(var) == mutate_is_private(old);
}

static bool has_target(const struct ast_stm *stm)
{
    return stm->target.var && !stm->target.var->mark;
}

static bool change_target(struct mutation *m)
{
    struct site *site = mutate_pick_where(m, mutate_sites(m, m->kernel, false), has_target);
    if (!site)
        return false;
    struct ast_lvalue *target = &(*site->slot)->target;
    struct ast_var *var = mutate_pick_var(m, site->function, is_target_like, target->var);
    if (var)
        target->var = var;
    return var != NULL;
}

bool mutate_variable(struct mutation *m)
{
    if (mutate_chance(m, 30))
        return change_target(m);
    struct expr_site *site = mutate_pick_expr(m, mutate_exprs(m, m->kernel, is_variable));
    if (!site)
        return false;
    struct ast_expr *e = *site->slot;
    struct ast_var *var = mutate_pick_var(m, site->function, is_like, e->var);
    if (var)
        e->var = var;
    return var != NULL;
}

static bool is_of_file(const struct ast_var *var, const void *context)
{
    (void)context;
    return var->space != SPACE_LOCAL;
}

static void change_values(struct mutation *m, struct ast_var *var)
{
    enum { MOST = 16 };
    uint32_t count = 1 + mutate_below(m, var->length < MOST ? var->length : MOST);
    if (count < var->init_count)
        count = var->init_count;
    int32_t *init = ARENA_ARRAY(m->arena, int32_t, count);
    for (uint32_t i = 0; i < var->init_count; i++)
        init[i] = var->init[i];
    uint32_t at = mutate_below(m, count);
    init[at] = other_constant(m, init[at]);
    var->init = init;
    var->init_count = count;
    var->is_input = false;
}

bool mutate_memory(struct mutation *m)
{
    struct ast_var *var = mutate_pick_var(m, m->kernel->main, is_of_file, NULL);
    if (!var)
        return false;
    switch (mutate_below(m, 4)) {
    case 0:
        if (var->space == SPACE_PRIVATE)
            return false;
        var->space = var->space == SPACE_SHARED ? SPACE_GLOBAL : SPACE_SHARED;
        return true;
    case 1:
        var->is_input = !var->is_input;
        var->init_count = 0;
        var->init = NULL;
        return true;
    case 2:
        if (!var->is_array)
            return false;
        var->length *= 2;
        return true;
    default:
        change_values(m, var);
        return true;
    }
}

/* ---- launch ---- */

/* Arrays that had an element for each thread have one for each again, by doubling. */
static void stretch_arrays(struct ast_kernel *kernel, uint32_t threads_before,
                           uint32_t total_before)
{
    uint32_t threads = kernel->launch.threads, total = threads * kernel->launch.blocks;
    for (struct ast_var *v = kernel->vars; v; v = v->next) {
        bool of_block = v->is_array && v->space == SPACE_SHARED && v->length >= threads_before;
        bool of_grid = v->is_array && v->space == SPACE_GLOBAL && v->length >= total_before;
        uint32_t wanted = of_block ? threads : of_grid ? total : 0;
        while (v->length < wanted)
            v->length *= 2;
    }
}

bool mutate_launch(struct mutation *m)
{
    static const uint32_t warps[] = {1, 2, 3, 4, 5, 8, 16, 32, 64};
    enum { THREADS_MOST = 96, BLOCKS_MOST = 4 };
    struct ast_launch *launch = &m->kernel->launch;
    const struct ast_launch before = *launch;
    switch (mutate_below(m, 5)) {
    case 0:
        launch->threads = launch->warp * (1 + mutate_below(m, 3));
        break;
    case 1:
        launch->threads = 1 + mutate_below(m, 2 * launch->threads);
        break;
    case 2:
        launch->blocks = 1 + mutate_below(m, BLOCKS_MOST);
        break;
    case 3:
        launch->seed = mutate_below(m, 1u << 16);
        break;
    default:
        launch->warp = warps[mutate_below(m, sizeof warps / sizeof warps[0])];
        break;
    }
    if (launch->threads > THREADS_MOST && launch->threads > before.threads)
        launch->threads = THREADS_MOST;
    stretch_arrays(m->kernel, before.threads, before.threads * before.blocks);
    return launch->threads != before.threads || launch->blocks != before.blocks ||
           launch->warp != before.warp || launch->seed != before.seed;
}
