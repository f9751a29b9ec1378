/*
 * harness_crs.c - libFuzzer: bytes as the choices of the generator, raw programs of the branch unit,
 * consistent and not.
 */
#include "fuzz/harness/harness_oracles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gen_options gen = GEN_DEFAULTS;
    gen.features = 1u << FEATURE_CRS | 1u << FEATURE_LOOSE;
    return harness_ask(data, size, &gen);
}
