/*
 * process.h - another program, run to its end: what it printed, how it ended.
 */
#ifndef FUZZ_PROCESS_H
#define FUZZ_PROCESS_H

#include "engine/base/arena.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_result {
    bool started;   /* false: `error` says why not */
    bool timed_out; /* killed by us */
    int status;     /* exit status; -1: ended by `signal` */
    int signal;
    const char *output; /* standard output; what is beyond PROCESS_OUTPUT_MAX is dropped */
    const char *error;  /* the first line of standard error */
};

enum { PROCESS_OUTPUT_MAX = 64 << 20 };

/* arguments[0] is the program (a path: the search path is not used), NULL ends them. Standard input is empty.
 * Two files in `folder` are written over. */
struct process_result process_run(struct arena *arena, const char *folder, char *const *arguments,
                                  uint64_t time_ms);

/* Set by a signal handler: the process that is waited for is killed, and those that follow, too. */
extern volatile sig_atomic_t process_stop;

/* Waits for a process of ours to end; kills it after this time. Its wait status. */
int process_wait(pid_t pid, uint64_t time_ms, bool *timed_out);

#endif
