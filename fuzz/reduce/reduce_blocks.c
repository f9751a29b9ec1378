/*
 * reduce_blocks.c - kernels in block form: what the reducer does to the graph. Each edit takes an
 * edge, a block or a loop away, so that trying them ends; blocks that nothing reaches any more go
 * with it.
 */
#include "engine/forms/normalise.h"
#include "fuzz/reduce/reduce_internal.h"

bool reduce_is_well_formed(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *reason;
    struct location at;
    return kernel->form == FORM_BLOCKS && well_formed(arena, kernel, &reason, &at) == WELL_FORMED;
}

/* ---- edges ---- */

static void drop_target(struct ast_block *block, uint32_t number)
{
    block->target_count--;
    for (uint32_t i = number; i < block->target_count; i++)
        block->targets[i] = block->targets[i + 1];
}

/* The function ends here. */
static void end_here(struct edit *edit, struct ast_block *block, bool is_main)
{
    block->returns = !is_main;
    block->target_count = is_main;
    block->targets = ARENA_ARRAY(edit->arena, struct ast_block *, 1);
}

static bool ends_here(const struct ast_block *block)
{
    return block->returns || (block->target_count == 1 && !block->targets[0]);
}

static void edit_edges(struct edit *edit, struct ast_block *block, bool is_main)
{
    if (!ends_here(block) && edit_here(edit)) {
        end_here(edit, block, is_main);
        return;
    }
    for (uint32_t i = 0; block->target_count > 2 && i < block->target_count; i++)
        if (edit_here(edit)) {
            block->targets[0] = block->targets[i];
            block->target_count = 1;
            return;
        }
    for (uint32_t i = 0; block->target_count > 1 && i < block->target_count; i++)
        if (edit_here(edit)) {
            drop_target(block, i);
            return;
        }
}

/* ---- blocks ---- */

/* Whoever went to `gone` goes to `to` (NULL: End); or returns, where that is possible. */
static void redirect(struct edit *edit, struct ast_function *f, const struct ast_block *gone,
                     struct ast_block *to, bool returns)
{
    for (struct ast_block *b = f->blocks; b; b = b->next)
        for (uint32_t i = b->target_count; i-- > 0;) {
            if (b->targets[i] != gone)
                continue;
            if (!returns)
                b->targets[i] = to;
            else if (b->target_count > 1)
                drop_target(b, i);
            else
                end_here(edit, b, false);
        }
}

/* A block goes, with its statements; its sources go on to one of its targets. */
static void delete_block(struct edit *edit, struct ast_function *f, struct ast_block *block)
{
    if (block == f->blocks)
        return;
    if (block->returns && edit_here(edit)) {
        redirect(edit, f, block, NULL, true);
        return;
    }
    for (uint32_t i = 0; i < block->target_count; i++)
        if (block->targets[i] != block && edit_here(edit)) {
            redirect(edit, f, block, block->targets[i], false);
            return;
        }
}

/* Takes the statements of its only target, which nothing else goes to; but not that one's guard. */
static void merge_target(struct edit *edit, struct ast_function *f, struct ast_block *block)
{
    struct ast_block *target = block->target_count == 1 ? block->targets[0] : NULL;
    if (!target || target == block || target == f->blocks || edit_edges_to(f, target) != 1 ||
        !edit_here(edit))
        return;
    struct ast_stm *body = target->body;
    if (body && body->kind == STM_ASSUME)
        body = body->next;
    ast_stm_append(&block->body, body);
    edit_end_as(edit, block, target);
}

/* A back edge goes to where its loop may go on: one loop, or back edge, less. */
static void open_loop(struct edit *edit, struct ast_function *f)
{
    const char *reason;
    struct location at;
    struct cfg *cfg = cfg_build(edit->arena, f, &reason, &at);
    for (uint32_t l = 0; cfg && l < cfg->loop_count; l++) {
        uint32_t head = cfg->loops[l].head;
        const struct ast_block *h = cfg->blocks[head];
        for (uint32_t b = 0; b < cfg->count; b++)
            for (uint32_t i = 0; i < cfg->blocks[b]->target_count; i++) {
                if (cfg->blocks[b]->targets[i] != h || !cfg_in_loop(cfg, l, b))
                    continue;
                for (uint32_t k = 0; k < h->target_count; k++)
                    if ((!h->targets[k] || !cfg_in_loop(cfg, l, h->targets[k]->mark)) &&
                        edit_here(edit)) {
                        cfg->blocks[b]->targets[i] = h->targets[k];
                        return;
                    }
            }
    }
}

static void edit_graph(struct edit *edit, struct ast_function *f)
{
    bool is_main = f == edit->kernel->main;
    for (struct ast_block *b = f->blocks; b && !edit_done(edit); b = b->next) {
        edit_edges(edit, b, is_main);
        if (!edit_done(edit))
            delete_block(edit, f, b);
        if (!edit_done(edit))
            merge_target(edit, f, b);
    }
    if (f->blocks && !edit_done(edit))
        open_loop(edit, f);
}

void reduce_blocks(struct edit *edit)
{
    if (edit->kernel->form == FORM_STRUCTURED)
        return;
    edit_graph(edit, edit->kernel->main);
    for (struct ast_function *f = edit->kernel->functions; f && !edit_done(edit); f = f->next)
        edit_graph(edit, f);
}
