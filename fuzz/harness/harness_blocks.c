/*
 * harness_blocks.c - libFuzzer: bytes as the choices of the generator, kernels in block form.
 */
#include "fuzz/harness/harness_oracles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gen_options gen = GEN_DEFAULTS;
    gen.features |= 1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS | 1u << FEATURE_BARRIERS |
                    1u << FEATURE_ATOMICS | 1u << FEATURE_CHOICES;
    gen.blocks_only = true;
    return harness_ask(data, size, &gen);
}
