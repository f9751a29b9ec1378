/*
 * reference.h - the oracle `reference`: executions of a check, followed by the literal semantics (follow.h).
 *
 * In all cases the histories of threads are held against the kernel's text (source.h). Steps are followed in a share of
 * the cases, drawn by the seed; in the others only executions that are compared with no other (lone.def). A check
 * without a seed is always followed, and so is one that asks for no other oracle. Time is bounded: of an execution so
 * many steps are followed, and of a case so many altogether.
 */
#ifndef ORACLE_REFERENCE_ORACLE_H
#define ORACLE_REFERENCE_ORACLE_H

#include "oracle/check/explore.h"

enum {
    REFERENCE_SHARE = 2,       /* one case in so many */
    REFERENCE_STEPS = 1 << 12, /* of an execution */
    REFERENCE_STEPS_OF_CASE = 1 << 16,
    COMPUTED_SEED = 17,
    WILD_SEED = 23,
    WILD_DRAWN = 3,          /* kernels */
    REFERENCE_HISTORIES = 1, /* executions of a subject whose histories are held against the text */
};

/* The hooks of oracle.h. */
const struct observer *reference_watch(struct checking *checking, enum subject_id subject,
                                       const struct observer *behind);
void reference_ended(struct checking *checking, const struct execution *execution);
void reference_judge(struct checking *checking);

#endif
