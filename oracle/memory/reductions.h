/*
 * reductions.h - the oracle `reductions`: what searches over caches leave out changes nothing (R1 to R4 of
 * docs/memory.md).
 */
#ifndef ORACLE_REDUCTIONS_H
#define ORACLE_REDUCTIONS_H

#include "oracle/check/oracle.h"

void reductions_judge(struct checking *checking);

#endif
