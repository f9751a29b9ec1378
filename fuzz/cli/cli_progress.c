/*
 * cli_progress.c - `simtfuzz progress`: the termination matrix of kernels.
 */
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json.h"
#include "fuzz/cli/table.h"
#include "oracle/matrix.h"

#include <inttypes.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    if (interrupted) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    interrupted = 1;
}

/* The first one ends the searches, and what they found is printed; the second one ends all. */
static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static void print_json(const char *path, const struct ast_kernel *kernel,
                       const struct matrix *matrix, struct arena *arena)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "file", path);
    json_key_string(&json, "kernel", kernel->name);
    json_key(&json, "launch");
    json_object_begin(&json);
    json_key_u64(&json, "threads", kernel->launch.threads);
    json_key_u64(&json, "warp", kernel->launch.warp);
    json_key_u64(&json, "blocks", kernel->launch.blocks);
    json_object_end(&json);
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
            json_key_string(&json, "stem", tape_print(arena, row->stem));
            json_key_string(&json, "loop", tape_print(arena, row->loop));
        }
        json_object_end(&json);
    }
    json_array_end(&json);
    json_key_string(&json, "broken", matrix->broken);
    json_object_end(&json);
    json_end_line(&json);
}

static void print_text(const char *path, const struct ast_kernel *kernel,
                       const struct matrix *matrix, struct arena *arena)
{
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
    if (matrix->broken)
        printf("BROKEN: %s\n", matrix->broken);
}

int command_progress(struct cli *cli)
{
    struct cli_files files;
    int status = CLI_OK;
    if (!cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    catch_signals();
    for (uint32_t i = 0; i < files.count && !interrupted; i++) {
        size_t mark = arena_mark(&cli->arena);
        struct matrix_options options = MATRIX_DEFAULTS;
        struct ast_kernel *kernel = cli_read_launched(cli, files.paths[i]);
        if (!kernel) {
            status = CLI_USAGE;
            continue;
        }
        options.max_states = cli->options.max_states;
        options.sample_steps = cli->options.sample_steps;
        options.seed = cli->options.seed;
        options.stop = &interrupted;
        if (cli->options.budget_steps > 0)
            options.budget_steps = cli->options.budget_steps;
        struct matrix matrix = matrix_of(forms_new(&cli->arena, kernel), &options);
        if (cli->options.json)
            print_json(files.paths[i], kernel, &matrix, &cli->arena);
        else
            print_text(files.paths[i], kernel, &matrix, &cli->arena);
        fflush(stdout);
        if (matrix.broken && status == CLI_OK)
            status = CLI_DIVERGENCE;
        arena_release(&cli->arena, mark);
    }
    if (interrupted)
        cli_message(cli, "interrupted: the searches were cut off");
    return interrupted ? CLI_INTERRUPTED : status;
}
