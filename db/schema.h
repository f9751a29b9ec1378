/*
 * schema.h - the tables, and how a file of an older version becomes one of this version.
 *
 * A schema is a list of steps; step n leads from version n to n + 1, so an empty file is brought to
 * the newest version by running all of them, and the list is the whole history. A step that has been
 * released never changes.
 */
#ifndef DB_SCHEMA_H
#define DB_SCHEMA_H

#include <sqlite3.h>

struct schema {
    int application_id;              /* in the file's header: whose it is */
    int version;                     /* how many steps there are */
    const char *const *const *steps; /* each a list of statements, NULL at its end */
};

extern const struct schema db_schema;

/* The step from version 1 to 2 (schema_2.c). */
extern const char *const schema_version_2[];

/* Runs the steps that the file lacks, all in one transaction: after a failure or a kill the file is
 * as it was. Returns an SQLite result code; SQLITE_OK also when another process was faster. */
int schema_upgrade(sqlite3 *sqlite, const struct schema *schema);

/* Value of an integer PRAGMA such as "user_version"; an SQLite result code. */
int schema_read_pragma(sqlite3 *sqlite, const char *name, int *value);

#endif
