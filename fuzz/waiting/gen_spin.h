/*
 * gen_spin.h - kernels in which two to four threads wait for each other, and which may not terminate.
 *
 * Idioms that people write - locks, flags, barriers made by hand, look-back, election of a leader - or tiny
 * programs of a few accesses with a branch each. They are small enough for a search of all states, and
 * so for exact verdicts about who ends under which model (docs/progress.md). gen_options.spin asks for them;
 * a campaign takes CASE_SPIN cases of a round (fuzz/case/plan.c).
 *
 * Idioms are patterns in the kernel language (gen_spin_idioms.c). In a pattern stand
 *
 *     $( a $| b $)    one of these, drawn
 *     @               the number of the idiom: lock@ becomes lock0
 *     $W, $N          the thread's number in the grid; how many there are
 *     $F              the number of some thread
 *     $K              a condition on the thread's number
 *     $C              what a critical section does
 */
#ifndef FUZZ_GEN_SPIN_H
#define FUZZ_GEN_SPIN_H

#include "engine/base/text.h"
#include "fuzz/gen/generator.h"

/* A kernel's text in the making. */
struct spin_writing {
    struct gen *g;
    struct text text;
    uint32_t threads; /* of the grid */
    uint32_t number;  /* of the idiom: @ */
    const char *space, *who;
};

struct spin_idiom {
    const char *shared;  /* declarations, with their space: "$S" */
    const char *private; /* declarations */
    const char *body;
};

/* By W_LOCK_IDIOM_*, less the first. */
extern const struct spin_idiom spin_idioms[];

/* What the pattern stands for, at the end of the text. */
void spin_write(struct spin_writing *writing, const char *pattern);

/* The kernel behind its launch: declarations and the kernel itself. */
void spin_write_idioms(struct spin_writing *writing);
/* A tiny program: up to four accesses (enumerated), or six. */
void spin_write_tiny(struct spin_writing *writing, uint32_t length);

/* Without variables that are not used, and places in a text; if it may have flaws, one or two are drawn. */
void spin_finish(struct gen *g, struct ast_kernel *kernel, bool flaws);

/* The whole kernel, g->kernel; nothing else was drawn but the weights. */
void gen_spin_kernel(struct gen *g);

#endif
