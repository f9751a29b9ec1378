#include "oracle/prove/guided.h"

#include "engine/pairs/tutorial.h"
#include "engine/subjects/forms.h"

#include <string.h>

enum { GUIDED_STEPS = 1 << 16 };

static const struct code_var *variable(const struct program *program, const char *name)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (strcmp(program->vars[i].ast->name, name) == 0)
            return &program->vars[i];
    return NULL;
}

/* Memory behind a barrier: as it is at first, but for what somebody writes. Other blocks are not read. */
static int32_t *store_of(struct arena *arena, const struct program *program,
                         const struct proof_interval *interval, uint32_t block)
{
    int32_t *memory = ARENA_ARRAY(arena, int32_t, program->memory_words);
    program_init_memory(program, memory);
    for (uint32_t i = 0; i < interval->var_count; i++) {
        const struct ast_var *var = interval->vars[i].var;
        const struct code_var *here = variable(program, var->name);
        uint32_t base = var->space == SPACE_SHARED
                            ? program->shared_base + block * program->words[SPACE_SHARED]
                            : 0;
        if (here)
            memcpy(memory + base + here->offset, interval->vars[i].values,
                   var->length * sizeof *memory);
    }
    return memory;
}

/* What goes wrong before what the model is about says nothing of it. */
static enum guided_end end_of(enum tutorial_verdict verdict, enum proof_goal goal)
{
    static const enum tutorial_verdict wanted[GOAL_COUNT] = {[GOAL_RACE] = TUTORIAL_RACE,
                                                             [GOAL_DIVERGENCE] =
                                                                 TUTORIAL_DIVERGENCE,
                                                             [GOAL_BOUNDS] = TUTORIAL_BOUNDS,
                                                             [GOAL_ASSERTS] = TUTORIAL_ASSERT};
    if (verdict == wanted[goal])
        return GUIDED_SHOWN;
    return verdict == TUTORIAL_CLEAN ? GUIDED_CLEAN : GUIDED_NOT;
}

enum guided_end guided_run(struct arena *arena, const struct ast_kernel *kernel,
                           const struct proof_model *model)
{
    const char *reason = NULL;
    if (!model->guided || !model->intervals)
        return GUIDED_NOT;
    const struct program *core = forms_get(forms_new(arena, kernel), PROGRAM_CORE)->program;
    if (!core || !tutorial_applies(arena, core, &reason))
        return GUIDED_NOT;
    const int32_t **stores = ARENA_ARRAY(arena, const int32_t *, model->interval_count + 1);
    for (uint32_t i = 0; i < model->interval_count; i++)
        stores[i] = store_of(arena, core, &model->intervals[i], model->bid[0]);
    const struct tutorial_options options = {.shared = TUTORIAL_BAR,
                                             .log = TUTORIAL_FULL,
                                             .order = TUTORIAL_ROUND_ROBIN,
                                             .budget_steps = GUIDED_STEPS,
                                             .stores = stores,
                                             .store_count = model->interval_count};
    uint32_t first = model->bid[0] * core->launch.threads;
    struct tutorial_result result =
        tutorial_run(arena, core, first + model->tid[0], first + model->tid[1], &options, NULL);
    return end_of(result.verdict, model->goal);
}
