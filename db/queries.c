/* What is read back. The order of the columns is that of statements.def. */
#include "db/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_SHOWN = 8 };

/* Runs a query whose rows `row` hands on; `row` returns 1 to go on, 0 to stop, negative on failure.
 * *rows, if not NULL, receives how many there were. */
typedef int row_reader(struct db *db, sqlite3_stmt *statement, void *context);

static int for_each_row(struct db *db, enum statement which, const struct value *values,
                        size_t value_count, row_reader *row, void *context, uint64_t *rows)
{
    sqlite3_stmt *statement;
    uint64_t count = 0;
    int more = db_start_statement(db, which, values, value_count, &statement);
    if (more < 0)
        return more;
    while ((more = db_next_row(db, statement)) == 1) {
        count++;
        more = row(db, statement, context);
        if (more != 1)
            break;
    }
    db_end_statement(db, which, statement);
    if (rows)
        *rows = count;
    return more < 0 ? more : DB_OK;
}

/* ---- findings */

struct finding_context {
    db_finding_use *use;
    void *context;
    unsigned statuses;
};

int db_read_finding(struct db *db, sqlite3_stmt *row, struct db_finding *finding)
{
    *finding = (struct db_finding){
        .id = db_column_integer(row, 0),
        .signature = db_column_text(row, 1),
        .k1 = db_column_text(row, 2),
        .oracle = db_column_text(row, 3),
        .class = db_column_text(row, 4),
        .rule = db_column_text(row, 5),
        .observable = db_column_text(row, 6),
        .subject = db_column_text(row, 7),
        .reference = db_column_text(row, 9),
        .note = db_column_text(row, 10),
        .raw_kernel = "",
        .raw_case = "",
        .raw_statements = db_column_integer(row, 11),
        .minimised = {.kernel = "",
                      .launch = "",
                      .tape = "",
                      .case_text = "",
                      .statements = db_column_integer(row, 12),
                      .tests = db_column_integer(row, 13)},
        .evidence = "",
        .first_campaign = db_column_integer(row, 14),
        .first_case = db_column_integer(row, 15),
        .last_campaign = db_column_integer(row, 16),
        .last_case = db_column_integer(row, 17),
        .occurrences = db_column_integer(row, 18),
        .first_seen_ms = db_column_integer(row, 19),
        .last_seen_ms = db_column_integer(row, 20),
        .status_ms = db_column_integer(row, 21),
        .suppressed = db_column_integer(row, 22) != 0,
        .cause = db_column_text(row, 23),
        .signature_version = db_column_integer(row, 25),
        .note_ms = db_column_integer(row, 26),
    };
    if (!db_status_parse(db_column_text(row, 8), &finding->status) ||
        !db_state_parse(db_column_text(row, 27), &finding->state))
        return db_fail(db, DB_ERROR_CORRUPT, "finding %" PRIu64 " has an unknown status",
                       finding->id);
    if (!db_minimisation_parse(db_column_text(row, 24), &finding->minimisation))
        return db_fail(db, DB_ERROR_CORRUPT, "finding %" PRIu64 " has an unknown minimisation",
                       finding->id);
    return DB_OK;
}

static int listed_finding(struct db *db, sqlite3_stmt *row, void *context)
{
    const struct finding_context *to = context;
    struct db_finding finding;
    int error = db_read_finding(db, row, &finding);
    if (error)
        return error;
    if (!(to->statuses & DB_STATUS_BIT(finding.status)))
        return 1;
    return to->use(to->context, &finding);
}

int db_findings(struct db *db, unsigned statuses, db_finding_use *use, void *context)
{
    struct finding_context to = {.use = use, .context = context, .statuses = statuses};
    return for_each_row(db, STATEMENT_FINDINGS, NULL, 0, listed_finding, &to, NULL);
}

int db_campaign_findings(struct db *db, uint64_t campaign, unsigned statuses, db_finding_use *use,
                         void *context)
{
    struct finding_context to = {.use = use, .context = context, .statuses = statuses};
    return for_each_row(db, STATEMENT_CAMPAIGN_FINDINGS, VALUES(INTEGER(campaign)), listed_finding,
                        &to, NULL);
}

static int whole_finding(struct db *db, sqlite3_stmt *row, void *context)
{
    const struct finding_context *to = context;
    struct db_finding finding;
    int error = db_read_finding(db, row, &finding);
    if (error)
        return error;
    finding.raw_kernel = db_column_text(row, 28);
    finding.raw_case = db_column_text(row, 29);
    finding.minimised.kernel = db_column_text(row, 30);
    finding.minimised.launch = db_column_text(row, 31);
    finding.minimised.tape = db_column_text(row, 32);
    finding.minimised.case_text = db_column_text(row, 33);
    finding.evidence = db_column_text(row, 34);
    return to->use(to->context, &finding);
}

int db_finding_get(struct db *db, uint64_t id, db_finding_use *use, void *context)
{
    struct finding_context to = {.use = use, .context = context};
    uint64_t rows;
    int error =
        for_each_row(db, STATEMENT_FINDING_GET, VALUES(INTEGER(id)), whole_finding, &to, &rows);
    if (!error && rows == 0)
        error = db_fail(db, DB_ERROR_NOT_FOUND, "there is no finding %" PRIu64, id);
    return error;
}

static int stop_at_first(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    (void)row;
    (void)context;
    return 0;
}

static int resolve_number(struct db *db, const char *name, uint64_t *id)
{
    char *end;
    uint64_t number = strtoull(name, &end, 10);
    uint64_t rows = 0;
    int error = DB_OK;
    if (number <= INT64_MAX)
        error = for_each_row(db, STATEMENT_FINDING_GET, VALUES(INTEGER(number)), stop_at_first,
                             NULL, &rows);
    if (!error && rows == 0)
        error = db_fail(db, DB_ERROR_NOT_FOUND, "there is no finding %s", name);
    if (!error)
        *id = number;
    return error;
}

struct candidates {
    const char *prefix;
    uint64_t id; /* of the first */
    uint64_t count;
    bool exact;
    char names[DB_MESSAGE_MAX - 200];
    size_t used;
};

static void list_candidate(struct candidates *found, const char *signature)
{
    size_t left = sizeof found->names - found->used;
    int length =
        snprintf(found->names + found->used, left, "%s%s", found->count ? ", " : "", signature);
    if (length > 0 && (size_t)length < left)
        found->used += (size_t)length;
    else
        found->names[found->used] = '\0'; /* only whole names */
}

/* Signatures come in order, so those with the prefix are together, and first of all the one that is
 * nothing but the prefix. */
static int candidate(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    struct candidates *found = context;
    const char *signature = db_column_text(row, 1);
    if (strncmp(signature, found->prefix, strlen(found->prefix)) != 0)
        return 0;
    if (found->count == 0)
        found->id = db_column_integer(row, 0);
    if (found->count < CANDIDATES_SHOWN)
        list_candidate(found, signature);
    found->count++;
    found->exact = found->exact || strcmp(signature, found->prefix) == 0;
    return found->exact ? 0 : 1;
}

int db_finding_resolve(struct db *db, const char *name, uint64_t *id)
{
    if (name[0] != '\0' && name[strspn(name, "0123456789")] == '\0')
        return resolve_number(db, name, id);
    struct candidates found = {.prefix = name};
    int error =
        for_each_row(db, STATEMENT_FINDING_BY_PREFIX, VALUES(TEXT(name)), candidate, &found, NULL);
    if (error)
        return error;
    if (found.count == 0)
        return db_fail(db, DB_ERROR_NOT_FOUND, "no finding has a signature that starts with '%s'",
                       name);
    if (found.count > 1)
        return db_fail(db, DB_ERROR_AMBIGUOUS, "'%.64s' may mean %" PRIu64 " findings: %s%s", name,
                       found.count, found.names, found.count > CANDIDATES_SHOWN ? ", ..." : "");
    *id = found.id;
    return DB_OK;
}

struct occurrence_context {
    db_occurrence_use *use;
    void *context;
};

static int read_occurrence(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct occurrence_context *to = context;
    struct db_occurrence occurrence = {
        .finding = db_column_integer(row, 0),
        .campaign = db_column_integer(row, 1),
        .case_number = db_column_integer(row, 2),
        .case_text = db_column_text(row, 3),
        .kernel = db_column_text(row, 4),
        .tapes = db_column_text(row, 5),
        .raw_key = db_column_text(row, 6),
        .replayed = db_column_integer(row, 7) != 0,
        .cause = db_column_text(row, 8),
    };
    return to->use(to->context, &occurrence);
}

int db_occurrences(struct db *db, uint64_t finding, db_occurrence_use *use, void *context)
{
    struct occurrence_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_OCCURRENCES, VALUES(INTEGER(finding)), read_occurrence, &to,
                        NULL);
}

struct sighting_context {
    db_sighting_use *use;
    void *context;
};

static int read_sighting(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct sighting_context *to = context;
    struct db_sighting sighting = {.finding = db_column_integer(row, 0),
                                   .campaign = db_column_integer(row, 1),
                                   .first_case = db_column_integer(row, 2),
                                   .last_case = db_column_integer(row, 3),
                                   .occurrences = db_column_integer(row, 4)};
    return to->use(to->context, &sighting);
}

int db_sightings(struct db *db, db_sighting_use *use, void *context)
{
    struct sighting_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_SIGHTINGS, NULL, 0, read_sighting, &to, NULL);
}

struct text_context {
    db_text_use *use;
    void *context;
};

static int read_text(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct text_context *to = context;
    const char *text = db_column_text(row, 0);
    to->use(to->context, text, strlen(text));
    return 0;
}

int db_kernel_get(struct db *db, const char *hash, db_text_use *use, void *context)
{
    struct text_context to = {.use = use, .context = context};
    uint64_t rows;
    int error = for_each_row(db, STATEMENT_KERNEL_GET, VALUES(TEXT(hash)), read_text, &to, &rows);
    if (!error && rows == 0)
        error = db_fail(db, DB_ERROR_NOT_FOUND, "there is no kernel '%s'", hash ? hash : "");
    return error;
}

/* ---- campaigns */

struct campaign_context {
    db_campaign_use *use;
    void *context;
};

static bool parse_state(const char *name, enum db_campaign_state *state)
{
    for (int i = DB_CAMPAIGN_RUNNING; i <= DB_CAMPAIGN_INTERRUPTED; i++) {
        if (strcmp(name, db_campaign_state_name((enum db_campaign_state)i)) == 0) {
            *state = (enum db_campaign_state)i;
            return true;
        }
    }
    return false;
}

static int read_campaign(struct db *db, sqlite3_stmt *row, void *context)
{
    const struct campaign_context *to = context;
    struct db_campaign campaign = {
        .id = db_column_integer(row, 0),
        .seed = strtoull(db_column_text(row, 1), NULL, 16),
        .cases_target = db_column_integer(row, 2),
        .shard_index = db_column_integer(row, 3),
        .shard_count = db_column_integer(row, 4),
        .options = db_column_text(row, 5),
        .version = db_column_text(row, 6),
        .counts = {.cases = db_column_integer(row, 8),
                   .kernels = db_column_integer(row, 9),
                   .thread_steps = db_column_integer(row, 10),
                   .warp_steps = db_column_integer(row, 11),
                   .example_steps = db_column_integer(row, 20)},
        .jobs = db_column_integer(row, 12),
        .started_ms = db_column_integer(row, 13),
        .seen_ms = db_column_integer(row, 14),
        .sessions = db_column_integer(row, 15),
        .config = db_column_text(row, 16),
        .pid = db_column_integer(row, 17),
        .host = db_column_text(row, 18),
        .shards = db_column_integer(row, 19),
    };
    if (!parse_state(db_column_text(row, 7), &campaign.state))
        return db_fail(db, DB_ERROR_CORRUPT, "campaign %" PRIu64 " has an unknown state",
                       campaign.id);
    return to->use(to->context, &campaign);
}

int db_campaigns(struct db *db, db_campaign_use *use, void *context)
{
    struct campaign_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_CAMPAIGNS, NULL, 0, read_campaign, &to, NULL);
}

int db_campaign_get(struct db *db, uint64_t id, db_campaign_use *use, void *context)
{
    struct campaign_context to = {.use = use, .context = context};
    uint64_t rows;
    int error =
        for_each_row(db, STATEMENT_CAMPAIGN_GET, VALUES(INTEGER(id)), read_campaign, &to, &rows);
    if (!error && rows == 0)
        error = db_fail(db, DB_ERROR_NOT_FOUND, "there is no campaign %" PRIu64, id);
    return error;
}

int db_shards(struct db *db, uint64_t campaign, db_campaign_use *use, void *context)
{
    struct campaign_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_SHARDS, VALUES(INTEGER(campaign)), read_campaign, &to, NULL);
}

struct session_context {
    db_session_use *use;
    void *context;
};

static int read_session(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct session_context *to = context;
    struct db_session session = {.campaign = db_column_integer(row, 0),
                                 .number = db_column_integer(row, 1),
                                 .jobs = db_column_integer(row, 2),
                                 .started_ms = db_column_integer(row, 3),
                                 .seen_ms = db_column_integer(row, 4)};
    return to->use(to->context, &session);
}

int db_sessions(struct db *db, db_session_use *use, void *context)
{
    struct session_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_SESSIONS, NULL, 0, read_session, &to, NULL);
}

static int read_id(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    uint64_t *id = context;
    *id = db_column_integer(row, 0);
    return 0;
}

int db_campaign_unfinished(struct db *db, const struct db_campaign *like, struct db_shard *shard)
{
    char seed[24];
    snprintf(seed, sizeof seed, "0x%" PRIx64, like->seed);
    uint64_t rows;
    shard->index = like->shard_index;
    int error = for_each_row(db, STATEMENT_CAMPAIGN_UNFINISHED,
                             VALUES(TEXT(seed), TEXT(like->options), TEXT(like->version),
                                    INTEGER(like->shard_index), INTEGER(like->shard_count)),
                             read_id, &shard->campaign, &rows);
    if (!error && rows == 0)
        error = db_fail(db, DB_ERROR_NOT_FOUND,
                        "there is no unfinished campaign with seed %s and these options", seed);
    return error;
}

struct tally_context {
    db_tally_use *use;
    void *context;
};

static int read_tally(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct tally_context *to = context;
    struct db_tally tally = {.occurrences = db_column_integer(row, 1),
                             .first_case = db_column_integer(row, 2),
                             .last_case = db_column_integer(row, 3)};
    return to->use(to->context, db_column_text(row, 0), &tally);
}

int db_tallies(struct db *db, const struct db_shard *shard, db_tally_use *use, void *context)
{
    struct tally_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_TALLIES,
                        VALUES(INTEGER(shard->campaign), INTEGER(shard->index)), read_tally, &to,
                        NULL);
}

struct rule_context {
    db_rule_use *use;
    void *context;
};

static int read_rule(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct rule_context *to = context;
    return to->use(to->context, db_column_text(row, 0), db_column_integer(row, 1));
}

int db_rule_hits(struct db *db, uint64_t campaign, db_rule_use *use, void *context)
{
    struct rule_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_RULE_HITS, VALUES(INTEGER(campaign), INTEGER(0)), read_rule,
                        &to, NULL);
}

int db_pair_hits(struct db *db, uint64_t campaign, db_rule_use *use, void *context)
{
    struct rule_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_RULE_HITS, VALUES(INTEGER(campaign), INTEGER(1)), read_rule,
                        &to, NULL);
}

struct verdict_context {
    db_verdict_use *use;
    void *context;
};

static int read_verdict(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct verdict_context *to = context;
    struct db_verdict verdict = {.oracle = db_column_text(row, 0),
                                 .verdict = db_column_text(row, 1),
                                 .count = db_column_integer(row, 2)};
    return to->use(to->context, &verdict, db_column_text(row, 3));
}

int db_verdicts(struct db *db, uint64_t campaign, db_verdict_use *use, void *context)
{
    struct verdict_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_VERDICTS, VALUES(INTEGER(campaign)), read_verdict, &to, NULL);
}

int db_reasons(struct db *db, uint64_t campaign, db_verdict_use *use, void *context)
{
    struct verdict_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_REASONS, VALUES(INTEGER(campaign)), read_verdict, &to, NULL);
}

struct statistics_context {
    db_statistics_use *use;
    void *context;
};

static int read_statistics(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct statistics_context *to = context;
    struct db_statistics statistics = {.number = db_column_integer(row, 0),
                                       .counts = {.cases = db_column_integer(row, 1),
                                                  .kernels = db_column_integer(row, 2),
                                                  .thread_steps = db_column_integer(row, 3),
                                                  .warp_steps = db_column_integer(row, 4)},
                                       .findings = db_column_integer(row, 5),
                                       .end_case = db_column_integer(row, 6)};
    return to->use(to->context, &statistics);
}

int db_statistics(struct db *db, uint64_t campaign, db_statistics_use *use, void *context)
{
    struct statistics_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_STATISTICS, VALUES(INTEGER(campaign)), read_statistics, &to,
                        NULL);
}

struct suppression_context {
    db_suppression_use *use;
    void *context;
};

static int read_suppression(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct suppression_context *to = context;
    struct db_suppression suppression = {.signature = db_column_text(row, 0),
                                         .note = db_column_text(row, 1),
                                         .expires_ms = db_column_integer(row, 2),
                                         .active = db_column_integer(row, 3) != 0,
                                         .findings = db_column_integer(row, 4),
                                         .held = db_column_integer(row, 5)};
    return to->use(to->context, &suppression);
}

int db_suppressions(struct db *db, db_suppression_use *use, void *context)
{
    struct suppression_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_SUPPRESSIONS, NULL, 0, read_suppression, &to, NULL);
}

struct bisection_context {
    db_bisection_use *use;
    void *context;
};

static int read_bisection(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct bisection_context *to = context;
    struct db_bisection bisection = {.finding = db_column_integer(row, 0),
                                     .form = db_column_text(row, 1),
                                     .answer = db_column_text(row, 2),
                                     .before = db_column_text(row, 3),
                                     .after = db_column_text(row, 4),
                                     .unclear = db_column_integer(row, 5),
                                     .builds = db_column_integer(row, 6),
                                     .asked = db_column_integer(row, 7),
                                     .silent = db_column_integer(row, 8),
                                     .changes = db_column_integer(row, 9),
                                     .changed_ms = db_column_integer(row, 10)};
    return to->use(to->context, &bisection);
}

int db_bisections(struct db *db, uint64_t finding, db_bisection_use *use, void *context)
{
    struct bisection_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_BISECTIONS, VALUES(INTEGER(finding)), read_bisection, &to,
                        NULL);
}

struct skipped_context {
    db_skipped_use *use;
    void *context;
};

static int read_skipped(struct db *db, sqlite3_stmt *row, void *context)
{
    (void)db;
    const struct skipped_context *to = context;
    struct db_skipped skipped = {.campaign = db_column_integer(row, 0),
                                 .case_number = db_column_integer(row, 1),
                                 .why = db_column_text(row, 2),
                                 .detail = db_column_text(row, 3)};
    return to->use(to->context, &skipped);
}

int db_skipped(struct db *db, uint64_t campaign, db_skipped_use *use, void *context)
{
    struct skipped_context to = {.use = use, .context = context};
    return for_each_row(db, STATEMENT_SKIPPED, VALUES(INTEGER(campaign)), read_skipped, &to, NULL);
}
