/*
 * collector.h - the one writer of a campaign: takes finished chunks in order, re-runs and minimises
 * what diverged, and keeps the database.
 */
#ifndef FUZZ_COLLECTOR_H
#define FUZZ_COLLECTOR_H

#include "db/db.h"
#include "fuzz/campaign.h"

enum {
    CHUNK_FINDINGS_MAX = CAMPAIGN_CHUNK * ORACLE_COUNT,
    CHUNK_REASONS_MAX = 24,
    SIGNATURE_MAX = 200,
    REASON_MAX = 120
};

struct chunk_finding {
    uint64_t number; /* of the case */
    enum oracle_id oracle;
    char signature[SIGNATURE_MAX]; /* of the raw case */
};

struct chunk_reason {
    enum oracle_id oracle;
    enum verdict verdict;
    uint64_t count;
    char text[REASON_MAX];
};

/* What a worker hands over for CAMPAIGN_CHUNK consecutive cases. */
struct chunk {
    uint64_t number; /* of the chunk */
    uint64_t cases, refused, thread_steps, warp_steps;
    uint64_t hits[RULE_COUNT + 1];
    uint64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
    uint32_t finding_count, reason_count;
    struct chunk_finding findings[CHUNK_FINDINGS_MAX];
    struct chunk_reason reasons[CHUNK_REASONS_MAX]; /* the last one collects what did not fit */
};

struct collector;

/* Opens the database and starts a campaign in it. NULL: `message` says why. */
struct collector *collector_open(struct arena *arena, const struct campaign_options *options,
                                 struct campaign_summary *summary, struct db_message *message);

/* Takes the next chunk, in order of their numbers. *stop is set when the campaign should end
 * (stop_on_finding). Negative: a database error, in the message. */
int collector_take(struct collector *collector, const struct chunk *chunk, bool *stop);

/* Commits what is pending. */
int collector_commit(struct collector *collector);

/* Ends the campaign in the database and closes it. */
int collector_close(struct collector *collector, bool interrupted);

/* Findings by signature for the final table: read back from the database of an ended campaign. */
void collector_print_findings(const struct campaign_options *options,
                              const struct campaign_summary *summary, FILE *out);

#endif
