/*
 * harness_lockstep.c - libFuzzer: kernels in lock-step form, as text, or phi of what the bytes choose.
 */
#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"
#include "engine/program/program.h"
#include "fuzz/generate/generate.h"
#include "fuzz/harness/harness.h"

/* P, normalised and numbered. */
static struct ast_kernel *blocks_of(struct arena *arena, struct ast_kernel *kernel)
{
    static const struct lower_cfg_options options;
    const char *reason;
    if (kernel->form == FORM_STRUCTURED)
        kernel = lower_cfg(arena, lower_core(arena, kernel), &options, &reason);
    if (kernel)
        kernel = normalise(arena, kernel, NORMALISE_ALL, &reason);
    return kernel && program_compile(arena, kernel, &reason) ? kernel : NULL;
}

static struct ast_kernel *generate(struct arena *arena, struct source *choices)
{
    static const struct predicate_options options;
    const char *reason;
    struct gen_options gen = GEN_DEFAULTS;
    gen.features |= 1u << FEATURE_GRAPHS;
    gen.features &= ~(1u << FEATURE_CRS | 1u << FEATURE_KNOWN | 1u << FEATURE_DIRECTIONS);
    struct ast_kernel *P = blocks_of(arena, gen_kernel(arena, choices, &gen));
    return P ? lockstep_form(arena, P, &options, &reason) : NULL;
}

const struct harness_target harness_target = {
    .name = "lockstep", .form = FORM_LOCKSTEP, .generate = generate};
