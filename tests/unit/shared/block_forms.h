/*
 * block_forms.h - a structured kernel's block form and lock-step form, for tests.
 */
#ifndef TESTS_UNIT_BLOCK_FORMS_H
#define TESTS_UNIT_BLOCK_FORMS_H

#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"
#include "tests/unit/shared/support.h"

struct block_forms {
    const struct program *blocks;   /* P */
    const struct program *lockstep; /* phi(P) */
};

static inline const struct program *block_forms_compile(const struct ast_kernel *kernel,
                                                        const char *reason)
{
    const struct program *program = kernel ? program_compile(&test_arena, kernel, &reason) : NULL;
    if (!program)
        fail_msg("%s", reason);
    return program;
}

static inline struct block_forms block_forms(const struct program *core, uint64_t order_seed)
{
    const char *reason = "";
    const struct predicate_options sorted = {.order_seed = order_seed};
    struct block_forms forms;
    struct ast_kernel *blocks =
        lower_cfg(&test_arena, core->core, &(struct lower_cfg_options){0}, &reason);
    struct ast_kernel *normal =
        blocks ? normalise(&test_arena, blocks, NORMALISE_ALL, &reason) : NULL;
    forms.blocks = block_forms_compile(normal, reason);
    struct ast_kernel *phi = lockstep_form(&test_arena, normal, &sorted, &reason);
    forms.lockstep = block_forms_compile(phi, reason);
    return forms;
}

#endif
