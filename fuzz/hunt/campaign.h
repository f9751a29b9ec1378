/*
 * campaign.h - a hunt with several workers, each a process, and with a database that it goes on from.
 */
#ifndef FUZZ_HUNT_CAMPAIGN_H
#define FUZZ_HUNT_CAMPAIGN_H

#include "db/db.h"
#include "fuzz/hunt/hunt.h"

enum { OUTSIDE_WORKERS_MOST = 64 };

struct outside_campaign {
    struct hunt_options *hunt; /* `workers` of them; the settings' folder is made here */
    const char *db;            /* NULL: nothing is stored */
    bool resume, seed_given;
    /* What a worker does with a finding, in its process; `stored`: what the database says of it, or NULL. */
    void (*found)(void *context, const struct hunt_finding *finding,
                  const struct db_upserted *stored);
    void *context;
};

enum outside_outcome {
    OUTSIDE_DONE,
    OUTSIDE_NOTHING, /* --resume: there is nothing to go on with */
    OUTSIDE_FAULT    /* the database, or no process can be made */
};

enum { OUTSIDE_NEW, OUTSIDE_OPEN, OUTSIDE_BACK, OUTSIDE_KINDS };

struct outside_totals {
    struct hunt_summary summary; /* of this session */
    uint64_t campaign;           /* in the database; 0: none */
    /* Signatures that the campaign has seen, in all its sessions, and that want attention. */
    uint64_t kinds[OUTSIDE_KINDS];
    struct db_message message; /* of a fault */
};

/* Everything that decides what the cases are and what is asked about them, beside the seed. */
const char *outside_print_options(struct arena *arena, const struct hunt_options *options);

enum outside_outcome outside_campaign_run(struct arena *arena,
                                          const struct outside_campaign *campaign,
                                          struct outside_totals *totals);

#endif
