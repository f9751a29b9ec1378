/*
 * ptx_structure.h - the control flow of a PTX function as nested regions that are left forwards only: what
 * a branch unit needs to know (ptx_inject_code.c).
 *
 * Every reducible graph has such a form without a block standing twice: the translation along the
 * dominator tree of N. Ramsey, "Beyond Relooper" (ICFP 2022), with one change: the blocks behind a loop
 * are not nested in the loop, where its lanes could not meet.
 *
 * Where a block goes. A block b other than the entry has an immediate dominator d. If loops hold d but
 * not b, b stands behind the outermost of them; else it hangs on d. A block behind a loop, or on d
 * with two or more forward edges to it, is a *merge*: it gets a region that all edges to it leave, around
 * what comes before it. With merges m1, m2, .. in the order of the graph, that is for a block d
 *
 *     region m2 { region m1 { d, its branch } m1's code } m2's code
 *
 * and the same for the merges behind a loop, around the loop. A block that is no merge stands at its
 * one edge. Every edge to a merge lies in its region: were u -> t outside, u would be dominated by a
 * child of d that does not come before t, which forward edges rule out, or u would lie outside of a loop
 * that holds t, whose header it is not, which reducibility rules out.
 *
 * Leaving. Falling off the end of a region leads to its target. A jump to the target of the innermost
 * region stands at the end of that region, as do the ends of both sides of a branch that stands there: it is
 * no instruction (SHAPE_JUMP with falls set). All other jumps leave one or more regions. A loop's body is a
 * region with the header as target: falling off its end, or leaving it, is the back edge.
 */
#ifndef ENGINE_PTX_STRUCTURE_H
#define ENGINE_PTX_STRUCTURE_H

#include "engine/to_ptx/ptx_flow.h"

enum { PTX_STRUCTURE_DEPTH = 2000 }; /* of regions and branches in each other */

/* Code, at the end of which is the target. */
struct ptx_region {
    uint32_t target; /* a number of the block; NONE: the function's body, which has no end */
    uint32_t depth;
    uint32_t number; /* from 1, in the order of the text */
    struct ptx_region *parent;
    bool left;    /* some jump inside that is not at its end leaves it for its target */
    bool crossed; /* ... or for the target of a region around it, and `left` too */
    uint32_t low; /* least depth of a region that a jump inside leaves to */
    struct ptx_region
        *hidden; /* while the tree is made: the region around it with the same target */
    struct ptx_region *before; /* the one made before */
};

enum ptx_shape_kind {
    PTX_SHAPE_BLOCK,  /* the block's statements without its terminator */
    PTX_SHAPE_END,    /* the block's terminator is no branch; or the function ends here */
    PTX_SHAPE_JUMP,   /* to the target of `region` */
    PTX_SHAPE_BRANCH, /* the block's terminator: sides[0] is what follows, sides[1] the target */
    PTX_SHAPE_TABLE,  /* brx.idx: a side for each successor, in their order */
    PTX_SHAPE_REGION, /* `body` in `region`; what follows is its target */
    PTX_SHAPE_LOOP /* `body` in `region`, whose target is the header; around it `exit`, whose target is
                       * that of the region in which the loop stands */
};

struct ptx_shape;

/* Shapes one after the other. */
struct ptx_shapes {
    struct ptx_shape *first, *last;
    bool falls; /* control can fall off its end */
};

struct ptx_shape {
    enum ptx_shape_kind kind;
    uint32_t block;            /* NONE: a loop whose header is no block of the graph */
    struct ptx_region *within; /* innermost region that it stands in */
    struct ptx_region *region, *exit;
    struct ptx_shapes body;
    uint32_t side_count;
    struct ptx_shapes *sides;
    struct ptx_shape *next;
};

/* The innermost region from here on outwards that is left by jumps; NULL: none. */
static inline const struct ptx_region *ptx_region_left(const struct ptx_region *region)
{
    while (region && !region->left)
        region = region->parent;
    return region;
}

/* The function's body. NULL: *reason ("irreducible loop at line 12"). */
const struct ptx_shapes *ptx_structure(struct arena *arena, const struct ptx_flow *flow,
                                       const char **reason);

#endif
