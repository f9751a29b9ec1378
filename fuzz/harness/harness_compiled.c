/*
 * harness_compiled.c - libFuzzer: compiled PTX, as text (what compilers make), or what the bytes choose:
 * programs with a known result, and structured kernels and graphs of blocks compiled by lower_ptx, the
 * former with the branch unit's instructions or, by way of blocks, without.
 */
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/to_ptx/lower_ptx.h"
#include "fuzz/generate/generate.h"
#include "fuzz/harness/harness.h"

static struct ast_kernel *generate(struct arena *arena, struct source *choices)
{
    struct gen_options gen = GEN_DEFAULTS;
    const char *reason;
    gen.features &= ~(1u << FEATURE_CRS | 1u << FEATURE_DIRECTIONS | 1u << FEATURE_CHOICES);
    struct ast_kernel *kernel = gen_kernel(arena, choices, &gen);
    if (kernel->form == FORM_PTX)
        return kernel;
    if (kernel->form == FORM_STRUCTURED && source_chance(choices, 50)) {
        static const struct lower_cfg_options options;
        kernel = lower_cfg(arena, lower_core(arena, kernel), &options, &reason);
    }
    return kernel ? lower_ptx(arena, kernel, &reason) : NULL;
}

const struct harness_target harness_target = {
    .name = "compiled", .form = FORM_PTX, .compiled = true, .generate = generate};
