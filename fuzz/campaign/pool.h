/*
 * pool.h - the worker threads of a campaign.
 *
 * A chunk is CAMPAIGN_CHUNK consecutive case numbers. Shard i of n has the chunks c with c mod n = i, so
 * what a chunk holds is the same however a campaign is split. Here chunks are counted within the shard: number 0 is its
 * first. A worker takes the next chunk number from an atomic counter, fills the chunk's record in a ring without
 * touching anything shared, and publishes it under the lock: one lock operation a chunk. The collector consumes chunks
 * in order; workers that are a whole ring ahead of it wait (backpressure). Between chunks a worker takes jobs: findings
 * that the collector wants to have run again and minimised.
 */
#ifndef FUZZ_POOL_H
#define FUZZ_POOL_H

#include "fuzz/campaign/collector.h"
#include "fuzz/case/example.h"

enum { CHUNK_RING = 64, POOL_JOBS_MAX = 32 };

struct pool;

/* Called by the waiting collector every now and then. False: it is time to give up waiting. */
typedef bool pool_tick(void *context);

/* Starts the workers; `first`: the first chunk that is new. NULL: *error says what the system refused. */
struct pool *pool_start(const struct campaign_options *options, uint64_t first, pool_tick *tick,
                        void *context, const char **error);
/* Waits for the workers to end and frees everything. False: some worker hangs and was left behind,
 * the pool with it. */
bool pool_finish(struct pool *pool);

/* Workers start no further chunk; hurry: they also leave the current one after the current case. */
void pool_stop(struct pool *pool, bool hurry);

/* Running minimisations end with their best so far, no further one is begun. */
void pool_stop_minimising(struct pool *pool);

/* Planned cases of a chunk; 0 beyond the end of the campaign. */
uint32_t pool_chunk_cases(const struct pool *pool, uint64_t number);
/* The number of its first case. */
uint64_t pool_chunk_first(const struct pool *pool, uint64_t number);

/* Waits for the chunk `number`, which must be the next one in order. NULL: the campaign has ended
 * before it. The record stays valid until pool_release. */
const struct chunk *pool_wait_chunk(struct pool *pool, uint64_t number);
void pool_release(struct pool *pool, uint64_t number);

/* A job for the workers: example_make of the case of a finding; the chunk must not be released before.
 * Without `minimise` it is run once. Returns its slot, or -1 when all are taken. */
int pool_submit(struct pool *pool, const struct chunk *chunk, const struct chunk_finding *finding,
                bool minimise);
/* NULL: gave up. The example stays valid until pool_job_free. */
const struct example *pool_wait_job(struct pool *pool, int slot);
void pool_job_free(struct pool *pool, int slot);

/* Reports to `log`, once for each, cases that have been running for too long. Returns how
 * many hang now. */
uint32_t pool_watch(struct pool *pool, uint64_t now_ms, FILE *log);
/* The cases that hung when pool_watch looked last, and how many; nobody waits for their workers from now on. */
uint32_t pool_hanging(struct pool *pool, struct incident incidents[WATCH_JOBS_MAX]);
/* What a worker is at; it changes all the time. */
const struct watch_slot *pool_slot(const struct pool *pool, uint32_t worker);
/* Cases of the options' shard, 0: no end. */
uint64_t pool_planned_cases(const struct campaign_options *options);
/* The same, of this pool. */
uint64_t pool_shard_cases(const struct pool *pool);
/* Cases of the shard that are done so far, earlier processes' included, whether consumed or not: for progress
 * lines. */
uint64_t pool_cases_done(const struct pool *pool);
/* The summary's steps, rules' hits and verdicts as they are once the collector has taken what workers have done: in
 * the chunks that are done and in those that they are at. `before`: those that were stored when the pool started. What
 * is shown while a campaign runs; what is stored comes from chunks alone. */
void pool_show_counts(const struct pool *pool, const struct campaign_summary *before,
                      struct campaign_summary *summary);

#endif
