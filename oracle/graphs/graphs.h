/*
 * graphs.h - what is computed of flow graphs - dominators, post-dominators, loops, the order of blocks - against the
 * definitions (engine/reference/ref_flow.h): of the blocks of P, and of the functions of the case's PTX.
 */
#ifndef ORACLE_GRAPHS_H
#define ORACLE_GRAPHS_H

#include "engine/forms/cfg.h"
#include "engine/to_ptx/ptx_graph.h"
#include "oracle/check/explore.h"

enum {
    GRAPHS_SHARE = 4 /* one case in so many */,
    GRAPHS_NODES = 64 /* larger ones are left out */
};

/* The hook of oracle.h; class `graph` of the oracle `order`. */
void graphs_judge(struct checking *checking);

/* What is not as it is defined: "dominator"; NULL: nothing. Analysed; sorted. */
const char *graphs_of_ptx(struct arena *arena, const struct ptx_graph *graph);
const char *graphs_of_blocks(struct arena *arena, const struct cfg *cfg);

#endif
