#include "oracle/matrix_judge.h"

#include "oracle/implications.h"
#include "oracle/matrix.h"

/* Bounds of a case: milliseconds. */
static const struct matrix_options bounds = {.max_states = 1024,
                                             .max_bytes = (uint64_t)16 << 20,
                                             .steps_a_state = 16,
                                             .budget_steps = 2048,
                                             .sample_steps = 2048,
                                             .refute_steps = 2048};

/* Whose rows those of single threads are. */
static enum subject_id threads_of(const struct checking *c)
{
    return c->kernel->form == FORM_PTX          ? SUBJECT_BLOCK
           : c->kernel->form == FORM_STRUCTURED ? SUBJECT_THREADS
                                                : SUBJECT_INTERLEAVE;
}

static bool is_asked(const struct checking *c)
{
    return c->options->exhaustive && c->options->oracles >> ORACLE_LIVENESS & 1 &&
           explore_runs(c, threads_of(c));
}

void matrix_judge(struct checking *c, struct answer *answer)
{
    if (!is_asked(c))
        return;
    struct matrix_options options = bounds;
    options.seed = c->options->seed;
    const struct matrix matrix = matrix_of(c->forms, &options);
    if (matrix.broken)
        implications_report(c, answer, threads_of(c), "matrix", "implication", matrix.broken);
}
