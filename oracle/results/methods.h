/*
 * methods.h - the two methods of exhaustive search, one beside the other.
 *
 * Partial-order reduction leaves executions out that end as others do; the search of all states leaves out nothing but
 * states that it has seen. So where both come to their ends they have found the same outcomes, and both a race or none.
 */
#ifndef ORACLE_RESULTS_METHODS_H
#define ORACLE_RESULTS_METHODS_H

#include "oracle/check/explore.h"

/* Searches with the method that was not taken, within eight times the steps, and compares, where both are whole; one of
 * `threads`, `interleave`, `simt`, which the seed draws, and all three without a seed. */
void methods_judge(struct checking *checking);

/* What the second search has that the first has not, or the other way round; "race": only one has seen one; NULL:
 * nothing. Outcomes end well, or with a status, which is then named. */
const char *methods_differ(const struct program *program, const struct search_result *a,
                           const struct search_result *b);

#endif
