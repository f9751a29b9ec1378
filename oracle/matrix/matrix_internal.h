/*
 * matrix_internal.h - between matrix.c (rows), matrix_explain.c (who waits for whom) and
 * matrix_sampled.c (where there are too many states).
 */
#ifndef ORACLE_MATRIX_INTERNAL_H
#define ORACLE_MATRIX_INTERNAL_H

#include "oracle/matrix/matrix.h"

/* Whom the execution model does not let go on, in words that end a sentence: "its warp runs the other path
 * first". */
struct matrix_loop {
    struct machine *machine;
    const struct tape *stem, *loop;
    const char *cannot;
};

/* "thread 1 waits for lock (line 11); thread 0 would write it at line 9, but ...": walks the loop. */
const char *matrix_explain(struct arena *arena, const struct matrix_loop *loop);

/* Whether a path of the program may come to a statement twice. */
bool matrix_may_loop(const struct program *program);

/* Whether the text of the program has a barrier: the one that normal form adds is not in it. */
bool matrix_has_barriers(const struct program *program);

/* Whether a thread can tell how large its warp is. */
bool matrix_sees_warps(const struct program *program);

/* Whether all executions of the machine, one of search_machine, take the same steps as one that ends. */
bool matrix_all_alike(struct arena *arena, struct machine *machine);

/* Samples schedules for the rows (of each model; NULL: not asked) whose verdict is unknown; `cannot` as above,
 * of each model. The machine is the one that was searched. */
void matrix_sample(struct arena *arena, struct machine *machine, const struct progress *progress,
                   struct matrix_row *const *rows, const char *const *cannot,
                   const struct matrix_options *options);

#endif
