/*
 * matrix_classes.c - how the verdicts of a termination matrix differ.
 */
#include "oracle/matrix/matrix.h"

#include <string.h>

const struct matrix_class_info matrix_class_table[MATRIX_CLASS_COUNT] = {
#define X(id, name, sentence) [MATRIX_CLASS_##id] = {name, sentence},
    MATRIX_CLASSES(X)
#undef X
};

static bool is_progress_model(const struct matrix_row *row)
{
    for (int i = 0; i < PROGRESS_MODEL_COUNT; i++)
        if (strcmp(row->model, progress_table[i].name) == 0)
            return true;
    return false;
}

static bool ends_if_fair(const struct matrix *matrix)
{
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        if (row->unit == MATRIX_THREADS && row->verdict == PROGRESS_ENDS &&
            strcmp(row->model, progress_table[PROGRESS_FAIR].name) == 0)
            return true;
    }
    return false;
}

bool matrix_is_policy(const struct matrix_row *row)
{
    return strncmp(row->model, "stackless:", 10) == 0;
}

unsigned matrix_classes(const struct matrix *matrix)
{
    unsigned classes = 0;
    bool fair = ends_if_fair(matrix), ends[MATRIX_UNITS] = {0}, hangs[MATRIX_UNITS] = {0};
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        bool hang = row->verdict == PROGRESS_MAY_HANG || row->verdict == PROGRESS_HANGS;
        if (is_progress_model(row)) {
            ends[row->unit] |= row->verdict == PROGRESS_ENDS;
            hangs[row->unit] |= hang;
        } else if (hang && fair) {
            classes |= matrix_is_policy(row) ? 1u << MATRIX_CLASS_POLICY_UNFAIR
                                             : 1u << MATRIX_CLASS_STACK_UNFAIR;
        }
    }
    for (int u = 0; u < MATRIX_UNITS; u++)
        if (ends[u] && hangs[u])
            classes |= 1u << MATRIX_CLASS_MODEL_DEPENDENT;
    return classes;
}
