/*
 * ref_grid.c - blocks of grids, and what a multiprocessor holds (docs/host.md; cuda-crs 5.6, 5.7).
 */
#include "engine/reference_device/ref_device.h"

uint32_t ref_count(const struct ref_device *r, uint32_t grid, enum ref_where where)
{
    const struct ref_grid *g = &r->grids[grid];
    uint32_t count = 0;
    for (uint32_t b = 0; b < g->layout.blocks; b++)
        count += g->blocks[b].where == where;
    return count;
}

struct ref_block *ref_block_in(const struct ref_device *r, uint32_t grid, uint32_t slot)
{
    const struct ref_grid *g = &r->grids[grid];
    for (uint32_t b = 0; b < g->layout.blocks; b++)
        if (g->blocks[b].where == REF_ACTIVE && g->blocks[b].slot == slot)
            return &g->blocks[b];
    return NULL;
}

/* ---- what an SM holds ---- */

struct ref_held {
    uint32_t blocks, threads, registers, shared;
    bool place[64];
};

/* ERR.86, occupancy=context: in the eyes of a context there are its own grids only. */
static struct ref_held held_by(const struct ref_device *r, uint32_t sm, uint32_t context)
{
    struct ref_held held = {0};
    for (uint32_t g = 0; g < r->grid_count; g++) {
        const struct ref_launch *l = &r->grids[g].layout;
        if (!r->settings.device_wide && r->grids[g].context != context)
            continue;
        for (uint32_t b = 0; b < l->blocks; b++) {
            const struct ref_block *block = &r->grids[g].blocks[b];
            bool there = block->where == REF_ACTIVE || block->where == REF_LEAVING;
            if (!there || block->sm != sm)
                continue;
            held.blocks++;
            held.threads += l->threads;
            held.registers += l->registers;
            held.shared += l->shared_bytes;
            held.place[block->place] = true;
        }
    }
    return held;
}

/* Blocks of the grid that can be resident at all, of what we can run: so many blocks and threads. */
static uint32_t resident_at_most(const struct ref_device *r, const struct ref_launch *l)
{
    const struct ref_settings *s = &r->settings;
    uint32_t by_threads = s->threads / l->threads;
    uint32_t each = by_threads < s->blocks ? by_threads : s->blocks, all = each * s->sms;
    if (s->crowded || all > LIMIT_BLOCKS)
        all = LIMIT_BLOCKS;
    return all < LIMIT_TOTAL_THREADS / l->threads ? all : LIMIT_TOTAL_THREADS / l->threads;
}

/* GR.issue */
bool ref_resident_may(const struct ref_device *r, uint32_t grid, uint32_t sm)
{
    const struct ref_settings *s = &r->settings;
    const struct ref_launch *l = &r->grids[grid].layout;
    if (r->stands[l->statement] != REF_RUNS || !ref_context_steps(r, r->grids[grid].context) ||
        ref_count(r, grid, REF_UNSCHEDULED) == 0 ||
        ref_count(r, grid, REF_ACTIVE) >= resident_at_most(r, l))
        return false;
    struct ref_held held = held_by(r, sm, r->grids[grid].context);
    return s->crowded || (held.blocks < s->blocks && held.threads + l->threads <= s->threads &&
                          held.registers + l->registers <= s->registers &&
                          held.shared + l->shared_bytes <= s->shared);
}

static uint32_t first_place(const struct ref_device *r, uint32_t sm, uint32_t context)
{
    struct ref_held held = held_by(r, sm, context);
    uint32_t place = 0;
    while (!r->settings.crowded && held.place[place])
        place++;
    return place;
}

void ref_resident(struct ref_device *r, uint32_t grid, uint32_t sm, uint32_t block, uint32_t slot)
{
    struct ref_grid *g = &r->grids[grid];
    if (block >= g->layout.blocks || g->blocks[block].where != REF_UNSCHEDULED)
        r->wrong = "a block that was issued already";
    for (uint32_t b = 0; !r->wrong && !r->settings.pick_any && b < block; b++)
        if (g->blocks[b].where == REF_UNSCHEDULED)
            r->wrong = "not the lowest block";
    if (!r->wrong && ref_block_in(r, grid, slot))
        r->wrong = "registers that another block has";
    if (r->wrong)
        return;
    uint32_t place = first_place(r, sm, g->context);
    r->current = r->settings.sticky ? g->context : HOST_NONE;
    g->blocks[block] = (struct ref_block){REF_ACTIVE, sm, place, slot, 0};
    ref_arrive(r, g, &g->blocks[block]);
    ref_close(r);
}

/* CX.abort, DE.destroy: the blocks step no more; ends=drain: they leave when the grid's operations have ended. */
void ref_vanish(struct ref_device *r, uint32_t grid)
{
    struct ref_grid *g = &r->grids[grid];
    bool stays = r->settings.ends_drain && ref_under_way(r, grid, HOST_NONE);
    for (uint32_t b = 0; b < g->layout.blocks; b++) {
        bool there = g->blocks[b].where == REF_ACTIVE || g->blocks[b].where == REF_LEAVING;
        g->blocks[b].where = stays && there ? REF_LEAVING : REF_VANISHED;
    }
    r->stands[g->layout.statement] = stays ? REF_DRAINS : REF_OVER;
}
