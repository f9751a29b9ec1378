/*
 * cli_outputs.c - the files that a command line names, looked at before the command begins: what options of the kind
 * OPTION_OUTPUT name can be written, and is no database and no input.
 */
#include "engine/base/invariant.h"
#include "fuzz/cli/options.h"
#include "fuzz/out/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 64 };

struct files {
    struct output_file rows[FILES_MAX];
    uint32_t count;
};

static void add(struct files *files, const char *path, const char *what)
{
    INVARIANT(files->count < FILES_MAX);
    files->rows[files->count++] = (struct output_file){path, what};
}

/* SQLite keeps its companions beside the file itself, not beside a link to it. */
static void add_database(struct cli *cli, struct files *files, const char *path)
{
    static const struct {
        const char *suffix, *what;
    } parts[] = {{"", "the database"},
                 {"-wal", "the database's log of writes"},
                 {"-shm", "the database's index of writes"},
                 {"-journal", "the database's journal"}};
    char *real = realpath(path, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        add(files, arena_printf(&cli->arena, "%s%s", real ? real : path, parts[i].suffix),
            parts[i].what);
    free(real);
}

/* An argument or an option's word that is the name of a file there is. */
static void add_input(struct files *files, const char *path, const char *what)
{
    struct stat status;
    if (path && files->count < FILES_MAX / 2 && stat(path, &status) == 0 && S_ISREG(status.st_mode))
        add(files, path, what);
}

static void add_inputs(struct cli *cli, struct files *files)
{
    const struct cli_options *o = &cli->options;
    static const char TAPE[] = "tape:";
    add_input(files, o->tape, "the tape");
    add_input(files, o->grade, "the grade's table");
    add_input(files, o->config, "the configuration");
    if (o->schedule && strncmp(o->schedule, TAPE, strlen(TAPE)) == 0)
        add_input(files, o->schedule + strlen(TAPE), "the tape");
    for (int i = 0; i < cli->argument_count; i++)
        add_input(files, cli->arguments[i], "an input");
}

static const char *output_of(const struct cli *cli, const struct cli_option *option)
{
    return *(const char *const *)(const void *)((const char *)&cli->options + option->field);
}

/* A folder, made when it is not there: a file in it stands for it, or where it will be. */
static void add_folder(struct cli *cli, struct files *files, const char *path, const char *what)
{
    if (path)
        add(files,
            access(path, F_OK) == 0 ? arena_printf(&cli->arena, "%s/00000000.simt", path) : path,
            what);
}

static bool is_export(const struct cli *cli)
{
    return cli->options.output && cli->argument_count > 0 &&
           strcmp(cli->arguments[0], "export") == 0;
}

static void add_outputs(struct cli *cli, struct files *files)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].kind == OPTION_OUTPUT && option_is_on(&option_table[i], cli->id) &&
            output_of(cli, &option_table[i]))
            add(files, output_of(cli, &option_table[i]),
                arena_printf(&cli->arena, "--%s", option_table[i].name));
    if (cli->id == COMMAND_TRIAGE && is_export(cli)) /* else, as of `outside`, a folder */
        add(files, cli->options.output, "--output");
    else if (cli->id == COMMAND_OUTSIDE || cli->id == COMMAND_TRIAGE)
        add_folder(cli, files, cli->options.output, "--output");
    if (cli->id == COMMAND_DISTILL && !cli->options.verify)
        add_folder(cli, files, cli->arguments[0], "the folder");
}

bool cli_look_at_outputs(struct cli *cli, int *status)
{
    struct files written = {.count = 0}, kept = {.count = 0};
    const char *why;
    if (cli->options.stats && strcmp(cli->options.stats, "-") == 0) {
        *status = cli_misuse(
            cli, "--stats is a file that is replaced once a second, not standard output");
        return false;
    }
    add_outputs(cli, &written);
    if (written.count == 0)
        return true;
    add_database(cli, &kept, cli->options.db);
    add_inputs(cli, &kept);
    enum output_fault fault =
        outputs_look(&cli->arena, written.rows, written.count, kept.rows, kept.count, &why);
    if (fault == OUTPUT_GOOD)
        return true;
    cli_message(cli, "%s", why);
    *status = fault == OUTPUT_CLASH ? CLI_USAGE : CLI_FAULT;
    return false;
}
