/*
 * random_blocks.h - P of generated kernels in block form, for the tests of the lemmas of lockstep-cfg App. B.
 */
#ifndef TESTS_UNIT_RANDOM_BLOCKS_H
#define TESTS_UNIT_RANDOM_BLOCKS_H

#include "tests/unit/shared/blocks.h"

#include "engine/forms/normalise.h"
#include "fuzz/generate/generate.h"

/* NULL: this number is a kernel in another form. */
static inline struct ast_kernel *random_blocks_kernel(uint64_t seed, uint32_t number)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features("all,-votes", &options.features, &error_at));
    options.blocks_only = true;
    struct ast_kernel *kernel = gen_case(&test_arena, seed, number, &options);
    return kernel->form == FORM_BLOCKS ? kernel : NULL;
}

/* Normalised, compiled, with the threads given (0: as generated). NULL: too large, or not well-formed. */
static inline const struct program *random_blocks_program(const struct ast_kernel *kernel,
                                                          uint32_t threads)
{
    const char *reason;
    struct location at;
    struct ast_kernel *P = normalise(&test_arena, kernel, NORMALISE_ALL, &reason);
    if (!P || well_formed(&test_arena, P, &reason, &at) == ILL_FORMED)
        return NULL;
    if (threads) {
        P->launch.threads = threads;
        P->launch.blocks = 1;
    }
    return P->launch.threads * P->launch.blocks <= 64 ? program_compile(&test_arena, P, &reason)
                                                      : NULL;
}

static inline const struct program *random_blocks_pi(const struct program *P, uint64_t order_seed)
{
    const struct predicate_options options = {.order_seed = order_seed};
    const char *reason = NULL;
    struct ast_kernel *pi = predicate(&test_arena, P->core, &options, &reason);
    if (!pi)
        fail_msg("%s", reason);
    return blocks_compile(pi);
}

#endif
