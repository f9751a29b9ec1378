/* What campaigns and people write. */
#include "db/internal.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

enum { HOST_MAX = 256 };

static uint64_t unix_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* "0x" and 16 digits */
enum { SEED_TEXT_MAX = 24 };

static const char *seed_text(uint64_t seed, char text[SEED_TEXT_MAX])
{
    snprintf(text, SEED_TEXT_MAX, "0x%" PRIx64, seed);
    return text;
}

/* For an UPDATE by id that must have found its row. */
static int expect_change(struct db *db, int error, const char *what, uint64_t id)
{
    if (error || sqlite3_changes(db->sqlite) > 0)
        return error;
    return db_fail(db, DB_ERROR_NOT_FOUND, "there is no %s %" PRIu64, what, id);
}

static uint64_t last_id(struct db *db)
{
    return (uint64_t)sqlite3_last_insert_rowid(db->sqlite);
}

/* ---- campaigns */

/* Of this process. */
static int insert_session(struct db *db, uint64_t id, uint64_t jobs, uint64_t now_ms)
{
    char host[HOST_MAX] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    return db_write(db, STATEMENT_SESSION_INSERT,
                    VALUES(INTEGER(id), INTEGER(jobs), INTEGER((uint64_t)getpid()), TEXT(host),
                           INTEGER(now_ms)));
}

int db_campaign_start(struct db *db, const struct db_campaign *campaign, uint64_t *id)
{
    char seed[SEED_TEXT_MAX];
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error =
        db_write(db, STATEMENT_CAMPAIGN_INSERT,
                 VALUES(TEXT(seed_text(campaign->seed, seed)), INTEGER(campaign->cases_target),
                        INTEGER(campaign->shard_index), INTEGER(campaign->shard_count),
                        TEXT(campaign->options), TEXT(campaign->version), TEXT(campaign->config)));
    if (!error) {
        *id = last_id(db);
        error = insert_session(db, *id, campaign->jobs, campaign->started_ms);
    }
    return db_group_end(db, own, error);
}

static int set_state(struct db *db, uint64_t id, enum db_campaign_state state)
{
    int error = db_write(db, STATEMENT_CAMPAIGN_STATE,
                         VALUES(INTEGER(id), TEXT(db_campaign_state_name(state))));
    return expect_change(db, error, "campaign", id);
}

int db_campaign_resume(struct db *db, uint64_t id, uint64_t jobs, uint64_t now_ms)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = set_state(db, id, DB_CAMPAIGN_RUNNING);
    if (!error)
        error = insert_session(db, id, jobs, now_ms);
    return db_group_end(db, own, error);
}

int db_campaign_update(struct db *db, uint64_t id, const struct db_progress *progress,
                       uint64_t now_ms)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_CAMPAIGN_PROGRESS,
                     VALUES(INTEGER(id), INTEGER(progress->cases), INTEGER(progress->kernels),
                            INTEGER(progress->thread_steps), INTEGER(progress->warp_steps),
                            INTEGER(progress->example_steps)));
    error = expect_change(db, error, "campaign", id);
    if (!error)
        error = db_write(db, STATEMENT_SESSION_SEEN, VALUES(INTEGER(id), INTEGER(now_ms)));
    return db_group_end(db, own, error);
}

int db_campaign_finish(struct db *db, uint64_t id, enum db_campaign_state state, uint64_t now_ms)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = set_state(db, id, state);
    if (!error)
        error = db_write(db, STATEMENT_SESSION_SEEN, VALUES(INTEGER(id), INTEGER(now_ms)));
    if (!error)
        error = db_write(db, STATEMENT_KERNELS_PRUNE, NULL, 0);
    return db_group_end(db, own, error);
}

int db_statistics_put(struct db *db, uint64_t campaign, const struct db_statistics *statistics,
                      const struct db_verdict *verdicts, size_t verdict_count)
{
    const struct db_progress *progress = &statistics->progress;
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error =
        db_write(db, STATEMENT_STATISTICS_PUT,
                 VALUES(INTEGER(campaign), INTEGER(statistics->number), INTEGER(progress->cases),
                        INTEGER(progress->kernels), INTEGER(progress->thread_steps),
                        INTEGER(progress->warp_steps), INTEGER(statistics->findings)));
    for (size_t i = 0; i < verdict_count && !error; i++)
        error = db_write(db, STATEMENT_STATISTICS_VERDICT_PUT,
                         VALUES(INTEGER(campaign), INTEGER(statistics->number),
                                TEXT(verdicts[i].oracle), TEXT(verdicts[i].verdict),
                                INTEGER(verdicts[i].count)));
    return db_group_end(db, own, error);
}

int db_rule_hits_add(struct db *db, uint64_t campaign, const char *rule, uint64_t hits)
{
    return db_write(db, STATEMENT_RULE_HITS_ADD,
                    VALUES(INTEGER(campaign), TEXT(rule), INTEGER(hits)));
}

int db_verdicts_add(struct db *db, uint64_t campaign, const struct db_verdict *verdict)
{
    return db_write(db, STATEMENT_VERDICTS_ADD,
                    VALUES(INTEGER(campaign), TEXT(verdict->oracle), TEXT(verdict->verdict),
                           INTEGER(verdict->count)));
}

int db_reasons_add(struct db *db, uint64_t campaign, const struct db_verdict *verdict,
                   const char *reason)
{
    return db_write(db, STATEMENT_REASONS_ADD,
                    VALUES(INTEGER(campaign), TEXT(verdict->oracle), TEXT(verdict->verdict),
                           TEXT(reason), INTEGER(verdict->count)));
}

int db_skipped_put(struct db *db, const struct db_skipped *skipped)
{
    return db_write(db, STATEMENT_SKIPPED_PUT,
                    VALUES(INTEGER(skipped->campaign), INTEGER(skipped->case_number),
                           TEXT(skipped->why), TEXT(skipped->detail)));
}

int db_kernel_put(struct db *db, const char *hash, const char *text)
{
    return db_write(db, STATEMENT_KERNEL_PUT, VALUES(TEXT(hash), TEXT(text)));
}

/* ---- findings */

/* What is stored of a signature. */
struct known {
    struct db_upserted result;
    uint64_t example_campaign, example_case;
};

static int look_up(struct db *db, const char *signature, bool *found, struct known *known)
{
    sqlite3_stmt *statement;
    int error =
        db_start_statement(db, STATEMENT_FINDING_LOOKUP, VALUES(TEXT(signature)), &statement);
    if (error)
        return error;
    int row = db_next_row(db, statement);
    *found = row == 1;
    if (row == 1) {
        known->result.id = db_column_integer(statement, 0);
        if (!db_status_parse(db_column_text(statement, 1), &known->result.status))
            row = db_fail(db, DB_ERROR_CORRUPT, "a finding has an unknown status");
        known->result.suppressed = db_column_integer(statement, 2) != 0;
        known->example_campaign = db_column_integer(statement, 3);
        known->example_case = db_column_integer(statement, 4);
    }
    db_end_statement(db, STATEMENT_FINDING_LOOKUP, statement);
    return row < 0 ? row : DB_OK;
}

static int put_example(struct db *db, uint64_t id, const struct db_finding *finding,
                       uint64_t campaign, uint64_t case_number)
{
    const struct db_minimised *minimised = &finding->minimised;
    return db_write(
        db, STATEMENT_EXAMPLE_PUT,
        VALUES(INTEGER(id), INTEGER(campaign), INTEGER(case_number), REFERENCE(finding->raw_kernel),
               REFERENCE(minimised->kernel), TEXT(minimised->launch), TEXT(minimised->tape),
               TEXT(minimised->case_text), TEXT(finding->raw_case), TEXT(finding->evidence)));
}

static int create_finding(struct db *db, const struct db_finding *finding, uint64_t campaign,
                          uint64_t case_number, struct db_upserted *result)
{
    int error =
        db_write(db, STATEMENT_FINDING_INSERT,
                 VALUES(TEXT(finding->signature), TEXT(finding->k1), TEXT(finding->oracle),
                        TEXT(finding->class), TEXT(finding->rule), TEXT(finding->observable),
                        TEXT(finding->subject), TEXT(db_status_name(finding->status)),
                        TEXT(finding->reference), INTEGER(finding->raw_statements),
                        INTEGER(finding->minimised.statements), INTEGER(finding->minimised.tests),
                        INTEGER(campaign), INTEGER(case_number), INTEGER(unix_ms()),
                        TEXT(finding->cause), TEXT(db_minimisation_name(finding->minimisation)),
                        INTEGER(finding->signature_version)));
    if (error)
        return error;
    result->id = last_id(db);
    result->created = true;
    result->status = finding->status;
    error = put_example(db, result->id, finding, campaign, case_number);
    if (!error)
        error = db_is_suppressed(db, finding->signature, &result->suppressed);
    return error;
}

static int replace_example(struct db *db, uint64_t id, const struct db_finding *finding,
                           uint64_t campaign, uint64_t case_number)
{
    int error =
        db_write(db, STATEMENT_FINDING_EXAMPLE,
                 VALUES(INTEGER(id), TEXT(finding->subject), INTEGER(finding->raw_statements),
                        INTEGER(finding->minimised.statements), INTEGER(finding->minimised.tests),
                        TEXT(finding->cause), TEXT(db_minimisation_name(finding->minimisation)),
                        INTEGER(finding->signature_version)));
    return error ? error : put_example(db, id, finding, campaign, case_number);
}

static int count_finding(struct db *db, uint64_t id, uint64_t campaign, uint64_t first_case,
                         uint64_t last_case, uint64_t count)
{
    int error = db_write(db, STATEMENT_FINDING_COUNT,
                         VALUES(INTEGER(id), INTEGER(campaign), INTEGER(first_case),
                                INTEGER(last_case), INTEGER(count), INTEGER(unix_ms())));
    error = expect_change(db, error, "finding", id);
    if (error)
        return error;
    return db_write(db, STATEMENT_SIGHTING_COUNT,
                    VALUES(INTEGER(id), INTEGER(campaign), INTEGER(first_case), INTEGER(last_case),
                           INTEGER(count)));
}

int db_finding_upsert(struct db *db, const struct db_finding *finding, uint64_t campaign,
                      uint64_t case_number, struct db_upserted *result)
{
    bool own, found = false;
    struct known known = {0};
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = look_up(db, finding->signature, &found, &known);
    if (!error && !found)
        error = create_finding(db, finding, campaign, case_number, &known.result);
    else if (!error && known.example_campaign == campaign && case_number < known.example_case)
        error = replace_example(db, known.result.id, finding, campaign, case_number);
    if (!error)
        error = count_finding(db, known.result.id, campaign, case_number, case_number, 1);
    *result = known.result;
    return db_group_end(db, own, error);
}

int db_finding_count(struct db *db, uint64_t id, uint64_t campaign, uint64_t first_case,
                     uint64_t last_case, uint64_t count)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    return db_group_end(db, own, count_finding(db, id, campaign, first_case, last_case, count));
}

int db_finding_minimised_set(struct db *db, uint64_t id, const struct db_finding *finding)
{
    const struct db_minimised *minimised = &finding->minimised;
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_FINDING_MINIMISED,
                     VALUES(INTEGER(id), INTEGER(minimised->statements), INTEGER(minimised->tests),
                            TEXT(finding->cause), INTEGER(finding->signature_version)));
    error = expect_change(db, error, "finding", id);
    if (!error)
        error = db_write(db, STATEMENT_EXAMPLE_MINIMISED,
                         VALUES(INTEGER(id), REFERENCE(minimised->kernel), TEXT(minimised->launch),
                                TEXT(minimised->tape), TEXT(minimised->case_text),
                                TEXT(finding->evidence)));
    return db_group_end(db, own, error);
}

int db_finding_minimisation_set(struct db *db, uint64_t id, enum db_minimisation minimisation)
{
    int error = db_write(db, STATEMENT_FINDING_MINIMISATION,
                         VALUES(INTEGER(id), TEXT(db_minimisation_name(minimisation))));
    return expect_change(db, error, "finding", id);
}

int db_finding_status_set(struct db *db, uint64_t id, enum db_status status, const char *reference)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_FINDING_STATUS,
                     VALUES(INTEGER(id), TEXT(db_status_name(status)), INTEGER(unix_ms())));
    error = expect_change(db, error, "finding", id);
    if (!error && reference)
        error = db_write(db, STATEMENT_FINDING_REFERENCE, VALUES(INTEGER(id), TEXT(reference)));
    return db_group_end(db, own, error);
}

int db_finding_note_set(struct db *db, uint64_t id, const char *note)
{
    int error =
        db_write(db, STATEMENT_FINDING_NOTE, VALUES(INTEGER(id), TEXT(note), INTEGER(unix_ms())));
    return expect_change(db, error, "finding", id);
}

int db_suppress(struct db *db, const char *signature, const char *note, uint64_t expires_ms)
{
    return db_write(db, STATEMENT_SUPPRESS,
                    VALUES(TEXT(signature), TEXT(note), INTEGER(expires_ms), INTEGER(unix_ms())));
}

int db_unsuppress(struct db *db, const char *signature)
{
    int error = db_write(db, STATEMENT_UNSUPPRESS, VALUES(TEXT(signature), INTEGER(unix_ms())));
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

/* Are `limit` occurrences with lower case numbers stored already? */
static int is_beyond_limit(struct db *db, const struct db_occurrence *occurrence, uint64_t limit,
                           bool *beyond)
{
    sqlite3_stmt *statement;
    int error =
        db_start_statement(db, STATEMENT_OCCURRENCES_BELOW,
                           VALUES(INTEGER(occurrence->finding), INTEGER(occurrence->campaign),
                                  INTEGER(occurrence->case_number), INTEGER(limit)),
                           &statement);
    if (error)
        return error;
    int row = db_next_row(db, statement);
    *beyond = row == 1 && db_column_integer(statement, 0) >= limit;
    db_end_statement(db, STATEMENT_OCCURRENCES_BELOW, statement);
    return row < 0 ? row : DB_OK;
}

static int put_occurrence(struct db *db, const struct db_occurrence *occurrence, uint64_t limit)
{
    bool beyond = false;
    int error = limit ? is_beyond_limit(db, occurrence, limit, &beyond) : DB_OK;
    if (error || beyond)
        return error;
    if (occurrence->kernel_text)
        error = db_kernel_put(db, occurrence->kernel, occurrence->kernel_text);
    if (!error)
        error = db_write(db, STATEMENT_OCCURRENCE_INSERT,
                         VALUES(INTEGER(occurrence->finding), INTEGER(occurrence->campaign),
                                INTEGER(occurrence->case_number),
                                INTEGER(occurrence->replayed ? 1 : 0), TEXT(occurrence->raw_key),
                                REFERENCE(occurrence->kernel), TEXT(occurrence->case_text),
                                TEXT(occurrence->tapes), TEXT(occurrence->cause)));
    if (!error && limit)
        error = db_write(
            db, STATEMENT_OCCURRENCES_TRIM,
            VALUES(INTEGER(occurrence->finding), INTEGER(occurrence->campaign), INTEGER(limit)));
    return error;
}

int db_occurrence_put(struct db *db, const struct db_occurrence *occurrence, uint64_t limit)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    return db_group_end(db, own, put_occurrence(db, occurrence, limit));
}
