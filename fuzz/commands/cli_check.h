/*
 * cli_check.h - what the forms of output of `check` share: text (cli_check.c), JSON (cli_check_json.c).
 */
#ifndef FUZZ_CLI_CHECK_H
#define FUZZ_CLI_CHECK_H

#include "fuzz/check/headline.h"
#include "fuzz/commands/cli_matrix.h"

/* "agree", "diverge", "expectation_failed"; failed: claims and rows that are not met. */
const char *check_verdict_name(const struct check_result *result, uint32_t failed);

/* Claims that were asked and are not met. */
uint32_t check_failed_claims(const struct check_result *result);

/* "race s", "final x == 3" */
const char *check_claim_text(struct arena *arena, const struct ast_expect *expect);

/* What is good to know of a kernel given as PTX: what was assumed; which register it reads first, before
 * anything is injected. Number 0 .. CHECK_NOTES - 1; NULL: nothing. */
enum { CHECK_NOTES = 2 };
const char *check_note(struct arena *arena, const struct check_result *result, uint32_t number);

/* Who is asked: kernels given as PTX whose lanes do something together are run with a pc for each thread, too. One that
 * says what must happen to it is asked about what it names. */
subject_set check_subjects(const struct ast_kernel *kernel, subject_set asked);

/* Runs a kernel that was read from `path`, tells of it, and counts it. Its exit status. `is_unfit`: the launch was made
 * up, and leaves what was made up for it, which is no finding. */
int check_judge(struct cli *cli, const char *path, struct ast_kernel *kernel,
                const struct check_options *options, bool is_unfit, struct cli_check_sums *sums);

/* Of a kernel that was run: tells of it, and counts it. */
int check_conclude(struct cli *cli, const char *path, struct check_result *result,
                   const struct check_options *options, bool is_unfit, struct cli_check_sums *sums);

/* The same for all entries of a source in CUDA C or OpenCL C (cli_check_source.c). */
int check_source(struct cli *cli, const char *path, const struct check_options *options,
                 struct cli_check_sums *sums);

/* A file of PTX without settings, but for an entry's name as the source has it: launches are made up, for one entry
 * after the other. False: it is another one. */
bool check_entries_of(struct cli *cli, const char *path, const struct check_options *options,
                      struct cli_check_sums *sums, int *status);

/* --outcomes, --repair. Returns the exit status. */
int cli_repair_file(struct cli *cli, const char *path, const struct search_options *bounds);

void check_print_json(struct arena *arena, const char *path, const struct check_options *options,
                      const struct check_result *result, const struct cli_stated *stated,
                      const struct headline *headline);

#endif
