/* transform_text.c - the same statements written otherwise: order, expressions, constants, names. */
#include "engine/language/walk.h"
#include "engine/rewrite/transform_internal.h"

/* ---- commute ---- */

static bool is_plain(const struct ast_stm *s)
{
    return s && s->kind == STM_ASSIGN;
}

static bool interferes(const struct ast_stm *writer, const struct ast_stm *other)
{
    struct ast_stm single = *other;
    single.next = NULL;
    return ast_mentions(&single, writer->target.var);
}

/*      x = e; y = f;   ==>   y = f; x = e;          x is not in the second, y not in the first
 *
 * A thread's own values are the same. In what order it touches shared variables between two barriers can
 * be seen by those alone who race with it. */
static void commute_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct ast_stm *first = *slot, *second = first->next;
        if (!is_plain(first) || !is_plain(second) || interferes(first, second) ||
            interferes(second, first) || !edit_here(edit))
            continue;
        first->next = second->next;
        second->next = first;
        *slot = second;
        return;
    }
}

void transform_commute(struct edit *edit)
{
    edit_walk_lists(edit, commute_list);
}

/* ---- expressions ---- */

/*      c   ==>   !!c                    where only its truth matters
 *      e   ==>   ~~e      -(-e)         with arithmetic modulo 2^32 */
static void double_expr(struct edit *edit, struct ast_expr **slot, bool condition)
{
    if ((*slot)->kind == EXPR_INT || !edit_here(edit))
        return;
    enum ast_unary op = condition ? UNARY_NOT : edit_choose(edit, 2) ? UNARY_COMPLEMENT : UNARY_NEG;
    *slot = ast_unary(edit->arena, op, ast_unary(edit->arena, op, *slot));
}

void transform_double(struct edit *edit)
{
    transform_walk_exprs(edit, double_expr);
}

/*      7   ==>   m          memory that starts at 7 and that nobody writes */
static void constant_expr(struct edit *edit, struct ast_expr **slot, bool condition)
{
    static const enum ast_space spaces[] = {SPACE_PRIVATE, SPACE_SHARED, SPACE_GLOBAL};
    (void)condition;
    if ((*slot)->kind != EXPR_INT || !edit_here(edit))
        return;
    enum ast_space space = spaces[edit_choose(edit, 3)];
    *slot = ast_var_ref(edit->arena, transform_memory(edit, space, (*slot)->value));
}

void transform_constant(struct edit *edit)
{
    transform_walk_exprs(edit, constant_expr);
}

/* ---- names and order ---- */

static void rename_vars(struct edit *edit, struct ast_var *list)
{
    for (struct ast_var *v = list; v; v = v->next)
        v->name = edit_name(edit, "w");
}

static void rename_function(struct edit *edit, struct ast_function *f, bool is_main)
{
    rename_vars(edit, f->locals);
    if (!is_main)
        f->name = edit_name(edit, "h");
    for (struct ast_block *b = f->blocks; b; b = b->next)
        if (!is_main || b != f->blocks)
            b->name = edit_name(edit, "L");
}

/* Functions, variables and blocks get other names; Start keeps its own. */
void transform_rename(struct edit *edit)
{
    struct ast_kernel *kernel = edit->kernel;
    if (!edit_here(edit))
        return;
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        rename_function(edit, f, false);
    rename_function(edit, kernel->main, true);
    rename_vars(edit, kernel->vars);
}

/* Lists reversed: of functions, of a body's variables behind its parameters, of blocks behind the first. File-level
 * variables stay: their inputs are drawn by number. */
static struct ast_function *reversed_functions(struct ast_function *list)
{
    struct ast_function *result = NULL;
    while (list) {
        struct ast_function *next = list->next;
        list->next = result;
        result = list;
        list = next;
    }
    return result;
}

static void reverse_vars(struct ast_var **list)
{
    struct ast_var *result = NULL;
    while (*list && (*list)->is_parameter)
        list = &(*list)->next;
    for (struct ast_var *v = *list; v;) {
        struct ast_var *next = v->next;
        v->next = result;
        result = v;
        v = next;
    }
    *list = result;
}

static void reverse_blocks(struct ast_block *entry)
{
    struct ast_block *result = NULL;
    for (struct ast_block *b = entry ? entry->next : NULL; b;) {
        struct ast_block *next = b->next;
        b->next = result;
        result = b;
        b = next;
    }
    if (entry)
        entry->next = result;
}

static bool has_several(const struct ast_function *f)
{
    const struct ast_var *v = f->locals;
    while (v && v->is_parameter)
        v = v->next;
    return (v && v->next) || (f->blocks && f->blocks->next && f->blocks->next->next) ||
           (f->next && !f->blocks);
}

void transform_reorder(struct edit *edit)
{
    struct ast_kernel *kernel = edit->kernel;
    bool several = has_several(kernel->main);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        several |= has_several(f) || f->next;
    if (!several || !edit_here(edit))
        return;
    kernel->functions = reversed_functions(kernel->functions);
    reverse_vars(&kernel->main->locals);
    reverse_blocks(kernel->main->blocks);
    for (struct ast_function *f = kernel->functions; f; f = f->next) {
        reverse_vars(&f->locals);
        reverse_blocks(f->blocks);
    }
}
