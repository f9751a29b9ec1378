/*
 * merge.h - the parts of db_merge_files.
 *
 * A source is attached to the connection of the target, so that SQL joins the two set by set. It may be
 * anybody's file: nothing of its schema is run (neither triggers nor views), its tables must be the ones that
 * simtfuzz makes, and what refuses its rows is a fault of the source.
 */
#ifndef DB_MERGE_H
#define DB_MERGE_H

#include "db/internal.h"

struct merge {
    struct db
        *to; /* in a batch; foreign keys are off: rows that refer to nothing are found by joining */
    struct db *from;    /* the source by itself: whose fault a failure is, is asked there */
    const char *schema; /* as which it is attached to `to` */
};

/* Attaches the source, before the batch; it stays what it is until the batch ends. */
DB_MUST_CHECK int merge_attach(struct merge *merge);
/* Joins the facts of the source to those of `to`. On failure the batch must be rolled back. */
DB_MUST_CHECK int merge_all(struct merge *merge);

/* Are the source's tables ours? `copy`: is it so in everything else, so that its pages may be copied? */
DB_MUST_CHECK int merge_check_schema(struct db *from, bool *copy);

/* Copies a database as it is, which is only read. What becomes of `copy` on failure is the caller's. */
DB_MUST_CHECK int merge_copy_database(const char *path, const char *copy,
                                      struct db_message *message);
/* A faster GLOB for this connection. */
DB_MUST_CHECK int merge_use_glob(struct db *db);
/* db_quick_check of a copy that nobody else has. */
DB_MUST_CHECK int merge_check_copy(struct db *copy);

/* merge_steps.c: lists of statements, NULL at their ends. */
extern const char *const merge_tables[]; /* makes tables of the connection, once */
extern const char
    *const merge_views[]; /* names of the source's tables that are read, as its_NAME */
extern const char *const merge_steps[];
extern const char *const merge_steps_derived[]; /* after what changed was derived */

#endif
