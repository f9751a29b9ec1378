/*
 * collector.h - the one writer of a campaign: takes finished chunks in order, has the findings run
 * again and minimised, and keeps the database.
 *
 * Of each raw signature the first EXAMPLES_PER_KEY findings in the order of cases become examples:
 * they are run again from their case three times, minimised, and stored with their tapes. Later ones
 * are counted in the bucket that the first example went into.
 */
#ifndef FUZZ_COLLECTOR_H
#define FUZZ_COLLECTOR_H

#include "fuzz/campaign.h"

enum {
    CHUNK_FINDINGS_MAX = CAMPAIGN_CHUNK * ORACLE_COUNT,
    CHUNK_REASONS_MAX = 128, /* distinct ones; what does not fit is counted as "other reasons" */
    SIGNATURE_MAX = 200,
    EXAMPLES_PER_KEY = 4,
};

struct chunk_finding {
    uint64_t number; /* of the case */
    char signature[SIGNATURE_MAX];
};

struct chunk_reason {
    enum oracle_id oracle;
    enum verdict verdict;
    uint64_t count;
    char text[REASON_MAX];
};

/* What a worker hands over for CAMPAIGN_CHUNK consecutive cases, in their order. */
struct chunk {
    uint64_t cases; /* fewer than planned when the campaign was stopped */
    uint64_t refused, thread_steps, warp_steps;
    uint64_t hits[RULE_COUNT];
    uint64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
    uint32_t finding_count, reason_count;
    struct chunk_finding findings[CHUNK_FINDINGS_MAX];
    struct chunk_reason reasons[CHUNK_REASONS_MAX];
};

struct collector;
struct pool;

/* Opens the database and starts a campaign in it. NULL: `message` says why. The message is also
 * where later failures leave their sentence. */
struct collector *collector_open(struct arena *arena, const struct campaign_options *options,
                                 struct campaign_summary *summary, struct db_message *message);

/* Takes chunk `number`, in order. *stop is set when the campaign should end (stop_on_finding).
 * DB_OK, or a negative database error; 1: gave up waiting for workers, the chunk is not stored. */
int collector_take(struct collector *collector, struct pool *pool, uint64_t number,
                   const struct chunk *chunk, bool *stop);

/* Commits what is pending if the last commit was a second ago (or, at once). */
int collector_commit(struct collector *collector, bool at_once);

/* Ends the campaign in the database and closes it; also after a failure (then nothing is written). */
int collector_close(struct collector *collector, bool failed);

#endif
