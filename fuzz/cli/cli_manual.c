/*
 * cli_manual.c - `simtfuzz help`: the commands, and the manual page made from the tables of commands,
 * options, subjects, oracles and features.
 */
#include "engine/subjects/subject.h"
#include "fuzz/base/version.h"
#include "fuzz/cli/options.h"
#include "fuzz/out/json.h"

#include <string.h>

/* ---- roff ---- */

enum { LINE_MAX_BYTES = 76 }; /* mandoc's lint wants lines below 80 */

/* What the formatter would read as its own, or print as another character. */
static const char *escaped(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    case '"':
        return "\\(dq";
    }
    return NULL;
}

static size_t escaped_length(const char *text, size_t length)
{
    size_t sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += escaped(text[i]) ? strlen(escaped(text[i])) : 1;
    return sum;
}

static void put_escaped(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *escape = escaped(text[i]);
        if (escape)
            fputs(escape, out);
        else
            fputc(text[i], out);
    }
}

static void put_verbatim(FILE *out, const char *text)
{
    put_escaped(out, text, strlen(text));
}

/* A full stop, and not that of "e.g." or "0 .. N-1". */
static bool ends_sentence(const char *word, size_t length)
{
    return length > 2 && word[length - 1] == '.' && word[length] == ' ' &&
           word[length + 1] >= 'A' && word[length + 1] <= 'Z';
}

/* Words, filled; each sentence starts a line; no line starts as a request does. */
static void put_words(FILE *out, const char *text)
{
    size_t column = 0;
    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " ");
        size_t width = escaped_length(text, length) + 1;
        bool sentence = ends_sentence(text, length);
        if (column > 0 && column + width > LINE_MAX_BYTES) {
            fputc('\n', out);
            column = 0;
        } else if (column > 0) {
            fputc(' ', out);
        }
        if (column == 0 && *text == '.')
            fputs("\\&", out);
        put_escaped(out, text, length);
        column += width;
        if (text[length - 1] == '.' && !sentence)
            fputs("\\&", out);
        if (sentence) {
            fputc('\n', out);
            column = 0;
        }
        text += length;
    }
    if (column > 0)
        fputc('\n', out);
}

static void put_term(FILE *out, const char *name, const char *sentence)
{
    fputs(".TP\n.B ", out);
    put_verbatim(out, name);
    fputc('\n', out);
    put_words(out, sentence);
}

static void put_option(FILE *out, const struct cli_option *option)
{
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    put_verbatim(out, option->name);
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        put_verbatim(out, option->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_words(out, option->sentence);
}

static void put_command(FILE *out, enum cli_command_id id)
{
    const struct cli_command *command = &cli_commands[id];
    fprintf(out, ".SS simtfuzz %s\n\\fBsimtfuzz %s\\fR [options]", command->name, command->name);
    if (*command->arguments) {
        fputs(" \\fI\n", out);
        put_words(out, command->arguments);
        fputs("\\fR\n", out);
    } else {
        fputc('\n', out);
    }
    fputs(".PP\n", out);
    put_words(out, command->sentence);
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].commands != OPTION_EVERYWHERE && option_is_on(&option_table[i], id))
            put_option(out, &option_table[i]);
    fputs(".PP\nExamples:\n.PP\n.nf\n.RS\n", out);
    for (size_t i = 0; i < 4 && command->examples[i]; i++) {
        fputs("simtfuzz ", out);
        put_verbatim(out, command->examples[i]);
        fputc('\n', out);
    }
    fputs(".RE\n.fi\n", out);
}

static const struct {
    const char *name, *sentence;
} variables[] = {
    {"NO_COLOR", "when it is set and not empty, nothing is printed in colour"},
    {"SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT",
     "run: which shard this is, unless --shard says so, in a job array of Slurm"},
    {"JOB_COMPLETION_INDEX, JOB_COMPLETIONS",
     "run: the same in an indexed Job of Kubernetes; the second is not set by Kubernetes"},
};

static void put_tables(FILE *out)
{
    fputs(".SH SUBJECTS\n", out);
    for (size_t i = 0; i < SUBJECT_COUNT; i++)
        put_term(out, subject_table[i].name, subject_table[i].sentence);
    fputs(".SH ORACLES\n", out);
#define ORACLE(id, name, distance, theorem, applies, cannot)                                       \
    put_term(out, name, theorem ". Of: " applies);
#include "oracle/check/oracles.def"
#undef ORACLE
    fputs(".SH FEATURES\n", out);
    put_words(out,
              "What --features names; those in square brackets are off unless they are asked for.");
#define FEATURE(id, name, group_default, sentence)                                                 \
    put_term(out, (group_default) ? name : "[" name "]", sentence);
#include "fuzz/gen/features.def"
#undef FEATURE
}

static void print_manual(FILE *out)
{
    fputs(".\\\" Made by simtfuzz help --man.\n"
          ".TH SIMTFUZZ 1 \"" SIMTFUZZ_VERSION_DATE "\" \"simtfuzz " SIMTFUZZ_VERSION
          "\" \"User Commands\"\n"
          ".SH NAME\nsimtfuzz \\- stress\\-test the semantics of GPU execution\n"
          ".SH SYNOPSIS\n.B simtfuzz\n.I COMMAND\n[options] [arguments]\n.br\n"
          ".B simtfuzz\n.I COMMAND\n.B \\-\\-help\n.br\n.B simtfuzz \\-\\-version\n"
          ".SH DESCRIPTION\n",
          out);
    put_words(
        out,
        "simtfuzz runs kernels under several definitions of how a GPU executes them (subjects): "
        "threads in any interleaving, warps in lock-step with a stack of reconvergence tokens, "
        "predicated programs, PTX with a branch unit and named barriers. "
        "For each theorem that ties these together it has a checker (an oracle). "
        "`simtfuzz run` hunts with random kernels for a case in which they do not agree; what it "
        "finds goes into a database: one finding a bug, minimised, and replayable byte for byte.");
    fputs(".SH COMMANDS\nOptions of every command:\n", out);
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].commands == OPTION_EVERYWHERE)
            put_option(out, &option_table[i]);
    for (size_t id = 0; id < COMMAND_COUNT; id++)
        put_command(out, (enum cli_command_id)id);
    put_tables(out);
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; i < CLI_STATUSES; i++)
        put_term(out, (const char[]){(char)('0' + i), '\0'}, cli_exit_statuses[i]);
    put_term(
        out, "4",
        "reduce: interrupted; the best so far was written. triage bisect: interrupted; nothing "
        "was stored. progress: interrupted; what was found by then was printed");
    put_term(out, "others", "exec, record: those of the program");
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        put_term(out, variables[i].name, variables[i].sentence);
    fputs(".SH FILES\n", out);
    put_term(out, "simtfuzz.db",
             "the triage database, in the current folder unless --db says otherwise");
    fputs(".SH SEE ALSO\n.BR sqlite3 (1)\n.PP\n", out);
    put_words(out, "The manual's other parts are installed with the documentation of the package: "
                   "kernel language, oracles, database, nightly campaigns.");
}

/* ---- the same as JSON ---- */

static void print_json(enum cli_command_id id)
{
    const struct cli_command *command = &cli_commands[id];
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, "command", command->name);
    json_key_string(&json, "arguments", command->arguments);
    json_key_string(&json, "sentence", command->sentence);
    json_key_array_begin(&json, "options");
    for (size_t i = 0; i < option_count; i++) {
        const struct cli_option *option = &option_table[i];
        if (!option_is_on(option, id))
            continue;
        const char letter[2] = {option->letter, '\0'};
        json_object_begin(&json);
        json_key_string(&json, "name", option->name);
        json_key_string(&json, "letter", option->letter ? letter : NULL);
        json_key_string(&json, "argument", option->argument);
        json_key_string(&json, "sentence", option->sentence);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_line_end(&json);
}

/* ---- the command ---- */

int command_help(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    size_t first = 0, end = COMMAND_COUNT;
    if (o->manual) {
        print_manual(stdout);
        return CLI_OK;
    }
    if (o->completion)
        return cli_print_completion(cli, o->completion);
    if (cli->argument_count > 0) {
        struct cli about = {.command = cli->arguments[0]};
        bool is_command = cli_find_command(about.command, &about.id);
        if (!is_command && !o->json && cli_print_about(about.command, stdout))
            return CLI_OK;
        if (!is_command)
            return cli_misuse(cli, "there is no command '%s'%s", about.command,
                              cli_about_meant(cli, about.command));
        if (!o->json) {
            cli_print_help(&about, stdout);
            return CLI_OK;
        }
        first = about.id;
        end = first + 1;
    }
    if (!o->json)
        cli_print_commands(stdout);
    for (size_t id = first; o->json && id < end; id++)
        print_json((enum cli_command_id)id);
    return CLI_OK;
}
