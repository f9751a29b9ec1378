/*
 * mutate_blocks.c - mutators of graphs of blocks.
 */
#include "fuzz/mutate/mutate_internal.h"

/* ---- drawing ---- */

static struct ast_function *pick_function(struct mutation *m)
{
    uint32_t count = 1;
    for (const struct ast_function *f = m->kernel->functions; f; f = f->next)
        count++;
    uint32_t left = mutate_below(m, count);
    struct ast_function *f = m->kernel->main;
    for (struct ast_function *g = m->kernel->functions; left > 0; g = g->next, left--)
        f = g;
    return f;
}

static uint32_t count_blocks(const struct ast_function *f)
{
    uint32_t count = 0;
    for (const struct ast_block *b = f->blocks; b; b = b->next)
        count++;
    return count;
}

static struct ast_block *pick_block(struct mutation *m, const struct ast_function *f)
{
    struct ast_block *b = f->blocks;
    for (uint32_t left = mutate_below(m, count_blocks(f)); left > 0; left--)
        b = b->next;
    return b;
}

/* A block of the function with as many targets; NULL: the one drawn has fewer. */
static struct ast_block *pick_with_targets(struct mutation *m, const struct ast_function *f,
                                           uint32_t targets)
{
    enum { TRIES = 8 };
    for (int i = 0; i < TRIES; i++) {
        struct ast_block *b = pick_block(m, f);
        if (b->target_count >= targets)
            return b;
    }
    return NULL;
}

/* A target: a block, or of the kernel the End. */
static struct ast_block *pick_target(struct mutation *m, const struct ast_function *f)
{
    bool is_main = f == m->kernel->main;
    return is_main && mutate_chance(m, 8) ? NULL : pick_block(m, f);
}

/* ---- edges ---- */

static void add_target(struct mutation *m, struct ast_block *b, struct ast_block *target)
{
    struct ast_block **targets = ARENA_ARRAY(m->arena, struct ast_block *, b->target_count + 1);
    for (uint32_t i = 0; i < b->target_count; i++)
        targets[i] = b->targets[i];
    targets[b->target_count++] = target;
    b->targets = targets;
}

bool mutate_retarget(struct mutation *m)
{
    struct ast_function *f = pick_function(m);
    struct ast_block *b = pick_with_targets(m, f, 1);
    if (!b)
        return false;
    uint32_t number = mutate_below(m, b->target_count);
    switch (mutate_below(m, 4)) {
    case 0:
        add_target(m, b, pick_target(m, f));
        return true;
    case 1:
        if (b->target_count == 1)
            return false;
        b->targets[number] = b->targets[--b->target_count];
        return true;
    default:
        b->targets[number] = pick_target(m, f);
        return true;
    }
}

static struct ast_stm *guard_of(struct ast_block *b)
{
    return b && b->body && b->body->kind == STM_ASSUME ? b->body : NULL;
}

/* Two targets of one block exchange their guards; or two edges exchange their targets. */
bool mutate_cross_targets(struct mutation *m)
{
    struct ast_function *f = pick_function(m);
    struct ast_block *b = pick_with_targets(m, f, 2);
    if (b && mutate_chance(m, 60)) {
        struct ast_stm *one = guard_of(b->targets[0]), *other = guard_of(b->targets[1]);
        if (!one || !other || one == other)
            return false;
        struct ast_expr *value = one->value;
        one->value = other->value;
        other->value = value;
        return true;
    }
    struct ast_block *c = pick_with_targets(m, f, 1), *d = pick_with_targets(m, f, 1);
    if (!c || !d || c == d)
        return false;
    uint32_t i = mutate_below(m, c->target_count), k = mutate_below(m, d->target_count);
    struct ast_block *target = c->targets[i];
    c->targets[i] = d->targets[k];
    d->targets[k] = target;
    return true;
}

/* ---- blocks ---- */

static struct ast_block *new_block_behind(struct mutation *m, struct ast_block *b)
{
    struct ast_block *copy = ARENA_NEW(m->arena, struct ast_block);
    *copy = *b;
    copy->name = mutate_name(m, b->name);
    b->next = copy;
    return copy;
}

bool mutate_copy_block(struct mutation *m)
{
    struct ast_function *f = pick_function(m);
    struct ast_block *from = pick_with_targets(m, f, 1);
    struct ast_block *b = from ? from->targets[mutate_below(m, from->target_count)] : NULL;
    if (!b || b == f->blocks)
        return false;
    struct ast_block *copy = new_block_behind(m, b);
    copy->body = ast_stm_list_copy(m->arena, b->body);
    copy->targets = NULL;
    copy->target_count = 0;
    for (uint32_t i = 0; i < b->target_count; i++)
        add_target(m, copy, b->targets[i]);
    for (uint32_t i = 0; i < from->target_count; i++)
        if (from->targets[i] == b) {
            from->targets[i] = copy;
            break;
        }
    return true;
}

/* Behind one of its statements; what is reached then has no guard. */
bool mutate_split_block(struct mutation *m)
{
    struct ast_block *b = pick_block(m, pick_function(m));
    uint32_t length = 0;
    for (const struct ast_stm *s = b->body; s; s = s->next)
        length++;
    struct ast_stm **slot = &b->body;
    for (uint32_t left = mutate_below(m, length + 1); left > 0; left--)
        slot = &(*slot)->next;
    struct ast_stm *rest = *slot;
    *slot = NULL;
    struct ast_block *second = new_block_behind(m, b);
    second->body = rest;
    if (mutate_chance(m, 50)) {
        second->body = ast_stm(m->arena, STM_ASSUME, (struct location){0, 0});
        second->body->value = ast_int(m->arena, 1);
        second->body->next = rest;
    }
    b->returns = false;
    b->targets = NULL;
    b->target_count = 0;
    add_target(m, b, second);
    return true;
}

/* The successor stays for who else goes there. */
bool mutate_merge_block(struct mutation *m)
{
    struct ast_function *f = pick_function(m);
    struct ast_block *b = pick_with_targets(m, f, 1);
    struct ast_block *next = b && b->target_count == 1 ? b->targets[0] : NULL;
    if (!next || next == b || next == f->blocks)
        return false;
    const struct ast_stm *body = next->body;
    if (body && body->kind == STM_ASSUME && mutate_chance(m, 80))
        body = body->next;
    ast_stm_append(&b->body, ast_stm_list_copy(m->arena, body));
    b->returns = next->returns;
    b->targets = NULL;
    b->target_count = 0;
    for (uint32_t i = 0; i < next->target_count; i++)
        add_target(m, b, next->targets[i]);
    return true;
}

/* The first block stays the first. */
bool mutate_permute_blocks(struct mutation *m)
{
    struct ast_function *f = pick_function(m);
    uint32_t count = count_blocks(f);
    if (count < 3)
        return false;
    uint32_t from = 1 + mutate_below(m, count - 1), to = 1 + mutate_below(m, count - 2);
    struct ast_block **slot = &f->blocks;
    for (uint32_t i = 0; i < from; i++)
        slot = &(*slot)->next;
    struct ast_block *b = *slot;
    *slot = b->next;
    slot = &f->blocks;
    for (uint32_t i = 0; i < to; i++)
        slot = &(*slot)->next;
    b->next = *slot;
    *slot = b;
    return from != to;
}

/* ---- guards of statements ---- */

static bool takes_guard(const struct ast_stm *stm)
{
    return (stm->kind == STM_ASSIGN && stm->op == ASSIGN_SET) || stm->kind == STM_BARRIER ||
           stm->kind == STM_HAVOC || stm->kind == STM_ATOMIC || stm->kind == STM_PICK;
}

bool mutate_guard(struct mutation *m)
{
    struct site *site = mutate_pick_where(m, mutate_sites(m, m->kernel, false), takes_guard);
    if (!site)
        return false;
    struct ast_stm *s = *site->slot;
    if (s->guard && mutate_chance(m, 30))
        s->guard = NULL;
    else if (s->guard && mutate_chance(m, 40))
        s->guard = ast_unary(m->arena, UNARY_NOT, s->guard);
    else
        s->guard = mutate_condition(m, site->function);
    return true;
}
