/*
 * fences.h - the oracle `fences`: with a fence behind each access, or all accesses volatile, caches are sequentially
 * consistent.
 */
#ifndef ORACLE_FENCES_H
#define ORACLE_FENCES_H

#include "oracle/check/oracle.h"

void fences_judge(struct checking *checking);

#endif
