/*
 * matrix_laws.c - what must hold among the rows of a termination matrix (docs/progress.md, What must hold): whoever
 * breaks it is a fault of simtfuzz, or of its theory.
 */
#include "engine/schedule/sched.h"
#include "oracle/lemma6/own_loops.h"
#include "oracle/matrix/matrix_internal.h"

struct judging {
    struct arena *arena;
    struct forms *forms;
    const struct matrix *matrix;
    const char *broken;
};

static bool hangs(const struct matrix_row *row)
{
    return row && row->verdict >= PROGRESS_MAY_HANG;
}

static bool ends(const struct matrix_row *row)
{
    return row && row->verdict == PROGRESS_ENDS;
}

static void check_models(struct judging *j, enum matrix_unit unit)
{
    for (uint32_t i = 0; i < PROGRESS_INCLUSIONS; i++) {
        const char *less = progress_table[progress_inclusions[i][0]].name;
        const char *more = progress_table[progress_inclusions[i][1]].name;
        if (ends(matrix_find(j->matrix, less, unit)) && hangs(matrix_find(j->matrix, more, unit)))
            j->broken =
                arena_printf(j->arena, "%s ends under %s, but not under %s, which lets more run",
                             matrix_unit_names[unit], less, more);
    }
}

/* One ends, the other does not. */
static void check_same(struct judging *j, const struct matrix_row *a, const struct matrix_row *b)
{
    if ((ends(a) && hangs(b)) || (hangs(a) && ends(b)))
        j->broken = arena_printf(
            j->arena, "%s and %s disagree, though every thread's loops are its own business",
            a->model, b->model);
}

static void check_own_loops(struct judging *j, const struct matrix_row *fair)
{
    const struct matrix_row *first = matrix_find(j->matrix, "simt", MATRIX_WARPS);
    const struct matrix_row *second = matrix_find(j->matrix, "simt:then-first", MATRIX_WARPS);
    if (!own_loops(j->forms->given) || own_loops_errors(j->forms->given))
        return;
    check_same(j, first, second);
    check_same(j, first, fair);
}

/* A barrier of PTX counts warps, and lets pass what ends in barrier_divergence elsewhere (docs/oracles.md). */
static bool other_barriers(struct judging *j, const struct matrix_row *row)
{
    enum subject_id threads = matrix_thread_subject(j->forms->given->form);
    const struct form *form = forms_get(j->forms, subject_table[threads].program);
    return row->subject == SUBJECT_CRS && form->program && form->program->form != FORM_PTX &&
           matrix_has_barriers(form->program);
}

/* Who takes every chance that comes again and again is weakly fair, too: where every weakly fair execution ends every
 * strongly fair one does. */
static void check_strong(struct judging *j)
{
    for (uint32_t i = 0; i < j->matrix->count; i++) {
        const struct matrix_row *row = &j->matrix->rows[i];
        if (ends(row) && row->has_strong && !row->strong)
            j->broken =
                arena_printf(j->arena, "%s end under %s if weakly fair, but not if strongly",
                             matrix_unit_names[row->unit], row->model);
    }
}

/* Where fair executions of single threads end. */
static void check_policies(struct judging *j, const struct matrix_row *fair)
{
    for (uint32_t i = 0; i < STACKLESS_FAIR; i++) {
        const struct sched_spec policy = {.kind = SCHED_STACKLESS,
                                          .stackless = {.policy = stackless_fair[i]}};
        const char *name = sched_name(j->arena, &policy);
        if (ends(fair) && hangs(matrix_find(j->matrix, name, MATRIX_WARPS)))
            j->broken = arena_printf(j->arena, "%s hangs, but every fair interleaving ends", name);
    }
}

const char *matrix_broken(struct arena *arena, struct forms *forms, const struct matrix *matrix)
{
    struct judging judging = {.arena = arena, .forms = forms, .matrix = matrix}, *j = &judging;
    const struct matrix_row *unfair = matrix_find(j->matrix, "unfair", MATRIX_THREADS);
    const struct matrix_row *fair = matrix_find(j->matrix, "fair", MATRIX_THREADS);
    check_models(j, MATRIX_THREADS);
    check_models(j, MATRIX_WARPS);
    check_models(j, MATRIX_BLOCKS);
    if (j->matrix->lemma6 && j->matrix->lemma6->broken)
        j->broken = j->matrix->lemma6->broken;
    for (uint32_t i = 0; i < j->matrix->count; i++) {
        const struct matrix_row *row = &j->matrix->rows[i];
        if (hangs(row) && matrix_lemma6_ends(j->arena, j->matrix->lemma6, row->subject))
            j->broken = arena_printf(j->arena, "%s hangs, but ends by Lemma 6", row->model);
    }
    for (uint32_t i = 0; i < j->matrix->count; i++) {
        const struct matrix_row *row = &j->matrix->rows[i];
        if (row->unit != MATRIX_THREADS && hangs(row) && ends(unfair) && !other_barriers(j, row))
            j->broken = arena_printf(j->arena, "%s hangs, but every interleaving of threads ends",
                                     row->model);
    }
    check_own_loops(j, fair);
    check_policies(j, fair);
    check_strong(j);
    return j->broken;
}
