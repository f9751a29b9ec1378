/*
 * transform_graph_loop.c - loops of graphs: a preheader, copies of their blocks.
 *
 * As in transform_loop.c: which copy a thread is in, and how often it has come to the head since the last
 * barrier, say how many trips it has made, and the other way round.
 */
#include "engine/rewrite/transform_graph.h"

typedef void visit_loop(struct edit *edit, struct cfg *cfg, uint32_t loop);

/* The first loop of which the edit is; the graph is no longer that of the function afterwards. */
static void walk_function(struct edit *edit, struct ast_function *f, visit_loop *visit,
                          bool trivial)
{
    const char *reason;
    struct location at;
    struct cfg *cfg = f->blocks ? cfg_build(edit->arena, f, &reason, &at) : NULL;
    edit->function = f;
    for (uint32_t l = 0; cfg && l < cfg->loop_count; l++)
        if ((!trivial || transform_trivial(cfg->blocks[cfg->loops[l].head])) && edit_here(edit)) {
            visit(edit, cfg, l);
            return;
        }
}

static void walk_loops(struct edit *edit, visit_loop *visit, bool trivial)
{
    walk_function(edit, edit->kernel->main, visit, trivial);
    for (struct ast_function *f = edit->kernel->functions; f && !edit_done(edit); f = f->next)
        walk_function(edit, f, visit, trivial);
}

/* Edges to the head from outside (or, back, from inside) of the loop go to `to`. */
static void redirect(struct cfg *cfg, uint32_t loop, bool back, struct ast_block *to)
{
    const struct ast_block *head = cfg->blocks[cfg->loops[loop].head];
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t i = 0; i < cfg->blocks[b]->target_count; i++)
            if (cfg->blocks[b]->targets[i] == head && cfg_in_loop(cfg, loop, b) == back)
                cfg->blocks[b]->targets[i] = to;
}

/*      A -> H, B -> H   ==>   A -> N, B -> N, N -> H          H the head, its guard trivial; A, B outside of the loop
 *
 * Where the first block is a head, N comes behind it in the list and nothing goes there: then it stays out. */
static void preheader(struct edit *edit, struct cfg *cfg, uint32_t loop)
{
    struct ast_block *head = cfg->blocks[cfg->loops[loop].head];
    if (head == edit->function->blocks) { /* the function's start is the only way in */
        struct ast_block *n = transform_new_block(edit, head, NULL);
        n->body->next = head->body;
        head->body = NULL;
        edit_end_as(edit, n, head);
        transform_go(edit, head, n, NULL, 1);
        redirect(cfg, loop, true, n);
        for (uint32_t i = 0; i < n->target_count; i++)
            n->targets[i] = n->targets[i] == head ? n : n->targets[i];
        return;
    }
    struct ast_block *n = transform_new_block(edit, cfg->blocks[cfg->loops[loop].head - 1], NULL);
    redirect(cfg, loop, false, n);
    transform_go(edit, n, head, NULL, 1);
}

void transform_preheader(struct edit *edit)
{
    walk_loops(edit, preheader, true);
}

/* Copies of the loop's blocks, behind it in the list: edges between them are as in the loop, but those back to the
 * head, which go to `head`; the copy of the head is returned. */
static struct ast_block *copy_loop(struct edit *edit, struct cfg *cfg, uint32_t loop,
                                   struct ast_block *head)
{
    struct ast_block **copies = ARENA_ARRAY(edit->arena, struct ast_block *, cfg->count);
    struct ast_block *last = cfg->blocks[cfg->count - 1];
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!cfg_in_loop(cfg, loop, b))
            continue;
        copies[b] = last = transform_new_block(edit, last, NULL);
        copies[b]->body = ast_stm_list_copy(edit->arena, cfg->blocks[b]->body);
        edit_end_as(edit, copies[b], cfg->blocks[b]);
    }
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t i = 0; copies[b] && i < copies[b]->target_count; i++) {
            const struct ast_block *target = copies[b]->targets[i];
            if (target == cfg->blocks[cfg->loops[loop].head])
                copies[b]->targets[i] = head;
            else if (target && copies[target->mark])
                copies[b]->targets[i] = copies[target->mark];
        }
    return copies[cfg->loops[loop].head];
}

/*      the ways into the loop go to a copy of it, whose back edges go to the loop */
static void graph_peel(struct edit *edit, struct cfg *cfg, uint32_t loop)
{
    struct ast_block *head = cfg->blocks[cfg->loops[loop].head];
    struct ast_block *copy = copy_loop(edit, cfg, loop, head);
    redirect(cfg, loop, false, copy);
    if (head != edit->function->blocks)
        return;
    /* The function starts with it: the copy must stand first. */
    struct ast_block **slot = &edit->function->blocks;
    while (*slot != copy)
        slot = &(*slot)->next;
    *slot = copy->next;
    copy->next = head;
    edit->function->blocks = copy;
    const char *name = copy->name;
    copy->name = head->name;
    head->name = name;
}

void transform_graph_peel(struct edit *edit)
{
    walk_loops(edit, graph_peel, false);
}

/*      the back edges of the loop go to a copy of it, whose back edges go to the loop */
static void graph_unroll(struct edit *edit, struct cfg *cfg, uint32_t loop)
{
    struct ast_block *copy = copy_loop(edit, cfg, loop, cfg->blocks[cfg->loops[loop].head]);
    redirect(cfg, loop, true, copy);
}

void transform_graph_unroll(struct edit *edit)
{
    walk_loops(edit, graph_unroll, false);
}
