/* What campaigns find, and what people say about it. */
#include "db/internal.h"

#include <string.h>

/* ---- examples */

/* What is stored of a signature, or an example of it would make. */
static int look_up(struct db *db, const struct db_finding *finding, struct db_upserted *result)
{
    sqlite3_stmt *statement;
    int error = db_start_statement(db, STATEMENT_FINDING_LOOKUP, VALUES(TEXT(finding->signature)),
                                   &statement);
    if (error)
        return error;
    bool known = finding->reference && finding->reference[0];
    *result =
        (struct db_upserted){.created = true, .status = known ? DB_STATUS_KNOWN : DB_STATUS_OPEN};
    int row = db_next_row(db, statement);
    if (row == 1) {
        result->id = db_column_integer(statement, 0);
        /* Without an example it is only what somebody said, and new. */
        result->created = sqlite3_column_type(statement, 3) == SQLITE_NULL;
        bool said = db_column_integer(statement, 2) > 0;
        if (said && !db_status_parse(db_column_text(statement, 1), &result->status))
            row = db_fail(db, DB_ERROR_CORRUPT, "a finding has an unknown status");
    }
    db_end_statement(db, STATEMENT_FINDING_LOOKUP, statement);
    return row < 0 ? row : DB_OK;
}

static int insert_finding(struct db *db, const struct db_finding *finding,
                          struct db_upserted *result)
{
    int error =
        db_write(db, STATEMENT_FINDING_INSERT,
                 VALUES(TEXT(finding->signature), TEXT(finding->k1), TEXT(finding->oracle),
                        TEXT(finding->class), TEXT(finding->rule), TEXT(finding->observable),
                        TEXT(db_status_name(result->status)), TEXT(finding->reference)));
    result->id = (uint64_t)sqlite3_last_insert_rowid(db->sqlite);
    return error;
}

static int insert_example(struct db *db, const struct db_finding *finding,
                          const struct db_occurrence *occurrence, uint64_t id)
{
    const struct db_minimised *minimised = &finding->minimised;
    int error = db_write(db, STATEMENT_RAW_KEY_PUT, VALUES(TEXT(occurrence->raw_key)));
    if (error)
        return error;
    return db_write(db, STATEMENT_EXAMPLE_INSERT,
                    VALUES(INTEGER(occurrence->campaign), TEXT(occurrence->raw_key),
                           INTEGER(occurrence->case_number), INTEGER(id), INTEGER(db_unix_ms()),
                           INTEGER(occurrence->replayed ? 1 : 0), TEXT(finding->reference),
                           INTEGER(finding->raw_statements), INTEGER(minimised->statements),
                           INTEGER(minimised->tests), REFERENCE(finding->raw_kernel),
                           REFERENCE(minimised->kernel), TEXT(finding->subject),
                           TEXT(finding->raw_case), TEXT(occurrence->tapes),
                           TEXT(minimised->launch), TEXT(minimised->tape),
                           TEXT(minimised->case_text), TEXT(finding->evidence),
                           TEXT(finding->cause), TEXT(db_minimisation_name(finding->minimisation)),
                           INTEGER(finding->signature_version)));
}

/* The findings of a raw key's examples are to be derived again. */
static int touch_key(struct db *db, uint64_t campaign, const char *raw_key)
{
    db->dirty = true;
    return db_write(db, STATEMENT_DIRTY_KEY, VALUES(INTEGER(campaign), TEXT(raw_key)));
}

static int put_example(struct db *db, const struct db_finding *finding,
                       const struct db_occurrence *occurrence, struct db_upserted *result)
{
    int error = look_up(db, finding, result);
    if (!error && result->id == 0)
        error = insert_finding(db, finding, result);
    if (!error)
        error = insert_example(db, finding, occurrence, result->id);
    if (!error)
        error = touch_key(db, occurrence->campaign, occurrence->raw_key);
    if (!error)
        error = db_write(db, STATEMENT_EXAMPLES_TRIM,
                         VALUES(INTEGER(occurrence->campaign), TEXT(occurrence->raw_key),
                                INTEGER(DB_EXAMPLES_PER_KEY)));
    if (!error)
        error = db_is_suppressed(db, finding->signature, &result->suppressed);
    return error;
}

int db_example_put(struct db *db, const struct db_finding *finding,
                   const struct db_occurrence *occurrence, struct db_upserted *result)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    return db_group_end(db, own, put_example(db, finding, occurrence, result));
}

static int add_tally(struct db *db, const struct db_shard *shard, const char *raw_key,
                     const struct db_tally *tally)
{
    int error = db_write(db, STATEMENT_RAW_KEY_PUT, VALUES(TEXT(raw_key)));
    if (!error)
        error = db_write(db, STATEMENT_TALLY_ADD,
                         VALUES(INTEGER(shard->campaign), TEXT(raw_key), INTEGER(shard->index),
                                INTEGER(tally->occurrences), INTEGER(tally->first_case),
                                INTEGER(tally->last_case), INTEGER(db_unix_ms())));
    return error ? error : touch_key(db, shard->campaign, raw_key);
}

int db_tally_add(struct db *db, const struct db_shard *shard, const char *raw_key,
                 const struct db_tally *tally)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    return db_group_end(db, own, add_tally(db, shard, raw_key, tally));
}

int db_finding_minimised_set(struct db *db, uint64_t id, const struct db_finding *finding)
{
    const struct db_minimised *minimised = &finding->minimised;
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_EXAMPLE_MINIMISED,
                     VALUES(INTEGER(id), REFERENCE(minimised->kernel), TEXT(minimised->launch),
                            TEXT(minimised->tape), TEXT(minimised->case_text),
                            INTEGER(minimised->statements), INTEGER(minimised->tests),
                            TEXT(finding->cause), INTEGER(finding->signature_version),
                            TEXT(finding->evidence)));
    error = db_expect_change(db, error, "finding", id);
    if (!error)
        error =
            db_write(db, STATEMENT_FINDING_MINIMISED,
                     VALUES(INTEGER(id), INTEGER(minimised->statements), INTEGER(minimised->tests),
                            TEXT(finding->cause), INTEGER(finding->signature_version)));
    return db_group_end(db, own, error);
}

int db_finding_minimisation_set(struct db *db, uint64_t id, enum db_minimisation minimisation)
{
    const char *name = db_minimisation_name(minimisation);
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_EXAMPLE_MINIMISATION, VALUES(INTEGER(id), TEXT(name)));
    error = db_expect_change(db, error, "finding", id);
    if (!error)
        error = db_write(db, STATEMENT_FINDING_MINIMISATION, VALUES(INTEGER(id), TEXT(name)));
    return db_group_end(db, own, error);
}

/* ---- people */

int db_finding_status_set(struct db *db, uint64_t id, enum db_status status, const char *reference)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_FINDING_STATUS,
                     VALUES(INTEGER(id), TEXT(db_status_name(status)), INTEGER(db_unix_ms())));
    error = db_expect_change(db, error, "finding", id);
    if (!error && reference)
        error = db_write(db, STATEMENT_FINDING_REFERENCE, VALUES(INTEGER(id), TEXT(reference)));
    return db_group_end(db, own, error);
}

int db_finding_note_set(struct db *db, uint64_t id, const char *note)
{
    int error = db_write(db, STATEMENT_FINDING_NOTE,
                         VALUES(INTEGER(id), TEXT(note), INTEGER(db_unix_ms())));
    return db_expect_change(db, error, "finding", id);
}

int db_bisection_put(struct db *db, const struct db_bisection *b)
{
    return db_write(db, STATEMENT_BISECTION_PUT,
                    VALUES(INTEGER(b->finding), TEXT(b->form), TEXT(b->answer), TEXT(b->before),
                           TEXT(b->after), INTEGER(b->unclear), INTEGER(b->builds),
                           INTEGER(b->asked), INTEGER(b->silent), INTEGER(b->changes),
                           INTEGER(db_unix_ms())));
}

int db_suppress(struct db *db, const char *signature, const char *note, uint64_t expires_ms)
{
    return db_write(
        db, STATEMENT_SUPPRESS,
        VALUES(TEXT(signature), TEXT(note), INTEGER(expires_ms), INTEGER(db_unix_ms())));
}

int db_unsuppress(struct db *db, const char *signature)
{
    int error = db_write(db, STATEMENT_UNSUPPRESS, VALUES(TEXT(signature), INTEGER(db_unix_ms())));
    if (error || sqlite3_changes(db->sqlite) > 0)
        return error;
    return db_fail(db, DB_ERROR_NOT_FOUND, "no suppression of %s", signature);
}

int db_is_suppressed(struct db *db, const char *signature, bool *suppressed)
{
    sqlite3_stmt *statement;
    int error =
        db_start_statement(db, STATEMENT_IS_SUPPRESSED, VALUES(TEXT(signature)), &statement);
    if (error)
        return error;
    int row = db_next_row(db, statement);
    if (row == 1)
        *suppressed = db_column_integer(statement, 0) != 0;
    db_end_statement(db, STATEMENT_IS_SUPPRESSED, statement);
    return row < 0 ? row : DB_OK;
}
