/*
 * digest.h - one number for everything that a case shows.
 *
 * Two builds that give every case of a campaign the same digest have shown the same behaviour in it: the
 * same kernels, executions, stores, races, verdicts, counts and rules. Where digests part is the first
 * case that a changed rule was seen in, whether or not an oracle spoke.
 */
#ifndef FUZZ_DIGEST_H
#define FUZZ_DIGEST_H

#include "oracle/check/check.h"

/* A number for each kind of thing that a case shows, so that a difference can be told apart. */
struct digest_parts {
    uint64_t kernel;  /* its text */
    uint64_t runs;    /* executions: how they ended, stores, races, tapes */
    uint64_t answers; /* of oracles, with evidence; claims */
    uint64_t steps;
    uint64_t rules; /* how often each fired, by name */
};

struct digest_parts digest_parts(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct check_result *result);

/* The same on every machine. The arena is used as scratch. */
uint64_t digest_case(struct arena *arena, const struct ast_kernel *kernel,
                     const struct check_result *result);

#endif
