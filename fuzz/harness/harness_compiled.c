/*
 * harness_compiled.c - libFuzzer: compiled PTX, as text (what compilers make), or what the bytes choose,
 * compiled by lower_ptx: structured kernels and graphs of blocks.
 */
#include "engine/ptx/lower_ptx.h"
#include "fuzz/harness/harness.h"

static struct ast_kernel *generate(struct arena *arena, struct source *choices)
{
    struct gen_options gen = GEN_DEFAULTS;
    const char *reason;
    gen.features &= ~(1u << FEATURE_CRS | 1u << FEATURE_DIRECTIONS | 1u << FEATURE_CHOICES);
    return lower_ptx(arena, gen_kernel(arena, choices, &gen), &reason);
}

const struct harness_target harness_target = {
    .name = "compiled", .form = FORM_PTX, .compiled = true, .generate = generate};
