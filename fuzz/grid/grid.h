/*
 * grid.h - `check` of a launch with more blocks than a case has, or that was recorded on a device: all of its grid,
 * once, under `crs`, as `exec` runs it; and how long an execution of any launch may take.
 */
#ifndef FUZZ_GRID_H
#define FUZZ_GRID_H

#include "fuzz/cli/cli.h"

/* Runs a kernel of FORM_PTX whose `whole` is set, however long it takes, or that was recorded, tells of it, and counts
 * it. Its exit status. */
int grid_check(struct cli *cli, const char *path, struct ast_kernel *kernel,
               struct cli_check_sums *sums);

/* One execution of a launch where one stands for all (launch_decides), in memory of its own; given up after 2^27 steps
 * of warps, as it may never end. */
struct grid;

/* Of a kernel of FORM_PTX, which is as before afterwards. NULL: one does not stand for all. */
struct grid *grid_try(struct cli *cli, const char *path, struct ast_kernel *kernel);

/* NULL, no: whether nothing is wrong with it, and others of its kind would take more than so many steps; ... */
bool grid_decides(const struct grid *grid, uint64_t budget);
/* ... whether nothing was wrong with it until it was given up. */
bool grid_is_cut(const struct grid *grid);

/* ... whether it ended, and all that is wrong is that memory is read that nothing wrote, of which subjects know
 * nothing. */
bool grid_reads_unwritten(const struct grid *grid);

/* Tells of it, counts it, and drops it. The exit status. */
int grid_tell(struct grid *grid, struct cli_check_sums *sums);
void grid_drop(struct grid *grid); /* or NULL */

struct launch;

/* The same of a launch. */
bool grid_only_unwritten(const struct launch *launch);

/* Buffers are as the settings fill them; nobody asks who wrote them. */
void grid_mark_written(struct launch *launch);

/* ---- budgets (budget.c) ---- */

/* Whether a larger budget may bring executions to an end that were cut off: one that starves nobody, or one that had
 * not much more than others took. */
bool budget_is_short(const struct check_result *result, const struct check_options *options);

/* The check again, whose result this is, under budgets that grow until all executions end, or take too many steps. */
void budget_grow(struct cli *cli, const struct ast_kernel *kernel,
                 const struct check_options *options, struct check_result *result);

#endif
