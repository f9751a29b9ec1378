#include "fuzz/mutate/mutate.h"

#include "engine/input/input.h"
#include "fuzz/mutate/mutate_internal.h"

enum { TRIES = 6 };

const struct mutator_row mutator_table[MUTATOR_COUNT] = {
#define MUTATOR(id, name, forms, weight, sentence) {#name, forms, weight, sentence},
#include "fuzz/mutate/mutators.def"
};

static mutate_function *const functions[MUTATOR_COUNT] = {
#define MUTATOR(id, name, forms, weight, sentence) mutate_##name,
#include "fuzz/mutate/mutators.def"
};

/* Whether the graphs are as good as they were: nobody runs an irreducible one. */
static bool keeps_graph(struct mutation *m, const struct ast_kernel *before)
{
    return before->form == FORM_STRUCTURED || edit_is_reducible(m->arena, m->kernel) ||
           !edit_is_reducible(m->arena, before);
}

static bool keeps_size(const struct ast_kernel *before, const struct ast_kernel *after)
{
    uint32_t size = ast_kernel_size(after);
    return size <= MUTATE_SIZE_MAX || size <= ast_kernel_size(before);
}

static bool mutate_tree(struct arena *arena, struct ast_kernel *kernel, enum mutator_id mutator,
                        struct source *choices, const struct ast_kernel *donor)
{
    struct mutation m = {.arena = arena, .choices = choices};
    m.kernel = ast_kernel_copy(arena, kernel);
    m.kernel->expects = NULL;
    m.donor = ast_kernel_copy(arena, donor && donor->form != FORM_PTX ? donor : kernel);
    edit_normalise(arena, m.kernel);
    edit_normalise(arena, m.donor);
    mutate_mark_counters(m.kernel);
    mutate_mark_counters(m.donor);
    if (!functions[mutator](&m))
        return false;
    mutate_repair(arena, m.kernel);
    if (kernel->form != FORM_STRUCTURED)
        edit_drop_unreachable(m.kernel);
    if (!keeps_size(kernel, m.kernel) || !ast_check(m.kernel, NULL) || !keeps_graph(&m, kernel))
        return false;
    *kernel = *m.kernel;
    return true;
}

/* The kernel and the donor are read from their texts, so that their trees are nobody else's; so is the
 * result, which shows whether it is PTX. */
static bool mutate_module(struct arena *arena, struct ast_kernel *kernel, enum mutator_id mutator,
                          struct source *choices, const struct ast_kernel *donor)
{
    struct mutation m = {.arena = arena, .choices = choices};
    bool has_donor = donor && donor->form == FORM_PTX;
    m.kernel = edit_reread(arena, kernel);
    m.donor = m.kernel ? edit_reread(arena, has_donor ? donor : kernel) : NULL;
    if (!m.donor || !functions[mutator](&m))
        return false;
    m.kernel->expects = NULL;
    mutate_drop_spans(&m);
    struct ast_kernel *again = edit_reread(arena, m.kernel);
    if (!again || !keeps_size(kernel, again))
        return false;
    *kernel = *again;
    return true;
}

bool mutate_kernel_by(struct arena *arena, struct ast_kernel *kernel, enum mutator_id mutator,
                      struct source *choices, const struct ast_kernel *donor)
{
    if (!(mutator_table[mutator].forms >> kernel->form & 1))
        return false;
    return kernel->form == FORM_PTX ? mutate_module(arena, kernel, mutator, choices, donor)
                                    : mutate_tree(arena, kernel, mutator, choices, donor);
}

bool mutate_kernel(struct arena *arena, struct ast_kernel *kernel, struct source *choices,
                   const struct ast_kernel *donor)
{
    uint16_t weights[MUTATOR_COUNT];
    uint32_t total = 0;
    for (uint32_t i = 0; i < MUTATOR_COUNT; i++) {
        weights[i] = mutator_table[i].forms >> kernel->form & 1 ? mutator_table[i].weight : 0;
        total += weights[i];
    }
    for (uint32_t i = 0; total > 0 && i < TRIES; i++) {
        uint32_t mutator = source_weighted(choices, weights, MUTATOR_COUNT);
        if (mutate_kernel_by(arena, kernel, (enum mutator_id)mutator, choices, donor))
            return true;
    }
    return false;
}
