/*
 * interest.h - what a reduction keeps: whether a kernel is still interesting, as C-Reduce calls it.
 * The reducer asks and shrinks; who answers it does not know:
 *
 *     keep_signature.h  a divergence with this signature
 *     keep_seen.h       what subjects were seen to do: a race, a deadlock, a failed expectation
 *     keep_models.h     how it ends under execution models
 *     keep_test.h       what a command of the user's says
 *
 */
#ifndef FUZZ_INTEREST_H
#define FUZZ_INTEREST_H

#include "oracle/check/check.h"

/* One question. */
struct interest_question {
    struct arena *arena; /* for whatever the answer takes */
    const struct ast_kernel *kernel;
    const struct check_options *check; /* how subjects are to be run, where they are */
    uint64_t steps;                    /* of threads and warps that the answer took: the answer's */
};

struct interest {
    /* Whether the kernel is interesting. Several threads ask at once. */
    bool (*shown)(const struct interest *interest, struct interest_question *question);
    void *state;
    /* It asks as the question's `check` says. Less may then be asked (reduce_narrow), and first
     * these oracles alone; what was found so is asked again as it was given. */
    bool checks;
    uint32_t oracles;
    bool expects; /* it is about the expectations, too: otherwise these go at once */
    bool fixed;   /* it is about this kernel and no other: nothing is tried */
    const struct interest *weaker; /* kept instead where this shrinks nothing; or NULL */
};

#endif
