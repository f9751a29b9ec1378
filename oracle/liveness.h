/*
 * liveness.h - does it end? Proven lassos of warps and threads, and the oracle `liveness`:
 * simt-correctness, section 5: a warp is an unfair scheduler of its lanes.
 *
 * A lasso is an execution that comes back to a state that it has been in: from there the same choices
 * can be taken for ever. It is looked for under round robin, by Brent's algorithm on the machine's
 * incremental hash, and every repetition is confirmed by comparing the states. A lasso in which every
 * live actor has stepped starves nobody. A spent budget proves nothing.
 */
#ifndef ORACLE_LIVENESS_H
#define ORACLE_LIVENESS_H

#include "oracle/explore.h"

struct lasso_probe {
    bool tried;
    bool proven;        /* a lasso that starves nobody */
    enum status status; /* otherwise: how the round robin execution ended */
    uint64_t stem_steps, loop_steps;
    enum rule rule; /* of the loop: that of a continuing loop, if it has one */
    uint32_t stm;
    const struct tape *tape; /* stem, then loop once */
    uint32_t loop_start;     /* index in the tape */
};

/* Looks for a lasso of the subject, once a case; whether one was proven. */
bool liveness_probe(struct checking *checking, enum subject_id subject);

/* Answers the oracle, when all executions are explored, and fills in checking->unfair. */
void liveness_judge(struct checking *checking);

#endif
