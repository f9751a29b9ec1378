/* edit_graph.c - graphs of blocks in the hands of an edit. */
#include "engine/forms/cfg.h"
#include "engine/rewrite/edit.h"

uint32_t edit_edges_to(const struct ast_function *f, const struct ast_block *block)
{
    uint32_t count = 0;
    for (const struct ast_block *b = f->blocks; b; b = b->next)
        for (uint32_t i = 0; i < b->target_count; i++)
            count += b->targets[i] == block;
    return count;
}

void edit_end_as(struct edit *edit, struct ast_block *block, const struct ast_block *other)
{
    block->returns = other->returns;
    block->target_count = other->target_count;
    block->targets = ARENA_ARRAY(edit->arena, struct ast_block *, other->target_count + 1);
    for (uint32_t i = 0; i < other->target_count; i++)
        block->targets[i] = other->targets[i];
}

static void reach(struct ast_block *block)
{
    if (block->mark)
        return;
    block->mark = 1;
    for (uint32_t i = 0; i < block->target_count; i++)
        if (block->targets[i])
            reach(block->targets[i]);
}

static void drop_unreachable(struct ast_function *f)
{
    for (struct ast_block *b = f->blocks; b; b = b->next)
        b->mark = 0;
    if (f->blocks)
        reach(f->blocks);
    for (struct ast_block **b = &f->blocks; *b;)
        if ((*b)->mark)
            b = &(*b)->next;
        else
            *b = (*b)->next;
}

void edit_drop_unreachable(struct ast_kernel *kernel)
{
    drop_unreachable(kernel->main);
    for (struct ast_function *f = kernel->functions; f; f = f->next)
        drop_unreachable(f);
}

bool edit_is_reducible(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *reason;
    struct location at;
    size_t mark = arena_mark(arena);
    bool good = !kernel->main->blocks || cfg_build(arena, kernel->main, &reason, &at);
    for (const struct ast_function *f = kernel->functions; f && good; f = f->next)
        good = !f->blocks || cfg_build(arena, f, &reason, &at);
    arena_release(arena, mark);
    return good;
}
