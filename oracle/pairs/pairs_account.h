/*
 * pairs_account.h - the tutorial's translation of a pair beside a second account: the two threads by Table 4, one after
 * the other, with sets of what they accessed (engine/reference/ref_pair.h).
 *
 * Up to its first interval with a defect a pair is determined: nobody reads what the other writes. So whoever goes
 * first, the translation passes as many barriers; a pair that is clean is clean in each order, with the same private
 * memory; and what is found in the last interval is one of the defects that are there. Of round robin one order may
 * miss a race (D-1) and go on with what it read, but not both.
 */
#ifndef ORACLE_PAIRS_ACCOUNT_H
#define ORACLE_PAIRS_ACCOUNT_H

#include "engine/pairs/tutorial.h"

enum { PAIRS_RUNS = 3 }; /* round robin (s, t), round robin (t, s), s before t */

struct pairs_account {
    const struct program *core; /* the translation applies to it */
    uint32_t s, t;
    const int32_t *const *stores; /* C2.havoc; NULL: memory is carried over barriers */
    uint32_t store_count;
    uint64_t budget_steps;
    bool without_loops; /* the text has none: it says which order finds a race */
    uint64_t *hits;
};

/* Runs the pair; what the second account says against it, or NULL. */
const char *pairs_account(struct arena *arena, const struct pairs_account *account,
                          struct tutorial_result results[PAIRS_RUNS]);

#endif
