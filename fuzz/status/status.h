/*
 * status.h - what a database says of its campaigns at one moment.
 */
#ifndef FUZZ_CLI_STATUS_H
#define FUZZ_CLI_STATUS_H

#include "fuzz/cli/cli.h"

enum { STATUS_LAST_MAX = 3, STATUS_GROWTH_MAX = 512 };

enum life {
    LIFE_RUNNING,
    LIFE_SILENT, /* on another machine, and it has not written for a minute */
    LIFE_KILLED, /* its process is gone, and it did not end */
    LIFE_INTERRUPTED,
    LIFE_FINISHED,
};

struct status_campaign {
    struct db_campaign campaign; /* with copies of its strings */
    enum life state;
    uint32_t shards_running;
    uint64_t worked_ms; /* of all its sessions; those of several shards count each */
    double rate;        /* cases a second, over all that time */
    double rate_now;    /* since the last look; below 0: there was none */
    uint32_t rules;     /* that fired */
    uint64_t findings;  /* that it saw */
    uint32_t growth_count;
    uint32_t growth[STATUS_GROWTH_MAX]; /* findings, over its cases */
};

struct status_finding {
    uint64_t id, first_seen_ms;
    enum db_status status;
    const char *signature;
};

struct overview {
    uint64_t now_ms; /* Unix time */
    bool utf8;       /* the terminal shows it */
    uint32_t count;
    struct status_campaign *campaigns;
    uint64_t findings[4];                        /* of the database, by status */
    uint32_t last_count;                         /* those that were found last, the last first */
    struct status_finding last[STATUS_LAST_MAX]; /* of those that are open */
};

/* Reads it; `campaign`: only this one, 0: all. DB_OK or a database error. */
int status_read(struct arena *arena, struct db *db, uint64_t campaign, struct overview *status);
void status_print(struct cli *cli, const struct overview *status, FILE *out);

/* Again once a second, until no campaign runs any more, or somebody wants it to end. */
int status_watch(struct cli *cli, struct db *db, const struct db_message *message,
                 uint64_t campaign);

#endif
