/*
 * gen_crs.h - raw programs for the branch unit: any sequence of its instructions, guarded, indirect, with
 * deep stacks of tokens; not only what a compiler would emit (cuda-crs 11.3, 13).
 *
 * A program is made while a warp runs it: an instruction is drawn when the warp first comes to its
 * address, among those that control-flow consistency (CHK.stack with 6' and 4', CHK.static) allows
 * there; of loose programs, among all. So consistent programs are so along the execution that made
 * them; another choice of targets may leave the consistent ones, which the oracle `safety` notices.
 *
 * Each lane hashes the markers that it passes into out[tid]: the final store tells which lane executed
 * what, in which order.
 */
#ifndef FUZZ_GEN_CRS_H
#define FUZZ_GEN_CRS_H

#include "fuzz/gen/generator.h"

/* Replaces g->kernel by a PTX kernel. Its launch is drawn here too. */
void gen_crs_main(struct gen *g);

#endif
