/*
 * gen_blocks.h - kernels in block form (lockstep-cfg section 1), reducible by construction: a graph
 * grows by expansion, one open block at a time, and a goto leads to a fresh block or to a
 * continuation of a construct that stands around (a loop's head or exit, the join of a branch), so
 * that no loop is entered past its head.
 *
 * Well-formed by construction too (Def. 5.1): guards stand first in their blocks and read private
 * variables only; the guards of a goto's targets cover everything. Bounded: each loop counts at its
 * head in a variable that nothing else writes, and is entered again only while the count is below a
 * bound.
 */
#ifndef FUZZ_GEN_BLOCKS_H
#define FUZZ_GEN_BLOCKS_H

#include "fuzz/gen/generator.h"

enum { GEN_LABELS = 24, GEN_GRAPH_BLOCKS = 400 };

/* A block that may be gone to from several places. */
struct gen_label {
    struct ast_block *block;
    struct ast_var *guard; /* private scalar; NULL: every thread may enter */
    bool negated;          /* enters where the guard is 0, not where it isn't */
    struct ast_expr *more; /* of a head with a guard: holds while it may be entered; or NULL */
    struct gen_label *otherwise; /* has the complementary guard; NULL: nothing has */
    bool used;                   /* something goes there */
};

struct gen_graph {
    struct ast_function *function;
    struct ast_block **end; /* where the next block of the list goes */
    uint32_t count;
    struct ast_block *open;               /* being filled, or NULL: nothing comes here */
    struct gen_list list;                 /* its statements */
    struct gen_label *labels[GEN_LABELS]; /* continuations around, outer ones first */
    uint32_t label_count;
    uint32_t calm;   /* jumps may go to labels from this number on only */
    bool explicit_1; /* blocks without a guard begin with assume(1) */
};

/* ---- gen_blocks.c ---- */

/* The kernel's own blocks. */
void gen_blocks_main(struct gen *g);

struct ast_block *gen_block_new(struct gen *g);
/* Opens a fresh block at the end of the list; guard NULL: true. */
void gen_block_open(struct gen *g, const struct gen_place *place, struct ast_block *block,
                    struct ast_expr *guard);
/* Ends the open block with a goto; a target NULL is End (or the return of a procedure). */
void gen_block_goto(struct gen *g, struct ast_block *target);
void gen_block_branch(struct gen *g, struct ast_block *a, struct ast_block *b);
void gen_block_targets(struct gen *g, struct ast_block *const *targets, uint32_t count);

/* A variable for a guard to read, and expressions over it. */
struct ast_var *gen_temp(struct gen *g);
struct ast_expr *gen_guard(struct gen *g, struct ast_var *var, bool negated);

/* Goes to a label in any case; the open block ends. */
void gen_label_goto(struct gen *g, const struct gen_place *place, struct gen_label *label);
/* Goes to a label or on in a fresh block. */
void gen_label_maybe(struct gen *g, const struct gen_place *place, struct gen_label *label);
void gen_label_push(struct gen *g, struct gen_label *label);
/* Opens the label's block if something goes there. Pops it. */
void gen_label_pop(struct gen *g, const struct gen_place *place, struct gen_label *label);

/* Some nodes; the open block may be another one afterwards, or none. */
void gen_region(struct gen *g, const struct gen_place *place);

/* What is done to the blocks of a function when all of them are there. */
void gen_blocks_finish(struct gen *g);

/* ---- gen_directions.c ---- */

/* The kernel's own blocks and what they must write down, as an expectation. */
void gen_directions_main(struct gen *g);

/* ---- gen_blocks_call.c ---- */

void gen_block_call(struct gen *g, const struct gen_place *place);

/* ---- gen_blocks_flow.c ---- */

void gen_block_if(struct gen *g, const struct gen_place *place);
void gen_block_loop(struct gen *g, const struct gen_place *place);
void gen_block_switch(struct gen *g, const struct gen_place *place);
void gen_block_jump(struct gen *g, const struct gen_place *place);
/* A barrier, or two with an exchange between them; sometimes for some threads only. */
void gen_block_barrier(struct gen *g, const struct gen_place *place);

#endif
