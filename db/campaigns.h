/*
 * campaigns.h - campaigns and their shards: sessions, totals, statistics over the cases.
 */
#ifndef DB_CAMPAIGNS_H
#define DB_CAMPAIGNS_H

#include "db/handle.h"

enum db_campaign_state { DB_CAMPAIGN_RUNNING, DB_CAMPAIGN_FINISHED, DB_CAMPAIGN_INTERRUPTED };
const char *db_campaign_state_name(enum db_campaign_state state);

/* Running totals; they only grow. Equal for equal seed, options and cases, whatever the workers. */
struct db_counts {
    uint64_t cases; /* so many of this shard, from its first on, are done and stored */
    uint64_t kernels;
    uint64_t thread_steps;
    uint64_t warp_steps;
    uint64_t example_steps; /* of both, of running findings again and minimising them */
};

/* What one process works on: a part of a campaign, or all of it (0 of 1). */
struct db_shard {
    uint64_t campaign;
    uint64_t index;
};

struct db_campaign {
    uint64_t id; /* set by the database, from 1 */
    uint64_t seed;
    uint64_t cases_target; /* 0 = as many as time allows */
    uint64_t shard_index, shard_count;
    uint64_t shards;     /* how many of them this database knows; shard_index is the first */
    const char *options; /* canonical text of everything that decides what the cases are */
    const char *version; /* of simtfuzz */
    const char *config;  /* the text of the configuration file; '' = none */
    enum db_campaign_state state;
    struct db_counts counts; /* of all shards */
    /* These, and no others, may differ between two runs of one campaign. */
    uint64_t jobs, pid; /* of the last session */
    const char *host;
    uint64_t started_ms; /* of the last session; Unix time */
    uint64_t seen_ms;    /* when counts were last stored */
    uint64_t sessions;   /* 1 + how often it was resumed, over all shards */
};

/* Starts a shard with its first session, of this process. It becomes part of a campaign of equal seed,
 * options, version and shard count that has no such shard yet, or of a new one. Reads seed to config,
 * jobs, started_ms. */
DB_MUST_CHECK int db_campaign_start(struct db *db, const struct db_campaign *campaign,
                                    struct db_shard *shard);
/* A further session, of this process, of a shard that did not reach its end. */
DB_MUST_CHECK int db_campaign_resume(struct db *db, const struct db_shard *shard, uint64_t jobs,
                                     uint64_t now_ms);
/* How many cases it is to have; 0 = as many as time allows. */
DB_MUST_CHECK int db_shard_target_set(struct db *db, const struct db_shard *shard,
                                      uint64_t cases_target);
/* Stores the totals; DB_ERROR_LOCKED when another session has followed that of this handle. In the same batch as the
 * findings of those cases: --resume starts at .cases. */
DB_MUST_CHECK int db_campaign_update(struct db *db, const struct db_shard *shard,
                                     const struct db_counts *counts, uint64_t now_ms);
/* Ends the session and drops kernels that nothing refers to any more. */
DB_MUST_CHECK int db_campaign_finish(struct db *db, const struct db_shard *shard,
                                     enum db_campaign_state state, uint64_t now_ms);

/* Statistics over the cases (not seconds, so that content is the same): case numbers are divided into
 * stretches 0, 1, 2, ..., the same ones for all shards. */
struct db_statistics {
    uint64_t number;         /* of the stretch */
    uint64_t end_case;       /* it ends before this case */
    struct db_counts counts; /* db_statistics_add: what is new; in queries: the total so far */
    uint64_t findings;       /* in queries: distinct signatures so far */
};

struct db_verdict {
    const char *oracle;
    const char *verdict; /* agree, diverge, not_applicable, inconclusive */
    uint64_t count;
};

/* These add to what is stored. `rule`: as in `simtfuzz rules`, unique over all rule tables; or "RULE CONTEXT". */
DB_MUST_CHECK int db_statistics_add(struct db *db, const struct db_shard *shard,
                                    const struct db_statistics *statistics,
                                    const struct db_verdict *verdicts, size_t verdict_count);
DB_MUST_CHECK int db_rule_hits_add(struct db *db, const struct db_shard *shard, const char *rule,
                                   uint64_t hits);
DB_MUST_CHECK int db_verdicts_add(struct db *db, const struct db_shard *shard,
                                  const struct db_verdict *verdict);
/* Why an oracle did not conclude; verdict->verdict is not_applicable or inconclusive. */
DB_MUST_CHECK int db_reasons_add(struct db *db, const struct db_shard *shard,
                                 const struct db_verdict *verdict, const char *reason);

/* How often something happened to an outside implementation: "kernels", a verdict, "cpu us", ... */
struct db_outside {
    const char *subject, *version, *what;
    uint64_t count;
};
DB_MUST_CHECK int db_outside_add(struct db *db, const struct db_shard *shard,
                                 const struct db_outside *outside);

/* A case that the campaign leaves out, since the engine crashed or hung there. */
struct db_skipped {
    uint64_t campaign, case_number;
    const char *why; /* crash, hang */
    const char *detail;
};

/* Putting a case again replaces it. */
DB_MUST_CHECK int db_skipped_put(struct db *db, const struct db_skipped *skipped);

#endif
