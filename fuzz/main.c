/*
 * main.c - simtfuzz, the program.
 */
#include "fuzz/base/version.h"
#include "fuzz/cli/options.h"
#include "fuzz/out/door.h"

#include <errno.h>
#include <string.h>

/* Address space for the words of a command line, and for one command's own data; pages are touched as they are used. */
static const size_t WORDS_ARENA_BYTES = (size_t)32 << 20, COMMAND_ARENA_BYTES = (size_t)4 << 30;

/* A full disk or a closed pipe below standard output must not look like success. */
static int flush_output(int status)
{
    bool good = fflush(stdout) == 0 && !ferror(stdout);
    int error = errno;
    door_close();
    if (good)
        return status;
    fprintf(stderr, "simtfuzz: standard output: %s\n", strerror(error));
    return CLI_FAULT;
}

/* How much memory the command may have is known when its options are. */
static int run_command(struct cli *cli, int argc, char **argv)
{
    int status;
    arena_reserve(&cli->arena, WORDS_ARENA_BYTES);
    bool good = cli_parse(cli, argc, argv, &status) && cli_look_at_outputs(cli, &status);
    struct arena words = cli->arena;
    if (good) {
        cli_plan_memory(cli);
        arena_reserve(&cli->arena, COMMAND_ARENA_BYTES);
        status = cli_commands[cli->id].run(cli);
        arena_destroy(&cli->arena);
    }
    arena_destroy(&words);
    return status;
}

/* `--version`, with `--json` as JSON. */
static void print_version(int argc, char **argv)
{
    bool json = false;
    for (int i = 2; i < argc; i++)
        json |= strcmp(argv[i], "--json") == 0;
    puts(json ? "{\"version\": 1, \"simtfuzz\": \"" SIMTFUZZ_VERSION "\"}"
              : "simtfuzz " SIMTFUZZ_VERSION);
}

int main(int argc, char **argv)
{
    door_open();
    if (argc < 2) {
        cli_print_commands(stderr);
        return CLI_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_print_commands(stdout);
        return flush_output(CLI_OK);
    }
    if (strcmp(first, "--version") == 0) {
        print_version(argc, argv);
        return flush_output(CLI_OK);
    }
    struct cli cli = {.command = first};
    return flush_output(run_command(&cli, argc - 1, argv + 1));
}
