/*
 * collector_state.h - what a collector holds between chunks, for those who store it (collector.c) and who
 * load it (collector_start.c).
 */
#ifndef FUZZ_COLLECTOR_STATE_H
#define FUZZ_COLLECTOR_STATE_H

#include "fuzz/base/key_table.h"
#include "fuzz/campaign/collector.h"
#include "fuzz/case/example.h"

/* A raw signature. */
struct raw_key {
    uint32_t examples;     /* taken so far */
    uint32_t bucket;       /* index + 1 in the summary's findings; 0: none yet */
    struct db_tally fresh; /* occurrences that are not stored yet */
};

struct collector {
    struct arena *arena; /* of the campaign */
    struct arena text;   /* strings of one finding, emptied after it */
    const struct campaign_options *options;
    struct campaign_summary *summary;
    struct db *db;
    struct db_shard shard;
    struct db_message *message;
    bool batch; /* a transaction is open */
    bool gave_up;
    uint32_t rows;
    uint64_t opened_ms, committed_ms;
    struct db_counts counts;
    uint64_t stored_hits[RULE_COUNT]; /* of the summary's, already in the database */
    uint64_t stored_pairs[RULE_COUNT][CONTEXT_COUNT];
    uint64_t stored_verdicts[ORACLE_COUNT][VERDICT_COUNT],
        stored_beside[BESIDE_COUNT][VERDICT_COUNT];
    struct db_statistics statistics; /* that are not stored yet */
    uint64_t statistics_verdicts[ORACLE_COUNT][VERDICT_COUNT];
    struct key_table key_texts, signatures; /* of keys, and of the summary's findings */
    uint32_t key_room, finding_room, reason_room;
    struct raw_key *keys;
    struct campaign_summary before; /* the current chunk, with its findings' occurrences */
    uint64_t *occurrences_before;
    uint32_t before_room;
    uint64_t
        *kept; /* cases that the database has as skipped from an earlier process: counted there */
    uint32_t kept_count, kept_room;
    uint64_t example_steps;        /* of examples so far */
    uint32_t examples_under_way;   /* that are not among these yet */
    int slots[CHUNK_FINDINGS_MAX]; /* of the current chunk's jobs, by finding; -1 = none */
};

/* The key of a raw signature. Valid until the next call. */
struct raw_key *collector_key_of(struct collector *c, const char *signature);
/* The campaign's entry of a stored finding: its index. */
uint32_t collector_bucket_of(struct collector *c, const struct db_upserted *stored,
                             const struct db_finding *finding, uint64_t case_number);
/* Valid until the next call. */
struct campaign_reason *collector_add_reason(struct collector *c, const struct chunk_reason *from);

/* One occurrence more of a key, in the campaign's entry `bucket`. */
void collector_count(struct collector *c, struct raw_key *key, uint64_t case_number,
                     uint32_t bucket);
/* Stores what became of a finding that was to be an example, and counts it. */
int collector_store(struct collector *c, const struct chunk_finding *from,
                    const struct example *example);
/* Stores that the case was left out, if it was. */
int collector_skip_case(struct collector *c, const struct chunk_finding *finding);
/* Begins the transaction of what follows, unless one is open. */
int collector_open_batch(struct collector *c);

/* Begins a campaign in the open database, or goes on with the one that the options name. */
int collector_start(struct collector *c);

#endif
