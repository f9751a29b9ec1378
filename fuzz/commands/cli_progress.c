/*
 * cli_progress.c - `simtfuzz progress`: the termination matrix of kernels.
 */
#include "engine/language/print.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/commands/cli_matrix.h"
#include "fuzz/out/json.h"

#include <inttypes.h>

static void print_lemma6(struct json *json, const struct matrix_lemma6 *lemma)
{
    if (!lemma)
        return;
    json_key_object_begin(json, "lemma_6");
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

/* ---- a matrix, printed row by row as they are known ---- */

struct printing {
    struct cli *cli;
    const char *path;
    const struct ast_kernel *kernel;
    struct json json;
    bool begun; /* the columns have their titles */
};

static void hear_part(void *context)
{
    enum { SHARE = 3 };
    (void)context;
    interrupt_part(SHARE);
}

static void begin_json(struct printing *p)
{
    json_line_begin(&p->json, stdout);
    cli_json_kernel(&p->json, p->path, p->kernel);
    json_key_array_begin(&p->json, "rows");
}

/* How executions of the row end that do, where that is known. */
static void print_endings(struct json *json, const struct matrix_row *row)
{
    if (row->verdict == PROGRESS_UNKNOWN || row->verdict == PROGRESS_HANGS || row->ends_in == 0)
        return;
    json_key_array_begin(json, "ends_in");
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (row->ends_in >> s & 1)
            json_string(json, status_names[s]);
    json_array_end(json);
    json_key_bool(json, "ends_in_all", row->ends_in_all);
}

static void hear_row_json(void *context, const struct matrix_row *row)
{
    struct printing *p = context;
    struct json *json = &p->json;
    struct arena *arena = &p->cli->arena;
    json_object_begin(json);
    json_key_string(json, "model", row->model);
    json_key_string(json, "units", matrix_unit_names[row->unit]);
    json_key_string(json, "subject", subject_table[row->subject].name);
    json_key_string(json, "verdict", matrix_verdict(row));
    if (row->has_strong)
        json_key_bool(json, "ends_strongly_fair", row->strong);
    json_key_string(json, "why", row->why);
    print_endings(json, row);
    if (row->sampled)
        json_key_bool(json, "sampled", true);
    if (row->loop) {
        json_key_string(json, "sentence", row->sentence);
        json_key_string(json, "stem", tape_print(arena, row->stem));
        json_key_string(json, "loop", tape_print(arena, row->loop));
    }
    json_object_end(json);
    fflush(stdout);
}

static void end_json(struct printing *p, const struct matrix *matrix,
                     const struct cli_stated *stated)
{
    struct json *json = &p->json;
    json_array_end(json);
    json_key_array_begin(json, "classes");
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        if (matrix_classes(matrix) >> i & 1)
            json_string(json, matrix_class_table[i].name);
    json_array_end(json);
    json_key_string(json, "refused", matrix->refused);
    print_lemma6(json, matrix->lemma6);
    json_key_string(json, "broken", matrix->broken);
    if (p->kernel->progress)
        cli_json_stated(json, stated);
    json_line_end(json);
}

/* The columns are as wide as any row of a matrix has them: the widest is not known yet. */
static void print_cells(const char *units, const char *model, const char *verdict, const char *who)
{
    if (who)
        printf("%-7s  %-30s  %-23s  %s\n", units, model, verdict, who);
    else
        printf("%-7s  %-30s  %s\n", units, model, verdict);
}

static void begin_text(const struct printing *p)
{
    const struct ast_kernel *kernel = p->kernel;
    printf("%s: kernel %s: threads %u, warp %u, blocks %u\n", p->path, kernel->name,
           kernel->launch.threads, kernel->launch.warp, kernel->launch.blocks);
}

static void hear_row_text(void *context, const struct matrix_row *row)
{
    struct printing *p = context;
    struct arena *arena = &p->cli->arena;
    const char *verdict = matrix_verdict_text(arena, row);
    if (!p->begun)
        print_cells("units", "model", "verdict", "who waits for whom");
    p->begun = true;
    bool why = row->verdict != PROGRESS_ENDS && !row->sentence; /* no row, or no witness of it */
    print_cells(matrix_unit_names[row->unit], row->model, verdict, why ? row->why : row->sentence);
    fflush(stdout);
}

static void end_text(const struct printing *p, const struct matrix *matrix,
                     const struct cli_stated *stated)
{
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        if (matrix_classes(matrix) >> i & 1)
            printf("    %s: %s\n", matrix_class_table[i].name, matrix_class_table[i].sentence);
    if (matrix->refused)
        printf("    %s\n", matrix->refused);
    if (matrix->lemma6)
        printf("Lemma 6: %s\n", matrix->lemma6->sentence);
    cli_print_stated(&p->cli->arena, stated);
}

static int print_matrix(struct cli *cli, const char *path, const struct ast_kernel *kernel,
                        struct matrix_options *options)
{
    bool is_json = cli->options.json;
    struct printing printing = {.cli = cli, .path = path, .kernel = kernel};
    const struct matrix_listener listener = {
        .context = &printing, .part = hear_part, .row = is_json ? hear_row_json : hear_row_text};
    options->listener = &listener;
    options->endings = true;
    if (is_json)
        begin_json(&printing);
    else
        begin_text(&printing);
    fflush(stdout);
    struct matrix matrix = matrix_of(forms_new(&cli->arena, kernel), options);
    struct cli_stated stated = cli_ask_matrix(cli, kernel, &matrix, options);
    if (is_json)
        end_json(&printing, &matrix, &stated);
    else
        end_text(&printing, &matrix, &stated);
    return cli_stated_failed(&stated) > 0 ? CLI_DIVERGENCE : CLI_OK;
}

/* The line to put into the file. */
static int print_expect(struct cli *cli, const char *path, const struct ast_kernel *kernel,
                        const struct matrix_options *options, bool several)
{
    const struct matrix matrix = matrix_of(forms_new(&cli->arena, kernel), options);
    const struct ast_progress *stated = matrix_state(matrix.arena, &matrix);
    if (several)
        printf("%s: ", path);
    if (stated)
        fputs(print_progress(matrix.arena, kernel, stated), stdout);
    else
        printf("no rows\n");
    return matrix.broken ? CLI_DIVERGENCE : CLI_OK;
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
        options.stop = &interrupt_stop;
        return options;
    }
    if (states)
        options.max_states = states;
    options.sample_steps = cli->options.sample_steps;
    options.seed = cli->options.seed;
    options.stop = &interrupt_stop;
    if (cli->options.budget_steps > 0)
        options.budget_steps = cli->options.budget_steps;
    return options;
}

static int progress_file(struct cli *cli, const char *path, bool several)
{
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    struct matrix_options options = options_of(cli, kernel);
    return cli->options.expect ? print_expect(cli, path, kernel, &options, several)
                               : print_matrix(cli, path, kernel, &options);
}

int command_progress(struct cli *cli)
{
    struct cli_files files;
    int status = CLI_OK;
    if (!cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    interrupt_catch();
    interrupt_after(cli->options.time_ms);
    for (uint32_t i = 0; i < files.count && !interrupted && !interrupt_time_over(); i++) {
        size_t mark = arena_mark(&cli->arena);
        int one = progress_file(cli, files.paths[i], files.count > 1);
        status = one > status ? one : status;
        fflush(stdout);
        arena_release(&cli->arena, mark);
    }
    if (interrupted)
        cli_message(cli, "interrupted: the searches were cut off");
    else if (interrupt_time_over())
        cli_message(cli, "the time is over: rows that were not ready say so, files behind them "
                         "were not read");
    return interrupted ? CLI_INTERRUPTED : status;
}
