/*
 * bisection.h - which of several builds changed what a finding shows.
 */
#ifndef DB_BISECTION_H
#define DB_BISECTION_H

#include "db/handle.h"

/* What `simtfuzz triage bisect` found out about a form of a finding. */
struct db_bisection {
    uint64_t finding;
    const char *form;           /* raw, minimised */
    const char *answer;         /* starts, ceases, always, never, no build */
    const char *before, *after; /* the builds around the change, or '' */
    uint64_t unclear;           /* builds between them, which cannot say */
    uint64_t builds, asked, silent, changes;
    uint64_t changed_ms; /* kept by the database */
};
typedef bool db_bisection_use(void *context, const struct db_bisection *bisection);

/* Replaces the one of that form. */
DB_MUST_CHECK int db_bisection_put(struct db *db, const struct db_bisection *bisection);
/* Of one finding, or all (0); by finding, the raw form first. */
DB_MUST_CHECK int db_bisections(struct db *db, uint64_t finding, db_bisection_use *use,
                                void *context);

#endif
