/*
 * harness_crs.c - libFuzzer: raw programs of the branch unit, consistent and not, as text or as choices
 * of the generator.
 */
#include "fuzz/generate/generate.h"
#include "fuzz/harness/harness.h"

static struct ast_kernel *generate(struct arena *arena, struct source *choices)
{
    struct gen_options gen = GEN_DEFAULTS;
    gen.features = 1u << FEATURE_CRS | 1u << FEATURE_LOOSE;
    return gen_kernel(arena, choices, &gen);
}

const struct harness_target harness_target = {
    .name = "crs", .form = FORM_PTX, .raw = true, .generate = generate};
