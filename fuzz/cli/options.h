/*
 * options.h - the table of options (option_table.c), for those who make something from it: the parser
 * (cli_options.c), help (cli_help.c), the manual page (cli_manual.c), completion (cli_completion.c).
 */
#ifndef FUZZ_CLI_OPTIONS_H
#define FUZZ_CLI_OPTIONS_H

#include "fuzz/cli/cli.h"

/* OPTION_SOME_*: a number that is not 0. OPTION_OUTPUT: a file that the command writes: looked at before it begins. */
enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_OUTPUT,
    OPTION_U64,
    OPTION_U32,
    OPTION_SOME_U64,
    OPTION_SOME_U32,
    OPTION_TIME,
    OPTION_OWN
};

/* In `commands`: all of them. */
#define OPTION_EVERYWHERE (~(uint64_t)0)

struct cli_option {
    const char *name;
    char letter; /* 0 = none */
    enum option_kind kind;
    const char *argument; /* as help shows it; NULL for flags */
    uint64_t commands;    /* bits */
    size_t field;         /* in struct cli_options; for OPTION_OWN unused */
    size_t given;         /* a bool that is set; 0 = none (no option's flag stands at 0) */
    bool (*parse)(struct cli *cli, const char *text); /* OPTION_OWN; false: reported */
    const char *sentence;
};

extern const struct cli_option option_table[];
extern const size_t option_count;

static inline bool option_is_on(const struct cli_option *option, enum cli_command_id id)
{
    return (option->commands & (uint64_t)1 << id) != 0;
}

/* Whether all files that the options name can be written, and are no input or database. False: *status, after a
 * message (cli_outputs.c). */
bool cli_look_at_outputs(struct cli *cli, int *status);

/* How the memory that may be had is shared (cli_memory.c); before any arena of the command is made. */
void cli_plan_memory(const struct cli *cli);

void options_default(struct cli_options *options);

/* Reads an option's value. False after a message. */
bool option_apply(struct cli *cli, const struct cli_option *option, const char *text);

/* ---- options with a form of their own (option_values.c): false after a message ---- */

bool option_parse_subjects(struct cli *cli, const char *text);
bool option_parse_oracles(struct cli *cli, const char *text);
bool option_parse_features(struct cli *cli, const char *text);
bool option_parse_fail_on(struct cli *cli, const char *text);
bool option_parse_fail_outcomes(struct cli *cli, const char *text);
bool option_parse_hook(struct cli *cli, const char *text);
bool option_parse_end_hook(struct cli *cli, const char *text);
bool option_parse_weights(struct cli *cli, const char *text);
bool option_parse_shard(struct cli *cli, const char *text);
bool option_parse_mutate(struct cli *cli, const char *text);
bool option_parse_memory(struct cli *cli, const char *text);
/* States of findings, e.g. open,regression. */
bool option_parse_states(struct cli *cli, const char *text);
/* A campaign's number, a time that has passed since, or a date. */
bool option_parse_since(struct cli *cli, const char *text);
bool option_parse_until(struct cli *cli, const char *text);
bool option_parse_case(struct cli *cli, const char *text);
bool option_parse_set(struct cli *cli, const char *text);
bool option_parse_caches(struct cli *cli, const char *text);
bool option_parse_transforms(struct cli *cli, const char *text);
bool option_parse_subject(struct cli *cli, const char *text);
/* An outside implementation, one more. */
bool option_parse_outside(struct cli *cli, const char *text);
/* Ways to emit a kernel (engine/emit/knobs.def). */
bool option_parse_knobs(struct cli *cli, const char *text);
bool option_parse_entry(struct cli *cli, const char *text);
bool option_parse_bind(struct cli *cli, const char *text);
bool option_parse_shared(struct cli *cli, const char *text);
bool option_parse_annotations(struct cli *cli, const char *text);
bool option_parse_inputs(struct cli *cli, const char *text);
bool option_parse_threads(struct cli *cli, const char *text);
bool option_parse_proof_memory(struct cli *cli, const char *text);

/* ---- help (cli_help.c) ---- */

void cli_print_usage(const struct cli *cli, FILE *out);
void cli_print_help(const struct cli *cli, FILE *out);
/* What completes simtfuzz's words in a shell, to standard output; CLI_USAGE for another shell
 * (cli_completion.c). */
int cli_print_completion(const struct cli *cli, const char *shell);

/* The shard that a job array says this process is, unless --shard says it; and that shards have a seed.
 * False: misuse was reported. (cli_shard.c) */
bool cli_default_shard(struct cli *cli);

#endif
