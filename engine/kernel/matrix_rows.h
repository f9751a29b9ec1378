/*
 * matrix_rows.h - what the rows of the termination matrix (oracle/matrix/matrix.h) are called, and the verdicts that
 * an `expect progress` states: so that the parser knows them.
 */
#ifndef ENGINE_MATRIX_ROWS_H
#define ENGINE_MATRIX_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Whom a model is about. */
enum matrix_unit { MATRIX_THREADS, MATRIX_WARPS, MATRIX_BLOCKS, MATRIX_UNITS };

extern const char *const matrix_unit_names[MATRIX_UNITS]; /* "threads", "warps", "blocks" */

/* A verdict, in one word. */
enum matrix_ending {
    ENDING_ENDS,          /* "ends": always, or with probability 1 */
    ENDING_ENDS_STRONGLY, /* "ends-strongly": may hang, but ends if strongly fair */
    ENDING_MAY_HANG,      /* "may-hang" */
    ENDING_HANGS,         /* "hangs": always */
    ENDING_UNKNOWN,       /* "unknown": at the bound */
    ENDING_COUNT
};

extern const char *const matrix_ending_names[ENDING_COUNT];

/* Every execution model that a row can have: "simt", "stackless:oldest", "obe". */
extern const char *const matrix_model_names[];
extern const uint32_t matrix_model_count;

#endif
