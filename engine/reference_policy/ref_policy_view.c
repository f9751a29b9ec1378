/*
 * ref_policy_view.c - what policies see of the threads of a reference: places are the statements of the tree, counted
 * as they stand in the text; blocks have their goto or return as a last one.
 */
#include "engine/reference/ref_flow.h"
#include "engine/reference_policy/ref_policy.h"
#include <string.h>

enum { PLACES = 4096 };

struct places {
    struct ref_view view;
    const struct ref *r;
    struct arena *arena;
    uint32_t count;
    const void **what; /* a statement; where an empty list is kept; of a goto or return its block */
    uint32_t *meets;
    bool *is_exit, *is_join;
};

static uint32_t add(struct places *x, const void *what)
{
    if (x->count == PLACES)
        return PLACES;
    x->what[x->count] = what;
    x->meets[x->count] = REF_NOWHERE;
    return x->count++;
}

static uint32_t place_of(const struct places *x, const void *what)
{
    uint32_t i = 0;
    while (i < x->count && x->what[i] != what)
        i++;
    return i;
}

/* ---- structured ---- */

/* What comes behind an if or a loop is where paths meet, and the guard of a loop whose body ends with one. */
struct walk {
    bool behind, some;
};

static bool number_body(struct places *x, const struct ast_stm *body, const void *kept);

static void number_statement(struct places *x, const struct ast_stm *s, struct walk *w)
{
    if (s->kind == STM_BLOCK) {
        for (const struct ast_stm *inner = s->body; inner; inner = inner->next)
            number_statement(x, inner, w);
        return;
    }
    uint32_t place = add(x, s);
    x->is_join[place] |= w->behind;
    w->some = true;
    w->behind = s->kind == STM_IF || s->kind == STM_WHILE;
    if (s->kind == STM_IF) {
        number_body(x, s->body, &s->body);
        number_body(x, s->other, &s->other);
    } else if (s->kind == STM_WHILE) {
        x->is_exit[place] = true;
        x->is_join[place] |= number_body(x, s->body, &s->body);
    }
}

static bool number_end(struct places *x, const struct walk *w, const void *kept)
{
    if (!w->some)
        add(x, kept);
    return w->behind;
}

static bool number_body(struct places *x, const struct ast_stm *body, const void *kept)
{
    struct walk w = {false, false};
    if (body)
        number_statement(x, body, &w);
    return number_end(x, &w, kept);
}

static void number_function(struct places *x, const struct ast_function *f)
{
    struct walk w = {false, false};
    for (const struct ast_stm *s = f->body; s; s = s->next)
        number_statement(x, s, &w);
    number_end(x, &w, &f->body);
}

static uint32_t place_of_item(const struct places *x, const struct ref_item *item)
{
    return place_of(x, item->stm == &ref_skip ? item->empty : item->stm);
}

static bool is_statement(const struct ref_item *item)
{
    return item->kind == REF_STM || item->kind == REF_CONT || item->kind == REF_EVALUATED;
}

static struct ref_spot spot_of_stack(const void *of, uint32_t thread)
{
    const struct places *x = of;
    const struct ref_item *top = x->r->actors[thread].stack, *item = top;
    struct ref_spot spot = {
        .live = ref_is_live(x->r, thread), .ended = !top, .at = REF_NOWHERE, .next = REF_NOWHERE};
    for (; item; item = item->rest) {
        if (is_statement(item) && spot.at == REF_NOWHERE)
            spot.at = place_of_item(x, item);
        spot.height++;
    }
    if (top && is_statement(top))
        spot.next = spot.at;
    spot.begun = top && top->kind == REF_EVALUATED;
    return spot;
}

static bool same_stacks(const void *of, uint32_t thread, uint32_t other, bool literal)
{
    const struct places *x = of;
    return ref_at_one_place(x->r->actors[thread].stack, x->r->actors[other].stack, literal);
}

static bool loop_above(const void *of, uint32_t thread, uint32_t height)
{
    const struct places *x = of;
    const struct ref_item *item = x->r->actors[thread].stack;
    for (uint32_t above = spot_of_stack(of, thread).height - height; above > 1; above--)
        item = item->rest;
    return item->kind == REF_BRK;
}

/* ---- blocks ---- */

static const void *first_of(const struct ast_block *block)
{
    return block->body ? (const void *)block->body : block;
}

static uint32_t number_of(const struct ast_function *f, const struct ast_block *block)
{
    uint32_t i = 0;
    for (const struct ast_block *b = f->blocks; b != block; b = b->next)
        i++;
    return i;
}

static const struct ast_block *block_number(const struct ast_function *f, uint32_t number)
{
    const struct ast_block *block = f->blocks;
    while (number-- > 0)
        block = block->next;
    return block;
}

static void number_blocks(struct places *x, const struct ast_function *f)
{
    for (const struct ast_block *b = f->blocks; b; b = b->next) {
        for (const struct ast_stm *s = b->body; s; s = s->next)
            add(x, s);
        add(x, b);
    }
}

/* The end of the function is one node more. */
static void find_meetings(struct places *x, const struct ast_function *f)
{
    uint32_t count = number_of(f, NULL), most[PLACES + 1] = {0};
    for (uint32_t n = 0; n < count; n++)
        most[n] = block_number(f, n)->target_count + 1;
    struct ref_flow *g = ref_flow_new(x->arena, count + 1, most);
    for (uint32_t n = 0; n < count; n++) {
        const struct ast_block *b = block_number(f, n);
        for (uint32_t i = 0; i < b->target_count; i++)
            ref_flow_add(g, n, b->targets[i] ? number_of(f, b->targets[i]) : count);
        if (b->target_count == 0)
            ref_flow_add(g, n, count);
    }
    bool reducible = ref_flow_reducible(g, x->arena);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t branch = place_of(x, block_number(f, n)), meets = ref_flow_post_dominator(g, n);
        if (g->next_count[n] < 2)
            continue;
        x->is_exit[branch] = reducible && ref_flow_leaves_loop(g, n);
        if (meets < count) {
            x->meets[branch] = place_of(x, first_of(block_number(f, meets)));
            x->is_join[x->meets[branch]] = true;
        }
    }
}

static struct ref_spot spot_in_block(const void *of, uint32_t thread)
{
    const struct places *x = of;
    const struct ref_actor *a = &x->r->actors[thread];
    struct ref_spot spot = {.live = ref_is_live(x->r, thread),
                            .ended = a->ended,
                            .at = REF_NOWHERE,
                            .next = REF_NOWHERE,
                            .height = x->r->threads[thread].depth};
    if (!a->block)
        return spot;
    spot.at = place_of(x, !a->inside ? first_of(a->block)
                          : a->next  ? (const void *)a->next
                                     : a->block);
    if (a->inside)
        spot.next = spot.at;
    return spot;
}

static bool same_blocks(const void *of, uint32_t thread, uint32_t other, bool literal)
{
    const struct places *x = of;
    const struct ref_actor *a = &x->r->actors[thread], *b = &x->r->actors[other];
    const struct ref_frame *f = x->r->threads[thread].frames, *g = x->r->threads[other].frames;
    (void)literal; /* an assignment is one step */
    if (a->block != b->block || a->inside != b->inside || (a->inside && a->next != b->next))
        return false;
    for (; f && g && f->call == g->call; f = f->below, g = g->below)
        ;
    return f == g;
}

/* ---- making ---- */

const struct ref_view *ref_view_new(struct arena *arena, const struct ref *r)
{
    struct places *x = ARENA_NEW(arena, struct places);
    bool structured = r->kind == REF_THREADS;
    x->r = r;
    x->arena = arena;
    x->what = arena_alloc(arena, PLACES + 1, sizeof *x->what);
    x->meets = ARENA_ARRAY(arena, uint32_t, PLACES + 1);
    x->is_exit = ARENA_ARRAY(arena, bool, PLACES + 1);
    x->is_join = ARENA_ARRAY(arena, bool, PLACES + 1);
    for (const struct ast_function *f = r->kernel->main; f;
         f = f == r->kernel->main ? r->kernel->functions : f->next) {
        if (structured)
            number_function(x, f);
        else
            number_blocks(x, f);
    }
    if (x->count == PLACES)
        return NULL;
    for (const struct ast_function *f = structured ? NULL : r->kernel->main; f;
         f = f == r->kernel->main ? r->kernel->functions : f->next)
        find_meetings(x, f);
    x->view = (struct ref_view){.of = x,
                                .spot = structured ? spot_of_stack : spot_in_block,
                                .same_place = structured ? same_stacks : same_blocks,
                                .loop_above = loop_above,
                                .structured = structured,
                                .places = x->count,
                                .meets = x->meets,
                                .is_exit = x->is_exit,
                                .is_join = x->is_join};
    return &x->view;
}
