/*
 * outcome_sets.h - all outcomes of a small kernel, under two memories: what `reductions` and `fences` compare.
 */
#ifndef ORACLE_OUTCOME_SETS_H
#define ORACLE_OUTCOME_SETS_H

#include "engine/search/search.h"
#include "oracle/check/oracle.h"

enum { OUTCOME_STATES = 20000, OUTCOME_THREADS = 16 };

/* A subject with a sequentially consistent memory that was run, whose kernel is small, and the same semantics over
 * caches. NULL: there is none, and *why says so. */
struct outcome_base {
    enum subject_id subject;
    const struct program *program;
    const struct semantics *plain, *cached;
};
const struct outcome_base *outcome_base(struct checking *checking, const enum subject_id *among,
                                        uint32_t count, const char **why);

/* All outcomes; not complete: more than OUTCOME_STATES states. The arena keeps them. */
const struct search_result *outcome_search(struct checking *checking,
                                           const struct semantics *semantics,
                                           const struct program *program,
                                           const struct memory_options *memory,
                                           enum search_method method);

/* search_missing, of outcomes that ended well. */
const struct search_outcome *outcome_end_missing(const struct program *program,
                                                 const struct search_result *of,
                                                 const struct search_result *in);

#endif
