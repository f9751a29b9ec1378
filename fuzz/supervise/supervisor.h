/*
 * supervisor.h - watches over a process that runs a campaign, so that a kernel at which the engine
 * crashes or hangs costs one case and not the night.
 *
 * The body runs in a child process. When that dies, or a case of it makes no progress for too long (then
 * it is killed), the incident is learnt (watch.h) and a new child goes on from what the database holds.
 * SIGINT, SIGTERM and SIGHUP are heard here and asked of the child; a second one ends everything at once.
 * When this process dies, the child does.
 */
#ifndef FUZZ_SUPERVISOR_H
#define FUZZ_SUPERVISOR_H

#include "fuzz/supervise/watch.h"

#include <stdio.h>

enum {
    SUPERVISOR_CASE_TIMEOUT_MS = 60 * 1000,
    SUPERVISOR_CRASHES_IN_A_ROW = 20, /* cases that are fatal, before one chunk is stored */
};

struct supervisor {
    uint64_t case_timeout_ms;
    FILE *log;
};

/* Runs one child process after the other until one ends by itself, and returns its exit status (3 when
 * there is no hope). `body` returns an exit status; standard output is flushed after it. */
int supervise(const struct supervisor *supervisor, int (*body)(void *context, struct watch *watch),
              void *context);

/* Whether another program traces this one, or a sanitizer wants to see the process die: then the
 * campaign is better run in this process. */
bool supervisor_is_in_the_way(void);

#endif
