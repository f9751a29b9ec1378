#include "oracle/prove/replay.h"

#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/check/evidence.h"

#include <string.h>

/* Where values are made up that no initialiser sets (havoc, a thread's own input), other seeds may have them. */
enum {
    REPLAY_SEEDS = 12,
    REPLAY_SCHEDULES = 8,
    REPLAY_STEPS = 1 << 16,
    REPLAY_PTX_STEPS = 1 << 22
};

static struct ast_var *variable(const struct ast_kernel *kernel, const char *name)
{
    for (struct ast_var *v = kernel->vars; v; v = v->next)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

/* The contents of the argument's buffer. */
static void fill(struct arena *arena, struct ptx_kernel *ptx, const struct proof_input *input)
{
    for (uint32_t i = 0; i < ptx->argument_count; i++) {
        struct ptx_bind *bind = &ptx->arguments[i].bind;
        const struct ast_var *buffer = ptx->arguments[i].buffer;
        if (!buffer || strcmp(buffer->name, input->var->name) != 0)
            continue;
        bind->fill = PTX_FILL_FILE;
        bind->path = arena_printf(arena, "%s.bin", ptx->arguments[i].parameter->name);
        bind->data = (const uint8_t *)input->values;
        bind->data_bytes = bind->bytes;
    }
}

static struct ast_kernel *with_inputs(struct arena *arena, const struct ast_kernel *given,
                                      const struct proof_model *model)
{
    struct ast_kernel *kernel = ast_kernel_copy(arena, given);
    for (uint32_t i = 0; kernel->ptx && i < model->input_count; i++)
        fill(arena, kernel->ptx, &model->inputs[i]);
    for (uint32_t i = 0; !kernel->ptx && i < model->input_count; i++) {
        struct ast_var *var = variable(kernel, model->inputs[i].var->name);
        if (!var || !var->is_input || var->length != model->inputs[i].var->length)
            continue;
        var->is_input = false;
        var->init_count = var->length;
        var->init = model->inputs[i].values;
    }
    kernel->launch.threads = model->threads;
    kernel->expects = NULL;
    return kernel;
}

static bool ended_so(const struct check_run *run, enum proof_goal goal)
{
    switch (goal) {
    case GOAL_RACE:
        return run->race;
    case GOAL_DIVERGENCE:
        return run->statuses[STATUS_BARRIER_DIVERGENCE] > 0 ||
               (run->subject == SUBJECT_BLOCK && run->statuses[STATUS_DEADLOCK] > 0);
    case GOAL_BOUNDS:
        return run->statuses[STATUS_OUT_OF_BOUNDS] > 0;
    case GOAL_ASSERTS:
        return run->statuses[STATUS_ASSERT_FAILS] > 0;
    case GOAL_COUNT:
        break;
    }
    return false;
}

static const char *sentence(struct arena *arena, const struct check_run *run, enum proof_goal goal)
{
    const char *subject = subject_table[run->subject].name;
    if (goal != GOAL_RACE)
        return arena_printf(arena, "%s: %s", subject, run->error ? run->error : "it ended so");
    return arena_printf(arena, "%s: %s", subject,
                        evidence_race_sentence(arena, run->program, &run->witness));
}

static const enum subject_id proof_subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE,
                                                 SUBJECT_BLOCK};
enum { PROOF_SUBJECTS = sizeof proof_subjects / sizeof proof_subjects[0] };

const struct check_run *proof_executions(struct arena *arena, const struct ast_kernel *kernel,
                                         uint32_t schedules)
{
    struct check_options options = CHECK_DEFAULTS;
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    options.subjects = kernel->ptx ? SUBJECT_BIT(SUBJECT_BLOCK)
                                   : SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_INTERLEAVE);
    options.oracles = 0;
    options.schedules = schedules;
    options.budget_steps = kernel->ptx ? REPLAY_PTX_STEPS : REPLAY_STEPS;
    check_kernel(arena, kernel, &options, result);
    return result->runs;
}

const char *proof_shown(struct arena *arena, const struct check_run *runs, enum proof_goal goal)
{
    for (uint32_t i = 0; i < PROOF_SUBJECTS; i++)
        if (ended_so(&runs[proof_subjects[i]], goal))
            return sentence(arena, &runs[proof_subjects[i]], goal);
    return NULL;
}

/* Other threads of a proof go on where one dies, or where some wait at a barrier that others never reach; the execution
 * ends. */
static bool is_cut(const struct check_run *runs)
{
    static const enum status ends[] = {STATUS_OUT_OF_BOUNDS, STATUS_ASSERT_FAILS, STATUS_INFEASIBLE,
                                       STATUS_BARRIER_DIVERGENCE};
    for (uint32_t i = 0; i < PROOF_SUBJECTS; i++)
        for (size_t n = 0; n < sizeof ends / sizeof ends[0]; n++)
            if (runs[proof_subjects[i]].statuses[ends[n]] > 0)
                return true;
    return false;
}

struct proof_replay proof_replay(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct proof_model *model, bool file_inputs)
{
    struct proof_replay replay = {0};
    struct ast_kernel *made = with_inputs(arena, kernel, model);
    bool seeds = (model->guess_count > 0 || model->private_inputs) && !file_inputs;
    uint64_t first = made->launch.seed;
    for (uint64_t seed = 0; seed < (seeds ? REPLAY_SEEDS : 1) && !replay.shown; seed++) {
        size_t mark = arena_mark(arena);
        made->launch.seed = first + seed;
        const struct check_run *runs = proof_executions(arena, made, REPLAY_SCHEDULES);
        replay.how = proof_shown(arena, runs, model->goal);
        replay.shown = replay.how != NULL;
        replay.cut |= is_cut(runs);
        if (!replay.shown)
            arena_release(arena, mark);
    }
    replay.kernel = made;
    return replay;
}
