/*
 * searches.h - engine/search and engine/progress against all executions, taken one step after the other by the
 * reference (engine/reference/ref_all.h). Whether a search leaves something out shows only where there is something to
 * leave out, and kernels of campaigns are large, or have one outcome. So the kernels that are searched here are made
 * for this: two or three actors that read, write and wait for each other at two words.
 */
#ifndef ORACLE_SEARCHES_H
#define ORACLE_SEARCHES_H

#include "oracle/check/explore.h"

enum {
    SEARCHES_SHARE = 3, /* one case in so many: searches of subjects without a reference, too */
    SEARCHES_FEW_STATES = 300,
    SEARCHES_STATES = 1000
};

/* The hook of oracle.h; class `searches` of the oracle `result`. */
void searches_judge(struct checking *checking);

/* ---- for tests ---- */

/* A kernel by its number; SUBJECT_THREADS, _INTERLEAVE, _SIMT or _LOCKSTEP. */
const char *searches_text(struct arena *arena, enum subject_id subject, uint64_t number);
/* The same, with hardly more than a statement a thread. */
const char *searches_tiny_text(struct arena *arena, enum subject_id subject, uint64_t number);
/* What of the text's executions the searches see otherwise; NULL: nothing. *unknown: it has too many. */
const char *searches_differ(struct arena *arena, enum subject_id subject, const char *text,
                            uint32_t most_states, const char **unknown);

/* A kernel for another subject, by its number; and one whose threads have the same executions, or NULL. */
struct searched_text {
    enum subject_id subject;
    const char *text, *of_threads;
};
struct searched_text searches_machines_text(struct arena *arena, uint64_t number);
/* What its searches see otherwise than the plainest one, or that otherwise than all executions of the threads. */
const char *searches_other_differs(struct arena *arena, const struct searched_text *drawn,
                                   const char **unknown);

#endif
