/*
 * graphs.h - what is computed of flow graphs - dominators, post-dominators, loops, the order of blocks - against the
 * definitions (engine/reference/ref_flow.h): of the blocks of P, and of the functions of the case's PTX. And the normal
 * form of P; and whether the kernel's forms are refused for what stands in it.
 */
#ifndef ORACLE_GRAPHS_H
#define ORACLE_GRAPHS_H

#include "engine/base/pcg.h"
#include "engine/forms/cfg.h"
#include "engine/to_ptx/ptx_graph.h"
#include "oracle/check/explore.h"

enum {
    GRAPHS_SHARE = 4 /* one case in so many */,
    GRAPHS_NODES = 64 /* larger ones are left out */,
    GRAPHS_DRAWN = 4 /* kernels whose normal form is asked for, and graphs */,
    GRAPHS_DRAWN_NODES = 9
};

/* The hook of oracle.h; class `graph` of the oracle `order`. */
void graphs_judge(struct checking *checking);

/* What is not as it is defined: "dominator"; NULL: nothing. Analysed; sorted. */
const char *graphs_of_ptx(struct arena *arena, const struct ptx_graph *graph);
/* Of no kernel; analysed. */
struct ptx_graph *graphs_drawn(struct arena *arena, struct pcg *rng);
const char *graphs_of_blocks(struct arena *arena, const struct cfg *cfg);

/* What of P's function is not in normal form (normal_form.c): "normal form, final barrier"; NULL: nothing. */
const char *graphs_normal_form(struct arena *arena, const struct ast_function *f, bool is_kernel);
/* A form that was asked for and refused although its kernel has nothing that it is without (refusals.c): "refused: "
 * and the reason that was given; NULL: none. */
const char *graphs_refused(struct arena *arena, const struct forms *forms);

/* A kernel by its number, whose blocks stand in no normal form; and what of its P is in none. *taken: it is a kernel,
 * and its graphs are reducible. */
const char *graphs_text(struct arena *arena, uint64_t number);
const char *graphs_normalised(struct arena *arena, const char *text, bool *taken);

#endif
