/*
 * active.h - what a thread of pi(P) does where it is not active is no access: PRED.assign makes
 * `v := act ? e : v` of a shared scalar, whose self-assignments are to be ignored (ORA.55r). All other
 * statements of pi(P) have act as their guard and are silent anyway.
 */
#ifndef ORACLE_ACTIVE_H
#define ORACLE_ACTIVE_H

#include "engine/machine/machine.h"

struct active_filter {
    struct observer observer; /* for the machine's chain */
    const struct machine *machine;
    const struct observer *inner; /* sees what active threads do, all barriers and steps */
};

/* `machine` runs pi(P) under `interleave`. */
void active_filter_start(struct active_filter *filter, const struct machine *machine,
                         const struct observer *inner);

#endif
