/* edit.c - statement lists, names and whole kernels in the hands of an edit. */
#include "engine/rewrite/edit.h"

#include "engine/base/diag.h"
#include "engine/input/input.h"
#include "engine/language/walk.h"

#include <string.h>

/* ---- walks ---- */

static void walk_list(struct edit *edit, struct ast_stm **list, edit_visit_list *visit,
                      struct edit_place place)
{
    visit(edit, list, place);
    for (struct ast_stm *s = *list; s && !edit_done(edit); s = s->next) {
        struct edit_place inside = place;
        if (ast_is(s, STM_LOOP))
            inside = (struct edit_place){true, true};
        if (s->kind == STM_BLOCK) {
            walk_list(edit, &s->body, visit, place);
            continue;
        }
        if (s->body)
            walk_list(edit, &s->body->body, visit, inside);
        if (s->other && !edit_done(edit))
            walk_list(edit, &s->other->body, visit, inside);
        inside.breakable = true;
        for (struct ast_case *c = s->cases; c && !edit_done(edit); c = c->next)
            walk_list(edit, &c->body, visit, inside);
    }
}

static void walk_function(struct edit *edit, struct ast_function *f, edit_visit_list *visit)
{
    const struct edit_place outside = {false, false};
    edit->function = f;
    if (edit->kernel->form == FORM_STRUCTURED)
        walk_list(edit, &f->body, visit, outside);
    for (struct ast_block *b = f->blocks; b && !edit_done(edit); b = b->next)
        visit(edit, &b->body, outside);
}

void edit_walk_lists(struct edit *edit, edit_visit_list *visit)
{
    walk_function(edit, edit->kernel->main, visit);
    for (struct ast_function *f = edit->kernel->functions; f && !edit_done(edit); f = f->next)
        walk_function(edit, f, visit);
}

/* ---- lists taken apart and put together ---- */

uint32_t edit_length(const struct ast_stm *list)
{
    uint32_t length = 0;
    for (; list; list = list->next)
        length++;
    return length;
}

struct ast_stm *edit_take(struct ast_stm **slot, uint32_t count)
{
    struct ast_stm *first = *slot, **end = slot;
    if (count == 0)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        end = &(*end)->next;
    *slot = *end;
    *end = NULL;
    return first;
}

void edit_put(struct ast_stm **slot, struct ast_stm *list)
{
    struct ast_stm *rest = *slot;
    *slot = list;
    while (*slot)
        slot = &(*slot)->next;
    *slot = rest;
}

void edit_splice(struct ast_stm **slot, struct ast_stm *list)
{
    *slot = (*slot)->next;
    edit_put(slot, list);
}

struct ast_stm *edit_block(struct edit *edit, struct ast_stm *list)
{
    struct ast_stm *block = ast_stm(edit->arena, STM_BLOCK,
                                    list ? list->at : (struct location){.line = 0, .column = 0});
    block->body = list;
    return block;
}

/* ---- names ---- */

const char *edit_name(struct edit *edit, const char *base)
{
    if (!edit->names)
        edit->names = fresh_names_of(edit->arena, edit->kernel);
    return fresh_name(edit->names, base);
}

struct ast_var *edit_local(struct edit *edit, const char *base)
{
    struct ast_var *var = ast_var(edit->arena, edit_name(edit, base), SPACE_LOCAL, 1, false);
    ast_var_append(&edit->function->locals, var);
    return var;
}

/* ---- whole kernels ---- */

static struct ast_stm *as_block(struct arena *arena, struct ast_stm *body)
{
    if (body && body->kind == STM_BLOCK)
        return body;
    struct ast_stm *block = ast_stm(arena, STM_BLOCK, (struct location){0, 0});
    if (body && body->kind != STM_SKIP)
        block->body = body;
    return block;
}

static void normalise_stm(void *context, struct ast_stm *stm)
{
    if (stm->kind != STM_IF && !ast_is(stm, STM_LOOP))
        return;
    stm->body = as_block(context, stm->body);
    if (stm->other)
        stm->other = as_block(context, stm->other);
}

void edit_normalise(struct arena *arena, struct ast_kernel *kernel)
{
    const struct ast_change change = {.statement = normalise_stm, .context = arena};
    ast_change_kernel(&change, kernel);
}

struct ast_kernel *edit_reread(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *text = print_kernel(arena, kernel);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "candidate", text, strlen(text));
    return parse_kernel(arena, text, strlen(text), diag);
}
