/*
 * distill.h - a small corpus that shows what a campaign shows: every feature (oracle/coverage/coverage.h, without
 * its bucket) that a campaign's cases have under `simtfuzz check` is shown by some small kernel.
 *
 *   1. every case is checked, and for each feature the smallest kernel that shows it is remembered;
 *   2. a greedy cover: again and again the kernel with the most features, by its size, that are not
 *      covered yet; these are its own;
 *   3. each kernel is reduced as long as it shows its own features;
 *   4. it gets the claims that hold in all subjects, and is checked again from its text;
 *   5. a second cover leaves out kernels whose features others show by now.
 *
 * The result is a function of the options, whatever the number of jobs. A case with a divergence that is
 * not known is no regression test: it is left out.
 */
#ifndef FUZZ_DISTILL_H
#define FUZZ_DISTILL_H

#include "engine/base/arena.h"
#include "fuzz/gen/gen.h"
#include "oracle/coverage/coverage.h"

#include <signal.h>

enum distill_part { DISTILL_LOOKING, DISTILL_REDUCING };

struct distill_options {
    uint64_t seed, cases;
    uint32_t jobs;
    struct gen_options gen;
    uint32_t max_tests; /* candidates that the reduction of one kernel tries */
    /* NULL, or: not 0 ends the part that is at work: the cases that were looked at so far are all, kernels are
     * no longer made smaller. Then the result depends on the time. */
    const volatile sig_atomic_t *stop;
    /* NULL, or: a part begins; the first worker has done so many of it. */
    void (*part)(void *context, enum distill_part part);
    void (*tell)(void *context, enum distill_part part, uint64_t done, uint64_t all);
    void *context;
};

/* What a kernel shows. */
struct distill_features {
    uint32_t count;
    const uint32_t *counters; /* ascending */
};

struct distilled {
    uint64_t number;  /* of its case */
    const char *text; /* of the kernel with its claims */
    bool is_ptx;
    uint32_t size, size_before;       /* ast_kernel_size */
    struct distill_features features; /* that it covers */
};

struct distillation {
    uint32_t count;
    struct distilled *kernels; /* by number */
    uint32_t shown, covered;   /* features of the campaign's cases; of the kernels' own */
    uint64_t looked;           /* cases that were checked: all, unless stopped */
    uint64_t divergent;        /* cases left out */
};

void distill(struct arena *arena, const struct distill_options *options,
             struct distillation *distillation);

/* What one kernel shows. False: it diverges (and not as known), or a claim is not met, or it has none. */
struct ast_kernel;
bool distill_check(struct arena *arena, const struct ast_kernel *kernel, struct coverage *scratch,
                   struct distill_features *features);

#endif
