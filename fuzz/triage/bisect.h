/*
 * bisect.h - the build in a row, from old to new, at which something starts or ceases to show.
 *
 * Builds that cannot say (they do not run, or cannot run this) are passed over, as `git bisect skip` does;
 * then the answer may be several builds. A binary search believes that there is one change: it sees too few
 * builds to notice more. With `all` each build is tested, and the last change is the answer.
 */
#ifndef FUZZ_BISECT_H
#define FUZZ_BISECT_H

#include <stdbool.h>
#include <stdint.h>

enum bisect_state { BISECT_UNTESTED, BISECT_SHOWS, BISECT_GONE, BISECT_CANNOT_SAY };

typedef enum bisect_state bisect_test(void *context, uint32_t build);

enum bisect_answer {
    BISECT_STARTS,  /* it does not show in `before`, and shows in `after` */
    BISECT_CEASES,  /* the other way round */
    BISECT_ALWAYS,  /* every build that was tested shows it */
    BISECT_NEVER,   /* none does */
    BISECT_NO_BUILD /* none can say */
};

struct bisect_result {
    enum bisect_answer answer;
    uint32_t before, after; /* of STARTS, CEASES: builds between them cannot say */
    uint32_t changes; /* seen among the builds that were tested: more than 1 is not monotone */
    uint32_t tested;  /* builds asked */
    uint32_t silent;  /* ... that cannot say */
};

/* "starts", "ceases", "always", "never", "no build" */
const char *bisect_answer_name(enum bisect_answer answer);

/* Fills states[count], which it starts as BISECT_UNTESTED; each build is tested at most once. */
void bisect(uint32_t count, bool all, bisect_test *test, void *context, enum bisect_state *states,
            struct bisect_result *result);

#endif
