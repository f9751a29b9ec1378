/* Merging raw keys, tallies, findings and their examples. */
#include "db/merge.h"

#include <string.h>

/* Columns of READ_EXAMPLES and EXAMPLE_OF_CASE: first what ranks two examples of one case. */
enum {
    RANK_MINIMISED_STATEMENTS = 3,
    RANK_REFERENCE = 7,
    RANKS = 18,
    EXAMPLE_CAMPAIGN = RANKS,
    EXAMPLE_RAW_KEY,
    EXAMPLE_CASE,
    EXAMPLE_FINDING,
    EXAMPLE_STORED_MS,
    EXAMPLE_REPLAYED,
    EXAMPLE_MINIMISATION,
    EXAMPLE_SIGNATURE_VERSION,
    EXAMPLE_RAW_KERNEL,
    EXAMPLE_MINIMISED_KERNEL,
    OWN_ID = RANKS, /* of EXAMPLE_OF_CASE */
    OWN_STORED_MS,
};

/* ---- raw keys and tallies */

static int merge_raw_key(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    const char *key = db_column_text(row, 1);
    uint64_t id;
    (void)context;
    int error = merge_ask(merge, STATEMENT_RAW_KEY_ID, VALUES(TEXT(key)), &id);
    if (!error && id == 0) {
        error = db_write(merge->to, STATEMENT_RAW_KEY_PUT, VALUES(TEXT(key)));
        id = (uint64_t)sqlite3_last_insert_rowid(merge->to->sqlite);
    }
    return error ? error : merge_remember(merge, &merge->raw_keys, db_column_integer(row, 0), id);
}

static int touch_key(struct merge *merge, uint64_t campaign, uint64_t key)
{
    merge->to->dirty = true;
    return db_write(merge->to, STATEMENT_DIRTY_KEY_ID, VALUES(INTEGER(campaign), INTEGER(key)));
}

static int merge_tally(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    struct merge_parameter parameters[8] = {{-1, 0}, {-1, 0}, {2, 0}, {3, 0},
                                            {4, 0},  {5, 0},  {6, 0}, {7, 0}};
    int changes = 0;
    (void)context;
    int error = merge_look_up(merge, &merge->campaigns, row, 0, &parameters[0].value);
    if (!error)
        error = merge_look_up(merge, &merge->raw_keys, row, 1, &parameters[1].value);
    if (!error)
        error = merge_write(merge, STATEMENT_MERGE_TALLY, row, parameters, 8, &changes);
    if (!error && changes > 0)
        error = touch_key(merge, parameters[0].value, parameters[1].value);
    return error;
}

/* ---- findings */

static int merge_finding(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    static const struct merge_parameter parameters[] = {
        {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}, {9, 0}, {10, 0}, {11, 0}};
    uint64_t id;
    (void)context;
    int error = merge_ask(merge, STATEMENT_FINDING_ID, VALUES(TEXT(db_column_text(row, 1))), &id);
    bool fresh = !error && id == 0;
    if (!error)
        error = merge_write(merge, fresh ? STATEMENT_MERGE_FINDING_INSERT : STATEMENT_MERGE_FINDING,
                            row, parameters, 11, NULL);
    if (fresh)
        id = (uint64_t)sqlite3_last_insert_rowid(merge->to->sqlite);
    if (!error)
        error = merge_remember(merge, &merge->findings, db_column_integer(row, 0), id);
    if (!error && fresh)
        id_map_find(&merge->findings, db_column_integer(row, 0))->mark = true;
    return error;
}

static int merge_bisection(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    struct merge_parameter parameters[11] = {{-1, 0}};
    (void)context;
    int error = merge_look_up(merge, &merge->findings, row, 0, &parameters[0].value);
    for (int i = 1; i < 11; i++)
        parameters[i].column = i;
    return error ? error : merge_write(merge, STATEMENT_MERGE_BISECTION, row, parameters, 11, NULL);
}

/* Findings that are new, and got no example: people's words keep them, or nothing does. */
static int touch_bare_findings(struct merge *merge)
{
    int error = DB_OK;
    for (size_t i = 0; i < merge->findings.room && !error; i++) {
        const struct id_pair *pair = &merge->findings.pairs[i];
        if (pair->from == 0 || !pair->mark)
            continue;
        merge->to->dirty = true;
        error = db_write(merge->to, STATEMENT_DIRTY_FINDING, VALUES(INTEGER(pair->to), INTEGER(0)));
    }
    return error;
}

/* ---- examples */

/* The kernel that a column of `from` refers to, stored here, too. */
static int merge_kernel(struct merge *merge, sqlite3_stmt *row, int column,
                        struct merge_parameter *parameter)
{
    uint64_t from = db_column_integer(row, column);
    *parameter = (struct merge_parameter){.column = column}; /* NULL stays NULL */
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return DB_OK;
    const struct id_pair *known = id_map_find(&merge->kernels, from);
    *parameter = (struct merge_parameter){-1, known ? known->to : 0};
    if (known)
        return DB_OK;
    sqlite3_stmt *kernel;
    int more =
        db_start_statement(merge->from, STATEMENT_READ_KERNEL, VALUES(INTEGER(from)), &kernel);
    if (more < 0)
        return more;
    more = db_next_row(merge->from, kernel);
    if (more == 0)
        more = db_fail(merge->from, DB_ERROR_CORRUPT,
                       "the database is damaged (a row refers to one that is not there)");
    const char *hash = db_column_text(kernel, 0), *text = db_column_text(kernel, 1);
    if (more == 1)
        more = merge_ask(merge, STATEMENT_KERNEL_ID, VALUES(TEXT(hash)), &parameter->value);
    if (more == 0 && parameter->value == 0) {
        more = db_write(merge->to, STATEMENT_KERNEL_PUT, VALUES(TEXT(hash), TEXT(text)));
        parameter->value = (uint64_t)sqlite3_last_insert_rowid(merge->to->sqlite);
    }
    db_end_statement(merge->from, STATEMENT_READ_KERNEL, kernel);
    return more < 0 ? more : merge_remember(merge, &merge->kernels, from, parameter->value);
}

/* Where an example of `from` belongs. */
struct slot {
    uint64_t campaign, key, case_number, stored_ms;
};

static int insert_example(struct merge *merge, sqlite3_stmt *row, const struct slot *slot)
{
    struct id_pair *finding =
        id_map_find(&merge->findings, db_column_integer(row, EXAMPLE_FINDING));
    if (!finding)
        return db_fail(merge->from, DB_ERROR_CORRUPT,
                       "the database is damaged (a row refers to one that is not there)");
    finding->mark = false;
    struct merge_parameter parameters[22] = {{-1, slot->campaign},
                                             {-1, slot->key},
                                             {-1, slot->case_number},
                                             {-1, finding->to},
                                             {-1, slot->stored_ms},
                                             {EXAMPLE_REPLAYED, 0},
                                             {EXAMPLE_MINIMISATION, 0},
                                             {EXAMPLE_SIGNATURE_VERSION, 0},
                                             {0, 0},
                                             {0, 0},
                                             {RANK_MINIMISED_STATEMENTS, 0}};
    int error = merge_kernel(merge, row, EXAMPLE_RAW_KERNEL, &parameters[8]);
    if (!error)
        error = merge_kernel(merge, row, EXAMPLE_MINIMISED_KERNEL, &parameters[9]);
    for (int i = 11; i < 22; i++)
        parameters[i].column = RANK_REFERENCE + i - 11;
    if (!error)
        error = merge_write(merge, STATEMENT_MERGE_EXAMPLE, row, parameters, 22, NULL);
    return error ? error : touch_key(merge, slot->campaign, slot->key);
}

/* Negative: a is the one to keep. Rows have one type a column. */
static int compare_ranks(sqlite3_stmt *a, sqlite3_stmt *b)
{
    for (int i = 0; i < RANKS; i++) {
        int order = 0;
        if (sqlite3_column_type(a, i) == SQLITE_INTEGER) {
            int64_t left = sqlite3_column_int64(a, i), right = sqlite3_column_int64(b, i);
            order = (left > right) - (left < right);
        } else {
            order = strcmp(db_column_text(a, i), db_column_text(b, i));
        }
        if (order != 0)
            return order;
    }
    return 0;
}

/* *own: what is here of the case, 0: nothing; *kept: how it compares; stored_ms becomes the earlier time. */
static int look_at_own(struct merge *merge, sqlite3_stmt *row, struct slot *slot, uint64_t *own,
                       int *order, bool *earlier)
{
    sqlite3_stmt *mine;
    *own = 0;
    int more = db_start_statement(
        merge->to, STATEMENT_EXAMPLE_OF_CASE,
        VALUES(INTEGER(slot->campaign), INTEGER(slot->key), INTEGER(slot->case_number)), &mine);
    if (more < 0)
        return more;
    more = db_next_row(merge->to, mine);
    if (more == 1) {
        uint64_t stored_ms = db_column_integer(mine, OWN_STORED_MS);
        *own = db_column_integer(mine, OWN_ID);
        *order = compare_ranks(mine, row);
        *earlier = slot->stored_ms < stored_ms;
        slot->stored_ms = *earlier ? slot->stored_ms : stored_ms;
    }
    db_end_statement(merge->to, STATEMENT_EXAMPLE_OF_CASE, mine);
    return more < 0 ? more : DB_OK;
}

static int add_example(struct merge *merge, sqlite3_stmt *row, const struct slot *slot)
{
    uint64_t below;
    int error = merge_ask(merge, STATEMENT_EXAMPLES_BELOW,
                          VALUES(INTEGER(slot->campaign), INTEGER(slot->key),
                                 INTEGER(slot->case_number), INTEGER(DB_EXAMPLES_PER_KEY)),
                          &below);
    if (error || below == DB_EXAMPLES_PER_KEY)
        return error;
    error = insert_example(merge, row, slot);
    if (!error)
        error = db_write(
            merge->to, STATEMENT_EXAMPLES_TRIM_ID,
            VALUES(INTEGER(slot->campaign), INTEGER(slot->key), INTEGER(DB_EXAMPLES_PER_KEY)));
    merge->dropped |= !error && sqlite3_changes(merge->to->sqlite) > 0;
    return error;
}

static int replace_example(struct merge *merge, sqlite3_stmt *row, const struct slot *slot,
                           uint64_t own)
{
    int error = touch_key(merge, slot->campaign, slot->key);
    if (!error)
        error = db_write(merge->to, STATEMENT_EXAMPLE_DROP, VALUES(INTEGER(own)));
    merge->dropped = true;
    return error ? error : insert_example(merge, row, slot);
}

static int merge_example(struct merge *merge, sqlite3_stmt *row, const void *context)
{
    struct slot slot = {.case_number = db_column_integer(row, EXAMPLE_CASE),
                        .stored_ms = db_column_integer(row, EXAMPLE_STORED_MS)};
    uint64_t own;
    int order = 0;
    bool earlier = false;
    (void)context;
    int error = merge_look_up(merge, &merge->campaigns, row, EXAMPLE_CAMPAIGN, &slot.campaign);
    if (!error)
        error = merge_look_up(merge, &merge->raw_keys, row, EXAMPLE_RAW_KEY, &slot.key);
    if (!error)
        error = look_at_own(merge, row, &slot, &own, &order, &earlier);
    if (error)
        return error;
    if (own == 0)
        return add_example(merge, row, &slot);
    if (order > 0)
        return replace_example(merge, row, &slot, own);
    if (!earlier)
        return DB_OK;
    error = db_write(merge->to, STATEMENT_EXAMPLE_STORED,
                     VALUES(INTEGER(own), INTEGER(slot.stored_ms)));
    return error ? error : touch_key(merge, slot.campaign, slot.key);
}

int merge_findings(struct merge *merge)
{
    int error = merge_each(merge, STATEMENT_READ_RAW_KEYS, merge_raw_key, NULL);
    if (!error)
        error = merge_each(merge, STATEMENT_READ_FINDINGS, merge_finding, NULL);
    if (!error)
        error = merge_each(merge, STATEMENT_READ_BISECTIONS, merge_bisection, NULL);
    if (!error)
        error = merge_each(merge, STATEMENT_READ_EXAMPLES, merge_example, NULL);
    if (!error)
        error = touch_bare_findings(merge);
    /* After the examples: what they change of counts is theirs to tell. */
    return error ? error : merge_each(merge, STATEMENT_READ_TALLIES, merge_tally, NULL);
}
