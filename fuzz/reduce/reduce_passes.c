/*
 * reduce_passes.c - what the reducer may do to a kernel. Every edit makes it strictly simpler, so
 * that trying them until none is accepted ends.
 */
#include "engine/language/walk.h"
#include "fuzz/reduce/reduce_internal.h"

#include <string.h>

/* ---- statements ---- */

/* Deletes runs: the whole list, then halves, quarters, .., single statements, last ones first. */
static void delete_chunks(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    uint32_t length = edit_length(*list);
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
    edit_walk_lists(edit, delete_chunks);
}

static void hoist_one(struct edit *edit, struct ast_stm **slot)
{
    struct ast_stm *s = *slot;
    struct ast_stm *body = s->kind == STM_BLOCK ? s->body : s->body ? s->body->body : NULL;
    if ((s->kind == STM_BLOCK || s->body) && edit_here(edit)) {
        edit_splice(slot, body);
        return;
    }
    if ((body || s->cases) && s->next && edit_here(edit)) {
        struct ast_stm *next = s->next, *skip = ast_stm(edit->arena, STM_SKIP, s->at);
        skip->next = next->next;
        s->next = skip;
        next->next = s;
        *slot = next;
        edit_splice(&next->next, body ? body : s->cases->body);
        return;
    }
    if (s->other && edit_here(edit)) {
        edit_splice(slot, s->other->body);
        return;
    }
    if (s->other && edit_here(edit)) {
        s->other = NULL;
        return;
    }
    for (struct ast_case *c = s->cases; c; c = c->next)
        if (edit_here(edit)) {
            edit_splice(slot, c->body);
            return;
        }
    for (struct ast_case **c = &s->cases; *c; c = &(*c)->next)
        if (edit_here(edit)) {
            *c = (*c)->next;
            return;
        }
}

static void hoist_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        hoist_one(edit, slot);
        if (edit_done(edit))
            return; /* nothing may stand in the slot any more */
    }
}

/* A control statement becomes its body, or that behind the next statement and in front of an
 * empty one, or its else-part, or one of its
 * cases. */
static void pass_hoist(struct edit *edit)
{
    edit_walk_lists(edit, hoist_list);
}

/* Whether a loop's body contains a continue of that loop. */
static bool has_continue(const struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CONTINUE)
            return true;
        if (ast_is(list, STM_LOOP))
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
    if (s->guard && edit_here(edit)) {
        s->guard = NULL;
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
    /* Its body once, if it has no break and no continue. */
    if (s->kind == STM_WHILE && edit_here(edit)) {
        s->kind = STM_IF;
        return;
    }
    /* for (i; e; u) S  becomes  i; while (e) { S u } */
    if (s->kind == STM_FOR && (!s->step || !has_continue(s->body)) && edit_here(edit)) {
        s->value = s->value ? s->value : ast_int(edit->arena, 1);
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

/* Something may have to stand there, but not this. */
static void empty_one(struct edit *edit, struct ast_stm **slot)
{
    struct ast_stm *s = *slot;
    if (s->body || s->cases || s->kind == STM_SKIP || s->kind == STM_BLOCK || !edit_here(edit))
        return;
    struct ast_stm *skip = ast_stm(edit->arena, STM_SKIP, s->at);
    skip->next = s->next;
    *slot = skip;
}

static void simplify_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        simplify_one(edit, slot);
        if (!edit_done(edit))
            empty_one(edit, slot);
        if (edit_done(edit))
            return;
    }
}

static void pass_simplify(struct edit *edit)
{
    edit_walk_lists(edit, simplify_list);
}

/* ---- variables ---- */

static void edit_var(struct edit *edit, struct ast_var **slot)
{
    struct ast_var *var = *slot;
    if (!var->is_parameter && !reduce_uses(edit->kernel, var) && edit_here(edit)) {
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

/* Threads and lanes together: most kernels need few, many want them all in one warp. */
static void shrink_together(struct edit *edit, struct ast_launch *launch)
{
    for (uint32_t threads = 1; threads <= 4; threads++)
        if (launch->threads > threads && launch->warp > threads && edit_here(edit)) {
            launch->threads = launch->warp = threads;
            return;
        }
}

static void pass_launch(struct edit *edit)
{
    struct ast_launch *launch = &edit->kernel->launch;
    shrink_number(edit, &launch->blocks);
    if (!edit_done(edit))
        shrink_together(edit, launch);
    if (!edit_done(edit))
        shrink_number(edit, &launch->threads);
    if (!edit_done(edit))
        shrink_number(edit, &launch->warp);
    if (!edit_done(edit) && launch->seed != 0 && edit_here(edit))
        launch->seed = 0;
}

void reduce_expects(struct edit *edit)
{
    for (struct ast_expect **e = &edit->kernel->expects; *e; e = &(*e)->next)
        if (edit_here(edit)) {
            *e = (*e)->next;
            return;
        }
}

const struct reduce_pass reduce_passes[] = {
    {"expectations", reduce_expects},   {"blocks", reduce_blocks},
    {"delete statements", pass_delete}, {"launch", pass_launch},
    {"hoist bodies", pass_hoist},       {"functions", reduce_functions},
    {"inline calls", reduce_inline},    {"variables", pass_variables},
    {"constants", reduce_constants},    {"operands", reduce_operands},
    {"simplify", pass_simplify},        {"leaves", reduce_leaves},
    {"scalars", reduce_scalars},        {"unite variables", reduce_unite},
};
const uint32_t reduce_pass_count = sizeof reduce_passes / sizeof reduce_passes[0];

/* ---- names ---- */

static void rename_blocks(struct arena *arena, struct ast_function *f, bool has_start)
{
    uint32_t blocks = 0;
    for (struct ast_block *b = f->blocks; b; b = b->next)
        if (!has_start || b != f->blocks)
            b->name = arena_printf(arena, "B%u", blocks++);
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
    rename_blocks(arena, kernel->main, true);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        rename_blocks(arena, f, false);
}
