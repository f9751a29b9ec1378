#include "fuzz/outside/valid.h"

#include "engine/emit/emit.h"
#include "engine/input/input.h"

#include <string.h>

enum {
    SCHEDULES = 8,
    BUDGET_STEPS = 1 << 19,
};

const subject_set outside_validators = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT) |
                                       SUBJECT_BIT(SUBJECT_CRS) | SUBJECT_BIT(SUBJECT_BLOCK);

/* Why the executions of one subject do not make the kernel valid; NULL: they do. */
static const char *judge_run(const struct check_run *run)
{
    if (run->reason)
        return run->reason;
    for (uint32_t status = 0; status < STATUS_COUNT; status++)
        if (status != STATUS_TERMINATED && run->statuses[status])
            return status_names[status];
    if (run->race)
        return "race";
    if (run->race_incomplete || run->race_unknown)
        return "races unknown";
    if (run->final_count != 1 || run->more_finals)
        return "several final stores";
    return NULL;
}

/* All subjects must have ended with the words of the first. */
static const char *compare_runs(const struct check_result *result, uint32_t words,
                                const int32_t **final)
{
    *final = NULL;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct check_run *run = &result->runs[s];
        if (!(outside_validators & SUBJECT_BIT(s)))
            continue;
        const char *why = judge_run(run);
        if (why)
            return why;
        if (*final && memcmp(*final, run->finals[0], words * sizeof **final) != 0)
            return "subjects differ";
        *final = run->finals[0];
    }
    return *final ? NULL : "no subject runs it";
}

const char *outside_validate(struct arena *arena, const struct ast_kernel *kernel, bool expose,
                             struct outside_expected *expected)
{
    struct check_options options = CHECK_DEFAULTS;
    struct check_result result;
    if (kernel->form != FORM_STRUCTURED)
        return "not structured";
    expected->kernel = expose ? emit_expose(arena, kernel) : ast_kernel_copy(arena, kernel);
    expected->as_it_is = !expose;
    options.subjects = outside_validators;
    options.oracles = 0;
    options.schedules = SCHEDULES;
    options.budget_steps = BUDGET_STEPS;
    /* Compiling writes marks: on a copy of its own, so that the emitter finds none. */
    check_kernel(arena, ast_kernel_copy(arena, expected->kernel), &options, &result);
    if (!result.program)
        return "refused";
    if (!program_atomics_commute(result.program))
        return "order of atomics shows";
    expected->words = result.program->private_base;
    return compare_runs(&result, expected->words, &expected->final);
}
