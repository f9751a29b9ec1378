#include "fuzz/look/witness.h"

#include "engine/base/text.h"
#include "oracle/matrix/matrix.h"

#include <string.h>

/* The row of the model that has a witness; NULL: *there says whether there are rows of it. */
static const struct matrix_row *find_row(const struct matrix *matrix, const char *model,
                                         bool *there)
{
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        if (strcmp(row->model, model) != 0)
            continue;
        *there = true;
        if (row->loop)
            return row;
    }
    return NULL;
}

static void name_models(struct cli *cli, const struct matrix *matrix, const char *name)
{
    struct text text = text_begin(&cli->arena);
    for (uint32_t i = 0; i < matrix->count; i++)
        if (matrix->rows[i].loop)
            text_format(&text, "%s%s", text.length ? ", " : "", matrix->rows[i].model);
    if (text.length)
        cli_message(cli, "%s: it hangs under %s", name, text.bytes);
}

bool witness_choose(struct cli *cli, struct chosen *chosen)
{
    bool there = false;
    const char *model = cli->options.witness;
    struct matrix matrix = matrix_of(forms_new(&cli->arena, chosen->kernel), &MATRIX_DEFAULTS);
    const struct matrix_row *row = find_row(&matrix, model, &there);
    if (!row) {
        cli_message(cli, "%s: %s '%s'%s", chosen->name,
                    there ? "no hang is known under" : "its termination matrix has no row", model,
                    there ? "" : " (see `simtfuzz progress`)");
        name_models(cli, &matrix, chosen->name);
        return false;
    }
    chosen->subject = row->subject;
    chosen->stem = row->stem;
    chosen->round = row->loop;
    chosen->schedule_name = arena_printf(&cli->arena, "a hang under %s", row->model);
    chosen->note = arena_printf(&cli->arena, "%s under %s: %s%s%s", matrix_unit_names[row->unit],
                                row->model, matrix_verdict_text(&cli->arena, row),
                                row->sentence ? "; " : "", row->sentence ? row->sentence : "");
    return true;
}
