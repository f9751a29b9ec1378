/*
 * race_logs.h - the oracle `race` while executions run: what tells races is held against its definition.
 *
 * The first execution of a subject is written down, all its accesses, and the log is searched for the pairs that are a
 * race by definition: barrier intervals (lockstep-cfg Defs. 3.1, 4.1), happens-before, or PTX's memory model, as the
 * detector of the subject has it. Class "race-log". Where barriers order some threads only, or fences do, logs are
 * short, and some more executions are written down.
 */
#ifndef ORACLE_RACE_LOGS_H
#define ORACLE_RACE_LOGS_H

#include "oracle/check/explore.h"

const struct observer *race_logs_watch(struct checking *checking, enum subject_id subject,
                                       const struct observer *behind);
void race_logs_ended(struct checking *checking, const struct execution *execution);

#endif
