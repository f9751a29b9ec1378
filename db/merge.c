/*
 * Merging: what another database knows is joined to this one, fact by fact. Each fact is a maximum, a
 * minimum or a union, so the order of merges does not matter, nor how often one is repeated. Rows of the
 * two databases are matched by what they are about: campaigns by seed, options, version, shard count and
 * run, findings by signature, kernels by hash.
 */
#include "db/merge.h"

#include <inttypes.h>

int merge_write(struct merge *merge, enum statement which, sqlite3_stmt *row,
                const struct merge_parameter *parameters, size_t count, int *changes)
{
    sqlite3_stmt *statement;
    int error = db_start_statement(merge->to, which, NULL, 0, &statement);
    if (error)
        return error;
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        int index = (int)i + 1, column = parameters[i].column;
        if (column >= 0)
            code = sqlite3_bind_value(statement, index, sqlite3_column_value(row, column));
        else
            code = sqlite3_bind_int64(statement, index, (sqlite3_int64)parameters[i].value);
    }
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_DONE)
        code = SQLITE_OK;
    if (code != SQLITE_OK)
        error = db_fail_sqlite(merge->to, code, "write to the database");
    else if (changes)
        *changes = sqlite3_changes(merge->to->sqlite);
    db_end_statement(merge->to, which, statement);
    return error;
}

int merge_look_up(struct merge *merge, const struct id_map *map, sqlite3_stmt *row, int column,
                  uint64_t *id)
{
    const struct id_pair *pair = id_map_find(map, db_column_integer(row, column));
    if (!pair)
        return db_fail(merge->from, DB_ERROR_CORRUPT,
                       "the database is damaged (a row refers to one that is not there)");
    *id = pair->to;
    return DB_OK;
}

int merge_remember(struct merge *merge, struct id_map *map, uint64_t from, uint64_t to)
{
    if (id_map_add(map, from, to))
        return DB_OK;
    return db_fail(merge->to, DB_ERROR_MEMORY, "cannot merge: out of memory");
}

int merge_ask(struct merge *merge, enum statement which, const struct value *values, size_t count,
              uint64_t *answer)
{
    sqlite3_stmt *statement;
    int more = db_start_statement(merge->to, which, values, count, &statement);
    if (more < 0)
        return more;
    more = db_next_row(merge->to, statement);
    *answer = more == 1 ? db_column_integer(statement, 0) : 0;
    db_end_statement(merge->to, which, statement);
    return more < 0 ? more : DB_OK;
}

int merge_each(struct merge *merge, enum statement which, merge_row *use, const void *context)
{
    sqlite3_stmt *row;
    int more = db_start_statement(merge->from, which, NULL, 0, &row);
    if (more < 0)
        return more;
    while ((more = db_next_row(merge->from, row)) == 1) {
        more = use(merge, row, context);
        if (more < 0)
            break;
    }
    db_end_statement(merge->from, which, row);
    return more;
}

/* ---- campaigns */

static int merge_campaign(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    static const struct merge_parameter parameters[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0},
                                                        {5, 0}, {6, 0}, {7, 0}};
    uint64_t id = 0;
    int changes = 0;
    (void)context;
    int error = merge_write(merge, STATEMENT_MERGE_CAMPAIGN, row, parameters, 7, &changes);
    if (!error)
        error = merge_ask(merge, STATEMENT_CAMPAIGN_ID,
                          VALUES(TEXT(db_column_text(row, 1)), TEXT(db_column_text(row, 2)),
                                 TEXT(db_column_text(row, 3)), INTEGER(db_column_integer(row, 4)),
                                 INTEGER(db_column_integer(row, 5))),
                          &id);
    /* Its place in the order of campaigns may be another one now. */
    if (!error && changes > 0) {
        merge->to->dirty = true;
        error = db_write(merge->to, STATEMENT_DIRTY_CAMPAIGN, VALUES(INTEGER(id)));
    }
    return error ? error : merge_remember(merge, &merge->campaigns, db_column_integer(row, 0), id);
}

/* ---- tables of counters: the campaign's id is the first column, the rest is taken as it is */

struct table {
    enum statement read, write;
    int columns;
};

static int merge_counter(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    const struct table *table = context;
    struct merge_parameter parameters[16] = {{-1, 0}};
    int error = merge_look_up(merge, &merge->campaigns, row, 0, &parameters[0].value);
    if (error)
        return error;
    for (int i = 1; i < table->columns; i++)
        parameters[i].column = i;
    return merge_write(merge, table->write, row, parameters, (size_t)table->columns, NULL);
}

static int merge_counters(struct merge *merge)
{
    static const struct table tables[] = {
        {STATEMENT_READ_SHARDS, STATEMENT_MERGE_SHARD, 9},
        {STATEMENT_READ_SESSIONS, STATEMENT_MERGE_SESSION, 7},
        {STATEMENT_READ_STATISTICS, STATEMENT_MERGE_STATISTICS, 8},
        {STATEMENT_READ_STATISTICS_VERDICTS, STATEMENT_MERGE_STATISTICS_VERDICT, 6},
        {STATEMENT_READ_RULE_HITS, STATEMENT_MERGE_RULE_HITS, 4},
        {STATEMENT_READ_VERDICTS, STATEMENT_MERGE_VERDICTS, 5},
        {STATEMENT_READ_REASONS, STATEMENT_MERGE_REASONS, 6},
        {STATEMENT_READ_SKIPPED, STATEMENT_MERGE_SKIPPED, 4},
    };
    int error = DB_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !error; i++)
        error = merge_each(merge, tables[i].read, merge_counter, &tables[i]);
    return error;
}

static int merge_suppression(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    static const struct merge_parameter parameters[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
    (void)context;
    return merge_write(merge, STATEMENT_MERGE_SUPPRESSION, row, parameters, 5, NULL);
}

int merge_all(struct merge *merge)
{
    int error = merge_each(merge, STATEMENT_READ_CAMPAIGNS, merge_campaign, NULL);
    if (!error)
        error = merge_counters(merge);
    if (!error)
        error = merge_findings(merge);
    if (!error)
        error = merge_each(merge, STATEMENT_READ_SUPPRESSIONS, merge_suppression, NULL);
    if (!error && merge->dropped)
        error = db_write(merge->to, STATEMENT_KERNELS_PRUNE, NULL, 0);
    id_map_free(&merge->campaigns);
    id_map_free(&merge->raw_keys);
    id_map_free(&merge->findings);
    id_map_free(&merge->kernels);
    return error;
}
