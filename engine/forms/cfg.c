/*
 * cfg.c - building the graph: targets, dominators (Cooper, Harvey and Kennedy, "A Simple, Fast
 * Dominance Algorithm", 2001), reducibility, natural loops and their nesting.
 */
#include "engine/forms/cfg.h"
#include "engine/base/bits.h"

#include <string.h>

/* What is needed while the graph is built. */
struct building {
    struct arena *arena;
    struct cfg *cfg;
    uint32_t *source_first, *sources; /* predecessors, as targets */
    uint32_t *entered, *left;         /* a block: its place in pre- and postorder of the search */
    uint32_t reached;
    uint32_t *worklist; /* room for a block each */
};

/* ---- edges ---- */

static uint32_t target_number(const struct ast_block *target)
{
    return target ? target->mark : CFG_EXIT;
}

/* A return is an edge to CFG_EXIT. */
static uint32_t edge_count(const struct ast_block *block)
{
    return block->returns ? 1 : block->target_count;
}

static struct cfg *number_blocks(struct arena *arena, const struct ast_function *function)
{
    struct cfg *cfg = ARENA_NEW(arena, struct cfg);
    cfg->function = function;
    for (struct ast_block *block = function->blocks; block; block = block->next)
        block->mark = cfg->count++;
    cfg->blocks = ARENA_ARRAY(arena, struct ast_block *, cfg->count);
    cfg->target_first = ARENA_ARRAY(arena, uint32_t, cfg->count + 1);
    uint32_t edges = 0;
    for (struct ast_block *block = function->blocks; block; block = block->next) {
        cfg->blocks[block->mark] = block;
        cfg->target_first[block->mark] = edges;
        edges += edge_count(block);
    }
    cfg->target_first[cfg->count] = edges;
    cfg->targets = ARENA_ARRAY(arena, uint32_t, edges);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t i = 0; i < edge_count(cfg->blocks[b]); i++)
            cfg->targets[cfg->target_first[b] + i] =
                cfg->blocks[b]->returns ? CFG_EXIT : target_number(cfg->blocks[b]->targets[i]);
    return cfg;
}

static void find_sources(struct building *g)
{
    const struct cfg *cfg = g->cfg;
    uint32_t edges = cfg->target_first[cfg->count];
    g->source_first = ARENA_ARRAY(g->arena, uint32_t, cfg->count + 2);
    g->sources = ARENA_ARRAY(g->arena, uint32_t, edges);
    /* Counts two places on, then ends one place on: filling moves each end to its start's place. */
    uint32_t *place = g->source_first + 1;
    for (uint32_t e = 0; e < edges; e++)
        if (cfg->targets[e] != CFG_EXIT)
            place[cfg->targets[e] + 1]++;
    for (uint32_t b = 0; b < cfg->count; b++)
        place[b + 1] += place[b];
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t e = cfg->target_first[b]; e < cfg->target_first[b + 1]; e++)
            if (cfg->targets[e] != CFG_EXIT)
                g->sources[place[cfg->targets[e]]++] = b;
}

/* ---- depth-first search from the entry, targets in their order ---- */

static void search(struct building *g)
{
    const struct cfg *cfg = g->cfg;
    uint32_t *stack = g->worklist, depth = 0, finished = 0;
    uint32_t *next = ARENA_ARRAY(g->arena, uint32_t, cfg->count);
    g->entered = ARENA_ARRAY(g->arena, uint32_t, cfg->count);
    g->left = ARENA_ARRAY(g->arena, uint32_t, cfg->count);
    memset(g->entered, 0xff, cfg->count * sizeof *g->entered);
    stack[depth++] = 0;
    g->entered[0] = g->reached++;
    while (depth > 0) {
        uint32_t b = stack[depth - 1], e = cfg->target_first[b] + next[b]++;
        if (e == cfg->target_first[b + 1]) {
            g->left[b] = finished++;
            depth--;
            continue;
        }
        uint32_t target = cfg->targets[e];
        if (target != CFG_EXIT && g->entered[target] == UINT32_MAX) {
            g->entered[target] = g->reached++;
            stack[depth++] = target;
        }
    }
}

/* Whether the search came to `block` through `root`. */
static bool descends(const struct building *g, uint32_t block, uint32_t root)
{
    return g->entered[root] <= g->entered[block] && g->left[block] <= g->left[root];
}

static bool all_reachable(const struct building *g, const char **reason, struct location *at)
{
    const struct cfg *cfg = g->cfg;
    if (g->reached == cfg->count)
        return true;
    uint32_t b = 0;
    while (g->entered[b] != UINT32_MAX)
        b++;
    *at = cfg->blocks[b]->at;
    *reason = arena_printf(g->arena, "block '%s' is not reachable from '%s'", cfg->blocks[b]->name,
                           cfg->blocks[0]->name);
    return false;
}

/* ---- dominators ---- */

/* The nearest block that dominates both: of two, the one that the search left earlier moves up. */
static uint32_t common_dominator(const struct building *g, uint32_t a, uint32_t b)
{
    while (a != b)
        if (g->left[a] < g->left[b])
            a = g->cfg->dominator[a];
        else
            b = g->cfg->dominator[b];
    return a;
}

static uint32_t dominator_of(const struct building *g, uint32_t block)
{
    uint32_t result = CFG_EXIT;
    for (uint32_t i = g->source_first[block]; i < g->source_first[block + 1]; i++) {
        uint32_t source = g->sources[i];
        if (g->cfg->dominator[source] == CFG_EXIT)
            continue;
        result = result == CFG_EXIT ? source : common_dominator(g, source, result);
    }
    return result;
}

static void find_dominators(struct building *g)
{
    struct cfg *cfg = g->cfg;
    uint32_t *reverse_postorder = g->worklist;
    for (uint32_t b = 0; b < cfg->count; b++)
        reverse_postorder[cfg->count - 1 - g->left[b]] = b;
    cfg->dominator = ARENA_ARRAY(g->arena, uint32_t, cfg->count);
    memset(cfg->dominator, 0xff, cfg->count * sizeof *cfg->dominator);
    cfg->dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < cfg->count; i++) {
            uint32_t b = reverse_postorder[i], dominator = dominator_of(g, b);
            changed |= dominator != cfg->dominator[b];
            cfg->dominator[b] = dominator;
        }
    }
}

bool cfg_dominates(const struct cfg *cfg, uint32_t block, uint32_t other)
{
    while (other != block && other != 0)
        other = cfg->dominator[other];
    return other == block;
}

/* ---- bits ---- */

static uint64_t *new_bits(struct arena *arena, const struct cfg *cfg)
{
    return ARENA_ARRAY(arena, uint64_t, (cfg->count + 63) / 64);
}

/* ---- reducibility ---- */

/* Adds what reaches `from` without passing `stop`, which must be a member already; within the blocks
 * that the search reached through `root`. */
static void add_reaching(const struct building *g, uint64_t *members, uint32_t from, uint32_t root)
{
    uint32_t count = 0;
    if (bits_has(members, from))
        return;
    bits_add(members, from);
    g->worklist[count++] = from;
    while (count > 0) {
        uint32_t b = g->worklist[--count];
        for (uint32_t i = g->source_first[b]; i < g->source_first[b + 1]; i++) {
            uint32_t source = g->sources[i];
            if (bits_has(members, source) || !descends(g, source, root))
                continue;
            bits_add(members, source);
            g->worklist[count++] = source;
        }
    }
}

/* The edge from `tail` goes back to `head`, which does not dominate it: some edge leads from outside
 * of what the search reached through the head to a block of the cycle. */
static void refuse_irreducible(const struct building *g, uint32_t tail, uint32_t head,
                               const char **reason, struct location *at)
{
    const struct cfg *cfg = g->cfg;
    uint64_t *cycle = new_bits(g->arena, cfg);
    bits_add(cycle, head);
    add_reaching(g, cycle, tail, head);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t e = cfg->target_first[b]; e < cfg->target_first[b + 1]; e++) {
            uint32_t target = cfg->targets[e];
            if (target == CFG_EXIT || target == head || descends(g, b, head) ||
                !bits_has(cycle, target))
                continue;
            *at = cfg->blocks[b]->at;
            *reason = arena_printf(
                g->arena,
                "irreducible: the edge from '%s' to '%s' enters a loop past its head '%s'",
                cfg->blocks[b]->name, cfg->blocks[target]->name, cfg->blocks[head]->name);
            return;
        }
}

/* CFG.red: without the edges whose target dominates their source the graph has no cycle. The edges
 * that close a cycle of it are those that the search saw go back up. */
static bool is_reducible(const struct building *g, const char **reason, struct location *at)
{
    const struct cfg *cfg = g->cfg;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t e = cfg->target_first[b]; e < cfg->target_first[b + 1]; e++) {
            uint32_t target = cfg->targets[e];
            if (target == CFG_EXIT || !descends(g, b, target) || cfg_dominates(cfg, target, b))
                continue;
            refuse_irreducible(g, b, target, reason, at);
            return false;
        }
    return true;
}

/* ---- loops ---- */

/* In a reducible graph the edges that go back up the search are the back edges. */
static bool is_head(const struct building *g, uint32_t block)
{
    for (uint32_t i = g->source_first[block]; i < g->source_first[block + 1]; i++)
        if (descends(g, g->sources[i], block))
            return true;
    return false;
}

static struct cfg_loop natural_loop(const struct building *g, uint32_t head)
{
    struct cfg_loop loop = {
        .head = head, .parent = CFG_NO_LOOP, .members = new_bits(g->arena, g->cfg)};
    bits_add(loop.members, head);
    for (uint32_t i = g->source_first[head]; i < g->source_first[head + 1]; i++)
        if (descends(g, g->sources[i], head))
            add_reaching(g, loop.members, g->sources[i], head);
    return loop;
}

/* Loops that share a block are nested, and the head of the inner one was entered later: by falling
 * place in the search, inner ones come first. */
static void find_loops(struct building *g)
{
    struct cfg *cfg = g->cfg;
    uint32_t *preorder = ARENA_ARRAY(g->arena, uint32_t, cfg->count), heads = 0;
    for (uint32_t b = 0; b < cfg->count; b++) {
        preorder[g->entered[b]] = b;
        heads += is_head(g, b);
    }
    cfg->loops = ARENA_ARRAY(g->arena, struct cfg_loop, heads);
    for (uint32_t i = cfg->count; i-- > 0;)
        if (is_head(g, preorder[i]))
            cfg->loops[cfg->loop_count++] = natural_loop(g, preorder[i]);
}

static void find_nesting(struct building *g)
{
    struct cfg *cfg = g->cfg;
    cfg->innermost = ARENA_ARRAY(g->arena, uint32_t, cfg->count);
    for (uint32_t b = 0; b < cfg->count; b++) {
        uint32_t loop = 0;
        while (loop < cfg->loop_count && !cfg_in_loop(cfg, loop, b))
            loop++;
        cfg->innermost[b] = loop < cfg->loop_count ? loop : CFG_NO_LOOP;
    }
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        uint32_t outer = i + 1;
        while (outer < cfg->loop_count && !cfg_in_loop(cfg, outer, cfg->loops[i].head))
            outer++;
        cfg->loops[i].parent = outer < cfg->loop_count ? outer : CFG_NO_LOOP;
    }
}

bool cfg_in_loop(const struct cfg *cfg, uint32_t loop, uint32_t block)
{
    return bits_has(cfg->loops[loop].members, block);
}

struct cfg *cfg_build(struct arena *arena, const struct ast_function *function, const char **reason,
                      struct location *at)
{
    struct building g = {.arena = arena, .cfg = number_blocks(arena, function)};
    if (g.cfg->count == 0) {
        *at = function->at;
        *reason = "there are no blocks";
        return NULL;
    }
    g.worklist = ARENA_ARRAY(arena, uint32_t, g.cfg->count);
    find_sources(&g);
    search(&g);
    if (!all_reachable(&g, reason, at))
        return NULL;
    find_dominators(&g);
    if (!is_reducible(&g, reason, at))
        return NULL;
    find_loops(&g);
    find_nesting(&g);
    return g.cfg;
}
