/* transform_parts.c - what transformations add: names, variables, conditions whose value is known. */
#include "engine/rewrite/transform_internal.h"

/* ---- variables ---- */

struct ast_var *transform_memory(struct edit *edit, enum ast_space space, int32_t value)
{
    struct ast_var *var = ast_var(edit->arena, edit_name(edit, "m"), space, 1, false);
    var->init_count = 1;
    var->init = ARENA_ARRAY(edit->arena, int32_t, 1);
    var->init[0] = value;
    ast_var_append(&edit->kernel->vars, var);
    return var;
}

/* What it holds at first is drawn. */
static struct ast_expr *input(struct edit *edit, enum ast_space space)
{
    struct ast_var *var = transform_memory(edit, space, 0);
    var->is_input = true;
    var->init_count = 0;
    var->init = NULL;
    return ast_var_ref(edit->arena, var);
}

/* ---- conditions ---- */

static struct ast_expr *builtin(struct edit *edit, enum ast_builtin id)
{
    return ast_builtin_ref(edit->arena, id);
}

static struct ast_expr *compare(struct edit *edit, enum ast_binary op, struct ast_expr *a,
                                struct ast_expr *b)
{
    return ast_binary(edit->arena, op, a, b);
}

/* A location that nobody writes; of the lanes, too, it is the same. */
static struct ast_expr *from_memory(struct edit *edit, bool value)
{
    static const enum ast_space spaces[] = {SPACE_PRIVATE, SPACE_SHARED, SPACE_GLOBAL};
    struct ast_var *var = transform_memory(edit, spaces[edit_choose(edit, 3)], value);
    return ast_var_ref(edit->arena, var);
}

/* Whatever an input is, it equals itself. */
static struct ast_expr *from_input(struct edit *edit, bool value)
{
    struct ast_expr *a = input(edit, edit_choose(edit, 2) ? SPACE_SHARED : SPACE_PRIVATE);
    return compare(edit, value ? BINARY_EQ : BINARY_NE, a, ast_var_ref(edit->arena, a->var));
}

static struct ast_expr *from_builtins(struct edit *edit, bool value, bool uniform)
{
    static const struct {
        enum ast_builtin less, more;
        bool uniform;
    } pairs[] = {
        {BUILTIN_BID, BUILTIN_BLOCKS, true},
        {BUILTIN_TID, BUILTIN_THREADS, false},
        {BUILTIN_LANE, BUILTIN_WARP_SIZE, false},
    };
    uint32_t pair = edit_choose(edit, uniform ? 1 : 3);
    return compare(edit, value ? BINARY_LT : BINARY_GE, builtin(edit, pairs[pair].less),
                   builtin(edit, pairs[pair].more));
}

struct ast_expr *transform_known(struct edit *edit, bool value, bool uniform)
{
    switch (edit_choose(edit, 4)) {
    case 0:
        return ast_int(edit->arena, value);
    case 1:
        return from_memory(edit, value);
    case 2:
        return from_builtins(edit, value, uniform);
    default:
        return from_input(edit, value);
    }
}

/* The same in all threads of a block, though not known: an input, the block's number. */
static struct ast_expr *uniform_selection(struct edit *edit)
{
    struct ast_expr *a = edit_choose(edit, 2) ? input(edit, SPACE_SHARED)
                                              : ast_builtin_ref(edit->arena, BUILTIN_BID);
    return ast_binary(edit->arena, BINARY_AND, a, ast_int(edit->arena, 1));
}

static struct ast_expr *lane_selection(struct edit *edit)
{
    struct ast_expr *a = NULL;
    switch (edit_choose(edit, 3)) {
    case 0:
        a = ast_builtin_ref(edit->arena, BUILTIN_TID);
        break;
    case 1:
        a = ast_builtin_ref(edit->arena, BUILTIN_LANE);
        a = ast_binary(edit->arena, BINARY_SHR, a, ast_int(edit->arena, 1));
        break;
    default:
        a = input(edit, SPACE_PRIVATE);
        break;
    }
    return ast_binary(edit->arena, BINARY_AND, a, ast_int(edit->arena, 1));
}

struct ast_expr *transform_selection(struct edit *edit, bool uniform)
{
    return uniform ? uniform_selection(edit) : lane_selection(edit);
}

/* ---- statements ---- */

struct ast_stm *transform_if(struct edit *edit, struct ast_expr *condition,
                             struct ast_stm *then_list, struct ast_stm *else_list,
                             struct location at)
{
    struct ast_stm *s = ast_stm(edit->arena, STM_IF, at);
    s->value = condition;
    s->body = edit_block(edit, then_list);
    s->other = else_list ? edit_block(edit, else_list) : NULL;
    return s;
}
