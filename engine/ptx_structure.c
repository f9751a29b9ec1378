#include "engine/ptx_structure.h"

#define NONE PTX_GRAPH_NONE

struct structuring {
    struct arena *arena;
    const struct ptx_flow *flow;
    const struct ptx_graph *graph;
    uint32_t *behind; /* a block: the loop that it stands behind; NONE */
    bool *is_merge;
    /* Merges on a block, and behind a loop, ascending in the order of the graph. */
    uint32_t *first_on, *first_behind, *next_merge;
    struct ptx_region **innermost; /* a block: the innermost open region with this target */
    struct ptx_region *newest;
    uint32_t regions, depth;
    bool too_deep;
};

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
                                enum ptx_shape_kind kind, uint32_t block, struct ptx_region *within)
{
    struct ptx_shape *shape = ARENA_NEW(s->arena, struct ptx_shape);
    shape->kind = kind;
    shape->block = block;
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

/* The block and its terminator. True: *next follows here. */
static bool make_block(struct structuring *s, struct ptx_shapes *list, uint32_t block,
                       struct ptx_region *within, uint32_t *next)
{
    const struct ptx_graph *g = s->graph;
    const struct ptx_statement *stm = s->flow->blocks[block].terminator;
    uint32_t count = g->next_first[block + 1] - g->next_first[block];
    *next = count ? g->next[g->next_first[block]] : NONE;
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
    struct structuring s = {.arena = arena, .flow = flow, .graph = g};
    if (flow->indirect) {
        *reason = arena_printf(arena, "indirect branch at line %u", flow->indirect->at.line);
        return NULL;
    }
    if (!g->reducible) {
        *reason = arena_printf(arena, "irreducible loop at line %u: entered from line %u",
                               ptx_flow_line(flow, g->bad_to), ptx_flow_line(flow, g->bad_from));
        return NULL;
    }
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
