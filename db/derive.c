/*
 * What follows from the facts: sightings, the counters and the example of a finding, its status as long as
 * nobody said anything, and whether there is still a reason to keep it.
 *
 * A raw key that was seen C times in a campaign and has n examples (n <= C) counts 1 for the finding of each
 * example, and C - n more for the finding of the lowest one. A finding's example is the lowest one in the
 * first campaign that saw it; campaigns are in the order in which they were started.
 *
 * All that is dirty at once: a campaign's batch has a few findings, a merge 10^5.
 */
#include "db/internal.h"

/* Not part of the file; undone with the transaction that wrote them. */
const char db_derive_tables[] =
    "PRAGMA temp_store = MEMORY;"
    /* What has to be looked at; campaign 0: only the finding. */
    "CREATE TEMP TABLE dirty (finding INTEGER NOT NULL, campaign INTEGER NOT NULL,"
    " PRIMARY KEY (finding, campaign)) STRICT, WITHOUT ROWID;"
    "CREATE TEMP TABLE ages (age INTEGER PRIMARY KEY, campaign INTEGER NOT NULL UNIQUE) STRICT;"
    "CREATE TEMP TABLE derived (finding INTEGER PRIMARY KEY, example INTEGER NOT NULL,"
    " reference TEXT NOT NULL, first_campaign INTEGER NOT NULL, first_case INTEGER NOT NULL,"
    " last_campaign INTEGER NOT NULL, last_case INTEGER NOT NULL, occurrences INTEGER NOT NULL,"
    " first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL) STRICT";

static int write_each(struct db *db, const enum statement *statements, size_t count)
{
    int error = DB_OK;
    for (size_t i = 0; i < count && !error; i++)
        error = db_write(db, statements[i], NULL, 0);
    return error;
}

int db_derive_update(struct db *db)
{
    static const enum statement update[] = {
        STATEMENT_DERIVE_AGES,     STATEMENT_DERIVE_SIGHTINGS_DROP, STATEMENT_DERIVE_SIGHTINGS,
        STATEMENT_DERIVE_FINDINGS, STATEMENT_DERIVE_UPDATE,         STATEMENT_DERIVE_VANISH,
        STATEMENT_DERIVE_BARE,
    };
    return write_each(db, update, sizeof update / sizeof update[0]);
}

int db_derive_clear(struct db *db)
{
    static const enum statement clear[] = {
        STATEMENT_DERIVE_CLEAR_DIRTY, STATEMENT_DERIVE_CLEAR_DERIVED, STATEMENT_DERIVE_CLEAR_AGES};
    int error = write_each(db, clear, sizeof clear / sizeof clear[0]);
    if (!error)
        db->dirty = false;
    return error;
}

int db_derive(struct db *db)
{
    if (!db->dirty)
        return DB_OK;
    int error = db_derive_update(db);
    return error ? error : db_derive_clear(db);
}
