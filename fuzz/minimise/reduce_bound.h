/*
 * reduce_bound.h - a reduction that ends when it is told to: by Ctrl-C or SIGTERM, when --time is
 * over; and says how far it is meanwhile.
 *
 * It runs on a thread of its own. Asked between two runs it ends by itself, as long before the time
 * is over as it takes to confirm what it has. One that is in the middle of a long run cannot be
 * asked: the best so far is then taken from it when the time is over, unconfirmed, and the process
 * ends without waiting for it.
 */
#ifndef FUZZ_REDUCE_BOUND_H
#define FUZZ_REDUCE_BOUND_H

#include "fuzz/out/live_line.h"
#include "fuzz/reduce/reduce.h"

#include <pthread.h>

struct reduce_bound {
    struct live_line line;
    uint64_t deadline_ms; /* clock_monotonic_ms; 0: none */
    uint64_t time_ms;     /* up to it */
    uint32_t confirming;  /* runs that come behind the last test */
    uint32_t size_before;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool ended, abandoned;
    void (*work)(void *context);
    void *context;
    uint64_t asked_ms, longest_ms; /* last time; the longest time between two questions */
    struct arena arena;            /* of `best` */
    const char *best;              /* text */
    uint32_t best_number, size, tests;
};

/* `confirming`: how many runs come behind the last test. `started_ms` is what the time counts from;
 * 0 for time_ms: without an end. `kernel` is the best at first. False: no memory.
 * reduce_bound_close is called in any case. */
bool reduce_bound_open(struct reduce_bound *bound, uint64_t started_ms, uint64_t time_ms,
                       uint32_t confirming, const struct ast_kernel *kernel);
void reduce_bound_close(struct reduce_bound *bound);

/* Goes with reduce_options: both of its go_on. */
bool reduce_bound_go_on(void *context, const struct reduce_so_far *so_far);

/* Calls work(context), which sees to it that reduce_bound_go_on is asked. False: the time was over,
 * and it is still at work: nothing that it uses may be touched, and the process must end by _exit;
 * bound->best stays as it is. */
bool reduce_bound_run(struct reduce_bound *bound, void (*work)(void *context), void *context);

#endif
