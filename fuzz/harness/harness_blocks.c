/*
 * harness_blocks.c - libFuzzer: kernels in block form, as text or as choices of the generator.
 */
#include "fuzz/generate/generate.h"
#include "fuzz/harness/harness.h"

static struct ast_kernel *generate(struct arena *arena, struct source *choices)
{
    struct gen_options gen = GEN_DEFAULTS;
    gen.features |= 1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS | 1u << FEATURE_BARRIERS |
                    1u << FEATURE_ATOMICS | 1u << FEATURE_CHOICES;
    gen.features &= ~(1u << FEATURE_CRS | 1u << FEATURE_KNOWN);
    gen.blocks_only = true;
    return gen_kernel(arena, choices, &gen);
}

const struct harness_target harness_target = {
    .name = "blocks", .form = FORM_BLOCKS, .generate = generate};
