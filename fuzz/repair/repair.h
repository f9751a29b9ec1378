/*
 * repair.h - a racy kernel: which ends it has and how each comes about, and which single barrier would make it
 * race-free (docs/repair.md). Both are found by running, not by thinking about the text.
 */
#ifndef FUZZ_REPAIR_H
#define FUZZ_REPAIR_H

#include "oracle/check/check.h"

#include <stdio.h>

/* Each distinct end of the kernel under a semantics of single threads, shortest execution first, with its accesses of
 * shared memory in order, and those whose order decides. `bounds`: of the search. False: *why it cannot be searched. */
bool repair_outcomes(struct arena *arena, const struct ast_kernel *kernel,
                     const struct search_options *bounds, FILE *out, const char **why);

struct repair_sums {
    bool racy;        /* there is something to repair */
    bool fences;      /* fences were tried, too */
    uint32_t tried;   /* places */
    uint32_t repairs; /* that make it race-free and correct */
};

/* A barrier at each place of the kernel, one after the other, in PTX fences, too: what becomes of it. False: *why
 * not. */
bool repair_barrier(struct arena *arena, const struct ast_kernel *kernel,
                    const struct search_options *bounds, struct repair_sums *sums, FILE *out,
                    const char **why);

#endif
