/*
 * gen_rows.h - programs in PTX of instructions drawn from the table of forms (engine/ptx/ptx_ops.def), with operands
 * at their bounds.
 *
 * Each row of the table, with all its modifiers, is drawn as it stands there; so a row that is added is generated.
 * Sources come from a table of constants that each lane reads at another place, from immediates, or are what
 * instructions before left; guards, regions that some lanes skip, lanes that have exited stand around. What the
 * instructions compute is not known here: the oracle `reference` says it, step by step.
 */
#ifndef FUZZ_GEN_ROWS_H
#define FUZZ_GEN_ROWS_H

#include "fuzz/gen/generator.h"

/* Replaces g->kernel by a PTX kernel. Its launch is drawn here too. */
void gen_rows_main(struct gen *g);

#endif
