/*
 * metamorphic.h - the oracle `metamorphic`: the kernel transformed (engine/transform) against the kernel as
 * it was explored.
 *
 * A kernel is clean when an execution terminates without a race; all do then, with one store (result.h).
 * A transformation keeps that, both ways, and the store (transform.h). So one execution of T(K) is held
 * against all that is known of K: where K is clean it must be so, with K's store; where an execution of K has a
 * race, a failed assertion, a divergent barrier or an index out of bounds, it must not be clean.
 */
#ifndef ORACLE_METAMORPHIC_H
#define ORACLE_METAMORPHIC_H

#include "oracle/check/explore.h"

enum {
    METAMORPHIC_SHARE = 4,    /* one case in so many, .. */
    METAMORPHIC_ALWAYS = 2,   /* .. and in one that always asks, or nothing else, so many times; */
    METAMORPHIC_LISTS = 4,    /* a check without a seed */
    METAMORPHIC_SUBJECTS = 2, /* that a seed draws; without: all */
};

/* Classes "clean" (one is, the other is not), "store", "status" (K is clean and T(K) ends otherwise). */
void metamorphic_judge(struct checking *checking);
/* The kernel transformed, if the options have a list. */
struct ast_kernel *metamorphic_besides(struct arena *arena, const struct ast_kernel *kernel,
                                       const struct check_options *options);

#endif
