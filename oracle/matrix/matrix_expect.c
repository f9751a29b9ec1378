#include "oracle/matrix/matrix_expect.h"

#include <string.h>

struct matrix_options matrix_expected(const struct ast_kernel *kernel)
{
    return (struct matrix_options){.max_states = kernel->progress_states ? kernel->progress_states
                                                                         : MATRIX_EXPECTED_STATES,
                                   .max_bytes = (uint64_t)1 << 30,
                                   .steps_a_state = 32,
                                   .budget_steps = 1 << 14};
}

/* ---- what is stated, against what is ---- */

static bool is_about(const struct ast_progress *claim, const struct matrix_row *row)
{
    return (claim->unit == MATRIX_UNITS || claim->unit == row->unit) &&
           (!claim->model || strcmp(claim->model, row->model) == 0);
}

static int weight(const struct ast_progress *claim)
{
    return claim->model ? 2 : claim->unit != MATRIX_UNITS;
}

/* The claim about the row that says most of it; NULL: there is none. */
static const struct ast_progress *claim_of(const struct ast_progress *list,
                                           const struct matrix_row *row)
{
    const struct ast_progress *found = NULL;
    for (; list; list = list->next)
        if (is_about(list, row) && (!found || weight(list) > weight(found)))
            found = list;
    return found;
}

static bool same_bounds(const struct matrix_options *a, const struct matrix_options *b)
{
    return a->max_states == b->max_states && a->max_bytes == b->max_bytes &&
           a->budget_steps == b->budget_steps && a->steps_a_state == b->steps_a_state &&
           a->sample_steps == b->sample_steps;
}

static const char *row_name(struct arena *arena, enum matrix_unit unit, const char *model)
{
    return arena_printf(arena, "%s %s", matrix_unit_names[unit], model);
}

static bool has_row(const struct matrix *matrix, const struct ast_progress *claim)
{
    for (uint32_t i = 0; i < matrix->count; i++)
        if (is_about(claim, &matrix->rows[i]))
            return true;
    return false;
}

struct matrix_differences matrix_compare(struct arena *arena, const struct ast_kernel *kernel,
                                         const struct matrix *matrix,
                                         const struct matrix_options *within)
{
    const struct ast_progress *stated = kernel->progress;
    const struct matrix_options expected = matrix_expected(kernel);
    bool exact = same_bounds(within, &expected);
    uint32_t most = matrix->count;
    for (const struct ast_progress *claim = stated; claim; claim = claim->next)
        most++;
    struct matrix_differences all = {.items = ARENA_ARRAY(arena, struct matrix_difference, most)};
    for (uint32_t i = 0; i < matrix->count && stated; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        const struct ast_progress *claim = claim_of(stated, row);
        enum matrix_ending seen = matrix_ending_of(row);
        bool unknown = seen == ENDING_UNKNOWN || (claim && claim->ending == ENDING_UNKNOWN) ||
                       (row->sampled && claim && claim->ending != ENDING_ENDS);
        if ((claim && claim->ending == seen) || (unknown && !exact))
            continue;
        all.items[all.count++] =
            (struct matrix_difference){.line = claim ? claim->at.line : stated->at.line,
                                       .row = row_name(arena, row->unit, row->model),
                                       .said = claim ? matrix_ending_names[claim->ending] : NULL,
                                       .seen = matrix_ending_names[seen]};
    }
    for (const struct ast_progress *claim = stated; claim; claim = claim->next)
        if (claim->unit != MATRIX_UNITS && !has_row(matrix, claim))
            all.items[all.count++] = (struct matrix_difference){
                .line = claim->at.line,
                .row = row_name(arena, claim->unit, claim->model ? claim->model : "*"),
                .said = matrix_ending_names[claim->ending]};
    return all;
}

const char *matrix_difference_text(struct arena *arena, const struct matrix_difference *d)
{
    if (!d->seen)
        return arena_printf(arena, "expect progress: %s %s, but the matrix has no such row",
                            d->said, d->row);
    if (!d->said)
        return arena_printf(arena, "expect progress says nothing about %s, which is: %s", d->row,
                            d->seen);
    return arena_printf(arena, "expect progress: %s %s, but it is: %s", d->said, d->row, d->seen);
}

/* ---- what is, to be stated ---- */

/* The most frequent verdict of the unit's rows (MATRIX_UNITS: of all), of equals the first; how often. */
static enum matrix_ending most_frequent(const struct matrix *matrix, enum matrix_unit unit)
{
    uint32_t counts[ENDING_COUNT] = {0};
    enum matrix_ending most = ENDING_ENDS;
    for (uint32_t i = 0; i < matrix->count; i++)
        if (unit == MATRIX_UNITS || matrix->rows[i].unit == unit)
            counts[matrix_ending_of(&matrix->rows[i])]++;
    for (int e = 0; e < ENDING_COUNT; e++)
        if (counts[e] > counts[most])
            most = (enum matrix_ending)e;
    return most;
}

static uint32_t count_others(const struct matrix *matrix, enum matrix_unit unit,
                             enum matrix_ending ending)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < matrix->count; i++)
        count += matrix->rows[i].unit == unit && matrix_ending_of(&matrix->rows[i]) != ending;
    return count;
}

struct stating {
    struct arena *arena;
    struct ast_progress *first, **end;
};

static void state(struct stating *s, enum matrix_ending ending, enum matrix_unit unit,
                  const char *model)
{
    *s->end = ARENA_NEW(s->arena, struct ast_progress);
    **s->end = (struct ast_progress){.ending = ending, .unit = unit, .model = model};
    s->end = &(*s->end)->next;
}

/* The rows of one verdict, by unit, `*` first; of_unit: what `UNIT *` says, or else `*`. */
static void state_rows(struct stating *s, const struct matrix *matrix, enum matrix_ending ending,
                       enum matrix_ending all, const enum matrix_ending *of_unit)
{
    if (ending == all)
        state(s, ending, MATRIX_UNITS, NULL);
    for (int u = 0; u < MATRIX_UNITS; u++) {
        enum matrix_unit unit = (enum matrix_unit)u;
        if (of_unit[u] == ending && ending != all)
            state(s, ending, unit, NULL);
        for (uint32_t r = 0; r < matrix->count && of_unit[u] != ending; r++)
            if (matrix->rows[r].unit == unit && matrix_ending_of(&matrix->rows[r]) == ending)
                state(s, ending, unit, matrix->rows[r].model);
    }
}

struct ast_progress *matrix_state(struct arena *arena, const struct matrix *matrix)
{
    static const enum matrix_ending order[] = {ENDING_HANGS, ENDING_MAY_HANG, ENDING_ENDS_STRONGLY,
                                               ENDING_UNKNOWN, ENDING_ENDS};
    struct stating s = {.arena = arena, .end = &s.first};
    enum matrix_ending all = most_frequent(matrix, MATRIX_UNITS), of_unit[MATRIX_UNITS];
    if (matrix->count == 0)
        return NULL;
    for (int u = 0; u < MATRIX_UNITS; u++) {
        enum matrix_unit unit = (enum matrix_unit)u;
        enum matrix_ending own = most_frequent(matrix, unit);
        bool shorter = count_others(matrix, unit, own) + 1 < count_others(matrix, unit, all);
        of_unit[u] = shorter ? own : all;
    }
    for (uint32_t i = 0; i < ENDING_COUNT; i++)
        if (order[i] != all)
            state_rows(&s, matrix, order[i], all, of_unit);
    state_rows(&s, matrix, all, all, of_unit);
    return s.first;
}
