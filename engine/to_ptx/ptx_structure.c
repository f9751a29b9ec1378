#include "engine/to_ptx/ptx_structure.h"

#define NONE PTX_GRAPH_NONE

struct structuring {
    struct arena *arena;
    const struct ptx_flow *flow;
    const struct ptx_graph
        *graph;       /* node n is block n - 1; 0 and those behind the blocks are empty */
    uint32_t *behind; /* a block: the loop that it stands behind; NONE */
    bool *is_merge;
    /* Merges on a block, and behind a loop, ascending in the order of the graph. */
    uint32_t *first_on, *first_behind, *next_merge;
    struct ptx_region **innermost; /* a block: the innermost open region with this target */
    struct ptx_region *newest;
    uint32_t regions, depth;
    bool too_deep;
};

/* ---- headers of several loops ---- */

/*
 * do { do S while (p); T; } while (q): one header, two back edges, one natural loop; but lanes that leave the
 * inner loop are to meet before T. Such a header is told by blocks of the loop that all its lanes get to
 * before they end: the post-dominators P1, P2, .. of the header inside of the loop. A back edge from below
 * Pi (dominated by it), but not from below P(i+1), has level i. Back edges of one level are a loop, which
 * holds those of lower levels if its Pi lies outside of them; otherwise the two are one. Each loop gets a
 * header of its own, an empty node: H2 -> H1 -> header.
 */
struct levels {
    const struct ptx_graph *graph;
    uint32_t *position;      /* a node: i if it is Pi of the header looked at; 0 */
    bool *inside;            /* a node: in the loop of the levels looked at so far */
    uint32_t *nodes, *chain; /* room for all of them each */
};

static uint32_t level_of(const struct levels *l, uint32_t header, uint32_t latch)
{
    uint32_t level = 0;
    for (uint32_t n = latch; n != header; n = l->graph->dominator[n])
        level = l->position[n] > level ? l->position[n] : level;
    return level;
}

/* Adds what reaches the latch without passing the header; nodes[0 .. count) are inside. */
static uint32_t add_inside(struct levels *l, uint32_t header, uint32_t latch, uint32_t count)
{
    const struct ptx_graph *g = l->graph;
    uint32_t next = count;
    if (latch != header && !l->inside[latch]) {
        l->inside[latch] = true;
        l->nodes[count++] = latch;
    }
    for (; next < count; next++)
        for (uint32_t e = g->back_first[l->nodes[next]]; e < g->back_first[l->nodes[next] + 1]; e++)
            if (g->back[e] != header && !l->inside[g->back[e]]) {
                l->inside[g->back[e]] = true;
                l->nodes[count++] = g->back[e];
            }
    return count;
}

/* From levels to loops: loop[i] is the number of that of level i, which there is if there[i]; returns how
 * many. p[i] is Pi. */
static uint32_t join_levels(struct levels *l, uint32_t header, const uint32_t *level,
                            const uint32_t *p, uint32_t length, uint32_t *loop)
{
    const struct ptx_graph *g = l->graph;
    uint32_t count = 0, inside = 0;
    for (uint32_t i = 0; i <= length; i++) {
        bool is_new = count == 0 || !l->inside[p[i]], there = false;
        for (uint32_t e = g->back_first[header]; e < g->back_first[header + 1]; e++)
            if (level[e] == i) {
                inside = add_inside(l, header, g->back[e], inside);
                there = true;
            }
        count += there && is_new;
        loop[i] = there ? count - 1 : 0;
    }
    for (uint32_t n = 0; n < inside; n++)
        l->inside[l->nodes[n]] = false;
    return count;
}

/* The loops of the header: how many, and for each edge to it (by its place in `back`) which it is a back
 * edge of, 0 the innermost; edges that enter: NONE. */
static uint32_t find_levels(struct levels *l, struct arena *arena, uint32_t header, uint32_t *level)
{
    const struct ptx_graph *g = l->graph;
    uint32_t around = ptx_graph_headed(g, header), length = 0, latches = 0;
    uint32_t first = g->back_first[header], end = g->back_first[header + 1];
    size_t mark = arena_mark(arena);
    for (uint32_t e = first; e < end; e++)
        latches += g->place[g->back[e]] >= g->place[header];
    uint32_t *p = l->chain;
    for (uint32_t n = g->post_dominator[header];
         latches > 1 && n != NONE && ptx_graph_in_loop(g, around, n); n = g->post_dominator[n]) {
        p[++length] = n;
        l->position[n] = length;
    }
    for (uint32_t e = first; e < end; e++)
        level[e] = g->place[g->back[e]] < g->place[header] ? NONE
                   : length == 0                           ? 0
                                                           : level_of(l, header, g->back[e]);
    uint32_t *loop = ARENA_ARRAY(arena, uint32_t, length + 1);
    uint32_t count = length ? join_levels(l, header, level, p, length, loop) : 1;
    for (uint32_t e = first; e < end; e++)
        level[e] = level[e] == NONE ? NONE : loop[level[e]];
    for (uint32_t i = 1; i <= length; i++)
        l->position[p[i]] = 0;
    arena_release(arena, mark);
    return count;
}

struct splitting {
    const struct ptx_graph *old;
    struct ptx_graph *graph;
    uint32_t *level;  /* of an edge, by its place in old->back */
    uint32_t *levels; /* a node: how many */
    uint32_t *extra;  /* a node: its first header node more */
};

/* Where the edge from `source` to `target` leads now. */
static uint32_t new_target(const struct splitting *s, uint32_t source, uint32_t target)
{
    const struct ptx_graph *g = s->old;
    uint32_t e = g->back_first[target];
    if (s->levels[target] < 2 || g->place[source] == NONE)
        return target + 1;
    while (g->back[e] != source)
        e++;
    uint32_t level = s->level[e] == NONE ? s->levels[target] - 1 : s->level[e];
    return level == 0 ? target + 1 : s->extra[target] + level - 1;
}

static const struct ptx_graph *split_headers(struct arena *arena, const struct ptx_graph *old)
{
    struct ptx_graph *g = ARENA_NEW(arena, struct ptx_graph);
    struct levels l = {.graph = old};
    l.position = ARENA_ARRAY(arena, uint32_t, old->count + 1);
    l.inside = ARENA_ARRAY(arena, bool, old->count + 1);
    l.nodes = ARENA_ARRAY(arena, uint32_t, old->count + 1);
    l.chain = ARENA_ARRAY(arena, uint32_t, old->count + 1);
    struct splitting s = {.old = old, .graph = g};
    s.level = ARENA_ARRAY(arena, uint32_t, old->edges + 1);
    s.levels = ARENA_ARRAY(arena, uint32_t, old->count + 1);
    s.extra = ARENA_ARRAY(arena, uint32_t, old->count + 1);
    g->count = old->count + 1;
    for (uint32_t i = 0; i < old->loop_count; i++) {
        uint32_t header = old->loops[i].header;
        s.levels[header] = find_levels(&l, arena, header, s.level);
        s.extra[header] = g->count;
        g->count += s.levels[header] - 1;
    }
    g->next_first = ARENA_ARRAY(arena, uint32_t, g->count + 1);
    g->next = ARENA_ARRAY(arena, uint32_t, old->edges + g->count);
    g->next[g->edges++] = s.levels[0] < 2 ? 1 : s.extra[0] + s.levels[0] - 2;
    for (uint32_t n = 0; n < old->count; n++) {
        g->next_first[n + 1] = g->edges;
        for (uint32_t e = old->next_first[n]; e < old->next_first[n + 1]; e++)
            g->next[g->edges++] = new_target(&s, n, old->next[e]);
    }
    for (uint32_t i = 0; i < old->loop_count; i++)
        for (uint32_t k = 1, header = old->loops[i].header; k < s.levels[header]; k++) {
            g->next_first[s.extra[header] + k - 1] = g->edges;
            g->next[g->edges++] = k == 1 ? header + 1 : s.extra[header] + k - 2;
        }
    g->next_first[g->count] = g->edges;
    ptx_graph_analyse(arena, g);
    return g;
}

/* ---- where blocks go ---- */

/* The outermost loop that holds a but not b. */
static uint32_t loop_left(const struct ptx_graph *g, uint32_t a, uint32_t b)
{
    uint32_t found = NONE;
    for (uint32_t l = g->loop[a]; l != NONE && !ptx_graph_in_loop(g, l, b); l = g->loops[l].parent)
        found = l;
    return found;
}

static uint32_t forward_edges(const struct ptx_graph *g, uint32_t block)
{
    uint32_t count = 0;
    for (uint32_t e = g->back_first[block]; e < g->back_first[block + 1]; e++)
        count += g->place[g->back[e]] < g->place[block];
    return count;
}

static uint32_t *none(struct arena *arena, uint32_t count)
{
    uint32_t *array = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        array[i] = NONE;
    return array;
}

static void place_blocks(struct structuring *s)
{
    const struct ptx_graph *g = s->graph;
    s->behind = none(s->arena, g->count);
    s->is_merge = ARENA_ARRAY(s->arena, bool, g->count);
    s->first_on = none(s->arena, g->count);
    s->first_behind = none(s->arena, g->loop_count);
    s->next_merge = none(s->arena, g->count);
    s->innermost = ARENA_ARRAY(s->arena, struct ptx_region *, g->count);
    for (uint32_t i = g->reached; i-- > 1;) {
        uint32_t b = g->order[i], d = g->dominator[b];
        s->behind[b] = loop_left(g, d, b);
        s->is_merge[b] = s->behind[b] != NONE || forward_edges(g, b) > 1;
        if (!s->is_merge[b])
            continue;
        uint32_t *list = s->behind[b] != NONE ? &s->first_behind[s->behind[b]] : &s->first_on[d];
        s->next_merge[b] = *list;
        *list = b;
    }
}

/* ---- regions ---- */

static struct ptx_region *open_region(struct structuring *s, uint32_t target,
                                      struct ptx_region *parent)
{
    struct ptx_region *r = ARENA_NEW(s->arena, struct ptx_region);
    *r = (struct ptx_region){.target = target,
                             .depth = parent ? parent->depth + 1 : 0,
                             .number = s->regions++,
                             .parent = parent,
                             .low = UINT32_MAX,
                             .before = s->newest};
    s->newest = r;
    if (target != NONE) {
        r->hidden = s->innermost[target];
        s->innermost[target] = r;
    }
    return r;
}

static void close_region(struct structuring *s, const struct ptx_region *region)
{
    if (region->target != NONE)
        s->innermost[region->target] = region->hidden;
}

/* ---- shapes ---- */

/* What is still to be made: a block, or the loop of a header, inside of the regions of these merges, the
 * last one outermost. */
struct work {
    bool is_loop;
    uint32_t block, count;
    uint32_t *merges;
};

static struct ptx_shapes make(struct structuring *s, struct work work, struct ptx_region *within);

static struct work merges_of(struct structuring *s, bool is_loop, uint32_t block, uint32_t first)
{
    struct work work = {.is_loop = is_loop, .block = block};
    for (uint32_t m = first; m != NONE; m = s->next_merge[m])
        work.count++;
    work.merges = ARENA_ARRAY(s->arena, uint32_t, work.count + 1);
    work.count = 0;
    for (uint32_t m = first; m != NONE; m = s->next_merge[m])
        work.merges[work.count++] = m;
    return work;
}

/* All that stands where the block does. */
static struct work work_of(struct structuring *s, uint32_t block)
{
    uint32_t loop = ptx_graph_headed(s->graph, block);
    return loop == NONE ? merges_of(s, false, block, s->first_on[block])
                        : merges_of(s, true, block, s->first_behind[loop]);
}

static struct ptx_shape *append(struct structuring *s, struct ptx_shapes *list,
                                enum ptx_shape_kind kind, uint32_t node, struct ptx_region *within)
{
    struct ptx_shape *shape = ARENA_NEW(s->arena, struct ptx_shape);
    shape->kind = kind;
    shape->block = node == 0 || node > s->flow->graph.count ? NONE : node - 1;
    shape->within = within;
    *(list->last ? &list->last->next : &list->first) = shape;
    list->last = shape;
    return shape;
}

/* A block that is no merge stands at its one edge; back edges lead to the target of a loop's body. */
static bool stands_at_edge(const struct structuring *s, uint32_t source, uint32_t target)
{
    return s->graph->place[target] > s->graph->place[source] && !s->is_merge[target];
}

static void jump(struct structuring *s, struct ptx_shapes *list, uint32_t target,
                 struct ptx_region *within)
{
    struct ptx_region *region = s->innermost[target];
    append(s, list, PTX_SHAPE_JUMP, target, within)->region = region;
    list->falls = region == within;
    if (!list->falls) {
        region->left = true;
        within->low = region->depth < within->low ? region->depth : within->low;
    }
}

static void make_sides(struct structuring *s, struct ptx_shapes *list, uint32_t block,
                       enum ptx_shape_kind kind, struct ptx_region *within)
{
    const struct ptx_graph *g = s->graph;
    uint32_t first = g->next_first[block];
    struct ptx_shape *shape = append(s, list, kind, block, within);
    shape->side_count = g->next_first[block + 1] - first;
    shape->sides = ARENA_ARRAY(s->arena, struct ptx_shapes, shape->side_count);
    for (uint32_t i = 0; i < shape->side_count; i++) {
        uint32_t target = g->next[first + i];
        if (stands_at_edge(s, block, target))
            shape->sides[i] = make(s, work_of(s, target), within);
        else
            jump(s, &shape->sides[i], target, within);
        list->falls |= shape->sides[i].falls;
    }
}

/* Nothing but labels, places in the source, and a branch. */
static bool is_empty(const struct structuring *s, uint32_t node)
{
    if (node == 0 || node > s->flow->graph.count)
        return true;
    const struct ptx_flow_block *b = &s->flow->blocks[node - 1];
    for (uint32_t i = b->first; i < b->end; i++) {
        const struct ptx_statement *stm = s->flow->statements[i];
        if (stm != b->terminator && stm->kind != PTX_LABEL && stm->kind != PTX_LOC)
            return false;
    }
    return true;
}

/* The block and its terminator. True: *next follows here. */
static bool make_block(struct structuring *s, struct ptx_shapes *list, uint32_t block,
                       struct ptx_region *within, uint32_t *next)
{
    const struct ptx_graph *g = s->graph;
    bool is_block = block > 0 && block <= s->flow->graph.count;
    const struct ptx_statement *stm = is_block ? s->flow->blocks[block - 1].terminator : NULL;
    uint32_t count = g->next_first[block + 1] - g->next_first[block];
    *next = count ? g->next[g->next_first[block]] : NONE;
    if (count != 1 || !is_empty(s, block))
        append(s, list, PTX_SHAPE_BLOCK, block, within);
    if (count == 0)
        append(s, list, PTX_SHAPE_END, block, within);
    else if (stm && ptx_statement_opcode(stm) == PTX_OP_BRX)
        make_sides(s, list, block, PTX_SHAPE_TABLE, within);
    else if (count > 1)
        make_sides(s, list, block, PTX_SHAPE_BRANCH, within);
    else if (stands_at_edge(s, block, *next))
        return true;
    else
        jump(s, list, *next, within);
    return false;
}

static void make_loop(struct structuring *s, struct ptx_shapes *list, uint32_t header,
                      struct ptx_region *within)
{
    struct ptx_shape *shape = append(s, list, PTX_SHAPE_LOOP, header, within);
    shape->exit = open_region(s, within->target, within);
    shape->region = open_region(s, header, shape->exit);
    shape->body = make(s, merges_of(s, false, header, s->first_on[header]), shape->region);
    close_region(s, shape->region);
    close_region(s, shape->exit);
    list->falls = shape->exit->left;
}

static struct ptx_shapes make(struct structuring *s, struct work work, struct ptx_region *within)
{
    struct ptx_shapes list = {NULL, NULL, false};
    uint32_t next;
    if (++s->depth > PTX_STRUCTURE_DEPTH)
        s->too_deep = true;
    while (!s->too_deep) {
        if (work.count > 0) {
            uint32_t merge = work.merges[--work.count];
            struct ptx_shape *shape = append(s, &list, PTX_SHAPE_REGION, merge, within);
            shape->region = open_region(s, merge, within);
            shape->body = make(s, work, shape->region);
            close_region(s, shape->region);
            work = work_of(s, merge);
        } else if (work.is_loop) {
            make_loop(s, &list, work.block, within);
            break;
        } else if (make_block(s, &list, work.block, within, &next)) {
            work = work_of(s, next);
        } else {
            break;
        }
    }
    s->depth--;
    return list;
}

/* Inner regions are made after the ones around them. */
static void find_crossed(const struct structuring *s)
{
    for (struct ptx_region *r = s->newest; r; r = r->before) {
        r->crossed = r->left && r->low < r->depth;
        if (r->parent && r->low < r->parent->low)
            r->parent->low = r->low;
    }
}

const struct ptx_shapes *ptx_structure(struct arena *arena, const struct ptx_flow *flow,
                                       const char **reason)
{
    const struct ptx_graph *g = &flow->graph;
    struct structuring s = {.arena = arena, .flow = flow};
    if (flow->indirect) {
        *reason = arena_printf(arena, "indirect branch at line %u", flow->indirect->at.line);
        return NULL;
    }
    if (!g->reducible) {
        *reason = arena_printf(arena, "irreducible loop at line %u: entered from line %u",
                               ptx_flow_line(flow, g->bad_to), ptx_flow_line(flow, g->bad_from));
        return NULL;
    }
    s.graph = split_headers(arena, g);
    place_blocks(&s);
    struct ptx_shapes *body = ARENA_NEW(arena, struct ptx_shapes);
    *body = make(&s, work_of(&s, 0), open_region(&s, NONE, NULL));
    if (s.too_deep) {
        *reason =
            arena_printf(arena, "control flow nested deeper than %d in the function at line %u",
                         PTX_STRUCTURE_DEPTH, flow->function->at.line);
        return NULL;
    }
    find_crossed(&s);
    return body;
}
