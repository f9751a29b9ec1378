/*
 * matrix_expect.h - the termination matrix that a kernel states (`expect progress`), against the one it has.
 *
 * Stated is what a search finds within the bounds of matrix_expected, so that a row is unknown for everybody or for
 * nobody, and has to be said to be.
 */
#ifndef ORACLE_MATRIX_EXPECT_H
#define ORACLE_MATRIX_EXPECT_H

#include "oracle/matrix/matrix.h"

/* Of a search, where the line does not say `within`. */
enum { MATRIX_EXPECTED_STATES = 1 << 12 };

/* The bounds of what the kernel states, or would state. */
struct matrix_options matrix_expected(const struct ast_kernel *kernel);

/* A row that is not as the kernel says, or a statement about a row that the matrix has not. */
struct matrix_difference {
    uint32_t line;
    const char *row;  /* "warps simt" */
    const char *said; /* the verdict's word; NULL: nothing is said of the row */
    const char *seen; /* NULL: there is no such row */
};

struct matrix_differences {
    uint32_t count;
    struct matrix_difference *items;
};

/* `within`: the bounds under which the matrix was made. If they are not matrix_expected, rows that are
 * unknown, or said to be, are left out. */
struct matrix_differences matrix_compare(struct arena *arena, const struct ast_kernel *kernel,
                                         const struct matrix *matrix,
                                         const struct matrix_options *within);

/* "warps simt is said to hang ..." */
const char *matrix_difference_text(struct arena *arena, const struct matrix_difference *difference);

/* What to state of the matrix: the same for the same rows. NULL: it has none. */
struct ast_progress *matrix_state(struct arena *arena, const struct matrix *matrix);

#endif
