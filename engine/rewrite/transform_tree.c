/* transform_tree.c - walks over kernels, and facts about statements. */
#include "engine/language/walk.h"
#include "engine/rewrite/transform_internal.h"

/* ---- expressions ---- */

static void walk_expr(struct edit *edit, struct ast_expr **slot, transform_visit_expr *visit,
                      bool condition)
{
    if (!*slot || edit_done(edit))
        return;
    struct ast_expr *e = *slot, *next = e->next;
    visit(edit, slot, condition);
    if (*slot != e) {
        e->next = NULL; /* it may be an operand now */
        (*slot)->next = next;
        return;
    }
    bool logical = e->kind == EXPR_BINARY &&
                   (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR);
    logical |= e->kind == EXPR_UNARY && e->unary == UNARY_NOT;
    walk_expr(edit, &e->a, visit, logical || e->kind == EXPR_COND);
    walk_expr(edit, &e->b, visit, logical);
    walk_expr(edit, &e->c, visit, false);
}

static void walk_stm(struct edit *edit, struct ast_stm *s, transform_visit_expr *visit)
{
    if (!s || edit_done(edit) || s->kind == STM_SYNC || s->kind == STM_ARRIVE)
        return;
    bool condition =
        s->kind == STM_IF || ast_is(s, STM_LOOP) || s->kind == STM_ASSERT || s->kind == STM_ASSUME;
    walk_expr(edit, &s->target.index, visit, false);
    walk_expr(edit, &s->place.index, visit, false);
    walk_expr(edit, &s->value, visit, condition);
    walk_expr(edit, &s->guard, visit, true);
    for (struct ast_expr **a = &s->arguments; *a && s->kind != STM_PICK; a = &(*a)->next)
        walk_expr(edit, a, visit, false);
    walk_stm(edit, s->init, visit);
    walk_stm(edit, s->step, visit);
}

static void walk_stms(struct edit *edit, struct ast_stm *list, transform_visit_expr *visit)
{
    for (struct ast_stm *s = list; s && !edit_done(edit); s = s->next) {
        walk_stm(edit, s, visit);
        walk_stms(edit, s->body, visit);
        walk_stms(edit, s->other, visit);
        for (struct ast_case *c = s->cases; c; c = c->next)
            walk_stms(edit, c->body, visit);
    }
}

static void walk_function(struct edit *edit, struct ast_function *f, transform_visit_expr *visit)
{
    if (edit_done(edit))
        return;
    edit->function = f;
    walk_stms(edit, f->body, visit);
    for (struct ast_block *b = f->blocks; b; b = b->next) {
        bool guarded = b->body && b->body->kind == STM_ASSUME;
        walk_stms(edit, guarded ? b->body->next : b->body, visit);
    }
}

void transform_walk_exprs(struct edit *edit, transform_visit_expr *visit)
{
    walk_function(edit, edit->kernel->main, visit);
    for (struct ast_function *f = edit->kernel->functions; f; f = f->next)
        walk_function(edit, f, visit);
}

/* ---- facts ---- */

static bool meets(void *context, const struct ast_stm *stm)
{
    (void)context;
    return ast_is(stm, STM_MEETS);
}

/* In some function: whichever is called. */
static bool functions_meet(const struct ast_kernel *kernel)
{
    const struct ast_question question = {.statement = meets};
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (ast_ask_function(&question, f))
            return true;
    return false;
}

/* What stands around the statement that is looked at, within the list. */
struct inside {
    bool loop, breakable;
};

static void gather(const struct edit *edit, const struct ast_stm *list, bool single,
                   struct inside inside, struct transform_facts *facts);

static void gather_one(const struct edit *edit, const struct ast_stm *s, struct inside inside,
                       struct transform_facts *facts)
{
    const bool calls = s->kind == STM_CALL;
    facts->breaks |= s->kind == STM_BREAK && !inside.breakable;
    facts->continues |= s->kind == STM_CONTINUE && !inside.loop;
    facts->returns |= s->kind == STM_RETURN;
    facts->exits |= s->kind == STM_EXIT;
    facts->atomics |= s->kind == STM_ATOMIC;
    facts->loops |= ast_is(s, STM_LOOP);
    facts->choices |= ast_is(s, STM_DRAWS);
    facts->calls |= calls;
    facts->meets |= ast_is(s, STM_MEETS) || (calls && functions_meet(edit->kernel));
    inside.loop |= ast_is(s, STM_LOOP);
    inside.breakable |= ast_is(s, STM_LOOP) || s->kind == STM_SWITCH;
    gather(edit, s->init, false, inside, facts);
    gather(edit, s->step, false, inside, facts);
    gather(edit, s->body, false, inside, facts);
    gather(edit, s->other, false, inside, facts);
    for (const struct ast_case *c = s->cases; c; c = c->next)
        gather(edit, c->body, false, inside, facts);
}

static void gather(const struct edit *edit, const struct ast_stm *list, bool single,
                   struct inside inside, struct transform_facts *facts)
{
    for (; list; list = single ? NULL : list->next)
        gather_one(edit, list, inside, facts);
}

struct transform_facts transform_facts(const struct edit *edit, const struct ast_stm *list,
                                       bool single)
{
    struct transform_facts facts = {.breaks = false};
    gather(edit, list, single, (struct inside){false, false}, &facts);
    return facts;
}

struct written {
    const struct ast_var *var;
};

static bool is_place(void *context, const struct ast_lvalue *place)
{
    const struct written *written = context;
    return place->var == written->var;
}

/* An out-parameter of a call. */
static bool is_out(void *context, const struct ast_stm *stm)
{
    const struct written *written = context;
    return ast_expr_mentions(stm->outs, written->var);
}

bool transform_changes(const struct ast_stm *list, const struct ast_var *var)
{
    struct written written = {var};
    const struct ast_question question = {
        .statement = is_out, .place = is_place, .context = &written};
    return ast_ask_stms(&question, list);
}
