/*
 * crash.h - the last words of a thread that dies: which case it was at.
 *
 * A failed INVARIANT, a wild pointer or a stack without end stops the whole process with exit status
 * 3; what the database had committed stays. A process that watches over this one (supervisor.h) is told
 * which worker it was.
 */
#ifndef FUZZ_CRASH_H
#define FUZZ_CRASH_H

#include <stdint.h>
#include <stdio.h>

struct watch;

struct crash_note {
    const char *seed;         /* of the campaign, as text */
    const char *command;      /* prints the case's kernel when its number is put behind it */
    int slot;                 /* of the watch (watch.h) */
    volatile uint64_t number; /* written by the thread itself, read by its own signal handler */
};

/* Once, before threads are started. `watch`: who is told of a death, or NULL. */
void crash_install(struct watch *watch);
/* For the calling thread: its note, and a stack of its own for the handler. */
void crash_thread_start(struct crash_note *note);
void crash_thread_end(void);
/* ", in case N of seed S": of the calling thread; nothing outside of campaigns. */
void crash_say_case(FILE *out);

#endif
