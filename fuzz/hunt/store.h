/*
 * store.h - what a hunt finds and counts, in the triage database: a campaign like those of `run`, of as many shards as
 * there are workers. Findings have the oracle `outside`; their evidence (evidence.h) says the rest.
 *
 * Examples are stored at once, since making one small takes long; counters and progress with each batch.
 */
#ifndef FUZZ_HUNT_STORE_H
#define FUZZ_HUNT_STORE_H

#include "db/db.h"
#include "fuzz/hunt/hunt.h"

struct store;

/* Where a worker's findings go. */
struct store_place {
    const char *path;
    const char *options;   /* what decides the cases, as text (campaign.h) */
    struct db_shard shard; /* campaign 0: a new one is started */
};

/* NULL: *message says why. */
struct store *store_open(struct arena *arena, const struct store_place *place,
                         const struct hunt_options *options, struct db_message *message);
/* The number of the campaign. */
uint64_t store_campaign(const struct store *store);
/* With what is not stored yet; negative: enum db_error, of the first failure. */
int store_close(struct store *store, bool finished);

enum hunt_had store_had(struct store *store, const struct hunt_finding *finding);
/* *stored: what it is in the database; false: it could not be stored. */
bool store_found(struct store *store, const struct hunt_finding *finding,
                 struct db_upserted *stored);
bool store_seen(struct store *store, const struct hunt_finding *finding, enum hunt_had had,
                struct db_upserted *stored);
void store_batch(struct store *store, const struct hunt_summary *summary, uint64_t done);

#endif
