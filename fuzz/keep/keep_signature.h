/*
 * keep_signature.h - a reduction that keeps the signature of a divergence: what campaigns do with
 * their findings.
 */
#ifndef FUZZ_KEEP_SIGNATURE_H
#define FUZZ_KEEP_SIGNATURE_H

#include "fuzz/reduce/reduce.h"

/* A divergence with this signature (K2). The weaker one is its K1, the first two parts: too strict
 * a signature stops minimisation. Lives in the arena. */
const struct interest *keep_signature(struct arena *arena, const char *signature);

struct signature_result {
    struct reduce_result reduced;        /* its tests, runs and steps are those of all */
    bool relaxed;                        /* only K1 was kept */
    const struct divergence *divergence; /* of the smallest; NULL: it does not show it */
    const struct tape *
        tape; /* its schedule with the fewest context switches found; NULL: the sequential one shows
                                it */
};

/* reduce_kernel that keeps the signature - options->interest is not looked at -, then the shortest
 * schedule. */
void reduce_finding(struct arena *arena, const struct ast_kernel *kernel, const char *signature,
                    const struct reduce_options *options, struct signature_result *result);

#endif
