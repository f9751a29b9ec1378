/*
 * watch.h - memory that the process of a campaign shares with the one that watches over it
 * (supervisor.h): which case each worker is at, how far the database is, and cases that were fatal.
 *
 * A case at which the process died or hung is an incident. It is suspected first: the next process
 * runs the chunks up to it one after another, one case at a time. When that dies there, too, the
 * incident is confirmed: the case is skipped and becomes a finding of the oracle `engine`. When it
 * does not, a crash was no function of the case: a flaky finding. So what the database
 * holds of a case that always crashes does not depend on what else was running.
 *
 * The campaign's process writes slots, death and progress; the watching one writes incidents, between
 * two processes of the campaign, and `asked_to_end`.
 */
#ifndef FUZZ_WATCH_H
#define FUZZ_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    WATCH_JOBS_MAX = 256, /* workers of one campaign */
    WATCH_INCIDENTS_MAX = 4096,
    WATCH_RULE_MAX = 96,
    WATCH_CACHE_LINE = 64,
};

enum watch_phase {
    WATCH_IDLE,
    WATCH_GENERATING, /* the kernel */
    WATCH_CHECKING,   /* subjects and oracles run */
    WATCH_HOST,       /* the host program beside it is judged */
    WATCH_LITMUS,     /* litmus tests beside it are */
    WATCH_MINIMISING, /* a finding of the case is run again and minimised */
};

/* "checking": an engine finding's observable. */
const char *watch_phase_name(enum watch_phase phase);

/* Of one worker, on a cache line of its own. All relaxed: these numbers order nothing. */
struct watch_slot {
    _Alignas(WATCH_CACHE_LINE) atomic_uint_least64_t number; /* case */
    atomic_uint_least64_t chunk;                             /* of the shard, that the case is in */
    atomic_uint_least64_t beat; /* goes up whenever something was done */
    atomic_uint phase;
};

enum incident_state {
    INCIDENT_CANDIDATE, /* it took too long, or was one of those that ran when the process died of
                           something outside of it */
    INCIDENT_SUSPECT,   /* the process died in it, once */
    INCIDENT_CONFIRMED, /* and again, alone */
};

struct incident {
    uint64_t number, chunk;
    bool hang;
    enum incident_state state;
    enum watch_phase phase;
    char rule[WATCH_RULE_MAX]; /* "SIGSEGV", or what was not invariant and where, or "timeout" */
};

/* Written by the signal handler of the thread that dies first. */
struct watch_death {
    atomic_bool claimed;
    int signal;
    bool outside; /* another process sent it */
    int slot;     /* of the thread; -1: not a worker's */
    char rule[WATCH_RULE_MAX];
};

struct watch {
    struct watch_slot slots[WATCH_JOBS_MAX];
    struct watch_death death;
    atomic_uint asked_to_end;        /* how often a person or the system asked */
    atomic_uint_least64_t committed; /* chunks of this shard that the database holds */
    uint64_t campaign;               /* in the database; 0: not begun */
    uint64_t started_ms;             /* the first process, by the monotonic clock */
    uint64_t alone_until;            /* chunks below run one after another */
    uint64_t go_on_until;            /* chunks below run although the time is over */
    bool last_resort; /* nothing is run any more: incidents are stored, that is all */
    uint32_t incident_count;
    struct incident incidents[WATCH_INCIDENTS_MAX];
};

/* The incident of a case, or NULL. */
const struct incident *watch_incident(const struct watch *watch, uint64_t number);

/* "SIGSEGV" */
const char *watch_signal_name(int signal_number);

#endif
