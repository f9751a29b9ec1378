/*
 * matrix_sampled.c - rows that the search of all states leaves unknown: a sampled search may refute them.
 */
#include "engine/progress/fair_lasso.h"
#include "oracle/matrix/matrix_internal.h"

#include <inttypes.h>

/* Nothing is known; or there is a hang that was found without a witness, up to permutations of threads. */
static bool needs_witness(const struct matrix_row *row)
{
    return row->verdict == PROGRESS_UNKNOWN || (row->verdict >= PROGRESS_MAY_HANG && !row->loop);
}

void matrix_sample(struct arena *arena, struct machine *machine, const struct progress *progress,
                   struct matrix_row *const *rows, const char *const *cannot,
                   const struct matrix_options *options)
{
    const struct fair_units units = {progress->unit_of, progress->unit_count};
    const struct fair_options sampling = {
        .seed = options->seed, .budget_steps = options->sample_steps, .stop = options->stop};
    uint32_t models = 0;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        if (rows[m] && needs_witness(rows[m]))
            models |= 1u << m;
    if (models == 0 || options->sample_steps == 0)
        return;
    struct fair_result result = fair_lasso_search(arena, machine, &units, models, &sampling);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        const struct fair_answer *answer = &result.answers[m];
        if (!(models >> m & 1))
            continue;
        struct matrix_row *row = rows[m];
        if (!answer->found && row->verdict != PROGRESS_UNKNOWN)
            continue;
        if (!answer->found) {
            row->why = arena_printf(
                arena, "%s; %s%sno loop in %" PRIu64 " steps of sampled schedules", row->why,
                result.stopped ? result.stopped : "", result.stopped ? ": " : "", result.steps);
            continue;
        }
        row->sampled = row->verdict == PROGRESS_UNKNOWN;
        if (row->sampled)
            row->verdict = PROGRESS_MAY_HANG;
        if (row->sampled)
            row->why = arena_printf(arena, "sampled schedule %" PRIu64 " of seed 0x%" PRIx64 "; %s",
                                    answer->sample, options->seed, row->why);
        row->stem = answer->stem;
        row->loop = answer->loop;
        const struct matrix_loop loop = {machine, row->stem, row->loop, cannot[m]};
        row->sentence = matrix_explain(arena, &loop);
    }
}
