/*
 * cli_help.c - what is printed about commands and options: help, usage, messages.
 */
#include "fuzz/cli/config.h"

#include <stdarg.h>

enum { REFUSAL_MAX = 400 };

void cli_print_usage(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = &cli_commands[cli->id];
    fprintf(out, "usage: simtfuzz %s [options]%s%s\n", command->name,
            *command->arguments ? " " : "", command->arguments);
}

static void print_options(const struct cli *cli, FILE *out)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct cli_option *option = &option_table[i];
        if (!option_is_on(option, cli->id))
            continue;
        char left[64];
        char letter[8] = "    ";
        if (option->letter)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        fprintf(out, "  %-28s  %s\n", left, option->sentence);
    }
}

void cli_print_help(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = &cli_commands[cli->id];
    fprintf(out, "simtfuzz %s: %s\n\n", command->name, command->sentence);
    cli_print_usage(cli, out);
    fputs("\noptions:\n", out);
    print_options(cli, out);
    fputs("\nexamples:\n", out);
    for (size_t i = 0; i < 4 && command->examples[i]; i++)
        fprintf(out, "  simtfuzz %s\n", command->examples[i]);
    fputs("\nexit status: 0 all well; 1 a divergence not marked known, or a failed expectation;\n"
          "2 wrong usage or bad input; 3 a fault of simtfuzz or its surroundings",
          out);
    fputs(cli->id == COMMAND_REDUCE     ? ";\n4 interrupted: the best so far was written\n"
          : cli->id == COMMAND_PROGRESS ? ";\n4 interrupted: what was found by then was printed\n"
          : cli->id == COMMAND_TRIAGE   ? ";\n4 interrupted (bisect): nothing was stored\n"
                                        : "\n",
          out);
}

void cli_print_commands(FILE *out)
{
    fputs("usage: simtfuzz COMMAND [options] [arguments]\n\ncommands:\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s%s\n", cli_commands[i].name, cli_commands[i].sentence);
    fputs("\nsimtfuzz COMMAND --help says more about each; simtfuzz --version prints the version\n",
          out);
}

/* ---- messages ---- */

__attribute__((format(printf, 2, 0))) static void message(const struct cli *cli, const char *format,
                                                          va_list args)
{
    fprintf(stderr, "simtfuzz %s: ", cli->command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void cli_message(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(cli, format, args);
    va_end(args);
}

int cli_misuse(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (cli->config) {
        char text[REFUSAL_MAX];
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        config_refuse(cli->config, text);
        return CLI_USAGE;
    }
    message(cli, format, args);
    va_end(args);
    cli_print_usage(cli, stderr);
    fprintf(stderr, "example: simtfuzz %s\n(simtfuzz %s --help says more)\n",
            cli_commands[cli->id].examples[0], cli->command);
    return CLI_USAGE;
}
