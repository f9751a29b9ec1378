/*
 * beside.h - what some cases of a campaign have beside their kernel: a host program (docs/host.md), litmus tests
 * (docs/memory.md, Tests that are drawn). It is made of the same seed and number; what is wrong with it is a finding of
 * the oracle of its name, whose case and text are its own.
 */
#ifndef FUZZ_BESIDE_H
#define FUZZ_BESIDE_H

#include "fuzz/case/case.h"
#include "fuzz/case/example.h"

enum { BESIDE_TESTS = 16 }; /* litmus tests of a case that has some */

extern const char *const beside_names[BESIDE_COUNT];

/* Makes it and judges it; adds to *steps. The signature of what is wrong, or NULL. */
const char *beside_judge(enum beside what, struct arena *arena, const struct fuzz_case *c,
                         uint64_t *steps);

/* Whose signature it is; BESIDE_COUNT: a kernel's. */
enum beside beside_of(const char *signature);

/* Makes it and judges it once more, and makes it small with so many tests; 0: it is not. */
void beside_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                    const char *signature, uint32_t most, struct example *example);

#endif
