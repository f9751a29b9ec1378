/* What campaigns write about themselves. */
#include "db/internal.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

enum { HOST_MAX = 256 };

uint64_t db_unix_ms(void)
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

int db_expect_change(struct db *db, int error, const char *what, uint64_t id)
{
    if (error || sqlite3_changes(db->sqlite) > 0)
        return error;
    return db_fail(db, DB_ERROR_NOT_FOUND, "there is no %s %" PRIu64, what, id);
}

/* ---- campaigns */

/* One number about a shard. */
static int read_number(struct db *db, enum statement which, const struct db_shard *shard,
                       uint64_t *number)
{
    sqlite3_stmt *statement;
    int error = db_start_statement(
        db, which, VALUES(INTEGER(shard->campaign), INTEGER(shard->index)), &statement);
    if (error)
        return error;
    int row = db_next_row(db, statement);
    *number = row == 1 ? db_column_integer(statement, 0) : 0;
    db_end_statement(db, which, statement);
    return row < 0 ? row : DB_OK;
}

/* A session that another one has followed must not write: what it knows is no longer so. */
static int check_session(struct db *db, const struct db_shard *shard)
{
    uint64_t last;
    const struct db_shard *own = &db->session_shard;
    if (db->session == 0 || own->campaign != shard->campaign || own->index != shard->index)
        return DB_OK;
    int error = read_number(db, STATEMENT_SESSION_LAST, shard, &last);
    if (error || last == db->session)
        return error;
    return db_fail(db, DB_ERROR_LOCKED, "campaign %" PRIu64 " was resumed by another process",
                   shard->campaign);
}

/* Of this process. */
static int insert_session(struct db *db, const struct db_shard *shard, uint64_t jobs,
                          uint64_t now_ms)
{
    char host[HOST_MAX] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    int error = db_write(db, STATEMENT_SESSION_INSERT,
                         VALUES(INTEGER(shard->campaign), INTEGER(shard->index), INTEGER(jobs),
                                INTEGER((uint64_t)getpid()), TEXT(host), INTEGER(now_ms)));
    db->session_shard = *shard;
    return error ? error : read_number(db, STATEMENT_SESSION_LAST, shard, &db->session);
}

/* The campaign that a new shard belongs to; 0 in *id: none yet. */
static int find_campaign(struct db *db, const struct db_campaign *campaign, const char *seed,
                         uint64_t *id)
{
    sqlite3_stmt *statement;
    *id = 0;
    int error =
        db_start_statement(db, STATEMENT_CAMPAIGN_JOIN,
                           VALUES(TEXT(seed), TEXT(campaign->options), TEXT(campaign->version),
                                  INTEGER(campaign->shard_count), INTEGER(campaign->shard_index)),
                           &statement);
    if (error)
        return error;
    int row = db_next_row(db, statement);
    if (row == 1)
        *id = db_column_integer(statement, 0);
    db_end_statement(db, STATEMENT_CAMPAIGN_JOIN, statement);
    return row < 0 ? row : DB_OK;
}

static int find_or_insert_campaign(struct db *db, const struct db_campaign *campaign, uint64_t *id)
{
    char text[SEED_TEXT_MAX];
    const char *seed = seed_text(campaign->seed, text);
    int error = find_campaign(db, campaign, seed, id);
    if (error)
        return error;
    if (*id > 0)
        return db_write(
            db, STATEMENT_CAMPAIGN_JOINED,
            VALUES(INTEGER(*id), INTEGER(campaign->started_ms), TEXT(campaign->config)));
    error = db_write(db, STATEMENT_CAMPAIGN_INSERT,
                     VALUES(TEXT(seed), TEXT(campaign->options), TEXT(campaign->version),
                            INTEGER(campaign->shard_count), INTEGER(campaign->started_ms),
                            TEXT(campaign->config)));
    *id = (uint64_t)sqlite3_last_insert_rowid(db->sqlite);
    return error;
}

int db_campaign_start(struct db *db, const struct db_campaign *campaign, struct db_shard *shard)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    shard->index = campaign->shard_index;
    error = find_or_insert_campaign(db, campaign, &shard->campaign);
    if (!error)
        error = db_write(db, STATEMENT_SHARD_INSERT,
                         VALUES(INTEGER(shard->campaign), INTEGER(shard->index),
                                INTEGER(campaign->cases_target)));
    if (!error)
        error = insert_session(db, shard, campaign->jobs, campaign->started_ms);
    return db_group_end(db, own, error);
}

static int set_state(struct db *db, const struct db_shard *shard, enum db_campaign_state state)
{
    int error = db_write(db, STATEMENT_SHARD_STATE,
                         VALUES(INTEGER(shard->campaign), INTEGER(shard->index),
                                TEXT(db_campaign_state_name(state))));
    return db_expect_change(db, error, "campaign", shard->campaign);
}

static int set_seen(struct db *db, const struct db_shard *shard, uint64_t now_ms)
{
    return db_write(db, STATEMENT_SESSION_SEEN,
                    VALUES(INTEGER(shard->campaign), INTEGER(shard->index), INTEGER(now_ms)));
}

int db_campaign_resume(struct db *db, const struct db_shard *shard, uint64_t jobs, uint64_t now_ms)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = set_state(db, shard, DB_CAMPAIGN_RUNNING);
    if (!error)
        error = insert_session(db, shard, jobs, now_ms);
    return db_group_end(db, own, error);
}

int db_shard_target_set(struct db *db, const struct db_shard *shard, uint64_t cases_target)
{
    int error =
        db_write(db, STATEMENT_SHARD_TARGET,
                 VALUES(INTEGER(shard->campaign), INTEGER(shard->index), INTEGER(cases_target)));
    return db_expect_change(db, error, "campaign", shard->campaign);
}

int db_shard_time(struct db *db, const struct db_shard *shard, uint64_t *milliseconds)
{
    return read_number(db, STATEMENT_SESSION_TIMES, shard, milliseconds);
}

int db_campaign_update(struct db *db, const struct db_shard *shard, const struct db_counts *counts,
                       uint64_t now_ms)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = check_session(db, shard);
    if (error)
        return db_group_end(db, own, error);
    error = db_write(db, STATEMENT_SHARD_PROGRESS,
                     VALUES(INTEGER(shard->campaign), INTEGER(shard->index), INTEGER(counts->cases),
                            INTEGER(counts->kernels), INTEGER(counts->thread_steps),
                            INTEGER(counts->warp_steps), INTEGER(counts->example_steps)));
    error = db_expect_change(db, error, "campaign", shard->campaign);
    if (!error)
        error = set_seen(db, shard, now_ms);
    return db_group_end(db, own, error);
}

int db_campaign_finish(struct db *db, const struct db_shard *shard, enum db_campaign_state state,
                       uint64_t now_ms)
{
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = check_session(db, shard);
    if (!error)
        error = set_state(db, shard, state);
    if (!error)
        error = set_seen(db, shard, now_ms);
    if (!error)
        error = db_write(db, STATEMENT_KERNELS_PRUNE, NULL, 0);
    return db_group_end(db, own, error);
}

int db_statistics_add(struct db *db, const struct db_shard *shard,
                      const struct db_statistics *statistics, const struct db_verdict *verdicts,
                      size_t verdict_count)
{
    const struct db_counts *counts = &statistics->counts;
    bool own;
    int error = db_group_begin(db, &own);
    if (error)
        return error;
    error = db_write(db, STATEMENT_STATISTICS_ADD,
                     VALUES(INTEGER(shard->campaign), INTEGER(statistics->number),
                            INTEGER(shard->index), INTEGER(statistics->end_case),
                            INTEGER(counts->cases), INTEGER(counts->kernels),
                            INTEGER(counts->thread_steps), INTEGER(counts->warp_steps)));
    for (size_t i = 0; i < verdict_count && !error; i++)
        error = db_write(db, STATEMENT_STATISTICS_VERDICT_ADD,
                         VALUES(INTEGER(shard->campaign), INTEGER(statistics->number),
                                TEXT(verdicts[i].oracle), TEXT(verdicts[i].verdict),
                                INTEGER(shard->index), INTEGER(verdicts[i].count)));
    return db_group_end(db, own, error);
}

int db_rule_hits_add(struct db *db, const struct db_shard *shard, const char *rule, uint64_t hits)
{
    return db_write(
        db, STATEMENT_RULE_HITS_ADD,
        VALUES(INTEGER(shard->campaign), TEXT(rule), INTEGER(shard->index), INTEGER(hits)));
}

int db_verdicts_add(struct db *db, const struct db_shard *shard, const struct db_verdict *verdict)
{
    return db_write(db, STATEMENT_VERDICTS_ADD,
                    VALUES(INTEGER(shard->campaign), TEXT(verdict->oracle), TEXT(verdict->verdict),
                           INTEGER(shard->index), INTEGER(verdict->count)));
}

int db_reasons_add(struct db *db, const struct db_shard *shard, const struct db_verdict *verdict,
                   const char *reason)
{
    return db_write(db, STATEMENT_REASONS_ADD,
                    VALUES(INTEGER(shard->campaign), TEXT(verdict->oracle), TEXT(verdict->verdict),
                           TEXT(reason), INTEGER(shard->index), INTEGER(verdict->count)));
}

int db_outside_add(struct db *db, const struct db_shard *shard, const struct db_outside *outside)
{
    return db_write(db, STATEMENT_OUTSIDE_ADD,
                    VALUES(INTEGER(shard->campaign), TEXT(outside->subject), TEXT(outside->version),
                           TEXT(outside->what), INTEGER(shard->index), INTEGER(outside->count)));
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
