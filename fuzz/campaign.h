/*
 * campaign.h - a budgeted hunt: a pool of workers, one writer.
 *
 * Workers take chunks of consecutive cases from one atomic counter. Each has its own arena, reset per
 * case; the case loop allocates nothing, locks nothing and makes no system call. A finished chunk -
 * counters and which cases diverged - goes to the collector, which handles chunks in order. So
 * everything that it decides, and the content of the database, is a function of the cases alone,
 * whatever the number of workers.
 */
#ifndef FUZZ_CAMPAIGN_H
#define FUZZ_CAMPAIGN_H

#include "fuzz/gen.h"
#include "oracle/check.h"

#include <stdio.h>

enum { CAMPAIGN_JOBS_MAX = 256, CAMPAIGN_CHUNK = 64 };

struct campaign_options {
    uint64_t seed;
    uint64_t cases;                    /* of this shard; 0 = until the time is over */
    double seconds;                    /* 0 = no limit (cases must then be given) */
    uint32_t jobs;                     /* 1..CAMPAIGN_JOBS_MAX */
    uint64_t shard_index, shard_count; /* cases whose number is shard_index modulo shard_count */
    bool stop_on_finding;              /* stop at the first one that is not known */
    struct gen_options gen;
    struct check_options check;
    const char *db_path;
    uint32_t minimise_tests; /* candidates that the reducer may try for a finding; 0 = 3000 */
    bool live;               /* a status line a second to `log`, rewritten in place; otherwise one
                                a minute */
    FILE *log;               /* progress */
};

/* What a person wants to know afterwards. */
struct campaign_summary {
    uint64_t campaign; /* its number in the database */
    uint64_t cases, refused, thread_steps, warp_steps;
    double seconds;
    uint64_t hits[RULE_COUNT + 1];
    uint64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
    uint64_t occurrences;    /* divergences in all */
    uint32_t new_findings;   /* signatures not in the database before, not known, not suppressed */
    uint32_t open_findings;  /* signatures seen that are open and not suppressed */
    uint32_t known_findings; /* signatures seen that are marked known (or invalid) */
    uint32_t flaky;          /* divergences that a re-run from the case did not show: our bug */
    bool interrupted;
};

/* Runs a campaign into the database. SIGINT and SIGTERM end it cleanly; a second one at once.
 * Returns the exit status of the command line (0, 1, 3); for 3, `message` says why. */
int campaign_run(const struct campaign_options *options, struct campaign_summary *summary,
                 char *message, size_t message_size);

/* The final table. */
void campaign_print(const struct campaign_options *options, const struct campaign_summary *summary,
                    FILE *out);

#endif
