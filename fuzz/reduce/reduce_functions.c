/*
 * reduce_functions.c - functions and procedures: which are called, which variables are used, and what
 * the reducer does to them.
 */
#include "engine/language/walk.h"
#include "fuzz/reduce/reduce_internal.h"

/* ---- variables ---- */

static bool body_uses(const struct ast_function *body, const struct ast_var *var)
{
    for (const struct ast_block *b = body->blocks; b; b = b->next)
        if (ast_mentions(b->body, var))
            return true;
    return ast_mentions(body->body, var);
}

bool reduce_uses(const struct ast_kernel *kernel, const struct ast_var *var)
{
    if (body_uses(kernel->main, var))
        return true;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (body_uses(f, var))
            return true;
    return false;
}

/* ---- functions ---- */

static bool body_calls(const struct ast_function *body, const struct ast_function *f)
{
    for (const struct ast_block *b = body->blocks; b; b = b->next)
        if (ast_calls(b->body, f))
            return true;
    return ast_calls(body->body, f);
}

static bool function_is_called(const struct ast_kernel *kernel, const struct ast_function *f)
{
    bool called = body_calls(kernel->main, f);
    for (const struct ast_function *g = kernel->functions; g && !called; g = g->next)
        called = g != f && body_calls(g, f);
    return called;
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
    bool is_out;        /* it is this one of the out-parameters; otherwise of the others */
};

static void edit_call(void *context, struct ast_stm *stm)
{
    const struct call_edit *what = context;
    if (stm->kind != STM_CALL || stm->function != what->function)
        return;
    if (what->parameter == UINT32_MAX) {
        stm->target = (struct ast_lvalue){0};
        return;
    }
    struct ast_expr **a = what->is_out ? &stm->outs : &stm->arguments;
    for (uint32_t i = 0; i < what->parameter; i++)
        a = &(*a)->next;
    *a = (*a)->next;
}

static void edit_all_calls(struct ast_kernel *kernel, struct call_edit what)
{
    const struct ast_change change = {.statement = edit_call, .context = &what};
    ast_change_kernel(&change, kernel);
}

static void drop_value(void *context, struct ast_stm *stm)
{
    (void)context;
    if (stm->kind == STM_RETURN)
        stm->value = NULL;
}

static void drop_return_values(struct ast_stm *list)
{
    const struct ast_change change = {.statement = drop_value};
    ast_change_stms(&change, list);
}

/* A parameter becomes a local that starts at 0, its arguments go. */
static void drop_parameter(struct ast_kernel *kernel, struct ast_function *f, uint32_t number)
{
    struct ast_var **p = &f->locals;
    uint32_t place[2] = {0, 0}; /* among the in-parameters, the out-parameters */
    for (uint32_t i = 0; i < number; i++) {
        place[(*p)->is_out]++;
        p = &(*p)->next;
    }
    struct ast_var *var = *p;
    struct call_edit what = {f, place[var->is_out], var->is_out};
    *p = var->next;
    var->next = NULL;
    var->is_parameter = var->is_out = false;
    ast_var_append(&f->locals, var);
    f->parameter_count--;
    edit_all_calls(kernel, what);
}

/* Functions: uncalled ones go, results and parameters are dropped. */
void reduce_functions(struct edit *edit)
{
    drop_uncalled(edit);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next) {
        if (edit_done(edit))
            return;
        if (f->returns_int && edit_here(edit)) {
            f->returns_int = false;
            drop_return_values(f->body);
            edit_all_calls(edit->kernel, (struct call_edit){f, UINT32_MAX, false});
            return;
        }
        for (uint32_t i = 0; i < f->parameter_count; i++)
            if (edit_here(edit)) {
                drop_parameter(edit->kernel, f, i);
                return;
            }
    }
}

/* ---- calls become bodies ---- */

struct call_count {
    const struct ast_function *function;
    uint32_t calls;
};

static bool count_call(void *context, const struct ast_stm *stm)
{
    struct call_count *count = context;
    count->calls += stm->kind == STM_CALL && stm->function == count->function;
    return false;
}

static uint32_t calls_of(const struct ast_kernel *kernel, const struct ast_function *f)
{
    struct call_count count = {f, 0};
    const struct ast_question question = {.statement = count_call, .context = &count};
    ast_ask_kernel(&question, kernel);
    return count.calls;
}

/* A function with its one call: parameters become variables that start at 0. */
static void move_locals(struct edit *edit, struct ast_function *f, struct ast_function *caller)
{
    while (f->locals) {
        struct ast_var *var = f->locals;
        f->locals = var->next;
        var->next = NULL;
        var->is_parameter = var->is_out = false;
        var->name = arena_printf(edit->arena, "%s_%s", f->name, var->name);
        ast_var_append(&caller->locals, var);
    }
    f->parameter_count = 0;
    f->returns_int = false;
    drop_return_values(f->body);
}

static void inline_in(struct edit *edit, struct ast_function *caller, struct ast_stm **list);

static void inline_below(struct edit *edit, struct ast_function *caller, struct ast_stm *s)
{
    if (s->kind == STM_BLOCK)
        inline_in(edit, caller, &s->body);
    else if (s->body)
        inline_in(edit, caller, &s->body->body);
    if (!edit_done(edit) && s->other)
        inline_in(edit, caller, &s->other->body);
    for (struct ast_case *c = s->cases; c && !edit_done(edit); c = c->next)
        inline_in(edit, caller, &c->body);
}

static void inline_in(struct edit *edit, struct ast_function *caller, struct ast_stm **list)
{
    for (struct ast_stm **slot = list; *slot && !edit_done(edit); slot = &(*slot)->next) {
        struct ast_function *f = (*slot)->function;
        bool is_call = (*slot)->kind == STM_CALL && !f->blocks && f != caller;
        bool bare = is_call && !(*slot)->target.var && !f->locals && !ast_calls(f->body, f);
        if (bare || (is_call && calls_of(edit->kernel, f) == 1)) {
            if (edit_here(edit)) {
                if (!bare)
                    move_locals(edit, f, caller);
                edit_splice(slot, ast_stm_list_copy(edit->arena, f->body));
                return;
            }
        }
        inline_below(edit, caller, *slot);
    }
}

void reduce_inline(struct edit *edit)
{
    inline_in(edit, edit->kernel->main, &edit->kernel->main->body);
    for (struct ast_function *f = edit->kernel->functions; f && !edit_done(edit); f = f->next)
        inline_in(edit, f, &f->body);
}
