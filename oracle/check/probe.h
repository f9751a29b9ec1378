/*
 * probe.h - does an execution never end? A lasso (engine/progress/lasso.h) is an execution that comes back to a
 * state that it has been in: from there the same choices can be taken for ever. It is looked for under round
 * robin, which starves nobody. A spent budget proves nothing.
 */
#ifndef ORACLE_PROBE_H
#define ORACLE_PROBE_H

#include "engine/machine/rules.h"
#include "engine/schedule/tape.h"
#include "engine/subjects/subject.h"

struct checking;

struct lasso_probe {
    bool proven;          /* a lasso that starves nobody */
    const char *schedule; /* under which it was found */
    uint64_t stem_steps, loop_steps;
    enum rule rule; /* of the loop: that of a continuing loop, if it has one */
    uint32_t stm;
    const struct tape *tape; /* stem, then loop once */
    uint32_t loop_start;     /* index in the tape */
    bool has_stacks;         /* of tokens: crs, thread-pc */
    /* LIV.prop (cuda-crs 6.5) fails: in the loop, the token stack of a warp never falls below this depth, which
     * is at least 1. 0: it holds. */
    uint32_t depth;
};

/* Looks for a lasso of the subject, once a case; whether one was proven. Leaves the machines of
 * `checking` alone. */
bool probe_lasso(struct checking *checking, enum subject_id subject);

/* An exhaustive search has found one: stem and loop as tapes. */
void probe_found(struct checking *checking, enum subject_id subject, const struct tape *stem,
                 const struct tape *loop);

#endif
