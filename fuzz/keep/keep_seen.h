/*
 * keep_seen.h - a reduction that keeps what some subject was seen to do: a race (on a variable, if
 * it matters), an access outside an array, a deadlock, a divergent barrier, a failed assert, a
 * hang, any other ending; or that the first of the kernel's expectations that fails goes on
 * failing.
 *
 * A kernel that comes to end as the given one never does - in an error, or not within the budget -
 * is another kernel: it is not taken, whatever else it shows.
 */
#ifndef FUZZ_KEEP_SEEN_H
#define FUZZ_KEEP_SEEN_H

#include "fuzz/reduce/interest.h"

struct keep_seen {
    enum { KEEP_RACE, KEEP_STATUS, KEEP_EXPECT } what;
    enum status status; /* KEEP_STATUS */
    const char *var;    /* KEEP_RACE: on this variable; NULL: on any */
    const char *words;  /* "a race on x" */
    unsigned endings;   /* of the given kernel: bits 1u << status, over all subjects */
    uint32_t oracles;   /* that it takes to see it */
};

/* What `list` names - race, race:VAR, oob, deadlock, divergence, assert, hang, expect,
 * status:STATUS -, looked for in the kernel as `check` says. Of `expect` the kernel keeps the one
 * expectation. False: *error says why, and what is seen instead. */
bool keep_seen_of(struct arena *arena, struct ast_kernel *kernel, const struct check_options *check,
                  const char *name, struct keep_seen *keep, const char **error);

/* Refers to `keep`. */
struct interest keep_seen_interest(struct keep_seen *keep);

/* Whether keep_seen_of knows the name. */
bool keep_seen_is_known(const char *name);

#endif
