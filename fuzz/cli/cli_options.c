/*
 * cli_options.c - reads the arguments of a command by the table of options.
 */
#include "engine/base/spelling.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/cli/config.h"

#include "engine/base/invariant.h"
#include "fuzz/gen/gen.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void options_default(struct cli_options *o)
{
    const char *no_color = getenv("NO_COLOR");
    *o = (struct cli_options){.color = isatty(STDOUT_FILENO) && !(no_color && *no_color),
                              .db = "simtfuzz.db",
                              .fail_on = (1u << CAMPAIGN_KNOWN) - 1,
                              .fail_outcomes = {.outcomes = (1u << OUTCOME_COUNT) - 1},
                              .count = 1,
                              .shard_count = 1,
                              .subjects = SUBJECTS_DEFAULT,
                              .oracles = ORACLES_DEFAULT,
                              .features = GEN_DEFAULTS.features,
                              .subject = SUBJECT_SIMT,
                              .schedule = "sequential",
                              .to = "core",
                              .max_steps = 1000,
                              .view_steps = 1 << 20,
                              .kept_steps = 100000,
                              .sample_steps = 1 << 22,
                              .max_tests = 20000,
                              .report_findings = 100,
                              .report_traces = 20};
}

uint32_t cli_jobs(const struct cli *cli)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (cli->options.jobs > 0)
        return cli->options.jobs;
    if (processors < 1)
        return 1;
    return processors > CAMPAIGN_JOBS_MAX ? CAMPAIGN_JOBS_MAX : (uint32_t)processors;
}

static const char *wanted(enum option_kind kind)
{
    if (kind == OPTION_TIME)
        return "a time (90, 90s, 15m, 8h, 30d)";
    if (kind == OPTION_SOME_U64 || kind == OPTION_SOME_U32)
        return "a number from 1 (decimal, or hexadecimal with 0x)";
    return "a number (decimal, or hexadecimal with 0x)";
}

bool option_apply(struct cli *cli, const struct cli_option *option, const char *text)
{
    char *base = (char *)&cli->options;
    void *field = base + option->field;
    bool fits = true;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_TEXT:
    case OPTION_OUTPUT:
        *(const char **)field = text;
        break;
    case OPTION_U64:
        fits = cli_parse_u64(text, field);
        break;
    case OPTION_U32:
        fits = cli_parse_u32(text, field);
        break;
    case OPTION_SOME_U64:
        fits = cli_parse_u64(text, field) && *(uint64_t *)field > 0;
        break;
    case OPTION_SOME_U32:
        fits = cli_parse_u32(text, field) && *(uint32_t *)field > 0;
        break;
    case OPTION_TIME:
        fits = cli_parse_time(text, field) && *(uint64_t *)field > 0;
        break;
    case OPTION_OWN:
        if (!option->parse(cli, text))
            return false;
        break;
    }
    if (!fits) {
        cli_misuse(cli, "--%s wants %s, not '%s'", option->name, wanted(option->kind), text);
        return false;
    }
    if (option->given)
        *(bool *)(base + option->given) = true;
    return true;
}

/* getopt's tables: rows of all options of a command, letters with their colons. */
enum { ROWS_MAX = 256, LETTERS_MAX = 2 * ROWS_MAX + 2 };

/* getopt's tables for the options of one command; an option's value is its index + 256. */
static void getopt_tables(const struct cli *cli, struct option *longs, char *letters)
{
    size_t count = 0;
    *letters++ = ':'; /* a missing argument is told apart from an unknown option */
    for (size_t i = 0; i < option_count; i++) {
        if (!option_is_on(&option_table[i], cli->id))
            continue;
        longs[count++] = (struct option){.name = option_table[i].name,
                                         .has_arg = option_table[i].argument != NULL,
                                         .val = (int)i + 256};
        if (option_table[i].letter) {
            *letters++ = option_table[i].letter;
            if (option_table[i].argument)
                *letters++ = ':';
        }
    }
    longs[count] = (struct option){0};
    *letters = '\0';
}

static const struct cli_option *option_of(const struct cli *cli, int value)
{
    if (value >= 256)
        return &option_table[value - 256];
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].letter == value && option_is_on(&option_table[i], cli->id))
            return &option_table[i];
    return NULL;
}

/* Arguments stand in a certain order, but what comes from a file comes before them all: a first pass reads
 * only which file. */
enum pass { PASS_CONFIG, PASS_ALL };

static bool is_of_pass(const struct cli_option *option, enum pass pass)
{
    return pass == PASS_ALL || strcmp(option->name, "config") == 0 ||
           strcmp(option->name, "json") == 0;
}

const char *cli_meant(struct cli *cli, const char *name, const char *const *names, uint32_t count)
{
    const char *nearest = spelling_nearest(name, names, count);
    return nearest ? arena_printf(&cli->arena, "; '%s' is meant?", nearest) : "";
}

static const char *command_meant(struct cli *cli)
{
    const char *names[COMMAND_COUNT];
    for (uint32_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = cli_commands[i].name;
    return cli_meant(cli, cli->command, names, COMMAND_COUNT);
}

/* Of the options of this command. */
static const char *option_meant(struct cli *cli, const char *typed)
{
    const char *names[ROWS_MAX];
    uint32_t count = 0;
    size_t length = strcspn(typed, "=");
    for (size_t i = 0; i < option_count; i++)
        if (option_is_on(&option_table[i], cli->id))
            names[count++] = arena_printf(&cli->arena, "--%s", option_table[i].name);
    return cli_meant(cli, arena_printf(&cli->arena, "%.*s", (int)length, typed), names, count);
}

static bool parse_options(struct cli *cli, int argc, char **argv, enum pass pass)
{
    struct option longs[ROWS_MAX + 1];
    char letters[LETTERS_MAX];
    INVARIANT(option_count <= ROWS_MAX);
    getopt_tables(cli, longs, letters);
    opterr = 0;
    optind = 0; /* glibc: from the start */
    for (;;) {
        int value = getopt_long(argc, argv, letters, longs, NULL);
        if (value == -1)
            break;
        const char *typed = argv[optind - 1];
        if (value == ':') {
            cli_misuse(cli, "%s needs an argument", typed);
            return false;
        }
        if (value == '?') {
            if (optopt >= 256)
                cli_misuse(cli, "%s takes no argument", typed);
            else
                cli_misuse(cli, "unknown option %s%s", typed, option_meant(cli, typed));
            return false;
        }
        const struct cli_option *option = option_of(cli, value);
        if (!is_of_pass(option, pass))
            continue;
        if (!option_apply(cli, option, optarg))
            return false;
        if (pass == PASS_ALL && cli->given_count < CLI_GIVEN_MAX)
            cli->given[cli->given_count++] = option->name;
    }
    cli->arguments = argv + optind;
    cli->argument_count = argc - optind;
    return true;
}

bool cli_find_command(const char *name, enum cli_command_id *id)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(cli_commands[i].name, name) == 0) {
            *id = (enum cli_command_id)i;
            return true;
        }
    }
    return false;
}

bool cli_parse(struct cli *cli, int argc, char **argv, int *status)
{
    *status = CLI_USAGE;
    if (!cli_find_command(cli->command, &cli->id)) {
        fprintf(stderr, "simtfuzz: there is no command '%s'%s\n", cli->command, command_meant(cli));
        cli_print_commands(stderr);
        return false;
    }
    options_default(&cli->options);
    if (!parse_options(cli, argc, argv, PASS_CONFIG) ||
        (cli->options.config && !config_load(cli, cli->options.config)) ||
        !parse_options(cli, argc, argv, PASS_ALL))
        return false;
    if (cli->options.help) {
        cli_print_help(cli, stdout);
        *status = CLI_OK;
        return false;
    }
    const struct cli_command *command = &cli_commands[cli->id];
    if (cli->argument_count < command->least) {
        cli_misuse(cli, "missing %s", command->arguments);
        return false;
    }
    if (command->most >= 0 && cli->argument_count > command->most) {
        cli_misuse(cli, "unexpected argument '%s'", cli->arguments[command->most]);
        return false;
    }
    return true;
}
