/*
 * claims.h - what a kernel's file says of its proofs: `expect prove: race_free`, `expect prove:any: race A`.
 */
#ifndef FUZZ_PROVE_CLAIMS_H
#define FUZZ_PROVE_CLAIMS_H

#include "oracle/prove/judge.h"

struct prove_claims {
    uint32_t count;  /* about such a launch */
    const char *why; /* the first that is not met; NULL: all are */
};

/* `any`: the proof is for any number of threads. */
struct prove_claims prove_claims_judge(struct arena *arena, const struct ast_kernel *kernel,
                                       const struct prove_outcome *outcome, bool any);

#endif
