#include "fuzz/keep/keep_models.h"

#include <string.h>

/* Candidates are many: what needs larger searches is not kept alike. */
static const struct matrix_options WITHIN = {
    .max_states = 1 << 16, .max_bytes = (uint64_t)64 << 20, .budget_steps = 1 << 14};

static const struct matrix_row *find(const struct matrix *matrix, enum matrix_unit unit,
                                     const char *model, size_t length)
{
    for (uint32_t i = 0; i < matrix->count; i++)
        if (matrix->rows[i].unit == unit && strlen(matrix->rows[i].model) == length &&
            memcmp(matrix->rows[i].model, model, length) == 0)
            return &matrix->rows[i];
    return NULL;
}

/* "fair" is that of threads, "simt" that of warps: the first unit that has the model. */
static const struct matrix_row *named(const struct matrix *matrix, const char *item, size_t length)
{
    const char *slash = memchr(item, '/', length);
    const struct matrix_row *row = NULL;
    for (int u = 0; u < MATRIX_UNITS && !row; u++) {
        enum matrix_unit unit = (enum matrix_unit)u;
        size_t before = slash ? (size_t)(slash - item) : 0;
        bool is_unit = slash && strlen(matrix_unit_names[u]) == before &&
                       memcmp(matrix_unit_names[u], item, before) == 0;
        if (is_unit)
            row = find(matrix, unit, slash + 1, length - before - 1);
        else if (!slash)
            row = find(matrix, unit, item, length);
    }
    return row;
}

static void add(struct keep_models *keep, const struct matrix_row *row)
{
    if (keep->count < KEEP_ROWS)
        keep->rows[keep->count++] = (struct keep_row){
            .unit = row->unit, .model = row->model, .ending = matrix_ending_of(row)};
}

static bool hangs(enum matrix_ending ending)
{
    return ending != ENDING_ENDS && ending != ENDING_UNKNOWN;
}

bool keep_models_of(struct arena *arena, const struct ast_kernel *kernel, const char *list,
                    struct keep_models *keep, const char **error)
{
    struct matrix matrix = matrix_of(forms_new(arena, kernel), &WITHIN);
    bool any = false;
    *keep = (struct keep_models){.all = strcmp(list, "all") == 0};
    for (uint32_t i = 0; keep->all && i < matrix.count; i++)
        if (matrix_ending_of(&matrix.rows[i]) != ENDING_UNKNOWN)
            add(keep, &matrix.rows[i]);
    while (!keep->all && *list) {
        size_t length = strcspn(list, ",");
        const struct matrix_row *row = named(&matrix, list, length);
        const char *item = arena_strndup(arena, list, length);
        if (!row || matrix_ending_of(row) == ENDING_UNKNOWN) {
            *error = arena_printf(arena,
                                  row ? "the verdict of %s is unknown: %s"
                                      : "the kernel's matrix has no row %s%s",
                                  item, row ? row->why : "");
            return false;
        }
        add(keep, row);
        list += length;
        list += *list == ',';
    }
    for (uint32_t i = 0; i < keep->count; i++)
        any |= hangs(keep->rows[i].ending);
    if (!any)
        *error = "the kernel hangs under none of these models";
    return any;
}

static bool ends_alike(const struct interest *interest, struct interest_question *question)
{
    const struct keep_models *keep = interest->state;
    struct matrix matrix = matrix_of(forms_new(question->arena, question->kernel), &WITHIN);
    bool any = false;
    for (uint32_t i = 0; i < keep->count; i++) {
        const struct keep_row *kept = &keep->rows[i];
        const struct matrix_row *row = find(&matrix, kept->unit, kept->model, strlen(kept->model));
        if (row ? matrix_ending_of(row) != kept->ending : !keep->all)
            return false;
        any |= row && hangs(kept->ending);
    }
    return any;
}

struct interest keep_models_interest(struct keep_models *keep)
{
    return (struct interest){.shown = ends_alike, .state = keep};
}

const char *keep_models_print(struct arena *arena, const struct keep_models *keep)
{
    const char *text = "";
    for (int e = 0; e < ENDING_COUNT; e++) {
        bool first = true;
        for (uint32_t i = 0; i < keep->count; i++) {
            const struct keep_row *row = &keep->rows[i];
            if ((int)row->ending != e)
                continue;
            text = arena_printf(arena, "%s%s%s %s %s", text, *text && first ? ", " : "",
                                first ? matrix_ending_names[e] : "", matrix_unit_names[row->unit],
                                row->model);
            first = false;
        }
    }
    return text;
}
