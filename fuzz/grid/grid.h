/*
 * grid.h - `check` of a launch with more blocks than a case has: all of its grid, once, under `crs`, as `exec` runs it.
 */
#ifndef FUZZ_GRID_H
#define FUZZ_GRID_H

#include "fuzz/cli/cli.h"

/* Runs a kernel of FORM_PTX whose `whole` is set, tells of it, and counts it. Its exit status. */
int grid_check(struct cli *cli, const char *path, struct ast_kernel *kernel,
               struct cli_check_sums *sums);

#endif
