/*
 * harness_oracles.h - what the harnesses of the generator share.
 */
#ifndef FUZZ_HARNESS_ORACLES_H
#define FUZZ_HARNESS_ORACLES_H

#include "fuzz/gen/gen.h"

#include <stddef.h>

/* Makes the kernel that the bytes choose and asks all oracles about it; aborts at a divergence. */
int harness_ask(const uint8_t *data, size_t size, const struct gen_options *gen);

#endif
