/*
 * harness_structured.c - libFuzzer: bytes as the choices of the generator, structured kernels.
 */
#include "fuzz/harness/harness_oracles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gen_options gen = GEN_DEFAULTS;
    gen.features &= ~(1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS);
    return harness_ask(data, size, &gen);
}
