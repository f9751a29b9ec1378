/*
 * cli.h - the command line: one table of commands (cli_commands.c), one of options (option_table.c), from which the
 * parser, `--help` and the usage lines come.
 *
 * Standard output carries results only; messages go to standard error. Exit statuses are the same
 * in every command.
 */
#ifndef FUZZ_CLI_H
#define FUZZ_CLI_H

#include "db/db.h"
#include "fuzz/base/exit_status.h"
#include "fuzz/check/headline.h"
#include "fuzz/gen/gen_weights.h"
#include "oracle/check/check.h"

#include <stdbool.h>

#include <stdio.h>

enum cli_command_id {
#define COMMAND(id, function) COMMAND_##id,
#include "fuzz/cli/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

struct fuzz_case;
struct check_report;

/* Of `triage`. */
struct cli_triage_options {
    const char *builds; /* a program, a pattern or a list of them */
    bool all_builds;
    uint32_t runs;                     /* 0 = not given; also of regress */
    bool update;                       /* of regress */
    unsigned states;                   /* DB_STATE_BIT; 0: any */
    const char *oracle;                /* names, or NULL */
    uint64_t since_ms, since_campaign; /* 0: not given */
    bool fresh;
    uint64_t limit;
    bool limit_given;
    uint64_t until_ms, for_ms; /* 0: not given */
};

enum { CLI_OUTSIDE_MAX = 32 };

/* Of `outside` and `subjects`. */
struct cli_outside_options {
    const char *subjects[CLI_OUTSIDE_MAX];
    uint32_t count;
    bool all; /* of run: all that are found */
    bool as_it_is, ignore_known;
    uint32_t batch, cpu_seconds; /* 0: as usual */
    const char *kernel;          /* a file, or NULL */
    uint32_t tests;
    bool tests_given;
    bool list;
};

/* Of `prove`. */
struct cli_prove_options {
    const char *solver; /* a command, or NULL: the usual one */
    const char *second; /* a second one, or NULL */
    const char *dump;   /* a folder, or NULL */
    uint64_t budget;    /* 0: as usual */
    uint32_t seconds;   /* 0: as usual */
    uint32_t unroll, runs;
    uint32_t threads_from, threads_to; /* 0: the file's launch */
    const char *assume;                /* an expression, or NULL */
    bool beside;                       /* `check`: a proof is tried as well */
    bool unroll_given, invariants, file_inputs, adversary;
    bool annotations; /* the file's invariants are taken as given */
};

/* What the options of all commands set. */
struct cli_options {
    bool help, json, color;
    const char *db;
    bool db_given;
    uint64_t seed;
    bool seed_given;
    uint64_t cases, first_case, count;
    uint64_t time_ms;
    uint32_t jobs;   /* 0 = as many as processors */
    uint64_t memory; /* bytes of addresses for all arenas; 0 = as the system has them */
    uint64_t shard_index, shard_count;
    subject_set subjects;
    uint32_t oracles, features;
    const struct gen_weights *weights; /* NULL: the usual ones */
    uint32_t oracle_modes;             /* bits of enum oracle_mode */
    uint32_t mutate;                   /* per cent; 0 = off */
    bool resume, no_supervisor;
    uint64_t case_timeout_ms;
    bool shard_given; /* by --shard or by a job array */
    bool verbose;     /* of run */
    bool stop_on_finding, no_minimise, exhaustive, enumerate, spin, host, litmus, same_value,
        atomics_sync;
    bool unscoped;
    const char *config;           /* a file or a preset, or NULL */
    const char *config_text;      /* of it; NULL: none */
    bool screen;                  /* --ui */
    uint32_t fail_on;             /* of run: bits 1u << campaign_kind */
    struct fail_on fail_outcomes; /* of check */
    const char *on_finding, *on_end;
    const char *against; /* trace: what each step is compared with */
    bool watch;          /* of status */
    bool check_db;       /* of status */
    const char *stats;   /* a file, or NULL */
    bool check_config, list_presets, plain_text;
    uint32_t minimise_tests; /* 0: as usual */
    uint32_t schedules;
    bool schedules_given;
    uint64_t budget_steps;    /* 0 = as CHECK_DEFAULTS has it */
    struct ast_launch launch; /* of --set, --caches; 0 = as the kernel has it */
    bool launch_dimensions;   /* --set threads=8x8 */
    bool ptx_only;            /* an option that only PTX takes was given */
    const char *settings;     /* --set, --entry, --bind, --shared as a PTX file has them, or NULL */
    enum subject_id subject;  /* of --subject */
    bool subject_given;
    const char *schedule, *to, *output, *signature, *keep_progress;
    const char *keep, *test; /* of reduce */
    uint64_t test_time_ms;   /* 0 = not given */
    bool raw;                /* a finding as it was found, not minimised */
    const char *finding;     /* of trace: a number, the beginning of a signature; or NULL */
    bool anchored, then_first, logic_blocks, keep_calls, normalise; /* of --to cfg */
    uint32_t knobs;                                                 /* of --to opencl .. */
    bool expose, knobs_given, features_given;
    uint64_t max_steps;
    uint64_t view_steps, kept_steps, from_step; /* of view: taken, in the page, from which on */
    const char *witness;                        /* of view: an execution model, or NULL */
    const char *litmus_dot, *litmus_svg;        /* folders for pictures */
    const char *litmus_test;                    /* of view: which one of a file */
    bool open_page;                             /* of view */
    const char *serve;                          /* of run: an address, or NULL */
    bool outcomes, repair;                      /* of check */
    const char *commands;                       /* of step; NULL: a person's keys */
    uint64_t width;                             /* of trace: 0 = lines as long as they are */
    bool width_given;
    const char *warp, *lines, *rules, *watched; /* of trace: what it shows; NULL = all */
    uint64_t max_states;                        /* of progress */
    uint64_t sample_steps;                      /* of progress */
    bool expect;                                /* of progress: print what to state */
    uint32_t max_tests;
    bool all_pending;
    const char *compiler;                                /* of check: a command, or NULL */
    uint32_t inputs;                                     /* of check: 0 = not given */
    const char *capture;                                 /* of exec, record: a folder, or NULL */
    bool unwritten_ok, leak_check;                       /* of exec */
    const char *suppress;                                /* of exec, check: a file, or NULL */
    const char *html, *junit, *sarif, *markdown, *grade; /* of report: files */
    uint32_t report_findings, report_traces;
    bool no_views;
    bool verify;                  /* of distill */
    bool manual;                  /* of help */
    const char *completion;       /* a shell, or NULL */
    struct fuzz_case *check_case; /* of --case; NULL: not given */
    const char *tape;             /* a file */
    const char *device;           /* settings of a device that runs host programs, or NULL */
    bool list_subjects, list_oracles, list_transforms, list_weights, list_pairs;
    struct transform_list transforms; /* of --list, --transforms */
    struct cli_triage_options triage;
    struct cli_outside_options outside;
    struct cli_prove_options prove;
};

enum { CLI_GIVEN_MAX = 64 };

struct cli {
    const char *command; /* as typed */
    enum cli_command_id id;
    struct cli_options options;
    char **arguments; /* what is not an option */
    int argument_count;
    const char
        *given[CLI_GIVEN_MAX]; /* names of the options that were given; further ones are left out */
    uint32_t given_count;
    struct arena arena;                /* for the whole command */
    const struct config_place *config; /* not NULL: cli_misuse leaves its sentence there */
};

/* What `check` and `regress` have seen so far. */
struct cli_check_sums {
    uint32_t kernels, agreed, known, diverged, failed, refused, bad;
    struct check_report *report; /* NULL: none is wanted */
    uint32_t unwanted;           /* that do what --fail-on names, and expect nothing */
};

struct cli_command {
    const char *name;
    const char *arguments; /* as the usage line shows them */
    const char *sentence;
    int least, most; /* arguments; most -1 = any number */
    int (*run)(struct cli *cli);
    const char *examples[5];
};

extern const struct cli_command cli_commands[COMMAND_COUNT];

#define COMMAND(id, function) int function(struct cli *cli);
#include "fuzz/cli/commands.def"
#undef COMMAND

/* Fills cli from the arguments after the command's name. True: run the command. False: *status is
 * the exit status (help was printed, or misuse was reported). */
bool cli_parse(struct cli *cli, int argc, char **argv, int *status);

/* False: there is none of this name. */
bool cli_find_command(const char *name, enum cli_command_id *id);

/* "; 'subjects' is meant?" of the nearest name, or "": what to put behind a message about a name that there is not. */
const char *cli_meant(struct cli *cli, const char *name, const char *const *names, uint32_t count);
/* What a semantics, an oracle, a rule, a feature of this name is. False: there is none. */
bool cli_print_about(const char *name, FILE *out);
/* cli_meant among these and the commands. */
const char *cli_about_meant(struct cli *cli, const char *name);

/* The list of commands. */
void cli_print_commands(FILE *out);

/* What the exit statuses say, but 4, which not all commands have. */
enum { CLI_STATUSES = 4 };
extern const char *const cli_exit_statuses[CLI_STATUSES];

/* "simtfuzz COMMAND: message" to standard error. */
void cli_message(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The message, a short usage and an example, to standard error; returns CLI_USAGE. */
int cli_misuse(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A number as users write it: decimal, or hexadecimal with 0x. */
bool cli_parse_u64(const char *text, uint64_t *value);
bool cli_parse_u32(const char *text, uint32_t *value);
/* How many workers: as the options say, or as many as there are processors. */
uint32_t cli_jobs(const struct cli *cli);
/* "90", "90s", "15m", "8h" */
bool cli_parse_time(const char *text, uint64_t *milliseconds);

/* ---- kernels named on the command line (cli_kernels.c) ---- */

/* Whether a file is PTX, by its name. */
bool cli_is_ptx(const char *path);

/* Reads and parses a file, and checks the graphs of a kernel in block form (cfg.h); NULL after the errors
 * were printed. The launch is that of the file. */
struct ast_kernel *cli_read_kernel(struct arena *arena, const char *path);
/* The same with the launch that the command line asks for: --set, and what else PTX takes. NULL also when
 * that is not within limits, or not for this kernel. */
struct ast_kernel *cli_read_launched(struct cli *cli, const char *path);
/* A tape as triage shows it, with white space around; nothing: an empty one. NULL: reported. */
struct tape *cli_read_tape(struct cli *cli, const char *path);
struct json;
/* What a document about a kernel begins with: version, file, kernel, launch. */
void cli_json_kernel(struct json *json, const char *path, const struct ast_kernel *kernel);
/* CHECK_DEFAULTS with the command line's subjects, oracles, schedules, seed; or what --case says. */
struct check_options cli_check_options(const struct cli *cli);

/* What --html, --junit, --sarif, --markdown name, written (cli_reports.c). */
bool cli_wants_reports(const struct cli *cli);
int cli_write_reports(const struct cli *cli, const struct check_report *report);

struct cli_files {
    const char **paths;
    uint32_t count;
};
/* The files meant by arguments: folders stand for all *.simt and *.ptx below them, sorted. False: reported. */
bool cli_find_files(struct cli *cli, char **arguments, int count, struct cli_files *files);
/* The same, and host programs. */
bool cli_find_checked(struct cli *cli, char **arguments, int count, struct cli_files *files);

/* The same for *.litmus. */
bool cli_find_litmus(struct cli *cli, char **arguments, int count, struct cli_files *files);

/* Checks one kernel file and reports to standard output; returns the exit status. */
int cli_check_file(struct cli *cli, const char *path, const struct check_options *options,
                   struct cli_check_sums *sums);

/* ---- the database (cli_db.c) ---- */

/* Opens --db; NULL after a message. */
struct db *cli_open_db(struct cli *cli, enum db_mode mode, struct db_message *message);
/* Says what a failed call left in the message; returns the exit status: bad input for a finding that
 * does not exist, a fault otherwise. */
int cli_db_failed(const struct cli *cli, const struct db_message *message, int error);
/* A finding with copies of all its strings, in the arena. NULL: *status, after a message. */
struct db_finding *cli_get_finding(struct cli *cli, struct db *db, const struct db_message *message,
                                   const char *name, int *status);
/* A stored kernel's text, in the arena. NULL: *status, after a message. */
char *cli_get_kernel(struct cli *cli, struct db *db, const struct db_message *message,
                     const char *hash, int *status);

/* Writes text to a file; "-" or NULL: standard output. Returns the exit status. */
int cli_write_output(const struct cli *cli, const char *path, const char *text);

#endif
