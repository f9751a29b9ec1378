/*
 * cfg_sort.c - the sort order of lockstep-cfg section 4, its check by the definition, and the loops
 * of Appendix A as printed.
 *
 * An item is a block, or a loop as one abstract node: item b is block b, item count + i is loop i.
 * The items of a loop are its blocks that are in no inner loop and the loops directly in it; those of
 * the graph likewise. An edge between two blocks orders the items that hold them at the innermost
 * level that holds both.
 */
#include "engine/forms/cfg.h"

#include "engine/base/bits.h"
#include "engine/base/invariant.h"
#include "engine/base/pcg.h"

#include <string.h>

struct sorting {
    struct cfg *cfg;
    struct pcg random;
    bool shuffle;
    uint32_t *next_first, *next; /* of an item: those that must come after it */
    uint32_t *waits;             /* of an item: edges from items that are not placed yet */
    uint32_t *ready; /* stack of items that may come next, those of inner levels on top */
    uint32_t ready_count;
    uint32_t placed;
};

/* ---- items ---- */

static uint32_t parent_of(const struct cfg *cfg, uint32_t item)
{
    return item < cfg->count ? cfg->innermost[item] : cfg->loops[item - cfg->count].parent;
}

/* The item that holds a block at a level: the loop `level`, CFG_NO_LOOP for the whole graph. */
static uint32_t item_at(const struct cfg *cfg, uint32_t block, uint32_t level)
{
    uint32_t item = block;
    while (parent_of(cfg, item) != level)
        item = cfg->count + parent_of(cfg, item);
    return item;
}

/* Where an item stands in the list: a loop with its head. */
static uint32_t place_of(const struct cfg *cfg, uint32_t item)
{
    return item < cfg->count ? item : cfg->loops[item - cfg->count].head;
}

static uint32_t common_level(const struct cfg *cfg, uint32_t a, uint32_t b)
{
    uint32_t level = cfg->innermost[a];
    while (level != CFG_NO_LOOP && !cfg_in_loop(cfg, level, b))
        level = cfg->loops[level].parent;
    return level;
}

static bool is_back_edge(const struct cfg *cfg, uint32_t from, uint32_t to)
{
    uint32_t loop = cfg->innermost[to];
    return loop != CFG_NO_LOOP && cfg->loops[loop].head == to && cfg_in_loop(cfg, loop, from);
}

/* ---- edges between items ---- */

struct item_edge {
    uint32_t from, to;
};

static uint32_t item_edges(const struct cfg *cfg, struct item_edge *edges)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t e = cfg->target_first[b]; e < cfg->target_first[b + 1]; e++) {
            uint32_t target = cfg->targets[e];
            if (target == CFG_EXIT || is_back_edge(cfg, b, target))
                continue;
            uint32_t level = common_level(cfg, b, target);
            edges[count++] =
                (struct item_edge){item_at(cfg, b, level), item_at(cfg, target, level)};
        }
    return count;
}

static void link_items(struct arena *arena, struct sorting *s)
{
    const struct cfg *cfg = s->cfg;
    uint32_t items = cfg->count + cfg->loop_count;
    struct item_edge *edges = ARENA_ARRAY(arena, struct item_edge, cfg->target_first[cfg->count]);
    uint32_t count = item_edges(cfg, edges);
    s->next_first = ARENA_ARRAY(arena, uint32_t, items + 2);
    s->next = ARENA_ARRAY(arena, uint32_t, count);
    s->waits = ARENA_ARRAY(arena, uint32_t, items);
    uint32_t *place = s->next_first + 1; /* as cfg.c's find_sources */
    for (uint32_t i = 0; i < count; i++) {
        place[edges[i].from + 1]++;
        s->waits[edges[i].to]++;
    }
    for (uint32_t item = 0; item < items; item++)
        place[item + 1] += place[item];
    for (uint32_t i = 0; i < count; i++)
        s->next[place[edges[i].from]++] = edges[i].to;
}

/* ---- sorting ---- */

/* PROC.norm: the return block of a procedure is last, also after blocks that never reach it. */
static bool is_return(const struct cfg *cfg, uint32_t item)
{
    return item < cfg->count && cfg->blocks[item]->returns;
}

/* Of the ready items from place `base` of the stack on: the place of a random one. */
static uint32_t choose_random(struct sorting *s, uint32_t base)
{
    uint32_t count = s->ready_count - base, chosen = pcg_below(&s->random, count);
    for (uint32_t i = 0; i < count && is_return(s->cfg, s->ready[base + chosen]); i++)
        chosen = (chosen + 1) % count;
    return base + chosen;
}

/* The place of the one that stands first in the list. */
static uint32_t choose_first(const struct sorting *s, uint32_t base)
{
    uint32_t chosen = base;
    for (uint32_t i = base + 1; i < s->ready_count; i++)
        if (place_of(s->cfg, s->ready[i]) < place_of(s->cfg, s->ready[chosen]))
            chosen = i;
    return chosen;
}

static uint32_t take_ready(struct sorting *s, uint32_t base)
{
    uint32_t chosen = s->shuffle ? choose_random(s, base) : choose_first(s, base);
    uint32_t item = s->ready[chosen];
    s->ready[chosen] = s->ready[--s->ready_count];
    return item;
}

static void place_block(struct sorting *s, uint32_t block)
{
    s->cfg->order[s->placed] = block;
    s->cfg->position[block] = s->placed++;
}

/* PRED.sort.build, from the outside in: the items of a level by Kahn's algorithm, beginning with the
 * one that holds the level's first block; a loop is placed as a whole when its turn comes. */
static void place_level(struct sorting *s, uint32_t level, uint32_t first)
{
    uint32_t base = s->ready_count;
    s->ready[s->ready_count++] = item_at(s->cfg, first, level);
    while (s->ready_count > base) {
        uint32_t item = take_ready(s, base);
        if (item < s->cfg->count)
            place_block(s, item);
        else
            place_level(s, item - s->cfg->count, place_of(s->cfg, item));
        for (uint32_t i = s->next_first[item]; i < s->next_first[item + 1]; i++)
            if (--s->waits[s->next[i]] == 0)
                s->ready[s->ready_count++] = s->next[i];
    }
}

void cfg_sort(struct arena *arena, struct cfg *cfg, uint64_t seed)
{
    struct sorting s = {.cfg = cfg, .random = pcg_derive(seed, PCG_ORDER, 0), .shuffle = seed != 0};
    cfg->order = ARENA_ARRAY(arena, uint32_t, cfg->count);
    cfg->position = ARENA_ARRAY(arena, uint32_t, cfg->count);
    size_t mark = arena_mark(arena);
    link_items(arena, &s);
    s.ready = ARENA_ARRAY(arena, uint32_t, cfg->count + cfg->loop_count);
    place_level(&s, CFG_NO_LOOP, 0);
    INVARIANT(s.placed == cfg->count);
    arena_release(arena, mark);
}

/* ---- the definitions ---- */

static bool is_permutation(const struct cfg *cfg)
{
    for (uint32_t place = 0; place < cfg->count; place++)
        if (cfg->order[place] >= cfg->count || cfg->position[cfg->order[place]] != place)
            return false;
    return true;
}

/* PRED.sort.2 of one loop: what stands between two of its blocks belongs to it. */
static bool is_contiguous(const struct cfg *cfg, uint32_t loop)
{
    uint32_t place = 0, end = cfg->count;
    while (!cfg_in_loop(cfg, loop, cfg->order[place]))
        place++;
    while (!cfg_in_loop(cfg, loop, cfg->order[end - 1]))
        end--;
    while (place < end && cfg_in_loop(cfg, loop, cfg->order[place]))
        place++;
    return place == end;
}

bool cfg_order_valid(const struct cfg *cfg)
{
    if (!is_permutation(cfg))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t e = cfg->target_first[b]; e < cfg->target_first[b + 1]; e++) {
            uint32_t target = cfg->targets[e];
            bool forward = target != CFG_EXIT && !cfg_dominates(cfg, target, b);
            if (forward && cfg->position[target] < cfg->position[b])
                return false; /* PRED.sort.1, an edge of the path */
        }
    for (uint32_t i = 0; i < cfg->loop_count; i++)
        if (!is_contiguous(cfg, i))
            return false;
    return true;
}

/* ---- Appendix A ---- */

static bool reaches_any(const struct cfg *cfg, uint32_t block, const bool *reaches)
{
    for (uint32_t e = cfg->target_first[block]; e < cfg->target_first[block + 1]; e++)
        if (cfg->targets[e] != CFG_EXIT && reaches[cfg->targets[e]])
            return true;
    return false;
}

void cfg_appendix_loop(const struct cfg *cfg, uint32_t head, uint64_t *members)
{
    bool reaches[LIMIT_LABELS] = {false};
    INVARIANT(cfg->count <= LIMIT_LABELS);
    reaches[head] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = cfg->count; b-- > 0;)
            if (!reaches[b] && reaches_any(cfg, b, reaches))
                reaches[b] = changed = true;
    }
    memset(members, 0, (cfg->count + 63) / 64 * sizeof *members);
    for (uint32_t b = 0; b < cfg->count; b++)
        if (reaches[b] && cfg_dominates(cfg, head, b))
            bits_add(members, b);
}
