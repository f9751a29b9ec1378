/* transform_call.c - functions: statements outlined, calls inlined. */
#include "engine/language/walk.h"
#include "engine/rewrite/transform_internal.h"

enum { RUN_MAX = 3, PARAMETERS_MAX = 8 };

/* ---- variables replaced ---- */

struct replacement {
    const struct ast_var *from;
    struct ast_var *to;
};

static void replace_in_expr(void *context, struct ast_expr *expr)
{
    const struct replacement *r = context;
    if (ast_names(expr) && expr->var == r->from)
        expr->var = r->to;
}

static void replace_place(void *context, struct ast_lvalue *place)
{
    const struct replacement *r = context;
    if (place->var == r->from)
        place->var = r->to;
}

static void replace(struct ast_stm *list, const struct ast_var *from, struct ast_var *to)
{
    struct replacement replacement = {from, to};
    const struct ast_change change = {
        .expression = replace_in_expr, .place = replace_place, .context = &replacement};
    ast_change_stms(&change, list);
}

/* ---- outline ---- */

/* Variables of the function that a run needs, and the one of them that it changes (NULL: none). */
struct interface {
    struct ast_var *needed[PARAMETERS_MAX];
    uint32_t count;
    struct ast_var *changed;
};

static bool find_interface(const struct ast_function *f, const struct ast_stm *run,
                           struct interface *interface)
{
    *interface = (struct interface){.count = 0};
    for (struct ast_var *v = f->locals; v; v = v->next) {
        if (!ast_mentions(run, v))
            continue;
        bool changes = transform_changes(run, v);
        if (v->is_array || interface->count == PARAMETERS_MAX || (changes && interface->changed))
            return false;
        interface->needed[interface->count++] = v;
        if (changes)
            interface->changed = v;
    }
    return true;
}

static bool is_outlinable(const struct edit *edit, const struct ast_stm *stm,
                          struct interface *interface)
{
    struct transform_facts facts = transform_facts(edit, stm, true);
    struct ast_stm single = *stm;
    single.next = NULL;
    return !facts.breaks && !facts.continues && !facts.returns && !facts.exits &&
           find_interface(edit->function, &single, interface);
}

static struct ast_function *new_function(struct edit *edit, struct ast_stm *run,
                                         const struct interface *interface)
{
    struct ast_function *f = ARENA_NEW(edit->arena, struct ast_function);
    f->name = edit_name(edit, "part");
    f->at = run->at;
    f->returns_int = interface->changed != NULL;
    f->parameter_count = interface->count;
    struct ast_stm *result = ast_stm(edit->arena, STM_RETURN, run->at);
    if (interface->changed)
        result->value = ast_var_ref(edit->arena, interface->changed);
    f->body = run;
    if (interface->changed)
        ast_stm_append(&f->body, result);
    for (uint32_t i = 0; i < interface->count; i++) {
        struct ast_var *p = ast_var(edit->arena, edit_name(edit, "p"), SPACE_LOCAL, 1, false);
        p->is_parameter = true;
        ast_var_append(&f->locals, p);
        replace(f->body, interface->needed[i], p);
    }
    f->next = edit->kernel->functions;
    edit->kernel->functions = f;
    return f;
}

/*      S   ==>   f(a, b);      x = f(a, x);          no jump leaves S; it changes at most x of the function's
 *                                                    variables, which are scalars
 *
 * f's parameters stand for the variables; it ends with `return x`. A barrier of S has one more call in its
 * call string, the same for all. exit is left out: procedures have none. */
static void outline_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next) {
        struct interface interface;
        if (!is_outlinable(edit, *slot, &interface) || !edit_here(edit))
            continue;
        struct location at = (*slot)->at;
        struct ast_stm *run = edit_take(slot, 1);
        struct ast_stm *call = ast_stm(edit->arena, STM_CALL, at);
        call->target = (struct ast_lvalue){.var = interface.changed, .at = at};
        struct ast_expr **end = &call->arguments;
        for (uint32_t i = 0; i < interface.count; i++, end = &(*end)->next)
            *end = ast_var_ref(edit->arena, interface.needed[i]);
        call->function = new_function(edit, run, &interface);
        edit_put(slot, call);
        return;
    }
}

void transform_outline(struct edit *edit)
{
    edit_walk_lists(edit, outline_list);
}

/* ---- inline ---- */

struct search {
    const struct ast_function *wanted;
    uint32_t depth;
};

static bool leads_to(void *context, const struct ast_stm *stm);

/* Whether a call in the list may lead to f; within a bound on what is looked at, beyond which it may. */
static bool reaches(const struct ast_stm *list, const struct ast_function *f, uint32_t depth)
{
    struct search search = {f, depth};
    const struct ast_question question = {.statement = leads_to, .context = &search};
    return ast_ask_stms(&question, list);
}

static bool leads_to(void *context, const struct ast_stm *stm)
{
    const struct search *s = context;
    return stm->kind == STM_CALL && (s->depth == 0 || stm->function == s->wanted ||
                                     reaches(stm->function->body, s->wanted, s->depth - 1));
}

/* No return but perhaps the last statement. */
static bool returns_at_end(const struct edit *edit, const struct ast_function *f)
{
    for (const struct ast_stm *s = f->body; s; s = s->next)
        if (transform_facts(edit, s, true).returns && (s->next || s->kind != STM_RETURN))
            return false;
    return true;
}

static bool is_inlinable(const struct edit *edit, const struct ast_stm *s)
{
    enum { DEPTH = 6 };
    if (s->kind != STM_CALL || s->function->blocks || !returns_at_end(edit, s->function) ||
        reaches(s->function->body, s->function, DEPTH))
        return false;
    for (const struct ast_var *v = s->function->locals; v; v = v->next)
        if (v->is_array)
            return false;
    return true;
}

/* The function's variables as ones of the caller, with what a call gives them. */
static struct ast_stm *enter(struct edit *edit, const struct ast_stm *call, struct ast_stm *body)
{
    struct ast_stm *entry = NULL;
    const struct ast_expr *argument = call->arguments;
    for (const struct ast_var *v = call->function->locals; v; v = v->next) {
        struct ast_var *local = edit_local(edit, "a");
        struct ast_expr *value = ast_int(edit->arena, v->init_count > 0 ? v->init[0] : 0);
        if (v->is_parameter) {
            value = ast_expr_copy(edit->arena, argument);
            value->next = NULL;
            argument = argument->next;
        }
        ast_stm_append(&entry, ast_assign(edit->arena, local, NULL, value, call->at));
        replace(body, v, local);
    }
    ast_stm_append(&entry, body);
    return entry;
}

static struct ast_stm *inlined(struct edit *edit, struct ast_stm *call)
{
    struct ast_stm *body = ast_stm_list_copy(edit->arena, call->function->body);
    struct ast_stm *list = enter(edit, call, body), **last = &list;
    struct ast_expr *result = NULL;
    while (*last && (*last)->kind != STM_RETURN)
        last = &(*last)->next;
    if (*last) {
        result = (*last)->value;
        *last = NULL;
    }
    /* What nobody takes is computed all the same: it may read what others write, or leave an array. */
    struct ast_lvalue to = call->target;
    if (!to.var && result)
        to.var = edit_local(edit, "a");
    if (to.var)
        ast_stm_append(&list, ast_assign(edit->arena, to.var, to.index,
                                         result ? result : ast_int(edit->arena, 0), call->at));
    return edit_block(edit, list);
}

/*      f(e1, e2);  x = f(e1, e2);   ==>   { p1 = e1; p2 = e2; l = 0; S x = e; }          f = { S return e; }
 *
 * The arguments read only the caller's variables, so one after the other is as good as all at once. Where there is no
 * x, another variable takes its place. Two calls were two places for a barrier in S; now they are two copies. Errors
 * of too deep a call may go. */
static void inline_list(struct edit *edit, struct ast_stm **list, struct edit_place place)
{
    (void)place;
    for (struct ast_stm **slot = list; *slot; slot = &(*slot)->next)
        if (is_inlinable(edit, *slot) && edit_here(edit)) {
            edit_put(slot, inlined(edit, edit_take(slot, 1)));
            return;
        }
}

void transform_inline(struct edit *edit)
{
    edit_walk_lists(edit, inline_list);
}
