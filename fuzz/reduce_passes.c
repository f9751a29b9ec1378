/*
 * reduce_passes.c - what the reducer may do to a kernel. Every edit makes it strictly simpler, so
 * that trying them until none is accepted ends.
 */
#include "fuzz/reduce_internal.h"

#include <string.h>

/* ---- walks ---- */

typedef void visit_list(struct edit *edit, struct ast_stm **list);
typedef void visit_expr(struct edit *edit, struct ast_expr **slot);

static void walk_list(struct edit *edit, struct ast_stm **list, visit_list *visit)
{
    visit(edit, list);
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next) {
        if (s->kind == STM_BLOCK) {
            walk_list(edit, &s->body, visit);
        } else {
            if (s->body)
                walk_list(edit, &s->body->body, visit);
            if (s->other)
                walk_list(edit, &s->other->body, visit);
        }
        for (struct ast_case *c = s->cases; c; c = c->next)
            walk_list(edit, &c->body, visit);
    }
}

/* Every statement list of the kernel, outer ones first. */
static void walk_lists(struct edit *edit, visit_list *visit)
{
    walk_list(edit, &edit->kernel->main->body, visit);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next)
        walk_list(edit, &f->body, visit);
}

static void walk_expr(struct edit *edit, struct ast_expr **slot, visit_expr *visit)
{
    if (!*slot)
        return;
    struct ast_expr *expr = *slot;
    visit(edit, slot);
    if (*slot != expr)
        return;
    walk_expr(edit, &expr->a, visit);
    walk_expr(edit, &expr->b, visit);
    walk_expr(edit, &expr->c, visit);
}

static void walk_stm_exprs(struct edit *edit, struct ast_stm *s, visit_expr *visit)
{
    if (!s)
        return;
    walk_expr(edit, &s->target.index, visit);
    walk_expr(edit, &s->place.index, visit);
    walk_expr(edit, &s->value, visit);
    walk_expr(edit, &s->second, visit);
    for (struct ast_expr **a = &s->arguments; *a; a = &(*a)->next) {
        struct ast_expr *next = (*a)->next;
        walk_expr(edit, a, visit);
        (*a)->next = next; /* of whatever stands there now */
    }
    walk_stm_exprs(edit, s->init, visit);
    walk_stm_exprs(edit, s->step, visit);
}

/* ---- statements ---- */

static uint32_t list_length(const struct ast_stm *list)
{
    uint32_t length = 0;
    for (; list; list = list->next)
        length++;
    return length;
}

/* Deletes runs: the whole list, then halves, quarters, .., single statements, last ones first. */
static void delete_chunks(struct edit *edit, struct ast_stm **list)
{
    uint32_t length = list_length(*list);
    for (uint32_t size = length; size > 0; size /= 2) {
        for (uint32_t end = length; end > 0; end = end > size ? end - size : 0) {
            uint32_t start = end > size ? end - size : 0;
            if (!edit_here(edit))
                continue;
            struct ast_stm **from = list;
            for (uint32_t i = 0; i < start; i++)
                from = &(*from)->next;
            for (uint32_t i = start; i < end; i++)
                *from = (*from)->next;
            return;
        }
    }
}

static void pass_delete(struct edit *edit)
{
    walk_lists(edit, delete_chunks);
}

/* Puts a list in the place of the statement at *slot. */
static void splice(struct ast_stm **slot, struct ast_stm *list)
{
    struct ast_stm *rest = (*slot)->next;
    *slot = list;
    while (*slot)
        slot = &(*slot)->next;
    *slot = rest;
}

static void hoist_one(struct edit *edit, struct ast_stm **slot)
{
    struct ast_stm *s = *slot;
    struct ast_stm *body = s->kind == STM_BLOCK ? s->body : s->body ? s->body->body : NULL;
    if ((s->kind == STM_BLOCK || s->body) && edit_here(edit)) {
        splice(slot, body);
        return;
    }
    if (s->other && edit_here(edit)) {
        splice(slot, s->other->body);
        return;
    }
    if (s->other && edit_here(edit)) {
        s->other = NULL;
        return;
    }
    for (struct ast_case *c = s->cases; c; c = c->next)
        if (edit_here(edit)) {
            splice(slot, c->body);
            return;
        }
    for (struct ast_case **c = &s->cases; *c; c = &(*c)->next)
        if (edit_here(edit)) {
            *c = (*c)->next;
            return;
        }
}

static void hoist_list(struct edit *edit, struct ast_stm **list)
{
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        hoist_one(edit, slot);
        if (edit_done(edit))
            return; /* nothing may stand in the slot any more */
    }
}

/* A control statement becomes its body, or its else-part, or one of its cases. */
static void pass_hoist(struct edit *edit)
{
    walk_lists(edit, hoist_list);
}

/* Whether a loop's body contains a continue of that loop. */
static bool has_continue(const struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CONTINUE)
            return true;
        if (list->kind == STM_WHILE || list->kind == STM_DO || list->kind == STM_FOR)
            continue;
        if (has_continue(list->body) || has_continue(list->other))
            return true;
        for (const struct ast_case *c = list->cases; c; c = c->next)
            if (has_continue(c->body))
                return true;
    }
    return false;
}

static void simplify_one(struct edit *edit, struct ast_stm **slot)
{
    struct ast_stm *s = *slot;
    if (s->kind == STM_ASSIGN && s->op != ASSIGN_SET && edit_here(edit)) {
        s->op = ASSIGN_SET;
        return;
    }
    if (s->kind == STM_CALL && s->target.var && edit_here(edit)) {
        s->target = (struct ast_lvalue){0};
        return;
    }
    if (s->kind == STM_DO && edit_here(edit)) {
        s->kind = STM_WHILE;
        return;
    }
    if (s->kind == STM_FOR && s->init && edit_here(edit)) {
        s->init = NULL;
        return;
    }
    if (s->kind == STM_FOR && s->step && edit_here(edit)) {
        s->step = NULL;
        return;
    }
    /* for (i; e; u) S  becomes  i; while (e) { S u } */
    if (s->kind == STM_FOR && s->value && !has_continue(s->body) && edit_here(edit)) {
        ast_stm_append(&s->body->body, s->step);
        struct ast_stm *init = s->init;
        s->init = s->step = NULL;
        s->kind = STM_WHILE;
        if (init) {
            init->next = s;
            *slot = init;
        }
    }
}

static void simplify_list(struct edit *edit, struct ast_stm **list)
{
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        simplify_one(edit, slot);
        if (edit_done(edit))
            return;
    }
}

static void pass_simplify(struct edit *edit)
{
    walk_lists(edit, simplify_list);
}

/* ---- functions ---- */

static bool list_calls(const struct ast_stm *list, const struct ast_function *f)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CALL && list->function == f)
            return true;
        if (list_calls(list->body, f) || list_calls(list->other, f) || list_calls(list->init, f) ||
            list_calls(list->step, f))
            return true;
        for (const struct ast_case *c = list->cases; c; c = c->next)
            if (list_calls(c->body, f))
                return true;
    }
    return false;
}

static bool function_is_called(const struct ast_kernel *kernel, const struct ast_function *f)
{
    if (list_calls(kernel->main->body, f))
        return true;
    for (const struct ast_function *g = kernel->functions; g; g = g->next)
        if (g != f && list_calls(g->body, f))
            return true;
    return false;
}

static void drop_uncalled(struct edit *edit)
{
    for (struct ast_function **f = &edit->kernel->functions; *f; f = &(*f)->next)
        if (!function_is_called(edit->kernel, *f) && edit_here(edit)) {
            *f = (*f)->next;
            return;
        }
}

/* Calls of one function at statement level: visited through a file-wide walk. */
struct call_edit {
    struct ast_function *function;
    uint32_t parameter; /* whose argument is removed; UINT32_MAX: drop all values of calls */
};

static void edit_calls(struct ast_stm *list, const struct call_edit *what)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CALL && list->function == what->function) {
            if (what->parameter == UINT32_MAX) {
                list->target = (struct ast_lvalue){0};
            } else {
                struct ast_expr **a = &list->arguments;
                for (uint32_t i = 0; i < what->parameter; i++)
                    a = &(*a)->next;
                *a = (*a)->next;
            }
        }
        edit_calls(list->body, what);
        edit_calls(list->other, what);
        edit_calls(list->init, what);
        edit_calls(list->step, what);
        for (struct ast_case *c = list->cases; c; c = c->next)
            edit_calls(c->body, what);
    }
}

static void edit_all_calls(struct ast_kernel *kernel, const struct call_edit *what)
{
    edit_calls(kernel->main->body, what);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        edit_calls(f->body, what);
}

static void drop_return_values(struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (list->kind == STM_RETURN)
            list->value = NULL;
        drop_return_values(list->body);
        drop_return_values(list->other);
        for (struct ast_case *c = list->cases; c; c = c->next)
            drop_return_values(c->body);
    }
}

/* A parameter becomes a local that starts at 0, its arguments go. */
static void drop_parameter(struct ast_kernel *kernel, struct ast_function *f, uint32_t number)
{
    struct ast_var **p = &f->locals;
    for (uint32_t i = 0; i < number; i++)
        p = &(*p)->next;
    struct ast_var *var = *p;
    *p = var->next;
    var->next = NULL;
    var->is_parameter = false;
    ast_var_append(&f->locals, var);
    f->parameter_count--;
    edit_all_calls(kernel, &(struct call_edit){f, number});
}

/* Functions: uncalled ones go, results and parameters are dropped. */
static void pass_functions(struct edit *edit)
{
    drop_uncalled(edit);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next) {
        if (edit_done(edit))
            return;
        if (f->returns_int && edit_here(edit)) {
            f->returns_int = false;
            drop_return_values(f->body);
            edit_all_calls(edit->kernel, &(struct call_edit){f, UINT32_MAX});
            return;
        }
        for (uint32_t i = 0; i < f->parameter_count; i++)
            if (edit_here(edit)) {
                drop_parameter(edit->kernel, f, i);
                return;
            }
    }
}

static void call_to_body(struct edit *edit, struct ast_stm **list)
{
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct ast_stm *s = *slot;
        if (s->kind != STM_CALL || s->target.var || s->function->locals ||
            list_calls(s->function->body, s->function))
            continue;
        if (edit_here(edit)) {
            splice(slot, ast_stm_list_copy(edit->arena, s->function->body));
            return;
        }
    }
}

/* A call without arguments and locals becomes the callee's body. */
static void pass_inline(struct edit *edit)
{
    walk_lists(edit, call_to_body);
}

/* ---- variables ---- */

static bool expr_uses(const struct ast_expr *e, const struct ast_var *var)
{
    for (; e; e = e->next)
        if (((e->kind == EXPR_VAR || e->kind == EXPR_INDEX) && e->var == var) ||
            expr_uses(e->a, var) || expr_uses(e->b, var) || expr_uses(e->c, var))
            return true;
    return false;
}

static bool list_uses(const struct ast_stm *list, const struct ast_var *var)
{
    for (; list; list = list->next) {
        if (list->target.var == var || list->place.var == var ||
            expr_uses(list->target.index, var) || expr_uses(list->place.index, var) ||
            expr_uses(list->value, var) || expr_uses(list->second, var) ||
            expr_uses(list->arguments, var) || list_uses(list->body, var) ||
            list_uses(list->other, var) || list_uses(list->init, var) || list_uses(list->step, var))
            return true;
        for (const struct ast_case *c = list->cases; c; c = c->next)
            if (list_uses(c->body, var))
                return true;
    }
    return false;
}

static bool kernel_uses(const struct ast_kernel *kernel, const struct ast_var *var)
{
    if (list_uses(kernel->main->body, var))
        return true;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (list_uses(f->body, var))
            return true;
    return false;
}

static void edit_var(struct edit *edit, struct ast_var **slot)
{
    struct ast_var *var = *slot;
    if (!var->is_parameter && !kernel_uses(edit->kernel, var) && edit_here(edit)) {
        *slot = var->next;
        return;
    }
    if (var->is_input && edit_here(edit)) {
        var->is_input = false;
        return;
    }
    if (var->init_count > 0 && edit_here(edit)) {
        var->init_count = 0;
        var->init = NULL;
        return;
    }
    const uint32_t lengths[] = {1, 2, var->length / 2, var->length - 1};
    for (uint32_t i = 0; var->is_array && i < 4; i++)
        if (lengths[i] > 0 && lengths[i] < var->length && edit_here(edit)) {
            var->length = lengths[i];
            if (var->init_count > var->length)
                var->init_count = var->length;
            return;
        }
    for (uint32_t i = 0; i < var->init_count; i++)
        if (var->init[i] != 0 && edit_here(edit)) {
            var->init[i] = 0;
            return;
        }
}

static void edit_vars(struct edit *edit, struct ast_var **list)
{
    if (edit_done(edit))
        return;
    for (struct ast_var **v = list; *v; v = &(*v)->next) {
        edit_var(edit, v);
        if (edit_done(edit))
            return;
    }
}

static void pass_variables(struct edit *edit)
{
    edit_vars(edit, &edit->kernel->vars);
    edit_vars(edit, &edit->kernel->main->locals);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next)
        edit_vars(edit, &f->locals);
}

/* ---- launch ---- */

static void shrink_number(struct edit *edit, uint32_t *number)
{
    const uint32_t tries[] = {1, 2, 3, 4, *number / 2, *number - 1};
    uint32_t value = *number;
    for (uint32_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        if (tries[i] > 0 && tries[i] < value && edit_here(edit)) {
            *number = tries[i];
            return;
        }
}

static void pass_launch(struct edit *edit)
{
    struct ast_launch *launch = &edit->kernel->launch;
    shrink_number(edit, &launch->blocks);
    if (!edit_done(edit))
        shrink_number(edit, &launch->threads);
    if (!edit_done(edit))
        shrink_number(edit, &launch->warp);
    if (!edit_done(edit) && launch->seed != 0 && edit_here(edit))
        launch->seed = 0;
}

/* ---- expressions ---- */

static bool is_int(const struct ast_expr *e)
{
    return e->kind == EXPR_INT;
}

static void replace_by_operand(struct edit *edit, struct ast_expr **slot)
{
    struct ast_expr *const operands[] = {(*slot)->a, (*slot)->b, (*slot)->c};
    for (int i = 0; i < 3; i++)
        if (operands[i] && edit_here(edit)) {
            *slot = operands[i];
            return;
        }
}

static void replace_by_constant(struct edit *edit, struct ast_expr **slot)
{
    struct ast_expr *e = *slot;
    for (int32_t value = 0; value < 2; value++) {
        if (is_int(e) && (e->value == 0 || (e->value == 1 && value == 1)))
            return;
        if (edit_here(edit)) {
            *slot = ast_int(edit->arena, value);
            return;
        }
    }
    if (is_int(e) && (e->value > 3 || e->value < -1) && edit_here(edit))
        *slot = ast_int(edit->arena, e->value / 2);
    else if (is_int(e) && e->value > 2 && edit_here(edit))
        *slot = ast_int(edit->arena, e->value - 1);
}

static void operands_in_list(struct edit *edit, struct ast_stm **list)
{
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next)
        walk_stm_exprs(edit, s, replace_by_operand);
}

static void constants_in_list(struct edit *edit, struct ast_stm **list)
{
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next)
        walk_stm_exprs(edit, s, replace_by_constant);
}

static void pass_operands(struct edit *edit)
{
    walk_lists(edit, operands_in_list);
}

static void pass_constants(struct edit *edit)
{
    walk_lists(edit, constants_in_list);
}

const struct reduce_pass reduce_passes[] = {
    {"delete statements", pass_delete}, {"launch", pass_launch},
    {"hoist bodies", pass_hoist},       {"functions", pass_functions},
    {"inline calls", pass_inline},      {"variables", pass_variables},
    {"constants", pass_constants},      {"operands", pass_operands},
    {"simplify", pass_simplify},
};
const uint32_t reduce_pass_count = sizeof reduce_passes / sizeof reduce_passes[0];

/* ---- normal form and names ---- */

static struct ast_stm *as_block(struct arena *arena, struct ast_stm *body)
{
    if (body && body->kind == STM_BLOCK)
        return body;
    struct ast_stm *block = ast_stm(arena, STM_BLOCK, (struct location){0, 0});
    if (body && body->kind != STM_SKIP)
        block->body = body;
    return block;
}

static void normalise_list(struct arena *arena, struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (list->kind == STM_IF || list->kind == STM_WHILE || list->kind == STM_DO ||
            list->kind == STM_FOR) {
            list->body = as_block(arena, list->body);
            if (list->other)
                list->other = as_block(arena, list->other);
        }
        normalise_list(arena, list->body);
        normalise_list(arena, list->other);
        for (struct ast_case *c = list->cases; c; c = c->next)
            normalise_list(arena, c->body);
    }
}

void reduce_normalise(struct arena *arena, struct ast_kernel *kernel)
{
    normalise_list(arena, kernel->main->body);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        normalise_list(arena, f->body);
}

void reduce_rename(struct arena *arena, struct ast_kernel *kernel)
{
    uint32_t vars = 0, functions = 0;
    for (struct ast_var *v = kernel->vars; v; v = v->next)
        v->name = arena_printf(arena, "v%u", vars++);
    for (struct ast_var *v = kernel->main->locals; v; v = v->next)
        v->name = arena_printf(arena, "v%u", vars++);
    for (struct ast_function *f = kernel->functions; f; f = f->next) {
        f->name = arena_printf(arena, "f%u", functions++);
        for (struct ast_var *v = f->locals; v; v = v->next)
            v->name = arena_printf(arena, "v%u", vars++);
    }
    kernel->name = "k";
}
