/*
 * merge.h - the parts of db_merge_files.
 */
#ifndef DB_MERGE_H
#define DB_MERGE_H

#include "db/id_map.h"
#include "db/internal.h"

struct merge {
    struct db *to;   /* in a batch */
    struct db *from; /* in a transaction, so that it does not change */
    struct id_map campaigns, raw_keys, findings, kernels;
    bool dropped; /* an example of `to`: kernels may be left over */
};

/* Joins the facts of `from` to those of `to`. On failure the batch must be rolled back. */
DB_MUST_CHECK int merge_all(struct merge *merge);
/* The part of it about findings: raw keys, tallies, findings, examples. Campaigns are there. */
DB_MUST_CHECK int merge_findings(struct merge *merge);

/* Runs a statement of `to` whose parameter i is column from_column[i] of a row of `from`, or, if that is
 * negative, values[i]. *changes: rows that were written. */
struct merge_parameter {
    int column; /* -1: the value */
    uint64_t value;
};
int merge_write(struct merge *merge, enum statement which, sqlite3_stmt *row,
                const struct merge_parameter *parameters, size_t count, int *changes);

/* The id in `to` that belongs to the id in a row's column. A row of `from` that refers to nothing: damaged. */
int merge_look_up(struct merge *merge, const struct id_map *map, sqlite3_stmt *row, int column,
                  uint64_t *id);
int merge_remember(struct merge *merge, struct id_map *map, uint64_t from, uint64_t to);

/* The one integer that a query of `to` gives; 0: no row. */
int merge_ask(struct merge *merge, enum statement which, const struct value *values, size_t count,
              uint64_t *answer);

/* For each row of a query of `from`. */
typedef int merge_row(struct merge *merge, sqlite3_stmt *row, const void *context);
int merge_each(struct merge *merge, enum statement which, merge_row *use, const void *context);

#endif
