/*
 * host_store.h - what `run --host` found, in the database of findings: a campaign of its own, which can be resumed.
 */
#ifndef FUZZ_HOST_STORE_H
#define FUZZ_HOST_STORE_H

#include "db/db.h"
#include "fuzz/programs/host_divergence.h"

struct host_store;

struct host_campaign {
    const char *path;
    uint64_t seed, cases, first;
    bool seed_given, resume;
    uint32_t schedules;
    const char *device;
};

/* The campaign goes on where it was, or begins; *seed is its seed, *done how many of its cases are stored. NULL:
 * *error. */
struct host_store *host_store_open(struct arena *arena, const struct host_campaign *campaign,
                                   struct db_message *message, uint64_t *seed, uint64_t *done,
                                   int *error);

/* A case is over. `d`: what was wrong with the program, of class NULL if nothing was. */
void host_store_case(struct host_store *store, const struct host_case *c, const char *program,
                     const struct host_divergence *d, uint64_t steps);

/* Stores what is not stored yet. The first error. */
int host_store_close(struct host_store *store, bool finished);

#endif
