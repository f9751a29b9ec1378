/*
 * reduce.h - structure-aware minimisation of a finding: kernel, launch, inputs, schedule; keeping its
 * signature.
 *
 * Deterministic: the result is a function of (kernel, options), whatever the number of jobs.
 */
#ifndef FUZZ_REDUCE_H
#define FUZZ_REDUCE_H

#include "oracle/check/check.h"

/* How far it is. */
struct reduce_progress {
    uint32_t tests, size; /* candidates tried, ast_kernel_size of the best so far */
    const char *pass;     /* its name */
};

struct reduce_options {
    struct check_options check; /* how a candidate is asked about */
    const char *signature;      /* K2 to keep; falls back to its K1 if K2 shrinks nothing */
    /* When not NULL: what a kernel must show, instead of the signature (no divergence is then looked
     * for in the result). */
    bool (*keeps)(struct arena *arena, const struct ast_kernel *kernel, void *context);
    void *context;
    uint32_t max_tests; /* candidates tried at most */
    uint64_t max_steps; /* of threads and warps, in all runs: begin no test beyond; 0 = no limit */
    uint32_t jobs;      /* threads that test candidates; 0 = 1 */
    /* When not NULL: asked before every test, by the calling thread. False: it is time to end, with the
     * best so far. Only then does a result depend on anything but the rest of the options. */
    bool (*go_on)(void *context, const struct reduce_progress *progress);
    void *go_on_context;
};

enum reduce_ending {
    REDUCE_MINIMAL, /* no pass finds anything more */
    REDUCE_TESTS,   /* max_tests or max_steps were spent */
    REDUCE_STOPPED, /* by go_on */
};

struct reduce_result {
    struct ast_kernel *kernel; /* the smallest found; never larger than the given one */
    bool reproduced;           /* the given kernel shows the signature (three times) */
    bool relaxed;              /* only K1 was kept */
    enum reduce_ending ending;
    uint32_t tests;                      /* candidates tried */
    uint32_t runs;                       /* of the case: for these, and to make sure */
    uint64_t steps;                      /* of threads and warps, in all of these */
    uint32_t size_before, size_after;    /* ast_kernel_size */
    const struct divergence *divergence; /* of the smallest */
    struct transform_list transforms; /* with which it shows it; empty: there is nothing to say */
    const struct tape *tape; /* its schedule with the fewest context switches found; NULL: the
                                sequential one shows it */
};

void reduce_kernel(struct arena *arena, const struct ast_kernel *kernel,
                   const struct reduce_options *options, struct reduce_result *result);

#endif
