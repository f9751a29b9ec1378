/*
 * matrix_internal.h - between matrix.c (rows) and matrix_explain.c (who waits for whom).
 */
#ifndef ORACLE_MATRIX_INTERNAL_H
#define ORACLE_MATRIX_INTERNAL_H

#include "oracle/matrix.h"

/* Whom the execution model does not let go on, in words that end a sentence: "its warp runs the other path
 * first". */
struct matrix_loop {
    struct machine *machine;
    const struct tape *stem, *loop;
    const char *cannot;
};

/* "thread 1 waits for lock (line 11); thread 0 would write it at line 9, but ...": walks the loop. */
const char *matrix_explain(struct arena *arena, const struct matrix_loop *loop);

#endif
