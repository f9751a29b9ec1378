/*
 * memory_oracle.h - the oracle `memory-model`: subjects with caches against the same ones with a sequentially
 * consistent memory. docs/oracles.md has the theorems and their hypotheses.
 */
#ifndef ORACLE_MEMORY_ORACLE_H
#define ORACLE_MEMORY_ORACLE_H

#include "oracle/check/oracle.h"

/* MEM.inv.*, after every step of an execution of a subject with caches. */
const struct observer *memory_watch(struct checking *checking, enum subject_id subject,
                                    const struct observer *behind);
void memory_ended(struct checking *checking, const struct execution *execution);

/* Answers the oracle, if it was asked and a subject with caches was run. */
void memory_judge(struct checking *checking);

#endif
