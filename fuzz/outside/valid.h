/*
 * valid.h - which kernels may be given to an outside implementation, and what must come out.
 *
 * A kernel is valid if every execution that we tried, under several of our semantics, ended, without a race, with one
 * and the same memory; and if the order of its atomics shows nowhere. Then (oracle/results/result.h) every execution
 * ends with that memory, so an implementation that leaves another one is wrong.
 */
#ifndef FUZZ_OUTSIDE_VALID_H
#define FUZZ_OUTSIDE_VALID_H

#include "engine/language/ast.h"
#include "oracle/check/check.h"

struct outside_expected {
    struct ast_kernel
        *kernel; /* exposed (engine/emit/emit.h), or as it is: this is what is emitted */
    bool as_it_is;
    const int32_t *final; /* global memory, then each block's shared memory */
    uint32_t words;
};

/* The semantics that must agree. */
extern const subject_set outside_validators;

/* NULL: the kernel is valid, and *expected is what must come out. Otherwise why not, in a few words that are the same
 * for the same cause. */
const char *outside_validate(struct arena *arena, const struct ast_kernel *kernel, bool expose,
                             struct outside_expected *expected);

#endif
