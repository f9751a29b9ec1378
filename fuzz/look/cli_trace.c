/*
 * cli_trace.c - `simtfuzz trace`.
 */
#include "engine/host/host.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/look/chosen.h"
#include "fuzz/out/terminal.h"
#include "fuzz/trace/trace.h"

#include <string.h>
#include <unistd.h>

static int trace(struct cli *cli, const struct chosen *chosen, struct trace_options *options)
{
    const struct program *program = chosen_program(cli, chosen, options->subject);
    if (!program)
        return CLI_USAGE;
    const char *wrong = trace_filter_refuses(&options->filter, &cli->arena, program);
    if (wrong)
        return cli_misuse(cli, "%s", wrong);
    options->schedule = chosen->schedule;
    trace_run(&cli->arena, program, options, stdout);
    return CLI_OK;
}

/* Lines fit the terminal; what does not go to one is not cut. */
static uint32_t width(const struct cli *cli)
{
    uint32_t rows, columns;
    if (cli->options.width_given || !isatty(STDOUT_FILENO))
        return (uint32_t)cli->options.width;
    terminal_size(&rows, &columns);
    return columns;
}

int command_trace(struct cli *cli)
{
    if (cli->argument_count == 1 && host_is_path(cli->arguments[0]))
        return cli_host_trace(cli, cli->arguments[0]);
    const struct cli_options *given = &cli->options;
    if (given->tape || given->output || given->device)
        return cli_misuse(cli, "--tape, --output and --device are for host programs (*.host)");
    struct trace_options options = {
        .max_steps = given->max_steps,
        .json = given->json,
        .width = width(cli),
        .filter = {given->warp, given->lines, given->rules, given->watched}};
    struct chosen chosen = {.name = NULL};
    const char *finding = given->finding, *against = given->against;
    int status = CLI_USAGE;
    if (against && strcmp(against, "reference") != 0)
        return cli_misuse(cli, "--against: there is no '%s', only the reference", against);
    options.against_reference = against != NULL;
    if ((finding != NULL) != (cli->argument_count == 0))
        return cli_misuse(cli,
                          finding ? "--finding stands for the file" : "which file, or --finding?");
    if (given->raw && !finding)
        return cli_misuse(cli, "--raw is for a --finding");
    if (!chosen_schedule(cli, &chosen))
        return CLI_USAGE;
    if (finding)
        status = chosen_finding(cli, finding, &chosen);
    else if (chosen_file(cli, cli->arguments[0], &chosen))
        status = CLI_OK;
    if (status != CLI_OK)
        return status;
    options.subject = given->subject_given ? given->subject : chosen.subject;
    return trace(cli, &chosen, &options);
}
