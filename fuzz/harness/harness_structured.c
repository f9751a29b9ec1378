/*
 * harness_structured.c - libFuzzer: structured kernels, as text or as choices of the generator.
 */
#include "fuzz/generate/generate.h"
#include "fuzz/harness/harness.h"

static struct ast_kernel *generate(struct arena *arena, struct source *choices)
{
    struct gen_options gen = GEN_DEFAULTS;
    gen.features &= ~(1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS | 1u << FEATURE_CRS |
                      1u << FEATURE_KNOWN);
    return gen_kernel(arena, choices, &gen);
}

const struct harness_target harness_target = {
    .name = "structured", .form = FORM_STRUCTURED, .generate = generate};
