/*
 * reduce.h - structure-aware minimisation of a kernel: statements, launch, inputs; as long as it
 * stays interesting (interest.h).
 *
 * Deterministic: the result is a function of (kernel, options), whatever the number of jobs.
 */
#ifndef FUZZ_REDUCE_H
#define FUZZ_REDUCE_H

#include "fuzz/reduce/interest.h"

/* How far it is. */
struct reduce_so_far {
    uint32_t tests, size; /* candidates tried, ast_kernel_size of the best so far */
    const char *pass;     /* its name */
    const struct ast_kernel *best;
    uint32_t accepted; /* edits that made it: another number, another kernel */
};

enum { REDUCE_JOBS_MAX = 16 };

struct reduce_options {
    struct check_options check;      /* how a candidate is asked about */
    const struct interest *interest; /* what it must show */
    uint32_t max_tests;              /* candidates tried at most */
    uint64_t max_steps; /* of threads and warps, in all runs: begin no test beyond; 0 = no limit */
    uint32_t jobs;      /* threads that test candidates, REDUCE_JOBS_MAX at most; 0 = 1 */
    /* When not NULL: asked before every test, by the calling thread. False: it is time to end, with
     * the best so far. Only then does a result depend on anything but the rest of the options. */
    bool (*go_on)(void *context, const struct reduce_so_far *so_far);
    void *go_on_context;
    /* There is little time: the kernel is asked about in the cheapest way first, and if it is
     * interesting so, with everything only in the end. */
    bool hurried;
    /* The kernel is a minimised one: that it shrinks no further is no reason to keep something weaker. */
    bool strict;
};

enum reduce_ending {
    REDUCE_MINIMAL, /* no pass finds anything more */
    REDUCE_TESTS,   /* max_tests or max_steps were spent */
    REDUCE_STOPPED, /* by go_on */
};

struct reduce_result {
    struct ast_kernel *kernel; /* the smallest found; never larger than the given one */
    bool reproduced; /* the given kernel is interesting (several times, if there was time) */
    const struct interest *kept; /* the given interest, or a weaker one */
    /* With which it shows it: of the oracles those that were needed, its transformations written
     * down. */
    struct check_options check;
    enum reduce_ending ending;
    uint32_t tests;                   /* candidates tried */
    uint32_t accepted;                /* edits that hold */
    uint32_t runs;                    /* of the case: for these, and to make sure */
    uint64_t steps;                   /* of threads and warps, in all of these */
    uint32_t size_before, size_after; /* ast_kernel_size */
};

void reduce_kernel(struct arena *arena, const struct ast_kernel *kernel,
                   const struct reduce_options *options, struct reduce_result *result);

/* Names a kernel's text: by these what was tried is known again. */
uint64_t reduce_text_hash(const char *text);

#endif
