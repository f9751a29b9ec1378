/*
 * cli_progress.c - `simtfuzz progress`: the termination matrix of kernels.
 */
#include "engine/language/print.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/commands/cli_matrix.h"
#include "fuzz/out/json.h"
#include "fuzz/out/table.h"

#include <inttypes.h>

static void print_lemma6(struct json *json, const struct matrix_lemma6 *lemma)
{
    if (!lemma)
        return;
    json_key(json, "lemma_6");
    json_object_begin(json);
    json_key_string(json, "hypothesis", matrix_hypothesis_names[lemma->hypothesis]);
    if (lemma->hypothesis == HYPOTHESIS_HOLDS) {
        json_key_bool(json, "constants", lemma->proof.constants);
        json_key_u64(json, "warp_steps", lemma->proof.warp_steps);
        if (lemma->proof.has_threads)
            json_key_u64(json, "thread_steps", lemma->proof.thread_steps);
    }
    if (lemma->hypothesis == HYPOTHESIS_FAILS) {
        json_key_u64(json, "thread", lemma->refutation.thread);
        json_key_string(json, "location", lemma->refutation.location);
    }
    json_key_string(json, "sentence", lemma->sentence);
    json_object_end(json);
}

static void print_json(const char *path, const struct ast_kernel *kernel,
                       const struct matrix *matrix, const struct cli_stated *stated)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    cli_json_kernel(&json, path, kernel);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        json_object_begin(&json);
        json_key_string(&json, "model", row->model);
        json_key_string(&json, "units", matrix_unit_names[row->unit]);
        json_key_string(&json, "subject", subject_table[row->subject].name);
        json_key_string(&json, "verdict", matrix_verdict(row));
        if (row->has_strong)
            json_key_bool(&json, "ends_strongly_fair", row->strong);
        json_key_string(&json, "why", row->why);
        if (row->sampled)
            json_key_bool(&json, "sampled", true);
        if (row->loop) {
            json_key_string(&json, "sentence", row->sentence);
            json_key_string(&json, "stem", tape_print(matrix->arena, row->stem));
            json_key_string(&json, "loop", tape_print(matrix->arena, row->loop));
        }
        json_object_end(&json);
    }
    json_array_end(&json);
    json_key(&json, "classes");
    json_array_begin(&json);
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        if (matrix_classes(matrix) >> i & 1)
            json_string(&json, matrix_class_table[i].name);
    json_array_end(&json);
    json_key_string(&json, "refused", matrix->refused);
    print_lemma6(&json, matrix->lemma6);
    json_key_string(&json, "broken", matrix->broken);
    if (kernel->progress)
        cli_json_stated(&json, stated);
    json_object_end(&json);
    json_end_line(&json);
}

static void print_text(const char *path, const struct ast_kernel *kernel,
                       const struct matrix *matrix, const struct cli_stated *stated)
{
    struct arena *arena = matrix->arena;
    static const char *const titles[] = {"units", "model", "verdict", "who waits for whom"};
    struct table table;
    printf("%s: kernel %s: threads %u, warp %u, blocks %u\n", path, kernel->name,
           kernel->launch.threads, kernel->launch.warp, kernel->launch.blocks);
    table_start(&table, arena, titles, "llll");
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        struct table_row *cells = table_add(&table);
        cells->cells[0] = matrix_unit_names[row->unit];
        cells->cells[1] = row->model;
        cells->cells[2] = matrix_verdict(row);
        if (row->has_strong && row->strong && row->verdict != PROGRESS_ENDS)
            cells->cells[2] = arena_printf(arena, "%s, ends if strongly fair", cells->cells[2]);
        if (row->sampled)
            cells->cells[2] = arena_printf(arena, "%s (sampled)", cells->cells[2]);
        cells->cells[3] = row->verdict == PROGRESS_UNKNOWN ? row->why : row->sentence;
    }
    table_print(&table, stdout);
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        if (matrix_classes(matrix) >> i & 1)
            printf("    %s: %s\n", matrix_class_table[i].name, matrix_class_table[i].sentence);
    if (matrix->refused)
        printf("    %s\n", matrix->refused);
    if (matrix->lemma6)
        printf("Lemma 6: %s\n", matrix->lemma6->sentence);
    cli_print_stated(arena, stated);
}

/* The line to put into the file. */
static void print_expect(const char *path, const struct ast_kernel *kernel,
                         const struct matrix *matrix, bool several)
{
    const struct ast_progress *stated = matrix_state(matrix->arena, matrix);
    if (several)
        printf("%s: ", path);
    if (stated)
        fputs(print_progress(matrix->arena, kernel, stated), stdout);
    else
        printf("no rows\n");
}

/* For a line, the bounds that it is about: those that it has now, or --max-states. */
static struct matrix_options options_of(const struct cli *cli, struct ast_kernel *kernel)
{
    struct matrix_options options = MATRIX_DEFAULTS;
    uint64_t states = cli->options.max_states;
    if (cli->options.expect) {
        if (states)
            kernel->progress_states =
                states < LIMIT_PROGRESS_STATES ? (uint32_t)states : LIMIT_PROGRESS_STATES;
        options = matrix_expected(kernel);
        options.stop = &interrupted;
        return options;
    }
    if (states)
        options.max_states = states;
    options.sample_steps = cli->options.sample_steps;
    options.seed = cli->options.seed;
    options.stop = &interrupted;
    if (cli->options.budget_steps > 0)
        options.budget_steps = cli->options.budget_steps;
    return options;
}

static int progress_file(struct cli *cli, const char *path, bool several)
{
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    const struct matrix_options options = options_of(cli, kernel);
    struct matrix matrix = matrix_of(forms_new(&cli->arena, kernel), &options);
    if (cli->options.expect) {
        print_expect(path, kernel, &matrix, several);
        return matrix.broken ? CLI_DIVERGENCE : CLI_OK;
    }
    struct cli_stated stated = cli_ask_matrix(cli, kernel, &matrix, &options);
    if (cli->options.json)
        print_json(path, kernel, &matrix, &stated);
    else
        print_text(path, kernel, &matrix, &stated);
    return cli_stated_failed(&stated) > 0 ? CLI_DIVERGENCE : CLI_OK;
}

int command_progress(struct cli *cli)
{
    struct cli_files files;
    int status = CLI_OK;
    if (!cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    interrupt_catch();
    for (uint32_t i = 0; i < files.count && !interrupted; i++) {
        size_t mark = arena_mark(&cli->arena);
        int one = progress_file(cli, files.paths[i], files.count > 1);
        status = one > status ? one : status;
        fflush(stdout);
        arena_release(&cli->arena, mark);
    }
    if (interrupted)
        cli_message(cli, "interrupted: the searches were cut off");
    return interrupted ? CLI_INTERRUPTED : status;
}
