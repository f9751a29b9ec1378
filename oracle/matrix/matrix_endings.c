/*
 * matrix_endings.c - rows in words: the verdict, and how executions end that do.
 */
#include "oracle/matrix/matrix.h"

const char *matrix_verdict(const struct matrix_row *row)
{
    return row->almost_surely && row->verdict == PROGRESS_ENDS
               ? "ends with probability 1"
               : progress_verdict_names[row->verdict];
}

enum matrix_ending matrix_ending_of(const struct matrix_row *row)
{
    switch (row->verdict) {
    case PROGRESS_UNKNOWN:
        return ENDING_UNKNOWN;
    case PROGRESS_ENDS:
        return ENDING_ENDS;
    case PROGRESS_MAY_HANG:
        return row->has_strong && row->strong ? ENDING_ENDS_STRONGLY : ENDING_MAY_HANG;
    case PROGRESS_HANGS:
        return ENDING_HANGS;
    }
    return ENDING_UNKNOWN;
}

/* "deadlock", "deadlock or out_of_bounds". */
static const char *errors_of(struct arena *arena, uint32_t statuses)
{
    const char *text = "";
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (s != STATUS_TERMINATED && statuses >> s & 1)
            text = arena_printf(arena, "%s%s%s", text, *text ? " or " : "", status_names[s]);
    return text;
}

/* Behind the verdict; who ends as programs should is not spoken of. */
static const char *ending_of(struct arena *arena, const struct matrix_row *row)
{
    const uint32_t good = 1u << STATUS_TERMINATED;
    const char *errors = errors_of(arena, row->ends_in);
    if (row->verdict == PROGRESS_UNKNOWN || row->verdict == PROGRESS_HANGS || !*errors)
        return "";
    if (row->ends_in & good || !row->ends_in_all)
        return arena_printf(arena, ", some in %s", errors);
    return row->verdict == PROGRESS_ENDS ? arena_printf(arena, ": %s", errors)
                                         : arena_printf(arena, ", or ends in %s", errors);
}

const char *matrix_verdict_text(struct arena *arena, const struct matrix_row *row)
{
    bool strongly = row->has_strong && row->strong && row->verdict != PROGRESS_ENDS;
    return arena_printf(arena, "%s%s%s%s", matrix_verdict(row), ending_of(arena, row),
                        strongly ? ", ends if strongly fair" : "",
                        row->sampled ? " (sampled)" : "");
}
