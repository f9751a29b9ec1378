/*
 * mutate_repair.c - what stands where it may not, after a part came from elsewhere.
 */
#include "engine/language/walk.h"
#include "fuzz/mutate/mutate_internal.h"

struct repair {
    struct arena *arena;
    const struct ast_kernel *kernel;
    const struct ast_function *function;
    bool in_loop, breakable;
};

static void repair_list(const struct repair *around, struct ast_stm *list);

static void repair_expr(const struct repair *r, struct ast_expr **slot, bool reduced)
{
    bool reduction = (*slot)->kind == EXPR_ALL || (*slot)->kind == EXPR_ANY;
    if (reduction && (r->kernel->form != FORM_LOCKSTEP || reduced)) {
        struct ast_expr *next = (*slot)->next;
        *slot = (*slot)->a;
        (*slot)->next = next;
        repair_expr(r, slot, reduced);
        return;
    }
    struct ast_expr **const operands[] = {&(*slot)->a, &(*slot)->b, &(*slot)->c};
    for (int i = 0; i < 3; i++)
        if (*operands[i])
            repair_expr(r, operands[i], reduced || reduction);
}

static void repair_exprs(const struct repair *r, struct ast_stm *s)
{
    struct ast_expr **const slots[] = {&s->target.index, &s->place.index, &s->value, &s->second,
                                       &s->guard};
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (*slots[i])
            repair_expr(r, slots[i], false);
    for (struct ast_expr **a = &s->arguments; *a; a = &(*a)->next)
        repair_expr(r, a, false);
}

/* Nothing but its place in the list is left. */
static void become(struct ast_stm *s, enum ast_stm_kind kind)
{
    *s = (struct ast_stm){.kind = kind, .at = s->at, .next = s->next, .mark = s->mark};
}

static void repair_return(const struct repair *r, struct ast_stm *s)
{
    if (r->kernel->form != FORM_STRUCTURED)
        become(s, STM_SKIP);
    else if (!r->function->returns_int)
        s->value = NULL;
    else if (!s->value)
        s->value = ast_int(r->arena, 0);
}

static void repair_parts(const struct repair *r, struct ast_stm *s)
{
    struct repair inside = *r;
    if (ast_is(s, STM_LOOP))
        inside.in_loop = inside.breakable = true;
    if (s->kind == STM_SWITCH)
        inside.breakable = true;
    repair_list(&inside, s->body);
    repair_list(&inside, s->other);
    repair_list(&inside, s->init);
    repair_list(&inside, s->step);
    for (struct ast_case *c = s->cases; c; c = c->next)
        repair_list(&inside, c->body);
}

static void repair_call(struct ast_stm *s)
{
    if (!s->function->returns_int)
        s->target = (struct ast_lvalue){0};
}

static void repair_stm(const struct repair *r, struct ast_stm *s)
{
    bool structured = r->kernel->form == FORM_STRUCTURED;
    if (structured)
        s->guard = NULL;
    repair_exprs(r, s);
    switch (s->kind) {
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
        if (structured)
            repair_parts(r, s);
        else
            become(s, STM_SKIP);
        break;
    case STM_BREAK:
        if (!r->breakable)
            become(s, STM_SKIP);
        break;
    case STM_CONTINUE:
        if (!r->in_loop)
            become(s, STM_SKIP);
        break;
    case STM_RETURN:
        repair_return(r, s);
        break;
    case STM_EXIT:
        if (!structured)
            become(s, STM_SKIP);
        break;
    case STM_CALL:
        repair_call(s);
        break;
    case STM_PICK:
        if (structured)
            become(s, STM_SKIP);
        break;
    case STM_LOCKSYNC:
        if (r->kernel->form != FORM_LOCKSTEP)
            become(s, STM_BARRIER);
        break;
    case STM_SKIP:
    case STM_ASSIGN:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_MEMBAR:
    case STM_KIND_COUNT:
        break;
    }
}

static void repair_list(const struct repair *around, struct ast_stm *list)
{
    for (; list; list = list->next)
        repair_stm(around, list);
}

static void repair_function(struct arena *arena, const struct ast_kernel *kernel,
                            struct ast_function *f)
{
    struct repair r = {.arena = arena, .kernel = kernel, .function = f};
    repair_list(&r, f->body);
    for (struct ast_block *b = f->blocks; b; b = b->next)
        repair_list(&r, b->body);
}

void mutate_repair(struct arena *arena, struct ast_kernel *kernel)
{
    repair_function(arena, kernel, kernel->main);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        repair_function(arena, kernel, f);
}
