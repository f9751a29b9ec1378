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

#include "fuzz/campaign/chunk.h"

enum {
    EXAMPLES_PER_KEY = 4,
    EXAMPLE_ALLOWANCE =
        1 << 26, /* steps for examples beyond what the cases took: some ten seconds */
    EXAMPLE_TYPICAL_STEPS = 1 << 18, /* what one may be taken to need, until it is known */
};

struct collector;
struct pool;

/* Opens the database and starts a campaign in it, or goes on with one: then the summary begins with what is
 * stored. NULL: `message` says why. The message is also
 * where later failures leave their sentence. */
struct collector *collector_open(struct arena *arena, const struct campaign_options *options,
                                 struct campaign_summary *summary, struct db_message *message);

/* Takes chunk `number`, in order. *stop is set when the campaign should end (stop_on_finding).
 * DB_OK, or a negative database error; 1: the chunk is not stored, since a worker hangs or the campaign ends
 * before its examples are minimised. */
int collector_take(struct collector *collector, struct pool *pool, uint64_t number,
                   const struct chunk *chunk, bool *stop);

/* Commits what is pending if the last commit was a second ago (or, at once). */
int collector_commit(struct collector *collector, bool at_once);

/* When the chunks they are in will not be stored - the engine is too broken, a worker hangs, somebody ended the
 * campaign -: stores what is known of the cases that are confirmed to be fatal, in chunks from `first` on - the
 * findings, their kernels, that the cases were skipped - but none of the cases as done. */
int collector_keep_incidents(struct collector *collector, const struct incident *incidents,
                             uint32_t count, uint64_t first);

/* Ends the campaign in the database and closes it; also after a failure (then nothing is written). */
int collector_close(struct collector *collector, bool failed);

#endif
