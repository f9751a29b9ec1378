/*
 * transform_graph.h - what transformations of graphs share.
 */
#ifndef ENGINE_TRANSFORM_GRAPH_H
#define ENGINE_TRANSFORM_GRAPH_H

#include "engine/forms/cfg.h"
#include "engine/rewrite/transform_internal.h"

/* Whether its guard is absent or a constant that holds; End (NULL) has none. */
bool transform_trivial(const struct ast_block *block);

/* An empty block behind another in the list; guard NULL: assume(1). */
struct ast_block *transform_new_block(struct edit *edit, struct ast_block *after,
                                      struct ast_expr *guard);
/* It ends with a goto to the first target, or to both. */
void transform_go(struct edit *edit, struct ast_block *block, struct ast_block *first,
                  struct ast_block *second, uint32_t count);

#endif
