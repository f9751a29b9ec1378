/*
 * cli_host.h - host programs on the command line: what `check`, `trace`, `reduce`, `run` and `gen` do with them
 * (docs/host.md).
 */
#ifndef FUZZ_CLI_HOST_H
#define FUZZ_CLI_HOST_H

#include "fuzz/cli/cli.h"
#include "oracle/device/host_judge.h"

/* The program of a file, and the device that it and --device name; NULL: what is wrong was printed. */
struct host_program *cli_host_read(struct cli *cli, const char *path,
                                   struct device_options *options, struct diag *diag);

/* Reads, runs and tells of the program, and counts it. Its exit status. */
int cli_host_check(struct cli *cli, const char *path, struct cli_check_sums *sums);

/* One execution, a line a step. */
int cli_host_trace(struct cli *cli, const char *path);

/* `run --host`: programs that are made, whose verdict is known. */
int cli_host_run(struct cli *cli);
/* `gen --host`. */
int cli_host_gen(struct cli *cli);
/* The program made small, by lines; what is kept is the kind of check's first finding. */
int cli_host_reduce(struct cli *cli, const char *path);

#endif
