/*
 * reduce_schedule.h - the schedule with the fewest context switches on which a kernel is still
 * interesting.
 */
#ifndef FUZZ_REDUCE_SCHEDULE_H
#define FUZZ_REDUCE_SCHEDULE_H

#include "fuzz/reduce/interest.h"

/* A schedule to shorten: a kernel that is interesting on a tape. */
struct schedule_search {
    struct arena *scratch; /* emptied again and again */
    const struct ast_kernel *kernel;
    struct check_options check;
    const struct interest *interest;
    uint32_t max_tests, tests;    /* executions of the case: at most, so far */
    uint64_t max_steps, steps;    /* of threads and warps in these; 0 = no limit */
    bool (*go_on)(void *context); /* as in reduce_options */
    void *context;
};

/*
 * The tape with the fewest context switches found on which the kernel is still interesting; the
 * given one when none is better, NULL when it needs no tape (it is so on the sequential execution).
 */
const struct tape *reduce_schedule(struct arena *arena, struct schedule_search *search,
                                   const struct tape *tape);

#endif
