/*
 * cli_help.c - what is printed about commands and options: help, usage, messages.
 */
#include "fuzz/cli/config.h"

#include <stdarg.h>
#include <string.h>

enum {
    REFUSAL_MAX = 400,
    WIDTH = 100, /* columns of help */
    LEFT = 32,   /* where the sentences of options begin */
};

void cli_print_usage(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = &cli_commands[cli->id];
    fprintf(out, "usage: simtfuzz %s [options]%s%s\n", command->name,
            *command->arguments ? " " : "", command->arguments);
}

/* Words from a column on, in lines of WIDTH columns; further lines begin at `indent`. */
static void print_filled(FILE *out, const char *text, size_t column, size_t indent)
{
    for (bool first = true; *(text += strspn(text, " ")); first = false) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += length;
        text += length;
    }
    fputc('\n', out);
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
        int column = fprintf(out, "  %-28s  ", left);
        print_filled(out, option->sentence, (size_t)column, LEFT);
    }
}

const char *const cli_exit_statuses[CLI_STATUSES] = {
    "all is well, nothing is new",
    ("something new is wrong: a divergence that is not marked known, a failed expectation, or a "
     "race, fault or hang of a kernel that expects nothing"),
    "wrong usage or bad input",
    "a fault of simtfuzz or of its surroundings: a file, the database, a crashed worker",
};

/* What a command has besides. */
static const char *more_statuses(enum cli_command_id id)
{
    return id == COMMAND_REDUCE     ? "; 4 interrupted: the best so far was written"
           : id == COMMAND_PROGRESS ? "; 4 interrupted: what was found by then was printed"
           : id == COMMAND_TRIAGE   ? "; 4 interrupted (bisect): nothing was stored"
           : id == COMMAND_REPORT   ? "; 1 never: what is found is told, and fails no job"
           : id == COMMAND_EXEC
               ? "; if nothing is found, the program's own (3 instead of 0 if a launch was not run)"
           : id == COMMAND_RECORD
               ? "; else the program's own (3 instead of 0 if a launch was not kept)"
               : "";
}

static void print_statuses(FILE *out, enum cli_command_id id)
{
    char text[500];
    snprintf(text, sizeof text, "exit status: 0 %s; 1 %s; 2 %s; 3 %s%s", cli_exit_statuses[0],
             cli_exit_statuses[1], cli_exit_statuses[2], cli_exit_statuses[3], more_statuses(id));
    print_filled(out, text, 0, 0);
}

void cli_print_help(const struct cli *cli, FILE *out)
{
    const struct cli_command *command = &cli_commands[cli->id];
    int column = fprintf(out, "simtfuzz %s: ", command->name);
    print_filled(out, command->sentence, (size_t)column, 0);
    fputc('\n', out);
    cli_print_usage(cli, out);
    fputs("\noptions:\n", out);
    print_options(cli, out);
    fputs("\nexamples:\n", out);
    for (size_t i = 0; i < 4 && command->examples[i]; i++)
        fprintf(out, "  simtfuzz %s\n", command->examples[i]);
    fputc('\n', out);
    print_statuses(out, cli->id);
}

void cli_print_commands(FILE *out)
{
    fputs("simtfuzz runs GPU kernels under every definition of how a GPU executes them, and looks "
          "for\n"
          "races, hangs, and kernels about which two definitions disagree.\n\n"
          "usage: simtfuzz COMMAND [options] [arguments]\n\ncommands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        int column = fprintf(out, "  %-10s", cli_commands[i].name);
        print_filled(out, cli_commands[i].sentence, (size_t)column, 12);
    }
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
