/*
 * view.h - a campaign at one moment, as it is shown: what the screen (ui.h) and the stats file (stats_file.h)
 * have in common. Filled by display.c.
 */
#ifndef FUZZ_UI_VIEW_H
#define FUZZ_UI_VIEW_H

#include "fuzz/campaign/campaign.h"
#include "fuzz/supervise/watch.h"

enum { VIEW_GROWTH_MAX = 128 };

struct view_worker {
    uint64_t number; /* case */
    enum watch_phase phase;
    uint64_t still_ms; /* since it last got anything done */
};

struct view {
    const struct campaign_options *options;
    const struct campaign_summary *summary; /* with steps, rules and verdicts of all cases done */
    const char *state;                      /* "running", "ending", or how it ended */
    uint64_t elapsed_ms;
    uint64_t left_ms;
    bool left_known;
    uint64_t cases;            /* done, whether taken or not */
    uint64_t shard_cases;      /* to do; 0: no end */
    double rate_now, rate_all; /* cases a second */
    double steps_now;          /* thread and warp steps a second */
    uint32_t rules;            /* that fired */
    uint32_t growth_count;     /* rules at equal distances in time */
    uint32_t growth[VIEW_GROWTH_MAX];
    uint32_t new_findings, open_findings, regressed_findings,
        known_findings;                  /* each in one of them */
    const struct campaign_finding *last; /* NULL: none yet */
    uint64_t last_age_ms;
    uint32_t worker_count;
    struct view_worker workers[CAMPAIGN_JOBS_MAX];
    const char *message; /* the last line of the log; "" */
};

#endif
