#include "fuzz/commands/cli_matrix.h"

#include "fuzz/out/json.h"

/* What a kernel states is about its own launch. */
static bool other_launch(const struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    return o->settings || o->launch.threads || o->launch.warp || o->launch.blocks || o->check_case;
}

struct cli_stated cli_ask_matrix(const struct cli *cli, const struct ast_kernel *kernel,
                                 const struct matrix *matrix, const struct matrix_options *within)
{
    struct cli_stated stated = {.broken = matrix->broken};
    if (kernel->progress && other_launch(cli))
        stated.not_asked = "it is about the launch in the file";
    else
        stated.differences = matrix_compare(matrix->arena, kernel, matrix, within);
    return stated;
}

struct cli_stated cli_check_matrix(struct cli *cli, const struct ast_kernel *kernel,
                                   const struct check_options *options)
{
    if (!kernel->progress)
        return (struct cli_stated){.not_asked = NULL};
    if ((options->subjects & SUBJECTS_DEFAULT) != SUBJECTS_DEFAULT)
        return (struct cli_stated){.not_asked = "not all subjects were run"};
    if (other_launch(cli))
        return (struct cli_stated){.not_asked = "it is about the launch in the file"};
    const struct matrix_options within = matrix_expected(kernel);
    struct matrix matrix = matrix_of(forms_new(&cli->arena, kernel), &within);
    return cli_ask_matrix(cli, kernel, &matrix, &within);
}

uint32_t cli_stated_failed(const struct cli_stated *stated)
{
    return stated->differences.count + (stated->broken != NULL);
}

void cli_print_stated(struct arena *arena, const struct cli_stated *stated)
{
    if (stated->not_asked)
        printf("    expect progress\n        not asked: %s\n", stated->not_asked);
    if (stated->broken)
        printf("    BROKEN: %s\n", stated->broken);
    for (uint32_t i = 0; i < stated->differences.count; i++) {
        const struct matrix_difference *d = &stated->differences.items[i];
        printf("    line %u: %s\n", d->line, matrix_difference_text(arena, d));
    }
}

void cli_json_stated(struct json *json, const struct cli_stated *stated)
{
    json_key_object_begin(json, "progress");
    json_key_string(json, "not_asked", stated->not_asked);
    json_key_string(json, "broken", stated->broken);
    json_key_array_begin(json, "differences");
    for (uint32_t i = 0; i < stated->differences.count; i++) {
        const struct matrix_difference *d = &stated->differences.items[i];
        json_object_begin(json);
        json_key_u64(json, "line", d->line);
        json_key_string(json, "row", d->row);
        json_key_string(json, "expected", d->said);
        json_key_string(json, "seen", d->seen);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}
