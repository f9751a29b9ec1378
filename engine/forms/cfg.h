/*
 * cfg.h - the control-flow graph of a function in block form: dominators, natural loops, the sort
 * order of lockstep-cfg section 4.
 *
 * A block's number in the graph is its place in the function's list (and its mark after cfg_build).
 * End and return are no blocks: CFG_EXIT as a target.
 */
#ifndef ENGINE_CFG_H
#define ENGINE_CFG_H

#include "engine/language/ast.h"

#define CFG_EXIT UINT32_MAX
#define CFG_NO_LOOP UINT32_MAX

/* A natural loop (CFG.loop, B-2): {head} and all blocks that reach a back edge of the head without
 * passing the head. Back edges with the same head are one loop. */
struct cfg_loop {
    uint32_t head;
    uint32_t parent;   /* the innermost loop around it, CFG_NO_LOOP */
    uint64_t *members; /* a bit a block */
};

struct cfg {
    const struct ast_function *function;
    uint32_t count;
    struct ast_block **blocks;
    uint32_t *target_first; /* count + 1 of them: targets[target_first[b] .. target_first[b + 1]) */
    uint32_t *targets;
    uint32_t *dominator; /* immediate; of the entry: itself */
    uint32_t loop_count;
    struct cfg_loop *loops; /* inner ones before the outer ones around them */
    uint32_t *innermost;    /* a block: its innermost loop, CFG_NO_LOOP */
    /* cfg_sort: */
    uint32_t *order;    /* place -> block */
    uint32_t *position; /* block -> place */
};

/* The graph of a function in block form. NULL with *reason when it is not reducible ("irreducible:
 * the edge from 'B' to 'C' enters a loop past its head 'H'") or a block is unreachable ("block 'B' is
 * not reachable from 'Start'"), with the block it is about in *at. */
struct cfg *cfg_build(struct arena *arena, const struct ast_function *function, const char **reason,
                      struct location *at);

bool cfg_in_loop(const struct cfg *cfg, uint32_t loop, uint32_t block);
bool cfg_dominates(const struct cfg *cfg, uint32_t block, uint32_t other);

/*
 * The sort order (PRED.sort.*): along every edge that is no back edge, and every loop contiguous.
 * Among what may come next the block that stands first in the list is taken (so a list that is in a
 * valid order keeps it); with a seed != 0 any, at random (ORA.perm).
 */
void cfg_sort(struct arena *arena, struct cfg *cfg, uint64_t seed);

/* Checks PRED.sort.1 and PRED.sort.2 of cfg->order by their definitions. */
bool cfg_order_valid(const struct cfg *cfg);

/* App. A's loops read literally (B-2): everything that the head dominates and that reaches the head,
 * also through an outer back edge. For the erratum; same bits as cfg_loop.members. */
void cfg_appendix_loop(const struct cfg *cfg, uint32_t head, uint64_t *members);

#endif
