/*
 * ref_stack.c - the stacks of Tables 2 and 4: lists of single statements, contexts and tokens; and the frames that
 * belong to calls.
 */
#include "engine/reference/ref_internal.h"

const struct ast_stm ref_skip = {.kind = STM_SKIP};

struct ref_item *ref_push(struct ref *r, enum ref_item_kind kind, const struct ast_stm *stm,
                          struct ref_item *rest)
{
    struct ref_item *item = ref_item_new(r, kind);
    if (!item)
        return rest;
    item->stm = stm;
    item->rest = rest;
    return item;
}

struct ref_item *ref_pop(struct ref *r, struct ref_item *item)
{
    struct ref_item *rest = item->rest;
    ref_item_drop(r, item);
    return rest;
}

/* Every statement of the list an item; braces are only parentheses. */
static struct ref_item *push_flat(struct ref *r, const struct ast_stm *list, struct ref_item *rest)
{
    if (!list)
        return rest;
    rest = push_flat(r, list->next, rest);
    if (list->kind == STM_BLOCK)
        return push_flat(r, list->body, rest);
    return ref_push(r, REF_STM, list, rest);
}

struct ref_item *ref_push_list(struct ref *r, const struct ast_stm *list, struct ref_item *rest)
{
    struct ref_item *result = push_flat(r, list, rest);
    return result == rest ? ref_push(r, REF_STM, &ref_skip, rest) : result;
}

struct ref_item *ref_push_body(struct ref *r, const struct ast_stm *body, struct ref_item *rest)
{
    if (body && body->kind == STM_BLOCK)
        return ref_push_list(r, body->body, rest);
    return ref_push(r, REF_STM, body ? body : &ref_skip, rest);
}

/* In front of a barrier: the same statements, calls from the same places, loops in the same trip (CFG.bv). */
bool ref_same_stack(const struct ref_item *a, const struct ref_item *b)
{
    for (; a && b; a = a->rest, b = b->rest)
        if (a->kind != b->kind || a->stm != b->stm || a->trips != b->trips)
            return false;
    return a == b;
}

/* The same statements and contexts. What an evaluated assignment holds counts only literally. */
static bool same_item(const struct ref_item *a, const struct ref_item *b, bool literal)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == REF_BRK)
        return true;
    if (a->kind == REF_CALL)
        return (a->stm ? a->stm->function : NULL) == (b->stm ? b->stm->function : NULL);
    return a->stm == b->stm && a->empty == b->empty &&
           (!literal || a->kind != REF_EVALUATED ||
            (a->cell.word == b->cell.word && a->value == b->value));
}

bool ref_at_one_place(const struct ref_item *a, const struct ref_item *b, bool literal)
{
    for (; a && b; a = a->rest, b = b->rest)
        if (!same_item(a, b, literal))
            return false;
    return a == b;
}

uint32_t ref_calls_on(const struct ref_item *stack)
{
    uint32_t calls = 0;
    for (; stack; stack = stack->rest)
        calls += stack->kind == REF_CALL;
    return calls;
}

void ref_enter(struct ref *r, uint32_t thread, const struct ast_function *f,
               const struct ast_stm *call)
{
    struct ref_thread *x = &r->threads[thread];
    struct ref_frame *frame = ref_frame_new(r, f, ref_loop_count(r, f));
    if (!frame)
        return;
    frame->call = call;
    frame->below = x->frames;
    x->frames = frame;
    x->depth++;
}

void ref_leave(struct ref *r, uint32_t thread)
{
    struct ref_thread *x = &r->threads[thread];
    struct ref_frame *frame = x->frames;
    if (!frame->below)
        return;
    x->frames = frame->below;
    x->depth--;
    ref_frame_drop(r, frame);
}
