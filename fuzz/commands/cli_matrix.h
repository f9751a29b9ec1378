/*
 * cli_matrix.h - the termination matrix that a kernel states (`expect progress`), on the command line.
 */
#ifndef FUZZ_CLI_MATRIX_H
#define FUZZ_CLI_MATRIX_H

#include "fuzz/cli/cli.h"
#include "oracle/matrix/matrix_expect.h"

struct json;

struct cli_stated {
    const char *not_asked; /* why not; NULL: asked, or nothing stated */
    const char *broken;    /* as matrix.broken */
    struct matrix_differences differences;
};

/* Asks a matrix that was made within these bounds. */
struct cli_stated cli_ask_matrix(const struct cli *cli, const struct ast_kernel *kernel,
                                 const struct matrix *matrix, const struct matrix_options *within);

/* Makes the matrix of a kernel that states one, and asks it. */
struct cli_stated cli_check_matrix(struct cli *cli, const struct ast_kernel *kernel,
                                   const struct check_options *options);

/* How many rows are not as stated, an implication that is broken among them. */
uint32_t cli_stated_failed(const struct cli_stated *stated);

/* Lines of text; a JSON value of the key "progress". */
void cli_print_stated(struct arena *arena, const struct cli_stated *stated);
void cli_json_stated(struct json *json, const struct cli_stated *stated);

#endif
