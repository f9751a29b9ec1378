/*
 * queries.h - what a database is asked.
 */
#ifndef DB_QUERIES_H
#define DB_QUERIES_H

#include "db/findings.h"

/* Callbacks return false to stop early (the query still succeeds). They must not write. */
typedef bool db_finding_use(void *context, const struct db_finding *finding);
typedef bool db_occurrence_use(void *context, const struct db_occurrence *occurrence);
typedef bool db_tally_use(void *context, const char *raw_key, const struct db_tally *tally);
typedef bool db_campaign_use(void *context, const struct db_campaign *campaign);
/* A finding in a campaign; a process that worked on a campaign. */
struct db_sighting {
    uint64_t finding, campaign;
    uint64_t first_case, last_case, occurrences;
};
struct db_session {
    uint64_t campaign, number; /* from 0 within the campaign */
    uint64_t jobs, started_ms, seen_ms;
};
typedef bool db_sighting_use(void *context, const struct db_sighting *sighting);
typedef bool db_session_use(void *context, const struct db_session *session);
typedef bool db_statistics_use(void *context, const struct db_statistics *statistics);
typedef bool db_rule_use(void *context, const char *rule, uint64_t hits);
typedef bool db_verdict_use(void *context, const struct db_verdict *verdict, const char *reason);
struct db_suppression {
    const char *signature, *note;
    uint64_t expires_ms; /* 0 = never */
    bool active;         /* false: it has expired */
    uint64_t findings;   /* that it covers, with any status */
    uint64_t held;       /* ... of these: open or a regression but for suppressions */
};
typedef bool db_suppression_use(void *context, const struct db_suppression *suppression);
typedef bool db_skipped_use(void *context, const struct db_skipped *skipped);
typedef void db_text_use(void *context, const char *text, size_t length);

enum { DB_ANY_STATUS = 0xf };
#define DB_STATUS_BIT(status) (1u << (status))

/* Findings with one of the statuses of the mask (DB_STATUS_BIT), in the order of their ids. To be
 * quick, the example's texts (raw_kernel, raw_case, evidence, those of minimised) are left ''. */
DB_MUST_CHECK int db_findings(struct db *db, unsigned statuses, db_finding_use *use, void *context);
/* The same for those that the campaign has seen, for the first time or again. */
DB_MUST_CHECK int db_campaign_findings(struct db *db, uint64_t campaign, unsigned statuses,
                                       db_finding_use *use, void *context);
/* Of all findings in all campaigns, by finding, then campaign. */
DB_MUST_CHECK int db_sightings(struct db *db, db_sighting_use *use, void *context);

/* Which findings, and how many. All zero: every one. */
struct db_selection {
    unsigned states; /* DB_STATE_BIT; 0 = any */
    const char *const *oracles;
    size_t oracle_count; /* 0 = any */
    uint64_t since_ms;   /* seen at or after; 0 = any */
    uint64_t
        since_campaign; /* seen in this campaign or in one that was started after it; 0 = any */
    bool fresh;         /* not seen before the last campaign */
    uint64_t low, high; /* ids; high 0 = any */
    /* Each word stands in the signature, cause, note, reference, subject, evidence or kernels, whatever its case. */
    const char *const *words;
    size_t word_count;
    bool by_id; /* otherwise by state, then the last seen first, then the most frequent */
    uint64_t limit, offset; /* limit 0 = all */
};

enum { DB_WORDS_MAX = 16, DB_ORACLES_MAX = 32 };
#define DB_STATE_BIT(state) (1u << (state))

/* Texts as in db_findings. */
DB_MUST_CHECK int db_findings_select(struct db *db, const struct db_selection *selection,
                                     db_finding_use *use, void *context);
/* How many there are without limit and offset. */
DB_MUST_CHECK int db_findings_count(struct db *db, const struct db_selection *selection,
                                    uint64_t *count);

/* The finding that a person means by `name`: a number, a signature, or its unique prefix. */
DB_MUST_CHECK int db_finding_resolve(struct db *db, const char *name, uint64_t *id);
DB_MUST_CHECK int db_finding_get(struct db *db, uint64_t id, db_finding_use *use, void *context);
/* By campaign, then case number. */
DB_MUST_CHECK int db_occurrences(struct db *db, uint64_t finding, db_occurrence_use *use,
                                 void *context);
DB_MUST_CHECK int db_kernel_get(struct db *db, const char *hash, db_text_use *use, void *context);

/* In the order of their ids. */
DB_MUST_CHECK int db_campaigns(struct db *db, db_campaign_use *use, void *context);
DB_MUST_CHECK int db_campaign_get(struct db *db, uint64_t id, db_campaign_use *use, void *context);
/* Of all campaigns, by campaign, then number. */
DB_MUST_CHECK int db_sessions(struct db *db, db_session_use *use, void *context);
/* The same for single shards, of one campaign; their progress and last session. */
DB_MUST_CHECK int db_shards(struct db *db, uint64_t campaign, db_campaign_use *use, void *context);
/* Of all its sessions together. */
DB_MUST_CHECK int db_shard_time(struct db *db, const struct db_shard *shard,
                                uint64_t *milliseconds);
/* What --resume goes on with: of the last campaign of this seed, options and version, the shard, if it is
 * not finished. DB_ERROR_NOT_FOUND when there is none. Reads seed, options, version and shard. */
DB_MUST_CHECK int db_campaign_unfinished(struct db *db, const struct db_campaign *like,
                                         struct db_shard *shard);
/* The raw keys that a shard has seen; the first DB_EXAMPLES_PER_KEY of each were handed in as examples. */
DB_MUST_CHECK int db_tallies(struct db *db, const struct db_shard *shard, db_tally_use *use,
                             void *context);

/* Of one campaign, or the sum over all (campaign 0); by name. */
DB_MUST_CHECK int db_rule_hits(struct db *db, uint64_t campaign, db_rule_use *use, void *context);
/* Likewise of a rule in a context, "RULE CONTEXT", with the cases of the sample in which it fired there. */
DB_MUST_CHECK int db_pair_hits(struct db *db, uint64_t campaign, db_rule_use *use, void *context);
/* reason is '' */
DB_MUST_CHECK int db_verdicts(struct db *db, uint64_t campaign, db_verdict_use *use, void *context);
DB_MUST_CHECK int db_reasons(struct db *db, uint64_t campaign, db_verdict_use *use, void *context);
DB_MUST_CHECK int db_statistics(struct db *db, uint64_t campaign, db_statistics_use *use,
                                void *context);
/* Likewise; by subject, version, what. */
typedef bool db_outside_use(void *context, const struct db_outside *outside);
DB_MUST_CHECK int db_outside(struct db *db, uint64_t campaign, db_outside_use *use, void *context);
/* By case number. */
DB_MUST_CHECK int db_skipped(struct db *db, uint64_t campaign, db_skipped_use *use, void *context);
/* By signature; also those that have expired. */
DB_MUST_CHECK int db_suppressions(struct db *db, db_suppression_use *use, void *context);

#endif
